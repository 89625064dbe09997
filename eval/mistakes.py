"""What sort of character it is, and what sort of mistake was made with it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from ocr_pipeline.orders.glyphs import CHINESE, OLD
from ocr_pipeline.orders.text import HYPHENS, folded, is_hiragana, is_kanji, is_katakana


class CharClass(StrEnum):
    """Classes of characters; katakana by what a fax destroys."""

    DIGIT = "digit"
    LATIN = "latin"
    KATAKANA = "katakana"
    DAKUTEN = "katakana_dakuten"
    HANDAKUTEN = "katakana_handakuten"
    SMALL = "katakana_small"
    LONG_VOWEL = "long_vowel"
    HIRAGANA = "hiragana"
    KANJI = "kanji"
    SEPARATOR = "separator"
    OTHER = "other"


class Mistake(StrEnum):
    """Kinds of error of one character, from the most to the least specific."""

    LONG_VOWEL = "long_vowel"  # ー lost, invented, or taken for 一 or a dash
    DAKUTEN = "dakuten"  # カ ガ
    HANDAKUTEN = "handakuten"  # ハ パ, バ パ
    SMALL_KANA = "small_kana"  # ツ ッ
    SCRIPT = "script_swap"  # カ 力, ロ 口, 0 O
    GLYPH = "glyph"  # the Chinese or the old form of the character
    SEPARATOR = "separator"  # , . ・ - / ¥ and spaces
    SHAPE = "shape_pair"  # シ ツ, 3 8
    FLUENT = "fluent"  # another one of the same script: the text looks right and is not
    LOST = "lost"
    ADDED = "added"
    OTHER = "other"
    WIDTH = "width"  # full for half width, or a ligature: no error of the value


SHAPES = (
    *(
        "シツミ",
        "ソンリノ",
        "クタケワ",
        "ウワフラヲ",
        "コユエヨロ",
        "スヌ",
        "チテ",
        "ナメ",
        "マアム",
    ),
    *(
        "ルレ",
        "セヒ",
        "オホ",
        "さき",
        "はほ",
        "ぬめ",
        "るろ",
    ),
    *("わねれ", "いり", "未末", "土士工", "日目曰白", "大太犬", "千干", "人入八", "石右", "東束"),
    *("問間", "己已巳", "鋼銅網綱", "微徴", "失矢", "田由甲申", "牛午", "貝見", "鳥烏島", "治冶"),
    *("西酉", "住往佳", "技枝", "待侍", "氷永水", "刀力", "部郡", "板坂", "村材", "個侗信"),
    *(
        "17",
        "38",
        "56",
        "68",
        "08",
        "06",
        "69",
        "89",
        "B8",
        "S5",
        "Z2",
        "G6",
        "D0",
        "Q0",
        "UV",
        "EF",
    ),
    *("CG", "MN", "PR", "KX", "VY", "RB"),
)
"""Characters that differ by the angle or the length of one stroke, or by a closed bow: what eight
dots a millimetre do not tell apart. Pairs of two scripts and lost marks are kinds of their own."""

_SHAPES = {frozenset((a, b)) for group in SHAPES for a in group for b in group if a != b}
_SMALL = "ァィゥェォヵヶッャュョヮぁぃぅぇぉっゃゅょゎ"
_LARGE = str.maketrans(_SMALL, "アイウエオカケツヤユヨワあいうえおつやゆよわ")
_SEPARATORS = frozenset(" ,.、。・·:;/\\¥-()[]「」~_'\"" + HYPHENS) - {"ー", "一"}
_DAKUTEN, _HANDAKUTEN = "\u3099", "\u309a"


def class_of(char: str) -> CharClass:
    """The class of a character; of a full-width digit or letter that of the digit or letter."""
    if char == "ー":
        return CharClass.LONG_VOWEL
    char = unicodedata.normalize("NFKC", char)[:1]
    if char.isdecimal():
        return CharClass.DIGIT
    if char.isascii() and char.isalpha():
        return CharClass.LATIN
    if is_katakana(char):
        marks = unicodedata.normalize("NFD", char)[1:]
        if char in _SMALL:
            return CharClass.SMALL
        if marks:
            return CharClass.DAKUTEN if marks == _DAKUTEN else CharClass.HANDAKUTEN
        return CharClass.KATAKANA
    if is_hiragana(char):
        return CharClass.HIRAGANA
    if is_kanji(char):
        return CharClass.KANJI
    return CharClass.SEPARATOR if char in _SEPARATORS else CharClass.OTHER


def mistake_of(true: str, read: str) -> Mistake:
    """The kind of a mistake.

    Args:
        true: the true character; empty when one was added.
        read: the character that was read, another one; empty when the true one was lost.
    """
    if "ー" in (true, read) and {true, read} - {"ー"} <= {"", "|", *HYPHENS}:
        return Mistake.LONG_VOWEL
    if (true or read) in _SEPARATORS and (read or true) in _SEPARATORS:
        return Mistake.SEPARATOR
    if not read:
        return Mistake.LOST
    if not true:
        return Mistake.ADDED
    bare, marks = _parts(true), _parts(read)
    if bare[0] == marks[0]:
        told = {bare[1], marks[1]}
        return Mistake.HANDAKUTEN if _HANDAKUTEN in told else Mistake.DAKUTEN
    if true.translate(_LARGE) == read.translate(_LARGE):
        return Mistake.SMALL_KANA
    if _form(true) == _form(read):
        return Mistake.GLYPH
    if true in _SEPARATORS or read in _SEPARATORS:
        return Mistake.SEPARATOR
    if folded(true) == folded(read):
        return Mistake.SCRIPT if true.casefold() != read.casefold() else Mistake.SHAPE
    if frozenset((true, read)) in _SHAPES:
        return Mistake.SHAPE
    return Mistake.FLUENT if _script(true) == _script(read) else Mistake.OTHER


def _parts(char: str) -> tuple[str, str]:
    """A kana and its voicing mark."""
    split = unicodedata.normalize("NFD", char)
    return split[:1], split[1:]


def _form(char: str) -> str:
    return char.translate(CHINESE).translate(OLD)


def _script(char: str) -> str:
    found = class_of(char)
    kana = found.startswith("katakana") or found in (CharClass.LONG_VOWEL, CharClass.HIRAGANA)
    return "kana" if kana else found


_ALIKE = frozenset(
    (
        *(Mistake.LONG_VOWEL, Mistake.DAKUTEN, Mistake.HANDAKUTEN, Mistake.SMALL_KANA),
        *(Mistake.SCRIPT, Mistake.GLYPH, Mistake.SHAPE),
    )
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A true character and what was read for it.

    Attributes:
        position: 0-based place in the true text; of an added character, of the one behind it.
        true: empty when a character was added.
        read: empty when one was lost.
    """

    position: int
    true: str
    read: str


def pairs(true: str, read: str) -> list[Pair]:
    """Align two texts by the fewest edits (Levenshtein): every character of either is in one pair.

    What was read before and after all of the true text (a label, 御中) is no mistake and left out.
    """
    found: list[Pair] = []
    for op in Levenshtein.opcodes(true, read):
        at = range(op.src_start, op.src_end)
        new = read[op.dest_start : op.dest_end]
        if op.tag == "insert":
            if 0 < op.src_start < len(true):
                found += [Pair(op.src_start, "", c) for c in new]
        elif op.tag == "delete":
            found += [Pair(k, true[k], "") for k in at]
        else:
            found += [Pair(k, true[k], c) for k, c in zip(at, new, strict=True)]
    return found


def comparable(aligned: Sequence[Pair]) -> bool:
    """Whether two texts are alike enough for mistakes of characters rather than another text.

    Half of the pairs must agree or look alike; of a text of one or two characters none may be lost
    or added.
    """
    true = sum(p.true != "" for p in aligned)
    if true <= 2:
        return true > 0 and all(p.true and p.read for p in aligned)
    alike = sum(p.true == p.read or mistake_of(p.true, p.read) in _ALIKE for p in aligned)
    return 2 * alike >= len(aligned)
