"""What ties the fields of an order together: sums, products, taxes, dates.

Each rule of a schema becomes findings: it passed, or it failed and these fields could be at fault.
A rule whose fields are not all there finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

from ocr_pipeline.orders.model import FieldState, FieldValue, Flag, Order
from ocr_pipeline.orders.schema import (
    Check,
    Closing,
    DateNear,
    DateOrder,
    FieldSpec,
    PrintedTwice,
    Product,
    Schema,
    Sum,
    TaxRule,
    Total,
)

Place = tuple[str, int | None]
"""A field name, and the row it stands in (None for a header field)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says.

    Attributes:
        passed: whether the fields agree.
        places: the fields it ties together (passed), or those that could be at fault (failed).
        flag: the reason, when failed.
    """

    passed: bool
    places: tuple[Place, ...]
    flag: Flag | None = None


class Sheet:
    """An order, looked up by place."""

    def __init__(self, order: Order, schema: Schema) -> None:
        self.order = order
        self.schema = schema
        self._specs = {(s.name, True): s for s in schema.rows} | {
            (s.name, False): s for s in schema.fields
        }

    def places(self) -> Iterable[tuple[Place, FieldValue]]:
        """Every field of the order, header first."""
        for name, value in self.order.fields.items():
            yield (name, None), value
        for i, row in enumerate(self.order.rows):
            for name, value in row.items():
                yield (name, i), value

    def spec(self, place: Place) -> FieldSpec:
        """What the schema says of a field."""
        return self._specs[place[0], place[1] is not None]

    def value(self, place: Place) -> FieldValue:
        """The field at a place."""
        name, row = place
        return self.order.fields[name] if row is None else self.order.rows[row][name]

    def number(self, place: Place) -> Decimal | None:
        """Its value, when that is a number."""
        value = self.value(place).value
        return value if isinstance(value, Decimal) else None

    def day(self, name: str) -> date | None:
        """The value of a header field, when that is a date."""
        value = self.order.fields[name].value
        return value if isinstance(value, date) else None

    def has_column(self, name: str) -> bool:
        """Whether the form has this column."""
        return any(r[name].state is not FieldState.ABSENT for r in self.order.rows)


def findings(sheet: Sheet, rule: Check, confirmed: set[Place]) -> Iterable[Finding]:
    """What a rule of the schema says of an order.

    Args:
        sheet: the order.
        rule: the rule.
        confirmed: the fields that an earlier rule has confirmed; they are not blamed.
    """
    match rule:
        case Product():
            return _product(sheet, rule)
        case Sum():
            return _sum(sheet, rule, confirmed)
        case TaxRule():
            return _tax(sheet, rule, confirmed)
        case Total():
            return _total(sheet, rule, confirmed)
        case Closing():
            return _closing(sheet, rule)
        case PrintedTwice():
            return _printed_twice(sheet, rule, confirmed)
        case DateOrder():
            return _date_order(sheet, rule)
        case DateNear():
            return _date_near(sheet, rule)


def _product(sheet: Sheet, rule: Product) -> Iterable[Finding]:
    for i in range(len(sheet.order.rows)):
        places = tuple((n, i) for n in (*rule.of, rule.equals))
        left, right, result = (sheet.number(p) for p in places)
        if left is None or right is None or result is None:
            continue
        # A fraction of a yen is dropped or rounded; either is right.
        if abs(left * right - result) < 1:
            yield Finding(True, places)
        else:
            yield Finding(
                False,
                places,
                Flag(
                    "line_amount",
                    f"数量×単価が金額と合いません: {left:,}×{right:,}={left * right:,}≠{result:,}",
                    f"quantity × price is not the amount: {left:,} × {right:,} = {left * right:,},"
                    f" not {result:,}",
                ),
            )


def _sum(sheet: Sheet, rule: Sum, confirmed: set[Place]) -> Iterable[Finding]:
    total_place: Place = (rule.equals, None)
    total = sheet.number(total_place)
    places: list[Place] = [(rule.of, i) for i in range(len(sheet.order.rows))]
    if total is None or not places:
        return
    values = [sheet.number(p) for p in places]
    unread = [
        p
        for p, v in zip(places, values, strict=True)
        if v is None and sheet.value(p).state is not FieldState.BLANK
    ]
    if unread:
        return
    found = sum((v for v in values if v is not None), Decimal(0))
    if found == total:
        # Nothing plus nothing is nothing on every sheet: that confirms no figure.
        if total:
            yield Finding(True, (*places, total_place))
        return
    doubtful_rows = [p for p in places if p not in confirmed]
    yield Finding(
        False,
        (*doubtful_rows, total_place),
        Flag(
            "sum",
            f"金額の合計が小計と合いません: {found:,} ≠ {total:,} (行の抜けも確認)",
            f"the amounts add up to {found:,}, not {total:,} (a line may be missing)",
        ),
    )


def _tax(sheet: Sheet, rule: TaxRule, confirmed: set[Place]) -> Iterable[Finding]:
    base_place, tax_place = (rule.base, None), (rule.equals, None)
    base, tax = sheet.number(base_place), sheet.number(tax_place)
    if base is None or tax is None or base == tax == 0:
        return
    if any(tax in _rounded(base * rate / 100) for rate in rule.rates):
        yield Finding(True, (base_place, tax_place))
        return
    # With two rates on one sheet the tax lies between the two extremes.
    mixed = len(sheet.order.taxes) > 1 or sheet.has_column("tax_rate")
    low, high = min(rule.rates) * base / 100 - 1, max(rule.rates) * base / 100 + 1
    if mixed and low <= tax <= high:
        return
    yield Finding(
        False,
        tuple(p for p in (base_place, tax_place) if p == tax_place or p not in confirmed),
        Flag(
            "tax",
            f"消費税が税率と合いません: {base:,} に対し {tax:,}",
            f"the tax fits no rate: {tax:,} on {base:,}",
        ),
    )


def _rounded(amount: Decimal) -> set[Decimal]:
    return {amount.to_integral_value(m) for m in (ROUND_FLOOR, ROUND_HALF_UP, ROUND_CEILING)}


def _total(sheet: Sheet, rule: Total, confirmed: set[Place]) -> Iterable[Finding]:
    parts: list[Place] = [(n, None) for n in rule.of]
    whole: Place = (rule.equals, None)
    values = [sheet.number(p) for p in parts]
    total = sheet.number(whole)
    if total is None or any(v is None for v in values):
        return
    found = sum((v for v in values if v is not None), Decimal(0))
    if found == total:
        if total:
            yield Finding(True, (*parts, whole))
        return
    yield Finding(
        False,
        (*(p for p in parts if p not in confirmed), whole),
        Flag(
            "total",
            f"小計+消費税が合計と合いません: {found:,} ≠ {total:,}",
            f"the parts add up to {found:,}, not {total:,}",
        ),
    )


def _closing(sheet: Sheet, rule: Closing) -> Iterable[Finding]:
    """The total against the lines themselves, on forms that print nothing in between."""
    total = sheet.number((rule.equals, None))
    places: list[Place] = [(rule.of, i) for i in range(len(sheet.order.rows))]
    values = [sheet.number(p) for p in places]
    between = sheet.number((rule.subtotal, None))
    if total is None or between is not None or not places or any(v is None for v in values):
        return
    found = sum((v for v in values if v is not None), Decimal(0))
    tax = sheet.number((rule.tax, None))
    taxes = {Decimal(0)} if tax is None else {tax}
    if tax is None:
        taxes |= {t for rate in rule.rates for t in _rounded(found * rate / 100)}
    if any(found + t == total for t in taxes):
        yield Finding(True, (*places, (rule.equals, None)))
        return
    yield Finding(
        False,
        ((rule.equals, None),),
        Flag(
            "closing",
            f"明細の合計({found:,})と税から合計が出ません: {total:,} (行の抜けも確認)",
            f"the lines add up to {found:,}; no tax on it gives {total:,} (a line may be missing)",
        ),
    )


def _printed_twice(sheet: Sheet, rule: PrintedTwice, confirmed: set[Place]) -> Iterable[Finding]:
    place: Place = (rule.of, None)
    value = sheet.value(place).value
    for echo in sheet.order.echoes.get(rule.of, ()):
        if value is None or echo.value is None:
            continue
        if echo.value == value:
            yield Finding(True, (place,))
        elif place not in confirmed:
            yield Finding(
                False,
                (place,),
                Flag(
                    "printed_twice",
                    f"2か所に印字された値が異なります: {value} / {echo.value}",
                    f"printed in two places with different values: {value} / {echo.value}",
                ),
            )


def _date_order(sheet: Sheet, rule: DateOrder) -> Iterable[Finding]:
    first, second = (sheet.day(n) for n in rule.of)
    if first is not None and second is not None and second < first:
        yield Finding(
            False,
            tuple((n, None) for n in rule.of),
            Flag(
                "date_order",
                f"日付の前後が逆です: {first} → {second}",
                f"the dates run backwards: {first}, then {second}",
            ),
        )


def _date_near(sheet: Sheet, rule: DateNear) -> Iterable[Finding]:
    first, second = (sheet.day(n) for n in rule.of)
    if first is not None and second is not None and abs((second - first).days) > rule.days:
        yield Finding(
            False,
            tuple((n, None) for n in rule.of),
            Flag(
                "date_near",
                f"日付が{rule.days}日より離れています: {first} → {second}",
                f"the dates are more than {rule.days} days apart: {first}, {second}",
            ),
        )
