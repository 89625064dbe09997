from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.calibration import calibration, reliability
from eval.tidy import CONSENSUS, VALUES, frame


@pytest.fixture
def of_pairs(a_value):
    """A tidy table of (confidence, right)."""

    def make(*pairs):
        rows = [
            a_value(run=CONSENSUS, confidence=c, right=r, sheet=f"s{i}")
            for i, (c, r) in enumerate(pairs)
        ]
        return frame(rows, VALUES)

    return make


def test_perfectly_calibrated(of_pairs):
    values = of_pairs(*[(0.5, True), (0.5, False)] * 5, *[(1.0, True)] * 10)
    found = calibration(values)
    assert (found.ece, found.gap, found.count) == (0, 0, 20)
    assert found.brier == pytest.approx(0.125)


def test_overconfident(of_pairs):
    found = calibration(of_pairs((0.9, True), (0.9, False)))
    assert found.ece == found.gap == pytest.approx(0.4)


def test_errors_of_bins_do_not_cancel(of_pairs):
    found = calibration(of_pairs(*[(0.2, True)] * 10, *[(0.8, False)] * 10))
    assert found.ece == pytest.approx(0.8)
    assert found.gap == pytest.approx(0)


class TestReliability:
    def test_bins_of_about_equal_mass(self, scores_of):
        values = scores_of(60).values
        table = reliability(values)
        assert len(table) == 10
        assert table["count"].between(55, 75).all()
        assert table["low"].is_monotonic_increasing
        assert (table["high"][:-1].to_numpy() < table["low"][1:].to_numpy()).all()
        assert (table["accuracy_low"] <= table["accuracy"]).all()

    def test_equal_confidences_are_never_parted(self, of_pairs):
        table = reliability(of_pairs(*[(1.0, True)] * 18, (0.3, False), (0.4, True)))
        assert table["count"].sum() == 20
        assert table["count"].iloc[-1] == 18

    def test_ece_is_its_weighted_distance(self, scores_of):
        values = scores_of(20).values
        table = reliability(values, bins=7)
        distance = (table["confidence"] - table["accuracy"]).abs()
        assert calibration(values, bins=7).ece == pytest.approx(
            np.average(distance, weights=table["count"])
        )

    @pytest.mark.parametrize("right", [True, False])
    def test_all_alike(self, of_pairs, right):
        table = reliability(of_pairs(*[(0.9, right)] * 10))
        assert len(table) == 1
        assert table.loc[0, ["accuracy_low", "accuracy_high"]].tolist() == (
            [0.7, 1] if right else [0, 0.3]
        )


def test_only_what_was_read_has_a_confidence(a_value):
    rows = [
        a_value(run=CONSENSUS, state="absent", confidence=0.0, right=False),
        a_value(run=CONSENSUS, state="blank", confidence=1.0, right=False),
        a_value(run=CONSENSUS, confidence=float("nan")),
        a_value(run=0, confidence=0.1),
    ]
    values = frame(rows, VALUES)
    assert reliability(values).empty
    assert calibration(values).count == 0
    assert np.isnan(calibration(values).ece)


@settings(deadline=None, max_examples=40)
@given(
    pairs=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    bins=st.integers(1, 12),
)
def test_properties(pairs, bins):
    values = pd.DataFrame(pairs, columns=["confidence", "right"]).assign(
        run=CONSENSUS, extra=False, state="read", sheet="a"
    )
    table = reliability(values, bins=bins)
    assert table["count"].sum() == len(pairs)
    assert len(table) <= bins
    found = calibration(values, bins=bins)
    assert abs(found.gap) - 1e-9 <= found.ece <= 1
    assert calibration(values.sample(frac=1, random_state=0), bins=bins).ece == pytest.approx(
        found.ece
    )


def test_empty(scores_of):
    none = scores_of(1).values.iloc[:0]
    assert reliability(none).empty
    assert calibration(none).count == 0
