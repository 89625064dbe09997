"""What is true of a sheet: values, where they stand in the file, how much of their ink is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Box, Quad
from synth.chain import Plate
from synth.content import Content
from synth.drawing import Drawing, Ref, Run
from synth.marks import Mark
from synth.warp import Geometry

INK_GREY = 228
"""On a grey scan everything visibly darker than paper is ink that is left; on a fax, black is."""
_KINDS = ("seal", "stamp", "pen", "streak", "lost_lines")


@dataclass(frozen=True, eq=False, slots=True)
class Print:
    """One run of characters of a value in the stored file.

    Attributes:
        page: 1-based page.
        text: as written.
        quad: around the ink, stored pixels.
        chars: each character with its quad.
        ink: share of its glyph pixels that are still dark, 0..1: 1 is whole, 0 is gone.
        clutter: share of the rest of its quad that is dark.
        overlaps: kind of `Trace` → share of the quad that it covers; zeros are left out.
    """

    page: int
    text: str
    quad: Quad
    chars: tuple[tuple[str, Quad], ...]
    ink: float
    clutter: float
    overlaps: dict[str, float]


def stored_quad(geometry: Geometry, box: Box, pad: float = 0.1) -> Quad:
    """The quad in stored pixels of a box on the sheet, `pad` pixels wider on every side.

    Edges that a slipping feed has bent are moved out until nothing sticks out of the quad.
    """
    left, top, right, bottom = box
    x = np.linspace(left, right, 9)
    upper = geometry.points(np.column_stack([x, np.full(9, top)]))
    lower = geometry.points(np.column_stack([x, np.full(9, bottom)]))
    along = upper[-1] - upper[0]
    along /= max(float(np.hypot(*along)), 1e-9)
    down = np.array([-along[1], along[0]])
    if float(((lower[0] - upper[0]) * down).sum()) < 0:
        down = -down
    rise = float(((upper[0] - upper) @ down).max()) + pad
    fall = float(((lower - lower[0]) @ down).max()) + pad
    corners = (
        upper[0] - down * rise - along * pad,
        upper[-1] - down * (rise - float((upper[0] - upper[-1]) @ down)) + along * pad,
        lower[-1] + down * (fall - float((lower[-1] - lower[0]) @ down)) + along * pad,
        lower[0] + down * fall - along * pad,
    )
    a, b, c, d = ((float(p[0]), float(p[1])) for p in corners)
    return a, b, c, d


def glyph_mask(drawing: Drawing, plate: Plate) -> NDArray[np.bool_]:
    """The pixels of the stored page whose centres lie on printed glyphs of values."""
    shape = (plate.image.shape[0], plate.image.shape[1])
    x, y = plate.geometry.sources(shape, drawing.scale)
    return np.asarray(cv2.remap(drawing.glyphs, x, y, cv2.INTER_NEAREST) > 127)


def _fill(plane: NDArray[np.int32], quad: Quad, value: int) -> None:
    points = np.round((np.asarray(quad) - 0.5) * 16).astype(np.int32)
    cv2.fillConvexPoly(plane, points, value, lineType=cv2.LINE_8, shift=4)


def measure(drawing: Drawing, plate: Plate) -> list[tuple[Run, Print]]:
    """Every run of a value on a page with its print in the stored file."""
    runs = [r for r in drawing.runs if r.ref is not None]
    quads = [stored_quad(plate.geometry, r.box) for r in runs]
    shape = (plate.image.shape[0], plate.image.shape[1])
    labels = np.zeros(shape, np.int32)
    for i, quad in enumerate(quads, start=1):
        _fill(labels, quad, i)
    at = np.flatnonzero(labels)
    of = labels.ravel()[at]
    glyphs = glyph_mask(drawing, plate)
    black = plate.image < (128 if plate.bilevel else INK_GREY)
    dark = black.ravel()[at]
    # A grey pixel at the edge of a stroke shares its ink with its neighbours: none is lost.
    kept = dark if plate.bilevel else _dilate(black).ravel()[at]
    grown = _dilate(glyphs).ravel()[at]
    on = glyphs.ravel()[at]
    bins = len(runs) + 1

    def share(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> NDArray[np.float64]:
        total = np.bincount(of[whole], minlength=bins)
        return np.bincount(of[part & whole], minlength=bins) / np.maximum(total, 1)

    ink, clutter = share(kept, on), share(dark, ~grown)
    everywhere = np.ones(len(at), bool)
    covers = {}
    for kind in _KINDS:
        traces = [t for t in plate.traces if t.kind == kind]
        if traces:
            plane = np.zeros(shape, np.int32)
            for trace in traces:
                _fill(plane, plate.geometry.quad(trace.quad), 1)
            covers[kind] = share(plane.ravel()[at] > 0, everywhere)
    found = []
    for i, (run, quad) in enumerate(zip(runs, quads, strict=True), start=1):
        chars = tuple((c, stored_quad(plate.geometry, b)) for c, b in run.chars)
        overlaps = {k: round(float(v[i]), 4) for k, v in covers.items() if v[i] > 0}
        found.append(
            (
                run,
                Print(
                    plate.number, run.text, quad, chars, float(ink[i]), float(clutter[i]), overlaps
                ),
            )
        )
    return found


def _dilate(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)


def value_of(content: Content, ref: Ref) -> Any:
    """The true value of a field in JSON's types: dates ISO, money and quantities numbers."""
    if ref.row is None:
        value: object = getattr(content, ref.name)
    elif ref.name == "no":
        return str(ref.row + 1)
    else:
        value = getattr(content.lines[ref.row], ref.name)
    return plain(value)


def plain(value: object) -> Any:
    """A value in JSON's types."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral() else float(value)
    if isinstance(value, date):
        return value.isoformat()
    return value


@dataclass(frozen=True, eq=False)
class Truth:
    """The truth of a sheet.

    Attributes:
        values: every printed value.
        prints: where each of them stands, in reading order.
        struck: values that were struck out by hand → what was printed before.
        blank: cells that are on the form and empty.
        markdown: the transcription of each page.
    """

    values: dict[Ref, Any]
    prints: dict[Ref, tuple[Print, ...]]
    struck: dict[Ref, str]
    blank: tuple[Ref, ...]
    markdown: tuple[str, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """Name → value of the fields of the order that the schema has; an address is none."""
        return {r.name: v for r, v in self.values.items() if r.row is None and r.name != "address"}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For each line name → value, only what is printed."""
        count = max((r.row for r in self.values if r.row is not None), default=-1) + 1
        rows: list[dict[str, Any]] = [{} for _ in range(count)]
        for ref, value in self.values.items():
            if ref.row is not None:
                rows[ref.row][ref.name] = value
        return rows


_NAMES = (
    *("order_no", "order_date", "due_date", "buyer", "supplier", "tel", "fax", "person"),
    *("delivery_place", "payment_terms", "subtotal", "tax", "total", "address"),
    *("no", "item", "spec", "quantity", "unit", "unit_price", "amount", "tax_rate", "remarks"),
)


def _order(ref: Ref) -> tuple[int, int]:
    """Fields of the order first, then line by line, as in the schema."""
    return -1 if ref.row is None else ref.row, _NAMES.index(ref.name)


def tell(
    content: Content,
    drawings: Sequence[Drawing],
    plates: Sequence[Plate],
    *,
    columns: Sequence[str],
    marks: Sequence[Mark],
    written: dict[Ref, Any],
    markdown: tuple[str, ...],
) -> Truth:
    """The truth of a sheet after its chain.

    Args:
        content: the order.
        drawings: its pages as drawn.
        plates: the same pages as stored.
        columns: row fields that the table has.
        marks: what was added by hand; a strike replaces a value.
        written: values whose truth is the written form (company names).
        markdown: the transcription of each page.
    """
    prints: dict[Ref, list[Print]] = {}
    for drawing, plate in zip(drawings, plates, strict=True):
        for run, found in measure(drawing, plate):
            if run.ref is not None:
                prints.setdefault(run.ref, []).append(found)
    strikes = {m.ref: m for m in marks if m.kind == "strike" and m.ref is not None}
    values = {}
    for ref in sorted(prints, key=lambda r: -1 if r.row is None else r.row):
        values[ref] = written[ref] if ref in written else value_of(content, ref)
        if ref in strikes:
            value = strikes[ref].value
            values[ref] = plain(Decimal(value)) if ref.name == "quantity" else value
    struck = {r: prints[r][0].text for r in strikes if r in prints}
    blank = tuple(
        Ref(name, row)
        for row in range(len(content.lines))
        for name in columns
        if Ref(name, row) not in prints
    )
    return Truth(values, {r: tuple(p) for r, p in prints.items()}, struck, blank, markdown)
