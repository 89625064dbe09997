"""What became of every true value: right or wrong at each level, flagged or not, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from eval.align import Alignment, Line, error_of, told
from eval.cases import Case, Ref
from eval.levels import character_error_rate, same, same_folded, same_raw
from ocr_pipeline.errors import UsageError
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Order, Row
from ocr_pipeline.orders.schema import FieldSpec, Schema
from ocr_pipeline.orders.values import parse


@dataclass(frozen=True)
class Form:
    """A schema, its specifications by name.

    Attributes:
        schema: the schema.
    """

    schema: Schema

    @cached_property
    def fields(self) -> dict[str, FieldSpec]:
        """Fields of the order."""
        return {s.name: s for s in self.schema.fields}

    @cached_property
    def rows(self) -> dict[str, FieldSpec]:
        """Columns of its lines."""
        return {s.name: s for s in self.schema.rows}

    def of(self, ref: Ref) -> FieldSpec:
        """The specification of a value."""
        return (self.fields if ref[1] is None else self.rows)[ref[0]]

    def require(self, case: Case) -> None:
        """Make sure that the truth speaks of this form.

        Raises:
            UsageError: it has a value that the form has not.
        """
        unknown = {*case.fields} - {*self.fields}
        unknown |= {name for row in case.rows for name in row} - {*self.rows}
        if unknown:
            raise UsageError(
                f"the truth of {case.source} has {', '.join(sorted(unknown))}, "
                f"and the form {self.schema.name} has not",
                remedy="give the form it was made for: --schema",
            )


@dataclass(frozen=True, slots=True)
class Outcome:
    """One value of the truth, or one too many, and what was made of it.

    Attributes:
        ref: which value; beyond the truth, the line is that of the reader.
        truth: the true value, as text; empty for a blank place.
        value: what was read for it; `ABSENT` where nothing was.
        error: of `align.ERRORS`; empty when right at the typed level.
        flagged: a person was told: the value has a flag, or it is missing and the order has one, or
            there is no order at all (the document stands in the list of what could not be read).
        extra: it is not in the truth.
    """

    ref: Ref
    truth: str
    value: FieldValue
    error: str
    flagged: bool
    extra: bool = False


def outcomes_of(order: Order, case: Case, form: Form, lines: Alignment) -> list[Outcome]:
    """Compare an order with the truth.

    Args:
        order: what was read, checked.
        case: the truth.
        form: its form.
        lines: which line of the order stands for which true one.

    Returns:
        An outcome of every true value, in the order of the truth; then what is beyond it.
    """
    counted = gets_counted(order)
    found = [
        _outcome((name, None), told(true), order.fields[name], form)
        for name, true in case.fields.items()
    ]
    found += _of_lines(order, case, form, lines, counted)
    found += _invented(order, case, lines)
    found += _too_many(order, lines, counted)
    return found


def lost(case: Case, *, flagged: bool) -> list[Outcome]:
    """The outcomes of a document without an order: every value is wrong, none is left out.

    Args:
        case: the truth.
        flagged: whether it stands in the list of what could not be read.
    """
    truths = [((name, None), true) for name, true in case.fields.items()]
    of_lines = [((n, i), true) for i, row in enumerate(case.rows) for n, true in row.items()]
    return [
        Outcome(ref, told(true), ABSENT, "failed", flagged) for ref, true in (*truths, *of_lines)
    ]


def best_of(orders: Sequence[Order], case: Case, form: Form) -> Order | None:
    """Of several orders the one that has most of the true header fields; None of none."""

    def hits(order: Order) -> int:
        return sum(
            same(form.fields[n].kind, told(t), text_of(order.fields[n]))
            for n, t in case.fields.items()
            if t is not None
        )

    return orders[0] if len(orders) == 1 else max(orders, key=hits, default=None)


def undivided(order: Order, case: Case, form: Form) -> Order:
    """The order with cells in one piece that the truth does not divide.

    A form without a column for the specification has it in the cell of the item, and there the
    reader divides them (`joined` in the schema). When no true line has a specification, the truth
    has the cell as it is printed, and so must be what is compared with it.
    """
    known = {name for row in case.rows for name, true in row.items() if true is not None}
    for spec in form.rows.values():
        if spec.joined and spec.joined in known and spec.name not in known:
            rows = tuple(_put_together(row, spec.joined, spec.name, form) for row in order.rows)
            order = replace(order, rows=rows)
    return order


def _put_together(row: Row, first: str, second: str, form: Form) -> Row:
    head, tail = row[first], row[second]
    if tail.state is not FieldState.READ:
        return row
    text = f"{head.raw} {tail.raw}".strip()
    whole = replace(
        head,
        state=FieldState.READ,
        raw=text,
        value=parse(form.rows[first].kind, f"{text_of(head)} {text_of(tail)}".strip()).value,
        confidence=min(head.confidence, tail.confidence),
        flags=head.flags + tail.flags,
    )
    return {**row, first: whole, second: ABSENT}


def text_of(value: FieldValue) -> str:
    """The typed value as text; empty when there is none."""
    return "" if value.value is None else str(value.value)


def gets_counted(order: Order) -> bool:
    """Whether a person counts the lines: a flag of the whole order, or a sum that fails."""
    values = order.fields.values()
    return bool(order.flags) or any(f.code == "sum" for v in values for f in v.flags)


def _outcome(
    ref: Ref, truth: str, value: FieldValue, form: Form, line: Line | None = None
) -> Outcome:
    spec = form.of(ref)
    right = same(spec.kind, truth, text_of(value))
    error = "" if right else error_of(spec, truth, value, line)
    return Outcome(ref, truth, value, error, bool(value.flags))


def _of_lines(
    order: Order, case: Case, form: Form, lines: Alignment, counted: bool
) -> Iterator[Outcome]:
    swallowing = frozenset(lines.merged.values())
    for i, (true_row, j) in enumerate(zip(case.rows, lines.read, strict=True)):
        if j is None:
            error = "merged_row" if i in lines.merged else "missing_row"
            for name, true in true_row.items():
                yield Outcome((name, i), told(true), ABSENT, error, counted)
        else:
            line = Line(order.rows[j], true_row, j in swallowing)
            for name, true in true_row.items():
                yield _outcome((name, i), told(true), line.read[name], form, line)


def _invented(order: Order, case: Case, lines: Alignment) -> Iterator[Outcome]:
    """What was read at places of a line that are known to be blank."""
    for i, j in enumerate(lines.read):
        for name, value in order.rows[j].items() if j is not None else ():
            if (name, i) in case.blank and _says_something(value):
                yield Outcome((name, i), "", value, "invented", bool(value.flags), extra=True)


def _too_many(order: Order, lines: Alignment, counted: bool) -> Iterator[Outcome]:
    """Lines that are not on the sheet."""
    for j in lines.extra:
        error = "duplicated_row" if j in lines.duplicated else "extra_row"
        for name, value in order.rows[j].items():
            if _says_something(value):
                flagged = counted or bool(value.flags)
                yield Outcome((name, j), "", value, error, flagged, extra=True)


def _says_something(value: FieldValue) -> bool:
    return value.state in (FieldState.READ, FieldState.UNREADABLE)


def row_of(outcome: Outcome, case: Case, form: Form, votes: float = math.nan) -> dict[str, Any]:
    """The columns of `tidy.VALUES` that belong to a value (not to its document and run).

    Args:
        outcome: the value.
        case: its truth.
        form: its form.
        votes: share of the runs behind it.
    """
    (name, i), value, truth = outcome.ref, outcome.value, outcome.truth
    kind, read = form.of(outcome.ref).kind, text_of(value)
    place = None if outcome.extra else case.places.get(outcome.ref)
    right = not outcome.error
    known = bool(truth)
    return {
        "field": name,
        "row": pd.NA if i is None else i,
        "extra": outcome.extra,
        "kind": str(kind),
        "name_kind": case.name_kinds.get(name, "") if i is None else "",
        "truth": truth,
        "raw": value.raw,
        "read": read,
        "state": str(value.state),
        "raw_right": same_raw(truth, place.prints if place else (), value.raw) if known else right,
        "right": right,
        "folded_right": right or (known and same_folded(kind, truth, read)),
        "cer": character_error_rate(kind, truth, read),
        "error": outcome.error,
        "flagged": outcome.flagged,
        "codes": tuple(f.code for f in value.flags),
        "confidence": value.confidence,
        "votes": votes,
        "ink": place.ink if place else math.nan,
        "page": pd.NA if value.page is None else value.page,
        "quad": value.quad,
        "true_page": place.page if place else pd.NA,
        "true_quad": place.quad if place else None,
    }
