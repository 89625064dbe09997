"""Where to read: the detector's boxes, cut at ruling lines, and the ink that no box covers."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from ocr_pipeline.geometry import Quad, box_of, quad_of_box, slice_quad
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.pages.rules import INK, Rule, Rules, erase

THROUGH = 0.9
"""A vertical rule that covers this share of a box's height, and goes on beyond it, cuts it."""
NARROWEST = 0.35
"""Nothing narrower than this share of the line height is cut off: it would be no character."""
TALL = 2.2
"""A box this many lines high and higher than wide runs down a column."""
MEETS = 0.06
"""Inches by which a cell border may miss the horizontal rule it ends at."""
UNREAD = 0.75
"""Ink of which this share lies outside all boxes has not been read."""


def without_columns(quads: Sequence[Quad]) -> list[Quad]:
    """Leave out boxes that the detector drew down a column of single characters.

    Forms are printed in lines; what stands below one another are the units of several rows. The
    second look reads them one by one.
    """
    if not quads:
        return []
    boxes = [box_of(q) for q in quads]
    line = float(np.median([b[3] - b[1] for b in boxes]))
    return [
        q
        for q, (left, top, right, bottom) in zip(quads, boxes, strict=True)
        if bottom - top < TALL * line or right - left > bottom - top
    ]


def cut_at_rules(quads: Sequence[Quad], rules: Rules, dpi: float) -> list[Quad]:
    """Cut boxes that the detector drew across the borders of table cells.

    Args:
        quads: upright pixels.
        rules: the ruling lines of the same image.
        dpi: resolution of the square pixels.
    """
    borders = rules.borders(MEETS * dpi)
    return [part for quad in quads for part in _cut(quad, borders)]


def _cut(quad: Quad, verticals: Sequence[Rule]) -> list[Quad]:
    left, top, right, bottom = box_of(quad)
    height, width = bottom - top, right - left
    cuts = []
    for rule in verticals:
        covered = min(bottom, rule.end) - max(top, rule.start)
        if covered < THROUGH * height or rule.length < 1.5 * height:
            continue
        x = rule.across((top + bottom) / 2)
        half = rule.thickness / 2 + 1
        if left + NARROWEST * height < x < right - NARROWEST * height:
            cuts.append(((x - half - left) / width, (x + half - left) / width))
    if not cuts:
        return [quad]
    cuts.sort()
    starts = [0.0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), 1.0]
    return [slice_quad(quad, a, b) for a, b in zip(starts, ends, strict=True) if b > a]


def unread_ink(image: Gray, quads: Sequence[Quad], rules: Rules, dpi: float) -> list[Quad]:
    """Boxes around text-sized ink that no box covers: single figures, faint words.

    Args:
        image: the upright page.
        quads: what will be read anyway, upright pixels.
        rules: the ruling lines, which are no text.
        dpi: resolution of the square pixels.

    Returns:
        One box per run of neighbouring characters, upright pixels.
    """
    if not quads:
        return []
    heights = [box_of(q)[3] - box_of(q)[1] for q in quads]
    line = float(np.median(heights))  # a detector's box is about 1.4 times as high as its text
    ink = (erase(image, rules) < INK).astype(np.uint8)
    covered = np.zeros_like(ink)
    for quad in quads:
        cv2.fillConvexPoly(covered, np.rint(quad).astype(np.int32), 1)
    # Neighbouring characters of one line run together, lines do not.
    reach = max(3, round(0.35 * line))
    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((3, reach), np.uint8))
    joined = cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    total = np.bincount(labels.ravel(), weights=ink.ravel(), minlength=count)
    hidden = np.bincount(labels.ravel(), weights=(ink & covered).ravel(), minlength=count)
    found = []
    for i in range(1, count):
        x, y, w, h, _ = (int(v) for v in stats[i])
        if not 0.35 * line < h < 1.3 * line or w < 0.12 * line or total[i] < 0.02 * line * line:
            continue
        if hidden[i] > (1 - UNREAD) * total[i]:
            continue
        pad = 0.2 * line
        found.append(quad_of_box((x - pad, y - pad, x + w + pad, y + h + pad)))
    return found
