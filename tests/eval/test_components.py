from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eval.components import components, decompose

SOURCES = ("sheet", "transmission", "run")


def nested(sheets, transmissions, runs, deviations, seed=0):
    """A table of the model; counts are numbers, or functions that draw one."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(sheets):
        s = rng.normal(0, deviations[0])
        for j in range(transmissions(rng) if callable(transmissions) else transmissions):
            t = rng.normal(0, deviations[1])
            count = runs(rng) if callable(runs) else runs
            y = 0.8 + s + t + rng.normal(0, deviations[2], count)
            rows += [(f"s{i}", j, k, y[k]) for k in range(count)]
    return pd.DataFrame(rows, columns=["sheet", "transmission", "run", "y"])


def variances(table):
    found = decompose(table)
    return [getattr(found, source).variance for source in SOURCES]


def test_balanced_as_in_the_textbook():
    table = nested(7, 3, 4, (0.2, 0.1, 0.05))
    y = table["y"].to_numpy().reshape(7, 3, 4)
    cell, sheet = y.mean(axis=2), y.mean(axis=(1, 2))
    ms_run = ((y - cell[..., None]) ** 2).sum() / (7 * 3 * 3)
    ms_trans = 4 * ((cell - sheet[:, None]) ** 2).sum() / (7 * 2)
    ms_sheet = 12 * ((sheet - y.mean()) ** 2).sum() / 6
    expected = [(ms_sheet - ms_trans) / 12, (ms_trans - ms_run) / 4, ms_run]
    assert variances(table) == pytest.approx(expected)


def test_unbalanced_is_unbiased():
    deviations = (0.2, 0.15, 0.1)
    draws = [
        variances(
            nested(
                30,
                lambda rng: rng.integers(1, 4),
                lambda rng: rng.integers(1, 6),
                deviations,
                seed,
            )
        )
        for seed in range(25)
    ]
    assert np.mean(draws, axis=0) == pytest.approx(np.square(deviations), rel=0.2)


def test_limits_hold_the_truth():
    found = decompose(nested(150, 3, 3, (0.2, 0.15, 0.1), seed=1))
    for source, deviation in zip(SOURCES, (0.2, 0.15, 0.1), strict=True):
        part = getattr(found, source)
        assert part.low < deviation**2 < part.high
        assert part.deviation == pytest.approx(deviation, rel=0.2)
    assert sum(getattr(found, s).share for s in SOURCES) == pytest.approx(1)


@pytest.mark.parametrize("deviations", [(0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)])
def test_one_source_alone(deviations):
    found = variances(nested(200, 3, 3, deviations))
    largest = int(np.argmax(deviations))
    assert found[largest] == pytest.approx(0.09, rel=0.2)
    assert sum(found) - found[largest] < 0.005


class TestWhatCannotBeTold:
    def test_one_transmission(self):
        found = variances(nested(50, 1, 4, (0.2, 0.2, 0.1)))
        assert np.isnan(found).tolist() == [False, True, False]
        assert found[0] == pytest.approx(0.08, rel=0.4)  # sheet and transmission together

    def test_one_run(self):
        found = variances(nested(80, 4, 1, (0.3, 0.1, 0.2)))
        assert np.isnan(found).tolist() == [False, False, True]
        assert found[1] == pytest.approx(0.05, rel=0.3)  # transmission and run together

    def test_one_sheet(self):
        found = decompose(nested(1, 4, 4, (0.2, 0.2, 0.1)))
        assert np.isnan(found.sheet.variance)
        assert np.isnan([found.run.low, found.run.high]).all()
        assert found.transmission.share + found.run.share == pytest.approx(1)

    def test_one_of_each(self):
        assert np.isnan(variances(nested(1, 1, 1, (1, 1, 1)))).all()

    def test_empty(self, scores_of):
        found = components(scores_of(1).values.iloc[:0])
        assert (found.sheets, found.transmissions, found.runs) == (0, 0, 0)
        assert np.isnan([found.mean, found.sheet.variance, found.run.share]).all()

    def test_no_variance_has_no_shares(self):
        found = decompose(nested(5, 2, 2, (0, 0, 0)).assign(y=1.0))
        assert (found.sheet.variance, found.run.variance) == (0, 0)
        assert np.isnan(found.sheet.share)


class TestInvariance:
    def test_shift_and_scale(self):
        table = nested(20, 2, 3, (0.2, 0.1, 0.1))
        moved = variances(table.assign(y=1e6 + 10 * table["y"]))
        assert moved == pytest.approx(np.multiply(100, variances(table)), rel=1e-5)

    def test_order_of_rows(self):
        table = nested(20, 2, 3, (0.2, 0.1, 0.1))
        assert variances(table.sample(frac=1)) == pytest.approx(variances(table))


def test_accuracy_of_single_runs(scores_of):
    values = scores_of(12, transmissions=3).values
    found = components(values)
    assert (found.sheets, found.transmissions, found.runs) == (12, 36, 180)
    runs = values[values["run"] >= 0]
    assert found.mean == pytest.approx(runs["right"].mean())
    # What the consensus says is no run.
    assert components(runs) == found
