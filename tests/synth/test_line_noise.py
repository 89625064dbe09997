import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.chain import plate_of
from synth.line_noise import Line, follow_lines


def page(seed=0, height=200):
    rng = np.random.default_rng(seed)
    image = np.full((height, 1728), 255, np.uint8)
    for y in range(10, height - 10):
        x = int(rng.integers(50, 1500))
        image[y, x : x + int(rng.integers(5, 100))] = 0
    return image


@pytest.mark.parametrize("coding", ["MH", "MR", "MMR"])
def test_a_clean_line_changes_nothing(coding):
    plate = plate_of(page(), 8.0)
    got = Line(coding, 0.0).apply(plate, np.random.default_rng(0))
    np.testing.assert_array_equal(got.image, plate.image)
    assert got.geometry.maps == plate.geometry.maps
    assert dict(got.facts)["flipped_bits"] == 0


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 1000), coding=st.sampled_from(["MH", "MR"]))
def test_undamaged_lines_are_where_the_geometry_says(seed, coding):
    plate = plate_of(page(), 8.0)
    got = Line(coding, 5e-4, 20).apply(plate, np.random.default_rng(seed))
    source, bad = follow_lines(plate.image, got.image)
    good = [y for y in range(15, 185) if not bad[y]]
    if not dict(got.facts)["flipped_bits"]:
        return
    assert len(good) > 60
    for y in good[::10]:
        np.testing.assert_array_equal(got.image[y], plate.image[source[y]])
        x, at = got.geometry.points([(1.0, (source[y] + 0.5) / 8)])[0]
        assert x == pytest.approx(8)
        assert at == pytest.approx(y + 0.5, abs=1.01)


def test_lines_that_are_lost_move_the_rest_up():
    sent = page()
    got = np.vstack([sent[:50], sent[52:], np.full((2, 1728), 255, np.uint8)])
    got[49] = sent[20]
    source, bad = follow_lines(sent, got)
    assert list(np.flatnonzero(bad)) == [49]
    assert source[100] == 102
    assert source[20] == 20


def test_damage_is_recorded():
    plate = plate_of(page(), 8.0)
    got = Line("MH", 1e-3, 20).apply(plate, np.random.default_rng(1))
    facts = dict(got.facts)
    assert facts["flipped_bits"] > 0
    assert facts["damaged_lines"] > 0
    assert {t.kind for t in got.traces} == {"lost_lines"}


def test_the_rate_is_what_was_asked_for():
    flips = Line("MH", 2e-3, 25)._flips(2_000_000, np.random.default_rng(2))
    assert flips.mean() == pytest.approx(2e-3, rel=0.15)
