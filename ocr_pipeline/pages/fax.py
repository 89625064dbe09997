"""The two resolutions of a fax: what they are, and the square pixels they become.

A Group 3 fax samples 8.04 dots/mm across (204 dpi) but 3.85, 7.7 or 15.4 lines/mm down the page
(98, 196 or 391 dpi; ITU-T T.4 §2, table 1), on scan lines of 1728 (A4, Letter), 2048 (B4) or 2432
(A3) dots. Files say so in their tags, or should: fax servers write no tags, 72 dpi, or 1.

Coordinates are continuous: (0, 0) is the corner of the first pixel, (width, height) that of the
last, so a scale is a plain product and a quarter turn is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Matrix, translation
from ocr_pipeline.pages.page import Gray, Resolution

Flag = tuple[str, str]

FAX_DPI_X = 204.0
FAX_DPI_Y = (98.0, 196.0, 391.0)
FAX_PAGE_INCHES = {1728: (11.69, 11.0), 2048: (14.33,), 2432: (16.54,)}
"""Dots of a scan line → heights of the paper it was made for, in inches."""

PAPER_ASPECTS = (297 / 210, 11 / 8.5, 364 / 257, 14 / 8.5)
"""Long side over short side of A, Letter, B (JIS) and Legal paper."""
A4_LONG_INCHES = 11.69

MAX_DPI = 400.0
"""Finer pages are reduced: no printed character gains by more, and every stage costs area."""


@dataclass(frozen=True, eq=False)
class Scan:
    """One page as a viewer shows it, before anything is done to it.

    Attributes:
        image: H×W uint8 in stored pixels (after an EXIF or PDF page rotation, as any viewer does).
        dpi: resolution of the stored pixels.
        number: 1-based page number in the file.
        flags: what a person should know, as (code, sentence) pairs.
        damaged: the page could not be decoded; `image` is only white paper in its place.
    """

    image: Gray
    dpi: Resolution
    number: int = 1
    flags: tuple[Flag, ...] = ()
    damaged: bool = False


def resolution_of(
    width: int, height: int, tagged: tuple[float, float] | None
) -> tuple[Resolution, tuple[Flag, ...]]:
    """The resolution of a page: its tags when they can be true, otherwise the likeliest one.

    Without believable tags the standard fax widths decide: their lines per inch are the ones that
    make the page nearest to the paper of that width. Any other page of paper-like shape is taken
    for A4; one of another shape too, but that is a guess and flagged.

    Args:
        width: pixels across.
        height: pixels down.
        tagged: (x, y) dots per inch from the file, None when it says nothing.
    """
    if tagged is not None and _believable(width, height, *tagged):
        return Resolution(*tagged), ()
    if width in FAX_PAGE_INCHES:
        lines = min(
            FAX_DPI_Y,
            key=lambda y: min(
                abs(np.log(height / y / inches)) for inches in FAX_PAGE_INCHES[width]
            ),
        )
        return Resolution(FAX_DPI_X, lines), ()
    long, short = max(width, height), min(width, height)
    dpi = min(max(long / A4_LONG_INCHES, 72.0), 1200.0)
    if any(abs(long / short / aspect - 1) < 0.04 for aspect in PAPER_ASPECTS):
        return Resolution(dpi, dpi), ()
    reason = f"the file does not say its resolution; {dpi:.0f} dpi is a guess"
    return Resolution(dpi, dpi), (("resolution_guessed", reason),)


def _believable(width: int, height: int, x: float, y: float) -> bool:
    """Whether tags describe paper that fits in a fax machine: 2 to 17.5 inches on the long side.

    17.5 is a little over A3. Fax rolls may be longer, so a fax width at its own dpi is believed.
    """
    if not (np.isfinite([x, y]).all() and min(x, y) >= 60 and max(x, y) <= 2400):
        return False
    if max(x, y) / min(x, y) > 4.5:
        return False
    if width in FAX_PAGE_INCHES and abs(x / FAX_DPI_X - 1) < 0.05:
        return True
    return 2.0 <= max(width / x, height / y) <= 17.5


def square_dpi(dpi: Resolution) -> float:
    """The one resolution of the upright page: that of the finer axis, at most `MAX_DPI`."""
    return min(max(dpi), MAX_DPI)


def warp(image: Gray, matrix: Matrix, size: tuple[int, int]) -> Gray:
    """Resample an image once, onto white paper.

    Cubic interpolation turns the steps of stretched 1-bit strokes into grey slopes, which is what
    text recognisers were trained on. Where pixels are merged, a blur of half a target pixel comes
    first, so that thin strokes fade and do not drop out.

    Args:
        image: H×W uint8.
        matrix: 3×3 affine, pixels of `image` → pixels of the result, both continuous.
        size: (width, height) of the result.
    """
    if size == image.shape[::-1] and np.array_equal(matrix, np.eye(3)):
        return image.copy()
    shrink = np.hypot(matrix[0, :2], matrix[1, :2])
    if (shrink < 0.95).any():
        sigma_x, sigma_y = (0.45 * np.sqrt(max(1 / s**2 - 1, 0.0)) for s in shrink)
        blurred = cv2.GaussianBlur(
            image, (0, 0), sigmaX=max(sigma_x, 0.01), sigmaY=max(sigma_y, 0.01)
        )
        image = np.asarray(blurred, np.uint8)
    warped = cv2.warpAffine(
        image,
        _between_centres(matrix),
        size,
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=255,
    )
    return np.asarray(warped, np.uint8)


def warp_mask(mask: NDArray[np.bool_], matrix: Matrix, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Move a mask as `warp` moves the image it belongs to; nearest pixel, nothing outside."""
    warped = cv2.warpAffine(
        mask.view(np.uint8), _between_centres(matrix), size, flags=cv2.INTER_NEAREST
    )
    return warped.astype(np.bool_)


def _between_centres(matrix: Matrix) -> NDArray[np.float64]:
    """The 2×3 matrix of OpenCV, whose integer coordinates are pixel centres."""
    centred: NDArray[np.float64] = translation(-0.5, -0.5) @ matrix @ translation(0.5, 0.5)
    return centred[:2]
