"""Intervals by resampling sheets, each with all its fields, lines, runs and transmissions.

Values of one sheet share its fate (the same streak crosses them all), so a value is no independent
observation; a sheet is. Every figure here is a ratio of two sums over sheets, therefore resampling
needs no more than one number pair per sheet and a matrix product.

The interval is BCa (Efron 1987, "Better bootstrap confidence intervals") with three points of
practice: the bias correction is set to the acceleration, which it equals to first order for a mean
(DiCiccio and Efron 1996, "Bootstrap confidence intervals"), and that spares the noise of estimating
it; the tails are widened for few sheets (Hesterberg 2015, "What teachers should know about the
bootstrap"); and where all sheets are right, or none is, resampling has nothing to say and the rule
of three takes over (Hanley and Lippman-Hand 1983, "If nothing goes wrong, is everything all
right?"): a rate of which 0 of n cases are seen is below 3/n, with 95 % confidence.

Coverage of 95 % intervals that was measured, on sheets of 10 to 120 dependent values: with 120
sheets 95 % at a rate of 0.9, 94 % at 0.98, and 89 % at 0.995, where few sheets show any error at
all; with 12 sheets 93 % and 86 % at the first two. The percentile interval reaches 94, 91, 85 and
92, 80 %.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, t

FEWEST = 8
"""Units below which there is no interval: of two units it would cover 51 %, of three 73 %, of five
87 % (rate 0.9, dependent values), whatever it says on the label."""
RESAMPLES = 5000
"""Fewer let the limits of one-value sheets jump between seeds."""

Floats = NDArray[np.float64]


@lru_cache(maxsize=16)
def weights(units: int, resamples: int, seed: int) -> Floats:
    """How often each unit is drawn: (resamples, units), every row sums to `units`."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(units, np.full(units, 1 / units), size=resamples)
    counts: Floats = drawn.astype(np.float64)
    counts.setflags(write=False)
    return counts


def estimates(
    parts: Floats,
    wholes: Floats,
    *,
    bounded: bool | NDArray[np.bool_] = True,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Floats:
    """Ratios of sums with their intervals.

    Args:
        parts: (units, figures): what each unit adds to the numerator.
        wholes: (units, figures): what it adds to the denominator, positive.
        bounded: the ratio is a share, 0..1, so that the rule of three holds at its ends; one
            answer, or one per figure.
        level: of the interval.
        resamples: how many.
        seed: of the resampling.

    Returns:
        (3, figures): value, low, high. Without units all are NaN; the limits are NaN with fewer
        than `FEWEST` units, unless the rule of three has something to say.
    """
    units = len(parts)
    if not units:
        return np.full((3, parts.shape[1]), np.nan)
    part, whole = parts.sum(axis=0), wholes.sum(axis=0)
    value = part / whole
    if units < FEWEST:
        low = high = np.full_like(value, np.nan)
    else:
        low, high = _bca(parts, wholes, level, weights(units, resamples, seed))
    none, all_ = bounded & (part == 0), bounded & (part == whole)
    low = np.where(none, 0.0, np.where(all_, max(0.0, 1 - 3 / units), low))
    high = np.where(all_, 1.0, np.where(none, min(1.0, 3 / units), high))
    return np.stack([value, low, high])


def _bca(parts: Floats, wholes: Floats, level: float, drawn: Floats) -> tuple[Floats, Floats]:
    units, resamples = drawn.shape[1], len(drawn)
    replicates = np.sort((drawn @ parts) / (drawn @ wholes), axis=0)
    others = (parts.sum(axis=0) - parts) / (wholes.sum(axis=0) - wholes)
    pull = others.mean(axis=0) - others
    spread = 6 * (pull**2).sum(axis=0) ** 1.5
    skew = np.divide((pull**3).sum(axis=0), spread, out=np.zeros(len(spread)), where=spread > 0)
    tail = np.sqrt(units / (units - 1)) * t.ppf((1 - level) / 2, units - 1)

    def limit(z: float) -> Floats:
        share = norm.cdf(skew + (skew + z) / (1 - skew * (skew + z)))
        place = np.clip(np.rint(share * (resamples + 1)) - 1, 0, resamples - 1).astype(int)
        return np.asarray(replicates[place, np.arange(len(skew))])

    return limit(tail), limit(-tail)


def ratios(
    table: pd.DataFrame,
    figures: Mapping[str, tuple[str, str]],
    *,
    by: Sequence[str] = (),
    unit: str = "sheet",
    unbounded: Collection[str] = (),
    seed: int = 0,
) -> pd.DataFrame:
    """Ratios of sums per group, with 95 % intervals over units.

    Args:
        table: one row per observation, with the columns named here.
        figures: name → the columns (numbers or booleans, nothing missing) whose sums are divided.
        by: columns to group by, in this order; groups come in sorted order.
        unit: column that names what is resampled.
        unbounded: figures that are no shares, see `estimates`.
        seed: of the resampling.

    Returns:
        One row per group and figure: the columns of `by`, `figure`, `value`, `low`, `high`,
        `count` (sum of the denominator) and `units` (those with a denominator above zero). A
        figure that is known of no unit has NaN, and count 0.
    """
    columns = list(dict.fromkeys(c for pair in figures.values() for c in pair))
    sums = table.astype(dict.fromkeys(columns, float)).groupby([*by, unit], observed=True)[columns]
    bounded = np.array([f not in unbounded for f in figures])
    rows: list[tuple[object, ...]] = []
    for key, group in _groups(sums.sum(), len(by)):
        parts = group[[a for a, _ in figures.values()]].to_numpy()
        wholes = group[[b for _, b in figures.values()]].to_numpy()
        found = np.empty((3, len(figures)))
        # Figures that are known of the same units are computed together.
        masks, which = np.unique(wholes > 0, axis=1, return_inverse=True)
        for i, mask in enumerate(masks.T):
            same = which.ravel() == i
            cells = np.ix_(mask, same)
            found[:, same] = estimates(
                parts[cells], wholes[cells], bounded=bounded[same], seed=seed
            )
        for name, estimate, whole in zip(figures, found.T, wholes.T, strict=True):
            rows.append((*key, name, *estimate, int(whole.sum()), int((whole > 0).sum())))
    return pd.DataFrame(rows, columns=[*by, "figure", "value", "low", "high", "count", "units"])


def means(
    table: pd.DataFrame,
    figures: Sequence[str],
    *,
    by: Sequence[str] = (),
    unit: str = "sheet",
    unbounded: Collection[str] = (),
    seed: int = 0,
) -> pd.DataFrame:
    """Means of columns per group, with 95 % intervals over units.

    A value that is NaN is unknown: it counts neither above nor below. Arguments and result as for
    `ratios`; `count` is the number of known values.
    """
    known = {f"{f} known": table[f].notna() for f in figures}
    filled = {f: table[f].astype(float).fillna(0.0) for f in figures}
    pairs = {f: (f, f"{f} known") for f in figures}
    table = table.assign(**filled, **known)
    return ratios(table, pairs, by=by, unit=unit, unbounded=unbounded, seed=seed)


def _groups(sums: pd.DataFrame, levels: int) -> Iterator[tuple[tuple[object, ...], pd.DataFrame]]:
    """The units of each group; the index holds the group first and the unit last."""
    if sums.empty:
        return
    if not levels:
        yield (), sums
        return
    for key, group in sums.groupby(level=list(range(levels)), sort=True):
        yield key if isinstance(key, tuple) else (key,), group
