"""A record for people: what must be looked at first, then everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ocr_pipeline.export.record import Record, flag_count
from ocr_pipeline.export.tabular import PAGE_FLAGS, CellValue, Form, plain_text
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Flag, Order
from ocr_pipeline.tables.markdown import parse
from ocr_pipeline.tables.transcript import Transcript
from ocr_pipeline.web.texts import Both


@dataclass(frozen=True, slots=True)
class Item:
    """A value with its place in the order.

    Attributes:
        name: machine name.
        label: what the value is, in Japanese and English.
        value: the value.
        row: 1-based item line; None outside the table.
        id: of the element that shows it.
    """

    name: str
    label: Both
    value: FieldValue
    row: int | None = None
    id: str = ""

    @property
    def raw_differs(self) -> bool:
        """Whether what was read says more than the value."""
        return bool(self.value.raw) and self.value.raw != shown(self.value.value)


class Column(NamedTuple):
    """A column of the item lines; numbers stand to the right."""

    label: Both
    number: bool


@dataclass(frozen=True, slots=True)
class OrderView:
    """An order as it is shown.

    Attributes:
        number: 1-based in the document.
        fields: the header fields that the form has a place for, and all that are doubted.
        columns: row fields that some row has.
        rows: one tuple of items a row, in the order of `columns`.
        taxes: the same per tax rate.
        doubts: everything with a flag.
        flags: reasons that concern the order as a whole.
    """

    number: int
    fields: Sequence[Item]
    columns: Sequence[Column]
    rows: Sequence[Sequence[Item]]
    taxes: Sequence[Sequence[Item]]
    doubts: Sequence[Item]
    flags: Sequence[Flag]


@dataclass(frozen=True, slots=True)
class Report:
    """A document as it is shown.

    Attributes:
        record: the record.
        flags: how many things must be looked at.
        pages: reasons that concern whole pages: number, Japanese, English.
        orders: the orders.
        transcript: lines and tables of the transcription.
    """

    record: Record
    flags: int
    pages: Sequence[tuple[int, Both]]
    orders: Sequence[OrderView]
    transcript: Transcript


TAX_LABELS: Mapping[str, Both] = {
    "rate": Both("税率", "tax rate"),
    "base": Both("税対象額", "taxed amount"),
    "amount": Both("税額", "tax"),
}


def report(record: Record, form: Form) -> Report:
    """Arrange a record for showing."""
    return Report(
        record,
        flag_count(record),
        tuple(
            (page.number, Both(PAGE_FLAGS.get(flag.code, flag.message), flag.message))
            for page in record.pages
            for flag in page.flags
        ),
        tuple(_order(order, number, form) for number, order in enumerate(record.orders, 1)),
        parse(record.markdown),
    )


def shown(value: CellValue) -> str:
    """A value for the eye: thousands are set apart, every digit is kept."""
    return format(value, ",f") if isinstance(value, Decimal) else plain_text(value)


def _order(order: Order, number: int, form: Form) -> OrderView:
    labels = {spec.name: spec.label for spec in form.fields}
    row_labels = {spec.name: spec.label for spec in form.rows}

    def item(name: str, value: FieldValue, label: Both, row: int | None = None) -> Item:
        place = f"r{row}-" if row else ""
        return Item(name, label, value, row, f"o{number}-{place}{name}")

    fields = [item(n, v, _label(n, labels)) for n, v in order.fields.items()]
    echoes = [
        item(f"{name}-{i}", value, _elsewhere(_label(name, labels)))
        for name, values in order.echoes.items()
        for i, value in enumerate(values, 1)
    ]
    used = [
        name
        for name in dict.fromkeys(n for row in order.rows for n in row)
        if any(_there(row[name]) for row in order.rows if name in row)
    ]
    rows = [
        [item(n, row.get(n, ABSENT), _label(n, row_labels), i) for n in used]
        for i, row in enumerate(order.rows, 1)
    ]
    taxes = [
        [item(f"tax{i}-{n}", getattr(tax, n), label) for n, label in TAX_LABELS.items()]
        for i, tax in enumerate(order.taxes, 1)
    ]
    everything = [*fields, *echoes, *_flat(rows), *_flat(taxes)]
    return OrderView(
        number,
        [f for f in fields if _there(f.value)],
        [
            Column(
                _label(name, row_labels),
                any(isinstance(r[name].value, Decimal) for r in order.rows if name in r),
            )
            for name in used
        ],
        rows,
        taxes,
        [i for i in everything if i.value.flags],
        order.flags,
    )


def _there(value: FieldValue) -> bool:
    return value.state is not FieldState.ABSENT or bool(value.flags)


def _flat(groups: Sequence[Sequence[Item]]) -> Iterator[Item]:
    for group in groups:
        yield from group


def _label(name: str, labels: Mapping[str, str]) -> Both:
    return Both(labels.get(name, name), name.replace("_", " "))


def _elsewhere(label: Both) -> Both:
    return Both(f"{label.ja}（別の箇所）", f"{label.en} (printed elsewhere)")
