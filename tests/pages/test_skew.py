from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.pages.ink import binarize, find_marks
from ocr_pipeline.pages.skew import find_skew


def skew_of(image, **options):
    marks = find_marks(binarize(image), 204.0)
    return find_skew(marks.mask(~marks.specks), **options)


@settings(deadline=None, max_examples=8)
@given(
    degrees=st.floats(-5.0, 5.0),
    seed=st.integers(0, 1000),
    ruled=st.booleans(),
    dust=st.sampled_from([0.0, 0.002, 0.01]),
)
def test_skew_is_found_within_a_tenth_of_a_degree(drawing, degrees, seed, ruled, dust):
    page = drawing.turned(drawing.order(seed, ruled=ruled), degrees)
    assert skew_of(drawing.speckled(page, seed, dust)) == pytest.approx(degrees, abs=0.1)


@pytest.mark.parametrize("degrees", [-4.9, -0.6, 2.5])
def test_two_lines_of_text_are_enough(drawing, degrees):
    page = drawing.text(drawing.blank(), (200, 900), "至急ご連絡ください。お願いします。", 36)
    page = drawing.text(page, (200, 980), "電話 03-1234-5678 担当 田中", 36)
    assert skew_of(drawing.turned(page, degrees)) == pytest.approx(degrees, abs=0.1)


def test_streak_and_edge_shadow_do_not_pull(drawing):
    # They stand upright whatever the paper does: the scanner made them.
    page = drawing.turned(drawing.order(3, ruled=False, rows=4), 2.0)
    page = drawing.streak(page, 700)
    page[:, :40] = 0
    assert skew_of(page) == pytest.approx(2.0, abs=0.1)


def test_landscape_order(drawing):
    page = drawing.turned(drawing.order(1, width=2376, height=1728), -1.3)
    assert skew_of(page) == pytest.approx(-1.3, abs=0.1)


@pytest.mark.parametrize("kind", ["blank", "dust", "streak"])
def test_nothing_to_level_is_zero(drawing, kind):
    page = drawing.blank()
    if kind == "dust":
        page = drawing.speckled(page, 0, 0.02)
    if kind == "streak":
        page = drawing.streak(page, 400)
    assert skew_of(page) == 0.0


def test_more_than_the_limit_is_not_half_taken_out(drawing):
    assert skew_of(drawing.turned(drawing.order(0), 3.0), max_skew=1.0) == 0.0


def test_ink_is_not_changed(drawing):
    ink = binarize(drawing.order(0))
    before = ink.copy()
    find_skew(ink)
    assert np.array_equal(ink, before)
