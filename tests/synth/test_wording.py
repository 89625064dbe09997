from datetime import date
from decimal import Decimal

import pytest

from synth.wording import DATE_NOTATIONS, Wording


@pytest.mark.parametrize(
    ("notation", "text"),
    [
        ("kanji", "2026年3月4日"),
        ("slash", "2026/03/04"),
        ("hyphen", "2026-03-04"),
        ("dot", "2026.3.4"),
        ("era", "令和8年3月4日"),
        ("era_short", "R8.3.4"),
        ("weekday", "2026年3月4日(水)"),
    ],
)
def test_dates(notation, text):
    assert Wording(dates=notation).date(date(2026, 3, 4)) == text
    assert notation in DATE_NOTATIONS


def test_first_year_of_the_era():
    assert Wording(dates="era").date(date(2019, 6, 1)) == "令和元年6月1日"


def test_a_wrong_weekday_is_the_day_after():
    assert Wording(wrong_weekday=True).date(date(2026, 3, 4), due=True) == "2026年3月4日(木)"
    assert Wording(wrong_weekday=True).date(date(2026, 3, 4)) == "2026年3月4日"


@pytest.mark.parametrize(
    ("words", "value", "text"),
    [
        (Wording(), "1200", "1,200"),
        (Wording(), "12.5", "12.50"),
        (Wording(), "0", "0"),
        (Wording(yen="sign"), "1200", "¥1,200"),
        (Wording(yen="yen"), "1200", "1,200円"),
        (Wording(), "-1200", "▲1,200"),
        (Wording(negative="()"), "-1200", "(1,200)"),
        (Wording(negative="()", yen="sign"), "-1200", "¥(1,200)"),
        (Wording(yen="sign"), "-1200", "▲¥1,200"),
        (Wording(full_width=True), "1200", "１，２００"),
    ],
)
def test_money(words, value, text):
    assert words.money(Decimal(value)) == text


@pytest.mark.parametrize(
    ("value", "text"), [("100", "100"), ("12.50", "12.5"), ("1E+3", "1,000"), ("0.5", "0.5")]
)
def test_quantities_have_no_trailing_zeros(value, text):
    assert Wording().quantity(Decimal(value)) == text
