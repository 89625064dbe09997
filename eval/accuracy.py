"""Outcomes → one tidy table, and the figures that are asked for first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import pandas as pd

from eval.outcomes import Outcome


def frame_of(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """One row per true value."""
    columns = [f.name for f in fields(Outcome)]
    return pd.DataFrame([asdict(o) for o in outcomes], columns=columns)


def by_severity(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Headline figures per severity, as shares 0..1.

    `right` is the typed accuracy; `silent` is wrong *and not flagged*, the number that has to go to
    zero; `flagged` is the share a person must look at, `needless` the part of it that was right.
    """
    table = outcomes.assign(
        silent=~outcomes["right"] & ~outcomes["flagged"],
        needless=outcomes["right"] & outcomes["flagged"],
    )
    figures = ["raw_right", "right", "folded_right", "flagged", "needless", "silent"]
    grouped = table.groupby("severity")
    summary = grouped[figures].mean()
    summary.insert(0, "values", grouped.size())
    summary.insert(0, "documents", grouped["source"].nunique())
    return summary


def by_field(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Typed accuracy per field (rows) and severity (columns), as shares 0..1."""
    order = list(dict.fromkeys(outcomes["field"]))
    table = outcomes.pivot_table(index="field", columns="severity", values="right", aggfunc="mean")
    return table.reindex(order)


def by_flag(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Per flag code: how often it stood on a wrong value and on a right one."""
    exploded = outcomes.explode("codes").dropna(subset=["codes"])
    if exploded.empty:
        return pd.DataFrame(columns=["wrong", "right"])
    counts = exploded.groupby(["codes", "right"]).size().unstack(fill_value=0)
    counts = counts.rename(columns={True: "right", False: "wrong"})
    return counts.reindex(columns=["wrong", "right"], fill_value=0)
