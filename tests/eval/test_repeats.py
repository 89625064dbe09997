from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.repeats import FIGURES, stability, summary
from eval.tidy import CONSENSUS, VALUES, frame

REPEATED = ("flip", "entropy", "unanimous_wrong", "unstable")


@pytest.fixture
def of_reads(a_value):
    """The stability of one value that was read like this; `1200` is right."""

    def make(*reads):
        rows = [
            a_value(run=k, read=r, right=r == "1200", state="read" if r else "absent")
            for k, r in enumerate(reads)
        ]
        [row] = stability(frame(rows, VALUES)).to_dict("records")
        return row

    return make


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        # accuracy, all right, any right, flip, unanimous wrong, unstable, entropy
        (("1200",) * 5, (1, 1, 1, 0, 0, 0, 0)),
        (("1700",) * 5, (0, 0, 0, 0, 1, 0, 0)),
        (("",) * 4, (0, 0, 0, 0, 1, 0, 0)),
        (("1200", "1700"), (0.5, 0, 1, 1, 0, 1, 1)),
        (("1200", "1200", "1700", "1700"), (0.5, 0, 1, 4 / 6, 0, 1, 1)),
        (("1", "2", "3", "4"), (0, 0, 0, 1, 0, 1, 2)),
        (("1700", ""), (0, 0, 0, 1, 0, 1, 1)),
    ],
)
def test_figures(of_reads, reads, expected):
    row = of_reads(*reads)
    assert [row[f] for f in (*FIGURES, "entropy")] == pytest.approx(list(expected))
    assert row["runs"] == len(reads)


def test_with_one_run_nothing_is_known_of_repeats(of_reads):
    row = of_reads("1700")
    assert (row["accuracy"], row["all_right"], row["any_right"]) == (0, 0, 0)
    assert np.isnan([row[f] for f in REPEATED]).all()


def test_right_is_right_however_it_is_spelled(a_value):
    rows = [a_value(run=0, read="㈱山田"), a_value(run=1, read="株式会社山田")]
    assert stability(frame(rows, VALUES)).loc[0, "flip"] == 0


def test_failed_and_blank_are_not_the_same(a_value):
    rows = [
        a_value(run=0, read="", right=False, state="absent"),
        a_value(run=1, read="", right=False, state="unreadable"),
    ]
    assert stability(frame(rows, VALUES)).loc[0, "unstable"] == 1


def test_lines_fields_and_documents_are_kept_apart(a_value):
    rows = [
        a_value(run=k, document=d, sheet=d, field=f, row=r)
        for k in (0, 1)
        for d in "ab"
        for f, r in (("total", pd.NA), ("amount", 0), ("amount", 1))
    ]
    table = stability(frame(rows, VALUES))
    assert len(table) == 6
    assert table["runs"].eq(2).all()
    assert summary(table)["count"].unique().tolist() == [4, 2]


def test_consensus_and_lines_beyond_the_truth_do_not_count(a_value):
    rows = [
        a_value(run=0),
        a_value(run=1),
        a_value(run=CONSENSUS, right=False),
        a_value(run=0, extra=True, right=False, row=0),
    ]
    table = stability(frame(rows, VALUES))
    assert table["accuracy"].tolist() == [1]


def test_other_numbers_of_runs(a_value):
    rows = [a_value(run=k, field=f) for f, n in (("total", 5), ("tax", 1)) for k in range(n)]
    table = stability(frame(rows, VALUES)).set_index("field")
    assert table["runs"].to_dict() == {"total": 5, "tax": 1}
    found = summary(table.reset_index(), by=["severity"]).set_index("figure")
    assert found.loc["flip", "count"] == 1
    assert found.loc["accuracy", "count"] == 2


reads = st.lists(st.sampled_from(["1200", "1700", "12", ""]), min_size=2, max_size=7)


@settings(deadline=None, max_examples=20)
@given(reads=reads, seed=st.integers(0, 9))
def test_properties(reads, seed):
    rows = pd.DataFrame(
        {
            "document": "a",
            "sheet": "a",
            "severity": 0,
            "field": "total",
            "row": pd.Series([pd.NA] * len(reads), dtype="Int64"),
            "run": range(len(reads)),
            "extra": False,
            "kind": "money",
            "name_kind": "",
            "truth": "1200",
            "read": reads,
            "state": "read",
            "right": [r == "1200" for r in reads],
        }
    )
    [row] = stability(rows).to_dict("records")
    assert row["all_right"] + row["unanimous_wrong"] + row["unstable"] == 1
    assert row["all_right"] <= row["accuracy"] <= row["any_right"]
    assert 0 <= row["flip"] <= 1
    assert 0 <= row["entropy"] <= np.log2(len(reads))
    # The runs are alike: their numbers mean nothing.
    mixed = rows.assign(run=np.random.default_rng(seed).permutation(len(reads))).sort_values("run")
    [again] = stability(mixed).to_dict("records")
    assert [again[f] for f in FIGURES] == pytest.approx([row[f] for f in FIGURES])


def test_flips_do_not_depend_on_the_number_of_runs(scores_of):
    """Unlike `unstable`, which grows with it."""
    few, many = (stability(scores_of(30, runs=n, seed=4).values) for n in (2, 12))
    assert few["flip"].mean() == pytest.approx(many["flip"].mean(), abs=0.03)
    assert few["unstable"].mean() < many["unstable"].mean() - 0.05


def test_summary_has_all_figures_with_intervals(scores_of):
    found = summary(stability(scores_of(60).values), by=["field", "severity"])
    assert set(found["figure"]) == {*FIGURES, "entropy"}
    assert found[["low", "high"]].notna().all(axis=None)
    assert (found["low"] <= found["value"] + 1e-9).all()


def test_empty(scores_of):
    table = stability(scores_of(1).values.iloc[:0])
    assert table.empty
    assert {*FIGURES, "entropy"} <= set(table.columns)
    assert summary(table).empty
