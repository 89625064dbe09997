"""Words in upright coordinates: cut where the gaps are wide, joined into lines and cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ocr_pipeline.engines.base import Char, Word
from ocr_pipeline.geometry import Box, Matrix, box_of, slice_quad, transform, union
from ocr_pipeline.tables.transcript import Cell

WORD_GAP = 0.9
"""A space wider than this share of the text height cuts a word in two."""
PIECE_GAP = 1.3
"""Words of one line closer than this (in text heights) are one piece of text."""
TITLE_GAP = 2.5
"""Single characters may stand further apart: 発　注　書."""
SPACE = 0.25
"""Tokens closer than this share of the text height are parts of one word the detector cut."""
SAME_LINE = 0.5
"""Two words stand on one line when their heights overlap by this share of the smaller."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or a part of one, and its box in upright pixels."""

    chars: tuple[Char, ...]
    box: Box

    @property
    def text(self) -> str:
        """The characters as a string."""
        return "".join(c.text for c in self.chars)

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.box[3] - self.box[1]

    @property
    def center(self) -> tuple[float, float]:
        """Middle of the box."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2


def tokens_of(words: Iterable[Word], to_upright: Matrix) -> list[Token]:
    """Turn words into upright tokens, cutting them at wide gaps.

    Args:
        words: with quads in stored pixels; a word without `chars` becomes one token.
        to_upright: 3×3, stored → upright pixels.
    """
    tokens = []
    for word in words:
        box = box_of(transform(word.quad, to_upright))
        chars = word.chars or _spread(word)
        height = box[3] - box[1]
        boxes = [box_of(transform(c.quad, to_upright)) if c.quad else None for c in chars]
        start = 0
        for i, c in enumerate(chars):
            if c.text != " " or not 0 < i < len(chars) - 1:
                continue
            before, after = boxes[i - 1], boxes[i + 1]
            if before and after and after[0] - before[2] > WORD_GAP * height:
                tokens.append(_token(chars[start:i], boxes[start:i], box))
                start = i + 1
        tokens.append(_token(chars[start:], boxes[start:], box))
    return [t for t in tokens if t.text.strip()]


def _spread(word: Word) -> tuple[Char, ...]:
    """Characters of a word whose engine gave none: equal shares of its quad."""
    n = len(word.text)
    return tuple(
        Char(c, word.confidence, (), slice_quad(word.quad, i / n, (i + 1) / n))
        for i, c in enumerate(word.text)
    )


def _token(chars: Sequence[Char], boxes: Sequence[Box | None], whole: Box) -> Token:
    """A token of some characters; the vertical extent is that of the whole word."""
    present = [b for b in boxes if b is not None]
    left = min((b[0] for b in present), default=whole[0])
    right = max((b[2] for b in present), default=whole[2])
    return Token(tuple(chars), (left, whole[1], right, whole[3]))


def merged(tokens: Sequence[Token]) -> Token:
    """One token of several that stand side by side."""
    if len(tokens) == 1:
        return tokens[0]
    return Token(
        tuple(c for t in tokens for c in t.chars),
        box_of((x, y) for t in tokens for x, y in (t.box[:2], t.box[2:])),
    )


def cut(token: Token, at: float, to_upright: Matrix) -> tuple[Token, Token] | None:
    """Cut a token at an x position between two of its characters; None when nothing is cut off."""
    split = 0
    for i, c in enumerate(token.chars):
        if c.quad is not None:
            box = box_of(transform(c.quad, to_upright))
            if (box[0] + box[2]) / 2 > at:
                break
            split = i + 1
    else:
        split = len(token.chars)
    left, right = token.chars[:split], token.chars[split:]
    if not "".join(c.text for c in left).strip() or not "".join(c.text for c in right).strip():
        return None
    halves = []
    for part in (left, right):
        boxes = [box_of(transform(c.quad, to_upright)) if c.quad else None for c in part]
        halves.append(_token(_stripped(part), boxes, token.box))
    return halves[0], halves[1]


def _stripped(chars: Sequence[Char]) -> tuple[Char, ...]:
    start, end = 0, len(chars)
    while start < end and chars[start].text.isspace():
        start += 1
    while end > start and chars[end - 1].text.isspace():
        end -= 1
    return tuple(chars[start:end])


def level_of(tokens: Sequence[Token]) -> tuple[float, float]:
    """Middle height and text height of a line of tokens, pixels."""
    return (
        float(np.median([t.center[1] for t in tokens])),
        float(np.median([t.height for t in tokens])),
    )


def lines_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """Group tokens into text lines, top to bottom; tokens of a line left to right."""
    lines: list[list[Token]] = []
    for token in sorted(tokens, key=lambda t: t.center[1]):
        for line in reversed(lines[-4:]):
            if _same_line(line, token):
                line.append(token)
                break
        else:
            lines.append([token])
    for line in lines:
        line.sort(key=lambda t: t.box[0])
    return sorted(lines, key=lambda line: level_of(line)[0])


def _same_line(line: Sequence[Token], token: Token) -> bool:
    # The nearest neighbour decides, so that a line that still slopes a little stays one line.
    near = min(line, key=lambda t: abs(t.center[0] - token.center[0]))
    overlap = min(near.box[3], token.box[3]) - max(near.box[1], token.box[1])
    return overlap >= SAME_LINE * min(near.height, token.height)


def pieces_of(line: Sequence[Token]) -> list[list[Token]]:
    """Cut a line into pieces of text that belong together."""
    pieces: list[list[Token]] = []
    for token in line:
        if pieces:
            last = pieces[-1][-1]
            height = max(last.height, token.height)
            spaced_out = len(last.text) == len(token.text) == 1
            reach = (TITLE_GAP if spaced_out else PIECE_GAP) * height
            if token.box[0] - last.box[2] <= reach:
                pieces[-1].append(token)
                continue
        pieces.append([token])
    return pieces


def cell_of(lines: Sequence[Sequence[Token]], page: int) -> Cell:
    """One cell from the tokens of its lines: spaces between tokens, newlines between lines."""
    chars: list[Char] = []
    for line in lines:
        if chars:
            chars.append(Char("\n"))
        for i, token in enumerate(line):
            if i and token.box[0] - line[i - 1].box[2] > SPACE * token.height:
                chars.append(Char(" "))
            chars.extend(token.chars)
    if not chars:
        return Cell(page=page)
    return Cell(
        text="".join(c.text for c in chars),
        confidence=min(c.confidence for c in chars),
        quad=union([c.quad for c in chars if c.quad is not None]),
        page=page,
        chars=tuple(chars),
    )
