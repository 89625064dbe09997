"""Where the spread of accuracy comes from: the sheet, its transmission, or the run.

The model is y_ijk = μ + s_i + t_ij + e_ijk: the accuracy of run k on transmission j of sheet i, all
three effects random. Variances are found by the method of moments: the three mean squares of the
nested analysis of variance are set equal to their expectations, with the coefficients for unequal
numbers (Henderson 1953, method 1; Searle, Casella and McCulloch 1992, "Variance Components"). An
estimate below zero is chance, and reported as 0.

All sums of squares are sums over sheets, so intervals come from resampling sheets at no cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval.bootstrap import RESAMPLES, weights
from eval.selection import single

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Component:
    """One source of variance.

    Attributes:
        variance: of accuracy (0..1, so at most 0.25). NaN: cannot be told, since the level below
            it, or it itself, is not repeated; it is then part of the next known level above.
        low: lower limit of its 95 % interval (percentile bootstrap over sheets).
        high: upper limit.
        share: of the sum of the known variances; NaN when that is 0.
    """

    variance: float
    low: float
    high: float
    share: float

    @property
    def deviation(self) -> float:
        """Standard deviation, in the unit of accuracy."""
        return float(np.sqrt(self.variance))


@dataclass(frozen=True, slots=True)
class Components:
    """The three sources, and how many of each there are.

    Attributes:
        sheet: between sheets.
        transmission: between transmissions of one sheet.
        run: between runs on one transmission.
        mean: accuracy of a run.
        sheets: number of sheets.
        transmissions: number of transmissions of all sheets.
        runs: number of runs on all of them.
    """

    sheet: Component
    transmission: Component
    run: Component
    mean: float
    sheets: int
    transmissions: int
    runs: int


def components(values: pd.DataFrame, *, seed: int = 0) -> Components:
    """Variance components of the typed accuracy of single runs.

    Args:
        values: the tidy table, of one severity as a rule.
        seed: of the resampling.
    """
    runs = single(values)
    table = runs.groupby(["sheet", "transmission", "run"])["right"].mean().astype(float)
    return decompose(table.rename("y").reset_index(), seed=seed)


def decompose(table: pd.DataFrame, *, seed: int = 0) -> Components:
    """Variance components of any measure.

    Args:
        table: columns `sheet`, `transmission`, `run` and `y`, one row per run.
        seed: of the resampling.
    """
    sums = _sums(table)
    sheets = len(sums)
    found = _solve(sums.sum(axis=0, keepdims=True))[0]
    limits = np.full((2, 3), np.nan)
    if sheets > 1:
        drawn = _solve(weights(sheets, RESAMPLES, seed) @ sums)
        told = ~np.isnan(found)
        limits[:, told] = np.nanquantile(drawn[:, told], [0.025, 0.975], axis=0)
    total = float(np.nansum(found))
    share = found / total if total > 0 else np.full(3, np.nan)
    sheet, transmission, run = (
        Component(float(v), float(low), float(high), float(s))
        for v, low, high, s in zip(found, *limits, share, strict=True)
    )
    return Components(
        sheet=sheet,
        transmission=transmission,
        run=run,
        mean=float(table["y"].mean()),
        sheets=sheets,
        transmissions=int(sums[:, 1].sum()),
        runs=int(sums[:, 0].sum()),
    )


def _sums(table: pd.DataFrame) -> Floats:
    """Per sheet (rows) what the sums of squares are made of (columns, see `_solve`)."""
    # Far from zero, squares of means would cancel; a shift changes no variance.
    y = table["y"] - (table["y"].mean() if len(table) else 0.0)
    table = table.assign(y=y, square=y**2)
    cells = table.groupby(["sheet", "transmission"]).agg(
        n=("y", "size"), y=("y", "sum"), square=("square", "sum")
    )
    cells = cells.assign(mean_square=cells["y"] ** 2 / cells["n"], n_square=cells["n"] ** 2.0)
    sheet = cells.groupby("sheet").agg(
        n=("n", "sum"),
        cells=("n", "size"),
        y=("y", "sum"),
        square=("square", "sum"),
        of_cells=("mean_square", "sum"),
        n_square=("n_square", "sum"),
    )
    columns = (
        sheet["n"],
        sheet["cells"],
        sheet["y"],
        sheet["square"],
        sheet["of_cells"],
        sheet["y"] ** 2 / sheet["n"],
        sheet["n_square"],
        sheet["n_square"] / sheet["n"],
        sheet["n"] ** 2.0,
        pd.Series(1.0, sheet.index),
    )
    return np.column_stack([c.to_numpy(float) for c in columns])


def _solve(sums: Floats) -> Floats:
    """(samples, 10) totals over sheets → (samples, 3) variances of sheet, transmission and run.

    With a sheets, b transmissions and N runs, n_ij in each:

        SS_run   = Σy² − Σ y_ij²/n_ij           E = (N − b) σ²_e
        SS_trans = Σ y_ij²/n_ij − Σ y_i²/n_i    E = (b − a) σ²_e + (N − q) σ²_t
        SS_sheet = Σ y_i²/n_i − y²/N            E = (a − 1) σ²_e + (q − r) σ²_t + (N − p) σ²_s

    where q = Σ_i Σ_j n_ij²/n_i, r = Σ n_ij²/N and p = Σ n_i²/N.
    """
    n, b, y, square, of_cells, of_sheets, n_cells, q, n_sheets, a = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        run = _above(square - of_cells, n - b)
        known_run = np.nan_to_num(run)
        trans = _above(of_cells - of_sheets - (b - a) * known_run, n - q)
        rest = (a - 1) * known_run + (q - n_cells / n) * np.nan_to_num(trans)
        sheet = _above(of_sheets - y**2 / n - rest, np.where(a > 1, n - n_sheets / n, 0.0))
    return np.column_stack([sheet, trans, run])


def _above(square: Floats, coefficient: Floats) -> Floats:
    """A variance, not below zero; NaN where nothing is repeated."""
    repeated = coefficient > 1e-9
    return np.where(
        repeated, np.maximum(square / np.where(repeated, coefficient, 1.0), 0.0), np.nan
    )
