"""From the text of one field to its typed value.

`parse` is what extraction calls: repairs first, then the grammar of the kind. `typed` is the typed
level of comparison; it makes no repair, so that what a repair gains can be measured.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

from ocr_pipeline.orders.amounts import money, number, percent
from ocr_pipeline.orders.dates import parse_date
from ocr_pipeline.orders.kinds import BLANK, Kind, Parsed, unreadable
from ocr_pipeline.orders.model import FieldState, Flag, Repair
from ocr_pipeline.orders.repairs import repair
from ocr_pipeline.orders.text import HYPHENS, normal, plain

NOT_A_CODE = Flag("not_a_code", "番号として読めません", "this is not a code")
NOT_A_PHONE = Flag("not_a_phone", "電話番号として読めません", "this is not a phone number")
SEVERAL_PHONES = Flag(
    "several_phones", "電話番号が複数あります", "several phone numbers stand in this place"
)

_EMPTY = re.compile(r"[\-‐‑‒–—―−─━ー\s_.…()]*")
_COMPANY_FORMS = {
    "(株)": "株式会社",
    "(有)": "有限会社",
    "(同)": "合同会社",
    "(名)": "合名会社",
    "(資)": "合資会社",
    "(社)": "社団法人",
    "(財)": "財団法人",
}
# One bracket of (株) is often lost; a bracket alone before 株 or behind it leaves no other reading.
_COMPANY_FORM = re.compile(
    r" ?\(\s?([株有同名資社財])\s?\) ?|(?:^|(?<=\s))\(([株有])(?!式|限)|^([株有])\)|\(([株有])$"
)
_BRACKETED = re.compile(r"\(((?:株式|有限|合同|合資|合名)会社)\)")
_CODE_LABEL = re.compile(r"^(?:N[oO0]|no)\s?[.:]\s?|^#\s?")
_CODE_HYPHEN = re.compile(rf"\s*[{HYPHENS}_~〜]\s*(?=[0-9A-Z])|(?<=[0-9A-Z])\s*[{HYPHENS}~〜]\s*")

_PHONE_LABEL = re.compile(
    r"^(?:(?:TEL|PHONE|FAX|T|F|電話|ファック?ス|ファクシミリ|直通|代表|☎|📞)(?:番号)?"
    r"\s*[./&・:;)\]]*\s*)+",
    re.IGNORECASE,
)
_PHONE_TAIL = re.compile(
    r"\s*\(?(?:代表?|直通?|内線?\s*\d*|担当.*|ext\.?\s*\d+)\)?$", re.IGNORECASE
)
_PHONE_BRACKET = re.compile(r"\s*\(\s*(\d+)\s*\)\s*")
_PHONE_MARK = re.compile(rf"\s*[{HYPHENS}~〜.・·:/_\s]\s*")
_PHONE_FOUND = re.compile(r"\+?\d[\d\-]{8,}\d")


def parse(kind: Kind, text: str, *, year: int | None = None) -> Parsed:
    """Repair a text and read it as a value of a kind.

    Args:
        kind: what the schema says the field is.
        text: the text as an engine read it.
        year: for a date printed without one.

    Returns:
        Read, blank, or unreadable with a reason; it never raises. `repairs` holds what was changed
        on the way, also of a blank or unreadable text.
    """
    mended, repairs = repair(kind, normal(text))
    result = read(kind, mended, year=year)
    return replace(result, repairs=repairs + result.repairs) if repairs else result


def read(kind: Kind, text: str, *, year: int | None = None) -> Parsed:
    """Read a text as a value of a kind, without the script repairs; arguments as for `parse`."""
    match kind:
        case Kind.MONEY:
            return money(text)
        case Kind.NUMBER:
            return number(text)
        case Kind.PERCENT:
            return percent(text)
        case Kind.DATE:
            return parse_date(text, year=year)
        case Kind.CODE:
            return _code(text)
        case Kind.PHONE:
            return _phone(text)
        case Kind.NAME:
            return _text(_name(normal(text)))
        case Kind.UNIT:
            return _text(normal(text).strip("()[] "))
        case Kind.TEXT:
            return _text(normal(text))


def typed(kind: Kind, text: str) -> str | None:
    """The typed level of comparison: equal strings are equal values.

    Args:
        kind: the kind of the field.
        text: a printed text, or `str()` of a typed value.

    Returns:
        A decimal without trailing zeros, an ISO date, the digits of a phone number, a code, or
        plain text; empty when blank, None when no value can be made of it.
    """
    parsed = read(kind, text)
    if parsed.state is FieldState.UNREADABLE:
        return None
    match parsed.value:
        case None:
            return ""
        case Decimal() as amount:
            return f"{amount.normalize():f}"
        case date() as day:
            return day.isoformat()
        case str(words):
            return re.sub(r"\D", "", words) if kind is Kind.PHONE else plain(words)


def _text(text: str) -> Parsed:
    return BLANK if _EMPTY.fullmatch(text) else Parsed(FieldState.READ, text)


def _name(text: str) -> str:
    """㈱ and (株) spelled out; the company form joins the name without a space."""
    spelled = _COMPANY_FORM.sub(
        lambda m: _COMPANY_FORMS[f"({next(filter(None, m.groups()))})"], _BRACKETED.sub(r"\1", text)
    )
    return re.sub(r"(?<=会社) | (?=(?:株式|有限|合同|合名|合資)会社)", "", spelled)


def _code(text: str) -> Parsed:
    """Upper case, one class of hyphen, no spaces, no leading `No.`."""
    tidy = normal(text)
    if _EMPTY.fullmatch(tidy):
        return BLANK
    bare = _CODE_LABEL.sub("", tidy).upper()
    code = normal(_CODE_HYPHEN.sub("-", bare).replace(" ", "")).strip(":;.,")
    if not re.search("[0-9A-Z]", code):
        return unreadable(NOT_A_CODE)
    return Parsed(FieldState.READ, code)


def _phone(text: str) -> Parsed:
    """Digits in groups joined by hyphens; how many digits there must be is a matter for a check."""
    tidy = normal(text)
    core = _PHONE_LABEL.sub("", tidy)
    rest = ""
    if tail := _PHONE_TAIL.search(core):
        core, rest = core[: tail.start()], tail[0].strip(" ()")
    if _EMPTY.fullmatch(core):
        return BLANK
    spelled = re.sub(r"(?<=[\d\-)])[OoQ](?=[\dOoQ\-(]|$)|^[OoQ](?=\d)", "0", core)
    spelled = re.sub(r"(?<=[\d\-)])[lI|](?=[\d\-(])", "1", spelled)
    repairs = (Repair("digit_shape", core, spelled),) if spelled != core else ()
    grouped = _PHONE_BRACKET.sub(r"-\1-", spelled).strip("- ")
    grouped = re.sub("-{2,}", "-", _PHONE_MARK.sub("-", grouped))
    if not re.fullmatch(r"\+?\d+(-\d+)*", grouped) or len(re.sub(r"\D", "", grouped)) < 6:
        found = _PHONE_FOUND.findall(grouped)
        return unreadable(SEVERAL_PHONES if len(found) > 1 else NOT_A_PHONE, *found, rest=rest)
    if len(re.sub(r"\D", "", grouped)) > 14:
        return unreadable(SEVERAL_PHONES, rest=rest)
    return Parsed(FieldState.READ, grouped, repairs, rest=rest)
