from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eval.tidy import CONSENSUS, DOCUMENTS, VALUES, frame
from eval.trust import CASES, LEVELS, by_flag, quadrants, rates, verdicts


@pytest.fixture
def tables(a_value, a_document):
    """Two documents: one right, one with a silent error in its line 1 and an invented line 2."""

    def value(**changes):
        wrong = {"error": "wrong"} if changes.get("right") is False else {}
        return a_value(run=CONSENSUS, **(wrong | changes))

    values = [
        value(document="a", sheet="a"),
        value(document="a", sheet="a", field="item", row=0, flagged=True),
        value(document="a", sheet="a", field="amount", row=0),
        value(document="b", sheet="b", right=False, flagged=True),
        value(document="b", sheet="b", field="item", row=0),
        value(document="b", sheet="b", field="amount", row=0),
        value(document="b", sheet="b", field="item", row=1),
        value(document="b", sheet="b", field="amount", row=1, right=False),
        value(document="b", sheet="b", field="item", row=1, right=False, extra=True)
        | {"error": "extra_row"},
        a_value(document="a", sheet="a", run=0, right=False),
    ]
    documents = [
        a_document(document="a", sheet="a", run=CONSENSUS, order_right=True, flagged=True),
        a_document(document="b", sheet="b", run=CONSENSUS, order_right=False, flagged=True),
        a_document(document="a", sheet="a", run=0, order_right=False),
    ]
    return frame(values, VALUES), frame(documents, DOCUMENTS)


class TestVerdicts:
    def test_fields_lines_and_orders(self, tables):
        found = quadrants(verdicts(*tables), by=["level"]).set_index("level")
        # trusted, needless, caught, silent, count
        assert found.loc["field"].tolist() == [5, 1, 1, 1, 8]
        assert found.loc["row"].tolist() == [1, 1, 0, 2, 4]
        assert found.loc["order"].tolist() == [0, 1, 1, 0, 2]

    def test_a_line_with_an_invented_value_is_wrong_and_still_one_line(self, a_value):
        values = frame(
            [
                a_value(run=CONSENSUS, row=0, field="item"),
                a_value(run=CONSENSUS, row=0, field="remarks", extra=True, right=False)
                | {"error": "invented"},
            ],
            VALUES,
        )
        found = quadrants(verdicts(values, frame([], DOCUMENTS)), by=["level"]).set_index("level")
        assert found.loc["row"].tolist() == [0, 0, 0, 1, 1]
        assert found.loc["field", "count"] == 1

    def test_every_one_is_in_one_case(self, scores_of):
        scores = scores_of(6)
        table = verdicts(scores.values, scores.documents)
        assert table[list(CASES)].sum(axis=1).eq(1).all()
        assert set(table["level"]) == set(LEVELS)
        counts = quadrants(table, by=["level"]).set_index("level")["count"]
        assert counts.to_dict() == {"field": 6 * (5 + 2 * 3), "row": 12, "order": 6}

    def test_splitting_adds_up(self, scores_of):
        scores = scores_of(6)
        table = verdicts(scores.values, scores.documents)
        parts = quadrants(table).groupby("level")[[*CASES, "count"]].sum()
        whole = quadrants(table, by=["level"]).set_index("level")
        pd.testing.assert_frame_equal(parts, whole)

    def test_empty(self, scores_of):
        scores = scores_of(1)
        table = verdicts(scores.values.iloc[:0], scores.documents.iloc[:0])
        assert table.empty
        assert quadrants(table).empty
        assert rates(table).empty


class TestRates:
    def test_nothing_silent_is_below_3_of_the_sheets(self, scores_of):
        scores = scores_of(20, severities=(1,), lines=3)
        values = scores.values.assign(right=True, flagged=False)
        found = rates(verdicts(values, scores.documents)).set_index(["level", "figure"])
        silent = found.loc[("field", "silent")]
        assert silent[["value", "low", "high"]].tolist() == [0, 0, 3 / 20]
        assert silent[["count", "units"]].tolist() == [20 * (5 + 9), 20]

    def test_one_document(self, tables):
        values, documents = (t[t["document"] == "b"] for t in tables)
        found = rates(verdicts(values, documents)).set_index(["level", "figure"])
        assert found.loc[("field", "silent"), "value"] == 1 / 5
        assert np.isnan(found.loc[("field", "silent"), "high"])

    def test_flagged_is_needless_and_caught(self, scores_of):
        scores = scores_of(6)
        found = rates(verdicts(scores.values, scores.documents))
        table = found.set_index(["level", "severity", "figure"])["value"].unstack()
        assert table["flagged"].tolist() == pytest.approx(table["needless"] + table["caught"])
        assert table[list(CASES)].sum(axis=1).tolist() == pytest.approx([1] * len(table))


class TestByFlag:
    def make(self, a_value, *rows):
        return frame(
            [
                a_value(run=CONSENSUS, right=right, codes=codes, flagged=flagged)
                for right, codes, flagged in rows
            ],
            VALUES,
        )

    def test_what_a_code_is_worth(self, a_value):
        values = self.make(
            a_value,
            (False, ("sum",), True),
            (False, ("sum", "low_confidence"), True),
            (True, ("sum", "sum"), True),
            (False, (), True),
            (False, (), False),
            (True, (), False),
        )
        found = by_flag(values).set_index("code")
        assert list(found.index) == ["sum", "(order)", "low_confidence"]
        assert dict(found.loc["sum"]) == pytest.approx(
            {
                "values": 3,
                "wrong": 2,
                "right": 1,
                "only": 1,
                "precision": 2 / 3,
                "recall": 0.5,
                "coverage": 0.5,
                "risk": 2 / 3,
            }
        )
        assert found.loc["low_confidence", "only"] == 0
        assert found.loc["(order)", ["wrong", "only"]].tolist() == [1, 1]

    def test_all_flagged_and_all_right(self, a_value):
        found = by_flag(self.make(a_value, (True, ("sum",), True))).loc[0]
        assert found["precision"] == 0
        assert np.isnan([found["recall"], found["risk"]]).all()

    @pytest.mark.parametrize("right", [True, False])
    def test_no_flags(self, a_value, right):
        assert by_flag(self.make(a_value, (right, (), False))).empty

    def test_empty(self, scores_of):
        assert by_flag(scores_of(1).values.iloc[:0]).empty
