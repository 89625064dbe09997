"""Subtotal, tax and total, in the places where orders have them."""

from __future__ import annotations

from synth.drawing import Piece
from synth.layouts.form import Form
from synth.layouts.table import TABLE, edges


def entries(form: Form) -> list[tuple[str, str]]:
    """(label, field or fixed text) of the lines of the totals; taxes by rate when there are two."""
    order = form.content
    found = [(form.label("subtotal"), "subtotal")]
    if len(order.taxes) > 1:
        for percent, (base, tax) in order.taxes.items():
            number = form.wording.number
            found.append((f"{percent}%対象 {number(base)}", "=" + number(tax)))
    only = next(iter(order.taxes))
    rate = f"({form.wording.digits(str(only))}%)" if len(order.taxes) == 1 else ""
    found += [(form.label("tax") + rate, "tax"), (form.label("total"), "total")]
    return found


def _value(form: Form, name: str) -> list[Piece]:
    return [(name[1:], None)] if name.startswith("=") else [form.value(name)]


def in_table(form: Form, y: float) -> float:
    """Further rows of the table, under its last two columns."""
    page, borders, row = form.page, edges(form), form.layout.row
    label, value, end = borders[-3], borders[-2], borders[-1]
    names = [c for c, _ in form.layout.columns]
    if names[-1] != "amount":
        at = names.index("amount")
        label, value, end = borders[at - 1], borders[at], borders[at + 1]
    column = borders.index(value)
    body = len({c.cell[1] for c in page.lines if c.cell and c.cell[1] >= 0})
    for i, (text, name) in enumerate(entries(form)):
        bottom = y + row
        cell = (TABLE, body + i, column - 1)
        page.text(
            label + 1.6, (y + bottom) / 2, text, form.size, width=value - label - 3, cell=cell
        )
        page.text(
            end - 1.6, (y + bottom) / 2, _value(form, name), form.size, align="right",
            width=end - value - 2, cell=(TABLE, body + i, column),
        )  # fmt: skip
        page.box(label, y, end, bottom, form.layout.rule)
        page.line(value, y, value, bottom, form.layout.rule)
        y = bottom
    return y


def stacked(form: Form, y: float) -> float:
    """A block of its own below the table, at the right."""
    page, y = form.page, y + 4
    width = max(62.0, form.size * 17)
    left, middle = form.right - width, form.right - width * 0.46
    for text, name in entries(form):
        bottom, bold = y + form.layout.row, 0.1 if name == "total" else 0.0
        page.text(left + 2, (y + bottom) / 2, text, form.size, width=middle - left - 3, bold=bold)
        page.text(
            form.right - 2, (y + bottom) / 2, _value(form, name), form.size, align="right",
            width=form.right - middle - 3, bold=bold,
        )  # fmt: skip
        page.box(left, y, form.right, bottom, 0.4 if name == "total" else form.layout.rule)
        page.line(middle, y, middle, bottom, form.layout.rule)
        y = bottom
    return y


def strip(form: Form, y: float) -> float:
    """One line across the page: label over value, side by side."""
    page, cells, y = form.page, entries(form), y + 3
    step = (form.right - form.left) / len(cells)
    head, row = form.layout.row * 0.8, form.layout.row
    page.box(form.left, y, form.right, y + head + row, form.layout.rule)
    page.line(form.left, y + head, form.right, y + head, form.layout.rule)
    for i, (text, name) in enumerate(cells):
        x = form.left + step * i
        page.text(x + step / 2, y + head / 2, text, form.size * 0.9, align="center", width=step - 2)
        page.text(
            x + step - 2, y + head + row / 2, _value(form, name), form.size, align="right",
            width=step - 3,
        )  # fmt: skip
        if i:
            page.line(x, y, x, y + head + row, form.layout.rule)
    return y + head + row


def plain(form: Form, y: float) -> float:
    """No frames; a double rule under the total."""
    page, y = form.page, y + 3
    for text, name in entries(form):
        y += form.layout.row * 0.9
        page.text(form.right - 62, y, text, form.size, width=34)
        page.text(form.right - 2, y, _value(form, name), form.size, align="right", width=40)
    y += form.size * 0.9
    page.line(form.right - 64, y, form.right, y, 0.25)
    page.line(form.right - 64, y + 0.9, form.right, y + 0.9, 0.25)
    return y + 1
