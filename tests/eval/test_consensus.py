from __future__ import annotations

from decimal import Decimal
from math import comb, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.cases import Case
from eval.consensus import curve, subsets, summary
from eval.documents import Run, failed_run
from eval.outcomes import Form
from eval.scoring import RunSet
from ocr_pipeline.orders.model import ABSENT, Candidate, FieldState, FieldValue, Order
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))


def run(total, **about):
    """A run that read an order of this total, and nothing else."""
    amount = Decimal(total)
    value = FieldValue(FieldState.READ, total, amount, 0.9, (Candidate(amount, 1),), page=1)
    fields = {s.name: ABSENT for s in FORM.schema.fields} | {"total": value}
    return Run(orders=(Order(fields, pages=(1,)),), **about)


def run_set(*runs, name="a.tif", severity=2, sheet=""):
    return RunSet(Case(name, severity, {"total": 1200}, (), sheet=sheet), runs, FORM)


class TestSubsets:
    @settings(deadline=None, max_examples=60)
    @given(runs=st.integers(1, 9), data=st.data(), most=st.integers(1, 40))
    def test_all_or_a_sample(self, runs, data, most):
        size = data.draw(st.integers(1, runs))
        found = subsets(runs, size, most=most)
        assert len(found) == len(set(found)) == min(most, comb(runs, size))
        assert found == sorted(found)
        assert all(len(set(s)) == size and set(s) <= set(range(runs)) for s in found)
        assert subsets(runs, size, most=most) == found

    def test_five_runs_are_never_sampled(self):
        assert [len(subsets(5, k)) for k in range(1, 6)] == [5, 10, 10, 5, 1]


class TestCurve:
    def test_votes_mend_what_is_right_in_most_runs(self):
        table = curve([run_set(*map(run, ("1200", "1200", "1700")))]).set_index("k")
        assert table["values"].tolist() == [1, 1, 1]
        assert table.loc[1, "right"] == pytest.approx(2 / 3)
        assert table.loc[3, "right"] == 1
        # Two runs that differ are flagged, whoever wins.
        assert table.loc[[2, 3], "silent"].tolist() == [0, 0]

    def test_votes_cannot_mend_what_is_wrong_in_all_runs(self):
        table = curve([run_set(*[run("1700")] * 3)])
        assert table["right"].tolist() == [0, 0, 0]

    def test_cost_grows_with_the_runs(self):
        runs = [run("1200", seconds=s, tokens=t) for s, t in ((1, 10), (2, 20), (6, 30))]
        table = curve([run_set(*runs)])
        assert table["seconds"].tolist() == [3, 6, 9]
        assert table["tokens"].tolist() == [20, 40, 60]

    def test_unknown_cost_is_not_zero(self):
        found = summary(curve([run_set(run("1200", seconds=2.0))])).set_index("figure")
        assert found.loc["seconds", "value"] == 2
        assert np.isnan(found.loc["tokens", "value"])
        assert found.loc["tokens", "count"] == 0

    def test_a_failed_run_has_no_vote(self):
        table = curve([run_set(run("1200"), failed_run("broken"), run("1200"))]).set_index("k")
        assert table.loc[1, "right"] == pytest.approx(2 / 3)
        assert table.loc[2, "right"] == 1

    def test_order_of_the_runs_does_not_matter(self):
        totals = ("1200", "1700", "1200", "17", "1200")
        a, b = (curve([run_set(*map(run, t))]) for t in (totals, totals[::-1]))
        assert a.equals(b)

    def test_documents_of_other_lengths_and_sheets(self):
        sets = [
            run_set(run("1200"), run("1200"), name="a.t0.tif", sheet="a.tif"),
            run_set(run("1200"), name="a.t1.tif", sheet="a.tif"),
        ]
        found = summary(curve(sets)).set_index(["k", "figure"])
        assert found.loc[(1, "right"), ["count", "units"]].tolist() == [2, 1]
        assert found.loc[(2, "right"), "count"] == 1

    def test_nothing(self):
        table = curve([])
        assert table.empty
        assert summary(table).empty
        assert curve([run_set()]).empty

    def test_seconds_of_a_failed_run_are_unknown(self):
        assert np.isnan(failed_run("broken").seconds)
        table = curve([run_set(run("1200", seconds=2.0), run("1200", seconds=nan))])
        assert table["seconds"].isna().all()
