"""Seals, stamps and pen: what people add to a printed order before it is faxed.

A mark is a plain value; drawing it needs nothing else. Which marks a sheet gets is decided in
`mark_plan`. The new value of a struck-out field is part of the sheet's truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Box, quad_of_box
from ocr_pipeline.pages.page import Gray
from synth.chain import Plate, Step, Trace
from synth.drawing import Ref
from synth.fonts import glyph, packaged
from synth.handwriting import strokes


@dataclass(frozen=True)
class Mark:
    """One thing that was added by hand.

    Attributes:
        kind: `company_seal`, `personal_seal`, `stamp`, `tick` or `strike`.
        page: 1-based page.
        box: where, mm on the sheet.
        text: what a seal or stamp says, lines separated by newlines; the new value of a strike.
        density: darkness of the ink on a grey scan; vermilion on a fax is about 0.6.
        turn_deg: how crooked.
        ref: the value that a strike replaces.
        value: its new typed value, as in the truth.
        beside: where a strike's new value is written, mm on the sheet.
    """

    kind: str
    page: int
    box: Box
    text: str = ""
    density: float = 0.6
    turn_deg: float = 0.0
    ref: Ref | None = None
    value: str = ""
    beside: Box | None = None


@dataclass(frozen=True)
class Marks(Step):
    """Stamps and writes the marks of a page.

    Attributes:
        marks: of all pages.
        pen_mm: width of the pen.
    """

    name: ClassVar[str] = "marks"
    marks: tuple[Mark, ...] = ()
    pen_mm: float = 0.45

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """The page with its marks."""
        image, traces = plate.image.copy(), list(plate.traces)
        for mark in self.marks:
            if mark.page == plate.number:
                ink = DRAW[mark.kind](mark, plate.scale[0], self.pen_mm, rng)
                _press(image, ink, mark, plate.scale[0])
                traces.append(Trace(_TRACE.get(mark.kind, "pen"), quad_of_box(mark.box)))
                if mark.beside is not None:
                    new = replace(mark, kind="written", box=mark.beside, beside=None)
                    ink = _written(new, plate.scale[0], self.pen_mm, rng)
                    _press(image, ink, new, plate.scale[0])
                    traces.append(Trace("pen", quad_of_box(new.box)))
        return replace(plate, image=image, traces=tuple(traces))


def _press(image: Gray, ink: Gray, mark: Mark, scale: float) -> None:
    """Lay ink over the page at the mark's box: darker of the two, as dyes on paper add up."""
    height, width = ink.shape
    if mark.turn_deg:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), mark.turn_deg, 1.0)
        ink = np.asarray(cv2.warpAffine(ink, turn, (width, height)), dtype=np.uint8)
    x, y = round(mark.box[0] * scale), round(mark.box[1] * scale)
    x0, y0 = max(0, x), max(0, y)
    view = image[y0 : y + height, x0 : x + width]
    part = ink[y0 - y : y0 - y + view.shape[0], x0 - x : x0 - x + view.shape[1]]
    dark = cv2.LUT(part, np.round(np.arange(256) * mark.density).astype(np.uint8))
    view[:] = cv2.multiply(view, cv2.bitwise_not(dark), scale=1 / 255)


def _canvas(mark: Mark, scale: float) -> Gray:
    left, top, right, bottom = mark.box
    return np.zeros((round((bottom - top) * scale), round((right - left) * scale)), np.uint8)


def _letters(
    plane: Gray, text: str, box: tuple[float, float, float, float], *, down: bool, bold: int = 0
) -> None:
    """Fill a box (pixels) with a column or a line of characters, each stretched to its share."""
    left, top, right, bottom = box
    face = packaged()[1]
    for i, char in enumerate(text):
        if down:
            cell = (
                left,
                top + (bottom - top) * i / len(text),
                right,
                top + (bottom - top) * (i + 1) / len(text),
            )
        else:
            cell = (
                left + (right - left) * i / len(text),
                top,
                left + (right - left) * (i + 1) / len(text),
                bottom,
            )
        x0, y0, x1, y1 = (round(v) for v in cell)
        if char == ".":
            reach = max(2, (x1 - x0) // 10)
            cv2.circle(plane, ((x0 + x1) // 2, y1 - 2 * reach), reach, 255, -1)
            continue
        ink = glyph(face, 64, char, bold).ink
        if ink.size == 0 or x1 - x0 < 3 or y1 - y0 < 3:
            continue
        gap_x, gap_y = max(1, (x1 - x0) // 12), max(1, (y1 - y0) // 12)
        size = (max(1, x1 - x0 - 2 * gap_x), max(1, y1 - y0 - 2 * gap_y))
        fitted = cv2.resize(ink, size, interpolation=cv2.INTER_AREA)
        view = plane[y0 + gap_y : y0 + gap_y + size[1], x0 + gap_x : x0 + gap_x + size[0]]
        np.maximum(view, fitted[: view.shape[0], : view.shape[1]], out=view)


def _worn(plane: Gray, rng: np.random.Generator) -> Gray:
    """Uneven pressure: parts of the impression are faint."""
    small = rng.integers(90, 256, (4, 4), dtype=np.uint8)
    field = cv2.resize(small, plane.shape[::-1], interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.multiply(plane, field, scale=1 / 215), dtype=np.uint8)


def _company_seal(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """A square seal (角印): the company's name in columns from right to left, then 之印."""
    del pen_mm
    plane = _canvas(mark, scale)
    side, edge = plane.shape[0], round(0.9 * scale)
    cv2.rectangle(plane, (2, 2), (side - 3, side - 3), 255, edge)
    columns = mark.text.split("\n")
    inner = side - 3 * edge
    for i, column in enumerate(columns):
        right = side - 1.5 * edge - inner * i / len(columns)
        box = (right - inner / len(columns), 1.5 * edge, right, side - 1.5 * edge)
        _letters(plane, column, box, down=True, bold=2)
    return _worn(plane, rng)


def _personal_seal(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """A round seal (認印) with the surname from top to bottom."""
    del pen_mm
    plane = _canvas(mark, scale)
    side = plane.shape[0]
    cv2.circle(
        plane, (side // 2, side // 2), side // 2 - 3, 255, max(2, round(0.5 * scale)), cv2.LINE_AA
    )
    wide = 0.20 if len(mark.text) > 1 else 0.28
    box = (side * (0.5 - wide), side * 0.15, side * (0.5 + wide), side * 0.85)
    _letters(plane, mark.text, box, down=True, bold=2)
    return _worn(plane, rng)


def _stamp(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """A round date stamp of an office: department, date between two lines, what for."""
    del pen_mm
    plane = _canvas(mark, scale)
    side, pen = plane.shape[0], max(2, round(0.4 * scale))
    cv2.circle(plane, (side // 2, side // 2), side // 2 - 3, 255, pen, cv2.LINE_AA)
    for share in (0.38, 0.62):
        reach = (0.25 - (share - 0.5) ** 2) ** 0.5
        ends = (round(side * (0.5 - reach)) + 3, round(side * (0.5 + reach)) - 3)
        cv2.line(plane, (ends[0], round(side * share)), (ends[1], round(side * share)), 255, pen)
    top, middle, bottom = mark.text.split("\n")
    for text, y0, y1, half in (
        (top, 0.14, 0.35, 0.3),
        (middle, 0.41, 0.59, 0.42),
        (bottom, 0.65, 0.86, 0.24),
    ):
        _letters(
            plane,
            text,
            (side * (0.5 - half), side * y0, side * (0.5 + half), side * y1),
            down=False,
        )
    return _worn(plane, rng)


def _pen(plane: Gray, line: NDArray[np.float64], width: int) -> None:
    points = np.round(line * 8).astype(np.int32).reshape(-1, 1, 2)
    cv2.polylines(plane, [points], False, 255, width, cv2.LINE_AA, 3)


def _tick(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """A check mark (レ点)."""
    plane = _canvas(mark, scale)
    height, width = plane.shape
    t = np.linspace(0, 1, 12)[:, None]
    corner = np.array([0.32 + rng.normal(0, 0.04), 0.85])
    down = np.array([0.08, 0.45]) * (1 - t) + corner * t
    up = corner * (1 - t) + np.array([0.92, 0.1]) * t + np.array([0.06, -0.05]) * np.sin(np.pi * t)
    _pen(plane, np.vstack([down, up]) * [width, height], max(2, round(pen_mm * scale)))
    return plane


def _strike(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """Two lines through what was printed."""
    plane = _canvas(mark, scale)
    height, width = plane.shape
    for share in (0.42, 0.62):
        x = np.linspace(0.01, 0.99, 20)
        y = share + 0.02 * np.cumsum(rng.normal(0, 0.35, 20))
        line = np.column_stack([x * width, y * height])
        _pen(plane, line, max(2, round(pen_mm * scale)))
    return plane


def _written(mark: Mark, scale: float, pen_mm: float, rng: np.random.Generator) -> Gray:
    """The new value by hand."""
    plane = _canvas(mark, scale)
    height = plane.shape[0]
    for line in strokes(mark.text, rng):
        fitted = line * (height * 0.86) + [height * 0.1, height * 0.06]
        _pen(plane, fitted, max(2, round(pen_mm * scale)))
    return plane


DRAW = {
    "company_seal": _company_seal,
    "personal_seal": _personal_seal,
    "stamp": _stamp,
    "tick": _tick,
    "strike": _strike,
}
"""Kind → how its ink is drawn in its box."""
_TRACE = {"company_seal": "seal", "personal_seal": "seal", "stamp": "stamp"}
