"""What every layout draws with: an order, its wording, and the page being written on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from synth.content import Content, Line
from synth.drawing import POINT_MM, Drawing, Piece, Ref
from synth.layouts.layout import Layout
from synth.wording import Wording


@dataclass(frozen=True, eq=False)
class Form:
    """One page of an order while it is drawn.

    Attributes:
        content: what the order says.
        wording: how it says it.
        layout: how it looks.
        page: the drawing.
        number: 1-based number of this page.
        pages: number of pages of the order, 0 while not known.
    """

    content: Content
    wording: Wording
    layout: Layout
    page: Drawing
    number: int = 1
    pages: int = 1

    @property
    def size(self) -> float:
        """The layout's type size, mm."""
        return self.layout.points * POINT_MM

    @property
    def left(self) -> float:
        """Left edge of the type area, mm."""
        return self.layout.margin

    @property
    def right(self) -> float:
        """Right edge of the type area, mm."""
        return self.layout.width - self.layout.margin

    def on(self, page: Drawing, number: int, pages: int) -> Form:
        """The same order on another page."""
        return replace(self, page=page, number=number, pages=pages)

    def label(self, name: str) -> str:
        """This sheet's word for a field."""
        return self.wording.labels[name]

    def value(self, name: str) -> Piece:
        """A field of the order, as written."""
        order, words = self.content, self.wording
        if name in ("order_date", "due_date"):
            text = words.date(getattr(order, name), due=name == "due_date")
        elif name in ("buyer", "supplier"):
            text = words.name(getattr(order, name))
        elif name in ("subtotal", "tax", "total"):
            text = words.money(getattr(order, name))
        else:
            text = getattr(order, name)
            if name in ("order_no", "tel", "fax"):
                text = words.digits(text)
        return text, Ref(name)

    def labelled(self, name: str) -> list[Piece]:
        """Label, colon and value in one line."""
        return [(self.label(name) + self.wording.colon, None), self.value(name)]

    def cell(self, name: str, row: int) -> list[Piece]:
        """A cell of the table of goods, as written; no pieces when it stays blank."""
        line, words = self.content.lines[row], self.wording
        if name == "item_spec":
            item, spec = self.cell("item", row), self.cell("spec", row)
            return [*item, (" ", None), *spec] if item and spec else item + spec
        text = self._text(name, line, row)
        if name == "item" and words.ditto and row and line.item == self.content.lines[row - 1].item:
            text = "〃"
        return [(text, Ref(name, row))] if text else []

    def _text(self, name: str, line: Line, row: int) -> str:
        words = self.wording
        if name == "no":
            return words.digits(str(row + 1))
        if name in ("item", "spec", "unit", "remarks"):
            return str(getattr(line, name))
        if name == "tax_rate":
            return words.digits(f"{line.tax_rate}%")
        value: Decimal | None = getattr(line, name)
        if value is None:
            return ""
        if name == "quantity":
            # 一式: one lot, written with the numeral, its unit 式 in the next column.
            return "一" if line.unit == "式" and self.wording.ditto else words.quantity(value)
        if name == "unit_price":
            return words.number(value)
        return words.money(value) if words.yen == "sign" else words.number(value)
