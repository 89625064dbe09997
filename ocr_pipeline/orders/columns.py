"""Which printed column is which field of a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz
from scipy.optimize import linear_sum_assignment

from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.text import label
from ocr_pipeline.tables.transcript import Cell

SURE = 74.0
"""rapidfuzz ratio from which a misread title is still taken for the known one."""
POSSIBLE = 30.0
"""From here on the usual order of columns may decide."""


def map_columns(header: Sequence[Cell], rows: Sequence[FieldSpec]) -> dict[str, int]:
    """Assign printed columns to row fields.

    Titles that are (nearly) known are assigned first, all at once, so that two columns never become
    the same field. A title that is not known takes the field that usually stands between its two
    neighbours: the fax may have eaten the title, but not the habit of the trade.

    Returns:
        Row field name → index of its column; fields without a column are missing.
    """
    titles = [label(c.text) for c in header]
    likeness = np.array([[_likeness(t, spec) for spec in rows] for t in titles])
    if likeness.size == 0:
        return {}
    found: dict[int, int] = {}
    for column, field in zip(*linear_sum_assignment(-likeness), strict=True):
        if likeness[column, field] >= SURE:
            found[int(column)] = int(field)
    for column, title in enumerate(titles):
        if column in found or not title:
            continue
        before = [found[c] for c in range(column) if c in found]
        after = [found[c] for c in range(column + 1, len(titles)) if c in found]
        low, high = max(before, default=-1), min(after, default=len(rows))
        free = [f for f in range(low + 1, high) if f not in found.values()]
        if len(free) == 1:
            found[column] = free[0]
        elif free:
            best = max(free, key=lambda f: float(likeness[column, f]))
            if likeness[column, best] >= POSSIBLE:
                found[column] = best
    return {rows[field].name: column for column, field in found.items()}


def _likeness(title: str, spec: FieldSpec) -> float:
    if not title:
        return 0.0
    known = [label(a) for a in (spec.label, *spec.aliases)]
    best = max(fuzz.ratio(title, k) for k in known)
    # Of two columns that carry the same word the one whose first alias it is comes first.
    return best - 0.01 * (known.index(title) if title in known else 0)
