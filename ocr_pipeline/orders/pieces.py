"""Lines without places → the pieces that stand side by side in them.

A box engine gives every piece of text its place. A vision-language model writes what stands at one
height as one line with a wide gap in it, and a wide gap stands inside names and sentences as well
(`資材部　伊藤`, `有限会社　山田`). So a line is cut only where the text itself says that something
else begins:

| cut | example |
|---|---|
| before a label, a title, a postal code, a page count | `有限会社ミドリ　御中｜納期：R8.3.24` |
| behind 御中, 様 and 殿 | `ミドリ　御中｜株式会社カナガワ` |
| before a company, when what stands before is whole | `担当：小林｜株式会社カナガワ` |
| behind the value of a label, when the rest is none of it | `発注番号 H416140｜至急` |
| before an address, when its company ends the line above | `納入先　弊社工場｜大阪府堺市…` |
| everywhere, in labels side by side above as many values | `小計｜消費税｜合計` |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ocr_pipeline.orders.items import taxed
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.labels import SHAPED, find_labels, value_beside, without_remark
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.parties import has_company_form, is_postal_code, names_addressee
from ocr_pipeline.orders.schema import Schema
from ocr_pipeline.orders.text import label, normal
from ocr_pipeline.orders.values import parse
from ocr_pipeline.tables.transcript import Cell, Table

_GAP = re.compile(r"[^\S\n]*(?:　|\t|  )[^\S\n]*")
_POSTAL = re.compile(r"〒\s*\d")
_PAGE_COUNT = re.compile(r"\(?(?:P\.?\s*)?\d{1,3}\s*/\s*\d{1,3}\s*(?:頁|ページ)?\)?", re.IGNORECASE)
_ADDRESS = re.compile(r"\D{1,3}[都道府県]\D{1,8}[市区町村郡]")


def side_by_side(
    lines: Sequence[Cell], schema: Schema
) -> tuple[list[tuple[Cell, ...]], tuple[Table, ...]]:
    """Part the lines of a page.

    Args:
        lines: text outside tables, top to bottom; a line with a quad is left whole, for then its
            pieces have been told apart by their places.
        schema: whose labels and titles they may hold.

    Returns:
        The pieces of each line, left to right; and the tables that two lines make, one of labels
        side by side above one of their values.
    """
    parted: list[tuple[Cell, ...]] = []
    tables: list[Table] = []
    i = 0
    while i < len(lines):
        table = _table(lines[i : i + 2], schema)
        if table is not None:
            tables.append(table)
            i += 2
            continue
        above = parted[-1] if parted else ()
        parted.append(_parted(lines[i], above, schema))
        i += 1
    return parted, tuple(tables)


def _table(pair: Sequence[Cell], schema: Schema) -> Table | None:
    """Two lines as a table, when the first holds labels and the second a value for each."""
    if any(line.quad is not None for line in pair):
        return None
    rows = [tuple(line.slice(*span) for span in _stretches(line.text)) for line in pair]
    if len({len(row) for row in rows}) != 1 or len(rows) < 2 or len(rows[0]) < 2:
        return None
    labels, values = rows
    if not all(_bare_label(c, schema) or taxed(c) for c in labels):
        return None
    return None if any(find_labels(c, schema.fields) for c in values) else Table(labels, (values,))


def _bare_label(cell: Cell, schema: Schema) -> bool:
    """Whether a text is a label and nothing else."""
    hits = find_labels(cell, schema.fields)
    return len(hits) == 1 and hits[0].start == 0 and _value(cell, schema).blank


def _stretches(text: str) -> list[tuple[int, int]]:
    """Where the stretches between the wide gaps of a text start and end."""
    edges = [0, *(edge for gap in _GAP.finditer(text) for edge in gap.span()), len(text)]
    return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if text[a:b].strip()]


def _parted(line: Cell, above: Sequence[Cell], schema: Schema) -> tuple[Cell, ...]:
    """The pieces of one line."""
    stretches = _stretches(line.text) if line.quad is None else []
    if len(stretches) < 2:
        return (line,)
    starts = [0]
    for start, end in stretches[1:]:
        left, right = line.slice(starts[-1], start), line.slice(start, end)
        if _begins(right, schema) or _is_apart(left, right, schema) or _signs(right, above):
            starts.append(start)
    return tuple(
        line.slice(*span) for span in zip(starts, [*starts[1:], len(line.text)], strict=True)
    )


def _begins(right: Cell, schema: Schema) -> bool:
    """Whether a text is the beginning of something, whatever stands before it."""
    text = normal(right.text)
    hits = find_labels(right, schema.fields)
    return (
        bool(_POSTAL.match(text) or _PAGE_COUNT.fullmatch(text))
        or _is_title(right, schema)
        or any(h.start == 0 and h.likeness == 100.0 for h in hits)
    )


def _is_apart(left: Cell, right: Cell, schema: Schema) -> bool:
    """Whether a text goes on to the left of a gap, or something else begins."""
    if names_addressee(left):
        return True
    hits = find_labels(left, schema.fields)
    spec = schema.field(hits[-1].field) if hits else None
    if has_company_form(right) and not (spec is not None and spec.role):
        digits = any(c.isdigit() for c in left.text)
        return bool(hits) or digits or has_company_form(left) or _is_title(left, schema)
    if spec is None or spec.kind not in SHAPED:
        return False
    value, more = _value(left, schema).text, normal(right.text)
    if parse(spec.kind, value).state is not FieldState.READ:
        return False
    if spec.kind is Kind.CODE:
        return any(c.isdigit() for c in value) and not more.isascii()
    # Two values in one place are a matter for a person, not for a cut.
    whole = parse(spec.kind, f"{value} {more}")
    return whole.state is not FieldState.READ and not more[:1].isdigit()


def _value(cell: Cell, schema: Schema) -> Cell:
    """What stands behind the last label of a text."""
    hit = find_labels(cell, schema.fields)[-1]
    value = value_beside(hit, None)
    return without_remark(hit, value) if schema.field(hit.field).kind in SHAPED else value


def _is_title(cell: Cell, schema: Schema) -> bool:
    return label(cell.text) in schema.own_titles


def _signs(right: Cell, above: Sequence[Cell]) -> bool:
    """Whether a text is the address of the company, or of the postal code, in the line above."""
    if not _ADDRESS.match(normal(right.text)) or not above:
        return False
    last = above[-1]
    company = len(above) > 1 and has_company_form(last) and not names_addressee(last)
    return company or is_postal_code(last)
