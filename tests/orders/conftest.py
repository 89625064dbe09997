"""Forms as a vision-language model writes them, and cells with places as a box engine has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from ocr_pipeline.geometry import Quad, quad_of_box, rotation, transform, translation
from ocr_pipeline.orders.extract import extract
from ocr_pipeline.orders.model import Order
from ocr_pipeline.orders.schema import Schema, load_schema
from ocr_pipeline.orders.transmission import Transmission
from ocr_pipeline.tables.markdown import parse
from ocr_pipeline.tables.transcript import Cell, Table, Transcript

WIDTH, HEIGHT = 1728, 2376
"""Pixels of the page that cells are placed on."""

ORDER = """\
# 発注書

株式会社クケタ 御中

発注番号: 2602-305

発注日: 2026年2月9日(月)

納期: 2026/3/3

大塚製作所株式会社

〒144-0052 東京都大田区蒲田5-11-13

TEL: 03-1234-5678  FAX: 03-1234-5679

ご発注金額: ¥2,200

| No | 品名 | 規格 | 数量 | 単位 | 単価 | 金額 |
|---|---|---|---|---|---|---|
| 1 | 樹脂カバー | PC-0981-B | 10 | 個 | 100 | 1,000 |
| 2 | 電磁弁 | VF3130-5G1 | 2 | 台 | 500 | 1,000 |
| | 以下余白 | | | | | |
| | | | | | 小計 | 2,000 |
| | | | | | 消費税 | 200 |
| | | | | | 合計 | 2,200 |

備考: 分納不可
"""


def text_cell(text: str, left: float, top: float, *, height: float = 30, page: int = 1) -> Cell:
    """A piece of text on the page; full-width characters are as wide as they are high."""
    width = sum(height if ord(c) > 0xFF else height / 2 for c in text)
    return Cell(text, 0.99, quad_of_box((left, top, left + width, top + height)), page=page)


def turned(quad: Quad, degrees: int) -> Quad:
    """A quad of an upright page as it lies in a file whose page was turned clockwise."""
    width, height = (WIDTH, HEIGHT) if degrees % 180 == 0 else (HEIGHT, WIDTH)
    about = rotation(degrees, (WIDTH / 2, HEIGHT / 2))
    return transform(quad, translation((width - WIDTH) / 2, (height - HEIGHT) / 2) @ about)


@dataclass(frozen=True)
class Forms:
    """Helpers that make and read forms; handed to tests as one fixture."""

    schema: Schema
    order_text: str = ORDER

    def read(self, *pages: str) -> tuple[tuple[Order, ...], tuple[Transmission, ...]]:
        """What is extracted from pages of Markdown."""
        return extract([parse(t, page=i) for i, t in enumerate(pages, 1)], self.schema)

    def one(self, *pages: str) -> Order:
        """The only order in pages of Markdown."""
        (order,), _ = self.read(*pages)
        return order

    def cell(self, text: str, left: float, top: float, *, height: float = 30) -> Cell:
        return text_cell(text, left, top, height=height)

    def table(self, rows: Sequence[Sequence[str]], left: float = 100, top: float = 800) -> Table:
        """A table whose cells stand 220 pixels apart and lines 50; the header first."""
        cells = [
            tuple(
                text_cell(text, left + 220 * x, top + 50 * y) if text else Cell()
                for x, text in enumerate(row)
            )
            for y, row in enumerate(rows)
        ]
        return Table(cells[0], tuple(cells[1:]))

    def turn(self, transcript: Transcript, degrees: int) -> Transcript:
        """The same transcript of a page that lies turned clockwise in its file."""

        def turn(cell: Cell) -> Cell:
            return cell if cell.quad is None else replace(cell, quad=turned(cell.quad, degrees))

        return replace(
            transcript,
            lines=tuple(map(turn, transcript.lines)),
            tables=tuple(
                Table(tuple(map(turn, t.header)), tuple(tuple(map(turn, r)) for r in t.rows))
                for t in transcript.tables
            ),
        )


@pytest.fixture(scope="session")
def schema() -> Schema:
    return load_schema("purchase_order")


@pytest.fixture(scope="session")
def forms(schema: Schema) -> Forms:
    return Forms(schema)
