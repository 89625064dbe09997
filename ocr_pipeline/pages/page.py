"""The value that leaves this room: one upright page of square pixels."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Matrix, identity

Gray = NDArray[np.uint8]
"""H×W, 0 is black ink, 255 is white paper."""


class Resolution(NamedTuple):
    """Dots per inch along x and y; a fax has two different ones."""

    x: float
    y: float


class Ink(StrEnum):
    """What the ink gate says of a page."""

    OK = "ok"
    BLANK = "blank"
    DAMAGED = "damaged"


@dataclass(frozen=True, eq=False)
class Page:
    """An upright grey page with square pixels, and how it came to be.

    Attributes:
        image: H×W uint8, 0 black to 255 white, dark ink on light paper.
        source: path of the file, as the user gave it (relative to the scanned folder).
        number: 1-based page number within the file.
        stored_size: (width, height) in pixels as stored in the file.
        dpi: resolution as stored, before the pixels were made square.
        matrix: 3×3, upright pixels → stored pixels.
        rotation: degrees the stored page was turned clockwise to stand upright: 0, 90, 180 or 270.
        rotation_confidence: 0..1; below the threshold of `pages.upright` nothing was turned.
        skew: degrees that were taken out; positive when the stored lines fell to the right.
        inverted: the stored page was white on black.
        ink: whether there is anything to read.
        flags: what a person should know about the page as a whole, as (code, sentence) pairs.
    """

    image: Gray
    source: str
    number: int = 1
    stored_size: tuple[int, int] = (0, 0)
    dpi: Resolution = field(default_factory=lambda: Resolution(200.0, 200.0))
    matrix: Matrix = field(default_factory=identity)
    rotation: int = 0
    rotation_confidence: float = 1.0
    skew: float = 0.0
    inverted: bool = False
    ink: Ink = Ink.OK
    flags: tuple[tuple[str, str], ...] = ()

    @property
    def undecodable(self) -> bool:
        """Nothing of the page could be decoded; what stands for its image is a single pixel."""
        return self.ink is Ink.DAMAGED and self.image.size <= 1
