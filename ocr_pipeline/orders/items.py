"""The item table: rows, closing sums, taxes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from ocr_pipeline.orders.columns import map_columns
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.labels import aliases
from ocr_pipeline.orders.model import FieldState, FieldValue, Row
from ocr_pipeline.orders.schema import FieldSpec, Schema
from ocr_pipeline.orders.text import is_hiragana, is_kanji, is_katakana, label
from ocr_pipeline.orders.typed import typed
from ocr_pipeline.tables.transcript import Cell, Table

FEWEST_COLUMNS = 2
"""A table with fewer known columns is no item table."""
MISREAD_SUM = 66.0
"""rapidfuzz ratio from which a word beside a sum is taken for its label."""
_RATE = re.compile(r"(\d{1,2})\s*[%％]")


@dataclass
class Items:
    """What an item table holds, before it becomes part of an order.

    Attributes:
        rows: item lines.
        sums: closing sums by field name: the cell of the amount, first printed first.
        taxes: (rate cell, amount cell) of tax lines that name a rate.
    """

    rows: list[Row] = field(default_factory=list)
    sums: dict[str, list[Cell]] = field(default_factory=dict)
    taxes: list[tuple[Cell, Cell]] = field(default_factory=list)


def is_item_table(table: Table, schema: Schema) -> bool:
    """Whether enough column titles of a table are those of an item table."""
    return len(map_columns(table.header, schema.rows)) >= FEWEST_COLUMNS


def read_items(table: Table, schema: Schema) -> Items:
    """Read the rows of an item table."""
    columns = map_columns(table.header, schema.rows)
    closing = {label(c) for c in schema.closing}
    items = Items()
    page = next((c.page for c in table.header), 1)
    for row in table.rows:
        filled = [c for c in row if not c.blank]
        if not filled or any(label(c.text) in closing for c in filled):
            continue
        if _read_sum(row, columns, schema, items):
            continue
        values = _row(row, columns, schema, page)
        if values is not None:
            items.rows.append(values)
    return items


def _read_sum(row: Sequence[Cell], columns: dict[str, int], schema: Schema, items: Items) -> bool:
    """Take a row that carries a closing sum; false when it is an ordinary row."""
    named = [(i, c) for i, c in enumerate(row) if not c.blank]
    if len(named) > 3:
        return False
    for i, cell in named:
        if i == columns.get("quantity") and _figure(cell):
            return False
        spec, likeness = _sum_label(cell, schema)
        if spec is None:
            continue
        amounts = [c for j, c in named if j > i and _figure(c)]
        if not amounts and likeness == 100.0:
            amounts = [_after_label(cell)] if _figure(_after_label(cell)) else []
        if not amounts:
            continue
        amount = amounts[-1]
        rate = _RATE.search(cell.text)
        if spec.total == "tax" and rate is not None:
            items.taxes.append((cell.slice(rate.start(), rate.end()), amount))
        items.sums.setdefault(spec.name, []).append(amount)
        return True
    return False


def _after_label(cell: Cell) -> Cell:
    """The last run of figures in a cell that holds a label and its sum."""
    found = list(re.finditer(r"[¥￥▲△\-−]?[\d０-９][\d０-９,，.]*", _RATE.sub("", cell.text)))
    return cell.slice(found[-1].start(), found[-1].end()) if found else Cell(page=cell.page)


def _sum_label(cell: Cell, schema: Schema) -> tuple[FieldSpec | None, float]:
    """The closing sum a cell names, if any, and how well the name was read."""
    text = label(_RATE.sub("", cell.text))
    if not text or len(text) > 12 or _figure(cell):
        return None, 0.0
    best: tuple[float, FieldSpec | None] = (0.0, None)
    for spec in schema.fields:
        if spec.total is None:
            continue
        likeness = max(fuzz.ratio(text, a) for a in aliases(spec))
        if likeness > best[0]:
            best = (likeness, spec)
    likeness, found = best
    return (found, likeness) if likeness >= MISREAD_SUM else (None, 0.0)


def _figure(cell: Cell) -> bool:
    """Whether a cell holds an amount; a tax rate is none."""
    text = _RATE.sub("", cell.text).replace(" ", "")
    digits = sum(c.isdigit() for c in text)
    return digits > 0 and digits * 2 >= len(text) - 2


def _row(row: Sequence[Cell], columns: dict[str, int], schema: Schema, page: int) -> Row | None:
    """The fields of an item line; None for a line that holds nothing of one."""
    cells: dict[str, Cell] = {name: row[i] for name, i in columns.items()}
    for spec in schema.rows:
        if spec.joined and spec.name not in cells and spec.joined in cells:
            cells[spec.joined], cells[spec.name] = split_joined(cells[spec.joined])
    values: dict[str, FieldValue] = {}
    units: list[Cell] = []
    for spec in schema.rows:
        cell = cells.get(spec.name)
        value, parsed = typed(spec, cell)
        if value.state is FieldState.BLANK:
            value = FieldValue(FieldState.BLANK, confidence=1.0, page=page)
        if spec.kind is Kind.NUMBER and parsed and parsed.rest and cell is not None:
            at = cell.text.rfind(parsed.rest)
            units.append(cell.slice(at, at + len(parsed.rest)) if at >= 0 else cell)
        values[spec.name] = value
    for spec in schema.rows:
        # `10個` in one cell: the unit is there, it only has no column of its own.
        if spec.kind is Kind.UNIT and units and values[spec.name].state is not FieldState.READ:
            values[spec.name] = typed(spec, units[0])[0]
    read = [n for n, v in values.items() if v.state is not FieldState.ABSENT and v.raw.strip()]
    if not set(read) - {"no"}:
        return None
    return values


def split_joined(cell: Cell) -> tuple[Cell, Cell]:
    """Cut a cell that holds an item and its specification.

    The item comes first, in Japanese; the specification starts at a line break, else at the first
    space, else where Japanese turns into Latin letters or figures.
    """
    text = cell.text
    at = text.find("\n")
    if at < 0:
        at = next((i for i, c in enumerate(text) if c in " 　" and text[:i].strip()), -1)
    if at < 0:
        at = next(
            (
                i
                for i in range(1, len(text))
                if _japanese(text[i - 1])
                and (text[i].isdigit() or text[i].isascii())
                and text[i].isalnum()
            ),
            -1,
        )
    if at < 0:
        return cell, Cell(page=cell.page)
    return cell.slice(0, at), cell.slice(at, len(text))


def _japanese(char: str) -> bool:
    return is_kanji(char) or is_katakana(char) or is_hiragana(char)
