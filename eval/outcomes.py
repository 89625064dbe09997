"""What became of every true value: right or wrong at each level, flagged or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from eval.cases import Case, Plain
from ocr_pipeline.export.record import Record
from ocr_pipeline.orders import text
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import ABSENT, FieldValue, Order, Row
from ocr_pipeline.orders.schema import FieldSpec, Schema
from ocr_pipeline.orders.values import typed


@dataclass(frozen=True, slots=True)
class Outcome:
    """One true value and what was made of it.

    Attributes:
        source: the file.
        severity: its severity.
        field: field name.
        row: 0-based true row; None for a header field.
        truth: the true value, as text.
        read: the typed value, as text; empty when there is none.
        raw: the text it was read from.
        raw_right: `raw` is the truth to the letter (NFC, trimmed).
        right: the typed values are equal. This is the score.
        folded_right: equal once look-alike characters are merged.
        flagged: a person was told to look at it; a line that is missing counts as flagged when its
            order is, and everything does in a document without an order.
        codes: the codes of the field's own flags.
        confidence: of the field.
    """

    source: str
    severity: int
    field: str
    row: int | None
    truth: str
    read: str
    raw: str
    raw_right: bool
    right: bool
    folded_right: bool
    flagged: bool
    codes: tuple[str, ...]
    confidence: float


def score(record: Record, case: Case, schema: Schema) -> list[Outcome]:
    """Score one document.

    Every true value has an outcome: a document that failed has them all wrong (and flagged, for it
    stands in the list of failures), a row that was not found likewise.
    """
    order = _best(record.orders, case, schema)
    seen = order is None
    outcomes = [
        _outcome(
            case, schema.field(name), None, true, order.fields[name] if order else ABSENT, seen
        )
        for name, true in case.fields.items()
    ]
    rows = match_rows(order.rows if order else (), case.rows, schema)
    # A flag of the whole order, or a sum that fails, makes a person count the lines.
    values = order.fields.values() if order else ()
    counted = bool(order and order.flags) or any(f.code == "sum" for v in values for f in v.flags)
    specs = {s.name: s for s in schema.rows}
    for i, (true_row, row) in enumerate(zip(case.rows, rows, strict=True)):
        for name, true in true_row.items():
            value = row[name] if row is not None else ABSENT
            told = seen or (row is None and counted)
            outcomes.append(_outcome(case, specs[name], i, true, value, told))
    return outcomes


def _outcome(
    case: Case,
    spec: FieldSpec,
    row: int | None,
    true: Plain,
    value: FieldValue,
    order_flagged: bool,
) -> Outcome:
    truth = "" if true is None else str(true)
    read = "" if value.value is None else str(value.value)
    return Outcome(
        source=case.source,
        severity=case.severity,
        field=spec.name,
        row=row,
        truth=truth,
        read=read,
        raw=value.raw,
        raw_right=text.raw(value.raw) == text.raw(truth),
        right=same(spec.kind, truth, read),
        folded_right=same(spec.kind, truth, read) or text.folded(truth) == text.folded(read),
        flagged=bool(value.flags) or order_flagged,
        codes=tuple(f.code for f in value.flags),
        confidence=value.confidence,
    )


def same(kind: Kind, truth: str, read: str) -> bool:
    """Whether two values are equal at the typed level."""
    if not truth or not read:
        return truth == read
    expected = typed(kind, truth)
    return expected is not None and expected == typed(kind, read)


def _best(orders: Sequence[Order], case: Case, schema: Schema) -> Order | None:
    """Of several orders the one that has most of the true header fields."""

    def hits(order: Order) -> int:
        return sum(
            same(schema.field(n).kind, str(t), str(order.fields[n].value))
            for n, t in case.fields.items()
            if t is not None
        )

    return max(orders, key=hits, default=None)


def match_rows(
    rows: Sequence[Row], truth: Sequence[Mapping[str, Plain]], schema: Schema
) -> list[Row | None]:
    """For each true row the row that was read for it: the assignment of greatest similarity."""
    if not rows or not truth:
        return [None] * len(truth)
    specs = {s.name: s for s in schema.rows}
    similarity = np.array([[_similar(specs, true, row) for row in rows] for true in truth])
    matched: list[Row | None] = [None] * len(truth)
    for i, j in zip(*linear_sum_assignment(-similarity), strict=True):
        if similarity[i, j] > 0.15:
            matched[int(i)] = rows[int(j)]
    return matched


def _similar(specs: Mapping[str, FieldSpec], true: Mapping[str, Plain], row: Row) -> float:
    scores = []
    for name, value in true.items():
        read = row[name]
        if same(specs[name].kind, str(value), str(read.value)):
            scores.append(1.0)
        else:
            scores.append(0.8 * fuzz.ratio(str(value), read.raw) / 100)
    return sum(scores) / len(scores) if scores else 0.0


def score_all(
    records: Mapping[str, Record], cases: Iterable[Case], schema: Schema
) -> list[Outcome]:
    """Score documents by their source; one that has no record counts as failed and unflagged."""
    outcomes: list[Outcome] = []
    for case in cases:
        record = records.get(case.source)
        if record is not None:
            outcomes += score(record, case, schema)
            continue
        specs = {s.name: s for s in schema.rows}
        for name, true in case.fields.items():
            outcomes.append(_outcome(case, schema.field(name), None, true, ABSENT, False))
        for i, row in enumerate(case.rows):
            outcomes += [_outcome(case, specs[n], i, t, ABSENT, False) for n, t in row.items()]
    return outcomes
