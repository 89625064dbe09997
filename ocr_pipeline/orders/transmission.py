"""The sender's fax header line (TTI): printed by the machine, never part of the order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ocr_pipeline.geometry import box_along
from ocr_pipeline.tables.transcript import Cell

TOP_LINES = 6
"""The header line is among the first pieces of a page."""
_TIME = re.compile(
    r"(?:\d{2,4}\s*[年/.\-]\s*)?\d{1,2}\s*[月/.\-]\s*\d{1,2}\s*日?\s*(?:\([^)]*\))?\s*"
    r"\d{1,2}\s*[:時]\s*\d{2}\s*分?"
)
_PAGE = re.compile(
    r"(?:^|\s)P(?:AGE|G)?\s?[.:\s]\s*\d{1,3}(?:\s*/\s*\d{1,3})?(?=\s|$)|"
    r"\d{1,3}\s*/\s*\d{1,3}\s*(?:頁|ページ)",
    re.I,
)
_SENDER = re.compile(r"(?:FROM|発信元|送信元)\s*[:：]?\s*(.+)", re.I)


@dataclass(frozen=True, slots=True)
class Transmission:
    """The fax header line of one page: what the machines wrote, never data of the order.

    Attributes:
        page: 1-based page number in the file.
        sender: name or number of the sending machine, as printed.
        time: date and time of transmission, as printed.
        page_text: the page count, as printed, e.g. `P.01/02`.
        raw: the whole line as it was read.
    """

    page: int
    sender: str = ""
    time: str = ""
    page_text: str = ""
    raw: str = ""


def split_transmission(
    lines: Sequence[Cell], page: int, is_labelled: Callable[[Cell], bool] = lambda _: False
) -> tuple[Transmission | None, tuple[Cell, ...]]:
    """Take the fax header line out of a page's text.

    The line has a date *with a time*, or a page count, among the first pieces; everything that
    stands at the same height belongs to it, but for labelled values: those are the order's.

    Args:
        lines: pieces of text in reading order.
        page: 1-based page number.
        is_labelled: whether a piece holds a label of the form.

    Returns:
        What the line says (None when there is no such line), and the lines that are left.
    """
    seeds = [
        c
        for c in lines[:TOP_LINES]
        if (_TIME.search(_flat(c.text)) or _PAGE.search(_flat(c.text))) and not is_labelled(c)
    ]
    if not seeds:
        return None, tuple(lines)
    near = [c for c in lines[: TOP_LINES + 4] if any(_level(c, s) for s in seeds)]
    head = [c for c in near if not is_labelled(c)]
    text = _flat("  ".join(c.text for c in head))
    time, number, sender = _TIME.search(text), _PAGE.search(text), _SENDER.search(text)
    found = Transmission(
        page=page,
        sender=_PAGE.split(sender.group(1))[0].strip() if sender else "",
        time=time.group(0).strip() if time else "",
        page_text=number.group(0).strip() if number else "",
        raw=text,
    )
    return found, tuple(c for c in lines if not any(c is h for h in head))


def _flat(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _level(cell: Cell, seed: Cell) -> bool:
    """Whether two pieces stand at the same height."""
    if cell is seed:
        return True
    if cell.quad is None or seed.quad is None:
        return False
    _, top, _, bottom = box_along(seed.quad, seed.quad)
    _, y0, _, y1 = box_along(cell.quad, seed.quad)
    return min(bottom, y1) - max(top, y0) > 0.4 * min(bottom - top, y1 - y0)
