from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ocr_pipeline.engines.ctc import Glyph
from ocr_pipeline.engines.lines import crop, place
from ocr_pipeline.geometry import box_of, quad_of_box, rotation, transform

HEIGHT = 48
WORDS = (
    "六角穴付ボルト",
    "ステンレス丸棒",
    "株式会社ミヤコ製作所",
    "SUS303",
    "M6×20",
    "1,234,500",
    "12.50",
    "2026年4月1日",
    "FU-35FA",
    "リトルミル",
)


@cache
def font(size):
    return ImageFont.truetype(str(files("pylopdf_fonts_jp") / "NotoSansJP-Regular.otf"), size)


@dataclass(frozen=True)
class Line:
    """Drawn text, the ink of each character alone, and what a recogniser would answer."""

    image: NDArray[np.uint8]
    inks: tuple[NDArray[np.bool_], ...]
    glyphs: tuple[Glyph, ...]

    @property
    def quad(self):
        height, width = self.image.shape
        return quad_of_box((0, 0, width, height))

    def place(self, quad=None):
        return place(self.glyphs, self.image, quad or self.quad)


def drawn(text, *, size=34, spacing=0, space=0.0):
    """Draw characters one by one; CTC's spike is a tenth of the width in each one's middle.

    `space` is the probability that the recogniser gives to a space where the text has one.
    """
    advances = [font(size).getlength(c) + spacing for c in text]
    lefts = [6 + x for x in (0, *accumulate(advances))]
    width = round(lefts[-1]) + 8
    inks, glyphs = [], []
    for before, c, left in zip(f"x{text}", text, lefts, strict=False):
        if not c.strip():
            continue
        canvas = Image.new("L", (width, HEIGHT), 255)
        ImageDraw.Draw(canvas).text((left, HEIGHT // 2), c, fill=0, font=font(size), anchor="lm")
        inks.append(np.array(canvas) < 128)
        columns = np.flatnonzero(inks[-1].any(axis=0))
        middle, spike = (columns[0] + columns[-1] + 1) / 2, 0.05 * size
        likely = space if before == " " else 0.0
        ends = (middle - spike) / width, (middle + spike) / width
        glyphs.append(Glyph(c, 0.9, (), *ends, likely))
    image = np.where(np.any(inks, axis=0), 0, 255).astype(np.uint8)
    return Line(image, tuple(inks), tuple(glyphs))


def share_inside(ink, quads):
    """Share of some ink that lies in any of the quads."""
    covered = np.zeros(ink.shape, np.uint8)
    for quad in quads:
        cv2.fillConvexPoly(covered, np.rint(quad).astype(np.int32), 1)
    return (ink & (covered > 0)).sum() / ink.sum()


def text_of(chars):
    return "".join(c.text for c in chars)


class TestPlaceOnInk:
    @pytest.mark.parametrize("word", WORDS)
    def test_one_char_a_glyph_on_its_own_ink(self, word):
        line = drawn(word)
        chars = line.place()
        assert text_of(chars) == word
        assert share_inside(np.any(line.inks, axis=0), [c.quad for c in chars]) >= 0.95
        for c, ink in zip(chars, line.inks, strict=True):
            assert share_inside(ink, [c.quad]) >= 0.85, c.text

    @settings(deadline=None, max_examples=25)
    @given(
        words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        size=st.integers(26, 38),
        spacing=st.integers(0, 4),
    )
    def test_words_far_apart(self, words, size, spacing):
        text = "\u3000\u3000".join(words)
        line = drawn(text, size=size, spacing=spacing)
        chars = line.place()
        assert len(chars) == len(line.glyphs) + len(words) - 1
        assert text_of(chars) == " ".join(words)
        quads = [c.quad for c in chars if c.quad]
        assert share_inside(np.any(line.inks, axis=0), quads) >= 0.95

    def test_confidence_and_runners_up_come_along(self):
        glyph = Glyph("ー", 0.7, (("一", 0.2),), 0.4, 0.6)
        (char,) = place([glyph], drawn("ー").image, quad_of_box((0, 0, 48, 48)))
        assert (char.text, char.confidence, char.alternatives) == ("ー", 0.7, (("一", 0.2),))

    def test_quads_are_in_the_coordinates_of_the_quad(self):
        line = drawn("数量")
        height, width = line.image.shape
        turned = transform(quad_of_box((0, 0, 2 * width, 2 * height)), rotation(180, (300, 200)))
        chars, upright = line.place(turned), line.place()
        for char, flat in zip(chars, upright, strict=True):
            doubled = [(2 * x, 2 * y) for x, y in flat.quad]
            assert np.asarray(char.quad) == pytest.approx(
                np.asarray(transform(doubled, rotation(180, (300, 200))))
            )


class TestSpaces:
    @pytest.mark.parametrize("text", ["SUS 303", "M6 x 20", "TEL 075 123", "No 1"])
    @pytest.mark.parametrize("space", [0.2, 0.9])
    def test_a_space_that_was_thought_of_is_kept(self, text, space):
        chars = drawn(text, space=space).place()
        assert text_of(chars) == text
        assert [c.quad is None for c in chars] == [c == " " for c in text]
        assert all(c.confidence == 1 for c in chars if c.text == " ")

    @pytest.mark.parametrize(
        "text", ["大塚製作所\u3000御中", "東京都\u3000港区\u3000芝", "六角\u3000M6"]
    )
    def test_a_wide_gap_is_a_space_even_unanswered(self, text):
        assert text_of(drawn(text).place()) == text.replace("\u3000", " ")

    @pytest.mark.parametrize("text", ["リトル", "トト１リ", "発注書", "1,111,111", "1.1", "：１："])
    def test_narrow_characters_leave_no_spaces(self, text):
        assert text_of(drawn(text).place()) == text

    def test_a_full_width_sign_brings_paper_along(self):
        assert text_of(drawn("M6×20", size=26, spacing=2).place()) == "M6×20"

    def test_narrow_kana_beside_half_width_text(self):
        assert text_of(drawn("SUS303\u3000リトルミル", size=26).place()) == "SUS303 リトルミル"

    @pytest.mark.parametrize("text", ["御注文書", "1234567"])
    def test_a_loosely_set_line_has_no_spaces(self, text):
        assert text_of(drawn(text, spacing=24).place()) == text

    @pytest.mark.parametrize("text", ["発注書", "1,234", "SUS303"])
    def test_a_space_without_paper_is_not_believed(self, text):
        line = drawn(text, size=26)
        sure = [replace(g, space=0.99) for g in line.glyphs]
        tight = place(
            sure, cv2.dilate(255 - line.image, np.ones((3, 9), np.uint8)) ^ 255, line.quad
        )
        assert text_of(tight) == text

    def test_an_answered_space_is_no_character_of_its_own(self):
        line = drawn("発注書")
        space = Glyph(" ", 0.6, (), 0.0, 0.01)
        glyphs = [space, *line.glyphs, replace(space, start=0.99, end=1.0)]
        assert text_of(place(glyphs, line.image, line.quad)) == "発注書"


class TestPlaceDegenerate:
    def test_nothing_read(self):
        assert place([], drawn("あ").image, quad_of_box((0, 0, 48, 48))) == ()

    @pytest.mark.parametrize("text", [" ", "  ", "\u3000", "|", "| ｜", "¦"])
    def test_only_white_space_and_strokes(self, text):
        glyphs = [Glyph(c, 0.9, (), i / 9, (i + 1) / 9) for i, c in enumerate(text)]
        assert place(glyphs, drawn("あ").image, quad_of_box((0, 0, 48, 48))) == ()

    def test_a_stroke_beside_text_is_a_rule(self):
        line = drawn("数量")
        bar = Glyph("|", 0.9, (), 0.99, 1.0)
        assert text_of(place([*line.glyphs, bar], line.image, line.quad)) == "数量"

    @pytest.mark.parametrize("level", [0, 255])
    def test_a_line_without_contrast(self, level):
        glyphs = [Glyph("A", 0.1, (), 0.2, 0.3), Glyph("B", 0.1, (), 0.6, 0.7)]
        image = np.full((HEIGHT, 100), level, np.uint8)
        chars = place(glyphs, image, quad_of_box((0, 0, 100, HEIGHT)))
        assert text_of(chars).replace(" ", "") == "AB"
        assert all(0 <= v <= 100 for c in chars if c.quad for p in c.quad for v in p)

    @settings(deadline=None, max_examples=60)
    @given(
        text=st.text("あ1A-ー ", max_size=12),
        seed=st.integers(0, 2**32 - 1),
        width=st.integers(8, 400),
        density=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    )
    def test_every_glyph_gets_a_quad_in_order(self, text, seed, width, density):
        rng = np.random.default_rng(seed)
        edges = np.sort(rng.random(2 * len(text)))
        glyphs = [Glyph(c, 0.5, (), *edges[2 * i : 2 * i + 2]) for i, c in enumerate(text)]
        image = np.where(rng.random((HEIGHT, width)) < density, 0, 255).astype(np.uint8)
        chars = place(glyphs, image, quad_of_box((0, 0, width, HEIGHT)))
        assert text_of(chars).replace(" ", "") == text.replace(" ", "")
        boxes = [box_of(c.quad) for c in chars if c.quad]
        for left, top, right, bottom in boxes:
            assert -1e-6 <= left < right <= width + 1 + 1e-6
            assert -1e-6 <= top < bottom <= HEIGHT + 1e-6
        assert all(a[0] <= b[0] and a[2] <= b[2] for a, b in pairwise(boxes))


class TestCrop:
    @pytest.fixture
    def page(self, drawing):
        return drawing.text(drawing.blank(700, 700), (220, 330), "六角穴付ボルト", 36)

    BOX = (200, 330, 500, 390)

    def test_it_has_the_height_asked_for_and_keeps_the_shape(self, page):
        line = crop(page, quad_of_box(self.BOX), 48)
        assert line.shape == (48, 240)
        assert line.dtype == np.uint8

    def test_a_box_at_its_own_height_is_a_slice(self, page):
        left, top, right, bottom = self.BOX
        line = crop(page, quad_of_box(self.BOX), bottom - top)
        assert np.abs(line.astype(int) - page[top:bottom, left:right]).max() <= 1

    @pytest.mark.parametrize("degrees", [90, 180, 270, 3, -4.5, 30])
    def test_a_turned_quad_gives_the_same_line(self, page, drawing, degrees):
        quad = transform(quad_of_box(self.BOX), rotation(degrees, (350, 350)))
        line = crop(drawing.turned(page, degrees), quad, 60) < 128
        straight = crop(page, quad_of_box(self.BOX), 60) < 128
        assert line.shape == straight.shape
        assert (line & straight).sum() >= 0.85 * max(line.sum(), straight.sum())

    def test_beyond_the_page_there_is_paper(self, page):
        assert (crop(page, quad_of_box((-100, -60, -10, -30)), 48) == 255).all()

    @pytest.mark.parametrize("box", [(5, 5, 5, 5), (5, 5, 5, 25), (5, 5, 25, 5)])
    def test_a_quad_without_extent(self, page, box):
        assert crop(page, quad_of_box(box), 48).shape[0] == 48
