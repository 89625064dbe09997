from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char, Word
from ocr_pipeline.geometry import (
    box_of,
    identity,
    quad_of_box,
    rotation,
    scaling,
    transform,
    translation,
    union,
)
from ocr_pipeline.tables.words import Token, cell_of, cut, lines_of, pieces_of, tokens_of

EM = 30


def word(text, x, y, *, gap=EM, sure=0.9, matrix=None):
    """Square characters; a space is `gap` wide and has no quad. `matrix`: upright → stored."""
    to_stored = identity() if matrix is None else matrix
    chars = []
    for c in text:
        if c == " ":
            chars.append(Char(c))
            x += gap
        else:
            quad = transform(quad_of_box((x, y, x + EM, y + EM)), to_stored)
            chars.append(Char(c, sure, (("?", 0.05),), quad))
            x += EM
    return Word(text, sure, union([c.quad for c in chars if c.quad]), chars=tuple(chars))


def token(text, x, y, **how):
    (made,) = tokens_of([word(text, x, y, **how)], identity())
    return made


def texts(groups):
    return [[t.text for t in group] for group in groups]


class TestTokensOf:
    def test_a_word_is_a_token_in_upright_pixels(self):
        stored = translation(40, 3) @ rotation(180) @ scaling(1.0, 0.5)
        (found,) = tokens_of([word("数量", 100, 200, matrix=stored)], np.linalg.inv(stored))
        assert found.text == "数量"
        assert found.box == pytest.approx((100, 200, 160, 230))
        assert found.height == pytest.approx(30)
        assert found.center == pytest.approx((130, 215))

    def test_wide_spaces_cut_a_word(self):
        found = tokens_of([word("数量 単 価", 0, 0, gap=2 * EM)], identity())
        assert [(t.text, t.box) for t in found] == [
            ("数量", (0, 0, 60, 30)),
            ("単", (120, 0, 150, 30)),
            ("価", (210, 0, 240, 30)),
        ]

    def test_narrow_spaces_do_not(self):
        (found,) = tokens_of([word("M6 20", 0, 0, gap=0.5 * EM)], identity())
        assert found.text == "M6 20"

    def test_characters_keep_what_is_known_of_them(self):
        (found,) = tokens_of([word("数", 0, 0, sure=0.7)], identity())
        assert found.chars == (Char("数", 0.7, (("?", 0.05),), quad_of_box((0, 0, 30, 30))),)

    def test_a_word_without_chars_is_spread_over_its_quad(self):
        (found,) = tokens_of([Word("abcd", 0.8, quad_of_box((0, 0, 80, 20)))], identity())
        assert found.text == "abcd"
        assert [box_of(c.quad)[0] for c in found.chars] == [0, 20, 40, 60]
        assert {c.confidence for c in found.chars} == {0.8}

    @pytest.mark.parametrize("text", ["", " ", "\u3000"])
    def test_words_without_text_are_no_tokens(self, text):
        assert tokens_of([Word(text, 0.5, quad_of_box((0, 0, 30, 30)))], identity()) == []

    def test_no_words(self):
        assert tokens_of([], identity()) == []

    @settings(deadline=None, max_examples=60)
    @given(text=st.text("あ1 ", min_size=1, max_size=14), gap=st.integers(2, 90))
    def test_no_character_is_lost(self, text, gap):
        found = tokens_of([word("x" + text + "x", 5, 5, gap=gap)], identity())
        assert "".join(t.text for t in found).replace(" ", "") == f"x{text}x".replace(" ", "")


class TestCut:
    def test_between_two_characters(self):
        left, right = cut(token("数量単価", 100, 0), 160, identity())
        assert (left.text, right.text) == ("数量", "単価")
        assert left.box == (100, 0, 160, 30)
        assert right.box == (160, 0, 220, 30)

    def test_the_middle_of_a_character_decides_its_side(self):
        assert cut(token("数量", 0, 0), 40, identity())[0].text == "数"
        assert cut(token("数量単", 0, 0), 50, identity())[0].text == "数量"

    def test_spaces_at_the_cut_are_left_out(self):
        left, right = cut(token("10 個", 0, 0, gap=20), 70, identity())
        assert (left.text, right.text) == ("10", "個")

    @pytest.mark.parametrize("at", [-5, 10, 95, 500])
    def test_nothing_to_cut_off(self, at):
        assert cut(token("数量単", 0, 0), at, identity()) is None

    def test_in_stored_pixels_of_a_turned_page(self):
        stored = rotation(180, (200, 100))
        (turned,) = tokens_of([word("数量単価", 100, 20, matrix=stored)], np.linalg.inv(stored))
        left, right = cut(turned, 160, np.linalg.inv(stored))
        assert (left.text, right.text) == ("数量", "単価")

    @settings(deadline=None, max_examples=60)
    @given(text=st.text("あ1 ", min_size=2, max_size=12), at=st.floats(-20, 400))
    def test_both_sides_together_are_the_token(self, text, at):
        whole = token("x" + text + "x", 0, 0, gap=10)
        halves = cut(whole, at, identity())
        if halves:
            joined = halves[0].text + halves[1].text
            assert joined.replace(" ", "") == whole.text.replace(" ", "")
            assert all(t.text == t.text.strip() != "" for t in halves)
            assert halves[0].box[0] == whole.box[0]
            assert halves[1].box[2] == whole.box[2]


class TestLinesOf:
    def test_top_to_bottom_and_left_to_right(self):
        found = lines_of(
            [token("d", 90, 62), token("b", 90, 2), token("c", 5, 60), token("a", 5, 0)]
        )
        assert texts(found) == [["a", "b"], ["c", "d"]]

    def test_a_line_that_slopes_stays_one_line(self):
        sloping = [token("a", 100 * i, 3 * i) for i in range(12)]
        below = [token("b", 100 * i, 3 * i + 45) for i in range(12)]
        assert texts(lines_of([*below, *sloping])) == [["a"] * 12, ["b"] * 12]

    def test_large_and_small_text_on_one_line(self):
        title = Token((Char("注"),), (0, 0, 80, 80))
        assert texts(lines_of([title, token("a", 200, 25)])) == [["注", "a"]]

    def test_no_tokens(self):
        assert lines_of([]) == []

    @settings(deadline=None, max_examples=60)
    @given(
        order=st.permutations(range(12)),
        jitter=st.lists(st.integers(-5, 5), min_size=12, max_size=12),
    )
    def test_the_order_of_the_words_does_not_matter(self, order, jitter):
        tokens = [token(f"{i:02}", 100 * (i % 4), 50 * (i // 4) + jitter[i]) for i in range(12)]
        found = texts(lines_of([tokens[i] for i in order]))
        assert found == [[f"{4 * row + i:02}" for i in range(4)] for row in range(3)]


class TestPiecesOf:
    def test_wide_gaps_part(self):
        line = [token("発注", 0, 0), token("番号", 80, 0), token("日付", 300, 0)]
        assert texts(pieces_of(line)) == [["発注", "番号"], ["日付"]]

    def test_a_title_may_be_spaced_out(self):
        line = [token(c, 100 * i, 0) for i, c in enumerate("発注書")]
        assert texts(pieces_of(line)) == [["発", "注", "書"]]
        assert len(pieces_of([token("発注", 0, 0), token("書", 130, 0)])) == 2

    def test_an_empty_line(self):
        assert pieces_of([]) == []


class TestCellOf:
    def test_spaces_between_tokens_newlines_between_lines(self):
        cell = cell_of([[token("六角", 0, 0), token("M6", 80, 0)], [token("黒", 0, 40)]], page=2)
        assert (cell.text, cell.page) == ("六角 M6\n黒", 2)
        assert "".join(c.text for c in cell.chars) == cell.text
        assert box_of(cell.quad) == (0, 0, 140, 70)

    def test_parts_of_one_word_are_joined_without_a_space(self):
        assert cell_of([[token("六角", 0, 0), token("穴", 62, 0)]], page=1).text == "六角穴"

    def test_the_least_certain_character_counts(self):
        cell = cell_of([[token("a", 0, 0, sure=0.9), token("b", 100, 0, sure=0.4)]], page=1)
        assert cell.confidence == 0.4

    def test_no_tokens_are_a_blank_cell_of_the_page(self):
        cell = cell_of([], page=3)
        assert cell.blank
        assert (cell.page, cell.quad, cell.confidence) == (3, None, 1.0)
