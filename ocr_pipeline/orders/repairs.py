"""Repairs of what an OCR engine confuses, decided by the neighbours of a character.

`RULES` is the table: each rule has a name, the kinds of text it may touch, and the reason why its
change is safe. Where the neighbours do not decide, nothing is changed, and `doubtful` tells which
characters a person should look at. Separators and shapes in numbers and dates belong to the
grammars of `amounts` and `dates`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ocr_pipeline.orders.glyphs import CHINESE, OLD_FORMS
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import Repair
from ocr_pipeline.orders.text import is_hiragana, is_kanji, is_katakana
from ocr_pipeline.orders.words import COMPANY_TAILS, COUNTED, KANJI_WORDS, KATAKANA_WORDS, KUN_STEMS

TO_KATAKANA = dict(
    zip(
        "一力三口二工夕卜八才千厶匕丿乂へべぺり",
        "ーカミロニエタトハオチムヒノメヘベペリ",
        strict=True,
    )
)
"""A kanji or hiragana → the katakana of the same shape."""

_NEVER_KANJI = "夕卜厶匕丿乂"  # as kanji they stand in a handful of words, all listed
_NUMERALS = "一二三八千"
_CANNOT_START = "ーッンァィゥェォャュョヮ"  # no Japanese word begins with these
_AFTER_LONG_VOWEL = "用付製"  # センサー用; but 一 before another kanji counts: ケーブル一式
_KATAKANA_TABLE = str.maketrans(TO_KATAKANA)
_LONGEST = max(map(len, KATAKANA_WORDS))

_MISREAD_KANJI = {
    misread: word
    for word in sorted(KANJI_WORDS)
    for char, katakana in TO_KATAKANA.items()
    if is_kanji(char) and word.count(char) == 1 and (misread := word.replace(char, katakana))
}
_MISREAD_KANJI_RE = re.compile("|".join(sorted(_MISREAD_KANJI, key=len, reverse=True)))
_KANJI_WORD_RE = re.compile("|".join(sorted(KANJI_WORDS, key=len, reverse=True)))
_OLD_FORM_RE = re.compile("|".join(OLD_FORMS))
# エ業 and エ場 are 工業 and 工場 even right behind katakana (プレスエ業); エ業務 may be anything.
_STRONG = re.compile("エ(業(?!務)|場)")


def _at(text: str, index: int) -> str:
    return text[index] if 0 <= index < len(text) else ""


def _run(text: str, index: int, step: int) -> str:
    """The katakana that begin at `index`, going left (-1) or right (+1), in reading order."""
    end = index
    while is_katakana(_at(text, end)):
        end += step
    return text[index:end] if step > 0 else text[end + 1 : index + 1]


def _starts_with_word(text: str) -> bool:
    return any(text[:n] in KATAKANA_WORDS for n in range(2, _LONGEST + 1))


def _in_katakana_word(text: str, index: int) -> bool:
    """Whether the character, read as katakana, completes a listed word of three or more."""
    read = text.translate(_KATAKANA_TABLE)
    return any(
        read[start:end] in KATAKANA_WORDS
        for start in range(max(0, index - _LONGEST + 1), index + 1)
        for end in range(max(index + 1, start + 3), min(len(read), start + _LONGEST) + 1)
    )


def _protected(text: str) -> set[int]:
    """Where the listed kanji words are; they may overlap."""
    return {
        i
        for start in range(len(text))
        if (found := _KANJI_WORD_RE.match(text, start))
        for i in range(*found.span())
    }


def _is_katakana_here(text: str, i: int, kind: Kind, protected: set[int]) -> bool:
    """Whether the look-alike at `i` can only be katakana."""
    char, left, right = text[i], _at(text, i - 1), _at(text, i + 1)
    after_kana, before_kana = is_katakana(left), is_katakana(right)
    if not (after_kana or before_kana):
        return False
    if is_hiragana(left) and is_hiragana(char):  # ねじりバー, センサのへ
        return False
    named = kind is Kind.NAME and after_kana and text.startswith(COMPANY_TAILS, i + 1)
    if named and i not in protected and left != "ー":
        return True
    if char == "一":
        if not after_kana or left == "ー" or right == "ー" or text.startswith(COUNTED, i + 1):
            return False
        ends = not right or not (is_kanji(right) or is_hiragana(right))
        return i not in protected and (ends or right in _AFTER_LONG_VOWEL)
    if right and right in _CANNOT_START and (right != "ー" or after_kana):
        return True
    if i in protected or (char in _NUMERALS and text.startswith(COUNTED, i + 1)):
        return False
    if char in _NEVER_KANJI or _in_katakana_word(text, i):
        return True
    if char in "りべぺ":
        return before_kana and (after_kana or not is_kanji(left))
    if not (after_kana and before_kana):
        return False
    if char == "へ":
        return kind is Kind.NAME  # in a sentence へ is a particle: センサーへケーブルを接続
    # A lone katakana is no word, so a piece of one cannot be followed by a kanji word.
    piece, rest = _run(text, i - 1, -1), _run(text, i + 1, 1)
    alone = len(piece) == 1 and not is_kanji(_at(text, i - 2))
    return alone or (len(rest) == 1 and not is_kanji(_at(text, i + 2)))


def _katakana(text: str, kind: Kind) -> str:
    chars = list(text)
    for i, char in enumerate(text):
        if char in TO_KATAKANA:
            now = "".join(chars)
            if _is_katakana_here(now, i, kind, _protected(now)):
                chars[i] = TO_KATAKANA[char]
    return "".join(chars)


def _long_vowel(text: str, kind: Kind) -> str:
    def mend(match: re.Match[str]) -> str:
        left, right = _at(text, match.start() - 1), _at(text, match.end())
        if not is_katakana(left) or left == "ー":
            return match[0]
        spelled = text[: match.start()] + "ー" + text[match.end() :]
        if match[0] == "-":
            return "ー" if _in_katakana_word(spelled, match.start()) else "-"
        closed = is_katakana(right) or not right.strip() or right in _AFTER_LONG_VOWEL
        return "ー" if closed else match[0]

    return re.sub("[-‐‑‒–—―−─━]", mend, text)


def _kanji(text: str, kind: Kind) -> str:
    def mend(match: re.Match[str]) -> str:
        word = _MISREAD_KANJI[match[0]]
        place = match.start() + next(
            i for i, (a, b) in enumerate(zip(match[0], word, strict=True)) if a != b
        )
        if is_katakana(_at(text, place - 1)) and not _STRONG.match(text, place):
            return match[0]
        rest = _run(text, place + 1, 1)
        # 圧カバルブ is 圧力 + バルブ, but 耐圧カバー is 耐圧 + カバー.
        if text[place] != "ー" and rest:
            splits = _starts_with_word(rest) and not _starts_with_word(text[place] + rest)
            return word if splits else match[0]
        return word

    return _MISREAD_KANJI_RE.sub(mend, text)


def _hiragana(text: str, kind: Kind) -> str:
    kana = "ぁ-ゖ"
    text = re.sub(
        f"(?<=[{kana}])[ヘベペリ](?=[{kana}])",
        lambda m: {"ヘ": "へ", "ベ": "べ", "ペ": "ぺ", "リ": "り"}[m[0]],
        text,
    )
    text = re.sub(f"(?<=[{kana}一-鿿])ヘ(?=[{kana}])", "へ", text)
    return re.sub(f"(?<=[{KUN_STEMS}])リ(?![ァ-ヺー])", "り", text)


def _chinese(text: str, kind: Kind) -> str:
    return text.translate(CHINESE)


def _old_form(text: str, kind: Kind) -> str:
    text = _OLD_FORM_RE.sub(lambda m: OLD_FORMS[m[0]], text)
    # A colour stands alone (CG-M20 黑); beside another kanji 黑 may be part of a registered name.
    return re.sub("(?<![一-鿿])黑(?![一-鿿])", "黒", text)


def _code_shapes(text: str, kind: Kind) -> str:
    text = re.sub(r"^P0(?=[-\s]?20\d\d|-\d)", "PO", text)
    text = re.sub(r"(?<=\d)[Oo](?=\d)", "0", text)
    text = re.sub(r"(?<=\d)[Il|](?=\d)", "1", text)
    if re.fullmatch(r"[\dOoIl|]*\d[\dOoIl|]*-[\dOoIl|]*\d[\dOoIl|-]*", text):
        text = text.translate(str.maketrans("OoIl|", "00111"))
    return text


_UNIT_SHAPES = {
    **dict.fromkeys("侗佃倜偶固価价个信", "個"),
    **dict.fromkeys("木夲", "本"),
    **dict.fromkeys("牧校杖杦", "枚"),
    **dict.fromkeys("紐祖粗", "組"),
    **dict.fromkeys("罐", "缶"),
    **dict.fromkeys("卷", "巻"),
}


def _unit_shape(text: str, kind: Kind) -> str:
    return _UNIT_SHAPES.get(text, text)


_FORMS = (
    (re.compile("[^有]限会社"), "有限会社"),
    (re.compile("株[^式]会社|(?<![株有合])[^株\\s]式会社"), "株式会社"),
)


_SPECK = re.compile(r"^[.,:;'`·・、。]+\s*(?=[\w(])")
# .8 may be 0.8; .1,100 and :¥800 can only be what stands behind the speck.
_SPECK_BEFORE_NUMBER = re.compile(r"^[.,:;'`·・、。]+\s*(?=[¥(▲△]|\d{1,3},\d{3})")


def _speck(text: str, kind: Kind) -> str:
    pattern = _SPECK_BEFORE_NUMBER if kind in (Kind.MONEY, Kind.NUMBER) else _SPECK
    return pattern.sub("", text)


def _company_form(text: str, kind: Kind) -> str:
    for damaged, form in _FORMS:
        text = damaged.sub(form, text)
    return text


@dataclass(frozen=True, slots=True)
class Rule:
    """One repair.

    Attributes:
        code: the name of the rule, as a `Repair` carries it.
        kinds: the kinds of text it may touch.
        why: why its change is safe.
        example: a text before and after.
        apply: the change itself; the text comes back as it is where the rule does not hold.
    """

    code: str
    kinds: frozenset[Kind]
    why: str
    example: tuple[str, str]
    apply: Callable[[str, Kind], str]


_JAPANESE = frozenset({Kind.NAME, Kind.TEXT, Kind.UNIT})

RULES = (
    Rule(
        "chinese_glyph",
        frozenset(Kind),
        "The glyph is in no Japanese character set, so it was not printed; its Japanese form was.",
        ("山善堂產業", "山善堂産業"),
        _chinese,
    ),
    Rule(
        "old_form",
        _JAPANESE,
        "The word is a business term whose old or simplified form is printed nowhere today.",
        ("單価", "単価"),
        _old_form,
    ),
    Rule(
        "speck",
        frozenset({Kind.NAME, Kind.CODE, Kind.MONEY, Kind.NUMBER, Kind.UNIT}),
        "Neither a text nor a number with a thousands comma begins with a full stop; dust looks "
        "like one.",
        (".1,100", "1,100"),
        _speck,
    ),
    Rule(
        "company_form",
        frozenset({Kind.NAME}),
        "There are only so many legal forms; all but one character of one are there.",
        ("ツシンシガーイ限会社", "ツシンシガー有限会社"),
        _company_form,
    ),
    Rule(
        "long_vowel",
        _JAPANESE,
        "A dash right behind katakana, with katakana or nothing behind it, lengthens the vowel.",
        ("モ―ター", "モーター"),
        _long_vowel,
    ),
    Rule(
        "kanji_word",
        _JAPANESE,
        "The katakana completes a listed kanji word and does not belong to a katakana word.",
        ("圧カ計", "圧力計"),
        _kanji,
    ),
    Rule(
        "katakana_word",
        _JAPANESE,
        "The kanji stands among katakana where no kanji word can begin or end, or it completes a "
        "listed katakana word and no listed kanji word.",
        ("樹脂力バー", "樹脂カバー"),
        _katakana,
    ),
    Rule(
        "hiragana",
        _JAPANESE,
        "Katakana of the same shape between hiragana, or as the ending of a listed verb.",
        ("弊社ヘお送り下さい", "弊社へお送り下さい"),
        _hiragana,
    ),
    Rule(
        "code_shape",
        frozenset({Kind.CODE}),
        "A letter between digits, or in a code of digits and hyphens alone, is a digit; P0 before "
        "a year or a hyphen and digits is PO, for purchase order.",
        ("P0-2O26-9069", "PO-2026-9069"),
        _code_shapes,
    ),
    Rule(
        "unit_shape",
        frozenset({Kind.UNIT}),
        "Units are a closed set: the character alone is no unit, and looks like exactly one.",
        ("侗", "個"),
        _unit_shape,
    ),
)
"""The table, in the order in which the rules are applied."""


def repair(kind: Kind, text: str) -> tuple[str, tuple[Repair, ...]]:
    """Apply the rules of a kind until nothing changes.

    Args:
        kind: the kind of the field; numbers and dates know only `chinese_glyph` here.
        text: one field, best as `text.normal` gives it.

    Returns:
        The repaired text, and each change with the whole text before and after it.
    """
    done: list[Repair] = []
    seen = {text}
    while True:
        before_round = text
        for rule in RULES:
            if kind not in rule.kinds:
                continue
            after = rule.apply(text, kind)
            if after != text:
                done.append(Repair(rule.code, text, after))
                text = after
        # Two rules that undo each other would be a mistake in the table; stop at the second visit.
        if text == before_round or text in seen:
            return text, tuple(done)
        seen.add(text)


def doubtful(kind: Kind, text: str) -> tuple[int, ...]:
    """Where a repaired text still holds a character whose script its neighbours leave open.

    A kanji look-alike that touches katakana and stands in no listed word, or a katakana look-alike
    alone between kanji (`丸和ー製作所`): either reading is possible, so a person must look.
    Likewise a kanji behind katakana that ends in ッ, which ends no word.

    Args:
        kind: only names, units and free text can be in doubt.
        text: a text after `repair`.

    Returns:
        Indices into `text`.
    """
    if kind not in _JAPANESE:
        return ()
    protected = _protected(text)
    katakana = set(TO_KATAKANA.values()) - {"ノ"}  # 山ノ内
    places = []
    for i, char in enumerate(text):
        left, right = _at(text, i - 1), _at(text, i + 1)
        if char in TO_KATAKANA and is_kanji(char) and i not in protected:
            counts = char in _NUMERALS and (
                is_kanji(right) or is_hiragana(right) or text.startswith(COUNTED, i + 1)
            )
            # ー behind a kanji is how coined names are written; 一 there may be either.
            coined = char == "一" and kind is Kind.NAME and is_kanji(left)
            if coined or ((is_katakana(left) or is_katakana(right)) and not counts):
                places.append(i)
            continue
        alone = char in katakana and is_kanji(left) and is_kanji(right)
        cut = is_kanji(char) and left == "ッ" and is_katakana(_at(text, i - 2))
        if alone or cut:
            places.append(i)
    return tuple(places)
