from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eval.characters import by_class, characters, mistake_rates, names
from eval.mistakes import CharClass, Mistake
from eval.tidy import CONSENSUS, VALUES, frame


@pytest.fixture
def of_values(a_value):
    """A tidy table of names that were read: (truth, raw) or a row's changes."""

    def make(*found):
        rows = []
        for each in found:
            changes = each
            if not isinstance(each, dict):
                truth, raw = each
                changes = {"truth": truth, "raw": raw, "read": raw, "right": truth == raw}
            plain = {"kind": "name", "field": "buyer", "name_kind": "random", "cer": 0.0}
            rows.append(a_value(**(plain | changes)))
        return frame(rows, VALUES)

    return make


class TestCharacters:
    def test_one_row_per_true_character(self, of_values):
        table = characters(of_values(("ガーラ東", "カーラ東")))
        assert "".join(table["true"]) == "ガーラ東"
        assert table["right"].tolist() == [False, True, True, True]
        assert table["mistake"].tolist() == ["dakuten", "", "", ""]
        assert table["class"].tolist() == ["katakana_dakuten", "long_vowel", "katakana", "kanji"]
        assert table["position"].tolist() == [0, 1, 2, 3]

    def test_width_is_no_mistake(self, of_values):
        table = characters(of_values(("ガ1㈱", "ｶﾞ１(株)")))
        assert table["right"].all()

    def test_another_text_is_wrong_and_no_mistake_of_characters(self, of_values):
        table = characters(of_values(("ガーラ", "東西商事")))
        assert len(table) == 3
        assert not table["right"].any()
        assert not table["seen"].any()
        assert table["mistake"].eq("").all()

    def test_numbers_are_compared_as_values(self, a_value):
        rows = [
            a_value(truth="1200", raw="￥1,200", read="1200.00"),
            a_value(truth="1200", raw="1,2OO-", read="1280", right=False),
            a_value(truth="1200", raw="?", read="", right=False, state="unreadable"),
        ]
        table = characters(frame(rows, VALUES))
        assert table["right"].sum() == 4 + 3
        assert table.loc[~table["right"] & table["seen"], ["true", "read"]].to_numpy().tolist() == [
            ["0", "8"]
        ]

    def test_only_single_runs(self, of_values):
        values = of_values({"run": CONSENSUS, "truth": "ア"}, {"extra": True, "truth": "ア"})
        assert characters(values).empty

    def test_labels_point_into_the_table(self, of_values):
        values = of_values(("ア", "ア"), ("イウ", "イウ")).set_axis([7, 3])
        table = characters(values)
        places = zip(table["value"], table["position"], strict=True)
        assert "".join(values.loc[v, "truth"][p] for v, p in places) == "アイウ"

    def test_characters_of_all_values_but_numbers_read_otherwise(self, scores_of):
        values = scores_of(4).values
        runs = values[values["run"] >= 0]
        table = characters(values)
        assert (table["true"] != "").sum() == runs["truth"].str.len().sum()


class TestByClass:
    def test_counts_and_shares(self, of_values):
        table = characters(of_values(("ガーラ", "カーラ"), ("ガーラ", "東西商事")))
        found = by_class(table).set_index(["class", "severity", "figure"])
        dakuten = found.loc[("katakana_dakuten", 2)]
        assert dakuten.loc["right", ["value", "count"]].tolist() == [0, 2]
        long_vowel = found.loc[("long_vowel", 2)]
        assert long_vowel.loc["right", ["value", "count"]].tolist() == [0.5, 2]
        assert long_vowel.loc["right_seen", ["value", "count"]].tolist() == [1, 1]

    def test_what_was_added_is_in_no_class(self, of_values):
        found = by_class(characters(of_values(("ガーラ", "ガー・ラ"))))
        assert set(found["class"]) <= set(CharClass)
        assert found["value"].eq(1).all()

    def test_order_of_rows_does_not_matter(self, scores_of):
        values = scores_of(4).values
        a, b = (by_class(characters(v)) for v in (values, values.sample(frac=1, random_state=1)))
        pd.testing.assert_frame_equal(a, b)


class TestNames:
    def test_coined_beside_dictionary(self, of_values):
        values = of_values(
            {"truth": "ガーラ", "right": False, "cer": 2 / 3, "name_kind": "random"},
            {"truth": "ガーラ東西商", "right": True, "cer": 0.0, "name_kind": "random"},
            {"truth": "山田", "right": True, "name_kind": "dictionary"},
            {"truth": "ガーラ", "right": False, "run": CONSENSUS},
            {"truth": "ネジ", "right": False, "name_kind": "", "field": "item"},
        )
        found = names(values).set_index(["name_kind", "severity", "figure"])
        assert set(found.index.get_level_values(0)) == {"random", "dictionary"}
        random = found.loc[("random", 2)]
        assert random.loc["single", ["value", "count"]].tolist() == [0.5, 2]
        assert random.loc["cer", ["value", "count"]].tolist() == [pytest.approx(2 / 9), 9]
        assert random.loc["silent", ["value", "count"]].tolist() == [1, 1]
        dictionary = found.loc[("dictionary", 2)]
        assert dictionary.loc["right", "count"] == 0
        assert np.isnan(dictionary.loc["right", "value"])

    def test_length_is_that_of_the_typed_name(self, of_values):
        values = of_values({"truth": "㈱ガーラ", "cer": 1.0})
        assert names(values).set_index("figure").loc["cer", "count"] == len("株式会社ガーラ")


def test_mistake_rates(of_values):
    values = of_values(("ガーラ", "カーラ"), ("ガーラ", "ガーラ"), ("ｶﾞｰﾗ", "ガーラ"))
    found = mistake_rates(characters(values), values).set_index("mistake")
    assert list(found.index) == list(Mistake)
    assert found.loc["dakuten", ["count", "rate"]].tolist() == [1, pytest.approx(1 / 9)]
    assert found.loc["width", "count"] == 1
    assert found["count"].sum() == 2


def test_empty(scores_of):
    none = scores_of(1).values.iloc[:0]
    table = characters(none)
    assert table.empty
    assert by_class(table).empty
    assert names(none).empty
    assert mistake_rates(table, none).empty


def test_all_wrong(scores_of):
    values = scores_of(2).values.assign(raw="", read="", right=False, state="absent")
    table = characters(values)
    assert not table["right"].any()
    assert by_class(table).set_index("figure").loc["right", "value"].eq(0).all()
    assert mistake_rates(table, values)["count"].sum() == 0
