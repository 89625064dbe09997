"""Checks: which fields contradict one another, look wrong, or were read unsurely.

A failed check flags every field that could be at fault; a passed one raises the confidence of the
fields it ties together, because a misread digit would have broken it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState, FieldValue, Flag, Order, Row
from ocr_pipeline.orders.relations import Place, Sheet, findings
from ocr_pipeline.orders.repairs import doubtful
from ocr_pipeline.orders.schema import FieldSpec, Schema

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


def check(order: Order, schema: Schema) -> Order:
    """Run all checks on an order.

    Returns:
        The same order with flags, and with the confidence of confirmed fields raised. No value is
        ever changed.
    """
    sheet = Sheet(order, schema)
    confirmed: set[Place] = set()
    flags: dict[Place, list[Flag]] = {}
    # Products come first in a schema: a row that multiplies out is not blamed for a wrong sum.
    for rule in schema.checks:
        for finding in findings(sheet, rule, confirmed):
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
        flags.setdefault(place, []).extend(_own_flags(spec, value, place in confirmed))
    marked = _marked(order, confirmed, flags)
    return replace(marked, flags=(*marked.flags, *_order_flags(order, schema)))


def _order_flags(order: Order, schema: Schema) -> Iterable[Flag]:
    """What concerns the item lines as a whole."""
    if not order.rows:
        yield NO_ROWS
        return
    missing = [
        spec.label
        for spec in schema.rows
        if spec.required and all(r[spec.name].state is FieldState.ABSENT for r in order.rows)
    ]
    if missing:
        shown = "・".join(missing)
        yield Flag(
            "column_missing",
            f"明細の列が見つかりません: {shown}",
            f"the item table has no such column: {shown}",
        )


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


def _own_flags(spec: FieldSpec, value: FieldValue, confirmed: bool) -> Iterable[Flag]:
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


def _marked(order: Order, confirmed: set[Place], flags: Mapping[Place, Sequence[Flag]]) -> Order:
    """The order with its flags, and with the confidence of confirmed fields raised."""

    def mark(place: Place, value: FieldValue) -> FieldValue:
        if place in confirmed and not flags.get(place):
            value = replace(value, confidence=1 - (1 - value.confidence) * PASSED)
        return value.flagged(*flags.get(place, ()))

    fields = {n: mark((n, None), v) for n, v in order.fields.items()}
    rows: list[Row] = [
        {n: mark((n, i), v) for n, v in row.items()} for i, row in enumerate(order.rows)
    ]
    return replace(order, fields=fields, rows=tuple(rows))
