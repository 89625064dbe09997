"""Which printed column is which field of a row."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import combinations

import numpy as np
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.text import label
from ocr_pipeline.tables.transcript import Table

SURE = 74.0
"""rapidfuzz ratio from which a misread title is still taken for the known one."""
SPOILT_WIDTH = 5
"""A table whose titles are nearly all spoilt may still be one of items when it is this wide …"""
SPOILT = 50.0
"""… and one title is at least this near to a known one."""
POSSIBLE = 30.0
"""Likeness and fit together from which an unknown column is given a field."""


def map_columns(table: Table, rows: Sequence[FieldSpec]) -> dict[str, int]:
    """Assign printed columns to row fields.

    Titles that are (nearly) known are assigned first, all at once, so that two columns never become
    the same field. Between those, the fax may have eaten the titles, but not the habit of the
    trade: unknown columns take the fields that usually stand there, in their usual order, by what
    is left of the titles and by what the cells hold (figures or words).

    Returns:
        Row field name → index of its column; fields without a column are missing.
    """
    likeness = np.array([[_likeness(label(c.text), spec) for spec in rows] for c in table.header])
    if likeness.size == 0:
        return {}
    found: dict[int, int] = {}
    for column, spec in zip(*linear_sum_assignment(-likeness), strict=True):
        if likeness[column, spec] >= SURE:
            found[int(column)] = int(spec)
    if len(found) < 2 and (table.width < SPOILT_WIDTH or likeness.max() < SPOILT):
        return {rows[f].name: c for c, f in found.items()}
    fit = np.array([[_fit(table, c, spec) for spec in rows] for c in range(table.width)])
    score = likeness + fit
    for run in _unknown_runs(table.width, found):
        low = max((found[c] for c in found if c < run[0]), default=-1)
        high = min((found[c] for c in found if c > run[-1]), default=len(rows))
        free = [f for f in range(low + 1, high) if f not in found.values()]
        count = min(len(run), len(free))
        best: tuple[float, tuple[tuple[int, int], ...]] = (0.0, ())
        for columns in combinations(run, count):
            for fields in combinations(free, count):
                pairs = tuple(zip(columns, fields, strict=True))
                total = float(sum(score[c, f] for c, f in pairs))
                if total > best[0]:
                    best = (total, pairs)
        found.update((c, f) for c, f in best[1] if score[c, f] >= POSSIBLE)
    return {rows[f].name: c for c, f in found.items()}


def _unknown_runs(width: int, found: Container[int]) -> list[list[int]]:
    """Neighbouring columns without a field."""
    runs: list[list[int]] = []
    for column in range(width):
        if column in found:
            continue
        if runs and runs[-1][-1] == column - 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    return runs


def _fit(table: Table, column: int, spec: FieldSpec) -> float:
    """-40..40: whether the cells of a column hold what a field holds; an empty one says nothing."""
    texts = ["".join(r[column].text.split()) for r in table.rows]
    texts = [t for t in texts if t]
    if not texts:
        return 0.0
    figures = sum(2 * sum(c.isdigit() for c in t) >= len(t) for t in texts) / len(texts)
    short = sum(len(t) <= 3 for t in texts) / len(texts)
    match spec.kind:
        case Kind.MONEY | Kind.NUMBER | Kind.PERCENT:
            return 80 * figures - 40
        case Kind.UNIT:
            return 80 * min(1 - figures, short) - 40
        case Kind.NAME:
            return 60 * (1 - short) - 30
        case _:
            return 0.0


def _likeness(title: str, spec: FieldSpec) -> float:
    if not title:
        return 0.0
    known = [label(a) for a in (spec.label, *spec.aliases)]
    best = max(fuzz.ratio(title, k) for k in known)
    # Of two columns that carry the same word the one whose first alias it is comes first.
    return best - 0.01 * (known.index(title) if title in known else 0)
