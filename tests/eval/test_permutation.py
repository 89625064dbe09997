from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eval.permutation import paired, sign_flip
from eval.selection import consensus, single
from ocr_pipeline.errors import UsageError

SEED = 5


class TestFalsePositives:
    def test_between_equals(self):
        differences = np.random.default_rng(SEED).normal(size=(800, 30))
        p = sign_flip(differences, resamples=499)
        assert 0.03 <= (p <= 0.05).mean() <= 0.07
        assert 0.07 <= (p <= 0.10).mean() <= 0.13

    def test_between_equals_on_sheets_that_seldom_differ(self):
        # Most sheets are equally right in both; ties make the test more careful, never less.
        rng = np.random.default_rng(SEED)
        differences = rng.choice([-2.0, -1, 0, 0, 0, 0, 1, 2], (500, 30))
        assert (sign_flip(differences, resamples=999) <= 0.05).mean() <= 0.065

    def test_a_real_difference_is_found(self):
        differences = np.random.default_rng(SEED).normal(0.8, 1, (200, 40))
        assert (sign_flip(differences, resamples=999) <= 0.05).mean() >= 0.95


class TestExact:
    def test_all_patterns_of_few_sheets(self):
        # 2 of the 2^5 patterns are as extreme as all signs alike.
        assert float(sign_flip(np.array([1.0, 2, 3, 4, 5]))) == pytest.approx(2 / 32)

    def test_five_sheets_can_never_be_significant(self):
        assert float(sign_flip(np.full(5, 9.0))) > 0.05

    def test_the_drawn_pattern_counts_itself(self):
        assert float(sign_flip(np.ones(60), resamples=99)) == pytest.approx(2 / 100)


class TestPaired:
    def test_against_itself(self, scores_of):
        values = consensus(scores_of().values)
        found = paired(values, values, "right")
        assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)
        assert (found.better, found.worse, found.sheets) == (0, 0, 8)
        assert found.first == found.second == values["right"].mean()

    def test_the_other_way_round(self, scores_of):
        a = single(scores_of(12, seed=1, accuracy=0.8).values)
        b = a.assign(right=np.random.default_rng(0).random(len(a)) < 0.9)
        there, back = paired(a, b, "right"), paired(b, a, "right")
        assert there.difference == pytest.approx(-back.difference)
        assert there.difference == pytest.approx(b["right"].mean() - a["right"].mean())
        assert (there.better, there.worse) == (back.worse, back.better)
        assert there.p == pytest.approx(back.p, abs=0.02)
        assert there.low <= there.difference <= there.high

    def test_other_number_of_runs(self, scores_of):
        values = single(scores_of(4).values)
        some = values[values["run"] < 2]
        found = paired(values, some, "right")
        assert found.second == pytest.approx(some["right"].mean())

    def test_order_of_rows_does_not_matter(self, scores_of):
        a = single(scores_of(12).values)
        b = a.assign(right=~a["right"])
        assert paired(a, b, "right") == paired(a.sample(frac=1), b.sample(frac=1), "right")

    def test_all_right_against_all_wrong(self, scores_of):
        a = consensus(scores_of(10).values)
        found = paired(a.assign(right=False), a.assign(right=True), "right")
        assert (found.difference, found.p, found.better) == (1, pytest.approx(2 / 2**10), 10)

    def test_one_sheet_proves_nothing(self, scores_of):
        a = consensus(scores_of(1).values)
        found = paired(a.assign(right=False), a.assign(right=True), "right")
        assert (found.difference, found.p) == (1, 1)
        assert np.isnan([found.low, found.high]).all()

    def test_empty(self, scores_of):
        none = scores_of(1).values.iloc[:0]
        found = paired(none, none, "right")
        assert found.sheets == 0
        assert np.isnan([found.first, found.difference, found.p]).all()

    @pytest.mark.parametrize("keep", [lambda v: v["row"].isna(), lambda v: v["severity"] == 1])
    def test_other_values(self, scores_of, keep):
        values: pd.DataFrame = consensus(scores_of(4).values)
        with pytest.raises(UsageError, match="not about the same values"):
            paired(values, values[keep(values)], "right")
