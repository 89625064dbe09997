import json

import numpy as np
import pytest

from ocr_pipeline.errors import UsageError
from synth import change, degrade, draw_chain, record
from synth.chain import plate_of, run
from synth.header_line import HeaderLine
from synth.paper import Copy, Print
from synth.scanner import FINE, STANDARD, Dither, Glass, Noise, Scan, Shading, Threshold


def sheet(value=255, scale=12.0):
    image = np.full((round(100 * scale), round(210 * scale)), value, np.uint8)
    image[round(40 * scale) : round(42 * scale), round(30 * scale) : round(60 * scale)] = 0
    return plate_of(image, scale)


def test_dot_gain_moves_edges_by_what_it_says():
    for gain in (-0.05, 0.05, 0.1):
        image = run((Print(dot_gain_mm=gain),), sheet(), 0).image
        column = image[:, 45 * 12]
        thick = (column < 128).sum() / 12
        assert thick == pytest.approx(2 + 2 * gain, abs=0.1)


def test_thin_strokes_vanish_when_ink_is_starved():
    plate = sheet()
    plate.image[600:602] = 0
    image = run((Copy(dot_gain_mm=-0.08, blur_mm=0.06),), plate, 0).image
    assert image[600, 1000] > 128
    assert image[41 * 12, 45 * 12] < 64


def test_low_toner_is_lighter():
    image = run((Print(toner=0.7),), sheet(), 0).image
    assert image[41 * 12, 45 * 12] == pytest.approx(255 * 0.3, abs=3)


@pytest.mark.parametrize(
    "step",
    [
        Copy(skew_deg=2, scale=0.99, shift_mm=(3, -2)),
        Scan(dpi=STANDARD, skew_deg=-2, stretch_percent=2, slips=((30.0, 1.0),)),
        Scan(dpi=FINE, turn=90, shift_mm=(1, 2)),
        Scan(dpi=(204, 391), turn=270, wander_percent=2, slips=((20.0, -1.0),)),
        Scan(dpi=(200, 200), line_px=0, turn=180),
        HeaderLine(above=True),
    ],
    ids=lambda s: s.name,
)
def test_ink_goes_where_the_geometry_says(step):
    plate = run((step,), sheet(), 1)
    ys, xs = np.nonzero(plate.image < 128)
    if step.name == "header":
        keep = ys > 60
        ys, xs = ys[keep], xs[keep]
    expected = plate.geometry.points([(45.0, 41.0)])[0]
    # A slip inside the bar may thicken one side of it by half a millimetre.
    tolerance = 0.6 * max(plate.scale)
    assert (xs.mean() + 0.5, ys.mean() + 0.5) == pytest.approx(tuple(expected), abs=tolerance)


def test_sampling_sizes():
    a4 = plate_of(np.full((297 * 12, 210 * 12), 255, np.uint8), 12.0)
    assert run((Scan(dpi=FINE),), a4, 0).image.shape == (2292, 1728)
    assert run((Scan(dpi=STANDARD),), a4, 0).image.shape == (1146, 1728)
    assert run((Scan(dpi=(204.0, 391.0)),), a4, 0).image.shape == (4572, 1728)
    flat = run((Scan(dpi=(200.0, 200.0), line_px=0),), a4, 0)
    assert flat.image.shape == (2339, 1654)
    assert flat.dpi == pytest.approx((200, 200))


def test_streaks_leave_a_trace():
    plate = run((Scan(), Glass(((50.0, 0.5, 1.0, 0.0, 1.0),))), sheet(), 0)
    left, right = round(50 * 204 / 25.4), round(50.5 * 204 / 25.4)
    assert plate.image[:, left:right].max() < 140
    (trace,) = plate.traces
    assert trace.kind == "streak"
    assert plate.geometry.quad(trace.quad)[0][0] == pytest.approx(left)


def test_black_and_white():
    grey = sheet(100)
    assert run((Threshold(0.3),), grey, 0).image[10, 10] != 0
    assert run((Threshold(0.5),), grey, 0).image[10, 10] == 0
    for kind in ("ordered", "diffusion"):
        plate = run((Dither(kind),), grey, 0)
        assert plate.bilevel
        assert set(np.unique(plate.image)) == {0, 255}
        assert plate.image[:400].mean() == pytest.approx(100, abs=4)


def test_noise_and_light():
    plate = run((Noise(10),), sheet(128), 0)
    assert plate.image[:400].std() == pytest.approx(10, rel=0.05)
    dark = run((Shading(falloff=0.3, edge_mm=4.0),), sheet(), 0).image
    assert dark[10, -2] < dark[10, 1200]
    assert dark[10, 2] > dark[10, -2]


def test_header_inside_covers_and_above_adds():
    plate = run((Scan(), Threshold()), sheet(), 0)
    line = HeaderLine(("2026-04-01 10:00", "ヌケロ工業", "P.{page}/{pages}"))
    above = run((line,), plate, 0)
    inside = run((change((line,), "header.above", "false")[0],), plate, 0)
    assert inside.image.shape == plate.image.shape
    extra = above.image.shape[0] - plate.image.shape[0]
    assert extra > 10
    np.testing.assert_array_equal(above.image[extra:], plate.image)
    assert (above.image[:extra] == 0).any()


def test_one_factor_can_be_swept_alone():
    chain = draw_chain(3, 5)
    swept = change(chain, "scan.skew_deg", "1.5")
    (before,), (after,) = ([s for s in c if s.name == "scan"] for c in (chain, swept))
    assert after.skew_deg == 1.5
    assert change(swept, "scan.skew_deg", before.skew_deg) == chain
    for bad in ("scan.skew", "nothing.at_all", "scan"):
        with pytest.raises(UsageError):
            change(chain, bad, 1)
    with pytest.raises(UsageError):
        change(chain, "scan.skew_deg", "much")
    with pytest.raises(UsageError):
        change(chain, "scan.slips", "1")


def test_a_chain_is_recorded_as_plain_data():
    for severity in range(6):
        chain = draw_chain(severity, 8, header=("a", "b", "c"))
        data = json.loads(json.dumps(record(chain)))
        assert [d["step"] for d in data] == [s.name for s in chain]


def test_leaving_a_step_out_does_not_change_the_others():
    plate = sheet()
    noisy = run((Noise(8),), plate, 3)
    both = run((Shading(), Noise(8)), plate, 3)
    np.testing.assert_array_equal(noisy.image, both.image)


def test_degrade_takes_anybodys_page():
    page = np.full((1169, 827), 255, np.uint8)
    page[300:310, 100:700] = 0
    one = degrade(page, draw_chain(4, 2), 9, dpi=100)
    two = degrade(page, draw_chain(4, 2), 9, dpi=100)
    np.testing.assert_array_equal(one.image, two.image)
    assert one.bilevel
    assert one.image.shape[1] == 1728
    for bad in (np.zeros((3, 3, 3), np.uint8), np.zeros((3, 3)), np.zeros((0, 3), np.uint8)):
        with pytest.raises(UsageError):
            degrade(bad, (), 0)


def test_a_blank_page_stays_nearly_blank():
    blank = np.full((3564, 2520), 255, np.uint8)
    out = degrade(blank, draw_chain(2, 4), 4, dpi=304.8)
    assert (out.image == 0).mean() < 0.02
