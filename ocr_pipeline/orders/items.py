"""The item table: rows, closing sums, taxes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

from rapidfuzz import fuzz

from ocr_pipeline.orders.columns import map_columns
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.labels import aliases, find_labels
from ocr_pipeline.orders.model import FieldState, FieldValue, Flag, Repair, Row
from ocr_pipeline.orders.schema import FieldSpec, Schema
from ocr_pipeline.orders.text import label
from ocr_pipeline.orders.typed import typed
from ocr_pipeline.tables.transcript import Cell, Table, joined

FEWEST_COLUMNS = 2
"""A table with fewer known columns is no item table."""
MISREAD_SUM = 40.0
"""rapidfuzz ratio from which the label of a closing sum counts."""
SURE_SUM = 74.0
"""From here on a cell is taken for such a label wherever it stands."""
UNREAD_SUM = 20.0
"""What a closing sum weighs whose label cannot be read."""
MOST_SUMS = 6
"""More closing rows than this are none."""
_SUM_ORDER = ("subtotal", "tax", "total")
_DITTO = frozenset(("〃", "々", "同上", "″", "仝", "〟"))
_DITTO_LIKE = frozenset(("11", "II", "ll", '"', "”", "“", "''", "リ"))
DITTO_GUESSED = Flag(
    "ditto_guess",
    "「〃」と判断しました (上の行と同じ)",
    "taken for a ditto mark: as in the line above",
)
_WORDS_FIRST = re.compile(r"[ぁ-ヺ一-鿿]{2}")
_JOINT = re.compile(r"(?<=\S)\s+|(?<=[ぁ-ヺー一-鿿])[.:・,]?(?=[0-9A-Za-zφΦ])")
_NUMBER_AND_UNIT = re.compile(r"\s*([\d,.]+)\s*(\D+)$")
_RATE = re.compile(r"(\d{1,2})\s*[%％]")


@dataclass
class Items:
    """What an item table holds, before it becomes part of an order.

    Attributes:
        rows: item lines.
        sums: closing sums by field name: the cell of the amount, first printed first.
        taxes: (rate cell, amount cell) of tax lines that name a rate.
        notes: labelled text in a row of its own (備考：…), which is no item.
    """

    rows: list[Row] = field(default_factory=list)
    sums: dict[str, list[Cell]] = field(default_factory=dict)
    taxes: list[tuple[Cell, Cell]] = field(default_factory=list)
    notes: list[Cell] = field(default_factory=list)


def is_item_table(table: Table, schema: Schema) -> bool:
    """Whether enough column titles of a table are those of an item table."""
    return len(map_columns(table, schema.rows)) >= FEWEST_COLUMNS


def read_items(table: Table, schema: Schema) -> Items:
    """Read the rows of an item table."""
    columns = map_columns(table, schema.rows)
    items = Items()
    page = next((c.page for c in table.header), 1)
    closings: list[tuple[Cell, Cell]] = []
    above: list[Cell] = []
    for row in table.rows:
        filled = [c for c in row if not c.blank]
        if not filled or any(label(c.text) in schema.closing_words for c in filled):
            continue
        beside = _sums_below(above, filled)
        above = filled if _labels_of_sums(filled, schema) else []
        if beside:
            closings = _part_taxes(beside, items)
            continue
        if above:
            continue  # the sums stand in the next row
        note = _note(filled, schema)
        if note is not None:
            items.notes.append(note)
            continue
        # A closing sum stands behind the items; before the last of them it is a page's subtotal.
        pair = _closing(row, columns, schema) if items.rows else None
        if pair is not None and len(closings) < MOST_SUMS:
            closings.append(pair)
            continue
        values = _row(row, columns, schema, page)
        if values is not None:
            items.rows.append(values)
    items.rows = with_below((), items.rows, schema)
    _add_sums(items, closings, schema)
    return items


def with_below(rows: Sequence[Row], below: Iterable[Row], schema: Schema) -> list[Row]:
    """Rows and those below them, of this table or the next: 〃 says what stands above it."""
    names = frozenset(s.name for s in schema.rows if s.kind is Kind.NAME)
    whole = list(rows)
    for row in below:
        whole.append(_resolved(row, whole[-1], names) if whole else row)
    return whole


def is_table_of_sums(table: Table, schema: Schema) -> bool:
    """Whether a table begins with the labels of closing sums side by side, and holds no items."""
    return _labels_of_sums(next(_filled(table), ()), schema)


def read_sums(table: Table, schema: Schema) -> Items:
    """Read a table of closing sums, their labels side by side above their amounts."""
    items = Items()
    for above, row in pairwise(_filled(table)):
        if _labels_of_sums(above, schema):
            _add_sums(items, _part_taxes(_sums_below(above, row), items), schema)
    return items


def _filled(table: Table) -> Iterator[list[Cell]]:
    """The lines of a table, its header among them, without what is blank."""
    lines = ([c for c in row if not c.blank] for row in (table.header, *table.rows))
    return (line for line in lines if line)


def _part_taxes(pairs: Sequence[tuple[Cell, Cell]], items: Items) -> list[tuple[Cell, Cell]]:
    """The sums without the taxes by rate, which go to where they belong."""
    items.taxes += [(rate, amount) for text, amount in pairs if (rate := taxed(text))]
    return [(text, amount) for text, amount in pairs if not taxed(text)]


def _add_sums(items: Items, closings: Sequence[tuple[Cell, Cell]], schema: Schema) -> None:
    """Name the closing sums, and note the rate that stands in the label of a tax."""
    for (text, amount), spec in zip(closings, _name_sums(closings, schema), strict=True):
        if spec is None:
            continue
        rate = _RATE.search(text.text)
        if spec.total == "tax" and rate is not None:
            items.taxes.append((text.slice(rate.start(), rate.end()), amount))
        items.sums.setdefault(spec.name, []).append(amount)


def _closing(
    row: Sequence[Cell], columns: dict[str, int], schema: Schema
) -> tuple[Cell, Cell] | None:
    """The label and the amount of a row that can only be a closing sum; None for other rows.

    Such a row has one amount and at most one text: nothing is ordered in it. In the column of the
    articles that text must look like the label of a sum: a discount stands there too.
    """
    filled = [(i, c) for i, c in enumerate(row) if not c.blank]
    figures = [(i, c) for i, c in filled if _figure(c)]
    texts = [(i, c) for i, c in filled if not _figure(c)]
    if len(figures) > 1 or len(texts) > 1:
        return None
    if texts and texts[0][0] == columns.get("item"):
        sums = [s for s in schema.fields if s.total]
        if all(_sum_likeness(texts[0][1], s) <= UNREAD_SUM for s in sums):
            return None
    if not figures:
        amount = _after_label(texts[0][1]) if texts else Cell()
        return (texts[0][1], amount) if _figure(amount) else None
    at, amount = figures[0]
    if at in (columns.get("quantity"), columns.get("no")):
        return None
    return (texts[0][1] if texts else Cell(page=amount.page)), amount


def _after_label(cell: Cell) -> Cell:
    """The last run of figures in a cell that holds a label and its sum."""
    text = _RATE.sub(lambda m: " " * len(m.group(0)), cell.text)
    found = list(re.finditer(r"[¥￥▲△\-−]?[\d０-９][\d０-９,，.]*", text))
    return cell.slice(found[-1].start(), found[-1].end()) if found else Cell(page=cell.page)


def _note(row: Sequence[Cell], schema: Schema) -> Cell | None:
    """A row that is one labelled text, wherever the columns have cut it."""
    if any(_figure(c) for c in row):
        return None
    whole = joined(row)
    texts = [s for s in schema.fields if s.kind is Kind.TEXT]
    found = find_labels(whole, texts)
    return whole if found and found[0].start == 0 and len(whole.text) > found[0].end else None


def _names_sum(cell: Cell, schema: Schema) -> bool:
    """Whether a cell holds the well read label of a closing sum, and no amount."""
    text = label(_RATE.sub("", cell.text))
    return not _figure(cell) and any(
        fuzz.ratio(text, a) >= SURE_SUM for s in schema.fields if s.total for a in aliases(s)
    )


def _labels_of_sums(row: Sequence[Cell], schema: Schema) -> bool:
    """Whether a row names sums that are printed side by side, with their amounts below."""
    named = sum(_names_sum(c, schema) for c in row)
    return named > 1 and all(_names_sum(c, schema) or taxed(c) for c in row)


def taxed(cell: Cell) -> Cell | None:
    """The rate in a label like `10%対象 57,440`, which is that of the tax below it."""
    found = _RATE.search(cell.text)
    return cell.slice(*found.span()) if found and "対象" in cell.text else None


def _sums_below(labels: Sequence[Cell], row: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Pair labels printed side by side with the amounts below them."""
    if not labels or len(labels) != len(row) or not all(_figure(c) for c in row):
        return []
    return list(zip(labels, row, strict=True))


def _name_sums(closing: Sequence[tuple[Cell, Cell]], schema: Schema) -> list[FieldSpec | None]:
    """Which sum each closing row is.

    Forms print subtotal, tax and total in this order. Of all assignments that keep it, the one
    whose labels look most alike is taken; a label that cannot be read weighs little.
    """
    sums = sorted(
        (s for s in schema.fields if s.total), key=lambda s: _SUM_ORDER.index(s.total or "")
    )
    if not sums or not closing:
        return [None] * len(closing)
    likeness = [[_sum_likeness(text, spec) for spec in sums] for text, _ in closing]
    best: tuple[float, tuple[int | None, ...]] = (-1.0, ())
    for choice in product([None, *range(len(sums))], repeat=len(closing)):
        named = [c for c in choice if c is not None]
        if any(a > b for a, b in pairwise(named)):
            continue
        score = sum(likeness[i][c] for i, c in enumerate(choice) if c is not None)
        # The same sum twice (two rates of tax) is possible, but it takes a label that says so.
        score -= sum(40.0 for a, b in pairwise(named) if a == b)
        if score > best[0]:
            best = (score, choice)
    return [None if c is None else sums[c] for c in best[1]]


def _sum_likeness(cell: Cell, spec: FieldSpec) -> float:
    text = label(_RATE.sub("", cell.text))
    likeness = max((fuzz.ratio(text, a) for a in aliases(spec)), default=0.0)
    return likeness if likeness >= MISREAD_SUM else UNREAD_SUM


def _figure(cell: Cell) -> bool:
    """Whether a cell holds an amount; a tax rate is none."""
    text = _RATE.sub("", cell.text).replace(" ", "")
    if _WORDS_FIRST.match(text):
        return False
    digits = sum(c.isdigit() for c in text)
    return digits > 0 and digits * 2 >= len(text) - 2


def _row(row: Sequence[Cell], columns: dict[str, int], schema: Schema, page: int) -> Row | None:
    """The fields of an item line; None for a line that holds nothing of one."""
    cells: dict[str, Cell] = {name: row[i] for name, i in columns.items()}
    for spec in schema.rows:
        if spec.joined and spec.name not in cells and spec.joined in cells:
            cells[spec.joined], cells[spec.name] = split_joined(cells[spec.joined])
    _part_units(cells, schema)
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
    _count_lots(values, schema)
    for spec in schema.rows:
        # `10個` in one cell: the unit is there, it only has no column of its own.
        if spec.kind is Kind.UNIT and units and values[spec.name].state is not FieldState.READ:
            values[spec.name] = typed(spec, units[0])[0]
    read = [n for n, v in values.items() if v.state is not FieldState.ABSENT and v.raw.strip()]
    if not set(read) - {"no"}:
        return None
    return values


def _resolved(row: Row, above: Row, names: Container[str]) -> Row:
    """A row whose 〃 and 同上 say what the row above says; it is guessed only in `names`."""
    resolved = dict(row)
    for name, value in row.items():
        before = above[name]
        sign = value.raw.strip()
        certain = sign in _DITTO
        # Two upright strokes are read for the sign; as the name of an article they mean nothing.
        guessed = value.state is FieldState.READ and sign in _DITTO_LIKE and name in names
        if not certain and not guessed:
            continue
        if not isinstance(before.value, str) or not isinstance(value.value, str | None):
            continue
        change = Repair("ditto", value.raw, str(before.value))
        resolved[name] = replace(
            value,
            state=FieldState.READ,
            value=before.value,
            repairs=(*(r for r in value.repairs if r.code != "ditto"), change),
        )
        if not certain:
            resolved[name] = resolved[name].flagged(DITTO_GUESSED)
    return resolved


def _count_lots(values: dict[str, FieldValue], schema: Schema) -> None:
    """Read the 一 before 式 (a lump sum) as the numeral it is; elsewhere it may be a dash."""
    lump = any(s.kind is Kind.UNIT and values[s.name].value == "式" for s in schema.rows)
    for spec in schema.rows:
        value = values[spec.name]
        if lump and spec.kind is Kind.NUMBER and value.raw.strip() == "一":
            one = typed(spec, Cell("1", value.confidence, value.quad, page=value.page or 1))[0]
            change = Repair("numeral", value.raw, "1")
            values[spec.name] = replace(one, raw=value.raw, repairs=(change,))


def _part_units(cells: dict[str, Cell], schema: Schema) -> None:
    """Give a number that slipped into the column of its unit (`11枚`) back to its own."""
    numbers = [s.name for s in schema.rows if s.kind is Kind.NUMBER and s.name in cells]
    units = [s.name for s in schema.rows if s.kind is Kind.UNIT and s.name in cells]
    for number, unit in zip(numbers, units, strict=False):
        found = _NUMBER_AND_UNIT.match(cells[unit].text)
        if cells[number].blank and found:
            whole = cells[unit]
            cells[number] = whole.slice(*found.span(1))
            cells[unit] = whole.slice(*found.span(2))


def split_joined(cell: Cell) -> tuple[Cell, Cell]:
    """Cut a cell that holds an item and its specification.

    The item comes first, in Japanese; the specification starts at the first space or line break,
    or where Japanese turns into Latin letters or figures. A speck in the gap may have been read as
    a full stop.
    """
    text = cell.text
    found = _JOINT.search(text)
    if found is None:
        return cell, Cell(page=cell.page)
    return cell.slice(0, found.start()), cell.slice(found.end(), len(text))
