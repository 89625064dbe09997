"""From an order and a layout to drawn pages: which lines go on which page."""

from __future__ import annotations

from decimal import Decimal

from synth.content import Content
from synth.drawing import Drawing, Ref
from synth.fonts import Face
from synth.layouts import table
from synth.layouts.form import Form
from synth.layouts.layout import Layout
from synth.wording import Wording

_TOP = 12.0
_BOTTOM = 14.0


def _blank(layout: Layout, face: Face, scale: float) -> Drawing:
    return Drawing(layout.width, layout.height, scale, face)


def _closing(form: Form) -> float:
    """Height that totals and remarks need, mm: measured by drawing them on a scratch page."""
    scratch = form.on(_blank(form.layout, form.page.face, 1.0), 1, 1)
    remarks = 3.5 * form.size if "remarks" in form.layout.optional else 0.0
    return form.layout.totals(scratch, 0.0) + remarks


def _continued(form: Form) -> float:
    """The header of the second and later pages; returns where it ends."""
    page, s = form.page, form.size
    page.text(form.left, _TOP + 4, f"{form.label('title')}（続き）", s * 1.3)
    page.text(form.layout.width / 2, _TOP + 4, form.labelled("order_no"), s)
    page.text(form.right, _TOP + 4, f"{form.number}/{form.pages}頁", s, align="right")
    pieces = [form.value("supplier"), (f" {form.wording.honorific}", None)]
    page.text(form.left, _TOP + 4 + s * 2.2, pieces, s)
    return _TOP + 4 + s * 4


def _remarks(form: Form, y: float) -> None:
    if "remarks" not in form.layout.optional:
        return
    page, size = form.page, form.size * 0.95
    label = form.label("remarks") + form.wording.colon
    start = form.left + page.measure(label, size)
    y += size * 2
    page.text(form.left, y, label, size)
    text = form.content.remarks
    for line in page.wrap([(text, Ref("remarks"))], size, form.right - start - 4):
        page.text(start, y, line, size)
        y += size * 1.5


def _split(form: Form, top: float, later: float) -> list[list[int]]:
    """Fill pages with lines; the last one must also hold the totals."""
    limit = form.layout.height - _BOTTOM
    pages: list[list[int]] = [[]]
    y = top + form.layout.row
    for row in range(len(form.content.lines)):
        height = table.height(form, row)
        if pages[-1] and y + height + form.layout.row > limit:
            pages.append([])
            y = later + form.layout.row
        pages[-1].append(row)
        y += height
    if y + _closing(form) > limit:
        # Two lines at least go along: totals alone on a page are no order.
        moved = pages[-1][-2:] if len(pages[-1]) > 2 else []
        if moved:
            pages[-1] = pages[-1][:-2]
            pages.append(moved)
    return pages


def _filler(form: Form, y: float, rows: int) -> int:
    """How many empty rows to add."""
    room = form.layout.height - _BOTTOM - _closing(form) - y
    return max(0, min(form.layout.filled - rows, int(room / form.layout.row)))


def compose(
    content: Content, wording: Wording, layout: Layout, face: Face, scale: float
) -> tuple[Drawing, ...]:
    """Draw an order.

    Args:
        content: what it says.
        wording: how it says it.
        layout: how it looks.
        face: the typeface.
        scale: pixels a millimetre.
    """
    form = Form(content, wording, layout, _blank(layout, face, scale))
    top = layout.header(form, _TOP)
    later = _continued(form.on(_blank(layout, face, 1.0), 2, 2))
    pages = _split(form, top, later)
    drawings = []
    for number, rows in enumerate(pages, start=1):
        page = form.page if number == 1 else _blank(layout, face, scale)
        here = form.on(page, number, len(pages))
        y = table.draw_heading(here, top if number == 1 else _continued(here))
        y = table.draw_rows(here, y, rows)
        if number < len(pages):
            _carry(here, y, rows)
        else:
            y = table.draw_empty(here, y, _filler(here, y, len(rows)))
            y = layout.totals(here, y)
            _remarks(here, y)
        page.anchors.setdefault("stamp", _room(here, y))
        if len(pages) > 1 and number == 1:
            page.text(here.right, layout.height - 9, f"1/{len(pages)}頁", here.size, align="right")
        drawings.append(page)
    return tuple(drawings)


def _carry(form: Form, y: float, rows: list[int]) -> None:
    """The page's own subtotal, below a table that goes on."""
    amounts = [form.content.lines[r].amount or Decimal(0) for r in rows]
    text = form.wording.money(sum(amounts, Decimal(0)))
    form.page.text(
        form.right - 1.6, y + form.layout.row / 2, f"頁計　{text}", form.size, align="right"
    )


def _room(form: Form, y: float) -> tuple[float, float, float, float]:
    """A place for a date stamp of the receiver: below everything when there is room."""
    top = min(y + 14, form.layout.height - 50)
    return form.left + 8, top, form.left + 36, top + 28
