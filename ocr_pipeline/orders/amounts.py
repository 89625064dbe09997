"""Money, quantities and percentages.

A printed number is read when its spelling leaves one value; a misread spelling that still leaves
one value is read and carries a repair; a spelling that leaves several is unreadable, with the
candidates. Nothing is ever rounded, and a word (同上, 一式) is never a zero.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from ocr_pipeline.orders.kinds import BLANK, Parsed, unreadable
from ocr_pipeline.orders.model import FieldState, Flag, Repair
from ocr_pipeline.orders.text import normal

NOT_A_NUMBER = Flag("not_a_number", "数値として読めません", "this is not a number")
SEVERAL_NUMBERS = Flag(
    "several_numbers", "数値の読み方が複数あります", "this can be read as several numbers"
)
UNSURE_NUMBER = Flag(
    "unsure_number",
    "数字の区切りや形が不自然です",
    "the grouping or a digit of this number looks wrong",
)
DITTO = Flag(
    "ditto", "「同上」の記号で、値は上の行にあります", "ditto: the value stands in a line above"
)
LUMP_SUM = Flag(
    "lump_sum", "「一式」で、数値がありません", "a lump sum (一式): no number is printed"
)
IN_WORDS = Flag(
    "in_words", "数値でなく言葉が書かれています", "words are printed in place of a number"
)

_DITTO = re.compile(r"[〃々仝\"″”\s]+|同上|同じ|同")
_LUMP_SUM = re.compile(r"[一1]\s*式")
_WORDS = re.compile(
    r"無償|無料|サービス|支給|別途.*|見積.*|お?打合せ.*|御?相談|時価|未定|追って.*"
    r"|込み?|含む?|非課税|不課税|免税|対象外"
)
_EMPTY_MONEY = re.compile(r"[\s¥\\円金\-‐–—―−─ー_.…・*※()]*")
_EMPTY_NUMBER = re.compile(r"[\s\-‐–—―−─ー_.…・*※()%]*")

_MINUS = "▲△\\-‐–—―−"
_MARK = "[,.:;'’・·\\s]"
_BODY = r"[\dOo〇○QlI|!iSBZ](?:[\dOo〇○QlI|!iSBZ,、.:;'’・·\s]*[\dOo〇○QlI|!iSBZ,、.:;])?"
_MONEY = re.compile(
    rf"(?:[¥\\]\s*(?=\())?(?P<open>\()?\s*(?P<sign>[{_MINUS}])?\s*金?\s*(?P<yen>[¥\\VvYy半羊])?\s*"
    rf"(?P<sign2>[{_MINUS}])?\s*"
    rf"[*※]?\s*(?P<body>{_BODY})\s*(?P<en>円也?|圓也?|JPY|yen)?\s*(?P<close>\))?\s*"
    r"[-‐–—―−─ー一※*]?\s*"
    r"(?P<rest>\(?(?:消費)?税(?:込み?|抜き?|別)\)?|\(?[内外]税\)?|/\s?\w{1,4})?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[{_MINUS}])?\s*(?P<body>{_BODY})\s*(?P<close>\))?\s*(?P<rest>\S.*)?"
)
_UNIT = re.compile(
    # Japanese counters with a remark in brackets, or a Latin unit from the closed list.
    r"[^\W\d_A-Za-z一二三]{1,6}(?:\([^()]{1,12}\))?"
    r"|(?:[mck]?m[23]?|[kmµμ]?g|t|(?-i:[mdk]?L|ml)|cc|k?W|inch|pcs?|sets?|box|pk|ea|rolls?|cs|bl"
    r"|dz|pr|%)\.?",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"(?:税率|消費税|軽減(?:税率)?|標準(?:税率)?)?\s*\(?\s*(?P<body>[\dOo〇○lI|]{1,3}(?:\.\d+)?)\s*"
    r"(?P<sign>%|パーセント)?\s*\)?\s*(?P<rest>[*※]|対象|軽減|税率)?"
)


@dataclass(frozen=True, slots=True)
class _Digits:
    """What a run of digits and marks can mean; `sure` is false when none of it is safe."""

    values: tuple[Decimal, ...]
    sure: bool
    code: str = ""  # the repair, when reading it took one


def money(text: str) -> Parsed:
    """An amount in yen.

    Args:
        text: e.g. `¥12,996,461-`, `▲1,200`, `(1,200)`, `12.50`, `１，２００円（税込）`.

    Returns:
        A decimal value; `rest` holds `(税込)` and the like. `¥41.300` is 41300 with a repair: yen
        are printed in groups of three, prices below a yen with one or two decimals.
    """
    tidy = normal(text)
    if _EMPTY_MONEY.fullmatch(tidy):
        return BLANK
    if words := _in_words(tidy):
        return words
    # 1,200.- and 1,200,- are closed: nothing of the number is missing.
    match = _MONEY.fullmatch(re.sub(r"[.,](?=[-‐–—―−ー]$)", "", tidy))
    if not match or not re.search(r"\d", match["body"]):
        return unreadable(NOT_A_NUMBER)
    signs = [s for s in (match["sign"], match["sign2"], match["open"] and "(") if s]
    repairs: tuple[Repair, ...] = ()
    if match["yen"] and match["yen"] not in "¥\\":
        repairs = (Repair("yen_sign", tidy, tidy.replace(match["yen"], "¥", 1)),)
    anchored = bool(match["yen"] or match["en"])
    return _finish(match, signs, repairs, yen=True, anchored=anchored)


def number(text: str) -> Parsed:
    """A quantity, with or without its unit.

    Args:
        text: e.g. `1,000`, `12.50`, `10個`, `18L`, `2箱(20個)`.

    Returns:
        A decimal value; `rest` holds the unit. `12.500` is unreadable: it may be 12.5 or 12500, and
        only the arithmetic of its line can tell.
    """
    tidy = normal(text)
    if _EMPTY_NUMBER.fullmatch(tidy):
        return BLANK
    if not tidy.startswith("1") and (words := _in_words(tidy)):  # 1式 is one 式
        return words
    # The shortest run of plain digits first: in `10l` and `5B` the letter may be a unit or a digit.
    match = re.fullmatch(
        rf"(?P<open>\()?(?P<sign>[{_MINUS}])?\s*(?P<body>\d(?:[\d,、.:;'’・·\s]*\d)?)\s*"
        rf"(?P<close>\))?\s*(?P<rest>{_UNIT.pattern})?",
        tidy,
        re.IGNORECASE,
    ) or _NUMBER.fullmatch(tidy)
    if not match or not re.search(r"\d", match["body"]):
        return unreadable(NOT_A_NUMBER)
    if match["rest"] and not _UNIT.fullmatch(match["rest"]):
        return unreadable(NOT_A_NUMBER)
    signs = [s for s in (match["sign"], match["open"] and "(") if s]
    return _finish(match, signs, (), yen=False, anchored=False)


def percent(text: str) -> Parsed:
    """A rate in percent: `10%`, `８％`, `(10%)`, `軽減8%`, also a bare `10`; 0 to 100."""
    tidy = normal(text)
    if _EMPTY_NUMBER.fullmatch(tidy):
        return BLANK
    if words := _in_words(tidy):
        return words
    match = _PERCENT.fullmatch(tidy)
    if not match or not re.search(r"\d", match["body"]):
        return unreadable(NOT_A_NUMBER)
    spelled = match["body"].translate(str.maketrans("Oo〇○lI|", "0000111"))
    value = Decimal(spelled)
    if value > 100 or re.match(r"0\d", spelled):
        return unreadable(UNSURE_NUMBER)
    repairs: tuple[Repair, ...] = ()
    if spelled != match["body"]:
        repairs = (Repair("digit_shape", match["body"], spelled),)
    return Parsed(FieldState.READ, value, repairs, rest=match["rest"] or "")


def _in_words(text: str) -> Parsed | None:
    """The reason when a place for a number holds a word; None when it does not."""
    core = text.strip("() ")
    if _DITTO.fullmatch(core):
        return unreadable(DITTO)
    if _LUMP_SUM.fullmatch(core):
        return unreadable(LUMP_SUM, Decimal(1))
    return unreadable(IN_WORDS) if _WORDS.fullmatch(core) else None


def _finish(
    match: re.Match[str],
    signs: list[str],
    repairs: tuple[Repair, ...],
    *,
    yen: bool,
    anchored: bool,
) -> Parsed:
    """Sign and candidates around the digits."""
    body, rest = match["body"], match["rest"] or ""
    digits, repair = _digits(body, yen=yen, anchored=anchored)
    if repair:
        repairs = (*repairs, repair)
    values = digits.values
    if len(signs) > 1 or bool(match["open"]) != bool(match["close"]):
        # ▲(1,200) or half a bracket: the sign itself is in question.
        both = tuple(v for value in values for v in (-value, value))
        return unreadable(UNSURE_NUMBER, *both, rest=rest)
    if signs:
        values = tuple(-v if v else v for v in values)
    if not digits.sure:
        reason = SEVERAL_NUMBERS if len(values) > 1 else UNSURE_NUMBER
        return unreadable(reason, *values, rest=rest)
    return Parsed(FieldState.READ, values[0], repairs, rest=rest)


def _digits(body: str, *, yen: bool, anchored: bool) -> tuple[_Digits, Repair | None]:
    """Read a run of digits, marks and characters that look like digits."""
    spelled = re.sub(r"\s*([,、.:;'’・·])\s*", r"\1", body).replace("、", ",")
    spelled = spelled.translate(str.maketrans("Oo〇○Q", "00000"))
    shaped = spelled
    # A stroke inside a number is a 1; at an end it may also be a ruling line.
    core = re.sub(r"(?<=.)[lI|!i](?=.)", "1", spelled)
    spellings = {core}
    for pattern in (r"^[lI|!i]", r"[lI|!i]$"):
        spellings = {re.sub(pattern, to, s) for s in spellings for to in ("1", "")}
    letters = re.search("[SBZ]", core)
    if letters:
        spellings = {s.translate(str.maketrans("SBZ", "582")) for s in spellings}
    read = {s: _grouped(s, yen=yen, anchored=anchored) for s in sorted(spellings)}
    sound = {s: d for s, d in read.items() if d.sure}
    values = tuple(dict.fromkeys(v for d in (sound or read).values() for v in d.values))
    if len(sound) != 1 or letters:
        return _Digits(values, sure=False), None
    ((final, digits),) = sound.items()
    if digits.code:
        return digits, Repair(digits.code, body, f"{digits.values[0]:,}")
    if shaped != final or re.search("[Oo〇○Q]", body):
        return digits, Repair("digit_shape", body, final)
    return digits, None


def _grouped(spelled: str, *, yen: bool, anchored: bool) -> _Digits:
    """Read digits and marks as thousands and decimals."""
    joined = re.sub(r"\D", "", spelled)
    if not joined or len(joined) > 18:
        return _Digits((), sure=False)
    whole = Decimal(joined)
    if re.fullmatch(r"(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d{1,2}|\.\d{4,6})?|0\.\d{3}", spelled):
        return _Digits((Decimal(spelled.replace(",", "")),), sure=True)
    if re.fullmatch(rf"[1-9]\d{{0,2}}({_MARK}\d{{3}})+", spelled):
        marks = set(re.findall(_MARK, spelled))
        if marks == {" "} and not anchored:
            # Nothing but spaces may also be two neighbouring cells.
            return _Digits((whole,), sure=False)
        point = re.fullmatch(r"([\d,]+)\.(\d{3})", spelled)
        if point and not yen:
            exact = Decimal(spelled.replace(",", ""))
            return _Digits((exact, whole), sure=False)
        return _Digits((whole,), sure=True, code="thousands_mark")
    if re.fullmatch(r"[\d,]*\.\d+", spelled):
        return _Digits((Decimal(spelled.replace(",", "")), whole), sure=False)
    return _Digits((whole,), sure=False)
