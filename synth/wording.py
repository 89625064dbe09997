"""How values are put into words: date notations, money, labels. One choice of each for a sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from types import MappingProxyType

import numpy as np

from synth.names import Company
from synth.seeds import chance, pick

_WEEKDAYS = "月火水木金土日"


def _era(when: date) -> str:
    year = when.year - 2018
    return "元" if year == 1 else str(year)


DATE_NOTATIONS: Mapping[str, Callable[[date], str]] = MappingProxyType(
    {
        "kanji": lambda d: f"{d.year}年{d.month}月{d.day}日",
        "slash": lambda d: f"{d:%Y/%m/%d}",
        "hyphen": lambda d: f"{d:%Y-%m-%d}",
        "dot": lambda d: f"{d.year}.{d.month}.{d.day}",
        "era": lambda d: f"令和{_era(d)}年{d.month}月{d.day}日",
        "era_short": lambda d: f"R{d.year - 2018}.{d.month}.{d.day}",
        "weekday": lambda d: f"{d.year}年{d.month}月{d.day}日({_WEEKDAYS[d.weekday()]})",
    }
)
"""Name → how a date is written."""

_FULL_WIDTH = str.maketrans("0123456789,.-¥%", "０１２３４５６７８９，．－￥％")

_LABELS: dict[str, tuple[str, ...]] = {
    "title": ("発注書", "注文書", "御注文書", "発注書兼注文請書", "購入注文書"),
    "order_no": ("注文番号", "発注番号", "発注No.", "注文書No.", "オーダーNo."),
    "order_date": ("発注日", "注文日", "発行日", "日付"),
    "due_date": ("納期", "希望納期", "納入期日", "納期限"),
    "tel": ("TEL", "電話", "Tel.", "電話番号"),
    "fax": ("FAX", "ＦＡＸ", "Fax.", "FAX番号"),
    "person": ("担当", "担当者", "発注担当", "ご担当"),
    "delivery_place": ("納入場所", "納品場所", "受渡場所", "納入先"),
    "payment_terms": ("支払条件", "お支払条件", "取引条件"),
    "subtotal": ("小計", "合計(税抜)", "税抜金額"),
    "tax": ("消費税", "消費税額", "消費税等", "税額"),
    "total": ("合計", "総合計", "税込合計", "合計金額"),
    "remarks": ("備考", "摘要", "特記事項", "連絡事項"),
    "grand": ("合計金額", "ご発注金額", "発注金額", "注文金額"),
    "column.no": ("No", "№", "項", "行"),
    "column.item": ("品名", "商品名", "品目", "品　名"),
    "column.spec": ("規格", "型番・仕様", "仕様", "規格・寸法"),
    "column.item_spec": ("品名・規格", "品名／仕様", "品名及び規格"),
    "column.quantity": ("数量", "数　量", "発注数"),
    "column.unit": ("単位", "単位"),
    "column.unit_price": ("単価", "単価(円)", "単　価"),
    "column.amount": ("金額", "金額(円)", "金　額"),
    "column.tax_rate": ("税率", "税率"),
    "column.remarks": ("備考", "摘要"),
}


@dataclass(frozen=True)
class Wording:
    """Every choice of words of one sheet.

    Attributes:
        dates: key of `DATE_NOTATIONS`.
        yen: money as `plain` (1,200), `sign` (¥1,200) or `yen` (1,200円).
        negative: what stands before a negative amount, `▲`, `△`, `-`, or `()` around it.
        company: form of the legal part, see `Company.written`.
        full_width: digits in full width (１，２００).
        ditto: repeat an item name as 〃.
        labels: name → label.
        wrong_weekday: print the weekday after the right one (a planted mistake).
    """

    dates: str = "kanji"
    yen: str = "plain"
    negative: str = "▲"
    company: str = "long"
    full_width: bool = False
    ditto: bool = False
    colon: str = "："
    honorific: str = "御中"
    labels: Mapping[str, str] = field(default_factory=lambda: {k: v[0] for k, v in _LABELS.items()})
    wrong_weekday: bool = False

    def date(self, when: date, *, due: bool = False) -> str:
        """A date in this sheet's notation."""
        if due and self.wrong_weekday:
            wrong = _WEEKDAYS[(when.weekday() + 1) % 7]
            return f"{DATE_NOTATIONS['kanji'](when)}({wrong})"
        text = DATE_NOTATIONS[self.dates](when)
        return self.digits(text) if self.dates in ("kanji", "era") else text

    def digits(self, text: str) -> str:
        """Full width where the sheet wants it."""
        return text.translate(_FULL_WIDTH) if self.full_width else text

    def number(self, value: Decimal) -> str:
        """A quantity or a price without sign of currency: 1,200 or 12.50, as money 0.5 → 0.50."""
        digits = f"{abs(value):,f}" if value == value.to_integral() else f"{abs(value):,.2f}"
        if value == value.to_integral():
            digits = digits.split(".", maxsplit=1)[0]
        if value >= 0:
            return self.digits(digits)
        text = f"({digits})" if self.negative == "()" else self.negative + digits
        return self.digits(text)

    def quantity(self, value: Decimal) -> str:
        """A quantity: no trailing zeros."""
        whole = value == value.to_integral()
        return self.digits(f"{int(value):,}" if whole else f"{value.normalize():,f}")

    def money(self, value: Decimal) -> str:
        """An amount of money."""
        text = self.number(value)
        if self.yen == "yen":
            return text + "円"
        if self.yen == "sign":
            sign = self.digits("¥")
            return text[0] + sign + text[1:] if value < 0 and self.negative != "()" else sign + text
        return text

    def name(self, company: Company) -> str:
        """A company name with its legal form as this sheet writes it."""
        return company.written(self.company)


def draw_wording(rng: np.random.Generator, *, wrong_weekday: bool = False) -> Wording:
    """The words of one sheet; common ways are common."""
    return Wording(
        dates=pick(rng, tuple(DATE_NOTATIONS)),
        yen=pick(rng, ("plain", "plain", "plain", "sign", "yen")),
        negative=pick(rng, ("▲", "▲", "△", "-", "()")),
        company=pick(rng, ("long", "long", "long", "ligature", "bracket")),
        full_width=chance(rng, 0.1),
        ditto=chance(rng, 0.3),
        colon=pick(rng, ("：", "：", ":", "　")),
        honorific=pick(rng, ("御中", "御中", "御中", "様")),
        labels=MappingProxyType({name: pick(rng, words) for name, words in _LABELS.items()}),
        wrong_weekday=wrong_weekday,
    )


def label_alphabet() -> str:
    """Every character a label may hold."""
    return "".join(sorted({c for words in _LABELS.values() for w in words for c in w}))
