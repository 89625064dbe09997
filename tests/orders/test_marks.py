from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char
from ocr_pipeline.orders.marks import RUNNER_UP, VARIANTS, unknown_marks, unsure_marks
from ocr_pipeline.orders.words import KATAKANA_WORDS
from ocr_pipeline.tables.transcript import Cell


def cell(text: str, at: int, *alternatives: tuple[str, float]) -> Cell:
    """A cell whose character `at` the engine was not sure of."""
    chars = [Char(c, 0.9) for c in text]
    chars[at] = replace(chars[at], alternatives=alternatives)
    return Cell(text, 0.9, chars=tuple(chars))


def others(text: str) -> list[str]:
    return [u.other for u in unknown_marks(text)]


def test_variants_differ_by_a_mark_alone() -> None:
    for kana, variants in VARIANTS.items():
        base = unicodedata.normalize("NFD", kana)[0]
        assert variants
        assert kana not in variants
        assert {unicodedata.normalize("NFD", v)[0] for v in variants} == {base}
    assert VARIANTS["ハ"] == {"バ", "パ"}
    assert "ッ" not in VARIANTS
    assert "一" not in VARIANTS


def test_a_variant_among_the_runners_up() -> None:
    (unsure,) = unsure_marks(cell("ハブ", 0, ("八", 0.3), ("バ", 0.05)))
    assert (unsure.read, unsure.other) == ("ハブ", "バブ")


@pytest.mark.parametrize(
    "alternatives", [(), (("八", 0.5),), (("バ", RUNNER_UP / 2),), (("ヒ", 0.4),)]
)
def test_other_runners_up_say_nothing_about_a_mark(alternatives) -> None:
    assert list(unsure_marks(cell("ハブ", 0, *alternatives))) == []


def test_without_characters_nothing_is_known() -> None:
    assert list(unsure_marks(Cell("ハブ"))) == []
    assert list(unsure_marks(Cell(""))) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ケープル", ["ケーブル"]),
        ("ホルト", []),  # too short a word
        ("ヘアリング", ["ベアリング"]),
        ("耐油バッキン", ["耐油パッキン"]),
        ("ケーブルとヘアリング", ["ケーブルとベアリング"]),
        ("ケーブル", []),
        ("株式会社大塚", []),
        ("", []),
    ],
)
def test_words_the_trade_knows_with_other_marks(text: str, meant: list[str]) -> None:
    assert others(text) == meant


def test_known_words_are_left_alone() -> None:
    assert [w for w in sorted(KATAKANA_WORDS) if others(w)] == []


@settings(deadline=None, max_examples=60)
@given(st.text("ケーブルプベアリングヘハバパ株 M6", max_size=12))
def test_what_it_may_be_differs_by_marks_alone(text: str) -> None:
    for other in others(text):
        assert len(other) == len(text)
        assert all(a == b or b in VARIANTS[a] for a, b in zip(text, other, strict=True))
