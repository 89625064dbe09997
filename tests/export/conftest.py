from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest

from ocr_pipeline.engines.base import Char, Reading, ReadingStatus, Word
from ocr_pipeline.export.record import (
    DocumentStatus,
    PageFlag,
    PageRecord,
    Record,
    Transmission,
)
from ocr_pipeline.orders.model import (
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Repair,
    Tax,
    Value,
)

QUAD = ((10.0, 20.5), (110.0, 20.5), (110.0, 44.0), (10.0, 44.0))
SUM = Flag("line_amount", "数量×単価が金額と合いません", "quantity times price is not the amount")


@dataclass(frozen=True)
class Field:
    name: str
    label: str
    kind: str


@dataclass(frozen=True)
class Form:
    fields: tuple[Field, ...] = (
        Field("order_no", "発注番号", "code"),
        Field("order_date", "発注日", "date"),
        Field("buyer", "発注元", "name"),
        Field("tel", "電話番号", "phone"),
        Field("total", "合計", "money"),
    )
    rows: tuple[Field, ...] = (
        Field("item", "品名", "text"),
        Field("quantity", "数量", "number"),
        Field("unit_price", "単価", "money"),
        Field("tax_rate", "税率", "percent"),
    )


def read(value: Value, raw: str = "", *flags: Flag, page: int = 1) -> FieldValue:
    return FieldValue(
        FieldState.READ, raw or str(value), value, 0.97, flags=flags, page=page, quad=QUAD
    )


@pytest.fixture
def form() -> Form:
    return Form()


@pytest.fixture
def order() -> Order:
    return Order(
        fields={
            "order_no": read("0012-A"),
            "order_date": read(date(2024, 3, 5), "令和6年3月5日"),
            "buyer": read("=HYPERLINK(1)"),
            "tel": read("03-1234-5678"),
            "total": FieldValue(FieldState.UNREADABLE, "¥?", flags=(SUM,), page=1, quad=QUAD),
        },
        rows=(
            {
                "item": read("ボルト"),
                "quantity": read(Decimal(1200)),
                "unit_price": FieldValue(
                    FieldState.READ,
                    "12.5O",
                    Decimal("12.50"),
                    0.4,
                    candidates=(Candidate(Decimal("12.50"), 2), Candidate(Decimal("12.8"), 1)),
                    repairs=(Repair("digit_o", "12.5O", "12.50"),),
                    flags=(SUM,),
                    page=2,
                ),
                "tax_rate": read(Decimal(10)),
            },
            {
                "item": read("-値引"),
                "quantity": FieldValue(FieldState.BLANK, page=1),
                "unit_price": read(Decimal(-500), "▲500"),
                "tax_rate": FieldValue(),
            },
        ),
        taxes=(Tax(read(Decimal(10)), read(Decimal(15000)), read(Decimal(1500), "", SUM)),),
        echoes={"total": (read(Decimal(16500), "", SUM),)},
        flags=(Flag("total_twice", "合計が二か所で違います", "the total differs"),),
        pages=(1, 2),
    )


@pytest.fixture
def record(order: Order) -> Record:
    return Record(
        source="受注/ファクス 1.tif",
        status=DocumentStatus.OK,
        pages=(
            PageRecord(1, (1728, 1147), (204.0, 98.0), 180, 0.93, -1.25),
            PageRecord(2, flags=(PageFlag("orientation_unsure", "向きが確かではありません"),)),
        ),
        orders=(order,),
        readings=(
            Reading(
                "ppocr",
                words=(Word("発注書", 0.9, QUAD, (("発注害", 0.1),), (Char("発", 0.9),) * 3),),
                status=ReadingStatus.OK,
                stats={"seconds": 1.5},
            ),
        ),
        transmission=(Transmission(1, "ABC商事", "24-03-05 10:12", "P.01/02", "…"),),
        markdown="# 発注書\n",
        stats={"seconds": 2.25},
    )


@pytest.fixture
def others() -> list[Record]:
    return [
        Record("blank.tif", DocumentStatus.BLANK),
        Record("letter.pdf", DocumentStatus.NOT_AN_ORDER),
        Record("cut.pdf", DocumentStatus.INCOMPLETE),
        Record("burnt.png", DocumentStatus.DAMAGED),
        Record("broken.pdf", DocumentStatus.FAILED, "the file is truncated"),
    ]
