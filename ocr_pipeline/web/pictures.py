"""Stored pages as pictures that a browser can show."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from ocr_pipeline.pages.fax import Scan
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.pages.page import Gray

LONGEST = 3600
"""Pixels of the longer side; an A4 page at 300 dpi has 3508."""


class Picture(NamedTuple):
    """A stored page for the browser.

    Attributes:
        number: 1-based page.
        size: width and height as stored; quads are in these pixels.
        dpi: across and down; the pixels of a fax are not square.
        data: PNG of a 1-bit page, JPEG of another one.
    """

    number: int
    size: tuple[int, int]
    dpi: tuple[float, float]
    data: bytes

    @property
    def media_type(self) -> str:
        """PNG or JPEG."""
        return "image/png" if self.data.startswith(b"\x89PNG") else "image/jpeg"

    def as_dict(self) -> dict[str, object]:
        """The picture as the data of a message."""
        coded = base64.b64encode(self.data).decode("ascii")
        return {
            "page": self.number,
            "size": list(self.size),
            "dpi": list(self.dpi),
            "src": f"data:{self.media_type};base64,{coded}",
        }


def picture(scan: Scan, longest: int = LONGEST) -> Picture:
    """One page; a larger one is drawn smaller, and keeps its stored size in `size`."""
    height, width = scan.image.shape
    return Picture(
        scan.number,
        (width, height),
        (scan.dpi.x, scan.dpi.y),
        encode(scan.image, longest),
    )


def encode(image: Gray, longest: int) -> bytes:
    """PNG with one bit a pixel where that is all there is, JPEG otherwise."""
    small = max(image.shape) <= longest
    two_valued = small and bool(np.isin(image, (0, 255)).all())
    drawn = Image.fromarray(image)
    if not small:
        drawn.thumbnail((longest, longest))
    out = io.BytesIO()
    if two_valued:
        drawn.convert("1", dither=Image.Dither.NONE).save(out, "PNG")
    else:
        drawn.save(out, "JPEG", quality=82)
    return out.getvalue()


def thumbnail(path: Path, width: int, *, max_pixels: int) -> Picture:
    """The upper part of a file's first page, with square pixels, as a small JPEG.

    Raises:
        InputError: the file cannot be opened.
    """
    scan = next(iter(read_scans(path, max_pixels=max_pixels)))
    height, across = scan.image.shape
    square = round(width * height / across * scan.dpi.x / scan.dpi.y)
    small = Image.fromarray(scan.image).resize((width, max(1, square)), Image.Resampling.BOX)
    return picture(Scan(np.asarray(small, np.uint8), scan.dpi, 1, ()), longest=width * 2)
