"""The table of goods: rows of one or two lines, rules, and how many fit on a page."""

from __future__ import annotations

from collections.abc import Sequence

from synth.drawing import Piece
from synth.layouts.form import Form

_RIGHT = ("quantity", "unit_price", "amount", "tax_rate")
_CENTRE = ("no", "unit")
_PAD = 1.6
TABLE = 0
"""Index of the table of goods among the tables of a page."""


def edges(form: Form) -> list[float]:
    """The x of the column borders, mm."""
    total = sum(w for _, w in form.layout.columns)
    span, x = form.right - form.left, form.left
    found = [x]
    for _, width in form.layout.columns:
        x += span * width / total
        found.append(x)
    return found


def _cells(form: Form, row: int) -> list[list[list[Piece]]]:
    """For each column the lines of its cell."""
    borders = edges(form)
    cells = []
    for i, (name, _) in enumerate(form.layout.columns):
        pieces = form.cell(name, row)
        text = "".join(t for t, _ in pieces)
        width = borders[i + 1] - borders[i] - 2 * _PAD
        if form.page.fits(text, form.size, width) or name in _RIGHT:
            cells.append([pieces])
        else:
            cells.append(form.page.wrap(pieces, form.size * 0.88, width))
    return cells


def height(form: Form, row: int) -> float:
    """Height of one row, mm: more when a cell is broken into lines."""
    lines = max(len(c) for c in _cells(form, row))
    return max(form.layout.row, form.size * 1.25 * lines + 1.2)


def _place(form: Form, x0: float, x1: float, name: str) -> tuple[float, str]:
    if name in _RIGHT:
        return x1 - _PAD, "right"
    if name in _CENTRE:
        return (x0 + x1) / 2, "center"
    return x0 + _PAD, "left"


def draw_heading(form: Form, y: float) -> float:
    """The column titles; returns where the body begins."""
    page, borders, bottom = form.page, edges(form), y + form.layout.row
    if form.layout.heading:
        page.tint(form.left, y, form.right, bottom, form.layout.heading)
    for i, (name, _) in enumerate(form.layout.columns):
        page.text(
            (borders[i] + borders[i + 1]) / 2,
            (y + bottom) / 2,
            form.label(f"column.{name}"),
            form.size,
            align="center",
            width=borders[i + 1] - borders[i] - 1,
            cell=(TABLE, -1, i),
        )
    if form.layout.rules == "grid":
        page.line(form.left, y, form.right, y, form.layout.rule * 1.6)
        _uprights(form, y, bottom)
    elif form.layout.rules == "rows":
        page.line(form.left, y, form.right, y, form.layout.rule * 2)
    page.line(form.left, bottom, form.right, bottom, form.layout.rule * 1.3)
    return bottom


def _uprights(form: Form, top: float, bottom: float) -> None:
    for x in edges(form):
        form.page.line(x, top, x, bottom, form.layout.rule)


def _rule_off(form: Form, top: float, bottom: float) -> None:
    if form.layout.rules == "grid":
        _uprights(form, top, bottom)
    if form.layout.rules != "none":
        form.page.line(form.left, bottom, form.right, bottom, form.layout.rule)


def draw_rows(form: Form, y: float, rows: Sequence[int]) -> float:
    """The given lines of the order; returns where they end."""
    borders = edges(form)
    for at, row in enumerate(rows):
        bottom = y + height(form, row)
        for i, (cell, (name, _)) in enumerate(
            zip(_cells(form, row), form.layout.columns, strict=True)
        ):
            size = form.size * (1.0 if len(cell) == 1 else 0.88)
            x, align = _place(form, borders[i], borders[i + 1], name)
            for k, pieces in enumerate(cell):
                middle = (y + bottom) / 2 + (k - (len(cell) - 1) / 2) * size * 1.25
                form.page.text(
                    x,
                    middle,
                    pieces,
                    size,
                    align=align,
                    width=borders[i + 1] - borders[i] - 2 * _PAD,
                    cell=(TABLE, at, i),
                )
        form.page.anchors[f"row.{row}"] = (form.left, y, form.right, bottom)
        _rule_off(form, y, bottom)
        y = bottom
    return y


def draw_empty(form: Form, y: float, count: int) -> float:
    """Empty rows; returns where they end."""
    for _ in range(count):
        _rule_off(form, y, y + form.layout.row)
        y += form.layout.row
    return y
