"""Who sends the order, and who is addressed."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from ocr_pipeline.geometry import box_along
from ocr_pipeline.orders.text import normal, plain
from ocr_pipeline.tables.transcript import Cell

COMPANY = re.compile(
    r"(?:株式|有限|合同|合資|合名)会社|[（(][株有同名資]|[株有同名資][)）]|[㈱㈲]|"
    r"(?:工業|商事|商店|製作所|産業|金属|物産|組合|商会|電機|化成|精機|鉄工所)(?:所|部)?$"
)
TOUCHING = 2.5
"""Print that begins this many text heights behind a name leaves no room for its margin."""
_HONORIFIC = re.compile(r"(御\s*中|様|殿)\s*$")
_ONLY_HONORIFIC = re.compile(r"^\s*(御\s*中|様|殿)\s*$")
_ADDRESS = re.compile(r"〒|[都道府県].{1,8}[市区町村郡]|\d+\s*[-−丁]\s*\d+\s*[-−番]\s*\d+")
_PHONE = re.compile(r"電\s*話|ＴＥＬ|T\s*E\s*L|℡|F\s*A\s*X|ＦＡＸ|ファックス", re.I)
_LEGAL_FORM = re.compile(r"(?:株式|有限|合同|合資|合名)会社|\([株有同名資]\)")
_CLOSED = re.compile(r"^.+?(?:株式|有限|合同|合資|合名)会社(?=.)")
_POSTAL = re.compile(r"^\W*[〒T]?\s*\d{3}\s*-\s*\d{4}\s*$")
_TRAILING_DATE = re.compile(r"\s+\S*\d{2,4}\s*[年/.\-]\s*\d{1,2}.*$")


def has_company_form(cell: Cell) -> bool:
    """Whether a text is a name with its legal form; the form alone is half a name."""
    text = normal(cell.text)
    return bool(_LEGAL_FORM.search(text)) and not _LEGAL_FORM.fullmatch(text)


def names_addressee(cell: Cell) -> bool:
    """Whether a text is a name that ends in 御中, 様 or 殿."""
    found = _HONORIFIC.search(cell.text)
    return found is not None and found.start() > 0


def is_postal_code(cell: Cell) -> bool:
    """Whether a text is a postal code and nothing else."""
    return bool(_POSTAL.match(normal(cell.text)))


def addressee(lines: Sequence[Cell]) -> Cell | None:
    """The name before 御中, 様 or 殿; alone on its line, the piece before it is the name."""
    for i, cell in enumerate(lines):
        if _ONLY_HONORIFIC.match(cell.text):
            if i and not lines[i - 1].blank:
                return lines[i - 1]
            continue
        found = _HONORIFIC.search(cell.text)
        if found and found.start() > 0:
            return cell.slice(0, found.start())
    return None


def sender(
    free: Sequence[Cell],
    lines: Sequence[Cell],
    addressed: Cell | None,
    labels: Container[str] = (),
) -> Cell | None:
    """The company that signs: a company name with an address or a telephone below it.

    Args:
        free: pieces of text that are no label and no labelled value, in reading order.
        lines: all pieces of text, in reading order.
        addressed: the addressee, which is never the sender.
        labels: known labels, none of which is a name.
    """
    named = [
        c
        for c in free
        if COMPANY.search(normal(c.text))
        and not _HONORIFIC.search(c.text)
        and not (addressed is not None and addressed.text and addressed.text in c.text)
        and len(c.text) <= 40
    ]
    if named:
        best = max(named, key=lambda c: _signature(c, lines))
        return _alone(best, labels)
    # No word that says "company": the line above the address, else above the telephone.
    for pattern in (_ADDRESS, _PHONE):
        for cell in lines:
            if pattern.search(cell.text):
                above = _above(cell, [c for c in free if not _POSTAL.match(c.text)])
                if above is not None and above is not addressed:
                    return _alone(above, labels)
    return None


def crowded(name: Cell, lines: Sequence[Cell]) -> bool:
    """Whether other print begins right behind a name: then the name may go on beneath it."""
    if name.quad is None:
        return False
    _, top, right, bottom = box_along(name.quad, name.quad)
    height = bottom - top
    for c in lines:
        if c.quad is None or c.page != name.page:
            continue
        x0, y0, _, y1 = box_along(c.quad, name.quad)
        level = min(bottom, y1) - max(top, y0) > 0.2 * min(height, y1 - y0)
        if level and right - 0.3 * height < x0 < right + TOUCHING * height:
            return True
    return False


def _signature(cell: Cell, lines: Sequence[Cell]) -> float:
    """How much a piece looks like the head of a signature: address and telephone below it."""
    below = _below(cell, lines)
    score = 2.0 * any(_PHONE.search(c.text) for c in below)
    return score + 1.0 * any(_ADDRESS.search(c.text) for c in below)


def _below(cell: Cell, lines: Sequence[Cell]) -> list[Cell]:
    if cell.quad is None:
        # The name may be the part of its line that stands before a label.
        at = next((i for i, c in enumerate(lines) if cell.text in c.text), len(lines))
        return list(lines[at + 1 : at + 6])
    left, _, right, bottom = box_along(cell.quad, cell.quad)
    height = bottom - box_along(cell.quad, cell.quad)[1]
    found = []
    for c in lines:
        if c is cell or c.quad is None:
            continue
        x0, y0, x1, _ = box_along(c.quad, cell.quad)
        if -0.5 * height < y0 - bottom < 6 * height and min(right, x1) - max(left, x0) > 0:
            found.append(c)
    return found


def _above(cell: Cell, lines: Sequence[Cell]) -> Cell | None:
    if cell.quad is None:
        return None
    left, top, right, bottom = box_along(cell.quad, cell.quad)
    near: list[tuple[float, Cell]] = []
    for c in lines:
        if c is cell or c.quad is None:
            continue
        x0, _, x1, y1 = box_along(c.quad, cell.quad)
        gap = top - y1
        if -0.5 * (bottom - top) < gap < 2 * (bottom - top) and min(right, x1) > max(left, x0):
            near.append((gap, c))
    return min(near, key=lambda n: n[0])[1] if near else None


def _alone(cell: Cell, labels: Container[str]) -> Cell:
    """A name without what the detector read together with it: a date, a label printed into it."""
    found = _TRAILING_DATE.search(cell.text)
    if found and found.start() > 0:
        cell = cell.slice(0, found.start())
    closed = _CLOSED.match(cell.text)
    if closed and plain(cell.text[closed.end() :]) in labels:
        cell = cell.slice(0, closed.end())
    return cell
