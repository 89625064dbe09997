from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from eval.align import align
from eval.cases import Case, Place
from eval.outcomes import Form, Outcome, best_of, lost, outcomes_of, row_of, undivided
from eval.tidy import VALUES
from ocr_pipeline.errors import UsageError
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Flag, Order, Row, Value
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))
FLAG = Flag("low_confidence", "低い", "low")


def read(value: Value, raw: str | None = None, *flags: Flag) -> FieldValue:
    return FieldValue(
        FieldState.READ, str(value) if raw is None else raw, value, 0.8, flags=flags, page=1
    )


def row(**values: FieldValue) -> Row:
    return {name: values.get(name, ABSENT) for name in FORM.rows}


def order(*rows: Row, flags: tuple[Flag, ...] = (), **fields: FieldValue) -> Order:
    made = {name: fields.get(name, ABSENT) for name in FORM.fields}
    return Order(made, rows, flags=flags, pages=(1,))


def case(*rows: dict, blank: frozenset = frozenset(), **fields: object) -> Case:
    return Case("a.png", 1, fields, rows, blank=blank)  # type: ignore[arg-type]


def found(made: Order, truth: Case) -> list[Outcome]:
    return outcomes_of(made, truth, FORM, align(made.rows, truth.rows, FORM.rows))


def one(value: FieldValue, **truth: object) -> dict[str, Any]:
    """The columns of one header field."""
    (name,) = truth
    true = case(**truth)
    (outcome,) = found(order(**{name: value}), true)
    return row_of(outcome, true, FORM)


def test_the_three_levels() -> None:
    exact = one(read("株式会社大塚"), buyer="株式会社大塚")
    typed = one(read("株式会社大塚", "㈱大塚"), buyer="株式会社大塚")
    folded = one(read("大塚力バー"), buyer="大塚カバー")
    wrong = one(read("大塚"), buyer="永田")
    levels = [
        (o["raw_right"], o["right"], o["folded_right"]) for o in (exact, typed, folded, wrong)
    ]
    assert levels == [
        (True, True, True),
        (False, True, True),
        (False, False, True),
        (False, False, False),
    ]


def test_what_a_row_says() -> None:
    quad = ((0.0, 0.0), (9.0, 0.0), (9.0, 5.0), (0.0, 5.0))
    places = {("total", None): Place(2, quad, 0.75, ("¥137", "137"))}
    true = Case("a.png", 1, {"total": 137}, (), places=places, name_kinds={"buyer": "random"})
    (outcome,) = found(order(total=read(Decimal("137"), "¥137", FLAG)), true)
    said = row_of(outcome, true, FORM, votes=0.6)
    assert math.isnan(said.pop("cer"))
    assert said == {
        "field": "total",
        "row": pd.NA,
        "extra": False,
        "kind": "money",
        "name_kind": "",
        "truth": "137",
        "raw": "¥137",
        "read": "137",
        "state": "read",
        "raw_right": True,
        "right": True,
        "folded_right": True,
        "error": "",
        "flagged": True,
        "codes": ("low_confidence",),
        "confidence": 0.8,
        "votes": 0.6,
        "ink": 0.75,
        "page": 1,
        "quad": None,
        "true_page": 2,
        "true_quad": quad,
    }


def test_a_row_has_the_columns_of_the_table() -> None:
    where = {"document", "sheet", "transmission", "severity", "run"}
    assert {*one(ABSENT, total=1), *where} == set(VALUES)


def test_dates_and_numbers_from_json() -> None:
    assert one(read(date(2026, 2, 9)), order_date="2026-02-09")["right"]
    assert one(read(Decimal("12.50")), total=12.5)["right"]
    assert not one(read(Decimal("12.50")), total=12)["right"]


def test_a_value_that_is_truly_not_there() -> None:
    right = one(ABSENT, tel=None)
    assert right["right"]
    assert right["raw_right"]
    assert one(read("03-1234-5678"), tel=None)["error"] == "invented"
    assert one(ABSENT, tel="03-1234-5678")["error"] == "not_read"
    assert one(FieldValue(FieldState.UNREADABLE, "0x", None, 0.3), total=0)["error"] == "unreadable"


def test_only_what_the_truth_names_is_scored() -> None:
    made = order(row(item=read("x"), quantity=read(Decimal(1))), buyer=read("y"))
    outcomes = found(made, case({"item": "x"}, order_no="A-1"))
    assert [o.ref for o in outcomes] == [("order_no", None), ("item", 0)]


def test_a_flag_of_the_order_counts_for_a_missing_line_and_no_field() -> None:
    made = order(order_no=read("A-1"), flags=(FLAG,))
    outcomes = found(made, case({"item": "軸受"}, order_no="A-7"))
    assert [(o.ref[0], o.flagged, o.error) for o in outcomes] == [
        ("order_no", False, "wrong"),
        ("item", True, "missing_row"),
    ]


@pytest.mark.parametrize("flagged", [True, False])
def test_a_document_without_an_order_is_wrong_everywhere(flagged: bool) -> None:
    outcomes = lost(case({"item": "x"}, order_no="A-1"), flagged=flagged)
    assert [(o.ref, o.error, o.flagged, o.value) for o in outcomes] == [
        (("order_no", None), "failed", flagged, ABSENT),
        (("item", 0), "failed", flagged, ABSENT),
    ]


def test_of_several_orders_the_one_that_is_meant() -> None:
    orders = [order(order_no=read("B-2")), order(order_no=read("A-1")), order()]
    assert best_of(orders, case(order_no="A-1"), FORM) is orders[1]
    assert best_of(orders[:1], case(order_no="A-1"), FORM) is orders[0]
    assert best_of([], case(order_no="A-1"), FORM) is None


def test_a_row_that_was_not_found_is_silent_unless_the_sum_says_so() -> None:
    truth = case({"item": "ボルト"}, {"item": "軸受"}, subtotal=5)
    bolt = row(item=read("ボルト"))
    quiet = found(order(bolt, subtotal=read(Decimal(5))), truth)
    assert [(o.ref[0], bool(o.error), o.flagged) for o in quiet] == [
        ("subtotal", False, False),
        ("item", False, False),
        ("item", True, False),
    ]
    told = order(bolt, subtotal=read(Decimal(5), "5", Flag("sum", "?", "?")))
    assert [o.flagged for o in found(told, truth)] == [True, False, True]


def test_a_line_too_many_is_beyond_the_truth() -> None:
    made = order(
        row(item=read("ボルト")),
        row(item=read("軸受", None, FLAG), quantity=FieldValue(FieldState.UNREADABLE, "x")),
    )
    truth = case({"item": "ボルト"})
    *_, item, quantity = found(made, truth)
    assert [(o.ref, o.error, o.flagged, o.extra) for o in (item, quantity)] == [
        (("item", 1), "extra_row", True, True),
        (("quantity", 1), "extra_row", False, True),
    ]
    said = row_of(item, truth, FORM)
    assert (said["truth"], said["right"], said["raw_right"], said["folded_right"]) == (
        "",
        False,
        False,
        False,
    )


def test_what_is_read_at_a_blank_place_is_invented() -> None:
    made = order(row(item=read("ボルト"), remarks=read("至急"), spec=read("M8")))
    truth = case({"item": "ボルト"}, blank=frozenset({("remarks", 0), ("unit", 0)}))
    *_, invented = found(made, truth)
    assert (invented.ref, invented.error, invented.extra) == (("remarks", 0), "invented", True)


def test_a_truth_of_another_form_is_an_error() -> None:
    FORM.require(case({"item": "x"}, order_no="A-1"))
    with pytest.raises(UsageError, match="colour, size"):
        FORM.require(case({"size": "x"}, colour="red"))


def test_a_cell_that_the_truth_does_not_divide_is_compared_whole() -> None:
    divided = order(row(item=read("ステンレス鋼板"), spec=read("SUS304", None, FLAG)))
    whole = undivided(divided, case({"item": "ステンレス鋼板 SUS304"}), FORM)
    (outcome,) = found(whole, case({"item": "ステンレス鋼板 SUS304"}))
    assert outcome.error == ""
    assert outcome.flagged
    assert whole.rows[0]["spec"] == ABSENT
    other = case({"item": "ステンレス鋼板", "spec": "SUS304"}, {"item": "銅管"})
    assert undivided(divided, other, FORM) == divided
    assert undivided(order(row(item=read("銅管"))), case({"item": "銅管"}), FORM).rows[0][
        "item"
    ] == read("銅管")
