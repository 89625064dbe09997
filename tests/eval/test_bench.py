from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from eval.bench import SHIPPED, Bench, fingerprint, load_bench, make_bench, user_cache
from eval.cases import load_cases
from eval.outcomes import Form
from eval.predictions import prediction_sets
from eval.scoring import score
from ocr_pipeline.errors import OutputError, UsageError
from ocr_pipeline.orders.schema import load_schema

SHIPPED_SETS = {"quick", "standard", "katakana", "article", "samples"}
FORM = Form(load_schema("purchase_order"))


def bench(**group: object) -> Bench:
    usual = {"count": 1, "severity": "1", "lines": "3", "layout": "large_type", "marks": False}
    return Bench.model_validate({"name": "t", "about": "", "seed": 5, "groups": [usual | group]})


def made(folder: Path, **group: object) -> Path:
    return make_bench(bench(**group), folder / "t.yaml", cached=folder)


def digests(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_the_sets_that_ship() -> None:
    assert {p.stem for p in SHIPPED.glob("*.yaml")} == SHIPPED_SETS
    sets = {name: load_bench(name)[0] for name in SHIPPED_SETS}
    assert all(b.about and b.name == n for n, b in sets.items())
    assert sum(g.count for g in sets["quick"].groups) == 12
    assert sum(g.count for g in sets["standard"].groups) == 120
    assert any(g.transmissions > 1 for g in sets["standard"].groups)
    assert sets["katakana"].groups[0].twins
    assert sets["article"].groups[0].preset == "article"


def test_the_samples_lie_where_they_are() -> None:
    folder = make_bench(*load_bench("samples"))
    assert len(load_cases(folder / "truth.json")) == 10


@pytest.mark.slow
def test_a_set_is_made_once_and_the_same_everywhere(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    one = make_bench(bench(), tmp_path, cached=tmp_path / "1", progress=lambda *d: told.append(d))
    assert told == [(0, 1), (1, 1)]
    two = made(tmp_path / "2")
    assert one.name == two.name
    assert digests(one) == digests(two)
    assert made(tmp_path / "2") == two
    assert [p.name for p in (tmp_path / "2").iterdir()] == [two.name]


@pytest.mark.slow
def test_the_truth_against_itself(tmp_path: Path) -> None:
    folder = made(tmp_path, count=2, severity="0-1", layout="any", marks=True)
    cases = load_cases(folder / "truth.json")
    assert [c.severity for c in cases.values()] == [0, 1]
    case = cases["0000_s0.tif"]
    assert case.name_kinds.keys() == {"buyer", "supplier"}
    assert case.places["order_no", None].ink > 0.5
    assert case.places["item", 0].prints
    scores = score(prediction_sets(folder / "truth.json", cases, FORM), {})
    assert scores.values[["raw_right", "right", "folded_right"]].all(axis=None)
    assert scores.values["ink"].notna().mean() > 0.9


def test_twins_differ_by_one_character(tmp_path: Path) -> None:
    folder = made(tmp_path, twins=True, names="minimal_pair")
    one, twin = load_cases(folder / "truth.json").values()
    names = [str(c.fields["buyer"]) for c in (one, twin)]
    assert len(names[0]) == len(names[1])
    assert sum(a != b for a, b in zip(*names, strict=True)) == 1
    assert {k: v for k, v in one.fields.items() if k != "buyer"} == {
        k: v for k, v in twin.fields.items() if k != "buyer"
    }


def test_transmissions_are_the_same_paper_sent_again(tmp_path: Path) -> None:
    folder = made(tmp_path, transmissions=2, marks=True)
    first, second = load_cases(folder / "truth.json").values()
    assert (first.sheet, first.transmission) == (second.sheet, 0) == ("0000_s1", 0)
    assert second.transmission == 1
    assert first.fields == second.fields
    assert first.rows == second.rows
    assert (folder / first.source).read_bytes() != (folder / second.source).read_bytes()
    assert first.places.keys() == second.places.keys()
    moved = [first.places[r].quad != second.places[r].quad for r in first.places]
    assert all(moved)


def test_the_first_transmission_is_the_sheet_itself(tmp_path: Path) -> None:
    again = made(tmp_path, transmissions=2)
    once = made(tmp_path)
    assert (once / "0000_s1.tif").read_bytes() == (again / "0000_s1_t0.tif").read_bytes()


def test_a_blank_sheet_has_nothing_to_read(tmp_path: Path) -> None:
    folder = made(tmp_path, blank=True)
    (case,) = load_cases(folder / "truth.json").values()
    assert case.empty
    assert (folder / case.source).stat().st_size > 100


def test_the_twenty_items_of_the_article(tmp_path: Path) -> None:
    folder = made(tmp_path, preset="article", layout="article")
    (case,) = load_cases(folder / "truth.json").values()
    assert len(case.checklist) == 20
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert truth[case.source]["fields"]["order_no"] == "PO-2026-0412"


def test_another_set_is_another_folder() -> None:
    assert fingerprint(bench()) != fingerprint(bench(count=2))
    assert fingerprint(bench()) == fingerprint(bench().model_copy(update={"about": "else"}))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "about: [",
        "about: x",
        "about: x\ncolour: red",
        "about: x\ngroups: [{count: 0, severity: 1}]",
        "about: x\ngroups: [{count: 1, severity: 9}]",
        "about: x\ngroups: [{count: 1, severity: 1, lines: many}]",
        "about: x\ngroups: [{count: 1, severity: 1, names: odd}]",
        "about: x\nfolder: ..\ngroups: [{count: 1, severity: 1}]",
    ],
)
def test_a_set_that_is_wrong(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="wrong") as caught:
        load_bench(str(path))
    assert "quick.yaml" in caught.value.remedy


def test_no_such_set() -> None:
    with pytest.raises(UsageError, match="nothing") as caught:
        load_bench("nothing")
    assert "quick" in caught.value.remedy


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        made(tmp_path / "file")


@pytest.mark.parametrize(
    ("platform", "name"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")]
)
def test_the_cache_of_the_user(monkeypatch, tmp_path, platform: str, name: str) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(name, str(tmp_path))
    assert user_cache() == tmp_path / "ocr-pipeline" / "bench"
    monkeypatch.delenv(name)
    assert user_cache().is_relative_to(Path.home())
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Caches" in user_cache().parts
