from pathlib import Path

import pytest

from ocr_pipeline.errors import UsageError
from synth.severity import TABLE, WORST, draw_chain

DOCS = Path(__file__).parents[2] / "docs" / "synth.md"


def test_every_range_is_one_and_gets_no_milder_at_the_far_end():
    for name, (unit, ranges) in TABLE.items():
        assert unit
        assert len(ranges) == WORST + 1
        assert all(low <= high for low, high in ranges), name


def test_the_table_is_documented_as_it_is():
    lines = DOCS.read_text(encoding="utf-8").splitlines()
    for name, (unit, ranges) in TABLE.items():
        cells = [f"{a:g}" if a == b else f"{a:g} to {b:g}" for a, b in ranges]
        assert f"| `{name}` | {unit} | " + " | ".join(cells) + " |" in lines


@pytest.mark.parametrize("severity", range(WORST + 1))
def test_drawn_parameters_lie_in_their_ranges(severity):
    for seed in range(20):
        steps = {s.name: s for s in draw_chain(severity, seed)}
        assert TABLE["scan.skew"][1][severity][1] >= abs(steps["scan"].skew_deg)
        low, high = TABLE["print.toner"][1][severity]
        assert low <= steps["print"].toner <= high
        assert ("threshold" in steps or "dither" in steps) == (severity > 0)
        assert ("line" in steps) == (severity > 0)


def test_the_same_seed_is_the_same_accident_made_worse():
    skews = [next(s for s in draw_chain(v, 12) if s.name == "scan").skew_deg for v in (1, 2, 3, 5)]
    assert len({s > 0 for s in skews}) == 1
    assert sorted(skews, key=abs) == skews


def test_standard_resolution_from_four_on():
    for severity in range(1, WORST + 1):
        scan = next(s for s in draw_chain(severity, 1) if s.name == "scan")
        assert scan.dpi[1] == (98 if severity >= 4 else 196)
    with pytest.raises(UsageError):
        draw_chain(6, 0)
    with pytest.raises(UsageError):
        draw_chain(-1, 0)
