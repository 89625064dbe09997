"""Which read line stands for which true line, and what kind of error each value shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from eval.cases import Plain
from eval.levels import plain, same
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState, FieldValue, Row
from ocr_pipeline.orders.schema import FieldSpec

ERRORS = (
    "failed",  # the run, or the whole document, gave nothing to score
    "missing_row",  # the line was not found
    "merged_row",  # the line was read into another one
    "shifted_column",  # the value stands in another column of the line
    "not_read",  # absent or blank although the sheet has it
    "unreadable",  # there was ink, and the reader abstained
    "wrong",  # another value
    "invented",  # something was read where the sheet is blank
    "extra_row",  # a line that is not on the sheet
    "duplicated_row",  # a line of the sheet once more
)
"""Kinds of error of a value; right values have none."""

SAME_LINE = 0.4
"""Least similarity (0..1) of a read line to the true line that it stands for."""
TWICE = 0.8
"""Least similarity of an extra line to a true one that is read already, to be its repetition."""
MERGED = 0.5
"""Least share of a missing line that another line must hold, to have swallowed it."""
_ALIKE = 0.8
"""Weight of likeness against equality: what is only alike never beats what is equal."""
_MOVED = 0.9
"""Weight of a value that stands in another column than its own."""
_COMMON = 0.2
"""Weight of a unit or a rate: most lines of most sheets have the same."""

TrueRow = Mapping[str, Plain]
Specs = Mapping[str, FieldSpec]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Read lines against true lines.

    Attributes:
        read: for each true line the index of the read line that stands for it; None if missing.
        extra: read lines that stand for none, in their order.
        duplicated: those of them that repeat a true line.
        merged: missing true line → index of the read line that swallowed it.
        in_order: the read lines stand in the order of the true ones.
    """

    read: tuple[int | None, ...]
    extra: tuple[int, ...] = ()
    duplicated: frozenset[int] = frozenset()
    merged: Mapping[int, int] = field(default_factory=dict)
    in_order: bool = True


def align(rows: Sequence[Row], truth: Sequence[TrueRow], specs: Specs) -> Alignment:
    """Assign read lines to true lines by the greatest total similarity, whatever their order.

    Similarity is typed: the share of a line's values that are equal, alike values counting less,
    columns in which most lines say the same (the unit, the tax rate) counting little.

    Args:
        rows: the lines that were read.
        truth: the true lines.
        specs: row field name → its specification.
    """
    if not rows or not truth:
        return Alignment((None,) * len(truth), tuple(range(len(rows))))
    similarity = _similarities(rows, truth, specs)
    # Of equal lines each is assigned to the one that stands where it stands.
    places = np.abs(np.subtract.outer(np.arange(len(truth)), np.arange(len(rows))))
    chosen = linear_sum_assignment(1e-6 * places - similarity)
    read: list[int | None] = [None] * len(truth)
    for i, j in zip(*chosen, strict=True):
        if similarity[i, j] >= SAME_LINE:
            read[int(i)] = int(j)
    taken = {j for j in read if j is not None}
    extra = tuple(j for j in range(len(rows)) if j not in taken)
    found = [j for j in read if j is not None]
    return Alignment(
        tuple(read),
        extra,
        frozenset(j for j in extra if similarity[:, j].max() >= TWICE),
        _merged(rows, truth, read, specs),
        found == sorted(found),
    )


def _similarities(
    rows: Sequence[Row], truth: Sequence[TrueRow], specs: Specs
) -> NDArray[np.float64]:
    """(true lines × read lines) similarity, 0..1."""
    weights = _weights(truth, specs)
    scores = np.array([[_similar(true, row, specs, weights) for row in rows] for true in truth])
    for i in map(int, np.flatnonzero(scores.max(axis=1) < 0.5)):
        # No line has the values where they belong: one may have them in other columns.
        moved = [_moved(truth[i], row, specs, weights) for row in rows]
        scores[i] = np.maximum(scores[i], moved)
    return scores


def _weights(truth: Sequence[TrueRow], specs: Specs) -> dict[str, float]:
    """Column → how much it tells lines apart: the share of its values that are different."""
    columns: dict[str, list[Plain]] = {}
    for row in truth:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {
        name: len(set(values))
        / len(values)
        * (_COMMON if specs[name].kind in (Kind.UNIT, Kind.PERCENT) else 1.0)
        for name, values in columns.items()
    }


def shown(value: FieldValue) -> str:
    """What was read, as text: the value, or the text of which none could be made."""
    return value.raw if value.value is None else str(value.value)


def told(true: Plain) -> str:
    """A true value as text; empty for a blank place."""
    return "" if true is None else str(true)


def _similar(true: TrueRow, row: Row, specs: Specs, weights: Mapping[str, float]) -> float:
    total = score = 0.0
    for name, value in true.items():
        weight = weights[name]
        total += weight
        expected, read = told(value), shown(row[name])
        if same(specs[name].kind, expected, read):
            score += weight
        elif expected and read:
            score += weight * _ALIKE * fuzz.ratio(expected, read) / 100
    return score / total if total else 0.0


def _moved(true: TrueRow, row: Row, specs: Specs, weights: Mapping[str, float]) -> float:
    total = score = 0.0
    for name, value in true.items():
        total += weights[name]
        if value is not None and stands_in(specs[name].kind, told(value), row) is not None:
            score += weights[name] * _MOVED
    return score / total if total else 0.0


def stands_in(kind: Kind, truth: str, row: Row) -> str | None:
    """The column of a line in which a true value stands, whichever it is."""
    return next((n for n, v in row.items() if v.raw and same(kind, truth, v.raw)), None)


def _merged(
    rows: Sequence[Row], truth: Sequence[TrueRow], read: Sequence[int | None], specs: Specs
) -> dict[int, int]:
    """Missing true lines whose values stand inside the cells of a line that was found."""
    weights = _weights(truth, specs)
    merged = {}
    for i, j in enumerate(read):
        if j is not None:
            continue
        holds = {
            k: _held(truth[i], truth[n], rows[k], specs, weights)
            for n, k in enumerate(read)
            if k is not None
        }
        if holds and max(holds.values()) >= MERGED:
            merged[i] = max(holds, key=lambda k: holds[k])
    return merged


def _held(
    missing: TrueRow, own: TrueRow, row: Row, specs: Specs, weights: Mapping[str, float]
) -> float:
    """Share of a missing line that stands in a line's cells beside what belongs there."""
    total = score = 0.0
    for name, value in missing.items():
        if value is None or value == own.get(name):
            continue
        total += weights[name]
        if holds(specs[name].kind, told(value), row[name].raw):
            score += weights[name]
    return score / total if total else 0.0


def holds(kind: Kind, truth: str, raw: str) -> bool:
    """Whether a cell contains a true value among other text."""
    if kind in (Kind.NAME, Kind.TEXT, Kind.CODE):
        return plain(truth) in plain(raw)
    return any(same(kind, truth, part) for part in raw.split())


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was found.

    Attributes:
        read: its values.
        true: the true ones.
        swallowing: it has swallowed another line.
    """

    read: Row
    true: TrueRow
    swallowing: bool = False


def error_of(spec: FieldSpec, truth: str, value: FieldValue, line: Line | None) -> str:
    """The kind of error of a value that is not the true one.

    Args:
        spec: of the field.
        truth: the true value, as text.
        value: what was read for it.
        line: the line it stands in; None for a field of the order.
    """
    if not truth:
        return "invented"
    if line is not None:
        if line.swallowing and holds(spec.kind, truth, value.raw):
            return "merged_row"
        column = stands_in(spec.kind, truth, line.read)
        # What another column rightly says is not this value gone astray: 1 piece at 1 yen.
        if column is not None and not same(spec.kind, truth, told(line.true.get(column))):
            return "shifted_column"
    if value.state in (FieldState.ABSENT, FieldState.BLANK):
        return "not_read"
    return "unreadable" if value.state is FieldState.UNREADABLE else "wrong"
