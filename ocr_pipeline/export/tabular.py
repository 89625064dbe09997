"""Records → three tables: orders, their lines, and what a person must check.

A `Table` is a value: typed cells and a reason per flagged cell; `delimited` and `workbook` write
it. Column names are the machine names of the schema, labels the Japanese ones; CSV files carry the
names, for programs, and the workbook the labels, for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import NamedTuple, Protocol

from ocr_pipeline.export.record import DocumentStatus, Record, order_values
from ocr_pipeline.orders.model import ABSENT, FieldValue, Flag, Order, Tax

CellValue = str | int | Decimal | date | None
"""Numbers and dates stay what they are until a file is written; None is an empty cell."""


class Spec(Protocol):
    """What a table must know of one field of a schema."""

    @property
    def name(self) -> str:
        """Machine name."""
        ...

    @property
    def label(self) -> str:
        """Japanese name."""
        ...

    @property
    def kind(self) -> str:
        """Kind of value: money, number, percent, date, code, phone, name, text or unit."""
        ...


class Form(Protocol):
    """What a table must know of a schema: its fields and row fields, in order."""

    @property
    def fields(self) -> Sequence[Spec]:
        """The header fields."""
        ...

    @property
    def rows(self) -> Sequence[Spec]:
        """The fields of an item line."""
        ...


class Column(NamedTuple):
    """One column: machine name, Japanese label, kind of value."""

    name: str
    label: str
    kind: str = "text"


@dataclass(frozen=True)
class Table:
    """A table ready to be written.

    Attributes:
        name: file name without extension.
        title: name of the sheet.
        columns: the columns, left to right; the first one is the source.
        rows: one tuple of cells per row, as long as `columns`.
        notes: (row, column), both 0-based → why a person must look at this cell.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    notes: Mapping[tuple[int, int], str] = field(default_factory=dict)


SOURCE = Column("source", "ファイル")
ORDER = Column("order", "注文", "number")
TAXES = Column("taxes", "税内訳")
CORRECTION = Column("correction", "訂正値")
_TAX_LABELS = {"rate": "税率", "base": "税対象額", "amount": "税額"}
_WHOLE = {
    DocumentStatus.BLANK: ("白紙です", "the document is blank"),
    DocumentStatus.NOT_AN_ORDER: ("注文書が見つかりません", "no purchase order was found"),
    DocumentStatus.INCOMPLETE: (
        "読み取りが途中で終わっています。抜けている内容がないか確認してください",
        "the reading is incomplete: something may be missing",
    ),
    DocumentStatus.DAMAGED: (
        "画像の損傷がひどく、読み取れないページがあります",
        "a page is too damaged to be read",
    ),
    DocumentStatus.FAILED: ("読み取りに失敗しました", "reading failed"),
}

PAGE_FLAGS = {
    "direction_unsure": "ページの上下を判断できないため、向きを変えずに読み取りました",
    "resolution_guessed": "ファイルに解像度の情報がないため、推定した値で読み取りました",
    "line_errors": "受信時の通信エラーで、ページの一部の行が乱れています",
    "page_damaged": "ページの画像が壊れているか、読み取れる文字がありません",
}
"""Flag of a page → what the clerk is told; the English sentence of the flag has the details."""


def order_table(records: Iterable[Record], form: Form) -> Table:
    """One row an order, in the order of the records."""
    records = list(records)
    fields = _columns(form.fields, (o.fields for r in records for o in r.orders))
    lead = (
        SOURCE,
        ORDER,
        Column("pages", "ページ"),
        Column("status", "状態"),
        Column("review", "要確認", "number"),
    )
    columns = (*lead, *fields, TAXES)
    rows: list[tuple[CellValue, ...]] = []
    notes: dict[tuple[int, int], str] = {}
    for record, number, order in _orders(records):
        values = [order.fields.get(column.name, ABSENT) for column in fields]
        count = len(order.flags) + sum(bool(value.flags) for value in order_values(order))
        pages = ",".join(map(str, order.pages))
        taxes = " / ".join(map(_tax_text, order.taxes)) or None
        flags = (
            *((),) * (len(lead) - 1),
            order.flags,
            *(value.flags for value in values),
            tuple(
                f for tax in order.taxes for v in (tax.rate, tax.base, tax.amount) for f in v.flags
            ),
        )
        notes |= {(len(rows), i): _reasons(f) for i, f in enumerate(flags) if f}
        head = (record.source, number, pages, record.status, count)
        rows.append((*head, *(value.value for value in values), taxes))
    return Table("orders", "発注", columns, tuple(rows), notes)


def line_table(records: Iterable[Record], form: Form) -> Table:
    """One row an item line, with the number of its order and its source."""
    records = list(records)
    fields = _columns(form.rows, (row for r in records for o in r.orders for row in o.rows))
    lead = (SOURCE, ORDER, _order_no(form), Column("row", "行", "number"))
    rows: list[tuple[CellValue, ...]] = []
    notes: dict[tuple[int, int], str] = {}
    for record, number, order in _orders(records):
        for i, row in enumerate(order.rows, 1):
            values = [row.get(column.name, ABSENT) for column in fields]
            for j, value in enumerate(values, len(lead)):
                if value.flags:
                    notes[len(rows), j] = _reasons(value.flags)
            head = (record.source, number, _order_number(order), i)
            rows.append((*head, *(value.value for value in values)))
    return Table("lines", "明細", (*lead, *fields), tuple(rows), notes)


def review_table(records: Iterable[Record], form: Form) -> Table:
    """One row per field, order, page or document that a person must look at."""
    columns = (
        SOURCE,
        Column("status", "文書の状態"),
        ORDER,
        _order_no(form),
        Column("page", "ページ", "number"),
        Column("row", "行", "number"),
        Column("label", "項目"),
        Column("field", "項目名"),
        Column("reason", "理由"),
        Column("reason_en", "理由（英語）"),
        Column("state", "読み取り状態"),
        Column("raw", "読み取った文字"),
        Column("value", "値"),
        Column("candidates", "候補"),
        CORRECTION,
    )
    rows = tuple(row for record in records for row in _review_rows(record, form))
    return Table("review", "要確認", columns, rows)


def tables(records: Iterable[Record], form: Form) -> tuple[Table, Table, Table]:
    """The three tables of these records: 発注, 明細, 要確認."""
    records = list(records)
    return order_table(records, form), line_table(records, form), review_table(records, form)


def plain_text(value: CellValue) -> str:
    """A value as plain text: numbers digit for digit without exponent, dates in ISO form."""
    match value:
        case None:
            return ""
        case Decimal():
            return format(value, "f")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _columns(specs: Sequence[Spec], values: Iterable[Mapping[str, FieldValue]]) -> list[Column]:
    """The columns of a schema, and after them what a record of another schema has besides."""
    columns = {spec.name: Column(spec.name, spec.label, spec.kind) for spec in specs}
    for names in values:
        for name in names:
            columns.setdefault(name, Column(name, name))
    return list(columns.values())


def _orders(records: Iterable[Record]) -> Iterator[tuple[Record, int, Order]]:
    for record in records:
        for number, order in enumerate(record.orders, 1):
            yield record, number, order


def _order_no(form: Form) -> Column:
    label = next((spec.label for spec in form.fields if spec.name == "order_no"), "発注番号")
    return Column("order_no", label, "code")


def _order_number(order: Order) -> CellValue:
    return order.fields.get("order_no", ABSENT).value


def _reasons(flags: Iterable[Flag]) -> str:
    return "；".join(dict.fromkeys(flag.ja for flag in flags))


def _tax_text(tax: Tax) -> str:
    rate, base, amount = (
        plain_text(part.value) or "？" for part in (tax.rate, tax.base, tax.amount)
    )
    return f"{rate}% 対象 {base} 税 {amount}"


def _review_rows(record: Record, form: Form) -> Iterator[tuple[CellValue, ...]]:
    head = (record.source, record.status)

    def whole(
        label: str,
        ja: str,
        en: str,
        order: tuple[CellValue, ...] = (None, None),
        page: int | None = None,
    ) -> tuple[CellValue, ...]:
        return (*head, *order, page, None, label, None, ja, en, *[None] * 5)

    if record.status in _WHOLE:
        ja, en = _WHOLE[record.status]
        because = f": {record.error}" if record.error else ""
        yield whole("文書全体", ja + because, en + because)
    for page in record.pages:
        for flag in page.flags:
            ja = PAGE_FLAGS.get(flag.code, flag.message)
            yield whole("ページ全体", ja, flag.message, page=page.number)
    labels = {spec.name: spec.label for spec in form.fields}
    row_labels = {spec.name: spec.label for spec in form.rows}
    for _, number, order in _orders([record]):
        which = (number, _order_number(order))
        for reason in order.flags:
            yield whole("注文全体", reason.ja, reason.en, which)
        for row, name, label, value in _named_values(order, labels, row_labels):
            if value.flags:
                candidates = (f"{plain_text(c.value)} ({c.votes})" for c in value.candidates)
                yield (
                    *head,
                    *which,
                    value.page,
                    row,
                    label,
                    name,
                    _reasons(value.flags),
                    "; ".join(dict.fromkeys(flag.en for flag in value.flags)),
                    value.state,
                    value.raw or None,
                    value.value,
                    " / ".join(candidates) or None,
                    None,
                )


def _named_values(
    order: Order, labels: Mapping[str, str], row_labels: Mapping[str, str]
) -> Iterator[tuple[int | None, str, str, FieldValue]]:
    """Every value of an order with its row number, machine name and label."""
    for name, value in order.fields.items():
        yield None, name, labels.get(name, name), value
    for name, echoes in order.echoes.items():
        for value in echoes:
            yield None, name, f"{labels.get(name, name)}（別の箇所）", value
    for number, row in enumerate(order.rows, 1):
        for name, value in row.items():
            yield number, name, row_labels.get(name, name), value
    for number, tax in enumerate(order.taxes, 1):
        for name, label in _TAX_LABELS.items():
            yield number, f"taxes.{name}", label, getattr(tax, name)
