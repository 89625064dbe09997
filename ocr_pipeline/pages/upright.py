"""A stored page → an upright page: polarity, direction, skew and square pixels in one resampling.

Everything is found on a copy of at most 204 dpi; then the stored pixels are moved once. The
direction is decided in two steps that fail independently: the layout says along which axis the
lines run, a `Witness` that knows what text looks like says which end is up. A turn needs both,
because turning a good page loses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ocr_pipeline.geometry import Box, Matrix, rotation, scaling, translation
from ocr_pipeline.pages.direction import TextWitness, Witness, axis_shares, text_lines
from ocr_pipeline.pages.fax import Flag, Scan, square_dpi, warp, warp_mask
from ocr_pipeline.pages.ink import (
    Mask,
    binarize,
    body,
    find_marks,
    in_shade,
    ink_state,
    is_inverted,
)
from ocr_pipeline.pages.page import Gray, Ink, Page
from ocr_pipeline.pages.skew import find_skew

ANALYSIS_DPI = 204.0
"""Finer pages are judged on a smaller copy: 0.1° over a line of 100 mm is still 1.4 pixels."""
LEAST_SKEW = 0.03
"""Less is left alone: it moves no pixel of an A4 page by more than one."""
SURE = 0.75
"""Confidence below which a page is not turned."""
MAX_LINES = 12
"""Lines of text shown to the witness."""


@cache
def shared_witness() -> Witness:
    """The witness of this process; its models are loaded when first asked."""
    return TextWitness()


def upright(scan: Scan, source: str, *, witness: Witness | None = None, sure: float = SURE) -> Page:
    """Stand a stored page upright.

    Nothing is cut off: the page grows by the corners that deskewing turns out, filled with white.

    Args:
        scan: the page as stored.
        source: what the result calls its file.
        witness: tells text from text upside down; None: `shared_witness()`.
        sure: confidence below which the page is not turned, but flagged `direction_unsure`.
    """
    inverted = is_inverted(scan.image)
    stored: Gray = 255 - scan.image if inverted else scan.image
    dpi = min(square_dpi(scan.dpi), ANALYSIS_DPI)
    shape = _Canvas.of(stored).scaled(dpi / scan.dpi.x, dpi / scan.dpi.y)
    marks = find_marks(binarize(shape.draw(stored)), dpi)
    ink, reason = ink_state(marks, inverted=inverted)
    page = Page(
        image=stored,
        source=source,
        number=scan.number,
        stored_size=(stored.shape[1], stored.shape[0]),
        dpi=scan.dpi,
        inverted=inverted,
        ink=ink,
        flags=scan.flags,
    )
    enlarge = square_dpi(scan.dpi) / dpi
    if ink is not Ink.OK:
        flag: tuple[Flag, ...] = (("page_damaged", reason),) if ink is Ink.DAMAGED else ()
        return _finish(page, stored, shape.scaled(enlarge, enlarge), flags=flag)

    written = body(marks)
    strokes = marks.mask(~marks.specks & written)
    glyphs = marks.mask(marks.glyphs & written & ~in_shade(marks))
    lines_across, lines_along = text_lines(glyphs, dpi), text_lines(_quarter(glyphs), dpi)
    across, along = axis_shares(lines_across, lines_along)
    sideways = along > across
    if sideways:
        shape, strokes, glyphs = shape.turned(90), _quarter(strokes), _quarter(glyphs)
    skew = find_skew(strokes)
    skew = skew if abs(skew) >= LEAST_SKEW else 0.0
    level = _Canvas.of(glyphs).levelled(skew)
    final = shape.levelled(skew).scaled(enlarge, enlarge)
    image = final.draw(stored)

    boxes = text_lines(level.draw_mask(glyphs), dpi)[:MAX_LINES]
    crops = [_crop(image, box, enlarge) for box in boxes]
    overturned = (witness or shared_witness()).upside_down(crops, sideways=sideways)
    confidence = max(across, along) * max(overturned, 1 - overturned)
    if confidence < sure:
        unsure = replace(page, rotation_confidence=confidence)
        if sideways:  # nothing is known of lines that were not confirmed, so nothing is levelled
            return _finish(
                unsure, stored, shape.turned(-90).scaled(enlarge, enlarge), flags=(_UNSURE,)
            )
        return _finish(replace(unsure, skew=skew), stored, final, image=image, flags=(_UNSURE,))
    turn = (90 if sideways else 0) + (180 if overturned > 0.5 else 0)
    if overturned > 0.5:
        image, final = np.ascontiguousarray(image[::-1, ::-1]), final.turned(180)
    page = replace(page, rotation=turn, rotation_confidence=confidence, skew=skew)
    return _finish(page, stored, final, image=image)


_UNSURE: Flag = (
    "direction_unsure",
    "which way up the page is could not be decided; it was left as it is",
)


def _finish(
    page: Page,
    stored: Gray,
    canvas: _Canvas,
    *,
    image: Gray | None = None,
    flags: tuple[Flag, ...] = (),
) -> Page:
    return replace(
        page,
        image=canvas.draw(stored) if image is None else image,
        matrix=np.asarray(np.linalg.inv(canvas.matrix), np.float64),
        flags=(*page.flags, *flags),
    )


def _crop(image: Gray, box: Box, scale: float) -> Gray:
    """A line of text with a little paper around it."""
    left, top, right, bottom = (round(v * scale) for v in box)
    margin = max(2, (bottom - top) // 8)
    return image[max(0, top - margin) : bottom + margin, max(0, left - margin) : right + margin]


def _quarter(mask: Mask) -> Mask:
    """Turn a quarter clockwise."""
    return np.ascontiguousarray(np.rot90(mask, -1))


@dataclass(frozen=True, eq=False)
class _Canvas:
    """Where pixels go: a transform of continuous source pixels, and the size it fills.

    Attributes:
        matrix: 3×3, source pixels → canvas pixels.
        size: (width, height) of the canvas.
    """

    matrix: Matrix
    size: tuple[int, int]

    @classmethod
    def of(cls, image: Gray | Mask) -> _Canvas:
        height, width = image.shape
        return cls(np.eye(3), (width, height))

    def scaled(self, x: float, y: float) -> _Canvas:
        width, height = self.size
        size = (max(1, round(width * x)), max(1, round(height * y)))
        return _Canvas(scaling(x, y) @ self.matrix, size)

    def turned(self, degrees: int) -> _Canvas:
        """Turn clockwise by a multiple of 90°, corner onto corner."""
        width, height = self.size
        return self._around(degrees, (height, width) if degrees % 180 else (width, height))

    def levelled(self, skew: float) -> _Canvas:
        """Lift lines that fall to the right by `skew` degrees; the canvas grows to hold all."""
        if skew == 0.0:
            return self
        width, height = self.size
        c, s = abs(np.cos(np.deg2rad(skew))), abs(np.sin(np.deg2rad(skew)))
        grown = (int(np.ceil(width * c + height * s)), int(np.ceil(width * s + height * c)))
        return self._around(-skew, grown)

    def _around(self, degrees: float, size: tuple[int, int]) -> _Canvas:
        width, height = self.size
        turned = translation(size[0] / 2, size[1] / 2) @ rotation(degrees)
        return _Canvas(turned @ translation(-width / 2, -height / 2) @ self.matrix, size)

    def draw(self, image: Gray) -> Gray:
        return warp(image, self.matrix, self.size)

    def draw_mask(self, mask: Mask) -> Mask:
        drawn: Mask = warp_mask(mask, self.matrix, self.size)
        return drawn
