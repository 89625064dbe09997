from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from eval.cases import Case
from eval.outcomes import Outcome, match_rows, same, score, score_all
from ocr_pipeline.export.record import DocumentStatus, Record
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Flag, Order, Row, Value
from ocr_pipeline.orders.schema import load_schema

SCHEMA = load_schema("purchase_order")
FLAG = Flag("low_confidence", "低い", "low")


def read(value: Value, raw: str | None = None, *flags: Flag) -> FieldValue:
    return FieldValue(
        FieldState.READ, str(value) if raw is None else raw, value, 0.8, flags=flags, page=1
    )


def row(**values: FieldValue) -> Row:
    return {s.name: values.get(s.name, ABSENT) for s in SCHEMA.rows}


def order(*rows: Row, flags: tuple[Flag, ...] = (), **fields: FieldValue) -> Order:
    made = {s.name: fields.get(s.name, ABSENT) for s in SCHEMA.fields}
    return Order(made, rows, flags=flags, pages=(1,))


def record(*orders: Order, status: DocumentStatus = DocumentStatus.OK) -> Record:
    return Record("a.png", status, orders=orders)


def case(*rows: dict, **fields: object) -> Case:
    return Case("a.png", 1, fields, rows)  # type: ignore[arg-type]


def one(found: FieldValue, **truth: object) -> Outcome:
    """The outcome of one header field."""
    (name,) = truth
    (outcome,) = score(record(order(**{name: found})), case(**truth), SCHEMA)
    return outcome


@pytest.mark.parametrize(
    ("kind", "truth", "read", "equal"),
    [
        (Kind.MONEY, "12.5", "12.50", True),
        (Kind.MONEY, "4311109", "4311109", True),
        (Kind.MONEY, "0", "", False),
        (Kind.MONEY, "", "0", False),
        (Kind.MONEY, "", "", True),
        (Kind.MONEY, "100", "700", False),
        (Kind.DATE, "2026-02-09", "2026-02-09", True),
        (Kind.DATE, "2026-02-09", "2026-02-19", False),
        (Kind.PHONE, "03-1234-5678", "0312345678", True),
        (Kind.CODE, "LGR25-640", "LGR25-640", True),
        (Kind.CODE, "LGR25-640", "1GR25-640", False),
        (Kind.NAME, "㈱大塚", "株式会社大塚", True),
        (Kind.NAME, "CG-M20 黒", "CG-M20黒", True),
        (Kind.NAME, "パッキン", "バッキン", False),
        (Kind.NAME, "カバー", "力バー", False),
    ],
)
def test_equal_at_the_typed_level(kind: Kind, truth: str, read: str, equal: bool) -> None:
    assert same(kind, truth, read) is equal


def test_the_three_levels() -> None:
    exact = one(read("株式会社大塚"), buyer="株式会社大塚")
    typed = one(read("株式会社大塚", "㈱大塚"), buyer="株式会社大塚")
    folded = one(read("大塚力バー"), buyer="大塚カバー")
    wrong = one(read("大塚"), buyer="永田")
    levels = [(o.raw_right, o.right, o.folded_right) for o in (exact, typed, folded, wrong)]
    assert levels == [
        (True, True, True),
        (False, True, True),
        (False, False, True),
        (False, False, False),
    ]


def test_what_an_outcome_says() -> None:
    outcome = one(read(Decimal("137"), "¥137", FLAG), total=137)
    assert outcome == Outcome(
        source="a.png",
        severity=1,
        field="total",
        row=None,
        truth="137",
        read="137",
        raw="¥137",
        raw_right=False,
        right=True,
        folded_right=True,
        flagged=True,
        codes=("low_confidence",),
        confidence=0.8,
    )


def test_dates_and_numbers_from_json() -> None:
    assert one(read(date(2026, 2, 9)), order_date="2026-02-09").right
    assert one(read(Decimal("12.50")), total=12.5).right
    assert not one(read(Decimal("12.50")), total=12).right


def test_a_value_that_is_truly_not_there() -> None:
    assert one(ABSENT, tel=None).right
    assert not one(read("03-1234-5678"), tel=None).right
    assert not one(ABSENT, tel="03-1234-5678").right
    assert not one(FieldValue(FieldState.UNREADABLE, "0x", None, 0.3), total=0).right


def test_only_what_the_truth_names_is_scored() -> None:
    found = record(order(row(item=read("x"), quantity=read(Decimal(1))), buyer=read("y")))
    outcomes = score(found, case({"item": "x"}, order_no="A-1"), SCHEMA)
    assert [(o.field, o.row) for o in outcomes] == [("order_no", None), ("item", 0)]


def test_a_flag_of_the_order_counts_for_a_missing_line_and_no_field() -> None:
    made = order(order_no=read("A-1"), flags=(FLAG,))
    outcomes = score(record(made), case({"item": "軸受"}, order_no="A-7"), SCHEMA)
    assert [(o.field, o.flagged, o.codes) for o in outcomes] == [
        ("order_no", False, ()),
        ("item", True, ()),
    ]


@pytest.mark.parametrize("status", [DocumentStatus.FAILED, DocumentStatus.NOT_AN_ORDER])
def test_a_document_without_an_order_is_wrong_everywhere_and_flagged(status) -> None:
    outcomes = score(record(status=status), case({"item": "x"}, order_no="A-1"), SCHEMA)
    assert [(o.right, o.flagged, o.read) for o in outcomes] == [(False, True, "")] * 2


def test_of_several_orders_the_one_that_is_meant() -> None:
    orders = (order(order_no=read("B-2")), order(order_no=read("A-1")), order())
    (outcome,) = score(record(*orders), case(order_no="A-1"), SCHEMA)
    assert outcome.right


def test_a_row_that_was_not_found_is_silent_unless_the_sum_says_so() -> None:
    truth = case({"item": "ボルト"}, {"item": "軸受"}, subtotal=5)
    found = row(item=read("ボルト"))
    quiet = score(record(order(found, subtotal=read(Decimal(5)))), truth, SCHEMA)
    assert [(o.field, o.right, o.flagged) for o in quiet] == [
        ("subtotal", True, False),
        ("item", True, False),
        ("item", False, False),
    ]
    told = order(found, subtotal=read(Decimal(5), "5", Flag("sum", "?", "?")))
    assert [o.flagged for o in score(record(told), truth, SCHEMA)] == [True, False, True]


def test_rows_are_matched_by_what_they_say() -> None:
    bolt = row(item=read("六角ボルト"), quantity=read(Decimal(10)))
    ring = row(item=read("止め輪"), quantity=read(Decimal(5)))
    truth = [{"item": "止め輪", "quantity": 5}, {"item": "六角ボルト", "quantity": 10}]
    matched = match_rows([bolt, ring], truth, SCHEMA)
    assert matched[0] is ring
    assert matched[1] is bolt
    assert match_rows([ring], truth, SCHEMA) == [ring, None]
    assert match_rows([], truth, SCHEMA) == [None, None]
    assert match_rows([ring], [], SCHEMA) == []


def test_one_row_is_never_matched_twice() -> None:
    ring = row(item=read("止め輪"))
    matched = match_rows([ring], [{"item": "止め輪"}, {"item": "止め輪"}], SCHEMA)
    assert sum(m is ring for m in matched) == 1


def test_rows_with_nothing_in_common_are_not_matched() -> None:
    assert match_rows([row(item=read("軸受"))], [{"item": "切削油"}], SCHEMA) == [None]


def test_a_case_without_a_record_is_wrong_and_nobody_was_told() -> None:
    cases = [case({"item": "x", "amount": 3}, order_no="A-1")]
    outcomes = score_all({}, cases, SCHEMA)
    assert [(o.field, o.row) for o in outcomes] == [
        ("order_no", None),
        ("item", 0),
        ("amount", 0),
    ]
    assert not any(o.right or o.raw_right or o.folded_right or o.flagged for o in outcomes)


def test_every_true_value_has_one_outcome() -> None:
    cases = [case({"item": "x"}, {"item": "y"}, order_no="A-1", total=3)]
    for records in ({}, {"a.png": record()}, {"a.png": record(order(row(item=read("y"))))}):
        assert len(score_all(records, cases, SCHEMA)) == 4
