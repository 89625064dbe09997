from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, bootstrap

from eval.bootstrap import FEWEST, estimates, means, ratios, weights

SEED = 11


def covered(low, high, rate):
    """Whether an interval holds the rate; limits lie on a lattice, so rounding must not decide."""
    return (low <= rate + 1e-9) & (rate <= high + 1e-9)


def dependent(units, trials, rate, rng):
    """Sheets of 10 to 120 values that share their sheet's own accuracy."""
    wholes = rng.integers(10, 120, (units, trials))
    own = rng.beta(8 * rate, 8 * (1 - rate), (units, trials))
    return rng.binomial(wholes, own).astype(float), wholes.astype(float)


class TestCoverage:
    def test_sheets_of_many_dependent_values(self):
        parts, wholes = dependent(120, 2000, 0.9, np.random.default_rng(SEED))
        _, low, high = estimates(parts, wholes)
        assert 0.93 <= covered(low, high, 0.9).mean() <= 0.97

    @pytest.mark.parametrize("seed", [0, 1])
    def test_sheets_of_one_value_exactly(self, seed):
        # All outcomes there can be, each with its probability: no simulation noise.
        right = np.arange(121)
        parts = (np.arange(120)[:, None] < right).astype(float)
        _, low, high = estimates(parts, np.ones_like(parts), seed=seed)
        coverage = binom.pmf(right, 120, 0.9)[covered(low, high, 0.9)].sum()
        assert 0.93 <= coverage <= 0.97

    def test_few_sheets(self):
        parts, wholes = dependent(12, 1000, 0.9, np.random.default_rng(SEED))
        _, low, high = estimates(parts, wholes, resamples=2000)
        assert covered(low, high, 0.9).mean() >= 0.9

    def test_values_of_a_sheet_are_not_independent(self):
        parts, wholes = dependent(120, 1, 0.9, np.random.default_rng(SEED))
        _, low, high = estimates(parts, wholes)[:, 0]
        share = parts.sum() / wholes.sum()
        naive = 2 * 1.96 * np.sqrt(share * (1 - share) / wholes.sum())
        assert high - low > 2 * naive

    def test_no_error_on_any_sheet(self):
        # The rule of three: a rate of 3/n shows no error with a chance of 5 %.
        parts = np.zeros((60, 1))
        assert estimates(parts, np.ones_like(parts))[:, 0].tolist() == [0, 0, 3 / 60]
        assert binom.pmf(0, 60, 3 / 60) < 0.05


def test_like_scipy():
    parts, wholes = dependent(40, 1, 0.8, np.random.default_rng(SEED))
    value, low, high = estimates(parts, wholes)[:, 0]
    theirs = bootstrap(
        (parts[:, 0], wholes[:, 0]),
        lambda p, w, axis: p.sum(axis) / w.sum(axis),
        paired=True,
        vectorized=True,
        method="BCa",
        n_resamples=9999,
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert value == parts.sum() / wholes.sum()
    # Ours is a little wider: scipy does not correct for the number of units.
    assert low == pytest.approx(theirs.low, abs=0.006)
    assert high == pytest.approx(theirs.high, abs=0.006)
    assert high - low > 0.98 * (theirs.high - theirs.low)


class TestDegenerate:
    def test_no_unit(self):
        assert np.isnan(estimates(np.zeros((0, 2)), np.zeros((0, 2)))).all()

    def test_one_unit_has_no_spread(self):
        value, low, high = estimates(np.array([[3.0]]), np.array([[4.0]]))[:, 0]
        assert value == 0.75
        assert np.isnan([low, high]).all()

    @pytest.mark.parametrize(("part", "expected"), [(0.0, [0, 0, 1]), (4.0, [1, 0, 1])])
    def test_one_unit_all_wrong_or_right_says_nothing(self, part, expected):
        assert estimates(np.array([[part]]), np.array([[4.0]]))[:, 0].tolist() == expected

    def test_all_right(self):
        ones = np.ones((30, 1))
        assert estimates(ones, ones)[:, 0].tolist() == [1, 0.9, 1]

    def test_a_mean_of_zero_is_no_share(self):
        found = estimates(np.zeros((30, 1)), np.ones((30, 1)), bounded=False)
        assert found[:, 0].tolist() == [0, 0, 0]

    def test_all_units_alike(self):
        assert estimates(np.ones((9, 1)), np.full((9, 1), 2.0))[:, 0].tolist() == [0.5] * 3

    def test_too_few_units_have_no_interval(self):
        value, low, high = estimates(np.ones((FEWEST - 1, 1)), np.full((FEWEST - 1, 1), 2.0))[:, 0]
        assert value == 0.5
        assert np.isnan([low, high]).all()
        none = estimates(np.zeros((5, 1)), np.ones((5, 1)))[:, 0]
        assert none.tolist() == [0.0, 0.0, 0.6]  # the rule of three holds for any number


def test_drawn_weights_are_counts_and_cannot_be_changed():
    drawn = weights(7, 50, 3)
    assert drawn.shape == (50, 7)
    assert (drawn.sum(axis=1) == 7).all()
    with pytest.raises(ValueError, match="read-only"):
        drawn[0, 0] = 1


def table_of(rows):
    return pd.DataFrame(rows, columns=["sheet", "severity", "right", "score"]).astype(
        {"sheet": "str", "severity": int, "right": bool, "score": float}
    )


rows = st.lists(
    st.tuples(
        st.sampled_from("abcde"),
        st.sampled_from([0, 3]),
        st.booleans(),
        st.one_of(st.just(float("nan")), st.floats(0, 1)),
    ),
    max_size=30,
)


class TestMeans:
    def test_groups_and_counts(self):
        table = table_of([("a", 0, True, 0.5), ("a", 0, False, np.nan), ("b", 3, True, np.nan)])
        found = means(table, ["right", "score"], by=["severity"]).set_index(["severity", "figure"])
        assert found.loc[(0, "right"), ["value", "count", "units"]].tolist() == [0.5, 2, 1]
        assert found.loc[(0, "score"), ["value", "count", "units"]].tolist() == [0.5, 1, 1]
        assert found.loc[(3, "score"), ["count", "units"]].tolist() == [0, 0]
        assert np.isnan(found.loc[(3, "score"), ["value", "low", "high"]].astype(float)).all()

    def test_without_groups(self):
        found = means(table_of([("a", 0, True, 0.5), ("b", 0, False, 0.5)]), ["right"])
        assert list(found.columns) == ["figure", "value", "low", "high", "count", "units"]
        assert found.loc[0, "value"] == 0.5

    @pytest.mark.parametrize("by", [[], ["severity"]])
    def test_empty(self, by):
        found = means(table_of([]), ["right"], by=by)
        assert found.empty
        assert list(found.columns) == [*by, "figure", "value", "low", "high", "count", "units"]

    @settings(deadline=None, max_examples=40)
    @given(rows=rows, seed=st.integers(0, 99))
    def test_order_of_rows_does_not_matter(self, rows, seed):
        table = table_of(rows)
        mixed = table.sample(frac=1, random_state=seed)
        a, b = (means(t, ["right", "score"], by=["severity"]) for t in (table, mixed))
        pd.testing.assert_frame_equal(a, b, rtol=1e-9)

    @settings(deadline=None, max_examples=40)
    @given(rows=rows)
    def test_value_between_limits_between_0_and_1(self, rows):
        found = means(table_of(rows), ["right", "score"], by=["severity"]).dropna()
        assert (found["low"] <= found["value"] + 1e-9).all()
        assert (found["value"] <= found["high"] + 1e-9).all()
        assert found["low"].ge(0).all()
        assert found["high"].le(1).all()

    @settings(deadline=None, max_examples=20)
    @given(rows=rows)
    def test_another_run_that_says_the_same_adds_no_certainty(self, rows):
        once = table_of(rows)
        twice = pd.concat([once, once])
        a, b = (means(t, ["right", "score"], by=["severity"]) for t in (once, twice))
        numbers = ["value", "low", "high", "units"]
        pd.testing.assert_frame_equal(a[numbers], b[numbers], rtol=1e-9)

    def test_groups_do_not_touch_each_other(self):
        rng = np.random.default_rng(SEED)
        table = table_of(
            [(f"s{i}", i % 2 * 3, rng.random() < 0.7, 0.0) for i in range(40) for _ in range(5)]
        )
        both = means(table, ["right"], by=["severity"])
        alone = means(table[table["severity"] == 3], ["right"], by=["severity"])
        pd.testing.assert_frame_equal(both[both["severity"] == 3].reset_index(drop=True), alone)


def test_ratio_weighs_by_its_denominator():
    table = pd.DataFrame({"sheet": ["a", "b"], "edits": [1, 3], "length": [10, 2]})
    found = ratios(table, {"cer": ("edits", "length")}, unbounded=["cer"])
    assert found.loc[0, ["value", "count", "units"]].tolist() == [4 / 12, 12, 2]


def test_the_seed_decides():
    rng = np.random.default_rng(SEED)
    parts, wholes = dependent(30, 1, 0.9, rng)
    a, b, c = (estimates(parts, wholes, seed=s).tolist() for s in (1, 1, 2))
    assert a == b != c
