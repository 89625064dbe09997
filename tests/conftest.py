"""Pages drawn in code: an order form in Japanese, and the ways a fax treats it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Gray = NDArray[np.uint8]
ITEMS = (
    "六角穴付ボルト M6×20",
    "ステンレス丸棒 SUS303",
    "光ファイバセンサ FU-35FA",
    "ケーブルグランド",
)


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(files("pylopdf_fonts_jp") / "NotoSansJP-Regular.otf"), size)


@dataclass(frozen=True)
class Drawing:
    """Functions that draw; handed to tests as one fixture."""

    def blank(self, width: int = 1728, height: int = 2376) -> Gray:
        return np.full((height, width), 255, np.uint8)

    def text(self, image: Gray, xy: tuple[int, int], text: str, size: int = 32) -> Gray:
        canvas = Image.fromarray(image)
        ImageDraw.Draw(canvas).text(xy, text, fill=0, font=font(size))
        return np.array(canvas)

    def order(
        self,
        seed: int = 0,
        *,
        width: int = 1728,
        height: int = 2376,
        rows: int = 8,
        ruled: bool = True,
    ) -> Gray:
        """An upright purchase order at about 204 dpi, 1-bit values."""
        rng = np.random.default_rng(seed)
        canvas = Image.new("L", (width, height), 255)
        draw = ImageDraw.Draw(canvas)
        left, right, top = 130, width - 130, 520
        draw.text((width // 2 - 140, 150), "御 注 文 書", fill=0, font=font(64))
        draw.text((left, 290), "大塚製作所株式会社 御中", fill=0, font=font(40))
        draw.text((right - 420, 290), f"注文番号:{rng.integers(10**7)}", fill=0, font=font(30))
        draw.text((right - 420, 340), "発行日:2026年4月1日", fill=0, font=font(30))
        draw.text(
            (left, 440),
            "下記の通り発注致しますので、よろしくお願い申し上げます。",
            fill=0,
            font=font(30),
        )
        columns = (left, left + 90, right - 620, right - 420, right - 220, right)
        for i in range(rows):
            y = top + 64 * i
            amount = f"{rng.integers(10**6):,}"
            cells = (str(i + 1), ITEMS[int(rng.integers(4))], str(rng.integers(900)), "個", amount)
            for x, cell in zip(columns, cells, strict=False):
                draw.text((x + 14, y + 12), cell, fill=0, font=font(30))
            if ruled:
                draw.line((left, y, right, y), fill=0, width=3)
        if ruled:
            bottom = top + 64 * rows
            draw.line((left, bottom, right, bottom), fill=0, width=3)
            for x in columns:
                draw.line((x, top, x, bottom), fill=0, width=3)
        return np.where(np.array(canvas) < 128, 0, 255).astype(np.uint8)

    def vertical(self) -> Gray:
        """A page in vertical writing: columns from right to left."""
        canvas = Image.new("L", (1728, 2376), 255)
        draw = ImageDraw.Draw(canvas)
        sentence = "拝啓時下益々御清栄の事と御慶び申し上げます下記の通り注文致します"
        for column in range(14):
            for i, char in enumerate(sentence):
                draw.text((1480 - 90 * column, 200 + 46 * i), char, fill=0, font=font(40))
        return np.where(np.array(canvas) < 128, 0, 255).astype(np.uint8)

    def speckled(self, image: Gray, seed: int, share: float = 0.002) -> Gray:
        """Dust: single pixels and clots of a few, black on paper and white on ink."""
        rng = np.random.default_rng(seed)
        dusty = image.copy()
        height, width = image.shape
        count = int(share * image.size)
        y, x = rng.integers(0, height - 1, count), rng.integers(0, width - 1, count)
        dusty[y, x] = 255 - dusty[y, x]
        dusty[y[::3] + 1, x[::3]] = 0
        return dusty

    def streak(self, image: Gray, x: int, top: int = 0, bottom: int | None = None) -> Gray:
        streaked = image.copy()
        streaked[top:bottom, x : x + 3] = 0
        return streaked

    def turned(self, image: Gray, degrees: float) -> Gray:
        """Turn clockwise about the centre, 1-bit, without a helper of the code under test."""
        turned = Image.fromarray(image).rotate(
            -degrees, resample=Image.Resampling.BICUBIC, fillcolor=255
        )
        return np.where(np.array(turned) < 128, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def drawing() -> Drawing:
    return Drawing()
