from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char
from ocr_pipeline.engines.lines import DARK
from ocr_pipeline.engines.strips import (
    Strip,
    apart,
    padded,
    placed,
    reading_order,
    squeezed,
    strips_of,
)
from ocr_pipeline.geometry import box_of, quad_of_box, rotation, transform

LINE = "下記の通り発注致しますので、よろしくお願い申し上げます"


@pytest.fixture(scope="module")
def page(drawing):
    return drawing.blank(1400, 300)


def told(text):
    return [Char(c, 0.9) for c in text]


def line_of(drawing, page, text, size=32):
    image = drawing.text(page, (60, 100), text, size)
    rows, columns = np.nonzero(image < DARK)
    pad = 6
    return image, quad_of_box(
        (columns.min() - pad, rows.min() - pad, columns.max() + pad, rows.max() + pad)
    )


class TestStrips:
    def test_a_short_line_is_one(self, drawing, page):
        image, quad = line_of(drawing, page, "六角穴付ボルト")
        (strip,) = strips_of(image, quad, 32, 512)
        assert strip.image.shape[0] == 32
        assert strip.quad == quad
        ink = (strip.image < DARK).any(axis=0)
        assert not ink[:2].any()
        assert not ink[-2:].any()

    def test_a_long_one_is_cut_between_characters(self, drawing, page):
        image, quad = line_of(drawing, page, LINE)
        strips = strips_of(image, quad, 32, 256)
        assert len(strips) > 2
        assert all(s.image.shape[1] <= 256 for s in strips)
        for s in strips[1:]:
            assert not (s.image[:, 0] < DARK).any()
        whole = strips_of(image, quad, 32, 0)[0].image
        assert (np.hstack([s.image for s in strips]) == whole).all()
        # The parts lie side by side.
        rights = [box_of(s.quad)[2] for s in strips]
        lefts = [box_of(s.quad)[0] for s in strips]
        assert lefts[1:] == pytest.approx(rights[:-1])
        assert rights[-1] == pytest.approx(box_of(quad)[2])

    @pytest.mark.parametrize("hollow", ["い", "ル", "川", "リ"])
    @pytest.mark.parametrize("longest", [300, 340, 384, 420])
    def test_the_paper_inside_a_character_is_no_gap(self, drawing, page, hollow, longest):
        image, quad = line_of(drawing, page, f"漢{hollow}" * 9)
        whole, *_ = strips_of(image, quad, 64)
        strips = strips_of(image, quad, 64, longest)
        assert len(strips) > 1
        # Both characters fill an em: cuts lie near whole ems of the 18 that the ink spans.
        found = np.flatnonzero((whole.image < DARK).any(axis=0))
        em = (found[-1] - found[0]) / 18
        for cut in np.cumsum([s.image.shape[1] for s in strips])[:-1]:
            assert abs((cut - found[0]) / em - round((cut - found[0]) / em)) < 0.25

    def test_a_wide_gap_is_where_it_is_cut(self, drawing, page):
        image, quad = line_of(drawing, page, "発注番号　　　　納期は五月")
        left, right = strips_of(image, quad, 32, 270)
        assert apart(left, right, "号")

    def test_no_space_where_a_line_was_cut_within_a_sentence(self, drawing, page):
        image, quad = line_of(drawing, page, LINE)
        left, right = strips_of(image, quad, 32, 512)
        assert not apart(left, right, "、")
        blank = Strip(np.full_like(left.image, 255), left.quad)
        assert apart(blank, right, "")

    def test_ink_from_end_to_end_is_cut_all_the_same(self, page):
        image = page.copy()
        image[100:130, 60:1300] = 0
        strips = strips_of(image, quad_of_box((50, 95, 1310, 135)), 32, 128)
        assert sum(s.image.shape[1] for s in strips) == pytest.approx(1260 * 32 / 40, abs=1)
        assert all(s.image.shape[1] <= 128 for s in strips)

    def test_a_skewed_line_comes_out_upright(self, drawing, page):
        image, quad = line_of(drawing, page, "大塚製作所株式会社")
        turned = drawing.turned(image, 2.0)
        height, width = image.shape
        skewed = transform(quad, rotation(2.0, (width / 2, height / 2)))
        (level,), (strip,) = strips_of(image, quad, 32), strips_of(turned, skewed, 32)
        difference = np.abs(level.image.astype(int) - strip.image[:, : level.image.shape[1]])
        assert difference.mean() < 25

    def test_the_resolution_of_the_page_is_kept_without_a_height(self, drawing, page):
        image, quad = line_of(drawing, page, "ボルト")
        (strip,) = strips_of(image, quad)
        left, top, right, bottom = box_of(quad)
        assert strip.image.shape == (bottom - top, right - left)

    def test_a_box_that_ends_in_a_character_is_made_longer(self, drawing, page):
        image, quad = line_of(drawing, page, "ボルト国")
        left, top, right, bottom = box_of(quad)
        (strip,) = strips_of(image, quad_of_box((left, top, right - 18, bottom)), 32)
        assert right - 10 < box_of(strip.quad)[2] <= right
        assert box_of(strip.quad)[0] == left

    def test_a_border_of_a_cell_makes_no_box_longer(self, drawing, page):
        image, quad = line_of(drawing, page, "ボルト")
        right = box_of(quad)[2]
        image[:, int(right) - 2 : int(right) + 3] = 0
        (strip,) = strips_of(image, quad, 32)
        assert strip.quad == quad

    @pytest.mark.parametrize("box", [(5, 5, 5, 5), (-20, -20, 10, 10), (1390, 290, 1500, 400)])
    def test_boxes_of_no_size_or_beyond_the_page(self, page, box):
        (strip,) = strips_of(page, quad_of_box(box), 32, 512)
        assert strip.image.shape[0] == 32
        assert (strip.image == 255).all()

    def test_paper_is_added_up_to_the_next_width(self):
        image = np.zeros((32, 130), np.uint8)
        wide = padded(image, (128, 256, 512))
        assert wide.shape == (32, 256)
        assert (wide[:, :130] == 0).all()
        assert (wide[:, 130:] == 255).all()
        assert padded(image, ()).shape == padded(image, (64,)).shape == (32, 130)

    def test_rows_are_averaged(self):
        image = np.repeat([[0], [100], [200], [255]], 7, axis=1).astype(np.uint8)
        assert squeezed(image, 2)[:, 0].tolist() == [50, 228]
        assert squeezed(image, 2).shape == (2, 7)
        assert squeezed(image, 1) is image


class TestReadingOrder:
    def test_lines_from_the_top_each_from_the_left(self):
        boxes = [(500, 12, 600, 40), (10, 60, 90, 90), (10, 10, 90, 40), (200, 55, 300, 95)]
        assert reading_order([quad_of_box(b) for b in boxes]) == [2, 0, 1, 3]

    def test_a_sloping_line_stays_one(self):
        quads = [quad_of_box((x, 100 + x * 0.04, x + 80, 130 + x * 0.04)) for x in (900, 0, 450)]
        assert reading_order(quads) == [1, 2, 0]

    @given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), max_size=12))
    def test_every_box_once(self, corners):
        quads = [quad_of_box((x, y, x + 50, y + 30)) for x, y in corners]
        assert sorted(reading_order(quads)) == list(range(len(quads)))


class TestPlaced:
    @pytest.mark.parametrize(
        "text", [LINE, "六角穴付ボルト M6×20", "¥1,234,567", "電話 03-1234-5678"]
    )
    def test_on_their_ink(self, drawing, page, text):
        image, quad = line_of(drawing, page, text)
        (strip,) = strips_of(image, quad, 48)
        chars = placed(told(text), strip)
        assert "".join(c.text for c in chars) == text
        boxes = [box_of(c.quad) for c in chars if c.quad]
        assert [c.quad is None for c in chars] == [c == " " for c in text]
        # Each character drawn alone, where the line before it ends.
        for i, (left, top, right, bottom) in enumerate(boxes):
            at = [k for k, c in enumerate(text) if c != " "][i]
            alone = drawing.text(page, (60, 100), text[: at + 1], 32) < DARK
            before = drawing.text(page, (60, 100), text[:at], 32) < DARK
            columns = np.flatnonzero((alone & ~before).any(axis=0))
            assert (left + right) / 2 == pytest.approx(columns.mean(), abs=9)
            assert 100 < top < bottom < 150

    def test_a_wide_space_parts_the_words(self, drawing, page):
        image = drawing.text(drawing.text(page, (60, 100), "電話", 32), (700, 100), "12", 32)
        (strip,) = strips_of(image, quad_of_box((50, 95, 760, 150)), 32)
        boxes = [box_of(c.quad) for c in placed(told("電話 12"), strip) if c.quad]
        assert boxes[1][2] < 140
        assert boxes[2][0] > 690

    def test_without_ink_evenly(self, page):
        (strip,) = strips_of(page, quad_of_box((100, 100, 420, 132)), 32)
        boxes = [box_of(c.quad) for c in placed(told("ボルト1"), strip)]
        assert boxes[0][0] == pytest.approx(100, abs=2)
        assert boxes[-1][2] == pytest.approx(420, abs=2)
        assert (boxes[3][2] - boxes[3][0]) < 0.7 * (boxes[0][2] - boxes[0][0])

    @settings(deadline=None, max_examples=60)
    @given(
        st.text("国ボ1 〓", min_size=1, max_size=12),
        st.lists(st.tuples(st.integers(0, 90), st.integers(1, 12)), max_size=6),
    )
    def test_in_order_and_within_the_strip(self, text, strokes):
        image = np.full((32, 100), 255, np.uint8)
        for x, width in strokes:
            image[6:26, x : x + width] = 0
        strip = Strip(image, quad_of_box((200, 50, 300, 82)))
        chars = placed(told(text), strip)
        assert "".join(c.text for c in chars) == text
        boxes = [box_of(c.quad) for c in chars if c.quad]
        assert len(boxes) == len(text.replace(" ", ""))
        centers = [(b[0] + b[2]) / 2 for b in boxes]
        assert centers == sorted(centers)
        for left, top, right, bottom in boxes:
            assert 199 <= left < right <= 302
            assert 49 <= top < bottom <= 83
