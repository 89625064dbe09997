import pandas as pd
import pytest

from eval.report.worst import A_DOCUMENT, A_FIELD, worst_values
from eval.tidy import CONSENSUS, VALUES, frame

WRONG = {"right": False, "raw_right": False, "folded_right": False, "error": "wrong", "read": "9"}


@pytest.fixture
def table(a_value):
    """`table({…}, {…})`: wrong values, each with two runs, the first of them wrong."""

    def make(*wrong):
        rows = []
        for i, changes in enumerate(wrong):
            about = {"document": f"{i}.tif", "sheet": f"{i}.tif"} | changes
            rows += [a_value(**{**about, **WRONG, "run": 0}), a_value(**{**about, "run": 1})]
            rows.append(a_value(**{**WRONG, **about, "run": CONSENSUS}))
        return frame(rows, VALUES)

    return make


def order(values, most=24):
    return [w.document for w in worst_values(values, most)]


def test_what_nobody_was_told_of_comes_first_then_the_clean_faxes_then_the_whole_ink(table):
    values = table(
        {"flagged": True, "severity": 0},
        {"severity": 3},
        {"severity": 1, "ink": 0.5},
        {"severity": 1, "ink": 1.0},
        {"severity": 0, "read": "", "state": "absent"},
    )
    assert order(values) == ["3.tif", "2.tif", "1.tif", "4.tif", "0.tif"]
    assert order(values, 2) == ["3.tif", "2.tif"]


def test_all_runs_are_told_in_order_and_missing_things_are_none(table):
    (worst,) = worst_values(table({"codes": ("sum",), "flagged": True, "true_quad": None}), 5)
    assert [s.run for s in worst.runs] == [0, 1]
    assert [s.right for s in worst.runs] == [False, True]
    assert worst.consensus.run == CONSENSUS
    assert worst.consensus.codes == ("sum",)
    assert worst.row is None
    assert worst.quad == ((10.0, 10.0), (90.0, 10.0), (90.0, 30.0), (10.0, 30.0))


def test_lines_keep_their_number_and_right_values_are_not_listed(table, a_value):
    values = table({"row": 3, "field": "item", "ink": float("nan")})
    right = frame([a_value(run=CONSENSUS, document="r.tif")], VALUES)
    (worst,) = worst_values(pd.concat([values, right], ignore_index=True), 5)
    assert (worst.field, worst.row, worst.ink) == ("item", 3, None)


def test_one_bad_page_or_field_does_not_fill_the_list(table):
    same = [{"document": "bad.tif", "field": f"f{i}"} for i in range(A_DOCUMENT + 3)]
    assert len(order(table(*same))) == A_DOCUMENT
    assert len(order(table(*[{}] * (A_FIELD + 3)))) == A_FIELD


def test_nothing_wrong_is_an_empty_list():
    assert worst_values(frame([], VALUES), 5) == ()
