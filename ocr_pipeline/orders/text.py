"""Japanese text as it is compared: the raw, the typed and the folded level.

- `raw`: what was read, only composed (NFC) and trimmed.
- `normal`: one spelling for one character (NFKC, spaces, hyphens); what typed text values hold.
- `plain`: `normal` without the spaces and signs that carry no meaning; equal means the same text.
- `folded`: characters that look alike across scripts are merged. Where two texts differ when
  `plain` and agree when `folded`, only context can tell which is right: see `repairs`.

Lost voicing marks (パ ハ) and small kana (ッ ツ) are never merged: those are real differences.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ocr_pipeline.orders.glyphs import CHINESE, OLD

CACHED = 1 << 14
"""Texts whose folded form is remembered: labels and aliases are folded over and over."""
HYPHENS = "-‐‑‒–—―−─━ー一"
"""Everything that stands for a hyphen between Latin letters and digits."""

_FREE_HYPHEN = re.compile(rf"(?<=[0-9A-Za-z]) ?[{HYPHENS}] ?(?=[0-9A-Za-z])")
_FREE_SPACE = re.compile(r"(?<![0-9A-Za-z]) | (?![0-9A-Za-z])")
_FREE_ACCENT = re.compile("\\s+(?=[\u0300-\u036f\u064b-\u065f\u0670\u3099\u309a])")
_TIMES = re.compile(r"(?<=\d)[x✕✖╳⨯](?=\d)")
_DIAMETER = re.compile(r"[ΦϕФфøØ∅⌀](?=\d)")

# NFKC would turn the free-standing voicing marks into a space and a mark, ℓ into the letter that
# looks like a one, and № into a word without its full stop.
_BEFORE_NFKC = str.maketrans({"゛": "\u3099", "゜": "\u309a", "ℓ": "L", "№": "No."})

_CLASSES = (
    *(
        "ー一―‐‑‒–—−─━-~〜",
        "カ力",
        "ヘへ",
        "ベべ",
        "ペぺ",
        "リり",
        "ミ三",
        "ロ口囗",
        "ニ二",
        "エ工",
    ),
    *("タ夕", "ト卜", "ハ八", "オ才", "チ千", "ム厶", "ヒ匕", "ノ丿", "メ乂"),
    *("0Oo〇○◯", "1Il|", "cC", "kK", "pP", "sS", "vV", "wW", "zZ", "xX×✕✖╳⨯χΧ", "φΦϕФфøØ∅⌀"),
    *("・·•‧∙⋅", ",、", ".。", "'’‘`", '"“”″〃'),
)
_FOLD = str.maketrans(
    {member: group[0] for group in _CLASSES for member in group[1:]}
    # The forms of one character differ by script or age alone.
    | {chr(code): form for code, form in (CHINESE | OLD).items()}
)

_LABEL_TAIL = re.compile(r"(?<=.)\([^()]*\)?$")
_LABEL_MARK = re.compile(r"[\s:;.,、。・·*※●○■□◆◇【】〔〕\[\]「」『』<>《》()|_/]")


def raw(text: str) -> str:
    """The text as read: NFC, trimmed."""
    return unicodedata.normalize("NFC", text).strip()


@lru_cache(maxsize=CACHED)
def normal(text: str) -> str:
    """The text with one spelling for one character.

    NFKC (ｶﾞ→ガ, １→1, ㈱→(株), ㋿→令和, ￥→¥, ㎜→mm) with separate voicing marks joined to their
    kana; runs of white space become one space; a hyphen of any kind between Latin letters or digits
    becomes `-`. The long vowel mark in names stays what it is.
    """
    composed = unicodedata.normalize("NFKC", text.translate(_BEFORE_NFKC))
    # NFKC sets a free-standing accent behind a space; without it the accent joins its letter.
    composed = unicodedata.normalize("NFKC", _FREE_ACCENT.sub("", composed))
    return _FREE_HYPHEN.sub("-", " ".join(composed.split()))


@lru_cache(maxsize=CACHED)
def plain(text: str) -> str:
    """The typed level of free text: equal strings mean the same thing.

    A space counts only where it keeps two Latin words or numbers apart (`HS60 3t`); `4x25` is
    `4×25`, and `Φ12` is `φ12`. These are notations of one meaning, therefore they are equal here,
    and the value keeps what was printed. A capital X may be a letter of a model number: only
    `folded` merges it.
    """
    tight = _FREE_SPACE.sub("", normal(text).replace("·", "・"))
    # What stood behind a space may join the character before it now.
    tight = unicodedata.normalize("NFKC", tight)
    return _DIAMETER.sub("φ", _TIMES.sub("×", tight))


def folded(text: str) -> str:
    """The text with look-alikes merged and no spaces; only for comparison, never a value."""
    return plain(text).translate(_FOLD).replace(" ", "")


@lru_cache(maxsize=CACHED)
def label(text: str) -> str:
    """A label or column heading, folded so that it can be looked up among aliases folded alike.

    `注 文 番 号：` and `【注文番号】` become `注文番号`; what stands in round brackets at the end
    (a unit, a rate, a remark) is dropped: `単価(円)` becomes `単価`.
    """
    upper = normal(text).upper()
    core = _LABEL_MARK.sub("", _LABEL_TAIL.sub("", upper.strip(" :")))
    return folded(core or _LABEL_MARK.sub("", upper))


def is_katakana(char: str) -> bool:
    """Whether a character is full-width katakana or the long vowel mark; the dot ・ is not."""
    return "ァ" <= char <= "ヺ" or char == "ー"


def is_hiragana(char: str) -> bool:
    """Whether a character is hiragana."""
    return "ぁ" <= char <= "ゖ"


def is_kanji(char: str) -> bool:
    """Whether a character is an ideograph, the repetition mark 々 and the zero 〇 included."""
    code = ord(char) if char else 0
    blocks = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
    return any(first <= code <= last for first, last in blocks) or char in ("々", "〇")
