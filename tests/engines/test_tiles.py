from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ocr_pipeline.engines.base import Char
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.ppocr import LineFinder, PpocrSettings
from ocr_pipeline.engines.tiles import join, line_tiles, tiles_of
from ocr_pipeline.geometry import box_of, quad_of_box, rotation, scaling, transform, translation
from ocr_pipeline.pages.page import Page, Resolution
from ocr_pipeline.tables.markdown import parse

DPI = Resolution(204.0, 204.0)
LINES = Card(tiling="lines", line_height=32, widths=(128, 256, 384, 512))
SENTENCE = "下記の通り発注致しますのでよろしくお願い申し上げます"
HEAD = "| No | 品名 |\n|---|---|\n"


def told(text, confidence=0.9):
    return tuple(Char(c, confidence) for c in text)


@pytest.fixture(scope="module")
def order(drawing):
    image = drawing.order(rows=16)
    stored = translation(1728, 1188) @ scaling(1.0, 0.5) @ rotation(180)
    return Page(image, "a.tif", stored_size=(1728, 1188), dpi=DPI, matrix=stored)


class TestPage:
    def test_is_one_tile(self, order):
        (tile,) = tiles_of(order, "page", card=Card())
        assert tile.image is order.image
        # The stored page lies upside down.
        assert np.asarray(tile.quad) == pytest.approx(
            np.array([(1728, 1188), (0, 1188), (0, 0), (1728, 0)])
        )

    def test_its_reply_is_left_as_it_is(self, order):
        said = told("```\n" + HEAD + "| 1 | ボルト |\n```")
        joined = join("page", [said], tiles_of(order, "page", card=Card()))
        assert joined.chars == said
        assert joined.raw == "".join(c.text for c in said)
        assert joined.words == ()


class TestBands:
    def test_each_shows_its_part_of_the_page(self, order):
        tiles = tiles_of(order, "bands", card=Card(soft_tokens=280))
        assert len(tiles) > 2
        for tile in tiles:
            upright = transform(tile.quad, np.linalg.inv(order.matrix))
            left, top, right, bottom = (round(v) for v in box_of(upright))
            assert (tile.image == order.image[top:bottom, left:right]).all()
            assert tile.strip is None

    def test_a_smaller_budget_cuts_finer(self, order):
        counts = [
            len(tiles_of(order, "bands", card=Card(), soft_tokens=n)) for n in (1120, 280, 70)
        ]
        assert counts == sorted(set(counts))
        small = tiles_of(order, "bands", card=Card(), soft_tokens=1120, token_side=24)
        assert len(small) == counts[1]

    def test_nothing_to_show(self, drawing):
        assert tiles_of(Page(drawing.blank(), "a"), "bands", card=Card()) == ()
        assert join("bands", [], ()).raw == ""

    def test_tables_are_joined(self, order):
        tiles = [t for t in tiles_of(order, "bands", card=Card(soft_tokens=280)) if t.continues]
        replies = [told(HEAD + f"| {i} | 品{i} |\n", 0.9 - i / 10) for i in range(len(tiles))]
        joined = join("bands", replies, tiles)
        (table,) = parse(joined.raw, chars=joined.chars).tables
        assert [row[1].text for row in table.rows] == [f"品{i}" for i in range(len(tiles))]
        assert [row[1].confidence for row in table.rows] == pytest.approx(
            [0.9 - i / 10 for i in range(len(tiles))]
        )


@pytest.fixture(scope="module")
def page(drawing):
    image = drawing.text(drawing.blank(1500, 400), (100, 60), "六角穴付ボルト", 32)
    image = drawing.text(
        image, (100, 160), "下記の通り発注致しますのでよろしくお願い申し上げます", 32
    )
    image = drawing.text(image, (800, 60), "8", 32)
    return Page(image, "a.tif", stored_size=(750, 400), dpi=DPI, matrix=scaling(0.5, 1.0))


WORD = quad_of_box((94, 60, 330, 108))
LONG = quad_of_box((94, 160, 940, 208))
FIGURE = quad_of_box((790, 60, 830, 108))


def find(image, dpi):
    assert dpi == 204.0
    return [LONG, WORD], [FIGURE]


class TestLines:
    def test_in_reading_order_and_of_the_widths_of_the_card(self, page):
        tiles = tiles_of(page, "lines", card=LINES, find=find)
        assert [t.line for t in tiles] == [0, 1, 2, 2]
        assert [t.sure for t in tiles] == [True, False, True, True]
        for tile in tiles:
            assert tile.image.shape[0] == 32
            assert tile.image.shape[1] in LINES.widths
            width = tile.strip.image.shape[1]
            assert (tile.image[:, width:] == 255).all()
            assert (tile.image[:, :width] < 128).any()

    def test_a_squeezed_crop_is_lower_and_lies_where_it_did(self, page):
        tiles = tiles_of(page, "lines", card=replace(LINES, squeeze=2), find=find)
        for tile, plain in zip(tiles, tiles_of(page, "lines", card=LINES, find=find), strict=True):
            assert tile.image.shape == (16, plain.image.shape[1])
            assert tile.quad == tile.strip.quad == plain.quad
            assert (tile.strip.image == plain.strip.image).all()

    def test_a_squeezed_crop_changes_neither_spaces_nor_places(self, page):
        said = ["六角穴付ボルト", "8", SENTENCE[:10], SENTENCE[10:]]
        plain, found = (
            join("lines", [told(s) for s in said], tiles_of(page, "lines", card=card, find=find))
            for card in (LINES, replace(LINES, squeeze=2))
        )
        assert found == plain

    def test_they_have_to_be_found(self, page):
        with pytest.raises(ValueError, match="found"):
            tiles_of(page, "lines", card=LINES)

    def test_without_a_height_they_keep_their_size(self, page):
        tiles = tiles_of(page, "lines", card=Card(), find=find)
        assert [t.line for t in tiles] == [0, 1, 2]
        assert {t.image.shape[0] for t in tiles} == {48}

    def test_words_lie_on_their_ink_in_stored_pixels(self, page):
        tiles = tiles_of(page, "lines", card=LINES, find=find)
        cut = round((2 * box_of(tiles[2].quad)[2] - 100) / 32)
        parts = ["六角穴付ボルト", "8", SENTENCE[:cut], SENTENCE[cut:] + "\n"]
        joined = join("lines", [told(p) for p in parts], tiles)
        assert joined.raw == f"六角穴付ボルト\n8\n{SENTENCE}"
        assert "".join(c.text for c in joined.chars) == joined.raw
        bolt, _, sentence = joined.words
        columns = np.flatnonzero((page.image[60:120, :700] < 128).any(axis=0))
        left, top, right, bottom = box_of(bolt.quad)
        assert (2 * left, 2 * right) == pytest.approx((columns[0], columns[-1]), abs=4)
        assert 60 < top < bottom < 110
        assert len(sentence.chars) == len(sentence.text)
        centers = [np.mean([x for x, _ in c.quad]) for c in sentence.chars if c.quad]
        steps = np.diff(centers)
        assert len(steps) == len(sentence.text) - 1
        assert steps.min() > 0.5 * np.median(steps)
        assert steps.max() < 1.5 * np.median(steps)

    def test_doubtful_ink_counts_only_when_it_is_read_with_confidence(self, page):
        tiles = tiles_of(page, "lines", card=LINES, find=find)
        empty = told("")
        for confidence, words in ((0.9, ["8"]), (0.3, [])):
            joined = join("lines", [empty, told("8", confidence), empty, empty], tiles)
            assert [w.text for w in joined.words] == words
        joined = join("lines", [told("ボルト", 0.1), empty, empty, empty], tiles)
        assert [w.text for w in joined.words] == ["ボルト"]

    def test_the_mark_of_what_cannot_be_read_is_never_sure(self, page):
        tiles = tiles_of(page, "lines", card=LINES, find=find)[:2]
        joined = join("lines", [told("六角〓付", 0.99), told("〓", 0.99)], tiles, unreadable="〓")
        (word,) = joined.words
        assert [c.confidence for c in word.chars] == [0.99, 0.99, 0.0, 0.99]
        assert word.confidence == 0.0

    def test_nothing_found_and_nothing_said(self, page):
        assert tiles_of(page, "lines", card=LINES, find=lambda *_: ([], [])) == ()
        tiles = line_tiles(page, [WORD], [True], card=LINES)
        assert join("lines", [told(" \n")], tiles).words == ()

    def test_a_line_on_white_paper_still_has_a_place(self, page):
        (tile,) = line_tiles(page, [quad_of_box((1000, 300, 1100, 340))], [True], card=LINES)
        (word,) = join("lines", [told("幻")], [tile]).words
        left, _, right, _ = box_of(word.quad)
        assert 490 < left < right < 560


@pytest.mark.slow
class TestDetector:
    def test_finds_every_line_once(self, drawing):
        page = Page(drawing.order(rows=6), "a.tif", dpi=DPI)
        tiles = tiles_of(page, "lines", card=LINES, find=LineFinder(PpocrSettings(threads=1)))
        covered = np.zeros(page.image.shape, np.uint8)
        for tile in tiles:
            left, top, right, bottom = (round(v) for v in box_of(tile.quad))
            covered[max(0, top) : bottom, max(0, left) : right] = 1
        text = drawing.order(rows=6, ruled=False) < 128
        assert covered[text].mean() > 0.99
        assert 30 <= len({t.line for t in tiles}) <= 45
