"""Read text against true text, character by character, where some of it cannot be read at all."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import rankdata

from ocr_pipeline.pocket.tokenizer import UNREADABLE


@dataclass(frozen=True, slots=True)
class Pair:
    """A reading beside its truth; spaces and widths of characters do not count.

    Attributes:
        edits: characters read wrong, missed or invented.
        total: readable characters of the truth.
        missed: for each readable character of the truth whether it was not read right.
        right: for each character of the reading whether it is right; 〓 for 〓 is, anything else
            for it does not matter and counts as right.
    """

    edits: int
    total: int
    missed: tuple[tuple[str, bool], ...]
    right: tuple[bool, ...]


def folded(text: str) -> tuple[str, tuple[int, ...]]:
    """NFKC without spaces, and for each of its characters the index in `text`."""
    chars: list[str] = []
    origin: list[int] = []
    for i, char in enumerate(text):
        for new in unicodedata.normalize("NFKC", char):
            if not new.isspace():
                chars.append(new)
                origin.append(i)
    return unicodedata.normalize("NFKC", "".join(chars)), tuple(origin)


def compare(true: str, read: str) -> Pair:
    """Align a reading with its truth at the least number of edits.

    A 〓 of the truth can be read as anything or left out, at no cost: nobody knows better. 〓 for a
    character that can be read is wrong.
    """
    a, _ = folded(true)
    b, origin = folded(read)
    if len(origin) != len(b):  # composed across characters, as half-width ｶ and ﾞ are
        origin = tuple(range(len(b)))
        read = b
    cost = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    cost[0] = np.arange(len(b) + 1)
    for i, char in enumerate(a, start=1):
        free = char == UNREADABLE
        cost[i, 0] = cost[i - 1, 0] + (not free)
        for j, other in enumerate(b, start=1):
            cost[i, j] = min(
                cost[i - 1, j - 1] + (not free and char != other),
                cost[i - 1, j] + (not free),
                cost[i, j - 1] + 1,
            )
    missed: list[tuple[str, bool]] = []
    wrong: set[int] = set()
    i, j = len(a), len(b)
    while i or j:
        free = i > 0 and a[i - 1] == UNREADABLE
        same = i > 0 and j > 0 and (free or a[i - 1] == b[j - 1])
        if i and j and cost[i, j] == cost[i - 1, j - 1] + (not same):
            if not same:
                wrong.add(origin[j - 1])
            if not free:
                missed.append((a[i - 1], not same))
            i, j = i - 1, j - 1
        elif i and cost[i, j] == cost[i - 1, j] + (not free):
            if not free:
                missed.append((a[i - 1], True))
            i -= 1
        else:
            wrong.add(origin[j - 1])
            j -= 1
    right = tuple(k not in wrong for k in range(len(read)))
    return Pair(int(cost[-1, -1]), len(missed), tuple(reversed(missed)), right)


_CLASSES = (
    ("KATAKANA", "katakana"),
    ("HIRAGANA", "hiragana"),
    ("CJK", "kanji"),
    ("DIGIT", "digits"),
    ("LATIN", "latin"),
)


def class_of(char: str) -> str:
    """`digits`, `latin`, `hiragana`, `katakana`, `kanji` or `signs`."""
    name = unicodedata.name(char, "")
    return next((title for word, title in _CLASSES if word in name), "signs")


@dataclass(frozen=True, slots=True)
class Score:
    """What many pairs add up to.

    Attributes:
        crops: pairs with anything readable in their truth.
        characters: readable characters of the truths.
        edits: of all pairs.
        exact: share of the pairs without an edit.
        classes: class of character → (not read right, total).
    """

    crops: int
    characters: int
    edits: int
    exact: float
    classes: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Score:
        """Add up pairs."""
        kept = [p for p in pairs if p.total]
        classes: dict[str, tuple[int, int]] = {}
        for char, missed in (m for p in kept for m in p.missed):
            wrong, total = classes.get(class_of(char), (0, 0))
            classes[class_of(char)] = wrong + missed, total + 1
        exact = sum(p.edits == 0 for p in kept) / len(kept) if kept else 0.0
        characters, edits = sum(p.total for p in kept), sum(p.edits for p in kept)
        return cls(len(kept), characters, edits, exact, classes)

    @property
    def cer(self) -> float:
        """Edits for each readable character."""
        return self.edits / self.characters if self.characters else 0.0

    def as_dict(self) -> dict[str, float]:
        """CER, exact rate and counts, rounded."""
        return {
            "cer": round(self.cer, 4),
            "exact": round(self.exact, 4),
            "characters": self.characters,
            "crops": self.crops,
        }


def auroc(marks: Sequence[tuple[float, bool]]) -> float | None:
    """Chance that a right character has more confidence than a wrong one; ties count half.

    Args:
        marks: (confidence, right) pairs.

    Returns:
        None when all are right or all are wrong (Mann–Whitney's U over the number of pairs).
    """
    right = np.array([r for _, r in marks], bool)
    good, bad = int(right.sum()), int((~right).sum())
    if not good or not bad:
        return None
    ranks = rankdata([c for c, _ in marks])
    return float((ranks[right].sum() - good * (good + 1) / 2) / (good * bad))
