"""Company names: coined katakana words that no dictionary holds, and dictionary words as control.

A model that has learnt Japanese repairs what it cannot see with what it expects. A coined name has
nothing to expect, so it shows what was really read; that is why every name carries its kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from synth import lexicon
from synth.seeds import chance, pick


class NameKind(StrEnum):
    """How a company's stem was made."""

    RANDOM = "random"  # any katakana after any other
    PRONOUNCEABLE = "pronounceable"  # by the mora grammar
    MINIMAL_PAIR = "minimal_pair"  # full of shapes that a fax confuses
    DICTIONARY = "dictionary"  # existing words, the control


CONFUSABLE = (
    "シツ",
    "ソン",
    "カガ",
    "ハバパ",
    "ー一",
    "ロ口",
    "ニ二",
    "ヤャ",
    "ユュ",
    "ヨョ",
    "ツッ",
)
"""Groups of shapes that differ by a dot, an angle or a size: gone at 8 pixels a millimetre."""

_VOWELS = "アイウエオ"
_ROWS = (
    *(
        "カキクケコ",
        "サシスセソ",
        "タチツテト",
        "ナニヌネノ",
        "ハヒフヘホ",
        "マミムメモ",
        "ラリルレロ",
    ),
    *("ガギグゲゴ", "ザジズゼゾ", "ダデド", "バビブベボ", "パピプペポ", "ヤユヨ", "ワ"),
)
_CONTRACTED = tuple(a + b for a in "キシチニヒミリギジビピ" for b in "ャュョ")
KATAKANA = "".join(_ROWS) + _VOWELS + "ンー"
"""What names of the kind `random` are made of."""
_LEGAL = ("株式会社", "株式会社", "株式会社", "有限会社", "合同会社")
_SHORT = {"株式会社": ("㈱", "(株)"), "有限会社": ("㈲", "(有)"), "合同会社": ("(同)", "(同)")}


@dataclass(frozen=True, slots=True)
class Company:
    """A company as it may be written.

    Attributes:
        stem: the part that identifies it.
        industry: what follows the stem, e.g. 製作所; may be empty.
        legal: 株式会社, 有限会社 or 合同会社.
        legal_first: whether the legal form comes before the stem.
        kind: how the stem was made.
        twin: for a minimal pair, the stem with one character swapped for its look-alike.
    """

    stem: str
    industry: str
    legal: str
    legal_first: bool
    kind: NameKind
    twin: str = ""

    def written(self, form: str = "long") -> str:
        """The full name; `form` is `long` (株式会社), `ligature` (㈱) or `bracket` ((株))."""
        legal = self.legal if form == "long" else _SHORT[self.legal][form == "bracket"]
        body = self.stem + self.industry
        return legal + body if self.legal_first else body + legal

    @property
    def short(self) -> str:
        """The name without the legal form, as on a seal or a fax header."""
        return self.stem + self.industry


def _mora(rng: np.random.Generator) -> str:
    if chance(rng, 0.12):
        return pick(rng, _CONTRACTED)
    row = pick(rng, (_VOWELS, *_ROWS))
    return row[int(rng.integers(len(row)))]


def _pronounceable(rng: np.random.Generator) -> str:
    """3 to 5 morae; ン, ー and ッ only where the language allows them."""
    parts = [_mora(rng)]
    count = int(rng.integers(3, 6))
    while len(parts) < count:
        previous, roll = parts[-1], rng.random()
        if roll < 0.12 and previous not in "ンーッ":
            parts.append("ー")
        elif roll < 0.22 and previous not in "ンッ":
            parts.append("ン")
        elif roll < 0.28 and previous not in "ンーッ" and len(parts) < count - 1:
            parts += ["ッ", pick(rng, tuple("カキクケコタチツテトパピプペポ"))]
        else:
            parts.append(_mora(rng))
    return "".join(parts)


def _random(rng: np.random.Generator) -> str:
    length = int(rng.integers(4, 8))
    return "".join(pick(rng, KATAKANA) for _ in range(length)).lstrip("ー") or "ヌ"


def _minimal_pair(rng: np.random.Generator) -> tuple[str, str]:
    """A stem with at least three confusable characters, and its twin."""
    stem = list(_pronounceable(rng))[:3]
    for _ in range(3):
        group = pick(rng, CONFUSABLE)
        # 一 口 二 and the small kana look like their partners only in the middle of a word.
        place = int(rng.integers(1, len(stem) + 1))
        stem.insert(place, group[int(rng.integers(len(group)))])
    spots = [(i, g) for i, c in enumerate(stem) for g in CONFUSABLE if c in g and i > 0]
    i, group = pick(rng, spots)
    other = pick(rng, [c for c in group if c != stem[i]])
    return "".join(stem), "".join([*stem[:i], other, *stem[i + 1 :]])


def _known(stem: str) -> bool:
    words = lexicon.phrases("katakana") + lexicon.phrases("stem")
    return any(w in stem for w in words if len(w) > 2) or any(
        stem in g.item for g in lexicon.goods()
    )


def draw_company(rng: np.random.Generator, kind: NameKind) -> Company:
    """A company whose stem is of the given kind; coined stems are in none of the lexicons."""
    twin = ""
    while True:
        if kind is NameKind.DICTIONARY:
            stem = pick(rng, lexicon.phrases("stem") + lexicon.phrases("katakana"))
        elif kind is NameKind.RANDOM:
            stem = _random(rng)
        elif kind is NameKind.PRONOUNCEABLE:
            stem = _pronounceable(rng)
        else:
            stem, twin = _minimal_pair(rng)
        if kind is NameKind.DICTIONARY or not _known(stem):
            break
    industry = pick(rng, lexicon.phrases("industry")) if chance(rng, 0.75) else ""
    return Company(stem, industry, pick(rng, _LEGAL), chance(rng, 0.5), kind, twin)
