from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.ctc import BLANK, RUNNERS_UP, decode, printable

ALPHABET = ["", *"あいう12ABー株😀", " "]
ALLOWED = printable(ALPHABET)


@st.composite
def outputs(draw):
    """T×V rows that sum to 1, with runs, ties and classes that are not answered."""
    labels = draw(st.lists(st.integers(0, len(ALPHABET) - 1), max_size=24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.random((len(labels), len(ALPHABET))) ** draw(st.sampled_from([1, 8]))
    for row, label in zip(scores, labels, strict=True):
        row[label] += draw(st.sampled_from([0.0, 1.0, 5.0]))
    return (scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-9)).astype(np.float32)


def slow(probabilities):
    """(character, confidence, first step, step after the last) by the definition."""
    path = [
        max((k for k in range(len(ALPHABET)) if ALLOWED[k]), key=lambda k: row[k])
        for row in probabilities
    ]
    for label, steps in groupby(range(len(path)), key=lambda t: path[t]):
        voters = list(steps)
        if label != BLANK:
            confidence = max(float(probabilities[t][label]) for t in voters)
            yield ALPHABET[label], confidence, voters[0], voters[-1] + 1


def of_path(text, sure=0.9):
    """Probabilities whose best path is `text`; `_` is the blank."""
    rows = np.full((len(text), len(ALPHABET)), (1 - sure) / (len(ALPHABET) - 1), np.float32)
    for row, c in zip(rows, text, strict=True):
        row[ALPHABET.index("" if c == "_" else c)] = sure
    return rows


@settings(deadline=None, max_examples=150)
@given(probabilities=outputs())
def test_it_agrees_with_the_definition(probabilities):
    steps = len(probabilities)
    found = [
        (g.text, g.confidence, round(g.start * steps), round(g.end * steps))
        for g in decode(probabilities, ALPHABET, ALLOWED)
    ]
    assert found == list(slow(probabilities))


@settings(deadline=None, max_examples=100)
@given(probabilities=outputs(), width=st.floats(0.05, 1.0))
def test_positions_go_from_left_to_right_within_the_line(probabilities, width):
    glyphs = decode(probabilities, ALPHABET, ALLOWED, width)
    for g in glyphs:
        assert 0 <= g.start <= g.end <= 1
        assert g.start < g.end or g.start == 1.0  # answered from the padding
    assert all(a.end <= b.start for a, b in pairwise(glyphs))


@settings(deadline=None, max_examples=100)
@given(probabilities=outputs())
def test_runners_up_are_other_characters_likeliest_first(probabilities):
    for g in decode(probabilities, ALPHABET, ALLOWED):
        others = [c for c, _ in g.alternatives]
        scores = [p for _, p in g.alternatives]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < p <= g.confidence + 1e-5 for p in scores)
        assert len(set(others)) == len(others) <= RUNNERS_UP
        assert not {g.text, "", "😀"} & set(others)


@settings(deadline=None, max_examples=100)
@given(probabilities=outputs())
def test_an_emoji_is_never_answered(probabilities):
    assert "😀" not in "".join(g.text for g in decode(probabilities, ALPHABET, ALLOWED))


class TestDecode:
    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("", ""),
            ("____", ""),
            ("あ", "あ"),
            ("ああ_い", "あい"),
            ("1_1", "11"),
            ("11__1", "11"),
            ("A B", "A B"),
            ("_ーー_", "ー"),
        ],
    )
    def test_repeats_merge_and_blanks_drop(self, path, text):
        glyphs = decode(of_path(path), ALPHABET, ALLOWED)
        assert "".join(g.text for g in glyphs) == text

    def test_no_steps_at_all(self):
        assert decode(np.zeros((0, len(ALPHABET)), np.float32), ALPHABET, ALLOWED) == ()

    def test_the_best_of_the_rest_stands_in_for_an_emoji(self):
        row = np.zeros((1, len(ALPHABET)), np.float32)
        row[0, ALPHABET.index("😀")], row[0, ALPHABET.index("株")] = 0.8, 0.15
        (glyph,) = decode(row, ALPHABET, ALLOWED)
        assert glyph.text == "株"
        assert glyph.confidence == pytest.approx(0.15)  # no surer than the model was

    def test_confidence_and_runners_up_are_those_of_the_surest_step(self):
        rows = np.zeros((2, len(ALPHABET)), np.float32)
        one, ka, dash = (ALPHABET.index(c) for c in "1あー")
        rows[0, [one, ka]] = 0.6, 0.4
        rows[1, [one, dash, BLANK]] = 0.7, 0.1, 0.2
        (glyph,) = decode(rows, ALPHABET, ALLOWED)
        assert glyph.confidence == pytest.approx(0.7)
        assert glyph.alternatives == (("ー", pytest.approx(0.1)),)

    def test_positions_are_fractions_of_the_line_without_its_padding(self):
        first, second = decode(of_path("_A_B____"), ALPHABET, ALLOWED, width=0.5)
        assert (first.start, first.end) == (0.25, 0.5)
        assert (second.start, second.end) == (0.75, 1.0)

    def test_a_small_alphabet(self):
        rows = np.array([[0.1, 0.7, 0.2]], np.float32)
        (glyph,) = decode(rows, ["", "A", "B"], np.ones(3, np.bool_))
        assert glyph.text == "A"
        assert glyph.alternatives == (("B", pytest.approx(0.2)),)


class TestPrintable:
    @pytest.mark.parametrize("c", [*"あアｱ亜1Aａ ー―〜￥㈱①々〆", "\u3000", ""])
    def test_what_a_japanese_printer_prints(self, c):
        assert printable([c]).tolist() == [True]

    @pytest.mark.parametrize("c", "¥·²³")
    def test_what_the_model_writes_for_marks_that_are_printed(self, c):
        assert printable([c]).tolist() == [True]

    @pytest.mark.parametrize("c", "产齐黑单税压捆體產")
    def test_foreign_shapes_of_ideographs_are_kept_for_the_repair_table(self, c):
        assert printable([c]).tolist() == [True]

    @pytest.mark.parametrize("c", [*"😀✅♥️", "한", "ع", "ก", "☕"])
    def test_no_emoji_and_no_foreign_script(self, c):
        assert printable([c]).tolist() == [False]

    def test_one_answer_a_class(self):
        assert printable(["", "あ", "😀"]).tolist() == [True, True, False]
        assert printable([]).shape == (0,)
