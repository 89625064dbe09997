from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.regions import cut_at_rules, unread_ink, without_columns
from ocr_pipeline.geometry import box_of, quad_of_box, rotation, transform
from ocr_pipeline.pages.rules import Rule, Rules, find_rules

DPI = 204.0
BORDERS = (100.0, 300.0, 420.0, 600.0)


def grid(xs=BORDERS, *, top=50.0, bottom=400.0, slope=0.0):
    """The rules of a table; borders that lean by `slope` pixels a pixel."""
    middle = (top + bottom) / 2
    return Rules(
        horizontal=tuple(Rule(xs[0], xs[-1], y, 0.0, 3.0) for y in np.linspace(top, bottom, num=6)),
        vertical=tuple(Rule(top, bottom, x + slope * (middle - top), slope, 3.0) for x in xs),
    )


def spans(quads):
    return [(round(b[0]), round(b[2])) for b in map(box_of, quads)]


class TestCutAtRules:
    def test_a_box_across_borders_is_cut_at_each(self):
        quad = quad_of_box((120, 60, 560, 100))
        assert spans(cut_at_rules([quad], grid(), DPI)) == [(120, 298), (302, 418), (422, 560)]

    def test_boxes_within_cells_stay_as_they_are(self):
        quads = [quad_of_box((110, 60, 290, 100)), quad_of_box((305, 60, 415, 100))]
        assert cut_at_rules(quads, grid(), DPI) == quads

    def test_a_border_at_the_edge_cuts_no_sliver_off(self):
        quad = quad_of_box((295, 60, 424, 100))
        assert cut_at_rules([quad], grid(), DPI) == [quad]

    def test_a_box_above_the_table_is_not_cut(self):
        quad = quad_of_box((120, 5, 560, 45))
        assert cut_at_rules([quad], grid(), DPI) == [quad]

    def test_a_streak_cuts_nothing(self):
        streak = Rule(0, 2300, 200, 0.0, 3.0)
        rules = Rules(grid().horizontal, (*grid().vertical, streak))
        quad = quad_of_box((110, 60, 290, 100))
        assert cut_at_rules([quad], rules, DPI) == [quad]

    def test_a_border_that_leans_is_cut_where_it_stands(self):
        rules = grid(slope=0.05)
        left, right = cut_at_rules([quad_of_box((120, 350, 410, 390))], rules, DPI)
        x = rules.vertical[1].across(370)
        assert x > 310
        assert (box_of(left)[2] + box_of(right)[0]) / 2 == pytest.approx(x)

    def test_a_skewed_box_keeps_its_skew(self):
        quad = transform(quad_of_box((120, 60, 400, 90)), rotation(0.5, (260, 75)))
        left, right = cut_at_rules([quad], grid(), DPI)
        assert left[0] == pytest.approx(quad[0])
        assert right[1] == pytest.approx(quad[1])
        assert left[1][1] < right[0][1]

    def test_no_boxes_and_no_rules(self):
        quad = quad_of_box((120, 60, 560, 100))
        assert cut_at_rules([], grid(), DPI) == []
        assert cut_at_rules([quad], Rules(), DPI) == [quad]

    @settings(deadline=None, max_examples=100)
    @given(
        left=st.floats(0, 600),
        width=st.floats(20, 700),
        top=st.floats(0, 400),
        height=st.floats(16, 60),
    )
    def test_parts_go_from_left_to_right_and_lose_only_the_rules(self, left, width, top, height):
        quad = quad_of_box((left, top, left + width, top + height))
        parts = [box_of(q) for q in cut_at_rules([quad], grid(), DPI)]
        assert parts[0][0] == pytest.approx(left)
        assert parts[-1][2] == pytest.approx(left + width)
        for before, after in pairwise(parts):
            assert 0 < after[0] - before[2] <= 6
            assert any(before[2] < x < after[0] for x in BORDERS)
        # No sliver is cut off: beyond half a rule there is a third of the height at both ends.
        ends = (parts[0][2] - parts[0][0], parts[-1][2] - parts[-1][0])
        assert len(parts) == 1 or min(ends) > 0.35 * height - 3
        assert all(b[1] == pytest.approx(top) for b in parts)


class TestWithoutColumns:
    LINES = tuple(quad_of_box((100, 60 * i, 400, 60 * i + 44)) for i in range(5))

    def test_a_box_down_a_column_goes(self):
        column = quad_of_box((600, 0, 650, 280))
        assert without_columns([*self.LINES, column]) == list(self.LINES)

    @pytest.mark.parametrize(
        "box", [(600, 0, 640, 44), (600, 0, 650, 80), (500, 300, 900, 420), (600, 0, 605, 44)]
    )
    def test_figures_and_titles_stay(self, box):
        quads = [*self.LINES, quad_of_box(box)]
        assert without_columns(quads) == quads

    def test_no_boxes(self):
        assert without_columns([]) == []


class TestUnreadInk:
    LINE = quad_of_box((90, 90, 560, 146))  # as high as a detector's box around 36 pixel text

    @pytest.fixture
    def page(self, drawing):
        return drawing.text(drawing.blank(900, 500), (100, 92), "六角穴付ボルト M6", 36)

    def found(self, image, quads=(LINE,)):
        return unread_ink(image, quads, find_rules(image, DPI), DPI)

    def test_what_is_covered_has_been_read(self, page):
        assert self.found(page) == []

    @pytest.mark.parametrize("text", ["5", "12", "個", "1,250", "式会社"])
    def test_a_word_that_no_box_covers(self, page, drawing, text):
        image = drawing.text(page, (700, 300), text, 36)
        (quad,) = self.found(image)
        left, top, right, bottom = box_of(quad)
        y, x = np.nonzero(image[200:] < 128)
        assert left <= x.min()
        assert x.max() < right
        assert top <= y.min() + 200
        assert y.max() + 200 < bottom
        assert right - left < x.max() - x.min() + 40

    def test_every_single_figure_of_body_text(self, drawing):
        page = drawing.text(drawing.blank(900, 500), (100, 92), "六角穴付ボルト M6", 30)
        y, x = np.nonzero(page < 128)
        line = (quad_of_box((x.min() - 5, y.min() - 5, x.max() + 6, y.max() + 6)),)
        figures = [drawing.text(page, (310, 300), c, 30) for c in "0123456789"]
        assert [len(self.found(image, line)) for image in figures] == [1] * 10

    def test_words_far_apart_are_boxes_of_their_own(self, page, drawing):
        image = drawing.text(drawing.text(page, (200, 300), "10", 36), (600, 300), "個", 36)
        assert len(self.found(image)) == 2

    def test_lines_are_boxes_of_their_own(self, page, drawing):
        image = drawing.text(drawing.text(page, (200, 300), "10", 36), (200, 350), "25", 36)
        assert len(self.found(image)) == 2

    def test_a_box_over_part_of_a_word_has_read_it(self, page, drawing):
        image = drawing.text(page, (200, 300), "1,250", 36)
        assert self.found(image, (self.LINE, quad_of_box((190, 295, 260, 350)))) == []

    def test_figures_in_a_ruled_cell(self, page, drawing):
        image = drawing.text(page, (310, 320), "8", 36)
        image[292:295, 200:600] = image[390:393, 200:600] = 0
        for x in (200, 280, 400, 597):
            image[292:393, x : x + 3] = 0
        (quad,) = self.found(image)
        left, _, right, _ = box_of(quad)
        assert 280 < left < 312
        assert 325 < right < 400

    def test_rules_dust_and_seals_are_no_text(self, page, drawing):
        image = page.copy()
        image[400:403, 50:850] = 0
        image[200:480, 860:863] = 0
        rows, columns = np.ogrid[:500, :900]
        distance = np.hypot(rows - 270, columns - 700)
        image[(distance < 70) & (distance > 64)] = 0
        assert self.found(drawing.speckled(image, 3, share=0.0005)) == []

    def test_without_any_box_nothing_says_how_large_text_is(self, page):
        assert self.found(page, ()) == []
