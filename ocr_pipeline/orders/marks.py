"""Voicing marks (゛ ゜): what a fax destroys first, and what no rule can bring back.

A lost mark leaves a text that looks right. Two things give it away: the engine had the other form
among its runners-up, and the word with the mark is one the trade knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ocr_pipeline.orders.words import KATAKANA_WORDS
from ocr_pipeline.tables.transcript import Cell

_GROUPS = (
    *(
        "カガ",
        "キギ",
        "クグ",
        "ケゲ",
        "コゴ",
        "サザ",
        "シジ",
        "スズ",
        "セゼ",
        "ソゾ",
        "タダ",
        "チヂ",
        "ツヅ",
    ),
    *("テデ", "トド", "ハバパ", "ヒビピ", "フブプ", "ヘベペ", "ホボポ", "ウヴ"),
)
VARIANTS = {c: frozenset(group) - {c} for group in _GROUPS for c in group}
"""A kana → the kana that differ from it by a mark alone."""

RUNNER_UP = 0.01
"""A variant that the engine gave this much probability makes the mark unsure. Lost marks look right
to it: it seldom gives the true form more than a few in a hundred."""
SHORTEST_WORD = 4
"""Shorter words are too often parts of coined names."""

_BARE = str.maketrans({c: group[0] for group in _GROUPS for c in group})
_WORDS: dict[str, list[str]] = {}
for _word in sorted(KATAKANA_WORDS):
    if len(_word) >= SHORTEST_WORD:
        _WORDS.setdefault(_word.translate(_BARE), []).append(_word)
_LENGTHS = sorted({len(w) for w in _WORDS}, reverse=True)


@dataclass(frozen=True, slots=True)
class UnsureMark:
    """A place where a mark may have been lost or made up.

    Attributes:
        read: the text as it was read.
        other: the text with the other form.
    """

    read: str
    other: str


def unsure_marks(cell: Cell) -> Iterator[UnsureMark]:
    """Kana of a cell whose voicing variant the engine also thought possible."""
    if len(cell.chars) != len(cell.text):
        return
    for i, char in enumerate(cell.chars):
        variants = VARIANTS.get(char.text, frozenset())
        for other, probability in char.alternatives:
            if other in variants and probability >= RUNNER_UP:
                yield UnsureMark(cell.text, cell.text[:i] + other + cell.text[i + 1 :])
                break


def unknown_marks(text: str) -> Iterator[UnsureMark]:
    """Words that would be known ones with other marks (ケープル: ケーブル)."""
    bare = text.translate(_BARE)
    position = 0
    while position < len(text):
        for length in _LENGTHS:
            end = position + length
            known = _WORDS.get(bare[position:end], ())
            if known and text[position:end] not in known:
                yield UnsureMark(text, text[:position] + known[0] + text[end:])
            if known:
                position = end - 1
                break
        position += 1
