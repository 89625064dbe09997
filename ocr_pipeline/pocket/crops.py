"""Crops of text lines with what is written on them, cut out of sheets by their true geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.engines.lines import crop
from ocr_pipeline.engines.strips import squeezed
from ocr_pipeline.geometry import Box, Quad
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.pocket.segments import Segment, band, frame, segments_of, split
from ocr_pipeline.pocket.tokenizer import UNREADABLE
from synth.chain import Plate
from synth.drawing import Drawing

HEIGHT = 64
"""Pixels; the height of every crop, before its rows are squeezed."""
SQUEEZE = 2
"""Rows that become one: half-width figures are then about as wide as a patch."""
ROWS = HEIGHT // SQUEEZE
"""Pixels; the height that the model sees."""
WIDTHS = (128, 192, 256, 320, 384)
"""Pixels; crops are padded to the next of these. They are short: in a long line a small model reads
the characters and loses count of them."""
SURVIVES = 0.35
"""A character of whose ink less is left is not readable."""
BURIED = 0.6
"""Nor is one whose surroundings are dark to this share."""
_LOST = 0.6
"""A line that came out lower than this share of its height lost most of its scan lines."""
_FITS = WIDTHS[-1] / HEIGHT * 0.97
"""Heights of its box that a crop may be wide; fax feeds stretch a little."""
_BLUR = 0.0034
"""Sigma in inches by which `ppocr` softens a page."""


@dataclass(frozen=True, eq=False, slots=True)
class Crop:
    """A line or a part of one.

    Attributes:
        image: 32×W uint8, dark on light, stretched to twice its true width, W at most 384.
        text: what is written, one 〓 for each character that cannot be read.
        spans: for each character of the text the columns of its ink (first, last+1); a space has
            none.
        true: what was printed there.
        kind: of text.
        severity: of the sheet.
        finer: the same crop, higher and softened as `ppocr` wants it, where that was asked for.
    """

    image: Gray
    text: str
    spans: tuple[tuple[float, float] | None, ...]
    true: str
    kind: str
    severity: int
    finer: Gray | None = None


def square(plate: Plate) -> tuple[Gray, NDArray[np.float64]]:
    """The stored page with square pixels, and what its x and y were multiplied by."""
    image, dpi = plate.image, np.array(plate.dpi)
    zoom = dpi.max() / dpi
    if zoom.max() < 1.01:
        return image, np.ones(2)
    size = (round(image.shape[1] * zoom[0]), round(image.shape[0] * zoom[1]))
    zoom = np.array(size) / np.array(image.shape[::-1])
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_CUBIC), np.uint8), zoom


def _softened(image: Gray, sigma: float) -> Gray:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.uint8)


def cut_crops(
    drawing: Drawing,
    plate: Plate,
    *,
    kinds: Mapping[int, str],
    severity: int,
    rng: np.random.Generator,
    finer: int = 0,
) -> list[Crop]:
    """Cut every line of a page as a detector might have framed it.

    Args:
        drawing: the page as written.
        plate: the page as stored.
        kinds: index of the line in the drawing → kind of text; other lines are not cut.
        severity: of the page.
        rng: for padding, jitter, softness, and where long lines are split.
        finer: also cut each crop this high; pages are then not softened at random.
    """
    image, zoom = square(plate)
    soft = _softened(image, _BLUR * max(plate.dpi)) if finer else None
    if not finer and rng.random() < 0.6:
        # A page that was turned upright has been interpolated once more than this one.
        image = _softened(image, float(rng.uniform(0.3, 0.8)))
    crops = []
    for index, segment in segments_of(drawing):
        if index not in kinds:
            continue
        top, bottom = band(segment, rng)
        widest = _FITS * (bottom - top)
        for part in split(segment, widest, rng):
            place = _Place.of(frame(part, top, bottom, widest, rng), plate, zoom, rng)
            if place is None:
                continue
            line = crop(image, place.quad, HEIGHT)
            matrix = place.from_drawing(drawing.scale, (line.shape[1], line.shape[0]))
            places = _places(part, drawing.scale, matrix)
            seen = _readable(places, drawing, line, matrix)
            if not any(seen):
                continue  # a detector would have found nothing here
            text = "".join(
                c if r or b is None else UNREADABLE
                for (c, b), r in zip(part.chars, seen, strict=True)
            )
            other = None if soft is None else crop(soft, place.quad, finer)
            spans = tuple(None if p is None else (p[0], p[2]) for p in places)
            low = squeezed(line, SQUEEZE)
            crops.append(Crop(low, text, spans, part.text, kinds[index], severity, other))
    return crops


@dataclass(frozen=True, eq=False, slots=True)
class _Place:
    """Where a crop was taken.

    Attributes:
        quad: on the square page.
        box: corners of the frame on the sheet, 4×2 mm.
        true: where they are on the square page, 4×2; the quad is a little off.
    """

    quad: Quad
    box: NDArray[np.float64]
    true: NDArray[np.float64]

    @classmethod
    def of(
        cls, framed: Box, plate: Plate, zoom: NDArray[np.float64], rng: np.random.Generator
    ) -> _Place | None:
        """A jittered frame; None when it would not fit, or its scan lines were lost."""
        left, top, right, bottom = framed
        box = np.array([(left, top), (right, top), (right, bottom), (left, bottom)])
        true = plate.geometry.points(box) * zoom
        across = float(np.hypot(*(true[1] - true[0])))
        down = float(np.hypot(*(true[3] - true[0])))
        sway = np.clip(rng.normal(0, 0.006, 2) * across, -0.12 * down, 0.12 * down)
        scale = float(np.prod(plate.scale) * np.prod(zoom)) ** 0.5
        if down < _LOST * (bottom - top) * scale or across < 4:
            return None
        if across / down * HEIGHT > WIDTHS[-1] - 4:
            return None
        moved = true + np.array([(0, -sway[0]), (0, sway[1]), (0, sway[1]), (0, -sway[0])])
        return cls(cast("Quad", tuple((float(x), float(y)) for x, y in moved)), box, true)

    def from_drawing(self, scale: float, size: tuple[int, int]) -> NDArray[np.float64]:
        """3×3: pixels of the drawing → pixels of the crop, both continuous."""
        edge = np.array([(0, 0), (size[0], 0), size, (0, size[1])], np.float32)
        quad = np.asarray(self.quad, np.float32)
        to_crop = cv2.getPerspectiveTransform(quad, edge)
        true = cv2.perspectiveTransform(self.true[None].astype(np.float32), to_crop)[0]
        drawn = (self.box * scale).astype(np.float32)
        return np.asarray(cv2.getPerspectiveTransform(drawn, true), np.float64)


_CENTRE = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])
_CORE = np.ones((5, 5), np.uint8)
_Bounds = tuple[float, float, float, float]


def _places(part: Segment, scale: float, matrix: NDArray[np.float64]) -> list[_Bounds | None]:
    """For each character the box of its ink in the crop; None for a space."""
    boxes = np.array([b or (0, 0, 0, 0) for _, b in part.chars], np.float32) * scale
    points = cv2.perspectiveTransform(boxes.reshape(1, -1, 2), matrix)[0].reshape(-1, 4)
    return [
        None if box is None else cast("_Bounds", tuple(map(float, corners)))
        for (_, box), corners in zip(part.chars, points, strict=True)
    ]


def _readable(
    places: Sequence[_Bounds | None], drawing: Drawing, line: Gray, matrix: NDArray[np.float64]
) -> list[bool]:
    """For each character whether enough of its ink, and not too much other ink, is in the crop."""
    size = (line.shape[1], line.shape[0])
    centred = np.linalg.inv(_CENTRE) @ matrix @ _CENTRE  # cv2 counts from pixel centres
    ink = cv2.warpPerspective(drawing.ink, centred, size, flags=cv2.INTER_AREA)
    paper = max(int(np.percentile(line, 90)), 120)
    dark = np.clip(255 - line.astype(np.int32) * 255 // paper, 0, 255).astype(np.uint8)
    # Two pixels of leeway for feeds that slip and edges that grow.
    kept = np.minimum(cv2.dilate(dark, _CORE), ink)
    bare = cv2.dilate(ink, _CORE) < 64
    answer = []
    for bounds in places:
        if bounds is None:
            answer.append(False)
            continue
        x0, y0, x1, y1 = bounds
        a, b = max(0, int(x0)), max(int(x0) + 1, int(np.ceil(x1)))
        c, d = max(0, int(y0)), max(int(y0) + 1, int(np.ceil(y1)))
        here = np.s_[c:d, a:b]
        total = int(ink[here].sum())
        left = int(kept[here].sum()) / total if total else 0.0
        around = dark[here][bare[here]]
        clutter = float(around.mean()) / 255 if around.size > 48 else 0.0
        answer.append(left >= SURVIVES and clutter <= BURIED)
    return answer
