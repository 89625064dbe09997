"""Transcripts of a document → orders."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from rapidfuzz import fuzz

from ocr_pipeline.orders.items import (
    Items,
    is_item_table,
    is_table_of_sums,
    read_items,
    read_sums,
    with_below,
)
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.labels import (
    REACH,
    SHAPED,
    Hit,
    find_labels,
    lines_below,
    neighbour,
    value_beside,
    without_remark,
)
from ocr_pipeline.orders.model import (
    ABSENT,
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Repair,
    Row,
    Tax,
    Value,
)
from ocr_pipeline.orders.parties import addressee, crowded, sender
from ocr_pipeline.orders.pieces import side_by_side
from ocr_pipeline.orders.schema import FieldSpec, Schema
from ocr_pipeline.orders.text import label, normal, plain
from ocr_pipeline.orders.transmission import Transmission, split_transmission
from ocr_pipeline.orders.typed import typed
from ocr_pipeline.orders.values import parse
from ocr_pipeline.tables.transcript import Cell, Table, Transcript, joined

_TAX_BY_RATE = re.compile(r"\(?(\d{1,2}\s*[%％])\)?\s*対象\D*[\d０-９,，]+円?\s+(\S*[\d０-９]円?)$")
_FIGURES = re.compile(r"[\s:¥]*[\d,.]+\s*円?$")
TITLE_LIKENESS = 70.0
"""rapidfuzz ratio from which a heading counts as the form's title."""

SAME_NAME = 60.0
"""rapidfuzz ratio below which two addressees are not the same, however badly they were read."""
SURE_TITLE = 90.0
"""The title of another form must be read better than that, before a page is passed over."""

UNLABELLED = Flag(
    "label_unread",
    "見出しが読めないため、位置から推定した値です",
    "the label could not be read; the value was taken for its place on the sheet",
)
SEVERAL_ORDERS = Flag(
    "several_orders",
    "複数の注文が一つにまとまっている可能性があります",
    "there may be several orders in what was taken for one",
)
CROWDED = Flag(
    "crowded",
    "隣の文字と重なっており、途中で切れている可能性があります",
    "other print touches it, so part of it may be missing",
)


@dataclass
class _Draft:
    """One page's share of an order, before anything is typed."""

    pages: list[int]
    titled: bool
    cells: dict[str, list[Cell]] = field(default_factory=dict)
    flags: dict[str, Flag] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)
    whole: list[Flag] = field(default_factory=list)
    items: Items = field(default_factory=Items)
    tables: int = 0

    @property
    def is_order(self) -> bool:
        """A page is (part of) an order with an item table, or a title and some fields."""
        return bool(self.tables) or (self.titled and len(self.cells) >= 2)


def extract(
    transcripts: Sequence[Transcript], schema: Schema
) -> tuple[tuple[Order, ...], tuple[Transmission, ...]]:
    """Find the orders in the pages of one document.

    Pages belong to the order before them unless they carry an order number of their own that is
    another one.

    Returns:
        The orders in page order (none when the pages hold no such form), and the fax header lines.
    """
    drafts: list[_Draft] = []
    transmissions = []
    for transcript in transcripts:
        transmission, lines = split_transmission(
            transcript.lines, transcript.page, lambda c: bool(find_labels(c, schema.fields))
        )
        if transmission is not None:
            transmissions.append(transmission)
        draft = _draft(replace(transcript, lines=lines), schema)
        if drafts and _continues(drafts[-1], draft, schema):
            if draft.titled and _other_party(drafts[-1], draft, schema):
                drafts[-1].whole.append(SEVERAL_ORDERS)
            _append(drafts[-1], draft, schema)
        elif draft.is_order:
            drafts.append(draft)
    return tuple(_order(d, schema) for d in drafts), tuple(transmissions)


def _continues(before: _Draft, page: _Draft, schema: Schema) -> bool:
    """Whether a page goes on with the order before it."""

    def numbers(draft: _Draft) -> set[Value]:
        return {n for spec in _numbering(schema) for n in _numbers(draft, spec)}

    mine, theirs = numbers(page), numbers(before)
    if mine and theirs:
        return bool(mine & theirs)
    return not (page.titled and mine)


def _numbering(schema: Schema) -> Iterable[FieldSpec]:
    """The fields that tell one order from another."""
    return (s for s in schema.fields if s.kind is Kind.CODE and s.required)


def _numbers(draft: _Draft, spec: FieldSpec) -> set[Value]:
    """The different readable values that a draft has for a code."""
    return {parse(spec.kind, c.text).value for c in draft.cells.get(spec.name, ())} - {None}


def _other_party(before: _Draft, page: _Draft, schema: Schema) -> bool:
    """Whether a titled page is addressed to somebody else than the order it was added to."""
    for name in (s.name for s in schema.fields if s.role == "addressee"):
        first, second = before.cells.get(name), page.cells.get(name)
        if first and second and fuzz.ratio(label(first[0].text), label(second[0].text)) < SAME_NAME:
            return True
    return False


def _append(order: _Draft, page: _Draft, schema: Schema) -> None:
    order.pages += page.pages
    order.tables += page.tables
    order.items.rows = with_below(order.items.rows, page.items.rows, schema)
    order.items.taxes += page.items.taxes
    for name, cells in page.cells.items():
        order.cells.setdefault(name, []).extend(cells)
    for name, cells in page.items.sums.items():
        # The sum that counts is the last one printed: the ones before are page subtotals.
        order.items.sums[name] = cells


def _draft(page: Transcript, schema: Schema) -> _Draft:
    """Everything one page says, as cells by field name."""
    lines, headed = side_by_side(page.lines, schema)
    tables = [*page.tables, *headed]
    closing = [t for t in tables if is_table_of_sums(t, schema)]
    item_tables = [t for t in tables if t not in closing and is_item_table(t, schema)]
    others = [t for t in tables if t not in (*closing, *item_tables)]
    pieces = [p for line in lines for p in line if not _carries(p, schema)] + _cells_of(others)
    if _titled(pieces, schema.other_titles, SURE_TITLE) and not _titled(pieces, schema.titles):
        return _Draft([page.page], titled=False)
    draft = _Draft([page.page], _titled(pieces, schema.titles), tables=len(item_tables))
    for read in (
        *(read_items(t, schema) for t in item_tables),
        *(read_sums(t, schema) for t in closing),
    ):
        pieces += read.notes
        draft.items.rows = with_below(draft.items.rows, read.rows, schema)
        draft.items.taxes += read.taxes
        for name, cells in read.sums.items():
            draft.items.sums.setdefault(name, []).extend(cells)
    draft.items.taxes += _taxes_by_rate(pieces)
    free = _read_labels(pieces, schema, draft, _next_in_lines(lines) | _next_in_tables(others))
    labels = {plain(a) for s in schema.fields for a in (s.label, *s.aliases)}
    for spec in schema.fields:
        if spec.role and spec.name not in draft.cells:
            addressed = addressee(free)
            found = (
                addressed if spec.role == "addressee" else sender(free, pieces, addressed, labels)
            )
            if found is not None:
                draft.cells[spec.name] = [found]
                if crowded(found, pieces):
                    draft.flags[spec.name] = CROWDED
    if _several_numbers(draft, schema):
        draft.whole.append(SEVERAL_ORDERS)
    _prefer_near_sender(draft, schema)
    _guess(free, schema, draft)
    return draft


def _several_numbers(draft: _Draft, schema: Schema) -> bool:
    """Whether one page carries two different order numbers, both under a well read label."""
    return any(
        spec.name not in draft.flags and len(_numbers(draft, spec)) > 1
        for spec in _numbering(schema)
    )


def _carries(piece: Cell, schema: Schema) -> bool:
    """Whether a text is no part of the order: 以下余白, the subtotal of a page (頁計 1,200)."""
    return label(_FIGURES.sub("", normal(piece.text))) in schema.closing_words


def _taxes_by_rate(pieces: Iterable[Cell]) -> list[tuple[Cell, Cell]]:
    """(rate, tax) of lines like `8%対象 43,540　3,483`."""
    found = ((p, _TAX_BY_RATE.match(p.text)) for p in pieces)
    return [(p.slice(*m.span(1)), p.slice(*m.span(2))) for p, m in found if m]


def _cells_of(tables: Iterable[Table]) -> list[Cell]:
    return [c for t in tables for row in (t.header, *t.rows) for c in row if not c.blank]


def _titled(
    pieces: Sequence[Cell], titles: Sequence[str], likeness: float = TITLE_LIKENESS
) -> bool:
    known = [label(t) for t in titles]
    return any(fuzz.ratio(label(p.text), t) >= likeness for p in pieces[:12] for t in known)


def _next_in_lines(lines: Iterable[Sequence[Cell]]) -> dict[int, tuple[Cell, ...]]:
    """For each piece (by identity) of a line that has several, the piece to the right of it."""
    return {
        id(piece): tuple(line[i + 1 : i + 2])
        for line in lines
        if len(line) > 1
        for i, piece in enumerate(line)
    }


def _next_in_tables(tables: Iterable[Table]) -> dict[int, tuple[Cell, ...]]:
    """For each cell (by identity) the cells to the right of it and below it."""
    found: dict[int, tuple[Cell, ...]] = {}
    for table in tables:
        grid = (table.header, *table.rows)
        for i, row in enumerate(grid):
            for j, cell in enumerate(row):
                right = row[j + 1 : j + 2]
                below = grid[i + 1][j : j + 1] if i + 1 < len(grid) else ()
                found[id(cell)] = (*right, *below)
    return found


def _read_labels(
    pieces: Sequence[Cell], schema: Schema, draft: _Draft, beside: Mapping[int, Sequence[Cell]]
) -> list[Cell]:
    """Collect every labelled value; returns the text that was neither label nor value."""
    used: list[Cell] = []
    before: dict[int, Cell] = {}
    hits = {id(p): find_labels(p, schema.fields) for p in pieces}

    def is_label(piece: Cell) -> bool:
        return bool(hits[id(piece)]) or label(piece.text) in schema.own_titles

    for piece in pieces:
        found = hits[id(piece)]
        for i, hit in enumerate(found):
            following = found[i + 1].start if i + 1 < len(found) else None
            value = value_beside(hit, following)
            spec = schema.field(hit.field)
            if spec.kind in SHAPED:
                value = without_remark(hit, value)
            taken: list[Cell] = []
            if value.blank:
                following_cells = beside.get(id(piece)) if piece.quad is None else None
                if following_cells is None:
                    # Between a label and its sum there may be half a page, but nothing else.
                    reach = math.inf if spec.kind is Kind.MONEY else REACH
                    near = neighbour(piece, pieces, is_label, reach)
                else:
                    near = next(
                        (c for c in following_cells if not c.blank and not hits.get(id(c))), None
                    )
                if near is None:
                    draft.blank.add(spec.name)
                    continue
                value, taken = near, [near]
            if not _plausible(spec, value, hit):
                continue
            if spec.many:
                more = lines_below(value, piece, pieces, is_label)
                taken = [*taken, *more]
                value = joined([value, *more], "\n")
            used += [piece, *taken]
            if i == 0 and hit.start > 0:
                before[id(piece)] = piece.slice(0, hit.start)
            cells = draft.cells.setdefault(spec.name, [])
            # A label that was read well goes before one that was only guessed.
            first = hit.likeness == 100.0 and _weak(cells, spec)
            cells.insert(0 if first else len(cells), value)
            if hit.likeness < 100.0 and len(cells) == 1:
                draft.flags[spec.name] = UNLABELLED
    gone = {id(u) for u in used}
    rest = [before.get(id(p), p) for p in pieces if id(p) not in gone or id(p) in before]
    return [p for p in rest if not p.blank]


def _weak(cells: Sequence[Cell], spec: FieldSpec) -> bool:
    return bool(cells) and parse(spec.kind, cells[0].text).state is not FieldState.READ


def _plausible(spec: FieldSpec, value: Cell, hit: Hit) -> bool:
    """Whether a value can belong to a label: figures where figures are expected."""
    if spec.kind in (Kind.MONEY, Kind.DATE, Kind.PHONE, Kind.NUMBER, Kind.CODE):
        digits = sum(c.isdigit() for c in value.text)
        return digits >= (1 if hit.likeness == 100.0 else 3)
    return hit.likeness == 100.0 or spec.many


def _prefer_near_sender(draft: _Draft, schema: Schema) -> None:
    """Of several telephone numbers the sender's own is the one printed nearest below its name."""
    names = [s.name for s in schema.fields if s.role == "sender"]
    anchor = next((draft.cells[n][0] for n in names if n in draft.cells), None)
    if anchor is None or anchor.quad is None:
        return
    x, y = anchor.quad[0]
    for spec in schema.fields:
        cells = draft.cells.get(spec.name, [])
        if spec.kind is Kind.PHONE and len(cells) > 1:
            cells.sort(
                key=lambda c: abs(c.quad[0][0] - x) + abs(c.quad[0][1] - y) if c.quad else 1e9
            )
            # The others belong to somebody else: they are no second printing of this field.
            del cells[1:]


def _guess(free: Sequence[Cell], schema: Schema, draft: _Draft) -> None:
    """Give dates and telephone numbers without a readable label to the fields that still miss one.

    They are given in the order of the form; when there are more of them than fields, none is.
    """
    for kind in (Kind.DATE, Kind.PHONE):
        missing = [s for s in schema.fields if s.kind is kind and s.name not in draft.cells]
        if not missing:
            continue
        loose = [c for p in free for c in _tail_of_kind(p, kind)]
        if len(loose) > len(missing):
            continue
        for spec, cell in zip(missing, loose, strict=False):
            draft.cells[spec.name] = [cell]
            draft.flags[spec.name] = UNLABELLED


def _tail_of_kind(piece: Cell, kind: Kind) -> list[Cell]:
    """The value at the end of a piece, if there is one of that kind."""
    for start in range(len(piece.text)):
        tail = piece.slice(start, len(piece.text))
        starts = tail.text[:1].isalnum() and (start == 0 or not piece.text[start - 1].isdigit())
        if starts and parse(kind, tail.text).state is FieldState.READ:
            digits = sum(c.isdigit() for c in tail.text)
            return [tail] if kind is not Kind.PHONE or digits in (10, 11) else []
    return []


def _order(draft: _Draft, schema: Schema) -> Order:
    """Type what was found, and complete it to the whole schema."""
    fields: dict[str, FieldValue] = {}
    echoes: dict[str, tuple[FieldValue, ...]] = {}
    for spec in schema.fields:
        sums = draft.items.sums.get(spec.name, [])
        if len(draft.items.taxes) < 2 or spec.total != "tax":
            sums = sums[-1:]
        cells = [*sums, *draft.cells.get(spec.name, [])]
        values = [typed(spec, c)[0] for c in cells]
        if spec.total == "tax" and len(draft.items.taxes) > 1:
            values = _sum_of_rates(values, len(draft.items.taxes))
        best = next((i for i, v in enumerate(values) if v.state is FieldState.READ), 0)
        first = values[best] if values else ABSENT
        if not values and spec.name in draft.blank:
            first = FieldValue(FieldState.BLANK, confidence=1.0, page=draft.pages[0])
        if spec.name in draft.flags and first.state is FieldState.READ:
            first = first.flagged(draft.flags[spec.name])
        fields[spec.name] = first
        others = tuple(v for i, v in enumerate(values) if i != best)
        if others and spec.kind is not Kind.TEXT:
            echoes[spec.name] = others
    rows: list[Row] = [dict(r) for r in draft.items.rows]
    return Order(
        fields=fields,
        rows=tuple(rows),
        taxes=tuple(_taxes(draft, schema)),
        echoes=echoes,
        flags=tuple(dict.fromkeys(draft.whole)),
        pages=tuple(draft.pages),
    )


def _sum_of_rates(values: list[FieldValue], rates: int) -> list[FieldValue]:
    """The tax of a sheet that prints it per rate and nowhere in one sum."""
    parts = values[:rates]
    amounts = [v.value for v in parts if isinstance(v.value, Decimal)]
    if len(values) != rates or len(amounts) != rates:
        return values[rates:] or values
    total = sum(amounts, Decimal(0))
    raw = " + ".join(v.raw for v in parts)
    return [
        replace(
            parts[-1],
            raw=raw,
            value=total,
            confidence=min(v.confidence for v in parts),
            candidates=(Candidate(total, 1),),
            repairs=(Repair("sum_of_rates", raw, str(total)),),
        )
    ]


def _taxes(draft: _Draft, schema: Schema) -> Iterable[Tax]:
    tax = next((s for s in schema.fields if s.total == "tax"), None)
    if tax is None:
        return
    rate_spec = FieldSpec(name="rate", label="税率", kind=Kind.PERCENT)
    for rate, amount in draft.items.taxes:
        yield Tax(typed(rate_spec, rate)[0], ABSENT, typed(tax, amount)[0])
