"""Text that is safe in a cell: no formula, no character that the file cannot hold."""

from __future__ import annotations

import re

LOST = "〓"
"""Stands for a character that the encoding lacks: the printer's mark for a missing type."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 forbids, and so a workbook: Excel calls a file with one of these damaged."""

_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
"""Beginnings that a spreadsheet may take for a formula (OWASP, "CSV Injection"; the full-width
ones matter in a Japanese Excel)."""

_CP932_TWINS = str.maketrans({"¥": "￥", "—": "―", "\xa0": " "})
"""The same characters under the numbers that Windows gives them."""


def without_control(text: str) -> tuple[str, str]:
    """The text without characters that no spreadsheet file can hold, and those characters."""
    removed = "".join(_UNPRINTABLE.findall(text))
    return (_UNPRINTABLE.sub("", text), removed) if removed else (text, "")


def looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet may take this text for a formula."""
    return _FORMULA.match(text) is not None


def neutralised(text: str) -> str:
    """The text with an apostrophe in front where it could be taken for a formula."""
    return f"'{text}" if looks_like_formula(text) else text


def encodable(text: str, encoding: str) -> tuple[str, str]:
    """The text with `LOST` for each character that the encoding lacks, and those characters."""
    if encoding == "cp932":
        text = text.translate(_CP932_TWINS)
    lost = "".join(c for c in dict.fromkeys(text) if not _fits(c, encoding))
    return text.translate({ord(c): LOST for c in lost}), lost


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
