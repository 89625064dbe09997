from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.amounts import money, number, percent
from ocr_pipeline.orders.model import FieldState

WIDE = str.maketrans("0123456789,.-", "０１２３４５６７８９，．－")


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("¥12,996,461-（税込）", "12996461", "(税込)"),
        ("￥１，２００", "1200", ""),
        ("12、996、461", "12996461", ""),
        ("1,200円", "1200", ""),
        ("金12,000円也", "12000", ""),
        ("1,200円(税抜)", "1200", "(税抜)"),
        ("¥1,200※", "1200", ""),
        ("¥1,200ー", "1200", ""),
        ("¥1,200.-", "1200", ""),
        ("¥1,200,-", "1200", ""),
        ("\\1,200", "1200", ""),
        ("*1,200*", "1200", ""),
        ("41, 300", "41300", ""),
        ("40/個", "40", "/個"),
        ("▲1,200", "-1200", ""),
        ("△1,200", "-1200", ""),
        ("(1,200)", "-1200", ""),
        ("−1,200", "-1200", ""),
        ("-1,200", "-1200", ""),
        ("¥-1,200", "-1200", ""),
        ("▲¥1,200", "-1200", ""),
        ("12.50", "12.50", ""),
        ("1.5", "1.5", ""),
        ("0.125", "0.125", ""),
        ("1,234.50", "1234.50", ""),
        ("0", "0", ""),
        ("¥0-", "0", ""),
    ],
)
def test_money(text: str, value: str, rest: str) -> None:
    parsed = money(text)
    assert (parsed.value, parsed.rest, parsed.repairs) == (Decimal(value), rest, ())


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("¥41.300", 41300, "thousands_mark"),
        ("12.500", 12500, "thousands_mark"),
        ("12,996.461", 12996461, "thousands_mark"),
        ("¥19:200", 19200, "thousands_mark"),
        ("¥41 300", 41300, "thousands_mark"),
        ("12 996,461", 12996461, "thousands_mark"),
        ("V19,200", 19200, "yen_sign"),
        ("Y31,400", 31400, "yen_sign"),
        ("半1,200", 1200, "yen_sign"),
        ("1,2O0", 1200, "digit_shape"),
        ("l,200", 1200, "digit_shape"),
        ("1,2l0", 1210, "digit_shape"),
        ("1,200l", 1200, "digit_shape"),
        ("1,200|", 1200, "digit_shape"),
    ],
)
def test_misread_money_with_one_meaning_is_repaired(text: str, value: int, code: str) -> None:
    parsed = money(text)
    assert parsed.value == value
    assert [r.code for r in parsed.repairs] == [code]
    assert parsed.repairs[0].before in text


@pytest.mark.parametrize(
    ("text", "reason", "candidates"),
    [
        ("|1,200", "several_numbers", {1200, 11200}),
        ("l1,200", "several_numbers", {1200, 11200}),
        ("12l", "several_numbers", {12, 121}),
        ("41 300", "unsure_number", {41300}),
        ("12996,461", "unsure_number", {12996461}),
        ("1,23,456", "unsure_number", {123456}),
        ("1,200,", "unsure_number", {1200}),
        ("5S0", "unsure_number", {550}),
        ("(1,200", "unsure_number", {1200, -1200}),
        ("¥1,200 ¥3,400", "not_a_number", set()),
        ("012", "unsure_number", {12}),
        ("一式", "lump_sum", {1}),
        ("１式", "lump_sum", {1}),
        ("〃", "ditto", set()),
        ("同上", "ditto", set()),
        ("無償", "in_words", set()),
        ("別途見積", "in_words", set()),
        ("abc", "not_a_number", set()),
        ("1,200個", "not_a_number", set()),
        ("9" * 40, "unsure_number", set()),
    ],
)
def test_unsafe_money_is_unreadable(text: str, reason: str, candidates: set[int]) -> None:
    parsed = money(text)
    assert parsed.state is FieldState.UNREADABLE
    assert parsed.reason is not None
    assert parsed.reason.code == reason
    assert set(parsed.candidates) == candidates


@pytest.mark.parametrize("text", ["", "¥", "円", "¥-", "金 円", "…", "( )", "※"])
def test_a_form_with_no_amount_is_blank_and_not_zero(text: str) -> None:
    assert money(text).state is FieldState.BLANK


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("12.50", "12.50", ""),
        ("1,000", "1000", ""),
        ("10個", "10", "個"),
        ("10 本", "10", "本"),
        ("18L", "18", "L"),
        ("18ℓ", "18", "L"),
        ("3.5kg", "3.5", "kg"),
        ("10m2", "10", "m2"),
        ("2箱(20個)", "2", "箱(20個)"),
        ("1式", "1", "式"),
        ("100ヶ", "100", "ヶ"),
        ("▲5", "-5", ""),
        ("(5)", "-5", ""),
        ("1,200PCS", "1200", "PCS"),
    ],
)
def test_number(text: str, value: str, rest: str) -> None:
    parsed = number(text)
    assert (parsed.value, parsed.rest, parsed.repairs) == (Decimal(value), rest, ())


def test_misread_quantities() -> None:
    assert number("1O個").value == 10
    assert [r.code for r in number("1O個").repairs] == ["digit_shape"]
    assert number("12:500").value == 12500


@pytest.mark.parametrize(
    ("text", "reason", "candidates"),
    [
        ("12.500", "several_numbers", {Decimal("12.500"), Decimal(12500)}),
        ("10l", "several_numbers", {10, 101}),
        ("10I", "several_numbers", {10, 101}),
        ("5B", "unsure_number", {58}),
        ("5G1", "not_a_number", set()),
        ("1 000", "unsure_number", {1000}),
        ("10-", "not_a_number", set()),
        ("一式", "lump_sum", {1}),
        ("〃", "ditto", set()),
        ("10〃", "not_a_number", set()),
        ("個", "not_a_number", set()),
    ],
)
def test_unsafe_quantities_are_unreadable(text: str, reason: str, candidates: set[object]) -> None:
    parsed = number(text)
    assert parsed.state is FieldState.UNREADABLE
    assert parsed.reason is not None
    assert parsed.reason.code == reason
    assert set(parsed.candidates) == candidates


CENTS = st.decimals(Decimal(0), Decimal(10**11), places=2)
YEN = st.integers(1, 10**11)


@settings(deadline=None, max_examples=200)
@given(YEN)
def test_yen_in_every_notation(value: int) -> None:
    printed = f"{value:,}"
    for text in (
        printed,
        str(value),
        f"¥{printed}",
        f"¥{printed}-",
        f"￥{printed.translate(WIDE)}",
        f"{printed}円",
        f"金{printed}円也",
        printed.replace(",", "、"),
        f"¥{printed}-（税込）",
    ):
        parsed = money(text)
        assert (parsed.value, parsed.repairs) == (value, ())
    for text in (f"▲{printed}", f"△{printed}", f"({printed})", f"−{printed}", f"¥-{printed}"):
        assert money(text).value == -value
    for mark in ".:·":
        assert money("¥" + printed.replace(",", mark)).value == value


@settings(deadline=None, max_examples=200)
@given(CENTS)
def test_prices_below_a_yen(value: Decimal) -> None:
    for text in (f"{value:f}", f"{value:,f}", f"¥{value:,f}", f"{value:,f}".translate(WIDE)):
        assert money(text).value == value
        assert number(text.replace("¥", "")).value == value


@settings(deadline=None, max_examples=200)
@given(YEN, st.sampled_from(["個", "本", "枚", " 台", "kg", "m", "L", "箱(12個)", "PCS"]))
def test_a_unit_is_set_apart(value: int, unit: str) -> None:
    parsed = number(f"{value:,}{unit}")
    assert (parsed.value, parsed.rest) == (value, unit.strip())


@settings(deadline=None, max_examples=200)
@given(YEN, st.integers(0, 14), st.sampled_from("OlI|SBZ.,: "))
def test_a_wrong_character_never_gives_a_wrong_value_unseen(value: int, at: int, char: str) -> None:
    printed = f"{value:,}"
    place = at % len(printed)
    shapes = {"O": "0", "l": "1", "I": "1", "|": "1", "S": "5", "B": "8", "Z": "2"}
    if printed[place] == shapes.get(char, ","):
        parsed = money(printed[:place] + char + printed[place + 1 :])
        assert parsed.value in (None, value)


def test_percent_has_bounds() -> None:
    assert percent("100%").value == 100
    assert percent("101%").value is None
