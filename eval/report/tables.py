"""The long tables of figures (`eval.bootstrap.means`) as shares by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from eval.report.figures import Share

Key = tuple[Any, ...]
Figures = dict[str, Share]


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table by column name."""
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def number(value: Any) -> float | None:
    """A plain number; None for what is not known, or not finite."""
    return float(value) if pd.notna(value) and np.isfinite(value) else None


def share(row: Mapping[str, Any], name: str = "value", *, limits: str = "") -> Share:
    """One share of a row: `value`, `low`, `high`; or `name`, `limits_low` and `limits_high`."""
    low, high = (row[f"{limits}_{end}" if limits else end] for end in ("low", "high"))
    count = row["count"]
    return Share(number(row[name]), number(low), number(high), 0 if pd.isna(count) else int(count))


def keyed(long: pd.DataFrame, by: Sequence[str]) -> dict[Key, Figures]:
    """Values of the columns `by` → figure → its share."""
    table: dict[Key, Figures] = {}
    for row in records(long):
        table.setdefault(tuple(row[b] for b in by), {})[row["figure"]] = share(row)
    return table


def with_all(
    of: Callable[[list[str]], pd.DataFrame], first: Sequence[str] = ()
) -> dict[Key, Figures]:
    """Figures by `first` and severity, after those of each also over all severities (None).

    Args:
        of: columns to group by → the long table.
        first: columns to group by besides severity.
    """
    apart = keyed(of([*first, "severity"]), [*first, "severity"])
    whole = keyed(of(list(first)), first)
    table: dict[Key, Figures] = {}
    for key, figures in whole.items():
        table |= {k: v for k, v in apart.items() if k[:-1] == key} | {(*key, None): figures}
    return table
