from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from ocr_pipeline.pocket.score import Score, auroc, class_of, compare, folded

LETTERS = st.text("アカ1A漢", max_size=8)


@settings(deadline=None, max_examples=60)
@given(LETTERS, LETTERS)
def test_edits_are_those_of_levenshtein(true: str, read: str) -> None:
    pair = compare(true, read)
    assert pair.edits == Levenshtein.distance(true, read)
    assert pair.total == len(true)
    assert len(pair.right) == len(read)
    assert (pair.edits == 0) == (true == read)


def test_what_nobody_can_read_costs_nothing() -> None:
    assert compare("納〓場所", "納入場所").edits == 0
    assert compare("納〓場所", "納場所").edits == 0
    assert compare("納〓場所", "納〓場所").right == (True,) * 4
    assert compare("納入場所", "納〓場所").edits == 1


def test_widths_and_spaces_do_not_count() -> None:
    pair = compare("㈱ｶﾞﾗｽ １２", "(株)ガラス12")
    assert pair.edits == 0
    assert folded("Ａ　b") == ("Ab", (0, 2))


def test_every_character_knows_whether_it_is_right() -> None:
    pair = compare("1,200円", "1,280円1")
    assert pair.right == (True, True, True, False, True, True, False)
    assert [c for c, missed in pair.missed if missed] == ["0"]


def test_nothing_at_all() -> None:
    assert compare("", "").edits == 0
    assert compare("", "x").edits == 1
    empty = Score.of([])
    assert (empty.cer, empty.exact, empty.crops) == (0.0, 0.0, 0)
    assert auroc([]) is None
    assert auroc([(0.3, True)]) is None


def test_a_score_adds_up() -> None:
    score = Score.of([compare("カタ", "カタ"), compare("12", "1"), compare("〓", "x")])
    assert (score.crops, score.characters, score.edits) == (2, 4, 1)
    assert score.exact == 0.5
    assert score.classes == {"katakana": (0, 2), "digits": (1, 2)}


@pytest.mark.parametrize(
    ("char", "name"),
    [("7", "digits"), ("x", "latin"), ("の", "hiragana"), ("ー", "katakana"), ("鋼", "kanji")],
)
def test_classes(char: str, name: str) -> None:
    assert class_of(char) == name


def test_auroc_counts_ties_half() -> None:
    assert auroc([(0.9, True), (0.1, False)]) == 1.0
    assert auroc([(0.5, True), (0.5, False)]) == 0.5
    assert auroc([(0.9, True), (0.5, False), (0.5, True), (0.4, False)]) == pytest.approx(0.875)
