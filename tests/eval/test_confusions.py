from __future__ import annotations

import pandas as pd
import pytest

from eval.characters import characters
from eval.confusions import Place, confusions
from eval.tidy import VALUES, frame


@pytest.fixture
def of_reads(a_value):
    """Names ガーラ by document, run and what was read."""

    def make(*found):
        rows = [
            a_value(
                **{"document": d, "sheet": d, "run": k, "truth": "ガーラ", "raw": raw},
                **{"read": raw, "right": raw == "ガーラ", "kind": "name", "field": "buyer"},
            )
            for d, k, raw in found
        ]
        values = frame(rows, VALUES)
        return characters(values), values

    return make


def test_most_frequent_first(of_reads):
    chars, values = of_reads(
        ("a", 0, "カーラ"), ("a", 1, "カーラ"), ("b", 0, "カ一ラ"), ("b", 1, "ガーラ")
    )
    table = confusions(chars, values)
    assert table[["true", "read", "mistake", "count", "sheets"]].to_numpy().tolist() == [
        ["ガ", "カ", "dakuten", 3, 2],
        ["ー", "一", "long_vowel", 1, 1],
    ]


def test_lost_and_added_are_told(of_reads):
    table = confusions(*of_reads(("a", 0, "ガラ"), ("a", 1, "ガー・ラ")))
    assert set(zip(table["true"], table["read"], strict=True)) == {("ー", ""), ("", "・")}


def test_places_are_of_other_texts_first(of_reads):
    chars, values = of_reads(
        ("a", 0, "カーラ"), ("a", 1, "カーラ"), ("b", 0, "カーラ"), ("c", 2, "カーラ")
    )
    [places] = confusions(chars, values, places=3)["places"]
    assert [(p.document, p.run) for p in places] == [("a", 0), ("b", 0), ("c", 2)]
    assert len(confusions(chars, values)["places"][0]) == 4


def test_a_place_is_all_that_a_crop_needs(of_reads, a_value):
    [places] = confusions(*of_reads(("a", 1, "ガ一ラ")))["places"]
    row = a_value()
    assert places == (
        Place(
            document="a",
            run=1,
            field="buyer",
            row=None,
            truth="ガーラ",
            raw="ガ一ラ",
            position=1,
            length=3,
            page=1,
            quad=row["quad"],
            true_page=1,
            true_quad=row["true_quad"],
        ),
    )


def test_unknown_places(a_value):
    values = frame(
        [
            a_value(kind="name", truth="ガーラ", raw="カーラ", row=2, page=pd.NA, quad=None)
            | {"true_page": pd.NA, "true_quad": None}
        ],
        VALUES,
    )
    [[place]] = confusions(characters(values), values)["places"]
    assert (place.row, place.page, place.quad, place.true_page) == (2, None, None, None)


def test_order_of_rows_does_not_matter(scores_of):
    values = scores_of(4).values
    mixed = values.sample(frac=1, random_state=1)
    a, b = (confusions(characters(v), v) for v in (values, mixed))
    pd.testing.assert_frame_equal(a, b)


def test_nothing_was_confused(of_reads, scores_of):
    assert confusions(*of_reads(("a", 0, "ガーラ"))).empty
    none = scores_of(1).values.iloc[:0]
    assert confusions(characters(none), none).empty
