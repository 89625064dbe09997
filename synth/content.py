"""What an order says, before anybody decides how it looks: companies, lines, sums that close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from types import MappingProxyType

import numpy as np

from synth import lexicon
from synth.names import Company, NameKind, draw_company
from synth.seeds import chance, pick

ROUNDING = {"floor": ROUND_FLOOR, "half_up": ROUND_HALF_UP, "ceiling": ROUND_CEILING}
"""How a fraction of a yen is dealt with; the law leaves the choice to the company."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an order; None is a cell that is left blank."""

    item: str
    spec: str = ""
    quantity: Decimal | None = None
    unit: str = ""
    unit_price: Decimal | None = None
    amount: Decimal | None = None
    tax_rate: int = 10
    remarks: str = ""


@dataclass(frozen=True, slots=True)
class SenderError:
    """A mistake that the sender made, planted on purpose.

    Attributes:
        kind: `line_amount`, `total`, `tax`, `due_before_order` or `weekday`.
        name: the field that is wrong.
        row: index of the line, None for a field of the order.
        correct: what it should have been.
    """

    kind: str
    name: str
    row: int | None
    correct: str


@dataclass(frozen=True)
class Content:
    """An order as values.

    Attributes:
        taxes: tax rate in percent → (taxable amount, tax).
        rounding: one of `ROUNDING`.
        errors: the sender's planted mistakes; the values here are the wrong ones, as printed.
    """

    order_no: str
    order_date: date
    due_date: date
    buyer: Company
    supplier: Company
    postal: str
    address: str
    tel: str
    fax: str
    person: str
    department: str
    delivery_place: str
    payment_terms: str
    remarks: str
    lines: tuple[Line, ...]
    taxes: Mapping[int, tuple[Decimal, Decimal]]
    subtotal: Decimal
    tax: Decimal
    total: Decimal
    rounding: str = "floor"
    errors: tuple[SenderError, ...] = field(default=())


def to_yen(value: Decimal, rounding: str) -> Decimal:
    """Round to whole yen."""
    return value.quantize(Decimal(1), rounding=ROUNDING[rounding])


def close(
    lines: tuple[Line, ...], rounding: str
) -> tuple[Mapping[int, tuple[Decimal, Decimal]], Decimal, Decimal, Decimal]:
    """Taxes, subtotal, tax and total of some lines: tax once for each rate, as the law asks."""
    taxes: dict[int, tuple[Decimal, Decimal]] = {}
    for rate in sorted({line.tax_rate for line in lines}, reverse=True):
        base = sum(
            (line.amount or Decimal(0) for line in lines if line.tax_rate == rate), Decimal(0)
        )
        taxes[rate] = base, to_yen(base * rate / 100, rounding)
    subtotal = sum((b for b, _ in taxes.values()), Decimal(0))
    tax = sum((t for _, t in taxes.values()), Decimal(0))
    return MappingProxyType(taxes), subtotal, tax, subtotal + tax


def _price(rng: np.random.Generator, goods: lexicon.Goods) -> Decimal:
    """Log-uniform between the plausible bounds; cheap things may cost fractions of a yen."""
    value = float(np.exp(rng.uniform(np.log(goods.low), np.log(goods.high))))
    if value < 60 and chance(rng, 0.4):
        return Decimal(round(value * 4)) / 4
    step = 10 ** max(0, int(np.log10(value)) - (2 if chance(rng, 0.3) else 1))
    return Decimal(max(1, round(value / step) * step))


def _quantity(rng: np.random.Generator, price: Decimal, unit: str) -> Decimal:
    if unit in ("式", "回"):
        return Decimal(1)
    if unit in ("kg", "m", "L") and chance(rng, 0.3):
        return Decimal(int(rng.integers(5, 600))) / 10
    ceiling = 12 if price > 20000 else 60 if price > 3000 else 400 if price > 300 else 5000
    value = float(np.exp(rng.uniform(0, np.log(ceiling))))
    step = 10 ** max(0, int(np.log10(value)) - (1 if chance(rng, 0.4) else 0))
    return Decimal(max(1, round(value / step) * step))


def _line(rng: np.random.Generator, goods: lexicon.Goods, rounding: str) -> Line:
    price = _price(rng, goods)
    quantity = _quantity(rng, price, goods.unit)
    blank_price = goods.unit == "式" and chance(rng, 0.4)
    return Line(
        item=goods.item,
        spec=pick(rng, goods.specs),
        quantity=quantity,
        unit=goods.unit,
        unit_price=None if blank_price else price,
        amount=to_yen(price * quantity, rounding),
        tax_rate=goods.tax,
        remarks=pick(rng, lexicon.phrases("row_remark")) if chance(rng, 0.25) else "",
    )


def _lines(rng: np.random.Generator, count: int, rounding: str) -> tuple[Line, ...]:
    """Lines of one or two trades; some repeat the item above in another size, some are rebates."""
    trades = lexicon.trades()
    names = [t for t in trades if t != "halfwidth"]
    chosen = ["halfwidth"] if chance(rng, 0.04) else [pick(rng, names)]
    if chance(rng, 0.45):
        chosen.append(pick(rng, names))
    stock = [g for t in chosen for g in trades[t]]
    order = rng.permutation(len(stock))
    lines: list[Line] = []
    taken = 0
    while len(lines) < count:
        goods = stock[int(order[taken % len(stock)])]
        previous = lines[-1] if lines else None
        if previous and len(goods.specs) > 1 and chance(rng, 0.15):
            goods = next((g for g in stock if g.item == previous.item), goods)
        line = _line(rng, goods, rounding)
        taken += 1
        if previous and (line.item, line.spec) == (previous.item, previous.spec):
            continue
        lines.append(line)
    if count > 3 and chance(rng, 0.18):
        rest = sum((x.amount or Decimal(0) for x in lines[:-1]), Decimal(0))
        rebate = -max(Decimal(1), (rest / 40).quantize(Decimal(1)) // 100 * 100)
        word = pick(rng, ("出精値引", "値引き", "特別値引"))
        rate = lines[0].tax_rate
        lines[-1] = Line(word, "", Decimal(1), "式", None, rebate, rate)
    return tuple(lines)


def _order_no(rng: np.random.Generator, when: date) -> str:
    n = int(rng.integers(1, 10000))
    letter = pick(rng, list("ABDHKMNPRST"))
    return pick(
        rng,
        (
            f"{when:%y%m}-{n % 1000:03d}",
            f"PO-{when:%Y}-{n:04d}",
            f"{letter}{n % 100:02d}{int(rng.integers(1000, 10000))}",
            f"{letter}-{when:%y%m%d}-{n % 100:02d}",
            f"{int(rng.integers(100000, 1000000))}",
            f"HC{when:%y}{n:05d}",
        ),
    )


def _phone(rng: np.random.Generator, area: str) -> tuple[str, str]:
    """Ten digits; after the area code comes a 0, as in no real number."""
    middle = f"0{int(rng.integers(0, 10 ** (5 - len(area)))):0{5 - len(area)}d}"
    tel = int(rng.integers(0, 9999))
    fax = tel + 1 if chance(rng, 0.5) else int(rng.integers(0, 10000))
    return f"{area}-{middle}-{tel:04d}", f"{area}-{middle}-{fax:04d}"


def draw_content(
    rng: np.random.Generator,
    *,
    lines: tuple[int, int] = (3, 12),
    name_kinds: tuple[NameKind, ...] = tuple(NameKind),
) -> Content:
    """An order drawn from the lexicons that closes arithmetically.

    Args:
        rng: where all choices come from.
        lines: fewest and most lines.
        name_kinds: the kinds that the two company names are drawn from.
    """
    when = date(2025, 1, 6) + timedelta(days=int(rng.integers(0, 1080)))
    due = when + timedelta(days=int(rng.integers(3, 60)))
    rounding = pick(rng, ("floor", "floor", "floor", "half_up", "ceiling"))
    place = pick(rng, lexicon.places())
    tel, fax = _phone(rng, place.area_code)
    body = _lines(rng, int(rng.integers(lines[0], lines[1] + 1)), rounding)
    taxes, subtotal, tax, total = close(body, rounding)
    block = [int(rng.integers(1, n)) for n in (9, 30, 30)]
    surname = pick(rng, lexicon.phrases("surname"))
    given = pick(rng, lexicon.phrases("given"))
    return Content(
        order_no=_order_no(rng, when),
        order_date=when,
        due_date=due,
        buyer=draw_company(rng, pick(rng, name_kinds)),
        supplier=draw_company(rng, pick(rng, name_kinds)),
        postal=f"{place.postal}-{int(rng.integers(0, 10000)):04d}",
        address=f"{place.city}{pick(rng, place.towns)}{'-'.join(map(str, block))}",
        tel=tel,
        fax=fax,
        person=surname if chance(rng, 0.5) else f"{surname} {given}",
        department=pick(rng, lexicon.phrases("department")),
        delivery_place=pick(rng, lexicon.phrases("delivery")),
        payment_terms=pick(rng, lexicon.phrases("payment")),
        remarks=pick(rng, lexicon.phrases("remark")),
        lines=body,
        taxes=taxes,
        subtotal=subtotal,
        tax=tax,
        total=total,
        rounding=rounding,
    )
