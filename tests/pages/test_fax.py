from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.geometry import rotation, scaling
from ocr_pipeline.pages.fax import resolution_of, square_dpi, warp
from ocr_pipeline.pages.page import Resolution


@pytest.mark.parametrize("tagged", [None, (1.0, 1.0), (72.0, 72.0), (float("nan"), 200.0)])
@pytest.mark.parametrize(
    ("size", "dpi"),
    [
        ((1728, 1143), (204, 98)),
        ((1728, 1075), (204, 98)),
        ((1728, 2292), (204, 196)),
        ((1728, 2156), (204, 196)),
        ((1728, 4573), (204, 391)),
        ((2048, 1401), (204, 98)),
        ((2048, 2810), (204, 196)),
        ((2432, 3240), (204, 196)),
    ],
)
def test_fax_widths_tell_the_resolution_where_tags_do_not(size, dpi, tagged):
    assert resolution_of(*size, tagged) == (Resolution(*dpi), ())


@pytest.mark.parametrize(
    ("size", "tagged"),
    [
        ((1728, 1143), (204.0, 98.0)),
        ((1728, 2200), (200.0, 200.0)),
        ((1728, 9000), (204.0, 196.0)),
        ((2480, 3508), (300.0, 300.0)),
        ((4960, 7016), (600.0, 600.0)),
        ((3508, 2480), (300.0, 300.0)),
    ],
)
def test_believable_tags_are_believed(size, tagged):
    assert resolution_of(*size, tagged) == (Resolution(*tagged), ())


@pytest.mark.parametrize("tagged", [None, (72.0, 72.0), (96.0, 96.0)])
def test_paper_shapes_are_taken_for_a4(tagged):
    dpi, flags = resolution_of(2480, 3508, tagged)
    assert dpi.x == dpi.y == pytest.approx(300, abs=1)
    assert flags == ()


def test_any_other_shape_is_a_guess_and_says_so():
    _, flags = resolution_of(1000, 1000, None)
    assert [code for code, _ in flags] == ["resolution_guessed"]


def test_square_pixels_are_those_of_the_finer_axis_within_bounds():
    assert square_dpi(Resolution(204.0, 98.0)) == 204.0
    assert square_dpi(Resolution(204.0, 391.0)) == 391.0
    assert square_dpi(Resolution(600.0, 600.0)) == 400.0


def test_reduction_keeps_thin_strokes():
    image = np.full((900, 900), 255, np.uint8)
    image[::30] = 0  # one line in thirty, one pixel thick
    reduced = warp(image, scaling(1 / 3, 1 / 3), (300, 300))
    rows = reduced[5:-5, 150].astype(int)
    assert all(rows[i : i + 10].min() < 230 for i in range(len(rows) - 10))


def test_identity_returns_the_pixels_in_a_new_array():
    image = np.arange(256, dtype=np.uint8).reshape(16, 16)
    same = warp(image, np.eye(3), (16, 16))
    assert np.array_equal(same, image)
    assert same is not image


@settings(deadline=None, max_examples=25)
@given(
    degrees=st.floats(-180, 180),
    sx=st.floats(0.5, 2.0),
    sy=st.floats(0.5, 2.0),
    x=st.integers(60, 120),
    y=st.integers(60, 120),
)
def test_ink_goes_where_the_matrix_says(degrees, sx, sy, x, y):
    image = np.full((200, 200), 255, np.uint8)
    image[y - 6 : y + 6, x - 6 : x + 6] = 0
    matrix = scaling(sx, sy) @ rotation(degrees, (100, 100))
    moved = 255.0 - warp(image, matrix, (400, 400))
    there = matrix @ [x, y, 1.0]
    if not (20 < there[0] < 380 and 20 < there[1] < 380):
        return
    rows, columns = np.indices(moved.shape)
    centre = [np.average(columns + 0.5, weights=moved), np.average(rows + 0.5, weights=moved)]
    assert centre == pytest.approx(there[:2], abs=0.5)
