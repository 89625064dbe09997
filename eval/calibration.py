"""Whether a confidence of 0.9 is right nine times of ten."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eval.bootstrap import means
from eval.selection import consensus


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far confidence is from accuracy, over the values that were read; NaN without any.

    Attributes:
        ece: expected calibration error: mean distance of confidence and accuracy over the bins of
            `reliability`, weighted by their values (Guo et al. 2017, "On calibration of modern
            neural networks", with bins of equal mass as in Nixon et al. 2019).
        gap: mean confidence minus accuracy; above zero is overconfident.
        brier: mean squared distance of confidence from right (1) or wrong (0).
        count: values.
    """

    ece: float
    gap: float
    brier: float
    count: int


def reliability(values: pd.DataFrame, *, bins: int = 10, seed: int = 0) -> pd.DataFrame:
    """Accuracy against confidence, in bins of about as many values each.

    Most confidences are close to 1, so that bins of equal width would be empty but for the last.
    Equal confidences are never parted. Only values that were read have a confidence to speak of.

    Args:
        values: the tidy table; the values as all runs together say them are used.
        bins: at most so many.
        seed: of the resampling.

    Returns:
        Per bin: `low` and `high` (its confidences), `confidence` (their mean), `accuracy` with
        `accuracy_low` and `accuracy_high`, and `count`.
    """
    table = _read(values)
    if table.empty:
        return pd.DataFrame(columns=_COLUMNS)
    table = table.assign(bin=_bins(table["confidence"], bins))
    found = means(table, ["right"], by=["bin"], seed=seed).set_index("bin")
    about = table.groupby("bin")["confidence"].agg(["min", "max", "mean", "size"])
    return pd.DataFrame(
        {
            "low": about["min"],
            "high": about["max"],
            "confidence": about["mean"],
            "accuracy": found["value"],
            "accuracy_low": found["low"],
            "accuracy_high": found["high"],
            "count": about["size"],
        }
    ).reset_index(drop=True)


def calibration(values: pd.DataFrame, *, bins: int = 10) -> Calibration:
    """Summary of `reliability`; arguments as there."""
    table = _read(values)
    if table.empty:
        return Calibration(float("nan"), float("nan"), float("nan"), 0)
    over = table["confidence"] - table["right"].astype(float)
    sums = over.groupby(_bins(table["confidence"], bins)).sum()
    return Calibration(
        ece=float(sums.abs().sum() / len(table)),
        gap=float(over.mean()),
        brier=float((over**2).mean()),
        count=len(table),
    )


def _read(values: pd.DataFrame) -> pd.DataFrame:
    table = consensus(values)
    return table[(table["state"] == "read") & table["confidence"].notna()]


def _bins(confidence: pd.Series, bins: int) -> pd.Series:
    """Number of the bin of each confidence: by its mean rank, so that ties stay together."""
    rank = confidence.rank(method="average", pct=True).to_numpy()
    return pd.Series(np.ceil(rank * bins).astype(int), confidence.index)


_COLUMNS = ["low", "high", "confidence", "accuracy", "accuracy_low", "accuracy_high", "count"]
