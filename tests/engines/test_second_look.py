from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char, Reading, Word
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.second_look import doubtful, look_tiles, merged
from ocr_pipeline.geometry import quad_of_box, scaling
from ocr_pipeline.pages.page import Page

LINES = Card(tiling="lines", line_height=32, widths=(128, 256, 384, 512))
QUAD = quad_of_box((0, 0, 100, 20))


def word(text, confidence, *, quad=QUAD, chars=True, weak=None):
    sure = [0.95 if weak is not None and i != weak else confidence for i in range(len(text))]
    known = tuple(Char(c, p, quad=quad) for c, p in zip(text, sure, strict=True))
    return Word(text, confidence, quad, chars=known if chars else ())


def reading(*words):
    return Reading("e", words=words)


def test_what_was_read_without_confidence() -> None:
    read = reading(word("甲", 0.9), word("乙", 0.5), word("丙", 0.7))
    assert doubtful(read, 0.7) == (1,)
    assert doubtful(read, 0.0) == doubtful(reading(), 1.0) == ()


def test_the_word_alone_with_some_paper_around_it(drawing) -> None:
    image = drawing.text(drawing.blank(600, 300), (100, 100), "ボルト", 40)
    rows, columns = np.nonzero(image < 128)
    ink = (columns.min() / 2, rows.min(), columns.max() / 2 + 0.5, rows.max() + 1)
    page = Page(image, "a", matrix=scaling(0.5, 1.0))
    first, second = look_tiles(
        page, [word("甲", 0.1), word("ボルト", 0.1, quad=quad_of_box(ink))], LINES
    )
    assert (first.line, second.line) == (0, 1)
    dark = second.strip.image < 128
    assert dark.any()
    for edge in (dark[:2], dark[-2:], dark[:, :2], dark[:, -2:]):
        assert not edge.any()


def test_the_same_again_makes_it_surer() -> None:
    read = reading(word("甲", 0.9), word("ケーブル", 0.4, weak=1))
    (other, again) = merged(read, {1: word("ケーブル", 0.8)}).words
    assert other is read.words[0]
    assert [c.confidence for c in again.chars] == [0.95, 0.8, 0.95, 0.95]
    assert again.confidence == 0.8
    assert again.alternatives == ()


def test_something_else_is_an_alternative_and_shares_the_confidence() -> None:
    read = reading(word("ケープル", 0.6, weak=2))
    (again,) = merged(read, {0: word("ケーブル", 0.6)}).words
    assert again.text == "ケープル"
    assert again.alternatives == (("ケーブル", 0.6),)
    assert again.chars[2].alternatives == (("ブ", 0.6),)
    assert again.chars[2].confidence == again.confidence == pytest.approx(0.3)
    assert [c.confidence for c in again.chars[:2]] == [0.95, 0.95]


def test_words_without_characters() -> None:
    (surer,) = merged(reading(word("甲乙", 0.3, chars=False)), {0: word("甲乙", 0.8)}).words
    assert (surer.confidence, surer.chars) == (0.8, ())
    (shared,) = merged(reading(word("甲乙", 0.4, chars=False)), {0: word("甲", 0.4)}).words
    assert (shared.confidence, shared.chars) == (pytest.approx(0.2), ())
    assert shared.alternatives == (("甲", 0.4),)


@given(
    st.text("甲乙丙", min_size=1, max_size=5),
    st.text("甲乙丙", min_size=1, max_size=5),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_the_text_stays_and_only_agreement_adds_confidence(text, other, first, second) -> None:
    read = reading(word(text, first))
    (again,) = merged(read, {0: word(other, second)}).words
    assert again.text == text == "".join(c.text for c in again.chars)
    assert 0 <= again.confidence <= (max(first, second) if text == other else first)
