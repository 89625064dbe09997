"""Is one system better than another on the same sheets, or is it luck?

If both were equally good, each sheet's difference would as likely be the other way round; so signs
are flipped, sheet by sheet (Fisher 1935, "The Design of Experiments", chapter 3). A sheet carries
all its fields, runs and transmissions. With few sheets all ways are tried, and the p-value is
exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import permutation_test

from eval.bootstrap import estimates
from ocr_pipeline.errors import UsageError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two systems on the same sheets.

    Attributes:
        first: share of the first system.
        second: share of the second.
        difference: second minus first.
        low: lower limit of its 95 % interval over sheets.
        high: upper limit.
        p: chance of a difference at least as large, either way, between equals; 1 when no sheet
            differs, NaN without sheets.
        sheets: how many were compared.
        better: on how many of them the second has more.
        worse: on how many it has less.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    sheets: int
    better: int
    worse: int


def sign_flip(differences: Floats, *, resamples: int = 9999, seed: int = 0) -> Floats:
    """Two-sided p-values of sums of paired differences.

    Args:
        differences: (…, units): one per unit; the last axis is tested.
        resamples: sign patterns that are drawn; where there are fewer, all are tried.
        seed: of the drawing.

    Returns:
        (…): p-values, (1 + at least as extreme) / (1 + resamples) when drawn.
    """
    found = permutation_test(
        (differences,),
        lambda d, axis: d.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=1000,
        axis=-1,
        rng=np.random.default_rng(seed),
    )
    return np.asarray(found.pvalue, dtype=np.float64)


def paired(first: pd.DataFrame, second: pd.DataFrame, figure: str, *, seed: int = 0) -> Paired:
    """Compare a share between two systems that read the same sheets.

    Systems may differ in their numbers of runs: a sheet counts by its true values.

    Args:
        first: rows of the tidy table of one system, already selected (a run, the consensus …).
        second: the same of the other.
        figure: boolean column to compare, e.g. `right`.
        seed: of resampling and sign flips.

    Raises:
        UsageError: the two are not about the same true values.
    """
    a, b = _shares(first, figure), _shares(second, figure)
    if not a["values"].equals(b["values"]):
        odd = a["values"].compare(b["values"]) if a.index.equals(b.index) else None
        names = a.index.symmetric_difference(b.index) if odd is None else odd.index
        raise UsageError(
            f"the two results are not about the same values, first at {names[0]}",
            remedy="compare runs on the same sheets, scored with the same truth and schema",
        )
    whole = a["values"].to_numpy(float)
    change = (b["share"] - a["share"]).to_numpy(float) * whole
    change[np.isclose(change, 0, atol=1e-9)] = 0.0
    [[difference], [low], [high]] = estimates(
        change[:, None], whole[:, None], bounded=False, seed=seed
    )
    some = len(whole) > 0
    return Paired(
        first=float(np.average(a["share"], weights=whole)) if some else float("nan"),
        second=float(np.average(b["share"], weights=whole)) if some else float("nan"),
        difference=float(difference),
        low=float(low),
        high=float(high),
        p=_p(change, seed),
        sheets=len(whole),
        better=int((change > 0).sum()),
        worse=int((change < 0).sum()),
    )


def _p(change: Floats, seed: int) -> float:
    if not len(change):
        return float("nan")
    # One sheet, or none that differs, cannot speak against equality.
    return float(sign_flip(change, seed=seed)) if len(change) > 1 and change.any() else 1.0


def _shares(table: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Per sheet the number of true values, and the mean of the figure over them and all runs."""
    grouped = table.assign(share=table[figure].astype(float)).groupby("sheet")
    keys = ["sheet", "document", "field", "row"]
    values = table[keys].drop_duplicates().groupby("sheet").size()
    return pd.DataFrame({"values": values, "share": grouped["share"].mean()})
