"""The sender's scanner: paper feed, optics, sampling, dirty glass, lamp, noise, black and white."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np
from PIL import Image

from ocr_pipeline.geometry import Quad, rotation, scaling, translation
from synth.chain import Plate, Step, Trace
from synth.texture import add_noise, clouds, specks, tone
from synth.warp import Affine, Geometry, Rows

FAX_WIDTH = 1728
"""Pixels of a scan line of an A4 fax (ITU-T T.4): 215 mm at 8.04 a millimetre."""
STANDARD, FINE, SUPERFINE = (204.0, 98.0), (204.0, 196.0), (204.0, 391.0)
"""Dots per inch along and across the feed (T.4: 3.85, 7.7 and 15.4 lines/mm)."""


@dataclass(frozen=True)
class Scan(Step):
    """Rollers pull the sheet over a sensor line, which samples it.

    Turning, feeding and sampling are one resampling: a line sensor has no raster in between. The
    rest of this module acts on what the sensor delivers, in its own coordinates.

    Attributes:
        dpi: dots per inch along the line and along the feed.
        line_px: pixels of a line; 0 for a flatbed, which is as wide as the sheet.
        turn: the sheet is fed turned clockwise by 0, 90, 180 or 270 degrees.
        skew_deg: how crooked it goes in.
        shift_mm: sideways and down.
        stretch_percent: the feed is too slow (page too long) or too fast (negative).
        wander_percent: speed variation of a worn roller, once a turn of 50 mm.
        slips: (mm from the top, mm): the sheet stops (+) or jumps (−) there.
        blur_mm: σ of the lens, beside the pixel's own size.
    """

    name: ClassVar[str] = "scan"
    dpi: tuple[float, float] = FINE
    line_px: int = FAX_WIDTH
    turn: int = 0
    skew_deg: float = 0.0
    shift_mm: tuple[float, float] = (0.0, 0.0)
    stretch_percent: float = 0.0
    wander_percent: float = 0.0
    slips: tuple[tuple[float, float], ...] = ()
    blur_mm: float = 0.0

    def _feed(self, length: float) -> Rows:
        """Height on the sheet → height on the page, mm, with a knot every millimetre."""
        paper = np.arange(0.0, length + 1.5)
        speed = np.full(len(paper) - 1, 1 + self.stretch_percent / 100)
        speed += self.wander_percent / 100 * np.sin(2 * np.pi * paper[:-1] / 50)
        for where, slip in self.slips:
            at = int(np.clip(where, 0, len(speed) - 4))
            if slip > 0:
                speed[at] += slip
            else:
                # A jump of the sheet: three millimetres pass in the time of three minus the slip.
                speed[at : at + 3] *= max(0.05, 1 + slip / 3)
        return Rows(paper, np.concatenate([[0.0], np.cumsum(speed)]))

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """The grey page that the sensor sees."""
        del rng  # every movement is a parameter, so that it is recorded
        source, before = plate.image, plate.scale[0]
        width, height = source.shape[1] / before, source.shape[0] / before
        turned = (height, width) if self.turn % 180 else (width, height)
        scale = (self.dpi[0] / 25.4, self.dpi[1] / 25.4)
        line = self.line_px or round(turned[0] * scale[0])
        margin = (line / scale[0] - turned[0]) / 2
        laid = (
            translation(margin + self.shift_mm[0], self.shift_mm[1])
            @ rotation(self.skew_deg, (turned[0] / 2, turned[1] / 2))
            @ translation(turned[0] / 2, turned[1] / 2)
            @ rotation(self.turn)
            @ translation(-width / 2, -height / 2)
            @ scaling(1 / before, 1 / before)
        )
        maps = (Affine(laid), self._feed(turned[1]), Affine(scaling(*scale)))
        shape = (round(turned[1] * scale[1]), line)
        # The pixel's own aperture: a box of the pixel's size has σ = size/√12.
        ratios = (before / scale[0], before / scale[1])
        if self.turn % 180:
            ratios = ratios[::-1]
        sigmas = [float(np.hypot(r / 12**0.5, self.blur_mm * before)) for r in ratios]
        soft = cv2.GaussianBlur(
            source, (0, 0), sigmaX=max(0.3, sigmas[0]), sigmaY=max(0.3, sigmas[1])
        )
        x, y = Geometry(maps).sources(shape)
        image = cv2.remap(
            soft, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255
        )
        return replace(
            plate,
            image=np.asarray(image, dtype=np.uint8),
            geometry=plate.geometry.then(*maps),
            scale=scale,
        )


@dataclass(frozen=True)
class Shading(Step):
    """An old lamp, a warped sheet, a lid left open: uneven light.

    Attributes:
        falloff: how much darker the ends of the line are, 0..1.
        smudges: depth of large grey stains, 0..1.
        edge_mm: width of the shadow along the left or right edge (negative: left); 0 for none.
        edge_level: its depth, 0..1.
    """

    name: ClassVar[str] = "shading"
    falloff: float = 0.0
    smudges: float = 0.0
    edge_mm: float = 0.0
    edge_level: float = 0.6

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """Less light where it fails."""
        height, width = plate.image.shape
        light = np.ones((1, width))
        light *= 1 - self.falloff * np.linspace(-1, 1, width)[None, :] ** 4
        if self.edge_mm:
            at = np.arange(width)[None, :] / plate.scale[0]
            inwards = at if self.edge_mm < 0 else at[:, ::-1]
            light *= 1 - self.edge_level * np.clip(1.3 - inwards / abs(self.edge_mm), 0, 1)
        field = np.broadcast_to(np.round(light * 255).astype(np.uint8), (height, width))
        image = cv2.multiply(plate.image, np.ascontiguousarray(field), scale=1 / 255)
        if self.smudges:
            # Stains are few: only the uppermost fifth of the clouds is dark.
            stain = cv2.LUT(
                clouds(rng, (height, width), 38 * plate.scale[0]),
                tone([(0, 255), (190, 255), (255, 255 * (1 - self.smudges))]),
            )
            image = cv2.multiply(image, stain, scale=1 / 255)
        return replace(plate, image=np.asarray(image, dtype=np.uint8))


@dataclass(frozen=True)
class Glass(Step):
    """Dirt on the glass strip of a sheet feeder: a line along the whole page.

    Attributes:
        streaks: (mm from the left, mm wide, darkness 0..1, from, to): the last two are shares of
            the page's length.
        dust_per_cm2: specks on sheet and sensor.
    """

    name: ClassVar[str] = "glass"
    streaks: tuple[tuple[float, float, float, float, float], ...] = ()
    dust_per_cm2: float = 0.0

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """Streaks and dust over the page."""
        height, width = plate.image.shape
        image, traces = plate.image.copy(), list(plate.traces)
        for x, wide, dark, start, end in self.streaks:
            left = round(x * plate.scale[0])
            right = max(left + 1, round((x + wide) * plate.scale[0]))
            top, bottom = round(start * height), round(end * height)
            strip = image[top:bottom, left:right]
            # Dirt is uneven: it covers more here and less there.
            cover = 255 * dark * (0.75 + 0.25 * rng.random((strip.shape[0], 1)))
            strip[:] = np.clip(strip - cover, 0, 255).astype(np.uint8)
            quad: Quad = ((left, top), (right, top), (right, bottom), (left, bottom))
            traces.append(Trace("streak", _sheet(plate, quad)))
        count = int(rng.poisson(self.dust_per_cm2 * width * height / np.prod(plate.scale) / 100))
        largest = (0.4 * plate.scale[0], 0.4 * plate.scale[1])
        dusty = cv2.subtract(image, specks(rng, (height, width), count, largest))
        return replace(plate, image=np.asarray(dusty, dtype=np.uint8), traces=tuple(traces))


def _sheet(plate: Plate, quad: Quad) -> Quad:
    """A quad on the raster as a quad on the sheet."""
    a, b, c, d = ((float(x), float(y)) for x, y in plate.geometry.back(quad))
    return a, b, c, d


@dataclass(frozen=True)
class Noise(Step):
    """Noise of the sensor.

    Attributes:
        sigma: standard deviation in grey levels of 255.
    """

    name: ClassVar[str] = "noise"
    sigma: float = 0.0

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """A noisy page."""
        return replace(plate, image=add_noise(plate.image, self.sigma, rng))


@dataclass(frozen=True)
class Threshold(Step):
    """Black or white by one level.

    Attributes:
        level: share of white below which a pixel is black; the contrast knob of the machine.
    """

    name: ClassVar[str] = "threshold"
    level: float = 0.5

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """A page of two colours."""
        del rng
        _, image = cv2.threshold(plate.image, round(self.level * 255), 255, cv2.THRESH_BINARY)
        return replace(plate, image=np.asarray(image, dtype=np.uint8), bilevel=True)


@dataclass(frozen=True)
class Dither(Step):
    """The photo mode of the machine: grey becomes a pattern of dots.

    Attributes:
        kind: `diffusion` (Floyd and Steinberg) or `ordered` (an 8×8 matrix).
        gamma: < 1 lightens before.
    """

    name: ClassVar[str] = "dither"
    kind: str = "diffusion"
    gamma: float = 1.0

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """A page of two colours."""
        del rng
        curve = tone([(g, 255 * (g / 255) ** self.gamma) for g in range(256)])
        grey = np.asarray(cv2.LUT(plate.image, curve), dtype=np.uint8)
        if self.kind == "ordered":
            height, width = grey.shape
            limits = np.tile(_BAYER, (height // 8 + 1, width // 8 + 1))[:height, :width]
            image = np.where(grey > limits, 255, 0).astype(np.uint8)
        else:
            image = np.asarray(Image.fromarray(grey).convert("1")).astype(np.uint8) * 255
        return replace(plate, image=image, bilevel=True)


def _bayer(order: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    if order == 0:
        return np.zeros((1, 1), np.int64)
    m = 4 * _bayer(order - 1)
    return np.block([[m, m + 2], [m + 3, m + 1]])


_BAYER = ((_bayer(3) + 0.5) * 4).astype(np.uint8)
