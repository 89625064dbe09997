"""A layout as a value: page, type, rules, columns, and the functions that draw its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synth.layouts.form import Form

Part = Callable[["Form", float], float]
"""Draws a part of a page from a height (mm) on and returns the height where it ends."""

OPTIONAL = ("person", "delivery_place", "payment_terms", "remarks")


@dataclass(frozen=True)
class Layout:
    """How an order looks.

    Attributes:
        name: how it is asked for.
        header: draws everything above the table on the first page.
        totals: draws subtotal, tax and total.
        columns: (column, share of the width); columns are row fields, or `item_spec` for both.
        rules: `grid`, `rows` (horizontal only) or `none`.
        points: type size, points.
        row: height of a row, mm.
        width: of the sheet, mm.
        height: of the sheet, mm.
        margin: left and right, mm.
        style: `gothic`, `mincho` or `any`.
        heading: share of ink behind the column titles.
        filled: number of rows the table is filled up to with empty ones.
        rule: thickness of a ruling line, mm.
        grand: repeat the total above the table.
        optional: which of `OPTIONAL` are printed.
        printer: `laser` or `dots`.
    """

    name: str
    header: Part
    totals: Part
    columns: tuple[tuple[str, float], ...]
    rules: str = "grid"
    points: float = 10.5
    row: float = 8.0
    width: float = 210.0
    height: float = 297.0
    margin: float = 15.0
    style: str = "any"
    heading: float = 0.0
    filled: int = 0
    rule: float = 0.2
    grand: bool = False
    optional: tuple[str, ...] = OPTIONAL
    printer: str = "laser"
