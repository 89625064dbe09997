from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.check import LEAST_CONFIDENCE, check
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import (
    ABSENT,
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Repair,
    Row,
    Tax,
    Value,
)
from ocr_pipeline.orders.schema import load_schema

SCHEMA = load_schema("purchase_order")
BLANK = FieldValue(FieldState.BLANK, confidence=1.0, page=1)
UNREADABLE = FieldValue(FieldState.UNREADABLE, "#", page=1, flags=(Flag("why", "?", "?"),))
SURE = 0.9


def read(value: Value | int, confidence: float = SURE) -> FieldValue:
    value = Decimal(value) if isinstance(value, int) else value
    return FieldValue(
        FieldState.READ, str(value), value, confidence, (Candidate(value, 1),), page=1
    )


def row(quantity=10, price=100, amount=1000, **other: FieldValue) -> Row:
    """An item line; numbers, or field values as they are."""
    figures = {"quantity": quantity, "unit_price": price, "amount": amount}
    row = {s.name: ABSENT for s in SCHEMA.rows}
    row |= {"item": read("樹脂カバー"), "unit": read("個")}
    row |= {n: v if isinstance(v, FieldValue) else read(v) for n, v in figures.items()}
    return row | other


def order(*rows: Row, **fields: FieldValue | Value | int) -> Order:
    """A sound order of two lines, with some things changed."""
    sound: dict[str, FieldValue | Value | int] = {
        "order_no": "2602-305",
        "order_date": date(2026, 2, 9),
        "due_date": date(2026, 3, 3),
        "buyer": "大塚製作所株式会社",
        "supplier": "株式会社クケタ",
        "tel": "03-1234-5678",
        "subtotal": 2000,
        "tax": 200,
        "total": 2200,
    }
    made = {s.name: ABSENT for s in SCHEMA.fields}
    made |= {n: v if isinstance(v, FieldValue) else read(v) for n, v in (sound | fields).items()}
    return Order(made, rows or (row(), row()), pages=(1,))


def codes(value: FieldValue) -> set[str]:
    return {f.code for f in value.flags}


def at_fault(checked: Order, code: str) -> set[tuple[str, int | None]]:
    """The places that carry a flag."""
    places = {(n, None) for n, v in checked.fields.items() if code in codes(v)}
    return places | {
        (n, i) for i, r in enumerate(checked.rows) for n, v in r.items() if code in codes(v)
    }


def all_codes(checked: Order) -> set[str]:
    values = [*checked.fields.values(), *(v for r in checked.rows for v in r.values())]
    return {c for v in values for c in codes(v)}


def test_a_sound_order_has_no_flags() -> None:
    checked = check(order(), SCHEMA)
    assert all_codes(checked) == set()
    assert checked.flags == ()


# --- arithmetic ---


def test_a_passed_check_raises_confidence_and_nothing_else_does() -> None:
    checked = check(order(), SCHEMA)
    for name in ("subtotal", "tax", "total"):
        assert SURE < checked.fields[name].confidence < 1
    for name in ("quantity", "unit_price", "amount"):
        assert SURE < checked.rows[0][name].confidence < 1
    for name in ("order_no", "buyer", "order_date"):
        assert checked.fields[name].confidence == SURE
    assert checked.rows[0]["item"].confidence == SURE


def test_a_line_that_does_not_multiply_out() -> None:
    given_order = order(row(), row(quantity=70))
    checked = check(given_order, SCHEMA)
    assert at_fault(checked, "line_amount") == {
        ("quantity", 1),
        ("unit_price", 1),
        ("amount", 1),
    }
    (flag,) = checked.rows[1]["quantity"].flags
    assert "70×100=7,000≠1,000" in flag.ja
    assert "7,000" in flag.en
    # The sum still adds up and confirms the amounts, but a flagged field is not called surer.
    assert all(checked.rows[1][n].confidence == SURE for n in ("quantity", "unit_price", "amount"))


@pytest.mark.parametrize(
    ("quantity", "price", "amount", "fits"),
    [
        ("3", "0.33", "0", True),
        ("3", "0.33", "1", True),
        ("3", "0.5", "1", True),
        ("3", "0.5", "2", True),
        ("3", "0.5", "3", False),
        ("10", "12.50", "125", True),
        ("10", "100", "1001", False),
        ("10", "-45", "-450", True),
        ("10", "-45", "450", False),
        ("0", "100", "0", True),
        ("0", "100", "100", False),
    ],
)
def test_a_fraction_of_a_yen_may_be_rounded_either_way(
    quantity: str, price: str, amount: str, fits: bool
) -> None:
    made = order(row(Decimal(quantity), Decimal(price), Decimal(amount)), subtotal=ABSENT)
    assert (at_fault(check(made, SCHEMA), "line_amount") == set()) is fits


@pytest.mark.parametrize("missing", [BLANK, ABSENT, UNREADABLE])
@pytest.mark.parametrize("name", ["quantity", "unit_price", "amount"])
def test_a_line_is_not_multiplied_without_all_its_figures(name: str, missing: FieldValue) -> None:
    made = order(row(amount=7) | {name: missing}, subtotal=ABSENT)
    assert "line_amount" not in all_codes(check(made, SCHEMA))


def test_a_blank_is_no_zero() -> None:
    zero = order(row(0, 100, 1000), subtotal=ABSENT)
    blank = order(row(BLANK, 100, 1000), subtotal=ABSENT)
    assert "line_amount" in all_codes(check(zero, SCHEMA))
    assert "line_amount" not in all_codes(check(blank, SCHEMA))


def test_amounts_that_do_not_add_up() -> None:
    # Nothing confirms the first amount, so it may be at fault; the second multiplies out.
    checked = check(order(row(quantity=BLANK), row(), subtotal=2001, tax=200), SCHEMA)
    assert at_fault(checked, "sum") == {("amount", 0), ("subtotal", None)}
    (flag,) = (f for f in checked.fields["subtotal"].flags if f.code == "sum")
    assert "2,000" in flag.ja
    assert "2,001" in flag.ja


def test_a_line_that_is_missing_shows_in_the_sum() -> None:
    checked = check(order(row()), SCHEMA)
    assert at_fault(checked, "sum") == {("subtotal", None)}


def test_the_sum_says_nothing_when_an_amount_is_unreadable() -> None:
    checked = check(order(row(amount=UNREADABLE), row(), subtotal=5), SCHEMA)
    assert "sum" not in all_codes(checked)


def test_a_blank_amount_adds_nothing() -> None:
    fits, wrong = (
        check(order(row(amount=BLANK), row(), subtotal=s, tax=100, total=s + 100), SCHEMA)
        for s in (1000, 2000)
    )
    assert at_fault(fits, "sum") == set()
    assert at_fault(wrong, "sum") == {("amount", 0), ("subtotal", None)}


def test_negative_lines_add_up() -> None:
    rows = (row(), row(1, -200, -200))
    assert all_codes(check(order(*rows, subtotal=800, tax=80, total=880), SCHEMA)) == set()


@pytest.mark.parametrize("rate", [8, 10])
@pytest.mark.parametrize("rounding", [ROUND_FLOOR, ROUND_HALF_UP, ROUND_CEILING])
@pytest.mark.parametrize("base", [2005, 1999, 1, 289028])
def test_tax_at_either_rate_and_rounding(rate: int, rounding: str, base: int) -> None:
    tax = int((Decimal(base) * rate / 100).to_integral_value(rounding))
    made = order(row(1, base, base), subtotal=base, tax=tax, total=base + tax)
    assert all_codes(check(made, SCHEMA)) == set()


@pytest.mark.parametrize("tax", [2, 199, 201, 2000, 0, -200])
def test_tax_at_no_rate(tax: int) -> None:
    checked = check(order(tax=tax, total=2000 + tax), SCHEMA)
    # The subtotal is confirmed by the sum of the lines; so the tax is at fault.
    assert at_fault(checked, "tax") == {("tax", None)}
    assert at_fault(checked, "total") == set()


def test_tax_on_a_subtotal_that_nothing_confirms() -> None:
    checked = check(order(row(amount=UNREADABLE), subtotal=2600, total=2800), SCHEMA)
    assert at_fault(checked, "tax") == {("subtotal", None), ("tax", None)}


def test_between_the_rates_of_a_sheet_with_two() -> None:
    taxes = tuple(Tax(read(r), ABSENT, read(a)) for r, a in ((8, 80), (10, 100)))
    mixed = order(tax=180, total=2180)
    assert at_fault(check(mixed, SCHEMA), "tax") == {("tax", None)}
    assert at_fault(check(replace(mixed, taxes=taxes), SCHEMA), "tax") == set()
    wrong = replace(order(tax=280, total=2280), taxes=taxes)
    assert at_fault(check(wrong, SCHEMA), "tax") == {("tax", None)}
    by_line = order(row(tax_rate=read(8)), row(tax_rate=read(10)), tax=180, total=2180)
    assert at_fault(check(by_line, SCHEMA), "tax") == set()


def test_a_total_that_does_not_add_up() -> None:
    checked = check(order(total=2300), SCHEMA)
    # Subtotal and tax confirm each other; the total stands alone against them.
    assert at_fault(checked, "total") == {("total", None)}
    alone = check(order(row(amount=UNREADABLE), tax=77, total=2300), SCHEMA)
    assert at_fault(alone, "total") == {("subtotal", None), ("tax", None), ("total", None)}


@pytest.mark.parametrize("name", ["subtotal", "tax", "total"])
def test_a_sum_that_is_not_there_is_not_checked(name: str) -> None:
    checked = check(order(**{name: UNREADABLE}), SCHEMA)
    assert all_codes(checked) <= {"why"}


def test_printed_twice() -> None:
    # A line whose amount cannot be read leaves the total unconfirmed.
    made = order(row(), row(amount=UNREADABLE), subtotal=ABSENT, tax=ABSENT)
    same = check(replace(made, echoes={"total": (read(2200),)}), SCHEMA)
    assert at_fault(same, "printed_twice") == set()
    assert same.fields["total"].confidence > SURE
    other = check(replace(made, echoes={"total": (read(2700),)}), SCHEMA)
    assert at_fault(other, "printed_twice") == {("total", None)}
    assert other.fields["total"].confidence == SURE
    assert "2200 / 2700" in next(iter(other.fields["total"].flags)).ja
    unread = check(replace(made, echoes={"total": (UNREADABLE,)}), SCHEMA)
    assert at_fault(unread, "printed_twice") == set()


def test_a_total_that_the_arithmetic_confirms_outweighs_its_second_printing() -> None:
    checked = check(replace(order(), echoes={"total": (read(2700),)}), SCHEMA)
    assert at_fault(checked, "printed_twice") == set()


# --- dates ---


@pytest.mark.parametrize(
    ("days", "wrong"),
    [(-1, "date_order"), (0, ""), (1, ""), (400, ""), (401, "date_near"), (3653, "date_near")],
)
def test_the_dates_to_one_another(days: int, wrong: str) -> None:
    ordered = date(2026, 2, 9)
    checked = check(order(order_date=ordered, due_date=ordered + timedelta(days)), SCHEMA)
    assert all_codes(checked) == ({wrong} if wrong else set())
    if wrong:
        assert at_fault(checked, wrong) == {("order_date", None), ("due_date", None)}


def test_dates_far_back_are_both_out_of_order_and_far() -> None:
    checked = check(order(due_date=date(2020, 1, 1)), SCHEMA)
    assert codes(checked.fields["due_date"]) == {"date_order", "date_near"}


@pytest.mark.parametrize("missing", [ABSENT, BLANK, UNREADABLE])
def test_a_date_alone_has_no_order(missing: FieldValue) -> None:
    checked = check(order(order_date=missing), SCHEMA)
    assert {"date_order", "date_near"} & all_codes(checked) == set()


def test_the_flag_of_a_wrong_weekday_stays() -> None:
    flag = Flag("weekday", "曜日が日付と合いません", "the weekday does not fit")
    checked = check(order(order_date=read(date(2026, 2, 9)).flagged(flag)), SCHEMA)
    assert checked.fields["order_date"].flags == (flag,)


# --- single fields ---


@pytest.mark.parametrize(
    "name", ["order_no", "order_date", "due_date", "buyer", "supplier", "total"]
)
def test_required_fields(name: str) -> None:
    absent, blank, unread = (
        check(order(**{name: v}), SCHEMA).fields[name] for v in (ABSENT, BLANK, UNREADABLE)
    )
    assert codes(absent) == {"required_absent"}
    assert codes(blank) == {"required_blank"}
    assert codes(unread) == {"why"}


@pytest.mark.parametrize("name", ["tel", "person", "remarks", "subtotal"])
def test_other_fields_may_be_missing(name: str) -> None:
    for nothing in (ABSENT, BLANK):
        assert codes(check(order(**{name: nothing}), SCHEMA).fields[name]) == set()


def test_required_columns() -> None:
    checked = check(order(row(item=BLANK), row(), row(quantity=ABSENT)), SCHEMA)
    assert "required_blank" in codes(checked.rows[0]["item"])
    assert "required_absent" in codes(checked.rows[2]["quantity"])


def test_a_blank_where_the_other_lines_have_something() -> None:
    filled, empty = row(spec=read("M6")), row(spec=BLANK)
    usual = check(order(filled, filled, empty, subtotal=ABSENT), SCHEMA)
    assert at_fault(usual, "unusual_blank") == {("spec", 2)}
    rare = check(order(filled, empty, empty, subtotal=ABSENT), SCHEMA)
    assert at_fault(rare, "unusual_blank") == set()
    half = check(order(filled, empty, subtotal=ABSENT), SCHEMA)
    assert at_fault(half, "unusual_blank") == set()
    # What cannot be read is there, so a blank beside it is just as unusual.
    unread = check(
        order(row(spec=UNREADABLE), row(spec=UNREADABLE), empty, subtotal=ABSENT), SCHEMA
    )
    assert at_fault(unread, "unusual_blank") == {("spec", 2)}


def test_a_column_that_is_not_there_is_no_unusual_blank() -> None:
    assert at_fault(check(order(row(), row(), row(unit=ABSENT)), SCHEMA), "unusual_blank") == set()


@pytest.mark.parametrize(
    ("phone", "fits"),
    [
        ("03-1234-5678", True),
        ("090-1234-5678", True),
        ("0120-123-456", True),
        ("0312345678", True),
        ("3-1234-5678", False),
        ("03-1234-567", False),
        ("090-1234-56789", False),
        ("13-1234-5678", False),
    ],
)
def test_the_shape_of_a_telephone_number(phone: str, fits: bool) -> None:
    assert (codes(check(order(tel=phone), SCHEMA).fields["tel"]) == set()) is fits


@pytest.mark.parametrize(
    ("unit", "known"), [("個", True), ("ケース", True), ("kg", True), ("佪", False), ("調", False)]
)
def test_units(unit: str, known: bool) -> None:
    checked = check(order(row(unit=read(unit)), row()), SCHEMA)
    assert (codes(checked.rows[0]["unit"]) == set()) is known
    if not known:
        assert codes(checked.rows[0]["unit"]) == {"unknown_value"}
        assert unit in checked.rows[0]["unit"].flags[0].ja


def test_characters_whose_script_nothing_decides() -> None:
    checked = check(order(buyer="二ト口株式会社", supplier="株式会社大塚商事"), SCHEMA)
    assert codes(checked.fields["buyer"]) == {"ambiguous_script"}
    assert codes(checked.fields["supplier"]) == set()


def test_a_code_without_a_figure() -> None:
    assert codes(check(order(order_no="ABC"), SCHEMA).fields["order_no"]) == {"code_shape"}
    assert codes(check(order(order_no="ABC-1"), SCHEMA).fields["order_no"]) == set()


PLACES = [
    ("order_no", Kind.CODE),
    ("order_date", Kind.DATE),
    ("buyer", Kind.NAME),
    ("tel", Kind.PHONE),
    ("total", Kind.MONEY),
]


@pytest.mark.parametrize(("name", "kind"), PLACES)
def test_low_confidence(name: str, kind: Kind) -> None:
    made = order(tax=ABSENT)
    least = LEAST_CONFIDENCE[kind]
    for confidence, low in ((least - 0.01, True), (least, False)):
        value = replace(made.fields[name], confidence=confidence)
        checked = check(replace(made, fields={**made.fields, name: value}), SCHEMA)
        assert (codes(checked.fields[name]) == {"low_confidence"}) is low
    assert 0 < least < 1


def test_arithmetic_makes_up_for_low_confidence() -> None:
    unsure = order(row(quantity=read(10, 0.2)), row(), subtotal=read(2000, 0.2), tax=read(200, 0.2))
    checked = check(unsure, SCHEMA)
    assert all_codes(checked) == set()
    assert checked.rows[0]["quantity"].confidence == pytest.approx(0.92)
    broken = check(replace(unsure, rows=(row(quantity=read(70, 0.2)), row())), SCHEMA)
    assert codes(broken.rows[0]["quantity"]) == {"line_amount", "low_confidence"}


def test_every_kind_has_a_least_confidence() -> None:
    assert set(LEAST_CONFIDENCE) == set(Kind)


# --- the whole ---


def test_an_order_without_lines() -> None:
    checked = check(Order(order().fields, ()), SCHEMA)
    assert [f.code for f in checked.flags] == ["no_rows"]
    assert "sum" not in all_codes(checked)


def test_every_reason_is_given_in_both_languages() -> None:
    broken = order(
        row(quantity=7, unit=read("佪"), item=BLANK),
        row(),
        row(amount=7),
        tel="12",
        due_date=date(2020, 1, 1),
        subtotal=5,
        tax=7,
        total=1,
        buyer=ABSENT,
        order_no=read("ABC", 0.1),
    )
    checked = check(replace(broken, echoes={"total": (read(3),)}), SCHEMA)
    flags = {f for v in checked.fields.values() for f in v.flags}
    flags |= {f for r in checked.rows for v in r.values() for f in v.flags}
    assert {f.code for f in flags} >= {
        *("line_amount", "sum", "tax", "total", "printed_twice", "date_order", "date_near"),
        *("required_absent", "required_blank", "unusual_blank", "low_confidence"),
        *("phone_shape", "unknown_value", "code_shape"),
    }
    assert all(f.ja and f.en and any(ord(c) > 0x3000 for c in f.ja) for f in flags)
    assert all(c.isascii() or c in "×Σ≠" or ord(c) > 0x3000 for f in flags for c in f.en)


MONEY = st.one_of(
    st.sampled_from([BLANK, ABSENT, UNREADABLE]),
    st.builds(read, st.integers(-50, 50).map(Decimal), st.floats(0, 1)),
)
DATES = st.one_of(
    st.sampled_from([BLANK, ABSENT, UNREADABLE]),
    st.builds(read, st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.floats(0, 1)),
)
ROWS = st.lists(st.builds(row, MONEY, MONEY, MONEY), max_size=3).map(tuple)


@settings(deadline=None, max_examples=120)
@given(ROWS, MONEY, MONEY, MONEY, DATES, DATES)
def test_values_never_change_and_flags_are_only_added(
    rows: tuple[Row, ...], subtotal, tax, total, order_date, due_date
) -> None:
    made = replace(
        order(subtotal=subtotal, tax=tax, total=total, order_date=order_date, due_date=due_date),
        rows=rows,
        echoes={"total": (read(7),)},
    )
    checked = check(made, SCHEMA)
    assert list(checked.fields) == list(made.fields)
    before = [*made.fields.values(), *(v for r in made.rows for v in r.values())]
    after = [*checked.fields.values(), *(v for r in checked.rows for v in r.values())]
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        kept = replace(new, confidence=old.confidence, flags=old.flags)
        assert kept == old
        assert new.flags[: len(old.flags)] == old.flags
        assert old.confidence <= new.confidence <= 1
    assert (checked.echoes, checked.taxes, checked.pages) == (
        made.echoes,
        made.taxes,
        made.pages,
    )


def test_repairs_are_no_reason_to_look() -> None:
    mended = replace(read("大塚スーパー株式会社"), repairs=(Repair("long_vowel", "一", "ー"),))
    assert codes(check(order(buyer=mended), SCHEMA).fields["buyer"]) == set()


@pytest.mark.parametrize(
    ("tax", "total", "fits"),
    [
        (ABSENT, 2000, True),  # prices include the tax
        (ABSENT, 2200, True),
        (ABSENT, 2160, True),
        (200, 2200, True),
        (200, 2160, False),
        (ABSENT, 99999, False),
    ],
)
def test_the_total_without_a_subtotal(tax: FieldValue | int, total: int, fits: bool) -> None:
    checked = check(order(subtotal=ABSENT, tax=tax, total=total), SCHEMA)
    assert at_fault(checked, "closing") == (set() if fits else {("total", None)})
    assert (checked.fields["total"].confidence > SURE) == fits


def test_a_printed_subtotal_leaves_the_total_to_the_other_rules() -> None:
    assert "closing" not in all_codes(check(order(total=99999), SCHEMA))


@pytest.mark.parametrize("name", ["item", "quantity", "amount"])
def test_a_table_without_a_required_column(name: str) -> None:
    rows = [row() | {name: ABSENT} for _ in range(2)]
    assert [f.code for f in check(order(*rows), SCHEMA).flags] == ["column_missing"]
    one = [row() | {name: ABSENT}, row()]
    assert check(order(*one), SCHEMA).flags == ()


def test_nothing_plus_nothing_confirms_nothing() -> None:
    zero = order(row(0, 0, 0), subtotal=0, tax=0, total=0)
    other = {n: (read(v),) for n, v in (("subtotal", 2000), ("tax", 200), ("total", 2200))}
    checked = check(replace(zero, echoes=other), SCHEMA)
    assert at_fault(checked, "printed_twice") == {(n, None) for n in other}
