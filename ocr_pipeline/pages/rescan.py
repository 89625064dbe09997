"""A page as another pass through the scanner would have given it.

A deterministic engine gives the same answer however often it is asked. Fed the page again, a hair
aside and with another threshold, it answers afresh: what it says every time was on the paper, what
changes was at the edge of legibility. This is test-time augmentation, kept within what two passes
of one sheet through one machine differ by.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from ocr_pipeline.geometry import Matrix, rotation, scaling, translation
from ocr_pipeline.pages.fax import warp
from ocr_pipeline.pages.page import Gray, Page

MAX_TURN = 0.4
"""Degrees to either side."""
MAX_STRETCH = 0.02
"""Share by which the page grows or shrinks, along each axis by its own."""
MAX_SHIFT = 3.0
"""Pixels to either side, along each axis."""
BLUR = (0.3, 0.8)
"""Standard deviation of the optics, pixels."""
THRESHOLD = (-22.0, 22.0)
"""Grey levels by which the middle grey moves: positive makes strokes thicker."""
CONTRAST = (1.3, 1.8)
"""Slope around the middle grey; steep enough that paper stays white and solid ink black."""


def rescan(page: Page, run: int, seed: int) -> Page:
    """The page for one run: itself for run 0, a small re-scan of it for the others.

    Args:
        page: an upright page.
        run: 0-based number of the run; equal (page number, run, seed) give equal pixels.
        seed: base of the random draw.

    Returns:
        A page of the same size whose `matrix` still leads to the stored pixels exactly.
    """
    if run == 0:
        return page
    rng = np.random.default_rng((seed & 0xFFFFFFFF, run, page.number))
    height, width = page.image.shape
    motion = _motion(rng, (width, height))
    moved = warp(page.image, motion, (width, height))
    matrix: Matrix = page.matrix @ np.linalg.inv(motion)
    return replace(page, image=_expose(rng, moved), matrix=matrix)


def _motion(rng: np.random.Generator, size: tuple[int, int]) -> Matrix:
    """3×3, pixels of the page → pixels of its re-scan: about the centre, then a shift."""
    centre = (size[0] / 2, size[1] / 2)
    stretch = 1 + rng.uniform(-MAX_STRETCH, MAX_STRETCH, 2)
    shift = rng.uniform(-MAX_SHIFT, MAX_SHIFT, 2)
    stretched = translation(*centre) @ scaling(*stretch) @ translation(-centre[0], -centre[1])
    moved: Matrix = (
        translation(*shift) @ rotation(rng.uniform(-MAX_TURN, MAX_TURN), centre) @ stretched
    )
    return moved


def _expose(rng: np.random.Generator, image: Gray) -> Gray:
    """Another focus, threshold and contrast."""
    soft = cv2.GaussianBlur(image, (0, 0), sigmaX=rng.uniform(*BLUR))
    middle = 128.0 + rng.uniform(*THRESHOLD)
    table = np.clip((np.arange(256) - middle) * rng.uniform(*CONTRAST) + 128, 0, 255)
    exposed: Gray = cv2.LUT(np.asarray(soft, np.uint8), table.astype(np.uint8)).astype(np.uint8)
    return exposed
