"""Every kind of damage, done to a true order on purpose, is found where it was done.

The truth against itself is right at every level. Each mutation then lowers exactly its own values,
at exactly the levels that it should, and is called by its name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.cases import Case
from eval.outcomes import Form
from eval.predictions import run_of_values
from eval.scoring import RunSet, Verdict, verdicts_of
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))
Values = dict[str, Any]

FIELDS: Values = {
    "order_no": "PO-2602-305",
    "order_date": "2026-02-09",
    "due_date": "2026-03-03",
    "buyer": "株式会社ガーデンパーツ",
    "supplier": "大塚カッター生産株式会社",
    "tel": "03-1234-5678",
    "person": "山田 太郎",
    "delivery_place": "本社倉庫",
    "subtotal": 20162.5,
    "tax": 2016,
    "total": 22178.5,
}
ROWS: list[Values] = [
    {
        "no": "1",
        "item": "六角ボルト",
        "spec": "M8×30",
        "quantity": 500,
        "unit": "本",
        "unit_price": 42,
        "amount": 21000,
    },
    {
        "no": "2",
        "item": "シリコンチューブ",
        "spec": "CG-M20 黒",
        "quantity": 12.5,
        "unit": "m",
        "unit_price": 213,
        "amount": 2662.5,
    },
    {
        "no": "3",
        "item": "出精値引",
        "quantity": 1,
        "unit": "式",
        "amount": -3500,
        "remarks": "別途値引済",
    },
]
CASE = Case("a.tif", 2, FIELDS, tuple(ROWS), blank=frozenset({("spec", 2), ("unit_price", 2)}))

RAW = (False, True, True)  # another notation of the same value
TYPED = (False, False, True)  # a look-alike of another script
ALL = (False, False, False)

Damage = Callable[[Values], None]


@dataclass(frozen=True)
class Mutation:
    """Damage to a prediction, and what it must do to which values.

    Attributes:
        name: of the test.
        damage: changes `{"fields": …, "rows": …}` in place.
        levels: (field, row) → (raw, typed, folded) right; all other values stay right.
        errors: (field, row) → kind of error; `wrong` where it is not named and not right.
        extra: (field, read row, error) of what is too much.
        document: columns of the document that change.
    """

    name: str
    damage: Damage
    levels: dict[tuple[str, int | None], tuple[bool, bool, bool]]
    errors: dict[tuple[str, int | None], str]
    extra: tuple[tuple[str, int, str], ...] = ()
    document: tuple[tuple[str, Any], ...] = ()


def put(
    name: str,
    field: str,
    value: Any,
    levels: tuple[bool, bool, bool],
    error: str = "wrong",
    *,
    row: int | None = None,
) -> Mutation:
    """One value is read as another text."""

    def damage(values: Values) -> None:
        where = values["fields"] if row is None else values["rows"][row]
        assert where[field] != value
        where[field] = value

    errors = {} if levels[1] else {(field, row): error}
    return Mutation(name, damage, {(field, row): levels}, errors)


def swapped_columns(values: Values) -> None:
    line = values["rows"][0]
    line["quantity"], line["unit_price"] = line["unit_price"], line["quantity"]


def shifted_columns(values: Values) -> None:
    line = values["rows"][1]
    line["item"], line["spec"], line["unit"] = "", line["item"], line["spec"]


def swapped_dates(values: Values) -> None:
    f = values["fields"]
    f["order_date"], f["due_date"] = f["due_date"], f["order_date"]


def merged_rows(values: Values) -> None:
    first, second, *rest = values["rows"]
    both = {name: f"{first[name]}\n{second[name]}" for name in first}
    values["rows"] = [both, *rest]


def lost_row(values: Values) -> None:
    del values["rows"][1]


def repeated_row(values: Values) -> None:
    values["rows"].insert(1, dict(values["rows"][1]))


def foreign_row(values: Values) -> None:
    values["rows"].append({"item": "以下余白", "remarks": "※"})


def reordered(values: Values) -> None:
    values["rows"].reverse()


def invented(values: Values) -> None:
    values["rows"][2]["spec"] = "M8×30"


def nothing(values: Values) -> None:
    values["fields"], values["rows"] = {}, []


def whole_row(row: int, error: str) -> tuple[dict, dict]:
    keys = [(name, row) for name in ROWS[row]]
    return dict.fromkeys(keys, ALL), dict.fromkeys(keys, error)


EVERYTHING = [(n, None) for n in FIELDS] + [(n, i) for i, r in enumerate(ROWS) for n in r]
MERGED = [(n, i) for i in (0, 1) for n in ROWS[0]]

MUTATIONS = (
    # Notation: no error of the value.
    put("yen sign and comma", "tax", "￥2,016", RAW),
    put("yen behind", "tax", "2,016円", RAW),
    put("full width", "quantity", "５００", RAW, row=0),
    put("trailing zero", "quantity", "12.50", RAW, row=1),
    put("triangle for minus", "amount", "▲3,500", RAW, row=2),
    put("brackets for minus", "amount", "(3,500)", RAW, row=2),
    put("imperial year", "order_date", "令和8年2月9日", RAW),
    put("imperial year, short", "order_date", "R8.2.9", RAW),
    put("slashes", "due_date", "2026/3/3", RAW),
    put("ligature", "buyer", "㈱ガーデンパーツ", RAW),
    put("half width kana", "buyer", "株式会社ｶﾞｰﾃﾞﾝﾊﾟｰﾂ", RAW),
    put("space in a name", "person", "山田太郎", RAW),
    put("lower case", "order_no", "po-2602-305", RAW),
    put("another hyphen", "order_no", "PO‐2602−305", RAW),
    put("no hyphens in a phone number", "tel", "0312345678", RAW),
    put("letter x for a cross", "spec", "M8x30", RAW, row=0),
    # Look-alikes of another script: a rule of context could mend them.
    put("long vowel as one", "buyer", "株式会社ガ一デンパーツ", TYPED),
    put("katakana as kanji", "supplier", "大塚力ッター生産株式会社", TYPED),
    put("Chinese glyph", "supplier", "大塚カッター生產株式会社", TYPED),
    put("letter for zero", "order_no", "PO-26O2-305", TYPED),
    put("zero for letter", "order_no", "P0-2602-305", TYPED),
    put(
        "kanji for katakana",
        "item",
        "シリコンチューブ".replace("ン", "ン").replace("チ", "千"),
        TYPED,
        row=1,
    ),
    # Real errors.
    put("digit", "total", 22178.6, ALL),
    put("digit lost", "tax", 216, ALL),
    put("point lost", "quantity", 125, ALL, row=1),
    put("minus lost", "amount", 3500, ALL, row=2),
    put("one day off", "order_date", "2026-02-10", ALL),
    put("one year off", "due_date", "2025-03-03", ALL),
    put("month and day", "due_date", "2026-02-03", ALL),
    put("dakuten lost", "buyer", "株式会社カーデンパーツ", ALL),
    put("handakuten for dakuten", "buyer", "株式会社ガーデンバーツ", ALL),
    put("handakuten lost", "buyer", "株式会社ガーデンハーツ", ALL),
    put("small kana", "supplier", "大塚カツター生産株式会社", ALL),
    put("shape pair", "item", "ツリコンチューブ", ALL, row=1),
    put("long vowel lost", "item", "シリコンチュブ", ALL, row=1),
    put("cut short", "delivery_place", "本社", ALL),
    put("something added", "person", "山田 太郎一", ALL),
    put("hyphen lost", "order_no", "PO2602305", ALL),
    put("digit of a phone number", "tel", "03-1234-5679", ALL),
    put("fluent but wrong", "item", "六角ナット", ALL, row=0),
    put("left out", "person", "", ALL, "not_read"),
    put("dash for nothing", "delivery_place", "―", ALL, "not_read"),
    put("no number", "total", "合計", ALL, "unreadable"),
    put("no date", "due_date", "至急", ALL, "unreadable"),
    put("unit lost", "unit", "", ALL, "not_read", row=0),
    # Lines.
    Mutation(
        "columns swapped",
        swapped_columns,
        {("quantity", 0): ALL, ("unit_price", 0): ALL},
        {("quantity", 0): "shifted_column", ("unit_price", 0): "shifted_column"},
    ),
    Mutation(
        "columns shifted",
        shifted_columns,
        {("item", 1): ALL, ("spec", 1): ALL, ("unit", 1): ALL},
        {("item", 1): "shifted_column", ("spec", 1): "shifted_column", ("unit", 1): "wrong"},
    ),
    Mutation(
        "dates swapped",
        swapped_dates,
        {("order_date", None): ALL, ("due_date", None): ALL},
        {},
    ),
    Mutation(
        "rows merged",
        merged_rows,
        dict.fromkeys(MERGED, ALL),
        dict.fromkeys(MERGED, "merged_row"),
        document=(("rows_read", 2),),
    ),
    Mutation("row lost", lost_row, *whole_row(1, "missing_row"), document=(("rows_read", 2),)),
    Mutation(
        "row twice",
        repeated_row,
        {},
        {},
        extra=tuple((name, 2, "duplicated_row") for name in ROWS[1]),
        document=(("rows_read", 4),),
    ),
    Mutation(
        "row of something else",
        foreign_row,
        {},
        {},
        extra=(("item", 3, "extra_row"), ("remarks", 3, "extra_row")),
        document=(("rows_read", 4),),
    ),
    Mutation("rows reordered", reordered, {}, {}, document=(("rows_in_order", False),)),
    Mutation("invented at a blank place", invented, {}, {}, extra=(("spec", 2, "invented"),)),
    Mutation(
        "nothing at all",
        nothing,
        dict.fromkeys(EVERYTHING, ALL),
        dict.fromkeys(EVERYTHING, "failed"),
        document=(("rows_read", 0), ("status", "not_an_order"), ("outcome", "not_an_order")),
    ),
)


def truth() -> Values:
    return {"fields": dict(FIELDS), "rows": [dict(r) for r in ROWS]}


def judged(*predictions: Values) -> list[Verdict]:
    """Each prediction as a run; the consensus comes last."""
    runs = tuple(run_of_values(p, FORM) for p in predictions)
    return verdicts_of(RunSet(CASE, runs, FORM))


def key_of(row: Values) -> tuple[str, int | None]:
    return row["field"], row["row"] if isinstance(row["row"], int) else None


def test_the_truth_against_itself() -> None:
    for verdict in judged(truth()):
        assert len(verdict.values) == len(EVERYTHING)
        assert all(r["raw_right"] and r["right"] and r["folded_right"] for r in verdict.values)
        assert not any(r["error"] or r["extra"] for r in verdict.values)
        assert verdict.document["order_right"]
        assert verdict.document["outcome"] == "ok"


def test_there_are_enough() -> None:
    assert len(MUTATIONS) >= 30
    assert len({m.name for m in MUTATIONS}) == len(MUTATIONS)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_a_mutation_is_found_where_it_was_done(mutation: Mutation) -> None:
    damaged = truth()
    mutation.damage(damaged)
    verdict, _ = judged(damaged)
    true = [r for r in verdict.values if not r["extra"]]
    assert [key_of(r) for r in true] == EVERYTHING
    for row in true:
        levels = row["raw_right"], row["right"], row["folded_right"]
        expected = mutation.levels.get(key_of(row), (True, True, True))
        assert levels == expected, row
        error = "" if expected[1] else mutation.errors.get(key_of(row), "wrong")
        assert row["error"] == error, row
    extra = {(r["field"], r["row"], r["error"]) for r in verdict.values if r["extra"]}
    assert extra == set(mutation.extra)
    before = judged(truth())[0].document
    changed = dict(mutation.document)
    wrong = bool(mutation.errors or mutation.extra) or any(
        not x[1] for x in mutation.levels.values()
    )
    changed |= {"order_right": not wrong}
    for name in ("status", "outcome", "rows_read", "rows_in_order", "order_right"):
        assert verdict.document[name] == changed.get(name, before[name]), name


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(3)), st.sampled_from([m for m in MUTATIONS if not m.document]))
def test_shuffled_rows_change_only_their_order(order: list[int], mutation: Mutation) -> None:
    damaged = truth()
    mutation.damage(damaged)
    straight, _ = judged(copy.deepcopy(damaged))
    damaged["rows"] = [damaged["rows"][i] for i in order]
    shuffled, _ = judged(damaged)
    assert [r for r in shuffled.values if not r["extra"]] == [
        r for r in straight.values if not r["extra"]
    ]
    in_order = list(order) == sorted(order)
    assert shuffled.document == straight.document | {"rows_in_order": in_order}


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(3)))
def test_shuffled_runs_change_only_their_numbers(order: list[int]) -> None:
    runs = [truth() for _ in range(3)]
    runs[1]["fields"]["total"] = 1
    runs[2]["rows"][0]["item"] = "六角ナット"
    *straight, together = judged(*runs)
    *shuffled, together_shuffled = judged(*(runs[i] for i in order))
    for place, i in enumerate(order):
        assert [r | {"run": i} for r in shuffled[place].values] == straight[i].values
        assert shuffled[place].document | {"run": i} == straight[i].document
    assert [(key_of(r), r["read"], r["right"], r["votes"]) for r in together_shuffled.values] == [
        (key_of(r), r["read"], r["right"], r["votes"]) for r in together.values
    ]
    assert all(r["right"] for r in together.values)


def test_what_most_runs_say_is_right_though_one_is_wrong() -> None:
    runs = [truth() for _ in range(3)]
    runs[1]["fields"]["total"] = 1
    together = judged(*runs)[-1]
    (total,) = [r for r in together.values if r["field"] == "total"]
    assert total["right"]
    assert total["votes"] == pytest.approx(2 / 3)
    assert "runs_disagree" in total["codes"]
    assert total["flagged"]
