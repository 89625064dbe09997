"""Repeated runs of the same page: what is stable, what flips, and what is always wrong.

Several runs can mend a value that is right in some of them. They cannot mend one that all runs read
alike and wrong; only arithmetic, master data or a person can.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from eval.bootstrap import means
from eval.selection import single

FIGURES = ("accuracy", "all_right", "any_right", "flip", "unanimous_wrong", "unstable")
"""What is known of a value over its runs, as shares 0..1; `entropy` is the seventh figure, in bits.

- `accuracy`: of a run;
- `all_right`, `any_right`: right in all runs, in at least one;
- `flip`: chance that two different runs do not read the same (Simpson 1949, unbiased: it does not
  depend on the number of runs);
- `unanimous_wrong`: all runs read the same, and it is wrong;
- `unstable`: the runs do not all read the same. With `all_right` and `unanimous_wrong` it adds up
  to 1.

With a single run, `flip`, `entropy`, `unanimous_wrong` and `unstable` are unknown: NaN.
"""

_VALUE = ["document", "field", "row"]
_ABOUT = ["sheet", "severity", "kind", "name_kind", "truth"]


def stability(values: pd.DataFrame) -> pd.DataFrame:
    """One row per true value: what its runs made of it.

    Two runs read the same when both are right, or when both are wrong with the same typed value
    and state.

    Returns:
        `document`, `field`, `row`, `sheet`, `severity`, `kind`, `name_kind`, `truth`, `runs`,
        `FIGURES`, and `entropy` of the votes (Shannon, in bits).
    """
    runs = single(values)
    # Of right values the spelling is free (spaces, ㈱); no state has an empty name.
    reading = (runs["state"] + "\0" + runs["read"]).where(~runs["right"], "")
    table = runs.assign(reading=reading)
    votes = table.groupby([*_VALUE, "reading"], dropna=False).size().rename("votes").reset_index()
    about = table.groupby(_VALUE, dropna=False)[_ABOUT].first()
    groups = table.groupby(_VALUE, dropna=False)["right"]
    count, right = groups.size(), groups.sum()

    def total(terms: pd.Series) -> pd.Series:
        return terms.groupby([votes[c] for c in _VALUE], dropna=False).sum()

    n, several = count.astype(float), count > 1
    pairs = total((votes["votes"] * (votes["votes"] - 1)).astype(float))
    logs = total(votes["votes"] * np.log2(votes["votes"].astype(float)))
    kinds = total((votes["votes"] > 0).astype(float))
    found = about.assign(
        runs=count,
        accuracy=right / n,
        all_right=(right == count).astype(float),
        any_right=(right > 0).astype(float),
        flip=(1 - pairs / (n * (n - 1)).where(several)),
        unanimous_wrong=((kinds == 1) & (right == 0)).astype(float).where(several),
        unstable=(kinds > 1).astype(float).where(several),
        entropy=(np.log2(n) - logs / n).clip(lower=0).where(several),
    )
    return found.reset_index()


def summary(
    table: pd.DataFrame, *, by: Sequence[str] = ("field", "severity"), seed: int = 0
) -> pd.DataFrame:
    """Means of `FIGURES` and `entropy` with intervals over sheets.

    Args:
        table: what `stability` returns.
        by: columns to group by.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.means`.
    """
    return means(table, [*FIGURES, "entropy"], by=by, unbounded=["entropy"], seed=seed)
