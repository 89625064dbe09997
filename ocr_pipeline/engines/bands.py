"""Bands: a page cut between its text lines, so that each part gets the whole image budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.engines.regions import MEETS
from ocr_pipeline.geometry import Box
from ocr_pipeline.pages.ink import GLYPH_MM, binarize, find_marks, in_shade
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.pages.rules import Rule, Rules, erase, find_rules

SIZE = 28.0
"""Pixels that the longer side of a full-width character shall have in the resized band.

A soft token of Gemma covers 48×48 pixels, so three characters share one; with fewer pixels the
strokes of a kanji run together."""
MOST_BANDS = 12
MARGIN = 0.06
"""Inches of paper left around the ink."""
REACH = 0.4
"""A cut may lie this share of a band's height off its even place."""
USUAL_SIZE = 0.11
"""Inches; taken for the size of characters on a page that has none."""

# What a cut costs. A character crossed costs more than any detour.
CROSSED = 6.0
"""For each character's width of ink that the row goes through."""
WITHIN = 1.5
"""For each character's width of a text line, or of the narrow gap in one, that it goes through."""
WALL = 1.0
"""For each vertical rule: the cut is within a row of a table …"""
BETWEEN_ROWS = 0.2
"""… or, at a horizontal rule, between two of them."""
DETOUR = 3.0
"""At the farthest reach; grows with the square."""


@dataclass(frozen=True, slots=True)
class Band:
    """A part of a page.

    Attributes:
        box: upright pixels, whole ones.
        continues: its upper edge goes through a ruled table.
    """

    box: Box
    continues: bool = False


def bands(image: Gray, dpi: float, budget: int) -> tuple[Band, ...]:
    """Cut a page between its text lines.

    There are so many bands that characters come out `SIZE` pixels large when each band is resized
    to `budget` pixels; they share no row, and rows without ink above and below are left out.

    Args:
        image: H×W, upright.
        dpi: of the square pixels.
        budget: pixels of a resized band, soft tokens · (pooling · patch)².

    Returns:
        Top to bottom; none for a page without ink.
    """
    rules = find_rules(image, dpi)
    marks = find_marks(binarize(erase(image, rules)), dpi)
    long, short = marks.boxes[:, 2:].max(axis=1), marks.boxes[:, 2:].min(axis=1)
    text = marks.mask(marks.glyphs | (short > marks.mm(GLYPH_MM[0])))
    rows, columns = _extent(text, 1), _extent(text, 0)
    if rows is None or columns is None:
        return ()
    clear = long[marks.glyphs & ~in_shade(marks)]
    size = float(np.percentile(clear, 75)) if len(clear) else USUAL_SIZE * dpi
    borders = rules.borders(MEETS * dpi)
    pad = round(MARGIN * dpi)
    left, right = _around(columns, rules.horizontal, pad, image.shape[1])
    top, bottom = _around(rows, borders, pad, image.shape[0])
    needed = (right - left) * (bottom - top) * (SIZE / size) ** 2 / budget
    count = min(MOST_BANDS, max(1, ceil(needed)))
    cuts = _cuts(_costs(marks.mask(~marks.specks), rules, size), top, bottom, count)
    return tuple(
        Band((left, a, right, b), continues=sum(r.start < a < r.end for r in borders) >= 2)
        for a, b in pairwise([top, *cuts, bottom])
        if text[a:b, left:right].any()
    )


def _extent(marked: NDArray[np.bool_], axis: int) -> tuple[int, int] | None:
    """First and last+1 index of what has a mark along an axis."""
    found = np.flatnonzero(marked.any(axis=axis))
    return (int(found[0]), int(found[-1]) + 1) if len(found) else None


def _around(extent: tuple[int, int], rules: Sequence[Rule], pad: int, size: int) -> tuple[int, int]:
    """An extent with the ruling lines along it and some paper, within the page."""
    start = min([extent[0], *(int(r.start) for r in rules)])
    end = max([extent[1], *(ceil(r.end) + 1 for r in rules)])
    return max(0, start - pad), min(size, end + pad)


def _costs(ink: NDArray[np.bool_], rules: Rules, size: float) -> NDArray[np.float64]:
    """For every row what it costs to cut there."""
    # The parts of a character (二, 言, a dakuten) and the characters of a line are one.
    kernel = np.ones((max(1, round(0.4 * size)), max(1, round(1.5 * size))), np.uint8)
    lines = cv2.morphologyEx(ink.view(np.uint8), cv2.MORPH_CLOSE, kernel)
    costs = np.asarray((CROSSED * ink.sum(axis=1) + WITHIN * lines.sum(axis=1)) / size, np.float64)
    between = np.zeros(len(ink), np.bool_)
    for rule in rules.horizontal:
        half = rule.thickness / 2 + 1
        low, high = sorted((rule.across(rule.start), rule.across(rule.end)))
        between[max(0, round(low - half)) : max(0, round(high + half) + 1)] = True
    for rule in rules.vertical:
        along = slice(max(0, round(rule.start) + 2), max(0, round(rule.end) - 1))
        costs[along] += np.where(between[along], BETWEEN_ROWS, WALL)
    return costs


def _cuts(costs: NDArray[np.float64], top: int, bottom: int, count: int) -> list[int]:
    """The rows at which bands after the first begin."""
    step = (bottom - top) / count
    reach = max(1.0, REACH * step)
    cuts = []
    for k in range(1, count):
        even = top + k * step
        low, high = max(top + 1, round(even - reach)), min(bottom, round(even + reach) + 1)
        if low >= high:
            continue
        rows = np.arange(low, high)
        total = costs[low:high] + DETOUR * ((rows - even) / reach) ** 2
        best = int(total.argmin())
        # Half way between the lines above and below, not at the edge of one.
        same = np.flatnonzero(costs[low:high] != costs[low + best])
        start = max([-1, *same[same < best]]) + 1
        end = min([high - low, *same[same > best]])
        cuts.append(low + (int(start) + int(end)) // 2)
    return cuts
