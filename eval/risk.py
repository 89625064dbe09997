"""Risk against coverage: how much can be trusted unseen, and how wrong it is.

A signal gives every value a trust; values below a threshold go to a person. Coverage is the share
that does not, risk the share of errors among those (El-Yaniv and Wiener 2010, "On the foundations
of noise-free selective classification"). The silent-error rate is risk times coverage: wrong values
that nobody looks at, as a share of all values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eval.bootstrap import means
from eval.selection import chosen_half, consensus

TARGETS = (0.01, 0.005, 0.001)
"""Silent-error rates that somebody may want to live with."""


def signals(values: pd.DataFrame) -> dict[str, pd.Series]:
    """Name → trust of each true value as all runs together say it; greater is more trusted.

    `flags`: 1 without a flag, 0 with one, as the product decides; `confidence` and `votes` as they
    are; `all`: what is flagged comes behind everything else, by confidence within. An unknown
    confidence or vote is trusted least.
    """
    table = consensus(values)
    unflagged = (~table["flagged"]).astype(float)
    confidence = table["confidence"].fillna(-1.0)
    return {
        "flags": unflagged,
        "confidence": confidence,
        "votes": table["votes"].fillna(-1.0),
        "all": confidence + 3 * unflagged,
    }


def by_code(values: pd.DataFrame) -> dict[str, pd.Series]:
    """Flag code → trust of each true value: 0 under that code, 1 without it."""
    codes = consensus(values)["codes"]
    return {
        code: codes.map(lambda own, code=code: 0.0 if code in own else 1.0).astype(float)
        for code in sorted({c for own in codes for c in own})
    }


def curve(trust: pd.Series, wrong: pd.Series) -> pd.DataFrame:
    """Risk–coverage curve: one point per threshold that changes anything.

    Args:
        trust: of each value.
        wrong: whether each value is wrong; the same index.

    Returns:
        `threshold` (values of at least this trust are accepted), `coverage`, `risk`, `silent`
        (wrong and accepted, of all values) and `review` (1 − coverage), by growing coverage. The
        last point accepts everything. Values of equal trust are accepted together.
    """
    order = np.argsort(-trust.to_numpy(), kind="stable")
    sorted_trust = trust.to_numpy()[order]
    errors = np.cumsum(wrong.to_numpy().astype(float)[order])
    last = np.flatnonzero(np.append(sorted_trust[1:] != sorted_trust[:-1], True)[: len(order)])
    accepted = last + 1.0
    coverage = accepted / len(order) if len(order) else accepted
    return pd.DataFrame(
        {
            "threshold": sorted_trust[last],
            "coverage": coverage,
            "risk": errors[last] / accepted,
            "silent": errors[last] / max(len(order), 1),
            "review": 1 - coverage,
        }
    )


def curves(values: pd.DataFrame, trusts: Mapping[str, pd.Series]) -> pd.DataFrame:
    """The curves of some signals, one after the other, with a column `signal` before them."""
    wrong = ~consensus(values)["right"]
    tables = [curve(trust, wrong).assign(signal=name) for name, trust in trusts.items()]
    columns = ["signal", "threshold", "coverage", "risk", "silent", "review"]
    return (
        pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """A threshold.

    Attributes:
        threshold: values of at least this trust are accepted; −infinite: all are, infinite: none
            is, NaN: there was nothing to choose it from.
        review: share that goes to a person.
        silent: share that is wrong and does not.
    """

    threshold: float
    review: float
    silent: float


def choose(points: pd.DataFrame, target: float) -> Choice:
    """The threshold with the least review whose silent-error rate is at most `target`.

    Args:
        points: what `curve` returns.
        target: the silent-error rate, 0..1.
    """
    if points.empty:
        return Choice(*[float("nan")] * 3)
    good = points[points["silent"] <= target]
    if good.empty:
        return Choice(float("inf"), 1.0, 0.0)
    best = good.iloc[-1]
    # Where nothing need be reviewed, the least trust that was seen is no threshold.
    threshold = float(best["threshold"]) if best["review"] else -float("inf")
    return Choice(threshold, float(best["review"]), float(best["silent"]))


def review_rates(
    values: pd.DataFrame, *, targets: Sequence[float] = TARGETS, seed: int = 0
) -> pd.DataFrame:
    """What must be reviewed to reach a silent-error rate, with thresholds set on other sheets.

    Thresholds are chosen on one half of the sheets and applied to the other; what is reported is
    measured there, so a threshold that only suits its own half shows.

    Args:
        values: the tidy table.
        targets: silent-error rates.
        seed: of the halves and of the resampling.

    Returns:
        One row per signal and target: `signal`, `target`, `threshold`, `chosen_silent` and
        `chosen_review` (on the first half, of `chosen_sheets` sheets), then, on the second half,
        `review` and `silent` with `_low` and `_high`, `count` (values) and `sheets`. NaN
        with fewer than two sheets.
    """
    table = consensus(values)
    first = table["sheet"].isin(chosen_half(table["sheet"], seed))
    wrong = ~table["right"]
    rows = []
    for name, trust in signals(values).items():
        points = curve(trust[first], wrong[first])
        for target in targets:
            choice = choose(points, target)
            row: dict[str, object] = {
                "signal": name,
                "target": target,
                "threshold": choice.threshold,
                "chosen_review": choice.review,
                "chosen_silent": choice.silent,
                "chosen_sheets": table.loc[first, "sheet"].nunique(),
            }
            if not np.isnan(choice.threshold):
                accepted = trust[~first] >= choice.threshold
                row |= _reported(table[~first], accepted, seed)
            rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _reported(table: pd.DataFrame, accepted: pd.Series, seed: int) -> dict[str, object]:
    judged = table.assign(review=~accepted, silent=~table["right"] & accepted)
    row: dict[str, object] = {}
    for found in means(judged, ["review", "silent"], seed=seed).to_dict("records"):
        value, low, high = found["value"], found["low"], found["high"]
        if not accepted.any():  # everything goes to review, by intent and not by chance
            low = high = value
        name = found["figure"]
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        row |= {"count": found["count"], "sheets": found["units"]}
    return row


_COLUMNS = [
    *("signal", "target", "threshold", "chosen_review", "chosen_silent", "chosen_sheets"),
    *("review", "review_low", "review_high", "silent", "silent_low", "silent_high"),
    *("count", "sheets"),
]
