"""Dust and streaks off a page, for the eyes of an engine. Both steps are pure, and both timid.

A speck and a decimal point are the same ink. What tells them apart is company: a point, a comma or
a dakuten stands within a character's height of a character. So only what stands alone is removed.
"""

from __future__ import annotations

import cv2
import numpy as np

from ocr_pipeline.pages.ink import GLYPH_MM, Mask, binarize, find_marks
from ocr_pipeline.pages.page import Gray

REACH_MM = 1.6
"""A mark this near to a character belongs to it: the gap before the dot of a 12 pt line."""
STREAK_MM = (0.5, 60.0)
"""A streak of dirty glass is at most this wide, and at least this long."""
STRAIGHT = 0.35
"""Degrees: glass does not skew with the paper, so a streak is vertical in the stored page."""


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
    return _without(image, marks.mask(small & ~touched[1:]))


def _without(image: Gray, ink: Mask) -> Gray:
    """Paint ink white, with the grey seam that interpolation left around it."""
    seam = cv2.dilate(ink.view(np.uint8), np.ones((3, 3), np.uint8)) > 0
    cleaned = image.copy()
    cleaned[seam] = 255
    return cleaned
