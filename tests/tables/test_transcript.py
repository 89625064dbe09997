from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char
from ocr_pipeline.geometry import box_of, quad_of_box, union
from ocr_pipeline.tables.transcript import EMPTY, Cell, Table, TableRepair, Transcript


def cell(text, *, confidences=None, **settings):
    """A cell of square characters, 10 pixels each; white space has no quad."""
    sure = confidences or [0.9] * len(text)
    chars = tuple(
        Char(c, p, (), None if c.isspace() else quad_of_box((10 * i, 0, 10 * i + 10, 10)))
        for i, (c, p) in enumerate(zip(text, sure, strict=True))
    )
    quad = union([c.quad for c in chars if c.quad])
    return Cell(text, min(sure, default=1.0), quad, (("?", 0.1),), chars=chars, **settings)


class TestSlice:
    def test_text_quad_and_confidence_are_those_of_the_part(self):
        part = cell("数量:100 個", confidences=[0.5, 0.9, 0.9, 0.8, 0.7, 0.9, 1.0, 0.6]).slice(3, 6)
        assert part.text == "100"
        assert part.confidence == 0.7
        assert box_of(part.quad) == (30, 0, 60, 10)
        assert "".join(c.text for c in part.chars) == "100"

    def test_alternatives_of_the_whole_are_not_those_of_the_part(self):
        assert cell("abc").slice(0, 2).alternatives == ()

    def test_the_whole_is_the_cell_itself(self):
        whole = cell("abc", page=4)
        assert whole.slice(0, 3) is whole
        assert whole.slice(0, 99) is whole

    def test_the_page_is_kept(self):
        assert cell("abc", page=4).slice(0, 1).page == 4

    def test_surrounding_white_space_is_left_out(self):
        part = cell("a  b\n\u3000c").slice(1, 6)
        assert part.text == "b"
        assert box_of(part.quad) == (30, 0, 40, 10)

    def test_indices_count_from_the_end_like_those_of_a_string(self):
        assert cell("abcdef").slice(-3, -1).text == "de"

    @pytest.mark.parametrize(("start", "end"), [(1, 1), (2, 1), (1, 3), (9, 12)])
    def test_nothing_is_left(self, start, end):
        part = cell("a  b").slice(start, end)
        assert part.text == ""
        assert part.chars == ()
        assert part.blank

    def test_without_chars_the_quad_stays_that_of_the_whole(self):
        quad = quad_of_box((0, 0, 70, 10))
        part = Cell("数量: 100", 0.6, quad, page=2).slice(3, 99)
        assert (part.text, part.confidence, part.quad, part.page) == ("100", 0.6, quad, 2)

    def test_chars_of_an_engine_without_boxes(self):
        chars = tuple(Char(c, p) for c, p in zip("abc", (0.9, 0.5, 0.8), strict=True))
        part = Cell("abc", 0.5, chars=chars).slice(1, 2)
        assert (part.text, part.confidence, part.quad) == ("b", 0.5, None)

    @settings(deadline=None)
    @given(
        text=st.text("あ1 \n", max_size=12), start=st.integers(-14, 14), end=st.integers(-14, 14)
    )
    def test_it_is_the_slice_of_the_string_stripped(self, text, start, end):
        part = cell(text).slice(start, end)
        stripped = text[start:end].strip()
        assert part.text == (text if text[start:end] == text == stripped else stripped)
        assert "".join(c.text for c in part.chars) == part.text

    @settings(deadline=None)
    @given(
        text=st.text("あ1 ", min_size=1, max_size=12), a=st.integers(0, 12), b=st.integers(0, 12)
    )
    def test_a_slice_of_a_slice(self, text, a, b):
        whole = cell("x" + text + "x")
        once = whole.slice(1, 1 + len(text))
        again = once.slice(a, a + b)
        assert again.text == once.text[a : a + b].strip()
        if again.text:
            left, _, right, _ = box_of(again.quad)
            outer = box_of(whole.quad)
            assert outer[0] <= left < right <= outer[2]


class TestCell:
    @pytest.mark.parametrize("text", ["", " ", "\n", "\u3000 "])
    def test_blank(self, text):
        assert Cell(text).blank

    @pytest.mark.parametrize("text", ["0", " a ", "-"])
    def test_not_blank(self, text):
        assert not Cell(text).blank

    def test_the_empty_cell(self):
        assert EMPTY.blank
        assert EMPTY.quad is None


def test_the_width_of_a_table_is_that_of_its_header():
    assert Table((EMPTY,) * 3).width == 3
    assert Table(()).width == 0


def test_a_transcript_without_repairs_is_strict():
    assert Transcript().strict
    assert not Transcript(repairs=(TableRepair("missing_separator"),)).strict
