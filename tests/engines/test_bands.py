from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ocr_pipeline.engines.bands import MOST_BANDS, SIZE, bands
from ocr_pipeline.pages.rules import find_rules

DPI = 204.0
A4 = 1120 * 48 * 48
SMALL = 280 * 48 * 48


def text_rows(drawing, **options):
    """Rows of a page that carry text, and the page."""
    image = drawing.order(**options)
    bare = drawing.order(**options | {"ruled": False})
    return image, (bare < 128).any(axis=1)


class TestCuts:
    @pytest.mark.parametrize("budget", [A4, SMALL, SMALL // 4])
    @pytest.mark.parametrize("ruled", [True, False])
    def test_never_go_through_text(self, drawing, budget, ruled):
        image, text = text_rows(drawing, rows=16, ruled=ruled)
        found = bands(image, DPI, budget)
        for above, below in pairwise(found):
            cut = int(below.box[1])
            assert above.box[3] <= cut
            assert not text[cut - 1 : cut + 1].any()

    def test_all_ink_is_in_one_band(self, drawing):
        image, _ = text_rows(drawing, rows=16)
        found = bands(image, DPI, SMALL)
        seen = np.zeros(image.shape, np.int_)
        for band in found:
            left, top, right, bottom = map(int, band.box)
            seen[top:bottom, left:right] += 1
        assert len(found) > 2
        assert seen.max() == 1
        assert (seen[image < 128] == 1).all()

    def test_within_a_ruled_table_lie_on_its_rules(self, drawing):
        image, _ = text_rows(drawing, rows=24)
        rules = find_rules(image, DPI)
        inside = [b for b in bands(image, DPI, SMALL) if b.continues]
        assert inside
        for band in inside:
            assert min(abs(r.at - band.box[1]) for r in rules.horizontal) <= 4

    def test_without_rules_no_band_goes_on_with_a_table(self, drawing):
        image, _ = text_rows(drawing, rows=16, ruled=False)
        assert not any(b.continues for b in bands(image, DPI, SMALL))

    def test_a_streak_is_no_table(self, drawing):
        image, _ = text_rows(drawing, rows=16, ruled=False)
        found = bands(drawing.streak(image, 900), DPI, SMALL)
        assert not any(b.continues for b in found)

    def test_a_page_with_nothing_between_lines_is_still_cut(self, drawing):
        image = drawing.blank(800, 1600)
        for y in range(50, 1550, 24):
            image = drawing.text(image, (40, y), "国" * 25, 26)
        found = bands(image, DPI, SMALL)
        assert len(found) > 2
        assert all(b.box[3] > b.box[1] for b in found)


class TestNumber:
    def test_text_comes_out_large_enough(self, drawing):
        image, _ = text_rows(drawing, rows=16)
        for budget in (A4, SMALL, SMALL // 2):
            found = bands(image, DPI, budget)
            for band in found:
                left, top, right, bottom = band.box
                scale = np.sqrt(budget / ((right - left) * (bottom - top)))
                # Bands are not quite even.
                assert scale * 30 > 0.6 * SIZE

    def test_smaller_type_needs_more(self, drawing):
        large, small = drawing.blank(), drawing.blank()
        for y in range(200, 2200, 100):
            large = drawing.text(large, (100, y), "発注書国際" * 5, 60)
            small = drawing.text(small, (100, y), "発注書国際" * 15, 20)
        assert len(bands(small, DPI, A4)) > len(bands(large, DPI, A4))

    def test_is_limited(self, drawing):
        assert 1 < len(bands(drawing.order(), DPI, 48 * 48)) <= MOST_BANDS

    def test_none_for_an_empty_page_and_for_dust(self, drawing):
        assert bands(drawing.blank(), DPI, A4) == ()
        dusty = drawing.blank()
        dusty[100, 100] = dusty[500, 900] = 0
        assert bands(dusty, DPI, A4) == ()

    def test_a_page_of_one_pixel(self):
        assert bands(np.zeros((1, 1), np.uint8), DPI, A4) == ()

    def test_one_line_is_one_band(self, drawing):
        image = drawing.text(drawing.blank(), (300, 1000), "発注書", 48)
        (band,) = bands(image, DPI, SMALL)
        left, top, right, bottom = map(int, band.box)
        rows, columns = np.nonzero(image < 128)
        assert left < columns.min() < columns.max() < right
        assert top < rows.min() < rows.max() < bottom
        assert (bottom - top) < 100
