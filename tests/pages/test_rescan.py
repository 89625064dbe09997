from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.geometry import rotation, scaling
from ocr_pipeline.pages.page import Page
from ocr_pipeline.pages.rescan import rescan


def page_with_dots(points, matrix=None):
    image = np.full((900, 700), 255, np.uint8)
    for x, y in points:
        image[y - 4 : y + 4, x - 4 : x + 4] = 0
    return Page(image, "page.tif", number=2, matrix=np.eye(3) if matrix is None else matrix)


def test_run_zero_is_the_page_itself():
    page = page_with_dots([(100, 100)])
    assert rescan(page, 0, 7) is page


def test_runs_repeat_and_differ():
    page = page_with_dots([(100, 100)])
    first = rescan(page, 1, 7)
    assert np.array_equal(first.image, rescan(page, 1, 7).image)
    for other in (rescan(page, 2, 7), rescan(page, 1, 8)):
        assert not np.array_equal(first.image, other.image)


@settings(deadline=None, max_examples=25)
@given(run=st.integers(1, 50), seed=st.integers(0, 2**40))
def test_the_matrix_still_leads_to_the_stored_pixels(run, seed):
    points = [(80, 90), (620, 110), (350, 450), (90, 800)]
    to_stored = scaling(1.0, 0.5) @ rotation(2.0)
    page = page_with_dots(points, to_stored)
    again = rescan(page, run, seed)
    assert again.image.shape == page.image.shape
    for x, y in points:
        stored = to_stored @ [x, y, 1.0]
        u, v, _ = np.linalg.inv(again.matrix) @ stored
        left, top = round(u) - 12, round(v) - 12
        dot = 255.0 - again.image[top : top + 24, left : left + 24]
        rows, columns = np.indices(dot.shape)
        centre = (
            np.average(columns + left + 0.5, weights=dot),
            np.average(rows + top + 0.5, weights=dot),
        )
        assert (again.matrix @ [*centre, 1.0])[:2] == pytest.approx(stored[:2], abs=0.5)
        assert np.hypot(u - x, v - y) < 700 * 0.02 + 6  # a hair aside, no more


def test_paper_stays_paper():
    page = page_with_dots([])
    for run in range(1, 9):
        assert rescan(page, run, 3).image.min() > 240
