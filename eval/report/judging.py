"""What the program says of its own values, as the report shows it."""

from __future__ import annotations

import pandas as pd

from eval import abstention, trust
from eval import calibration as calibrations
from eval import risk as risks
from eval.report.figures import Bin, FlagFigures, InkBin, Review, RiskCurve
from eval.report.tables import keyed, number, records, share

POINTS = 120
"""Of a risk curve; more cannot be told apart on paper."""


def flags(values: pd.DataFrame) -> tuple[FlagFigures, ...]:
    """What each flag is good for, the most frequent first."""
    return tuple(
        FlagFigures(
            code=row["code"],
            values=int(row["values"]),
            wrong=int(row["wrong"]),
            only=int(row["only"]),
            **{n: number(row[n]) for n in ("precision", "recall", "risk", "coverage")},
        )
        for row in records(trust.by_flag(values))
    )


def risk(values: pd.DataFrame) -> tuple[RiskCurve, ...]:
    """The curve of each signal, thinned to at most `POINTS` points."""
    table = risks.curves(values, risks.signals(values))
    curves = []
    for name, points in table.groupby("signal", sort=False):
        # Every k-th point, and always the last, which accepts everything.
        kept = points.iloc[:: -max(1, -(-len(points) // POINTS))].iloc[::-1]
        curves.append(RiskCurve(str(name), tuple(kept["coverage"]), tuple(kept["risk"])))
    return tuple(curves)


def review(values: pd.DataFrame) -> tuple[Review, ...]:
    """What must be looked at to reach a silent-error rate."""
    return tuple(
        Review(
            row["signal"],
            float(row["target"]),
            number(row["threshold"]),
            *(share(row, name, limits=name) for name in ("review", "silent")),
        )
        for row in records(risks.review_rates(values))
    )


def calibration(values: pd.DataFrame) -> tuple[Bin, ...]:
    """Accuracy by confidence."""
    return tuple(
        Bin(
            float(row["low"]),
            float(row["high"]),
            float(row["confidence"]),
            share(row, "accuracy", limits="accuracy"),
        )
        for row in records(calibrations.reliability(values))
    )


def ink(values: pd.DataFrame) -> tuple[InkBin, ...]:
    """What became of values, by how much of their ink is left; where that is known."""
    table = keyed(abstention.by_ink(values).dropna(subset=["ink"]), ["ink"])
    return tuple(InkBin(float(edge), **figures) for (edge,), figures in table.items())
