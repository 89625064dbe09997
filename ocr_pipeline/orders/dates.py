"""Dates as Japanese forms print them, and as a fax engine misreads them.

A date is read when exactly one date of the calendar fits what was read; several, or a date whose
end may have been cut off, are unreadable with the candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from ocr_pipeline.orders.kinds import BLANK, Parsed, unreadable
from ocr_pipeline.orders.model import FieldState, Flag, Repair
from ocr_pipeline.orders.text import normal

NOT_A_DATE = Flag("not_a_date", "日付として読めません", "this is not a date")
SEVERAL_DATES = Flag(
    "several_dates", "日付の読み方が複数あります", "this can be read as several dates"
)
UNSURE_DATE = Flag(
    "unsure_date", "日付の一部が欠けている恐れがあります", "a piece of this date may be missing"
)
IMPOSSIBLE_DATE = Flag(
    "impossible_date", "暦にない日付です", "there is no such day in the calendar"
)
NO_YEAR = Flag("no_year", "年が書かれていません", "no year is printed")

FIRST_YEAR, LAST_YEAR = 1990, 2099
"""Years an order can be of; anything else is a misread digit."""

_ERAS = {
    "令和": (date(2019, 5, 1), date(LAST_YEAR, 12, 31)),
    "平成": (date(1989, 1, 8), date(2019, 4, 30)),
    "昭和": (date(1926, 12, 25), date(1989, 1, 7)),
}
_ERA_LETTERS = {"R": "令和", "H": "平成", "S": "昭和"}
_ERA = re.compile(
    r"(?P<name>[令今合冷][和租利禾]|平成|昭和|[RHSrhs](?=[\s.]?(?:\d|元)))[\s.]*(?=\d|元)"
)

_WEEKDAY = re.compile(
    r"[(\[]\s*([月火水木金土日])\s*(?:曜日?)?\s*[)\]]?|([月火水木金土日])曜日?"
    r"|(?<=日)([月火水木金土日])[)\]]"
)
_TAIL = re.compile(
    r"(?:\([^()\d]{1,4}\)|必着|厳守|希望|予定|納品|納入|出荷|発送|着|迄|まで|頃|以降|以内"
    r"|午前中?|午後|AM|PM|中"
    r"|\d{1,2}(?::\d\d|時)(?:\d\d分)?)+$",
    re.IGNORECASE,
)
_LOOSE = "[年月日/.,:;・·_~\\-‐–—―−ー'’\\s]+"
_JAPANESE = re.compile(
    r"(?P<y>\d{4}|\d{1,2})\s?(?P<ys>[年牛午])\s?(?P<m>\d{1,2})\s?(?P<ms>[月目且冃])\s?"
    r"(?P<d>\d{1,3})\s?(?P<ds>[日口目曰ロ臼囗]?)"
)
_CLEAN = re.compile(
    r"\d+ ?年 ?\d{1,2} ?月 ?\d{1,2} ?日|\d+ ?(?P<s>[/.\-]) ?\d{1,2} ?(?P=s) ?\d{1,2}|\d{8}"
)
_LOOKS_LIKE_DAY_SIGN = "018"


def parse_date(text: str, *, year: int | None = None) -> Parsed:
    """A calendar date.

    Args:
        text: e.g. `2026年2月9日(月)`, `2026/06/03`, `令和8年2月9日`, `R8.2.9`, `20260603`,
            `26/2/9`.
        year: the year of a date that is printed without one; without it such a date is unreadable.

    Returns:
        A `date`; `weekday` holds the printed weekday, unchecked, and `rest` what follows (`必着`).
    """
    tidy = normal(text)
    if not re.sub(r"[年月日\s/.()\-‐–—―−ー・:令和平成西暦]", "", tidy):
        return BLANK
    weekday = ""
    if found := _WEEKDAY.search(tidy):
        weekday = found[1] or found[2] or found[3]
        tidy = f"{tidy[: found.start()]} {tidy[found.end() :]}".strip()
    rest = ""
    if found := _TAIL.search(tidy):
        rest, tidy = found[0], tidy[: found.start()].rstrip(" (")
    tidy = re.sub(r"^(?:西暦\s*|['’])", "", tidy)
    # A letter between digits or date signs is a digit; anything else is left to fail.
    spelled = re.sub(r"(?<=[\d年月/.\-])[Oo〇]|[Oo〇](?=\d)", "0", tidy)
    # A stroke is a 1 or a slash.
    stroke = re.compile(r"(?<=[\d年月/.\-])[lI|](?=[\d年月日/.\-]|$)")
    ways = {to: _dated(stroke.sub(to, spelled), year) for to in ("1", "/")}
    dates = [to for to, way in ways.items() if way.value or way.candidates]
    result = ways[dates[0] if dates else "1"]
    found_dates = {v for way in ways.values() for v in (way.value, *way.candidates) if v}
    if len(dates) > 1 and len(found_dates) > 1 and stroke.search(spelled):
        result = unreadable(SEVERAL_DATES, *sorted(found_dates, key=str))
    spelled = stroke.sub(dates[0] if dates else "1", spelled)
    repairs = (Repair("digit_shape", tidy, spelled),) if spelled != tidy else ()
    return Parsed(
        result.state,
        result.value,
        repairs + result.repairs if result.value else (),
        result.reason,
        result.candidates,
        rest,
        weekday,
    )


def _dated(text: str, year: int | None) -> Parsed:
    return _era_date(text) if _ERA.match(text) else _date(text, year)


def _era_date(text: str) -> Parsed:
    """A date that begins with an era: the year becomes a western one, the rest is read as such."""
    found = _ERA.match(text)
    assert found
    name = found["name"]
    era = _ERA_LETTERS.get(name.upper(), name if name in _ERAS else "令和")
    body = re.sub("^元", "1", text[found.end() :])
    split = re.match(rf"(\d{{1,2}})(?=年|牛|午|{_LOOSE})(.*)", body)
    if not split:
        return unreadable(NOT_A_DATE)
    first, last = _ERAS[era]
    result = _date(f"{first.year - 1 + int(split[1]):04d}{split[2]}", None, first=first.year)
    value = result.value
    if isinstance(value, date) and not first <= value <= last:
        return unreadable(IMPOSSIBLE_DATE, value)
    if result.state is FieldState.READ and era != name and name.upper() not in _ERA_LETTERS:
        return _read(value, Repair("era_sign", text, text.replace(name, era)), *result.repairs)
    return result


def _date(text: str, year: int | None, *, first: int = FIRST_YEAR) -> Parsed:
    """A date with a western year, with two digits of one, or with none."""
    clean = bool(_CLEAN.fullmatch(text))
    if japanese := _JAPANESE.fullmatch(text):
        return _japanese(japanese, text, clean=clean, first=first)
    if without_year := re.fullmatch(r"(\d{1,2})(?:月|/)\s?(\d{1,2})日?", text):
        month, day = map(int, without_year.groups())
        if year is None:
            return unreadable(NO_YEAR)
        return _only(text, [(year, month, day)], first=first)
    groups = re.split(_LOOSE, re.sub("日$", "", text))
    if not all(g.isdecimal() and g.isascii() for g in groups):
        return unreadable(NOT_A_DATE)
    repair = None if clean else Repair("date_separator", text, "")
    return _loose(text, groups, repair, first)


def _loose(text: str, groups: list[str], repair: Repair | None, first: int) -> Parsed:
    """Digits in groups, whatever stood between them."""
    match [len(g) for g in groups]:
        case [4, 1 | 2, 1 | 2]:
            y, m, d = map(int, groups)
            return _only(text, [(y, m, d)], repair, first=first)
        case [2, 1 | 2, 1 | 2]:
            return _short_year(text, groups, repair)
        case [1, 1 | 2, 1 | 2] | [3, 1 | 2, 1 | 2]:
            # The era letter, or a digit of the year, is gone.
            y, m, d = map(int, groups)
            years = (2018 + y,) if len(groups[0]) == 1 else (2000 + y,)
            return unreadable(UNSURE_DATE, *_possible(((y, m, d) for y in years), first))
        case [4, 4] | [8] | [6, 2] | [5, 1 | 2]:
            joined = "".join(groups)
            cut = 6 if len(groups[0]) != 5 else 5
            triples = [(int(joined[:4]), int(joined[4:cut]), int(joined[cut:]))]
            # A slash looks like a 1: 2026/1217 may be 2026/12/7, and 202611/20 may be 2026/1/20.
            if re.fullmatch(r"\d{4}/1\d1\d", text):
                triples.append((int(joined[:4]), int(joined[4:6]), int(joined[7:])))
            if re.fullmatch(r"\d{4}1\d/\d\d", text):
                triples.append((int(joined[:4]), int(joined[5]), int(joined[6:])))
            return _only(text, triples, repair, first=first)
        case [4, 3] | [7]:
            joined = "".join(groups)
            y, tail = int(joined[:4]), joined[4:]
            splits = [(y, int(tail[:k]), int(tail[k:])) for k in (1, 2) if tail[k] != "0" or k == 1]
            if "/" in text and tail[1] == "1":
                splits.append((y, int(tail[0]), int(tail[2])))
            return _only(text, splits, repair or Repair("date_separator", text, ""), first=first)
        case [6]:
            joined = groups[0]
            splits = [
                (2000 + int(joined[:2]), int(joined[2:4]), int(joined[4:])),
                (int(joined[:4]), int(joined[4]), int(joined[5])),
            ]
            return unreadable(UNSURE_DATE, *_possible(splits, first))
        case _:
            return unreadable(NOT_A_DATE)


def _japanese(match: re.Match[str], text: str, *, clean: bool, first: int) -> Parsed:
    """年 and 月 are there; the 日 at the end may be another character, a digit, or cut off."""
    digits = match["d"]
    mend = None if clean else Repair("date_sign", text, "")
    if len(match["y"]) != 4:
        if len(match["y"]) == 1 or not match["ds"] or len(digits) > 2:
            return unreadable(UNSURE_DATE)
        return _short_year(text, [match["y"], match["m"], digits], mend)
    y, m = int(match["y"]), int(match["m"])
    if match["ds"]:
        if len(digits) > 2:
            return unreadable(NOT_A_DATE)
        return _only(text, [(y, m, int(digits))], mend, first=first)
    as_sign = (
        [(y, m, int(digits[:-1]))] if digits[:-1] and digits[-1] in _LOOKS_LIKE_DAY_SIGN else []
    )
    whole = [(y, m, int(digits))] if len(digits) < 3 else []
    if len(digits) == 1 and digits in "123":
        # 1, or 10 to 19 with the end of the line cut off.
        tens = (int(digits) * 10 + k for k in range(10))
        return unreadable(UNSURE_DATE, *_possible(((y, m, d) for d in (int(digits), *tens)), first))
    return _only(text, whole + as_sign, mend, first=first)


def _short_year(text: str, groups: list[str], repair: Repair | None) -> Parsed:
    """A year of two digits: 2020 to 2049; below that it may as well be a year of 令和."""
    y, m, d = map(int, groups)
    if y >= 20:
        return _only(text, [(2000 + y, m, d)] if y < 50 else [], repair)
    return unreadable(SEVERAL_DATES, *_possible([(2018 + y, m, d), (2000 + y, m, d)], FIRST_YEAR))


def _possible(triples: Iterable[tuple[int, int, int]], first: int) -> list[date]:
    """The dates among (year, month, day) that exist and that an order can have."""
    dates = []
    for y, m, d in triples:
        if first <= y <= LAST_YEAR:
            try:
                dates.append(date(y, m, d))
            except ValueError:
                continue
    return list(dict.fromkeys(dates))


def _only(
    text: str,
    triples: list[tuple[int, int, int]],
    repair: Repair | None = None,
    *,
    first: int = FIRST_YEAR,
) -> Parsed:
    """Read the one date that exists; several are candidates, none is impossible."""
    dates = _possible(triples, first)
    if not dates:
        return unreadable(IMPOSSIBLE_DATE)
    if len(dates) > 1:
        return unreadable(SEVERAL_DATES, *dates)
    if repair:
        return _read(dates[0], Repair(repair.code, text, dates[0].isoformat()))
    return _read(dates[0])


def _read(value: object, *repairs: Repair) -> Parsed:
    assert isinstance(value, date)
    return Parsed(FieldState.READ, value, repairs)
