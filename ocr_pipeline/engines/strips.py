"""Strips: every text line of a page cut out upright, and its characters put back in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.engines.base import Char
from ocr_pipeline.engines.lines import DARK, KANA_GAP, advance, crop, part, text_rows
from ocr_pipeline.geometry import Quad, box_of, slice_quad
from ocr_pipeline.pages.page import Gray

PAPER = 255
SAME_LINE = 0.5
"""Boxes stand on one line when they overlap by this share of the lower one's height."""
LONGEST_STUB = 0.6
"""Text heights by which a box is made longer, where its end goes through ink."""
HALF_EMPTY = 0.5
"""Ems of paper that belong to a full-width comma or full stop."""
PULL = 0.2
"""Share of its distance from where it is expected by which a gap counts as narrower."""
INSIDE_COSTS = 0.1
"""Heights of the line by which a gap is worth less that may lie inside a character."""
ONE_CHARACTER = 1.1
"""Text heights that two pieces of ink span at most when they are one character (い, ル, 川)."""
SNAP = 0.4
"""Ems by which the border of two characters may move to where there is less ink."""


@dataclass(frozen=True, eq=False, slots=True)
class Strip:
    """A line or a part of one.

    Attributes:
        image: H×W, upright.
        quad: what it shows, pixels of the page, upright or as stored.
    """

    image: Gray
    quad: Quad


def reading_order(quads: Sequence[Quad]) -> list[int]:
    """Indices of quads, line by line from the top, each line from the left (upright pixels)."""
    boxes = [box_of(q) for q in quads]
    lines: list[list[int]] = []
    for i in sorted(range(len(boxes)), key=lambda i: boxes[i][1] + boxes[i][3]):
        for line in lines[-4:]:
            # The nearest neighbour decides, so that a line that slopes a little stays one line.
            near = boxes[min(line, key=lambda j: abs(boxes[j][0] - boxes[i][0]))]
            overlap = min(near[3], boxes[i][3]) - max(near[1], boxes[i][1])
            if overlap >= SAME_LINE * min(near[3] - near[1], boxes[i][3] - boxes[i][1]):
                line.append(i)
                break
        else:
            lines.append([i])
    return [i for line in lines for i in sorted(line, key=lambda i: boxes[i][0])]


def strips_of(image: Gray, quad: Quad, height: int = 0, longest: int = 0) -> tuple[Strip, ...]:
    """One line as upright strips.

    Args:
        image: the upright page.
        quad: the line, upright pixels.
        height: pixels of the strips; 0 keeps the resolution of the page.
        longest: pixels; a longer line is cut where the paper between two characters is widest.

    Returns:
        The parts from left to right; one, unless the line is too long.
    """
    quad = _whole(image, quad)
    _, top, _, bottom = box_of(quad)
    line = crop(image, quad, height or max(8, round(bottom - top)))
    width = line.shape[1]
    edges = [0, *_cuts(line, longest), width]
    return tuple(
        Strip(np.ascontiguousarray(line[:, a:b]), slice_quad(quad, a / width, b / width))
        for a, b in pairwise(edges)
    )


def squeezed(image: Gray, rows: int) -> Gray:
    """The strip with every `rows` rows averaged into one."""
    height, width = image.shape
    if rows == 1:
        return image
    return np.asarray(cv2.resize(image, (width, height // rows), interpolation=cv2.INTER_AREA))


def padded(image: Gray, widths: Sequence[int]) -> Gray:
    """A strip with paper on its right, up to the next of some widths."""
    wide = min((w for w in widths if w >= image.shape[1]), default=image.shape[1])
    return np.pad(image, ((0, 0), (0, wide - image.shape[1])), constant_values=PAPER)


def placed(chars: Sequence[Char], strip: Strip) -> tuple[Char, ...]:
    """Give characters the places of their ink.

    The words of the line are parted at its widest gaps; within a word each character has its share
    of the width (half for a half-width one), and its borders move to where there is least ink.

    Returns:
        The same characters with quads in the pixels of the strip's; spaces have none.
    """
    height, width = strip.image.shape
    ink = strip.image < DARK
    rows = np.flatnonzero(text_rows(ink))
    top, bottom = (rows[0] / height, (rows[-1] + 1) / height) if len(rows) else (0.0, 1.0)
    spans = _spans("".join(c.text for c in chars), ink.sum(axis=0))
    return tuple(
        c
        if span is None
        else replace(c, quad=part(strip.quad, (span[0] / width, top, span[1] / width, bottom)))
        for c, span in zip(chars, spans, strict=True)
    )


def apart(left: Strip, right: Strip, last: str) -> bool:
    """Whether the paper between two parts of a line is as wide as a space.

    Args:
        left: the part on the left.
        right: the part on the right.
        last: the last character of the left one.
    """
    ink = [np.flatnonzero((s.image < DARK).any(axis=0)) for s in (left, right)]
    if not len(ink[0]) or not len(ink[1]):
        return True
    gap = left.image.shape[1] - 1 - int(ink[0][-1]) + int(ink[1][0])
    rows = np.flatnonzero((left.image < DARK).sum(axis=1) > 1)
    em = int(rows[-1] - rows[0] + 1) if len(rows) else left.image.shape[0]
    return bool(gap > (KANA_GAP + (HALF_EMPTY if last in "、。，．" else 0.0)) * em)


def _whole(image: Gray, quad: Quad) -> Quad:
    """The quad made longer where its ends go through a character."""
    left, top, right, bottom = box_of(quad)
    height, width = max(bottom - top, 1.0), max(right - left, 1.0)
    stub = LONGEST_STUB * height / width
    line = crop(image, slice_quad(quad, -stub, 1 + stub), max(8, round(height)))
    columns = (line < DARK).sum(axis=0)
    # A column that is dark from top to bottom is the border of a cell.
    inked = (columns >= 2) & (columns < 0.85 * line.shape[0])
    edge = round(stub / (1 + 2 * stub) * len(columns))
    before = _run(inked[edge - 1 :: -1]) if edge and inked[edge] else 0
    after = _run(inked[len(columns) - edge :]) if edge and inked[-edge - 1] else 0
    scale = (1 + 2 * stub) / len(columns)
    return slice_quad(quad, -before * scale, 1 + after * scale)


def _run(marked: NDArray[np.bool_]) -> int:
    """How many are marked at the start."""
    return int(marked.argmin()) if not marked.all() else len(marked)


def _cuts(line: Gray, longest: int) -> list[int]:
    """Columns at which a line is cut so that no part is longer than allowed."""
    height, width = line.shape
    cuts: list[int] = []
    start = 0
    if not longest or width <= longest:
        return cuts
    ink = (line < DARK).sum(axis=0).astype(np.float64)
    room = _room(ink < 2) - INSIDE_COSTS * height * _inside(line, ink >= 2)
    while width - start > longest:
        even = (width - start) / np.ceil((width - start) / longest)
        columns = np.arange(start + max(1, longest // 2), start + longest + 1)
        columns = columns[columns < width]
        # Wide gaps first, then thin strokes, then even parts.
        worth = np.minimum(room[columns], height / 2) - ink[columns]
        worth = worth - 0.25 * height * np.abs(columns - start - even) / longest
        start = int(columns[worth.argmax()])
        cuts.append(start)
    return cuts


def _inside(line: Gray, inked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Columns of paper between two pieces of ink that together are no wider than a character."""
    found = np.zeros(len(inked), bool)
    rows = np.flatnonzero(text_rows(line < DARK))
    widest = ONE_CHARACTER * (rows[-1] + 1 - rows[0]) if len(rows) else 0.0
    edges = np.flatnonzero(np.diff(inked, prepend=False, append=False)).reshape(-1, 2)
    for (left, end), (start, right) in pairwise(edges):
        found[end:start] = right - left <= widest
    return found


def _room(blank: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each column the distance to the nearest one that is not blank."""
    at = np.arange(len(blank))
    inked = at[~blank]
    if not len(inked):
        return np.full(len(blank), float(len(blank)))
    after = np.searchsorted(inked, at).clip(0, len(inked) - 1)
    before = (after - 1).clip(0)
    nearest = np.minimum(np.abs(inked[after] - at), np.abs(inked[before] - at))
    return np.asarray(nearest, np.float64)


def _spans(text: str, ink: NDArray[np.int_]) -> list[tuple[float, float] | None]:
    """Columns (first, last+1) of every character; None for spaces."""
    spans: list[tuple[float, float] | None] = [None] * len(text)
    inked = np.flatnonzero(ink >= 2)
    found = inked if len(inked) else np.array([0, len(ink) - 1])
    steps = np.flatnonzero(np.diff(found) > 1)
    gaps = np.column_stack([found[steps] + 1, found[steps + 1]]).astype(np.float64)
    left, right = float(found[0]), float(found[-1]) + 1
    for word in re.finditer(r"\S+", text):
        rest = text[word.end() :].rstrip()
        end = after = right
        if rest:
            # Where the word would end if all characters were evenly spaced.
            share = _width(word[0]) / (_width(word[0]) + _width(rest))
            end = after = left + (right - left) * share
            gaps = gaps[gaps[:, 0] > left]
            if len(gaps):
                away = np.abs(gaps.mean(axis=1) - end)
                best = (gaps[:, 1] - gaps[:, 0] - PULL * away).argmax()
                end, after = map(float, gaps[best])
        spans[word.start() : word.end()] = _shares(word[0], left, end, ink)
        left = after
    return spans


def _width(text: str) -> float:
    """Ems."""
    return sum(map(advance, text))


def _shares(
    word: str, left: float, right: float, ink: NDArray[np.int_]
) -> list[tuple[float, float]]:
    """The columns of each character of a word."""
    widths = np.array([advance(c) for c in word])
    em = (right - left) / float(widths.sum())
    borders = [left, *(left + em * np.cumsum(widths)[:-1]), right]
    for i in range(1, len(word)):
        reach = SNAP * em * min(widths[i - 1], widths[i])
        low, high = int(max(borders[i - 1] + 1, borders[i] - reach)), int(borders[i] + reach) + 1
        columns = np.arange(low, min(high, len(ink)))
        if len(columns):
            cost = ink[columns] + np.abs(columns - borders[i]) / max(em, 1.0)
            borders[i] = float(columns[cost.argmin()])
        borders[i] = max(borders[i], borders[i - 1])
    spans = []
    for a, b in pairwise(borders):
        marked = np.flatnonzero(ink[int(a) : max(int(a) + 1, int(np.ceil(b)))] >= 1)
        inner = (int(a) + float(marked[0]), int(a) + float(marked[-1]) + 1) if len(marked) else None
        spans.append(inner or (a, max(b, a + 1)))
    return spans
