from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.dates import parse_date
from ocr_pipeline.orders.model import FieldState

WEEKDAYS = "月火水木金土日"
WIDE = str.maketrans("0123456789/", "０１２３４５６７８９／")


@pytest.mark.parametrize(
    ("text", "iso", "weekday", "rest"),
    [
        ("2026年2月9日", "2026-02-09", "", ""),
        ("2026 年 2 月 9 日", "2026-02-09", "", ""),
        ("２０２６年２月９日", "2026-02-09", "", ""),
        ("西暦2026年2月9日", "2026-02-09", "", ""),
        ("2026/06/03", "2026-06-03", "", ""),
        ("2026.1.20", "2026-01-20", "", ""),
        ("2026. 1. 20", "2026-01-20", "", ""),
        ("2026-04-09", "2026-04-09", "", ""),
        ("20260603", "2026-06-03", "", ""),
        ("令和8年2月9日", "2026-02-09", "", ""),
        ("㋿8年2月9日", "2026-02-09", "", ""),
        ("令和 8年 2月 9日", "2026-02-09", "", ""),
        ("R8.2.9", "2026-02-09", "", ""),
        ("R8/2/9", "2026-02-09", "", ""),
        ("R8年2月9日", "2026-02-09", "", ""),
        ("R08.02.09", "2026-02-09", "", ""),
        ("令和元年5月1日", "2019-05-01", "", ""),
        ("R元.5.1", "2019-05-01", "", ""),
        ("平成30年1月1日", "2018-01-01", "", ""),
        ("H31.4.30", "2019-04-30", "", ""),
        ("26/2/9", "2026-02-09", "", ""),
        ("'26/2/9", "2026-02-09", "", ""),
        ("26年2月9日", "2026-02-09", "", ""),
        ("2026年2月9日(月)", "2026-02-09", "月", ""),
        ("2026年2月9日㈪", "2026-02-09", "月", ""),
        ("2026/2/9 (金曜日)", "2026-02-09", "金", ""),
        ("2026年2月9日 月曜日", "2026-02-09", "月", ""),
        ("2026年2月9日月)", "2026-02-09", "月", ""),
        ("2026年2月9日(全)", "2026-02-09", "", "(全)"),
        ("2026/3/3必着", "2026-03-03", "", "必着"),
        ("2026年3月3日（火）午前中", "2026-03-03", "火", "午前中"),
        ("2026/3/3 10:00", "2026-03-03", "", "10:00"),
        ("2024年2月29日", "2024-02-29", "", ""),
    ],
)
def test_clean_dates(text: str, iso: str, weekday: str, rest: str) -> None:
    parsed = parse_date(text)
    assert parsed.value == date.fromisoformat(iso)
    assert (parsed.weekday, parsed.rest, parsed.repairs) == (weekday, rest, ())


@pytest.mark.parametrize(
    ("text", "iso", "code"),
    [
        ("2026:04 09", "2026-04-09", "date_separator"),
        ("2026,1,20", "2026-01-20", "date_separator"),
        ("2026-0521", "2026-05-21", "date_separator"),
        ("202605.21", "2026-05-21", "date_separator"),
        ("20264.09", "2026-04-09", "date_separator"),
        ("2026.131", "2026-01-31", "date_separator"),
        ("2026年7 16日", "2026-07-16", "date_separator"),
        ("2026年7月161", "2026-07-16", "date_sign"),
        ("2026年12月281", "2026-12-28", "date_sign"),
        ("2026年7月16", "2026-07-16", "date_sign"),
        ("2026年7月9", "2026-07-09", "date_sign"),
        ("2026年9月22口", "2026-09-22", "date_sign"),
        ("2026年9月22目", "2026-09-22", "date_sign"),
        ("2026年9月22曰", "2026-09-22", "date_sign"),
        ("2026牛9目22日", "2026-09-22", "date_sign"),
        ("今和8年2月9日", "2026-02-09", "era_sign"),
        ("令利8年2月9日", "2026-02-09", "era_sign"),
        ("2O26/1/20", "2026-01-20", "digit_shape"),
        ("2026/l/20", "2026-01-20", "digit_shape"),
        ("2026l12l20", "2026-12-20", "digit_shape"),
        ("2026.1019", "2026-10-19", "date_separator"),
    ],
)
def test_misread_dates_with_one_meaning_are_repaired(text: str, iso: str, code: str) -> None:
    parsed = parse_date(text)
    assert parsed.value == date.fromisoformat(iso)
    assert [r.code for r in parsed.repairs] == [code]


@pytest.mark.parametrize(
    ("text", "reason", "candidates"),
    [
        ("2027.123", "several_dates", ["2027-01-23", "2027-12-03"]),
        ("2025l1.23", "several_dates", ["2025-01-23", "2025-11-23"]),
        ("2026/1217", "several_dates", ["2026-12-17", "2026-12-07"]),
        ("202611/20", "several_dates", ["2026-11-20", "2026-01-20"]),
        ("2026/419", "several_dates", ["2026-04-19", "2026-04-09"]),
        ("2026112", "several_dates", ["2026-01-12", "2026-11-02"]),
        ("2026年7月11", "several_dates", ["2026-07-11", "2026-07-01"]),
        ("2026年7月3", "unsure_date", ["2026-07-03", "2026-07-30", "2026-07-31"]),
        ("026年7月16日", "unsure_date", ["2026-07-16"]),
        ("6年7月16日", "unsure_date", []),
        ("8.2.9", "unsure_date", ["2026-02-09"]),
        ("260603", "unsure_date", ["2026-06-03"]),
        ("08/2/9", "several_dates", ["2026-02-09", "2008-02-09"]),
        ("2月9日", "no_year", []),
        ("2026年2月30日", "impossible_date", []),
        ("2026/13/1", "impossible_date", []),
        ("2026-0532", "impossible_date", []),
        ("2926/1/1", "impossible_date", []),
        ("51/1/1", "impossible_date", []),
        ("令和元年4月1日", "impossible_date", ["2019-04-01"]),
        ("H31.5.1", "impossible_date", ["2019-05-01"]),
        ("2026年2月", "not_a_date", []),
        ("2026.2.301", "not_a_date", []),
        ("至急", "not_a_date", []),
        ("二〇二六年", "not_a_date", []),
    ],
)
def test_unsafe_dates_are_unreadable(text: str, reason: str, candidates: list[str]) -> None:
    parsed = parse_date(text)
    assert parsed.state is FieldState.UNREADABLE
    assert parsed.reason is not None
    assert parsed.reason.code == reason
    assert parsed.candidates == tuple(map(date.fromisoformat, candidates))
    assert parsed.repairs == ()


def test_a_year_can_be_given() -> None:
    assert parse_date("2月9日", year=2026).value == date(2026, 2, 9)
    assert parse_date("2/9(月)", year=2026).value == date(2026, 2, 9)
    assert parse_date("2月29日", year=2026).value is None
    assert parse_date("2025年2月9日", year=2026).value == date(2025, 2, 9)


@pytest.mark.parametrize("text", ["", "年 月 日", "令和  年  月  日", "/ /", "平成・令和 年 月 日"])
def test_an_empty_form_is_blank(text: str) -> None:
    assert parse_date(text).state is FieldState.BLANK


DATES = st.dates(date(1990, 1, 1), date(2099, 12, 31))


@settings(deadline=None, max_examples=200)
@given(DATES)
def test_every_notation_reads_back(day: date) -> None:
    y, m, d = day.year, day.month, day.day
    weekday = WEEKDAYS[day.weekday()]
    texts = [
        day.isoformat(),
        f"{y}年{m}月{d}日",
        f"{y}/{m:02d}/{d:02d}",
        f"{y}.{m}.{d}",
        f"{y}{m:02d}{d:02d}",
        f"{y}/{m}/{d}".translate(WIDE),
        f"{y}年 {m}月 {d}日",
    ]
    if day >= date(2019, 5, 1):
        era = y - 2018
        name = "元" if era == 1 else era
        texts += [f"令和{name}年{m}月{d}日", f"R{era}.{m}.{d}", f"R{era}/{m}/{d}"]
    elif day <= date(2019, 4, 30):
        texts += [f"平成{y - 1988}年{m}月{d}日", f"H{y - 1988}.{m}.{d}"]
    if 2020 <= y < 2050:
        texts.append(f"{y % 100}/{m}/{d}")
    for text in texts:
        parsed = parse_date(text)
        assert (parsed.value, parsed.repairs) == (day, ())
        with_day = parse_date(f"{text}({weekday})")
        assert (with_day.value, with_day.weekday) == (day, weekday)


@settings(deadline=None, max_examples=300)
@given(st.dates(date(2020, 1, 1), date(2049, 12, 31)), st.sampled_from("/.年"), st.data())
def test_a_lost_or_changed_mark_never_gives_a_wrong_date_unseen(
    day: date, style: str, data: st.DataObject
) -> None:
    y, m, d = day.year, day.month, day.day
    text = f"{y}年{m}月{d}日" if style == "年" else f"{y}{style}{m}{style}{d}"
    marks = [i for i, c in enumerate(text) if not c.isdecimal()]
    place = data.draw(st.sampled_from(marks))
    became = data.draw(
        st.sampled_from(["", " ", ":", ",", "1"] if text[place] == "日" else ["", " ", ":", ","])
    )
    parsed = parse_date(text[:place] + became + text[place + 1 :])
    assert parsed.value in (None, day)
