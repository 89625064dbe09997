from __future__ import annotations

import numpy as np
import pytest

from ocr_pipeline.pages.ink import binarize, find_marks, ink_state, is_inverted
from ocr_pipeline.pages.page import Ink

DPI = 204.0


def state_of(image, **options):
    return ink_state(find_marks(binarize(image), DPI), **options)[0]


def stained(drawing, seed):
    """A dithered stain, as a grey blot becomes on a 1-bit scan."""
    rng = np.random.default_rng(seed)
    page = drawing.blank()
    y, x = rng.normal(1500, 110, 25_000).astype(int), rng.normal(900, 150, 25_000).astype(int)
    page[y, x] = 0
    return page


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["white", "dust", "streak", "edge", "header", "stain", "all"])
def test_nothing_written_is_blank(drawing, kind, seed):
    page = drawing.blank()
    if kind in ("stain", "all"):
        page = stained(drawing, seed)
    if kind in ("dust", "all"):
        page = drawing.speckled(page, seed, 0.001)
    if kind in ("streak", "all"):
        page = drawing.streak(page, 500 + 100 * seed, 100)
    if kind in ("edge", "all"):
        page[:, : 20 + 10 * seed] = 0
    if kind in ("header", "all"):
        page = drawing.text(page, (80, 10), "2026年4月1日 14時31分   NO.2285  P.1/1", 26)
    # A stain is much ink without a character: not wrong to call it noise, wrong to read it.
    assert state_of(page) in (
        (Ink.BLANK, Ink.DAMAGED) if kind in ("stain", "all") else (Ink.BLANK,)
    )


@pytest.mark.parametrize("words", ["了解", "FAX送信", "至急", "No. 12"])
@pytest.mark.parametrize("xy", [(300, 120), (900, 1200), (1400, 2280)])
def test_a_few_words_are_not_blank(drawing, words, xy):
    page = drawing.text(drawing.speckled(drawing.blank(), 1, 0.0005), xy, words, 44)
    assert state_of(page) is Ink.OK


def test_an_order_is_ok_even_on_a_bad_line(drawing):
    assert state_of(drawing.speckled(drawing.order(0), 0, 0.02)) is Ink.OK


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_noise_is_damaged(share):
    rng = np.random.default_rng(0)
    noise = np.where(rng.random((2376, 1728)) < share, 0, 255).astype(np.uint8)
    assert state_of(noise) is Ink.DAMAGED


def test_black_is_damaged_before_and_after_inversion(drawing):
    black = 255 - drawing.blank()
    assert state_of(black) is Ink.DAMAGED
    assert is_inverted(black)
    assert state_of(255 - black, inverted=True) is Ink.DAMAGED


def test_polarity(drawing):
    page = drawing.order(0)
    assert not is_inverted(page)
    assert is_inverted(255 - page)


def test_grey_scan_with_uneven_light_is_split_into_ink_and_paper(drawing):
    page = drawing.order(0)
    light = np.linspace(0.45, 1.0, page.shape[1])
    photo = ((page * 0.7 + 40) * light).astype(np.uint8)
    ink = binarize(photo)
    # Characters are found where they are; broad solids may be hollow, but there are none here.
    assert (ink == (page < 128)).mean() > 0.99


def test_marks_of_an_empty_page(drawing):
    marks = find_marks(binarize(drawing.blank(30, 20)), DPI)
    assert marks.boxes.shape == (0, 4)
    assert not marks.specks.any()
    assert not marks.glyphs.any()
    assert not marks.mask(marks.glyphs).any()
