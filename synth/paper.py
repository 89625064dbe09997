"""What happens on paper: printing and photocopying."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np
from scipy.special import ndtri

from ocr_pipeline.geometry import rotation, scaling, translation
from ocr_pipeline.pages.page import Gray
from synth.chain import Plate, Step
from synth.texture import clouds, grain, specks, tone
from synth.warp import Affine


def _spread(image: Gray, gain_mm: float, blur_mm: float, scale: float) -> Gray:
    """Let edges of ink move outwards by `gain_mm`.

    A straight edge blurred with σ is a normal distribution function; cutting it at Φ(gain/σ)
    instead of one half moves it by the gain. Strokes thinner than σ shrink or vanish, as they do.
    """
    if gain_mm == 0 and blur_mm == 0:
        return image
    # Below 0.8 pixels a sampled kernel no longer moves an edge by fractions of a pixel.
    sigma = max(blur_mm, abs(gain_mm) / 1.5, 0.8 / scale)
    soft = cv2.GaussianBlur(image, (0, 0), sigma * scale)
    # Grey level on the new edge: ink is 0, so ink that grows takes in lighter levels.
    cut = 255 * (1 - _normal(-gain_mm / sigma))
    half = 60.0
    curve = tone(
        [(0, 0), (max(0.0, cut - half), 0), (cut, 127), (min(255.0, cut + half), 255), (255, 255)]
    )
    return np.asarray(cv2.LUT(soft, curve), dtype=np.uint8)


def _normal(z: float) -> float:
    grid = np.linspace(1e-6, 1 - 1e-6, 2001)
    return float(np.interp(z, ndtri(grid), grid))


@dataclass(frozen=True)
class Print(Step):
    """A laser or dot-matrix printer puts the page on paper.

    Attributes:
        dot_gain_mm: how far ink spreads beyond its edge; negative when it is starved.
        toner: density of the ink, 1 is black.
        patchiness: how much less of it there is in places, 0..1.
        needles_per_mm: 0 for a laser; the pitch of an impact printer's dots otherwise.
    """

    name: ClassVar[str] = "print"
    dot_gain_mm: float = 0.0
    toner: float = 1.0
    patchiness: float = 0.0
    needles_per_mm: float = 0.0

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """Ink on paper."""
        image = plate.image
        scale = plate.scale[0]
        if self.needles_per_mm:
            image = _needles(image, max(2, round(scale / self.needles_per_mm)))
        if self.dot_gain_mm:
            image = _spread(image, self.dot_gain_mm, 0.03, scale)
        if self.toner < 1 or self.patchiness:
            image = self._starve(image, scale, rng)
        return replace(plate, image=image)

    def _starve(self, image: Gray, scale: float, rng: np.random.Generator) -> Gray:
        shape = (image.shape[0], image.shape[1])
        top = 255 * self.toner
        field = clouds(rng, shape, 14 * scale)
        # Patches: the low half of the clouds loses toner; grain: single particles are missing.
        curve = tone([(0, top * (1 - self.patchiness)), (128, top), (255, top)])
        density = cv2.LUT(field, curve)
        missing = tone([(0, 255 * self.patchiness), (255 * self.patchiness * 0.5, 0), (255, 0)])
        coarse = grain(rng, (shape[0] // 2 + 1, shape[1] // 2 + 1))
        holes = cv2.resize(cv2.LUT(coarse, missing), shape[::-1], interpolation=cv2.INTER_NEAREST)
        density = cv2.subtract(density, holes)
        ink = cv2.multiply(cv2.bitwise_not(image), density, scale=1 / 255)
        return np.asarray(cv2.bitwise_not(ink), dtype=np.uint8)


def _needles(image: Gray, pitch: int) -> Gray:
    """The page as an impact printer strikes it: one round dot for each cell that has ink."""
    height, width = image.shape
    cells = cv2.resize(image, (width // pitch, height // pitch), interpolation=cv2.INTER_AREA)
    struck = np.where(cells < 140, 0, 255).astype(np.uint8)
    page = cv2.resize(struck, (width, height), interpolation=cv2.INTER_NEAREST)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), pitch * 0.35), dtype=np.uint8)


@dataclass(frozen=True)
class Copy(Step):
    """A photocopier makes a copy of a copy.

    Attributes:
        dot_gain_mm: how far ink spreads.
        blur_mm: of lens and toner transfer.
        background: density of the grey veil that dirty optics leave, 0..1.
        dirt_per_cm2: specks.
        skew_deg: how crooked the original lay.
        scale: 1.0 is true to size; real copiers are off by a few thousandths.
        shift_mm: sideways and down.
    """

    name: ClassVar[str] = "copy"
    dot_gain_mm: float = 0.0
    blur_mm: float = 0.05
    background: float = 0.0
    dirt_per_cm2: float = 0.0
    skew_deg: float = 0.0
    scale: float = 1.0
    shift_mm: tuple[float, float] = (0.0, 0.0)

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """A new sheet from the old one."""
        scale = plate.scale[0]
        height, width = plate.image.shape
        centre = (width / 2, height / 2)
        matrix = (
            translation(self.shift_mm[0] * scale, self.shift_mm[1] * scale)
            @ rotation(self.skew_deg, centre)
            @ scaling(self.scale, self.scale)
        )
        # cv2 counts from pixel centres, a geometry from pixel corners.
        inner = translation(-0.5, -0.5) @ matrix @ translation(0.5, 0.5)
        image = cv2.warpAffine(
            plate.image, inner[:2], (width, height), flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT, borderValue=255,
        )  # fmt: skip
        image = _spread(np.asarray(image, dtype=np.uint8), self.dot_gain_mm, self.blur_mm, scale)
        if self.background:
            veil = cv2.LUT(
                clouds(rng, (height, width), 25 * scale),
                tone([(0, 255), (255, 255 * (1 - self.background))]),
            )
            image = np.asarray(cv2.multiply(image, veil, scale=1 / 255), dtype=np.uint8)
        count = int(rng.poisson(self.dirt_per_cm2 * width * height / scale**2 / 100))
        dirt = specks(rng, (height, width), count, (0.5 * scale, 0.5 * scale))
        dirty = np.asarray(cv2.subtract(image, dirt), dtype=np.uint8)
        return replace(plate, image=dirty, geometry=plate.geometry.then(Affine(matrix)))
