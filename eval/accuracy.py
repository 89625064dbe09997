"""The figures that are asked for first: how much is right, and what was nobody told about."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from eval.bootstrap import means
from eval.selection import consensus, single
from eval.tidy import CONSENSUS

FIGURES = ("raw_right", "right", "folded_right", "flagged", "needless", "silent")
"""Shares of the true values, of what all runs together say.

`raw_right`, `right` and `folded_right` are the three levels of comparison, `right` (typed) is the
score; `flagged` is what a person must look at, `needless` the part of it that was right; `silent`
is wrong *and not flagged*, the number that has to go to zero.
"""


def by_severity(values: pd.DataFrame) -> pd.DataFrame:
    """`FIGURES` per severity, after the number of documents and of values."""
    table = _judged(values)
    grouped = table.groupby("severity")
    summary = grouped[list(FIGURES)].mean()
    summary.insert(0, "values", grouped.size())
    summary.insert(0, "documents", grouped["document"].nunique())
    return summary


def by_field(values: pd.DataFrame) -> pd.DataFrame:
    """Typed accuracy per field (rows, in the order of the truth) and severity (columns)."""
    table = consensus(values)
    order = list(dict.fromkeys(table["field"]))
    wide = table.assign(right=table["right"].astype(float)).pivot_table(
        index="field", columns="severity", values="right", aggfunc="mean"
    )
    return wide.reindex(order)


def headline(
    values: pd.DataFrame, *, by: Sequence[str] = ("severity",), seed: int = 0
) -> pd.DataFrame:
    """`FIGURES` with intervals over sheets, and `single`: typed accuracy of one run.

    Args:
        values: the tidy table.
        by: columns to group by: severity, field, kind … or nothing.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.means`.
    """
    judged, runs = _judged(values), single(values)
    both = pd.concat(
        [judged[[*by, "sheet", *FIGURES]], runs[[*by, "sheet"]].assign(single=runs["right"])]
    )
    return means(both, [*FIGURES, "single"], by=by, seed=seed)


def by_error(values: pd.DataFrame) -> pd.DataFrame:
    """How often each kind of error was made, values beyond the truth included.

    Returns:
        `error` (of `eval.align.ERRORS`), `severity`, and of what all runs together say: `count`,
        `flagged`, `silent`. Kinds that did not occur are left out; the most frequent comes first.
    """
    wrong = values[(values["run"] == CONSENSUS) & (values["error"] != "")]
    found = (
        wrong.assign(silent=~wrong["flagged"])
        .groupby(["error", "severity"])
        .agg(count=("flagged", "size"), flagged=("flagged", "sum"), silent=("silent", "sum"))
        .reset_index()
    )
    return found.sort_values(
        ["severity", "count", "error"], ascending=[True, False, True], ignore_index=True
    )


def _judged(values: pd.DataFrame) -> pd.DataFrame:
    table = consensus(values)
    return table.assign(
        silent=~table["right"] & ~table["flagged"], needless=table["right"] & table["flagged"]
    )
