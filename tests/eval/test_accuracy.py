from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from eval.accuracy import by_field, by_flag, by_severity, frame_of
from eval.outcomes import Outcome

RIGHT = Outcome(
    source="a.png",
    severity=0,
    field="total",
    row=None,
    truth="1",
    read="1",
    raw="1",
    raw_right=True,
    right=True,
    folded_right=True,
    flagged=False,
    codes=(),
    confidence=0.9,
)
WRONG = replace(RIGHT, read="7", raw="7", raw_right=False, right=False, folded_right=False)

OUTCOMES = [
    RIGHT,
    replace(RIGHT, source="b.png", raw_right=False, flagged=True, codes=("low_confidence",)),
    replace(WRONG, field="item"),
    replace(WRONG, field="item", flagged=True, codes=("low_confidence", "sum")),
    replace(WRONG, severity=3, folded_right=True),
]


def test_headline_figures() -> None:
    table = by_severity(frame_of(OUTCOMES))
    assert list(table.index) == [0, 3]
    assert dict(table.loc[0]) == pytest.approx(
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
    assert list(table.loc[3, ["right", "folded_right", "silent"]]) == [0, 1, 1]


def test_right_wrong_flagged_and_silent_add_up() -> None:
    table = by_severity(frame_of(OUTCOMES))
    told = table["flagged"] - table["needless"]
    assert (table["right"] + told + table["silent"]).tolist() == pytest.approx([1.0, 1.0])


def test_accuracy_per_field_in_the_order_of_the_truth() -> None:
    table = by_field(frame_of(OUTCOMES))
    assert list(table.index) == ["total", "item"]
    assert table.loc["total", 0] == 1
    assert table.loc["item", 0] == 0
    assert pd.isna(table.loc["item", 3])


def test_how_often_a_flag_was_needed() -> None:
    table = by_flag(frame_of(OUTCOMES))
    assert {c: tuple(r) for c, r in table.iterrows()} == {"low_confidence": (1, 1), "sum": (1, 0)}


@pytest.mark.parametrize("outcome", [RIGHT, WRONG])
def test_no_flags(outcome: Outcome) -> None:
    assert by_flag(frame_of([outcome])).empty


@pytest.mark.parametrize("outcome", [RIGHT, WRONG])
def test_flags_on_one_side_only(outcome: Outcome) -> None:
    table = by_flag(frame_of([replace(outcome, codes=("sum",))]))
    assert list(table.columns) == ["wrong", "right"]
    assert table.loc["sum", "right" if outcome.right else "wrong"] == 1


def test_nothing_to_score() -> None:
    frame = frame_of([])
    assert by_severity(frame).empty
    assert by_field(frame).empty
    assert by_flag(frame).empty
