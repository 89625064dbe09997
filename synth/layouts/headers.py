"""The upper part of an order: title, who to whom, number and dates."""

from __future__ import annotations

from synth.drawing import Piece, Ref
from synth.layouts.form import Form


def _title(form: Form, x: float, y: float, size: float, align: str = "center") -> None:
    text = form.label("title")
    track = size * (0.6 if len(text) <= 4 else 0.1)
    form.page.text(x, y, text, size, align=align, track=track, bold=0.1)


def _supplier(form: Form, x: float, y: float, size: float, *, underline: bool = True) -> None:
    pieces: list[Piece] = [form.value("supplier"), ("　" + form.wording.honorific, None)]
    used = form.page.text(x, y, pieces, size, width=95)
    if underline:
        form.page.line(x, y + size * 0.8, x + used + 4, y + size * 0.8, 0.25)


def _buyer(form: Form, x: float, y: float, size: float, *, width: float = 78) -> float:
    """Name, address, phones and person of the sender, one below the other."""
    page, step = form.page, size * 1.55
    used = page.text(x, y, [form.value("buyer")], size * 1.15, bold=0.08, width=width - 8)
    # A company seal sits on the last character of the name, half beside it.
    page.anchors["company_seal"] = (x + used - 8, y - 5, x + used + 14, y + 17)
    y += step * 1.1
    page.text(x, y, f"〒{form.wording.digits(form.content.postal)}", size * 0.9)
    y += step * 0.95
    page.text(x, y, form.wording.digits(form.content.address), size * 0.95, width=width)
    for name in ("tel", "fax"):
        y += step
        page.text(x, y, [(form.label(name) + " ", None), form.value(name)], size)
    if "person" in form.layout.optional:
        y += step
        pieces: list[Piece] = [(f"{form.label('person')}{form.wording.colon}", None)]
        pieces += [(form.content.department + " ", None), form.value("person")]
        used = page.text(x, y, pieces, size, width=width)
        page.anchors["personal_seal"] = (x + used + 1, y - 5, x + used + 11, y + 5)
    return y + step * 0.7


def _numbers(form: Form, x: float, y: float, size: float) -> float:
    for name in ("order_no", "order_date", "due_date"):
        form.page.text(x, y, form.labelled(name), size)
        y += size * 1.75
    return y


def _conditions(form: Form, x: float, y: float, size: float) -> float:
    for name in ("delivery_place", "payment_terms"):
        if name in form.layout.optional:
            form.page.text(x, y, form.labelled(name), size, width=form.right - 82 - x)
            y += size * 1.75
    return y


def _grand(form: Form, x: float, y: float, size: float) -> float:
    if not form.layout.grand:
        return y
    text, ref = form.value("total")
    text = text if form.wording.yen != "plain" else f"¥{text}"
    pieces: list[Piece] = [(form.label("grand") + "　", None), (text, ref), ("－ (税込)", None)]
    used = form.page.text(x, y + size * 0.4, pieces, size * 1.2, bold=0.05)
    form.page.line(x, y + size * 1.3, x + used + 2, y + size * 1.3, 0.3)
    return y + size * 2.2


def _greeting(form: Form, x: float, y: float, size: float, width: float | None = None) -> float:
    words = (
        "下記の通り発注致しますので、よろしくお願い申し上げます。",
        "下記のとおりご注文申し上げます。",
    )
    form.page.text(x, y, words[len(form.content.order_no) % 2], size, width=width or form.right - x)
    return y + size * 1.6


def classic(form: Form, y: float) -> float:
    """Title in the middle, addressee left, numbers and sender right."""
    s = form.size
    _title(form, form.layout.width / 2, y + 8, s * 2.0)
    _supplier(form, form.left, y + 24, s * 1.25)
    low = _numbers(form, form.right - 58, y + 22, s * 0.95)
    bottom = _buyer(form, form.right - 76, low + s * 1.2, s * 0.95)
    room = form.right - 80 - form.left
    left = _greeting(form, form.left, max(y + 40, bottom - s * 4.5), s * 0.9, room)
    left = _conditions(form, form.left, left + 1, s * 0.95) if bottom - left > 10 else left
    return max(_grand(form, form.left, max(left, bottom - s), s), bottom) + 2


def letterhead(form: Form, y: float) -> float:
    """The sender's name across the top, a double rule, then everything else."""
    s, page = form.size, form.page
    middle = form.layout.width / 2
    used = page.text(middle, y + 5, [form.value("buyer")], s * 1.6, align="center", bold=0.1)
    page.anchors["company_seal"] = (
        middle + used / 2 - 6, y - 4, middle + used / 2 + 15, y + 17
    )  # fmt: skip
    pieces: list[Piece] = [(form.wording.digits(form.content.address) + "　", None)]
    for name in ("tel", "fax"):
        pieces += [(form.label(name) + " ", None), form.value(name), ("　", None)]
    page.text(middle, y + 12, pieces, s * 0.85, align="center", width=form.right - form.left)
    page.line(form.left, y + 16, form.right, y + 16, 0.6)
    page.line(form.left, y + 17.2, form.right, y + 17.2, 0.2)
    _title(form, form.left, y + 26, s * 1.8, align="left")
    low = _numbers(form, form.right - 62, y + 25, s)
    _supplier(form, form.left, y + 38, s * 1.2)
    if "person" in form.layout.optional:
        page.text(form.right - 62, low, form.labelled("person"), s)
        page.anchors["personal_seal"] = (form.right - 30, low - 5, form.right - 20, low + 5)
        low += s * 1.75
    low = _conditions(form, form.left, max(low, y + 46), s)
    low = _greeting(form, form.left, low + 1, s * 0.9)
    return _grand(form, form.left, low, s) + 2


def _approvals(form: Form, x: float, y: float, names: tuple[str, ...], side: float = 18) -> float:
    """A row of boxes for personal seals (承認, 検印, 担当); returns its bottom."""
    page, head = form.page, form.size * 1.35
    page.box(x, y, x + side * len(names), y + head + side, form.layout.rule)
    page.line(x, y + head, x + side * len(names), y + head, form.layout.rule)
    for i, name in enumerate(names):
        page.text(x + side * (i + 0.5), y + head / 2, name, form.size * 0.8, align="center")
        if i:
            page.line(x + side * i, y, x + side * i, y + head + side, form.layout.rule)
        middle = (x + side * (i + 0.5), y + head + side / 2)
        page.anchors[f"approval.{i}"] = (
            middle[0] - 5.5, middle[1] - 5.5, middle[0] + 5.5, middle[1] + 5.5
        )  # fmt: skip
    return y + head + side


def _grid(
    form: Form, x: float, y: float, cells: tuple[str, ...], widths: tuple[float, float]
) -> float:
    """Label | value rows in a box; returns its bottom."""
    page, height, s = form.page, form.size * 2.0, form.size * 0.95
    total = sum(widths)
    for i, name in enumerate(cells):
        top = y + i * height
        page.box(x, top, x + total, top + height, form.layout.rule)
        page.text(x + widths[0] / 2, top + height / 2, form.label(name), s, align="center",
                  width=widths[0] - 2)  # fmt: skip
        page.text(x + widths[0] + 2, top + height / 2, [form.value(name)], s, width=widths[1] - 4)
    page.line(x + widths[0], y, x + widths[0], y + height * len(cells), form.layout.rule)
    return y + height * len(cells)


def boxed(form: Form, y: float) -> float:
    """Title in a frame, numbers in a grid, boxes for approval seals."""
    s, page = form.size, form.page
    page.box(form.left, y, form.left + 70, y + 13, 0.5)
    _title(form, form.left + 35, y + 6.5, s * 1.9)
    names = ("承認", "検印", "担当")
    bottom = _approvals(form, form.right - 54, y, names)
    _supplier(form, form.left, y + 24, s * 1.2)
    cells: tuple[str, ...] = ("order_no", "order_date", "due_date")
    cells += tuple(n for n in ("delivery_place", "payment_terms") if n in form.layout.optional)
    low = _grid(form, form.left, y + 32, cells, (26, 62))
    right = _buyer(form, form.right - 82, bottom + 6, s * 0.95, width=80)
    low = _greeting(form, form.left, max(low, right) + s, s * 0.9)
    return _grand(form, form.left, low, s) + 1


def two_column(form: Form, y: float) -> float:
    """Two framed columns side by side: the addressee's and the sender's."""
    s, page = form.size, form.page
    _title(form, form.layout.width / 2, y + 6, s * 1.9)
    top, middle = y + 15, form.left + (form.right - form.left) * 0.52
    _supplier(form, form.left + 3, top + 7, s * 1.15, underline=False)
    left = _greeting(form, form.left + 3, top + 15, s * 0.8, middle - form.left - 6)
    for name in ("due_date", "delivery_place", "payment_terms"):
        if name == "due_date" or name in form.layout.optional:
            width = middle - form.left - 6
            page.text(form.left + 3, left + 2, form.labelled(name), s * 0.95, width=width)
            left += s * 1.9
    page.text(middle + 3, top + 5, form.labelled("order_no"), s * 0.95)
    page.text(middle + 3, top + 5 + s * 1.7, form.labelled("order_date"), s * 0.95)
    right = _buyer(form, middle + 3, top + 7 + s * 3.6, s * 0.9, width=form.right - middle - 8)
    bottom = max(left, right) + 2
    page.box(form.left, top, form.right, bottom, 0.35)
    page.line(middle, top, middle, bottom, 0.2)
    return _grand(form, form.left, bottom + s * 1.2, s) + 2


def compact(form: Form, y: float) -> float:
    """Everything in five lines, to leave the page to the goods."""
    s, page = form.size, form.page
    _title(form, form.left, y + 4, s * 1.9, align="left")
    for i, name in enumerate(("order_no", "order_date", "due_date")):
        x = form.left + (form.right - form.left) * (0.30 + 0.24 * i)
        page.text(x, y + 4, form.labelled(name), s, width=44)
    page.line(form.left, y + 9, form.right, y + 9, 0.3)
    _supplier(form, form.left, y + 14, s * 1.3, underline=False)
    used = page.text(form.right - 82, y + 14, [form.value("buyer")], s * 1.2, bold=0.06, width=74)
    x = form.right - 82 + used
    page.anchors["company_seal"] = (x - 7, y + 8, x + 13, y + 28)
    page.text(
        form.right - 82, y + 19.5, form.wording.digits(form.content.address), s * 0.95, width=80
    )
    pieces: list[Piece] = []
    for name in ("tel", "fax"):
        pieces += [(form.label(name) + " ", None), form.value(name), ("　", None)]
    page.text(form.right - 82, y + 24.5, pieces, s * 0.95, width=82)
    low = y + 20
    for name in ("delivery_place", "payment_terms"):
        if name in form.layout.optional:
            page.text(form.left, low, form.labelled(name), s, width=85)
            low += s * 1.7
    return _grand(form, form.left, max(low, y + 30), s) + 1


def wide(form: Form, y: float) -> float:
    """For landscape: addressee, numbers in a grid, sender, from left to right."""
    s, page = form.size, form.page
    _title(form, form.layout.width / 2, y + 5, s * 1.9)
    _supplier(form, form.left, y + 19, s * 1.2)
    low = _greeting(form, form.left, y + 28, s * 0.85, (form.right - form.left) * 0.4)
    low = _grand(form, form.left, low + 3, s)
    third = form.left + (form.right - form.left) * 0.42
    cells: tuple[str, ...] = ("order_no", "order_date", "due_date")
    cells += tuple(n for n in ("delivery_place", "payment_terms") if n in form.layout.optional)
    grid = _grid(form, third, y + 14, cells, (24, 52))
    right = _buyer(form, form.right - 74, y + 17, s * 0.95, width=72)
    page.anchors.setdefault("stamp", (form.left + 70, y + 18, form.left + 98, y + 46))
    return max(low, grid, right) + 3


def article(form: Form, y: float) -> float:
    """The sheet of a published test: number, date, phone, address, and a box for acceptance."""
    s, page = form.size, form.page
    _title(form, form.layout.width / 2, y + 8, s * 2.1)
    _supplier(form, form.left, y + 25, s * 1.2)
    x = form.right - 72
    for i, name in enumerate(("order_no", "order_date")):
        page.text(x, y + 22 + i * s * 1.8, form.labelled(name), s)
    low = y + 24 + s * 3.6
    used = page.text(x, low, [form.value("buyer")], s * 1.2, bold=0.08)
    page.anchors["company_seal"] = (x + used - 6, low - 4, x + used + 15, low + 17)
    page.text(x, low + s * 1.9, [(form.content.address, Ref("address"))], s)
    page.text(x, low + s * 3.6, [(form.label("tel") + " ", None), form.value("tel")], s)
    _greeting(form, form.left, low + s * 2, s * 0.9, form.right - 76 - form.left)
    return _approvals(form, form.right - 20, low + s * 5, ("検収",), side=20) + 5
