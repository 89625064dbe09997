from __future__ import annotations

import numpy as np
import pytest

from ocr_pipeline.pages.clean import despeckle

DPI = 204.0


def test_lone_specks_go(drawing):
    dusty = drawing.blank(600, 600)
    dusty[100:103, 200:203] = 0
    dusty[400, 50] = 0
    assert (despeckle(dusty, DPI) == 255).all()


@pytest.mark.parametrize("size", [26, 32, 44])
@pytest.mark.parametrize(
    "text",
    [
        "パパ ガギグゲゴ バビブ",
        "¥1,234,567.50",
        "R8.4.1",
        "担当:山田、佐藤。A・B;20°C",
        "㈱ 12.5%",
        "…………",
    ],
)
def test_dakuten_points_and_commas_stay(drawing, text, size):
    page = drawing.text(drawing.blank(900, 200), (40, 60), text, size)
    assert np.array_equal(despeckle(page, DPI) < 128, page < 128)


def test_an_order_loses_its_dust_and_nothing_else(drawing):
    order = drawing.order(0)
    dusty = drawing.speckled(order, 0, 0.001)
    cleaned = despeckle(dusty, DPI)
    ink = order < 128
    before, after = (dusty < 128) & ~ink, (cleaned < 128) & ~ink
    assert after.sum() < 0.5 * before.sum()
    assert (cleaned[ink] < 128).sum() >= 0.999 * (dusty[ink] < 128).sum()


def test_the_argument_is_not_changed(drawing):
    dusty = drawing.speckled(drawing.blank(300, 300), 0)
    before = dusty.copy()
    despeckle(dusty, DPI)
    assert np.array_equal(dusty, before)


@pytest.mark.parametrize("shape", [(1, 1), (5, 300)])
def test_tiny_images(shape):
    assert despeckle(np.full(shape, 255, np.uint8), DPI).shape == shape
