"""The line that the sender's machine prints across the top (TTI, transmit terminal identification).

The machine writes it into the page before it codes it, so here it goes before the telephone line:
bit errors hit it like anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np

from ocr_pipeline.geometry import translation
from ocr_pipeline.pages.page import Gray
from synth.chain import Plate, Step
from synth.fonts import able, glyph, packaged
from synth.warp import Affine


@dataclass(frozen=True)
class HeaderLine(Step):
    """A sender's header line.

    Attributes:
        texts: left, middle and right part; `{page}` and `{pages}` are filled in.
        size_mm: height of the characters.
        above: True puts it above the page, which becomes longer; False over its first lines.
    """

    name: ClassVar[str] = "header"
    texts: tuple[str, str, str] = ("", "", "P.{page}/{pages}")
    size_mm: float = 2.6
    above: bool = True

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """A page with the line on it."""
        del rng
        strip = self._strip(plate)
        height = strip.shape[0]
        if not self.above:
            image = plate.image.copy()
            image[:height] = strip
            return replace(plate, image=image)
        moved = plate.geometry.then(Affine(translation(0, height)))
        return replace(plate, image=np.vstack([strip, plate.image]), geometry=moved)

    def _strip(self, plate: Plate) -> Gray:
        """The line at the page's own two resolutions, in two colours."""
        horizontal, vertical = plate.scale
        width = plate.image.shape[1]
        pixels = max(8, round(self.size_mm * horizontal))
        square = np.zeros((round(pixels * 1.5), width), np.uint8)
        texts = [t.format(page=plate.number, pages=plate.pages) for t in self.texts]
        face = able(packaged()[-1:] + packaged(), "".join(texts))[0]
        for text, share in zip(texts, (0.02, 0.5, 0.97), strict=True):
            drawn = [glyph(face, pixels, c) for c in text]
            length = sum(g.advance for g in drawn)
            pen = width * share - length * {0.02: 0.0, 0.5: 0.5, 0.97: 1.0}[share]
            for g in drawn:
                x, y = round(pen) + g.left, round(pixels * 1.15) + g.top
                if g.ink.size and x >= 0 and x + g.ink.shape[1] <= width:
                    view = square[max(0, y) : y + g.ink.shape[0], x : x + g.ink.shape[1]]
                    np.maximum(view, g.ink[-view.shape[0] :], out=view)
                pen += g.advance
        lines = round(square.shape[0] * vertical / horizontal)
        line = cv2.resize(square, (width, lines), interpolation=cv2.INTER_AREA)
        return np.where(line > 100, 0, 255).astype(np.uint8)
