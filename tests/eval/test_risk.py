from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.risk import TARGETS, by_code, choose, curve, curves, review_rates, signals
from eval.selection import chosen_half, consensus
from eval.tidy import CONSENSUS, VALUES, frame


def points(trust, wrong):
    return curve(pd.Series(trust, dtype=float), pd.Series(wrong, dtype=bool))


class TestCurve:
    def test_points(self):
        found = points([0.9, 0.5, 0.7, 0.5], [False, True, False, False])
        assert found["threshold"].tolist() == [0.9, 0.7, 0.5]
        assert found["coverage"].tolist() == [0.25, 0.5, 1]
        assert found["risk"].tolist() == [0, 0, 0.25]
        assert found["silent"].tolist() == [0, 0, 0.25]
        assert found["review"].tolist() == [0.75, 0.5, 0]

    def test_equal_trust_is_accepted_together(self):
        assert points([0.5] * 4, [True, False, False, False])["risk"].tolist() == [0.25]

    def test_empty(self):
        assert points([], []).empty

    def test_one_value(self):
        assert points([0.5], [True])[["coverage", "risk"]].to_numpy().tolist() == [[1, 1]]

    @settings(deadline=None, max_examples=60)
    @given(
        pairs=st.lists(
            st.tuples(st.sampled_from([0.1, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=20
        ),
        seed=st.integers(0, 9),
    )
    def test_properties(self, pairs, seed):
        trust, wrong = map(np.array, zip(*pairs, strict=True))
        found = points(trust, wrong)
        assert found["coverage"].is_monotonic_increasing
        assert found["silent"].is_monotonic_increasing
        last = found.iloc[-1]
        assert (last["coverage"], last["risk"]) == (1, pytest.approx(wrong.mean()))
        np.testing.assert_allclose(found["silent"], found["risk"] * found["coverage"])
        # Neither the order of the values nor the scale of trust matters.
        order = np.random.default_rng(seed).permutation(len(trust))
        again = points(np.exp(trust[order]), wrong[order])
        pd.testing.assert_frame_equal(
            found.drop(columns="threshold"), again.drop(columns="threshold")
        )


class TestChoose:
    CURVE = points([0.9, 0.8, 0.7, 0.6], [False, True, False, True])

    @pytest.mark.parametrize(
        ("target", "threshold", "review"),
        [(0.5, -float("inf"), 0), (0.25, 0.7, 0.25), (0.1, 0.9, 0.75)],
    )
    def test_least_review(self, target, threshold, review):
        found = choose(self.CURVE, target)
        assert (found.threshold, found.review) == (threshold, review)
        assert found.silent <= target

    def test_everything_must_be_seen(self):
        found = choose(points([0.9, 0.1], [True, False]), 0.1)
        assert (found.threshold, found.review, found.silent) == (float("inf"), 1, 0)

    def test_nothing_to_choose_from(self):
        assert np.isnan(choose(points([], []), 0.1).threshold)


class TestSignals:
    def test_what_is_flagged_comes_last(self, a_value):
        rows = [
            a_value(run=CONSENSUS, confidence=c, flagged=f, votes=v)
            for c, f, v in [(0.9, True, 1.0), (0.1, False, 0.6), (0.5, False, np.nan)]
        ]
        found = {n: s.tolist() for n, s in signals(frame(rows, VALUES)).items()}
        assert found["flags"] == [0, 1, 1]
        assert found["confidence"] == [0.9, 0.1, 0.5]
        assert np.argsort(found["all"]).tolist() == [0, 1, 2]
        # Unknown votes are no votes: they are trusted least.
        assert np.argmin(found["votes"]) == 2

    def test_each_code(self, a_value):
        rows = [a_value(run=CONSENSUS, codes=c) for c in [("sum",), (), ("sum", "weekday")]]
        found = {n: s.tolist() for n, s in by_code(frame(rows, VALUES)).items()}
        assert found == {"sum": [0, 1, 0], "weekday": [1, 1, 0]}

    def test_curves(self, scores_of):
        values = scores_of(6).values
        found = curves(values, signals(values) | by_code(values))
        assert found["signal"].unique().tolist() == [
            *("flags", "confidence", "votes", "all"),
            "low_confidence",
        ]
        ends = found.groupby("signal").tail(1)
        assert ends["risk"].tolist() == pytest.approx([(~consensus(values)["right"]).mean()] * 5)

    def test_no_curves(self, scores_of):
        assert curves(scores_of(1).values, {}).empty


class TestReviewRates:
    def test_thresholds_of_one_half_are_reported_on_the_other(self, scores_of):
        values = scores_of(60, lines=5).values
        found = review_rates(values).set_index(["signal", "target"])
        assert found["chosen_sheets"].eq(30).all()
        assert found["sheets"].eq(30).all()
        assert found["count"].eq(30 * (5 + 15)).all()
        assert (found["chosen_silent"] <= found.index.get_level_values("target")).all()
        for signal in ("confidence", "all"):
            # A stricter target needs more review.
            assert found.loc[signal, "review"].is_monotonic_increasing
            assert found.loc[signal, "chosen_review"].is_monotonic_increasing

    def test_the_choice_does_not_look_at_the_other_half(self, scores_of):
        values = scores_of(20).values
        found = review_rates(values)
        table = consensus(values)
        reported = table.index[~table["sheet"].isin(chosen_half(values["sheet"]))]
        worse = values.copy()
        worse.loc[reported, "right"] = False
        again = review_rates(worse)
        chosen = ["threshold", "chosen_review", "chosen_silent"]
        pd.testing.assert_frame_equal(found[chosen], again[chosen])
        assert (again["silent"] >= found["silent"]).all()

    def test_all_wrong(self, scores_of):
        values = scores_of(10).values.assign(right=False, flagged=False)
        found = review_rates(values)
        assert found["threshold"].eq(np.inf).all()
        # That everything is reviewed is the choice, not an estimate.
        assert found[["review", "review_low", "review_high"]].eq(1).all(axis=None)
        assert found[["silent", "silent_low", "silent_high"]].eq(0).all(axis=None)

    def test_all_right(self, scores_of):
        found = review_rates(scores_of(10).values.assign(right=True))
        assert found["review"].eq(0).all()
        assert found["silent_high"].eq(3 / 5).all()

    @pytest.mark.parametrize("sheets", [0, 1])
    def test_too_few_sheets_to_split(self, scores_of, sheets):
        values = scores_of(1).values
        found = review_rates(values if sheets else values.iloc[:0])
        assert len(found) == 4 * len(TARGETS)
        assert found[["threshold", "review", "silent"]].isna().all(axis=None)

    def test_order_of_rows_does_not_matter(self, scores_of):
        values = scores_of(8).values
        mixed = values.sample(frac=1, random_state=2)
        pd.testing.assert_frame_equal(review_rates(values), review_rates(mixed))
