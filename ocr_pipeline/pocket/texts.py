"""What the practice pages say: everything an order can say, and every character now and then."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, partial

import numpy as np

from ocr_pipeline.pocket.tokenizer import UNREADABLE, characters
from synth import lexicon
from synth.content import draw_content
from synth.names import CONFUSABLE, KATAKANA, NameKind, draw_company
from synth.seeds import chance, pick
from synth.wording import DATE_NOTATIONS, Wording, draw_wording

LONGEST = 40
"""Characters; longer texts are cut: a crop shows a part of them anyway."""
_WIDE = {c: c + 0xFEE0 for c in range(0x21, 0x7F)} | {0x20: 0x3000}
_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SEPARATORS = ("-", "-", "-", "/", ".", "_", "×", " ", "")
_VOICED = "ガギグゲゴザジズゼゾダデドバビブベボパピプペポ"
_SMALL = "ァィゥェォッャュョ"


def _digits(rng: np.random.Generator, count: int) -> str:
    return "".join(str(d) for d in rng.integers(0, 10, count))


def _letters(rng: np.random.Generator, count: int) -> str:
    letters = "".join(pick(rng, _LATIN) for _ in range(count))
    return letters.lower() if chance(rng, 0.15) else letters


def _number(rng: np.random.Generator, words: Wording) -> str:
    value = Decimal(int(np.exp(rng.uniform(0, np.log(20_000_000)))))
    if chance(rng, 0.12):
        value = value % 5000 + Decimal(int(rng.integers(1, 100))) / 100
    if chance(rng, 0.08):
        value = -value
    way = rng.random()
    if way < 0.35:
        return words.number(value)
    if way < 0.75:
        return words.money(value)
    if way < 0.85:
        return words.digits(f"{int(rng.integers(1, 100))}%")
    unit = pick(rng, lexicon.goods()).unit
    return words.quantity(abs(value)) + (unit if chance(rng, 0.7) else "")


def _date(rng: np.random.Generator, words: Wording) -> str:
    when = date(2019, 5, 1) + timedelta(days=int(rng.integers(0, 4500)))
    text = DATE_NOTATIONS[pick(rng, tuple(DATE_NOTATIONS))](when)
    return words.digits(text) if chance(rng, 0.15) else text


def _code(rng: np.random.Generator, words: Wording) -> str:
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        letters, digits = int(rng.integers(0, 4)), int(rng.integers(0, 7))
        part = _letters(rng, letters) + _digits(rng, digits)
        if chance(rng, 0.25):
            part += _letters(rng, int(rng.integers(1, 3)))
        parts.append(part if chance(rng, 0.8) else part[::-1])
    return pick(rng, _SEPARATORS).join(p for p in parts if p) or words.digits(_digits(rng, 5))


def _size(rng: np.random.Generator, words: Wording) -> str:
    """Dimensions of a part, as in M8×30 or φ12×1000."""
    del words
    sign = pick(rng, ("φ", "M", "t", "L=", "W", "H-", "□", "R", "No.", "#", ""))
    numbers = [str(int(np.exp(rng.uniform(0, np.log(3000))))) for _ in range(rng.integers(1, 4))]
    if chance(rng, 0.2):
        numbers[0] += f".{int(rng.integers(0, 10))}"
    unit = pick(rng, ("", "", "mm", "m", "kg", "ml", "L", "A", "V", "W", "g", "cm", "㎜", "°", "%"))
    return sign + pick(rng, ("×", "×", "x", "-", "*")).join(numbers) + unit


def _phone(rng: np.random.Generator, words: Wording) -> str:
    area = pick(rng, lexicon.places()).area_code
    middle = _digits(rng, 6 - len(area))
    number = pick(rng, (f"{area}-{middle}-{_digits(rng, 4)}", f"{area}({middle}){_digits(rng, 4)}"))
    label = pick(rng, ("", "", "TEL ", "FAX ", "TEL:", "FAX：", "電話 ", "℡", "T: "))
    return words.digits(label + number)


def _address(rng: np.random.Generator, words: Wording) -> str:
    place = pick(rng, lexicon.places())
    block = "-".join(str(int(rng.integers(1, 40))) for _ in range(int(rng.integers(1, 4))))
    postal = f"〒{place.postal}-{_digits(rng, 4)}"
    street = f"{place.city}{pick(rng, place.towns)}{words.digits(block)}"
    building = chance(rng, 0.15)
    floor = f" {_coined(rng)}ビル{int(rng.integers(1, 20))}F" if building else ""
    return pick(rng, (street + floor, street + floor, postal, f"{postal} {street}"))


def _coined(rng: np.random.Generator) -> str:
    """Katakana that no dictionary holds: what was read is then what was seen."""
    letters = [pick(rng, KATAKANA) for _ in range(int(rng.integers(1, 9)))]
    for _ in range(int(rng.integers(0, 4))):
        extra = pick(rng, (pick(rng, CONFUSABLE), _VOICED, _SMALL))
        letters.insert(int(rng.integers(0, len(letters) + 1)), pick(rng, extra))
    return "".join(letters)


def _name(kind: NameKind, rng: np.random.Generator, words: Wording) -> str:
    company = draw_company(rng, kind)
    if company.twin and chance(rng, 0.5):
        stem = company.twin
        return stem + company.industry if chance(rng, 0.5) else stem
    form = pick(rng, ("long", "long", "ligature", "bracket"))
    text = company.short if chance(rng, 0.3) else company.written(form)
    return text + pick(rng, ("", "", "", " 御中", "御中", " 様", words.colon))


def _item(rng: np.random.Generator, words: Wording) -> str:
    goods = pick(rng, lexicon.goods())
    spec = pick(rng, goods.specs)
    made = _size(rng, words) if chance(rng, 0.4) else _code(rng, words)
    way = rng.random()
    if way < 0.3:
        return goods.item
    if way < 0.5:
        return spec
    if way < 0.75:
        return f"{goods.item} {spec}"
    return f"{goods.item}{pick(rng, (' ', '　', '／', '('))}{made}"


def _order(rng: np.random.Generator, words: Wording) -> str:
    """A label with its value, a phrase, or what else is printed on a form."""
    order = draw_content(rng, lines=(1, 1))
    label = pick(rng, tuple(words.labels.values()))
    value = pick(rng, (order.order_no, order.person, order.department, order.payment_terms))
    phrase = pick(rng, (order.delivery_place, order.remarks, order.payment_terms))
    greeting = pick(rng, lexicon.phrases("greeting"))
    row = pick(rng, lexicon.phrases("row_remark"))
    both = label + words.colon + words.digits(value)
    counted = f"{int(rng.integers(1, 9))}/{int(rng.integers(1, 9))}頁"
    return pick(rng, (label, label, both, both, value, phrase, greeting, row, counted))


@cache
def _kanji() -> tuple[str, ...]:
    return tuple(c for c in characters() if "CJK UNIFIED" in unicodedata.name(c, ""))


@cache
def _used_kanji() -> tuple[str, ...]:
    return tuple(c for c in lexicon.alphabet() if "CJK UNIFIED" in unicodedata.name(c, ""))


@cache
def _others() -> tuple[str, ...]:
    """Everything that is no kanji and can be seen."""
    kanji = set(_kanji()) | {UNREADABLE}
    return tuple(c for c in characters() if c not in kanji and c.isprintable() and not c.isspace())


def _kanji_run(rng: np.random.Generator, words: Wording) -> str:
    """Kanji of the whole vocabulary, each as likely as any other."""
    del words
    count = int(rng.integers(2, 11))
    run = "".join(pick(rng, _kanji()) for _ in range(count))
    if chance(rng, 0.3):
        at = int(rng.integers(0, count))
        return run[:at] + pick(rng, (_coined(rng), "の", "を", "に", _digits(rng, 3))) + run[at:]
    return run


def _used_run(rng: np.random.Generator, words: Wording) -> str:
    """Kanji that orders are written with, in an order of no sense."""
    del words
    return "".join(pick(rng, _used_kanji()) for _ in range(int(rng.integers(2, 9))))


def _any_run(rng: np.random.Generator, words: Wording) -> str:
    """Signs, kana and letters of any kind."""
    del words
    return "".join(pick(rng, _others()) for _ in range(int(rng.integers(2, 12))))


def _kana_run(rng: np.random.Generator, words: Wording) -> str:
    del words
    first, last = pick(rng, (("ぁ", "ん"), ("ぁ", "ん"), ("ァ", "ヶ"), ("ｦ", "ﾟ")))
    return "".join(chr(c) for c in rng.integers(ord(first), ord(last) + 1, rng.integers(2, 12)))


def _katakana(rng: np.random.Generator, words: Wording) -> str:
    del words
    return _coined(rng)


def _single(rng: np.random.Generator, words: Wording) -> str:
    """What stands alone in a cell: a unit, a small number, a ditto mark."""
    del words
    unit = pick(rng, lexicon.goods()).unit
    return pick(rng, (unit, unit, str(int(rng.integers(0, 100))), "〃", "一", "○", "―", "式"))


Draw = Callable[[np.random.Generator, Wording], str]
KINDS: dict[str, tuple[Draw, float, float]] = {
    "number": (_number, 0.17, 0.12),
    "date": (_date, 0.07, 0.05),
    "code": (_code, 0.09, 0.13),
    "size": (_size, 0.05, 0.09),
    "phone": (_phone, 0.05, 0.05),
    "address": (_address, 0.07, 0.05),
    **{f"name {kind}": (partial(_name, kind), 0.04, 0.033) for kind in NameKind},
    "katakana": (_katakana, 0.08, 0.10),
    "item": (_item, 0.12, 0.10),
    "order": (_order, 0.10, 0.08),
    "single": (_single, 0.02, 0.02),
    "used kanji": (_used_run, 0.02, 0.04),
    "kanji": (_kanji_run, 0.0, 0.06),
    "kana": (_kana_run, 0.01, 0.02),
    "any": (_any_run, 0.0, 0.03),
}
"""Kind → (how it is drawn, its share in the first lesson, its share in the last)."""


def draw_text(rng: np.random.Generator, lesson: float = 1.0) -> tuple[str, str]:
    """A text and its kind.

    Args:
        rng: where all choices come from.
        lesson: 0 is the first lesson (common words and signs), 1 the last (all characters).
    """
    shares = np.array([first + (last - first) * lesson for _, first, last in KINDS.values()])
    kind = tuple(KINDS)[int(rng.choice(len(KINDS), p=shares / shares.sum()))]
    text = KINDS[kind][0](rng, draw_wording(rng))
    if chance(rng, 0.03 * lesson):
        text = text.translate(_WIDE)
    known = set(characters()) - {UNREADABLE, "\n"}
    text = "".join(c for c in text if c in known).strip()
    return (text[:LONGEST], kind) if text else ("計", "single")
