"""Labels and their values: beside, below, and inside the same piece of text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from ocr_pipeline.geometry import box_along
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.text import folded, normal
from ocr_pipeline.orders.values import parse
from ocr_pipeline.tables.transcript import Cell

MISREAD = 50.0
"""rapidfuzz ratio from which a label with a colon behind it is a misread known one."""
MISREAD_ALONE = 74.0
"""The same for a label that stands alone, without a colon to show that it is one."""
LONGEST_LABEL = 8
"""Characters; a longer text alone is no label."""
REACH = 12.0
"""Text heights between a label and what stands to the right of it."""
LINE_GAP = 1.2
"""Lines of one text are closer than this, in text heights."""
MOST_LINES = 8
"""A text has no more lines than that below its first."""
SHAPED = frozenset({Kind.DATE, Kind.CODE, Kind.MONEY, Kind.PHONE})
"""Kinds whose values can be told by their shape."""
_COLONS = ":：;；"
_LABEL_LIKE = re.compile(r"^([^:：;；]{2,14})[:：;；]|^(?=\D{2,10}\d)(\D{2,10}?)\s*(?=[\d(¥￥])")
_REMARK = re.compile(r"(?:\d{1,2}\s*[%％]|[^\d()（）]{1,8})\s*[)）][\s:：]*")
_RATE = re.compile(r"[（(]?\s*\d{1,2}\s*[%％]\s*[)）]?[\s:：]*")
_DROPPED = set(" \t\n:;.,、。・()[]【】<>《》*_")


@dataclass(frozen=True, slots=True)
class Hit:
    """A label that was found.

    Attributes:
        field: name of the field it belongs to.
        cell: the text it was found in.
        start: index of its first character.
        end: index after its last character, colons and spaces included.
        likeness: 0..100, how well the printed label was read.
    """

    field: str
    cell: Cell
    start: int
    end: int
    likeness: float = 100.0


def find_labels(cell: Cell, fields: Sequence[FieldSpec]) -> list[Hit]:
    """All labels in a piece of text, left to right.

    A label counts when it stands at the start, or after white space or a colon's value, and when
    what follows could be a value: a colon, white space, a figure, or nothing; elsewhere only with a
    colon and figures behind it (two lines printed into one another). The longest wins.
    """
    folded, places = _fold_with_places(cell.text)
    by_start = _by_start(tuple(fields))
    hits: list[Hit] = []
    position = 0
    while position < len(folded):
        best: Hit | None = None
        length = 0
        starts = _may_start(cell.text, places[position])
        for alias, name in by_start.get(folded[position], ()):
            end = position + len(alias)
            if len(alias) <= length or not folded.startswith(alias, position):
                continue
            after = places[end - 1] + 1
            if not (_may_end(cell.text, after) if starts else _runs_on(cell.text, after)):
                continue
            stop = places[end] if end < len(folded) else len(cell.text)
            best, length = Hit(name, cell, places[position], stop), len(alias)
        if best is None:
            position += 1
            continue
        hits.append(best)
        position = next((i for i, p in enumerate(places) if p >= best.end), len(folded))
    return hits or _misread(cell, fields)


def _misread(cell: Cell, fields: Sequence[FieldSpec]) -> list[Hit]:
    """The text before a colon or figures, when it is near to a known label and the value fits.

    Only fields whose values have a shape of their own are taken: a date behind 発注1 is the 発注日.
    """
    found = _LABEL_LIKE.match(cell.text)
    if found is None:
        return _misread_alone(cell, fields)
    label = _fold_with_places(found.group(1) or found.group(2))[0]
    value = cell.text[found.end() :]
    best: Hit | None = None
    for field in fields:
        if field.kind not in SHAPED or parse(field.kind, value).state is not FieldState.READ:
            continue
        # Without a colon the letters before the figures may be the code's own: PO-2025-2542.
        coded = field.kind is Kind.CODE
        if coded and (found.group(2) or parse(Kind.DATE, value).state is FieldState.READ):
            continue
        likeness = max(fuzz.ratio(label, a) for a in aliases(field))
        if likeness >= MISREAD and (best is None or likeness > best.likeness):
            best = Hit(field.name, cell, 0, found.end(), likeness)
    return [best] if best else []


def _misread_alone(cell: Cell, fields: Sequence[FieldSpec]) -> list[Hit]:
    """A short text without figures that is a known label but for a character or two.

    Its value stands elsewhere. Characters may be wrong, none may be missing: 電話機 is no 電話,
    and the title 発注書 is no 発注書No.
    """
    label = _fold_with_places(cell.text)[0]
    if len(label) > LONGEST_LABEL or any(c.isdigit() for c in label):
        return []
    scored = [
        (fuzz.ratio(label, a), f.name)
        for f in fields
        if f.kind in SHAPED
        for a in aliases(f)
        if len(a) == len(label)
    ]
    likeness, name = max(scored, default=(0.0, ""))
    return [Hit(name, cell, 0, len(cell.text), likeness)] if likeness >= MISREAD_ALONE else []


def _fold_with_places(text: str) -> tuple[str, list[int]]:
    """Folded text, and for each of its characters the index in `text` it came from."""
    out: list[str] = []
    places: list[int] = []
    for i, c in enumerate(text):
        for kept in folded(normal(c).upper()):
            if kept not in _DROPPED:
                out.append(kept)
                places.append(i)
    return "".join(out), places


@lru_cache(maxsize=64)
def _by_start(fields: tuple[FieldSpec, ...]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """First character → the labels that begin with it, each with the name of its field."""
    found: dict[str, list[tuple[str, str]]] = {}
    for field in fields:
        for alias in aliases(field):
            found.setdefault(alias[0], []).append((alias, field.name))
    return found


@lru_cache(maxsize=512)
def aliases(field: FieldSpec) -> frozenset[str]:
    """The labels of a field as they are compared."""
    return frozenset(_fold_with_places(a)[0] for a in (field.label, *field.aliases)) - {""}


def _may_start(text: str, index: int) -> bool:
    """A label starts a text, or follows a figure, a space, a bracket, or the polite 御 / ご."""
    return (
        index == 0 or text[index - 1].isdigit() or text[index - 1] in " \n　:：(（[【御ご・■●○□◆*＊"
    )


def _may_end(text: str, index: int) -> bool:
    """After a label comes a colon, a space, a figure, a bracket, or nothing."""
    if index >= len(text):
        return True
    c = text[index]
    return c in " \n　:：;；.．)）]】(（¥￥" or not (c.isalpha() or unicodedata.category(c) == "Lm")


def _runs_on(text: str, index: int) -> bool:
    """A label in the middle of a text, printed into something else, has its colon to tell it."""
    return text[index : index + 1] in tuple(_COLONS) and any(c.isdigit() for c in text[index:])


def value_beside(hit: Hit, next_start: int | None) -> Cell:
    """What stands behind a label in the same piece, up to the next label."""
    value = hit.cell.slice(hit.end, len(hit.cell.text) if next_start is None else next_start)
    opened = hit.start > 0 and hit.cell.text[hit.start - 1] in "(（[【"
    if opened and value.text.endswith((")", "）", "]", "】")):
        value = value.slice(0, len(value.text) - 1)
    text = value.text
    start = 0
    while start < len(text) and (text[start] in _COLONS or text[start].isspace()):
        start += 1
    return value.slice(start, len(text))


def without_remark(hit: Hit, value: Cell) -> Cell:
    """The value of a label without what is still label: the `(10%)` of 消費税(10%).

    Only for kinds whose values have figures: what 発注先 has in brackets may be (株).
    """
    opened = hit.cell.text[hit.start : hit.end].rstrip().endswith(("(", "（"))
    found = (opened and _REMARK.match(value.text)) or _RATE.match(value.text)
    return value.slice(found.end(), len(value.text)) if found else value


def neighbour(
    cell: Cell,
    pieces: Sequence[Cell],
    is_label: Callable[[Cell], bool] = lambda _: False,
    reach: float = REACH,
) -> Cell | None:
    """The piece that stands to the right of a label, else the one below it.

    Without quads (a vision-language model) it is the next piece in reading order, unless that is a
    label itself.
    """
    if cell.quad is None:
        at = next((i for i, p in enumerate(pieces) if p is cell), len(pieces))
        following = next((p for p in pieces[at + 1 :] if not p.blank), None)
        return None if following is None or is_label(following) else following
    others = [p for p in pieces if p is not cell and not p.blank and not is_label(p)]
    left, top, right, bottom = box_along(cell.quad, cell.quad)
    height = bottom - top
    beside: list[tuple[float, Cell]] = []
    below: list[tuple[float, Cell]] = []
    for p in others:
        if p.quad is None or p.page != cell.page:
            continue
        x0, y0, x1, y1 = box_along(p.quad, cell.quad)
        if min(bottom, y1) - max(top, y0) > 0.5 * min(height, y1 - y0) and x0 >= right - height:
            beside.append((x0 - right, p))
        elif y0 >= bottom - 0.5 * height and min(right, x1) - max(left, x0) > 0:
            below.append((y0 - bottom, p))
    if beside:
        gap, piece = min(beside, key=lambda b: b[0])
        if gap < reach * height:
            return piece
    if below:
        gap, piece = min(below, key=lambda b: b[0])
        if gap < 1.5 * height:
            return piece
    return None


def lines_below(
    value: Cell, label: Cell, pieces: Sequence[Cell], is_label: Callable[[Cell], bool]
) -> list[Cell]:
    """The text lines that go on with a value of several lines, top to bottom.

    They follow closely, and begin below the label or below the value's first line. Without quads
    they are the next pieces in reading order, up to the next label.
    """
    if label.quad is None or value.quad is None:
        at = next((i for i, p in enumerate(pieces) if p is value or p is label), len(pieces))
        following = list(pieces[at + 1 : at + 1 + MOST_LINES])
        end = next((i for i, p in enumerate(following) if is_label(p)), len(following))
        return [p for p in following[:end] if p is not value]
    found: list[Cell] = []
    last = value
    left = min(box_along(label.quad, value.quad)[0], box_along(value.quad, value.quad)[0])
    others = [p for p in pieces if p.page == value.page and not is_label(p)]
    while last.quad is not None and len(found) < MOST_LINES:
        _, top, right, bottom = box_along(last.quad, value.quad)
        height = bottom - top
        after: list[tuple[float, Cell]] = []
        for p in others:
            if p.quad is None or any(p is f for f in (*found, value)):
                continue
            x0, y0, _, _ = box_along(p.quad, value.quad)
            if 0 <= y0 - bottom < LINE_GAP * height and left - height < x0 < right:
                after.append((y0, p))
        if not after:
            break
        last = min(after, key=lambda a: a[0])[1]
        found.append(last)
    return found
