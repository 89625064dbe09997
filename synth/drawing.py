"""A clean page: ink on paper in millimetres, and a record of what was written where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Box, box_of
from ocr_pipeline.pages.page import Gray
from synth.fonts import Face, Glyph, glyph

POINT_MM = 25.4 / 72
_CENTRE = 0.38
"""Height of the middle of an em box above its baseline, as a share of the type size."""
_TIGHTEST = 0.72
"""The narrowest condensed type (長体) that business software sets before it breaks the line."""


@dataclass(frozen=True, slots=True)
class Ref:
    """Which value a piece of text is: a field of the order, or of one of its lines."""

    name: str
    row: int | None = None


Piece = tuple[str, Ref | None]


@dataclass(frozen=True, slots=True)
class Run:
    """Contiguous characters that belong to one value, on one line.

    Attributes:
        text: what is written.
        ref: the value; None for labels and other words.
        box: (left, top, right, bottom) of the ink, mm on the sheet.
        chars: each character with the box of its ink.
        cell: (table, row, column) when it stands in a table, row -1 is the header.
    """

    text: str
    ref: Ref | None
    box: Box
    chars: tuple[tuple[str, Box], ...]
    cell: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """One line as it was written, for the transcription.

    Attributes:
        pieces: its parts, in order.
        x: its left end, mm.
        y: its middle, mm.
        size: type size, mm.
        cell: (table, row, column) when it stands in a table, row -1 is the header.
    """

    pieces: tuple[Piece, ...]
    x: float
    y: float
    size: float
    cell: tuple[int, int, int] | None = None


@dataclass
class Drawing:
    """A sheet that is being written on; all arguments are millimetres unless they say otherwise.

    Attributes:
        width: of the sheet.
        height: of the sheet.
        scale: pixels a millimetre.
        ink: H×W uint8, 255 is full ink: everything that is printed.
        glyphs: like `ink`, only the characters that belong to values.
        runs: the characters that were written, in order.
        lines: the lines that were written, in order.
        anchors: name → box of places where marks may go.
    """

    width: float
    height: float
    scale: float
    face: Face
    ink: Gray = field(init=False)
    glyphs: Gray = field(init=False)
    runs: list[Run] = field(default_factory=list)
    lines: list[Written] = field(default_factory=list)
    anchors: dict[str, Box] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (round(self.height * self.scale), round(self.width * self.scale))
        self.ink = np.zeros(shape, np.uint8)
        self.glyphs = np.zeros(shape, np.uint8)

    def measure(self, text: str, size: float, *, track: float = 0.0) -> float:
        """Width of a text set in one line; `size` is the type size, `track` extra space."""
        pixels = max(4, round(size * self.scale))
        advance = sum(glyph(self.face, pixels, c).advance for c in text)
        return advance / self.scale + track * max(0, len(text) - 1)

    def text(
        self,
        x: float,
        y: float,
        pieces: str | Sequence[Piece],
        size: float,
        *,
        align: str = "left",
        bold: float = 0.0,
        track: float = 0.0,
        width: float | None = None,
        cell: tuple[int, int, int] | None = None,
    ) -> float:
        """Write one line whose middle is at `y`; returns the width it took.

        Args:
            x: left end, middle or right end, as `align` says.
            y: middle of the line.
            pieces: a text, or (text, ref) pairs set one after the other.
            size: type size.
            align: `left`, `center` or `right`.
            bold: extra stroke width.
            track: extra space between characters.
            width: condense to fit into this width.
            cell: where in a table.
        """
        parts: Sequence[Piece] = [(pieces, None)] if isinstance(pieces, str) else pieces
        whole = "".join(t for t, _ in parts)
        natural = self.measure(whole, size, track=track)
        squeeze = min(1.0, width / natural) if width and natural else 1.0
        if not whole.strip():
            return natural
        x -= natural * squeeze * {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        self.lines.append(Written(tuple(parts), x, y, size, cell))
        pixels, weight = max(4, round(size * self.scale)), round(bold * self.scale)
        baseline = round((y + _CENTRE * size) * self.scale)
        pen = x * self.scale
        for text, ref in parts:
            boxes = []
            for char in text:
                drawn = glyph(self.face, pixels, char, weight)
                box = self._stamp(drawn, pen, baseline, squeeze, ref is not None)
                if box is not None:
                    boxes.append((char, box))
                pen += (drawn.advance + track * self.scale) * squeeze
            if boxes:
                corners = [p for _, b in boxes for p in (b[:2], b[2:])]
                self.runs.append(Run(text.strip(), ref, box_of(corners), tuple(boxes), cell))
        return natural * squeeze

    def _stamp(
        self, drawn: Glyph, pen: float, baseline: int, squeeze: float, value: bool
    ) -> Box | None:
        ink = drawn.ink
        if ink.size == 0:
            return None
        if squeeze < 1:
            narrow = max(1, round(ink.shape[1] * squeeze))
            ink = np.asarray(
                cv2.resize(ink, (narrow, ink.shape[0]), interpolation=cv2.INTER_AREA), np.uint8
            )
        x, y = round(pen + drawn.left * squeeze), baseline + drawn.top
        height, width = self.ink.shape
        x0, y0 = max(0, x), max(0, y)
        x1, y1 = min(width, x + ink.shape[1]), min(height, y + ink.shape[0])
        if x1 <= x0 or y1 <= y0:
            return None
        part = ink[y0 - y : y1 - y, x0 - x : x1 - x]
        for plane in (self.ink, self.glyphs) if value else (self.ink,):
            view = plane[y0:y1, x0:x1]
            np.maximum(view, part, out=view)
        s, (left, top, right, bottom) = self.scale, drawn.tight
        shrink = ink.shape[1] / drawn.ink.shape[1]
        return (x + left * shrink) / s, (y + top) / s, (x + right * shrink) / s, (y + bottom) / s

    def fits(self, text: str, size: float, width: float) -> bool:
        """Whether a text can be condensed into a width."""
        return self.measure(text, size) * _TIGHTEST <= width

    def wrap(self, pieces: Sequence[Piece], size: float, width: float) -> list[list[Piece]]:
        """Break pieces into lines that fit without condensing."""
        lines: list[list[Piece]] = [[]]
        used = 0.0
        for text, ref in pieces:
            part = ""
            for char in text:
                advance = self.measure(char, size)
                if used + advance > width and (part or lines[-1]):
                    if part:
                        lines[-1].append((part, ref))
                    lines.append([])
                    part, used = "", 0.0
                part, used = part + char, used + advance
            if part:
                lines[-1].append((part, ref))
        return [line for line in lines if line]

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.2) -> None:
        """A horizontal or vertical rule."""
        s, half = self.scale, width / 2
        left, right = sorted((x0, x1))
        top, bottom = sorted((y0, y1))
        a, b = (
            round((left - half) * s),
            max(round((left - half) * s) + 1, round((right + half) * s)),
        )
        c, d = round((top - half) * s), max(round((top - half) * s) + 1, round((bottom + half) * s))
        self.ink[max(0, c) : d, max(0, a) : b] = 255

    def box(self, left: float, top: float, right: float, bottom: float, width: float = 0.2) -> None:
        """The outline of a rectangle."""
        for y in (top, bottom):
            self.line(left, y, right, y, width)
        for x in (left, right):
            self.line(x, top, x, bottom, width)

    def tint(self, left: float, top: float, right: float, bottom: float, share: float) -> None:
        """A grey background, `share` of full ink (a printer's halftone would do the same)."""
        s = self.scale
        view: NDArray[np.uint8] = self.ink[
            round(top * s) : round(bottom * s), round(left * s) : round(right * s)
        ]
        np.maximum(view, np.uint8(255 * share), out=view)
