"""Dust off a page, for the eyes of an engine.

A speck and a decimal point are the same ink. What tells them apart is company: a point, a comma or
a dakuten stands within a character's height of a character. So only what stands alone is removed.
"""

from __future__ import annotations

import cv2
import numpy as np
from scipy.spatial import cKDTree

from ocr_pipeline.pages.ink import GLYPH_MM, Marks, Mask, binarize, find_marks
from ocr_pipeline.pages.page import Gray

REACH_MM = 2.2
"""A mark this near to a character belongs to it: half the em of 12 pt type, where ・ stands."""
DOT_GAP_MM = 2.2
"""Dots of a leader or of a dotted rule follow each other at most this closely."""


def despeckle(image: Gray, dpi: float) -> Gray:
    """Remove specks that stand alone.

    A speck is a mark smaller than any character (1 mm). It stays when a character, or a line of
    ink, is within `REACH_MM` of it, or when it is itself part of a row of dots.

    Args:
        image: H×W uint8, upright, dark ink on light paper.
        dpi: its resolution, square pixels.
    """
    marks = find_marks(binarize(image), dpi)
    small = marks.boxes[:, 2:].max(axis=1, initial=0) < marks.mm(GLYPH_MM[0])
    reach = 2 * round(marks.mm(REACH_MM)) + 1
    large = marks.mask(~small).view(np.uint8)
    near = cv2.dilate(large, np.ones((reach, reach), np.uint8)) > 0
    touched = np.zeros(len(small) + 1, np.bool_)
    touched[marks.labels[near]] = True
    return _without(image, marks.mask(small & ~touched[1:] & ~_in_row(marks, small)))


def _in_row(marks: Marks, small: Mask) -> Mask:
    """N, true for small marks that have two of their own size beside or above them, in line.

    Dust is scattered; the dots of a leader or a dotted rule are alike and stand in line.
    """
    found = np.zeros(len(small), np.bool_)
    dots = np.flatnonzero(small & (marks.boxes[:, 2:].min(axis=1, initial=99) >= 2))
    if len(dots) < 3:
        return found
    boxes = marks.boxes[dots].astype(np.float64)
    centres, size = boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2:]
    _, other = cKDTree(centres).query(centres, k=min(5, len(dots)))
    step = np.abs(centres[other] - centres[:, None])[:, 1:]
    alike = (np.abs(size[other] - size[:, None]) <= 1).all(axis=2)[:, 1:]
    aligned = (step.min(axis=2) <= 1.0) & (step.max(axis=2) <= marks.mm(DOT_GAP_MM))
    found[dots] = (alike & aligned).sum(axis=1) >= 2
    # The first and the last dot of a row have one neighbour, which has two.
    found[dots] |= (alike & aligned & found[dots][other[:, 1:]]).any(axis=1)
    return found


def _without(image: Gray, ink: Mask) -> Gray:
    """Paint ink white, with the grey seam that interpolation left around it."""
    seam = cv2.dilate(ink.view(np.uint8), np.ones((3, 3), np.uint8)) > 0
    cleaned = image.copy()
    cleaned[seam] = 255
    return cleaned
