"""CTC output of a line recogniser → characters with confidence, runners-up and position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLANK = 0
"""Class 0 is CTC's blank in PP-OCR."""

RUNNERS_UP = 3

LATIN_SIGNS = frozenset("¥·²³µ¼½¾")
"""What the model writes for ￥ ・ ㎡ ㎥ and the like; cp932 has other characters for them."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """One decoded character.

    Attributes:
        text: the character.
        confidence: its highest probability over the time steps that voted for it.
        alternatives: other characters at that step, most likely first.
        start: first time step of the character, as a fraction 0..1 of the line's width.
        end: end of its last time step, as a fraction.
        space: highest probability of a space between the character before and this one.
    """

    text: str
    confidence: float
    alternatives: tuple[tuple[str, float], ...]
    start: float
    end: float
    space: float = 0.0


def printable(characters: Sequence[str]) -> NDArray[np.bool_]:
    """Which classes can stand on a Japanese business paper.

    A Japanese printer prints what cp932 holds. Ideographs beyond it stay allowed: the model writes
    simplified or traditional Chinese glyphs for Japanese ones, and which one it saw is information
    for the repair table; an emoji is not.
    """

    def allowed(c: str) -> bool:
        if "\u4e00" <= c <= "\u9fff" or c in LATIN_SIGNS:
            return True
        try:
            c.encode("cp932")
        except UnicodeEncodeError:
            return False
        return True

    return np.array([allowed(c) for c in characters])


def decode(
    probabilities: NDArray[np.float32],
    characters: Sequence[str],
    allowed: NDArray[np.bool_],
    width: float = 1.0,
) -> tuple[Glyph, ...]:
    """Greedy (best path) decoding: merge repeats, drop blanks.

    Args:
        probabilities: T×V, rows sum to 1; column 0 is the blank.
        characters: V strings, `characters[0]` stands for the blank; the last one is the space
            when the alphabet has one.
        allowed: V booleans; classes that are never answered (the blank is always allowed).
        width: share of the T steps that cover the line, the rest being padding.

    Returns:
        The characters, left to right; positions are fractions of the unpadded line.
    """
    steps = len(probabilities)
    if steps == 0:
        return ()
    masked = np.where(allowed, probabilities, 0.0)
    best = masked.argmax(axis=1)
    edges = np.flatnonzero(np.diff(best)) + 1
    starts = np.concatenate([[0], edges])
    ends = np.concatenate([edges, [steps]])
    glyphs: list[Glyph] = []
    spaces = probabilities[:, -1] if characters[-1] == " " else np.zeros(steps)
    last = 0
    scale = 1.0 / (steps * width)
    for start, end in zip(starts, ends, strict=True):
        label = int(best[start])
        if label == BLANK:
            continue
        peak = start + int(masked[start:end, label].argmax())
        row = masked[peak]
        count = min(RUNNERS_UP + 2, len(row))
        order = np.argpartition(row, -count)[-count:]
        order = order[np.argsort(-row[order])]
        others = tuple(
            (characters[int(k)], round(float(row[k]), 5))
            for k in order
            if k not in (label, BLANK) and row[k] > 1e-3
        )
        glyphs.append(
            Glyph(
                characters[label],
                float(row[label]),
                others[:RUNNERS_UP],
                min(1.0, start * scale),
                min(1.0, end * scale),
                float(spaces[last:end].max()) if glyphs else 0.0,
            )
        )
        last = start
    return tuple(glyphs)
