from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eval.accuracy import FIGURES, by_error, by_field, by_severity, headline
from eval.tidy import CONSENSUS, VALUES, frame


@pytest.fixture
def values(a_value):
    def wrong(**changes):
        plain = {"raw_right": False, "right": False, "folded_right": False, "error": "wrong"}
        return a_value(run=CONSENSUS, **(plain | changes))

    rows = [
        a_value(run=CONSENSUS, raw_right=True),
        a_value(run=CONSENSUS, document="b", sheet="b", flagged=True),
        wrong(field="item", row=0),
        wrong(field="item", row=1, flagged=True),
        wrong(severity=3, folded_right=True, error="unreadable"),
        wrong(extra=True, error="extra_row", field="item", row=5),
        a_value(run=0),
        a_value(run=1, right=False),
    ]
    return frame(rows, VALUES)


def test_by_severity(values):
    table = by_severity(values)
    assert list(table.index) == [2, 3]
    assert dict(table.loc[2]) == pytest.approx(
        {
            "documents": 2,
            "values": 4,
            "raw_right": 0.25,
            "right": 0.5,
            "folded_right": 0.5,
            "flagged": 0.5,
            "needless": 0.25,
            "silent": 0.25,
        }
    )
    assert table.loc[3, ["right", "folded_right", "silent"]].tolist() == [0, 1, 1]


def test_by_field_in_the_order_of_the_truth(values):
    table = by_field(values)
    assert list(table.index) == ["total", "item"]
    assert table.loc["total"].tolist() == [1, 0]
    assert table.loc["item", 2] == 0
    assert pd.isna(table.loc["item", 3])


def test_by_error_counts_what_is_beyond_the_truth(values):
    assert by_error(values).to_numpy().tolist() == [
        ["wrong", 2, 2, 1, 1],
        ["extra_row", 2, 1, 0, 1],
        ["unreadable", 3, 1, 0, 1],
    ]


class TestHeadline:
    def test_of_consensus_and_of_a_single_run(self, values):
        found = headline(values).set_index(["severity", "figure"])
        assert found.loc[(2, "right"), "value"] == 0.5
        assert found.loc[(2, "single"), ["value", "count"]].tolist() == [0.5, 2]
        assert found.loc[(3, "single"), "count"] == 0

    def test_by_nothing(self, values):
        found = headline(values, by=())
        assert found["figure"].tolist() == [*FIGURES, "single"]

    def test_is_by_severity_with_intervals(self, scores_of):
        values = scores_of(20).values
        long = headline(values).pivot_table(index="severity", columns="figure", values="value")
        wide = by_severity(values)
        pd.testing.assert_frame_equal(
            long[list(FIGURES)], wide[list(FIGURES)], check_names=False, check_dtype=False
        )

    def test_right_caught_and_silent_add_up(self, scores_of):
        found = headline(scores_of(6).values).set_index(["severity", "figure"])["value"].unstack()
        total = found["right"] + found["silent"] + (found["flagged"] - found["needless"])
        assert total.tolist() == pytest.approx([1, 1])

    def test_order_of_rows_does_not_matter(self, scores_of):
        values = scores_of(6).values
        a, b = headline(values), headline(values.sample(frac=1, random_state=1))
        pd.testing.assert_frame_equal(a, b)

    @pytest.mark.parametrize("right", [True, False])
    def test_all_alike(self, scores_of, right):
        values = scores_of(10, severities=(1,)).values.assign(right=right, flagged=False)
        found = headline(values).set_index("figure")
        assert found.loc["right", "value"] == right
        # 3 in 10 sheets may still be the other way.
        assert found.loc["silent", ["low", "high"]].tolist() == ([0, 0.3] if right else [0.7, 1])


def test_empty(values):
    none = values.iloc[:0]
    assert by_severity(none).empty
    assert by_field(none).empty
    assert by_error(none).empty
    assert headline(none).empty


def test_one_run_and_one_document(a_value):
    values = frame([a_value(), a_value(run=CONSENSUS)], VALUES)
    found = headline(values).set_index("figure")
    assert found.loc["single", "value"] == 1
    assert np.isfinite(found.loc["right", ["value", "low", "high"]].astype(float)).all()
