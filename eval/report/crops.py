"""Small pictures of places on a page, upright, with square pixels, ready to stand in HTML."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np
from PIL import Image

from ocr_pipeline.geometry import Quad
from ocr_pipeline.pages.fax import resolution_of
from ocr_pipeline.pages.page import Gray

Images = Callable[[str, int], Gray | None]
"""(document, 1-based page) → the page in stored pixels, H×W uint8; None when it cannot be had."""

DPI = 200.0
"""Of a crop; a fax line has about as many, so nothing that was there is lost."""
MAX_SIDE = 900
"""Pixels; what is longer is reduced."""
SHADES = 16


def remembered(images: Images) -> Images:
    """The same images, the last ones kept: neighbouring crops come from the same page."""
    return lru_cache(maxsize=16)(images)


def no_images(_document: str, _page: int) -> None:
    """For scores whose scans are not at hand."""
    return


def crop(images: Images, document: str, page: int | None, quad: Quad | None) -> str:
    """A place on a page as a `data:` address of a PNG; empty when it cannot be shown.

    Args:
        images: where pages come from.
        document: the file.
        page: 1-based; None: unknown.
        quad: the place in stored pixels, clockwise from the top left of the text.
    """
    if page is None or quad is None:
        return ""
    image = images(document, page)
    if image is None or image.size == 0:
        return ""
    cut = upright_cut(image, quad)
    return "" if cut is None else _address(cut)


def upright_cut(image: Gray, quad: Quad) -> Gray | None:
    """What stands in a quad and a little around it, turned so that the text is level.

    Args:
        image: H×W uint8, stored pixels; its resolution is that of the fax page it has the size of.
        quad: in stored pixels.

    Returns:
        h×w uint8 at `DPI`, white beyond the page; None for a quad without area.
    """
    height, width = image.shape[:2]
    dpi, _ = resolution_of(width, height, None)
    inch = np.asarray(quad, float) / (dpi.x, dpi.y)
    right, down = inch[1] - inch[0], inch[3] - inch[0]
    across, along = float(np.hypot(*right)), float(np.hypot(*down))
    if not (across * along * DPI**2 >= 1 and np.isfinite(inch).all()):
        return None
    room = 0.35 * min(along, across) + 0.02
    right, down = right / across * room, down / along * room
    corners = inch[0] - right - down, inch[1] + right - down, inch[2] + right + down
    source = np.array(corners, np.float32) * np.array([dpi.x, dpi.y], np.float32)
    scale = min(DPI, MAX_SIDE / (max(across, along) + 2 * room))
    w, h = (max(1, round((side + 2 * room) * scale)) for side in (across, along))
    target = np.array([(0, 0), (w, 0), (w, h)], np.float32)
    # Points are corners of pixels, what OpenCV maps are their centres.
    matrix = cv2.getAffineTransform(source - 0.5, target - 0.5)
    cut = cv2.warpAffine(image, matrix, (w, h), flags=cv2.INTER_LINEAR, borderValue=255.0)
    return np.asarray(cut, np.uint8)


def _address(image: Gray) -> str:
    few = np.round(image / 255 * (SHADES - 1)).astype(np.uint8)
    picture = Image.fromarray(few, "P")
    picture.putpalette([round(i * 255 / (SHADES - 1)) for i in range(SHADES) for _ in range(3)])
    stream = io.BytesIO()
    picture.save(stream, "PNG", optimize=True, bits=4)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()
