"""What a further run buys: accuracy and silent errors of k runs together, and their cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from eval.bootstrap import ratios
from eval.scoring import RunSet, consensus_of

MOST = 10
"""Subsets of each size; those of five runs are never more."""


def subsets(runs: int, size: int, *, most: int = MOST, seed: int = 0) -> list[tuple[int, ...]]:
    """Some of the ways to take `size` of `runs` runs, in sorted order.

    Args:
        runs: how many there are.
        size: how many are taken, 1 to `runs`.
        most: where there are more ways, a sample of so many, all different.
        seed: of the sample.
    """
    if comb(runs, size) <= most:
        return list(combinations(range(runs), size))
    rng = np.random.default_rng([seed, runs, size])
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(int(k) for k in rng.permutation(runs)[:size])))
    return sorted(drawn)


def curve(sets: Iterable[RunSet], *, most: int = MOST, seed: int = 0) -> pd.DataFrame:
    """Score the consensus of k = 1 … N runs of each document, on average over subsets.

    Args:
        sets: the runs of each document.
        most: subsets of each size.
        seed: of their choice, where there are more.

    Returns:
        One row per document and k: `document`, `sheet`, `severity`, `k`, `values` (true ones), the
        mean numbers `right`, `flagged` and `silent` among them, and `seconds` and `tokens` that k
        runs cost on average (NaN when unknown).
    """
    rows = []
    for runs in sets:
        count = len(runs.runs)
        seconds = float(np.mean([r.seconds for r in runs.runs])) if count else float("nan")
        tokens = float(np.mean([r.tokens for r in runs.runs])) if count else float("nan")
        for k in range(1, count + 1):
            chosen = subsets(count, k, most=most, seed=seed)
            tallies = np.array([_tally(runs, subset) for subset in chosen])
            values, right, flagged, silent = tallies.mean(axis=0)
            rows.append(
                {
                    "document": runs.case.source,
                    "sheet": runs.case.sheet or runs.case.source,
                    "severity": runs.case.severity,
                    "k": k,
                    "values": values,
                    "right": right,
                    "flagged": flagged,
                    "silent": silent,
                    "seconds": k * seconds,
                    "tokens": k * tokens,
                }
            )
    return pd.DataFrame(rows, columns=_COLUMNS)


_COLUMNS = [
    *("document", "sheet", "severity", "k"),
    *("values", "right", "flagged", "silent", "seconds", "tokens"),
]


def _tally(runs: RunSet, subset: Sequence[int]) -> tuple[int, int, int, int]:
    """True values; right, flagged and silently wrong ones."""
    true = [row for row in consensus_of(runs, subset) if not row["extra"]]
    return (
        len(true),
        sum(row["right"] for row in true),
        sum(row["flagged"] for row in true),
        sum(not row["right"] and not row["flagged"] for row in true),
    )


def summary(table: pd.DataFrame, *, by: Sequence[str] = ("k",), seed: int = 0) -> pd.DataFrame:
    """The curve with intervals over sheets.

    Args:
        table: what `curve` returns.
        by: columns to group by, `k` among them.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.ratios`: the shares `right`, `flagged` and `silent` of the
        true values, and `seconds` and `tokens` per document.
    """
    figures = {f: (f, "values") for f in ("right", "flagged", "silent")}
    costs = ["seconds", "tokens"]
    known = {f"{f} known": table[f].notna() for f in costs}
    figures |= {f: (f, f"{f} known") for f in costs}
    table = table.assign(**known).fillna(dict.fromkeys(costs, 0.0))
    return ratios(table, figures, by=by, unbounded=costs, seed=seed)
