"""Sheets of a fixed content."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from synth import fonts
from synth.content import Content, Line, close
from synth.drawing import Ref
from synth.layouts import LAYOUTS
from synth.names import NameKind, draw_company
from synth.seeds import stream
from synth.sheet import Sheet, build, scored
from synth.wording import Wording

_LINES = (
    ("ステンレス鋼板 SUS304", 50, 3200),
    ("アルミ角材A6063", 120, 850),
    ("六角ボルト M8×30", 500, 42),
    ("防錆スプレー 420ml", 24, 980),
    ("六角ナット M8", 500, 15),
    ("防錆紙 A4判", 10, 1250),
)


def article_content(seed: int) -> Content:
    """The order of the `article` preset; only the coined katakana company depends on the seed."""
    lines = tuple(
        Line(item, "", Decimal(n), "", Decimal(price), Decimal(n * price))
        for item, n, price in _LINES
    )
    taxes, subtotal, tax, total = close(lines, "floor")
    rng = stream(seed, "article")
    buyer = replace(
        draw_company(rng, NameKind.PRONOUNCEABLE), industry="", legal="株式会社", legal_first=True
    )
    supplier = draw_company(rng, NameKind.DICTIONARY)
    return Content(
        order_no="PO-2026-0412",
        order_date=date(2026, 4, 12),
        due_date=date(2026, 4, 30),
        buyer=buyer,
        supplier=supplier,
        postal="144-0052",
        address="東京都大田区蒲田5-13-14",
        tel="03-0123-4567",
        fax="03-0123-4568",
        person="",
        department="",
        delivery_place="",
        payment_terms="",
        remarks="",
        lines=lines,
        taxes=taxes,
        subtotal=subtotal,
        tax=tax,
        total=total,
    )


def make_article(seed: int, *, severity: int = 2, marks: bool = False) -> Sheet:
    """The sheet of a published test of vision-language models: exactly 20 scored items.

    Seven of the head (title, number, date, company, phone, address, 検収), the names of the first
    four lines, quantity, price and amount of the first two, and the three sums.
    """
    content, wording = article_content(seed), Wording()
    layout = LAYOUTS["article"]
    sheet = build(
        seed, content, wording, layout, fonts.packaged()[0], severity=severity, marks=marks
    )
    head = ("order_no", "order_date", "buyer", "tel", "address")
    refs = [Ref(n) for n in head] + [Ref("item", r) for r in range(4)]
    refs += [Ref(n, r) for r in range(2) for n in ("quantity", "unit_price", "amount")]
    refs += [Ref(n) for n in ("subtotal", "tax", "total")]
    items = [(Ref("title"), wording.labels["title"]), (Ref("acceptance"), "検収")]
    items += [(r, sheet.truth.prints[r][0].text) for r in refs]
    return scored(sheet, tuple(items))
