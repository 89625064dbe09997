"""Checks: which fields contradict one another, look wrong, or were read unsurely.

Every check answers "passed", "failed" or "not applicable" for a set of fields, with a reason for
the clerk. A failed check flags every field that could be at fault; a passed one raises the
confidence of the fields it ties together, because a misread digit would have broken it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState, FieldValue, Flag, Order, Row
from ocr_pipeline.orders.repairs import doubtful
from ocr_pipeline.orders.schema import (
    Check,
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

LEAST_CONFIDENCE: Mapping[Kind, float] = {
    Kind.MONEY: 0.6,
    Kind.NUMBER: 0.6,
    Kind.PERCENT: 0.6,
    Kind.DATE: 0.7,
    Kind.CODE: 0.8,
    Kind.PHONE: 0.8,
    Kind.NAME: 0.7,
    Kind.UNIT: 0.5,
    Kind.TEXT: 0.4,
}
"""Below these a field is shown to a person. `ocr-pipeline eval run` prints what the flag caught."""

PASSED = 0.1
"""A passed check leaves this share of the doubt in a field."""


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


def check(order: Order, schema: Schema) -> Order:
    """Run all checks on an order.

    Returns:
        The same order with flags, and with the confidence of confirmed fields raised. No value is
        ever changed.
    """
    sheet = _Sheet(order, schema)
    confirmed: set[Place] = set()
    flags: dict[Place, list[Flag]] = {}
    # Products come first in a schema: a row that multiplies out is not blamed for a wrong sum.
    for rule in schema.checks:
        for finding in _findings(sheet, rule, confirmed):
            if finding.passed:
                confirmed.update(finding.places)
            elif finding.flag is not None:
                for place in finding.places:
                    flags.setdefault(place, []).append(finding.flag)
    usual = _usually_filled(order)
    for place, value in sheet.places():
        spec = sheet.spec(place)
        if place[1] is not None and value.state is FieldState.BLANK and place[0] in usual:
            flags.setdefault(place, []).append(_GAP)
        flags.setdefault(place, []).extend(_own_flags(spec, value, place in confirmed, sheet))
    return sheet.marked(confirmed, flags)


class _Sheet:
    """An order, looked up by place."""

    def __init__(self, order: Order, schema: Schema) -> None:
        self.order = order
        self.schema = schema
        self._specs = {(s.name, True): s for s in schema.rows} | {
            (s.name, False): s for s in schema.fields
        }

    def places(self) -> Iterable[tuple[Place, FieldValue]]:
        for name, value in self.order.fields.items():
            yield (name, None), value
        for i, row in enumerate(self.order.rows):
            for name, value in row.items():
                yield (name, i), value

    def spec(self, place: Place) -> FieldSpec:
        return self._specs[place[0], place[1] is not None]

    def value(self, place: Place) -> FieldValue:
        name, row = place
        return self.order.fields[name] if row is None else self.order.rows[row][name]

    def number(self, place: Place) -> Decimal | None:
        value = self.value(place).value
        return value if isinstance(value, Decimal) else None

    def day(self, name: str) -> date | None:
        value = self.order.fields[name].value
        return value if isinstance(value, date) else None

    def has_column(self, name: str) -> bool:
        return any(r[name].state is not FieldState.ABSENT for r in self.order.rows)

    def marked(self, confirmed: set[Place], flags: Mapping[Place, Sequence[Flag]]) -> Order:
        def mark(place: Place, value: FieldValue) -> FieldValue:
            if place in confirmed and not flags.get(place):
                value = replace(value, confidence=1 - (1 - value.confidence) * PASSED)
            return value.flagged(*flags.get(place, ()))

        fields = {n: mark((n, None), v) for n, v in self.order.fields.items()}
        rows: list[Row] = [
            {n: mark((n, i), v) for n, v in row.items()} for i, row in enumerate(self.order.rows)
        ]
        order_flags = self.order.flags
        if not self.order.rows:
            order_flags = (*order_flags, NO_ROWS)
        return replace(self.order, fields=fields, rows=tuple(rows), flags=order_flags)


NO_ROWS = Flag("no_rows", "明細行が見つかりません", "no item line was found")
_BLANK = Flag("required_blank", "必須項目が空欄です", "a required field is blank")
_ABSENT = Flag("required_absent", "必須項目が見つかりません", "a required field was not found")


_GAP = Flag(
    "unusual_blank",
    "ほかの行では記入されている欄が空欄です",
    "this place is blank, and the other lines have something there",
)


def _usually_filled(order: Order) -> frozenset[str]:
    """Columns that most lines fill in."""
    names = order.rows[0].keys() if order.rows else ()
    return frozenset(
        n
        for n in names
        if 2 * sum(r[n].state in (FieldState.READ, FieldState.UNREADABLE) for r in order.rows)
        > len(order.rows)
    )


def _own_flags(
    spec: FieldSpec, value: FieldValue, confirmed: bool, sheet: _Sheet
) -> Iterable[Flag]:
    """What a single field gives away by itself."""
    if value.state in (FieldState.ABSENT, FieldState.BLANK):
        if spec.required:
            yield _BLANK if value.state is FieldState.BLANK else _ABSENT
        return
    if value.state is not FieldState.READ:
        return
    if not confirmed and value.confidence < LEAST_CONFIDENCE[spec.kind]:
        share = f"{value.confidence:.0%}"
        yield Flag(
            "low_confidence",
            f"読み取りの確信度が低い ({share})",
            f"read with low confidence ({share})",
        )
    if isinstance(value.value, str):
        if spec.kind in (Kind.NAME, Kind.TEXT):
            unclear = doubtful(spec.kind, value.value)
            if unclear:
                shown = "".join(value.value[i] for i in unclear)
                yield Flag(
                    "ambiguous_script",
                    f"形の同じ文字があり、前後からは決められません: {shown}",
                    f"characters that look alike across scripts, and no context decides: {shown}",
                )
        if spec.kind is Kind.PHONE:
            digits = sum(c.isdigit() for c in value.value)
            if digits not in (10, 11) or not value.value.startswith("0"):
                yield Flag(
                    "phone_shape",
                    f"電話番号の桁数が合いません ({digits}桁)",
                    f"not the shape of a telephone number ({digits} digits)",
                )
        if spec.known and value.value not in spec.known:
            yield Flag(
                "unknown_value",
                f"知られている{spec.label}ではありません: {value.value}",
                f"not a known {spec.name}: {value.value}",
            )
        if spec.kind is Kind.CODE and not any(c.isdigit() for c in value.value):
            yield Flag("code_shape", "番号に数字がありません", "a code without any digit")


def _product(sheet: _Sheet, rule: Product) -> Iterable[Finding]:
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


def _sum(sheet: _Sheet, rule: Sum, confirmed: set[Place]) -> Iterable[Finding]:
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


def _tax(sheet: _Sheet, rule: TaxRule, confirmed: set[Place]) -> Iterable[Finding]:
    base_place, tax_place = (rule.base, None), (rule.equals, None)
    base, tax = sheet.number(base_place), sheet.number(tax_place)
    if base is None or tax is None:
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


def _total(sheet: _Sheet, rule: Total, confirmed: set[Place]) -> Iterable[Finding]:
    parts: list[Place] = [(n, None) for n in rule.of]
    whole: Place = (rule.equals, None)
    values = [sheet.number(p) for p in parts]
    total = sheet.number(whole)
    if total is None or any(v is None for v in values):
        return
    found = sum((v for v in values if v is not None), Decimal(0))
    if found == total:
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


def _printed_twice(sheet: _Sheet, rule: PrintedTwice, confirmed: set[Place]) -> Iterable[Finding]:
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


def _date_order(sheet: _Sheet, rule: DateOrder) -> Iterable[Finding]:
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


def _date_near(sheet: _Sheet, rule: DateNear) -> Iterable[Finding]:
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


def _findings(sheet: _Sheet, rule: Check, confirmed: set[Place]) -> Iterable[Finding]:
    match rule:
        case Product():
            return _product(sheet, rule)
        case Sum():
            return _sum(sheet, rule, confirmed)
        case TaxRule():
            return _tax(sheet, rule, confirmed)
        case Total():
            return _total(sheet, rule, confirmed)
        case PrintedTwice():
            return _printed_twice(sheet, rule, confirmed)
        case DateOrder():
            return _date_order(sheet, rule)
        case DateNear():
            return _date_near(sheet, rule)
