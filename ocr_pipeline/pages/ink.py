"""Which marks a page carries, and whether there is anything to read.

All sizes are in millimetres of paper, so that they mean the same at every resolution.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ocr_pipeline.pages.page import Gray, Ink

Mask = NDArray[np.bool_]

MM_PER_INCH = 25.4
SPECK_MM = 0.45
"""Marks no larger than this both ways are dust: half the width of a 6 pt comma's box."""
GLYPH_MM = (1.0, 14.0)
"""Longer side of what can be a character or a large part of one: 6 pt to 40 pt type."""
THIN_MM = 1.0
"""Thinner marks that are longer than a glyph are lines: ruling lines, streaks."""
HEADER_MM = 9.0
"""The strip at the top of a stored page into which the sending machine prints its header line.

ITU-T leaves the place open; machines put it into the first 3 to 6 mm, above the print area of any
office printer plus the 4 mm that a scan loses."""
BLANK_GLYPHS = 1
"""So many glyph-sized marks with a neighbour of like size are still dirt; a word has two."""
SHADE_CRUMBS = 30
"""Marks smaller than a glyph in a square of 6 mm that make it a stain; text has up to 20 there."""
ALMOST_BLACK = 0.9
INKY = 0.3
"""Share of ink beyond which a few glyph-sized holes and islands are no writing."""
NOISY_INK = 0.004
"""Share of ink from which a page without a single word is called noise instead of blank."""


@dataclass(frozen=True, eq=False)
class Marks:
    """The connected marks of a page.

    Attributes:
        ink: H×W, true on ink.
        labels: H×W int32, 0 on paper, i on mark i - 1.
        boxes: N×4 int (left, top, width, height), pixels.
        areas: N, ink pixels.
        dpi: resolution of these pixels, square.
    """

    ink: Mask
    labels: NDArray[np.int32]
    boxes: NDArray[np.int32]
    areas: NDArray[np.int32]
    dpi: float

    def mm(self, millimetres: float) -> float:
        """Millimetres in pixels."""
        return millimetres * self.dpi / MM_PER_INCH

    @property
    def specks(self) -> Mask:
        """N, true for dust."""
        long: Mask = self.boxes[:, 2:].max(axis=1, initial=0) <= max(self.mm(SPECK_MM), 2.0)
        return long

    @property
    def glyphs(self) -> Mask:
        """N, true for marks with the size and the density of characters."""
        long, short = self.boxes[:, 2:].max(axis=1), self.boxes[:, 2:].min(axis=1)
        sized = (long >= self.mm(GLYPH_MM[0])) & (long <= self.mm(GLYPH_MM[1]))
        # A stroke of 0.1 mm through the box is the least; dithered shade fills less.
        stroked = self.areas >= long * max(self.mm(0.1), 1.0)
        height, width = self.ink.shape
        left, top, across, down = self.boxes.T
        inside = (left > 0) & (top > 0) & (left + across < width) & (top + down < height)
        found: Mask = sized & stroked & inside & (short >= 1)
        return found

    def mask(self, chosen: Mask) -> Mask:
        """H×W, true on the ink of the chosen marks."""
        picked: Mask = np.concatenate([[False], chosen])[self.labels]
        return picked


def binarize(image: Gray) -> Mask:
    """Where the ink is: below middle grey on a fax, darker than its surroundings on a photo.

    Args:
        image: H×W uint8, dark ink on light paper.
    """
    counts = np.bincount(image.ravel()[:: max(1, image.size // 200_000)], minlength=256)
    if counts[48:208].sum() <= 0.02 * counts.sum():  # two-level, or a scan that is as good as it
        return image < 128
    block = max(3, min(image.shape) // 24) | 1
    local = cv2.boxFilter(image, cv2.CV_16S, (block, block), borderType=cv2.BORDER_REPLICATE)
    near: Mask = (image < local - np.int16(24)) & (image < 208)
    return near


def is_inverted(image: Gray) -> bool:
    """Whether a page is white on black: most of it dark all over, but with something on it.

    Args:
        image: H×W uint8, not yet inverted.
    """
    tiles = cv2.resize(image, (16, 16), interpolation=cv2.INTER_AREA)
    return bool((tiles < 110).mean() > 0.7)


def find_marks(ink: Mask, dpi: float) -> Marks:
    """Label the connected marks (8 neighbours) of a page.

    Args:
        ink: H×W, true on ink.
        dpi: resolution, square pixels.
    """
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink.view(np.uint8), connectivity=8)
    stats = np.asarray(stats, np.int32)[1:]
    return Marks(ink, np.asarray(labels, np.int32), stats[:, :4], stats[:, cv2.CC_STAT_AREA], dpi)


def ink_state(marks: Marks, *, inverted: bool = False) -> tuple[Ink, str]:
    """Whether there is anything to read on a page.

    Blank is a page with no more than dust, streaks, the shadow of an edge, and the header line
    that the sending machine prints: that line is transmission, and never an order. Damaged is a
    page that is nearly all black, or has much ink and no character. In doubt a page is ok: an
    engine that finds nothing costs seconds, an order that nobody saw costs the order.

    Args:
        marks: the marks of the page as it is stored, so that its header is at the top.
        inverted: the page was white on black before; if nothing is on it, it was just black.

    Returns:
        The state, and the reason when it is not ok.
    """
    share = float(marks.ink.mean()) if marks.ink.size else 0.0
    if share > ALMOST_BLACK:
        return Ink.DAMAGED, "the page is almost entirely black"
    glyphs = marks.glyphs & body(marks) & ~in_shade(marks)
    drowned = share > INKY and marks.areas[glyphs].sum() < 0.01 * marks.areas.sum()
    if _in_company(marks, glyphs) > BLANK_GLYPHS and not drowned:
        return Ink.OK, ""
    if inverted:
        return Ink.DAMAGED, "the page is almost entirely black"
    if share > NOISY_INK and float(marks.areas[~_lines(marks)].sum()) > NOISY_INK * marks.ink.size:
        return Ink.DAMAGED, "the page carries only noise"
    return Ink.BLANK, "nothing is written on the page"


def body(marks: Marks) -> Mask:
    """N, true for marks below the strip of the sender's header line."""
    below: Mask = marks.boxes[:, 1] + marks.boxes[:, 3] / 2 > marks.mm(HEADER_MM)
    return below


def _lines(marks: Marks) -> Mask:
    """Marks that are longer than a glyph and thin, or touch the edge of the page."""
    height, width = marks.ink.shape
    left, top, across, down = marks.boxes.T
    long, short = np.maximum(across, down), np.minimum(across, down)
    thin = (long > marks.mm(GLYPH_MM[1])) & (marks.areas <= long * marks.mm(THIN_MM))
    edge = (left == 0) | (top == 0) | (left + across == width) | (top + down == height)
    found: Mask = thin | (edge & (short < marks.mm(30.0)))
    return found


def in_shade(marks: Marks) -> Mask:
    """Marks that stand among dust: clots of a dithered stain, and not writing.

    Around a character there is paper. A clot has as many crumbs around it, within a few
    millimetres, as the stain has everywhere; a second-generation copy dusts its text with a few.
    """
    cell = max(1, round(marks.mm(2.0)))
    height, width = marks.ink.shape
    centre_x = (marks.boxes[:, 0] + marks.boxes[:, 2] // 2) // cell
    centre_y = (marks.boxes[:, 1] + marks.boxes[:, 3] // 2) // cell
    dust = np.zeros((height // cell + 1, width // cell + 1), np.float32)
    crumbs = marks.boxes[:, 2:].max(axis=1, initial=0) < marks.mm(GLYPH_MM[0])
    np.add.at(dust, (centre_y[crumbs], centre_x[crumbs]), 1.0)
    around = cv2.boxFilter(dust, -1, (3, 3), normalize=False)
    # In the core of a stain the crumbs have grown together; the rim speaks for it.
    stain = cv2.dilate((around >= SHADE_CRUMBS).astype(np.uint8), np.ones((3, 3), np.uint8))
    shaded: Mask = stain[centre_y, centre_x] > 0
    return shaded


def _in_company(marks: Marks, chosen: Mask) -> int:
    """How many of the chosen marks have another of like size beside them, as characters do."""
    boxes = marks.boxes[chosen]
    if len(boxes) < 2:
        return 0
    size = boxes[:, 2:].max(axis=1)
    centres = boxes[:, :2] + boxes[:, 2:] / 2
    neighbours = min(4, len(boxes))
    distance, other = cKDTree(centres).query(centres, k=neighbours)
    larger = np.maximum(size[:, None], size[other])
    smaller = np.minimum(size[:, None], size[other])
    near = (distance <= 2.0 * larger) & (larger <= 3 * smaller)
    return int(near[:, 1:].any(axis=1).sum())
