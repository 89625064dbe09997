from __future__ import annotations

import numpy as np
import pytest

from eval.abstention import EDGES, FIGURES, by_ink
from eval.tidy import CONSENSUS, VALUES, frame


@pytest.fixture
def of_inks(a_value):
    def make(*inks, **changes):
        rows = [
            a_value(run=CONSENSUS, sheet=f"s{i}", ink=ink, **changes) for i, ink in enumerate(inks)
        ]
        return frame(rows, VALUES)

    return make


@pytest.mark.parametrize(
    ("ink", "edge"), [(0.0, 0.0), (0.01, 0.5), (0.5, 0.5), (0.51, 0.7), (1.0, 1.0), (1.1, 1.0)]
)
def test_bins(of_inks, ink, edge):
    assert by_ink(of_inks(ink))["ink"].unique().tolist() == [edge]


def test_unknown_ink_is_a_bin_of_its_own_and_last(of_inks):
    found = by_ink(of_inks(np.nan, 0.2, np.nan))
    assert found["ink"].iloc[:4].eq(0.5).all()
    assert found["ink"].iloc[4:].isna().all()
    assert found["count"].tolist() == [1] * 4 + [2] * 4


def test_only_unknown_ink(of_inks):
    assert by_ink(of_inks(np.nan))["ink"].isna().all()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # right, abstained, flagged, silent
        ({}, [1, 0, 0, 0]),
        ({"right": False}, [0, 0, 0, 1]),
        ({"right": False, "flagged": True}, [0, 0, 1, 0]),
        ({"right": False, "state": "unreadable", "flagged": True}, [0, 1, 1, 0]),
        ({"right": False, "state": "absent"}, [0, 1, 0, 1]),
        ({"truth": "", "state": "blank"}, [1, 0, 0, 0]),
    ],
)
def test_figures(of_inks, changes, expected):
    found = by_ink(of_inks(0.3, **changes)).set_index("figure")["value"]
    assert [found[f] for f in FIGURES] == expected


def test_every_value_in_one_bin(scores_of):
    values = scores_of(10).values
    found = by_ink(values)
    assert found[found["figure"] == "right"]["count"].sum() == (values["run"] == CONSENSUS).sum()
    assert set(found["ink"]) <= set(EDGES)


def test_empty(scores_of):
    found = by_ink(scores_of(1).values.iloc[:0])
    assert found.empty
    assert "ink" in found.columns
