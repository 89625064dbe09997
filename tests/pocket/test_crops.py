from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pylopdf_fonts_jp")
pytest.importorskip("transformers")

from ocr_pipeline.engines.ppocr import LINE_HEIGHT
from ocr_pipeline.pocket.crops import HEIGHT, ROWS, WIDTHS, Crop, cut_crops
from ocr_pipeline.pocket.data import (
    COLUMN,
    Course,
    chunk_batches,
    columns,
    practice_crops,
    sheet_crops,
)
from ocr_pipeline.pocket.evaluate import read_with_ppocr
from ocr_pipeline.pocket.practice import practice_page
from ocr_pipeline.pocket.score import compare
from ocr_pipeline.pocket.segments import LONGEST, Segment, band, frame, segments_of, split
from ocr_pipeline.pocket.texts import KINDS, draw_text
from ocr_pipeline.pocket.tokenizer import UNREADABLE, characters
from synth.chain import plate_of
from synth.drawing import Drawing
from synth.fonts import packaged
from synth.seeds import stream

SMALL = Course(seed=3, pages=1, sheets=0.0, easy=0, batch=16, pool="packaged")


@pytest.fixture(scope="module")
def mild() -> list[Crop]:
    return practice_crops(1, 1, stream(1, "frames"), pool="packaged", finer=LINE_HEIGHT)


def page_with(*texts: str, size: float = 4.0) -> Drawing:
    page = Drawing(210, 297, 12.0, packaged()[0])
    for i, text in enumerate(texts):
        page.text(20, 20 + 12 * i, text, size)
    return page


def crops_of(page: Drawing, seed: int = 0, *, image: np.ndarray | None = None) -> list[Crop]:
    plate = plate_of(np.asarray(255 - page.ink, np.uint8) if image is None else image, page.scale)
    kinds = dict.fromkeys(range(len(page.lines)), "any")
    return cut_crops(page, plate, kinds=kinds, severity=0, rng=stream(seed, "crops"))


def test_every_kind_of_text_is_written_in_characters_that_the_model_knows() -> None:
    rng = stream(0, "texts")
    drawn = [draw_text(rng) for _ in range(1500)]
    assert {kind for _, kind in drawn} == set(KINDS)
    assert not {c for text, _ in drawn for c in text} - set(characters())
    assert all(text == text.strip() != "" for text, _ in drawn)


def test_the_first_lesson_has_no_rare_characters() -> None:
    rng = stream(0, "texts")
    assert not {draw_text(rng, 0.0)[1] for _ in range(500)} & {"kanji", "any"}


def test_a_crop_shows_its_text(mild: list[Crop]) -> None:
    """An independent reader sees on the crops of a good fax what they are said to show."""
    words = [c for c in mild if c.kind in ("number", "date", "item", "order")][:40]
    read = read_with_ppocr(words)
    pairs = [compare(c.text, r.text) for c, r in zip(words, read, strict=True)]
    assert sum(p.edits for p in pairs) < 0.15 * sum(p.total for p in pairs)


def test_crops_fit_the_model(mild: list[Crop]) -> None:
    assert len(mild) > 100
    for crop in mild:
        assert crop.image.shape[0] == ROWS
        assert 0 < crop.image.shape[1] <= WIDTHS[-1]
        assert crop.image.dtype == np.uint8
        assert 0 < len(crop.text) == len(crop.true) == len(crop.spans) <= LONGEST
        assert crop.finer is not None
        assert crop.finer.shape[0] == LINE_HEIGHT
        ratio = crop.finer.shape[1] / crop.image.shape[1]
        assert ratio == pytest.approx(LINE_HEIGHT / HEIGHT, rel=0.1)


def test_columns_know_which_character_stands_there() -> None:
    (crop,) = crops_of(page_with("東 京1"))
    count = 256 // COLUMN
    found = columns(crop, count)
    seen = [crop.text[i] for i in found if i >= 0]
    assert "".join(dict.fromkeys(seen)) == "東 京1"
    # Characters are asked for where their ink is, and nowhere else.
    middles = [(k + 0.5) * COLUMN for k in range(count)]
    for at, middle in zip(found, middles, strict=True):
        over = [i for i, span in enumerate(crop.spans) if span and span[0] <= middle < span[1]]
        if at < 0 or crop.text[at] != " ":
            assert over == ([] if at < 0 else [at])
    dark = (crop.image < 160).any(axis=0)
    for at, middle in zip(found, middles, strict=True):
        if at >= 0 and crop.text[at] != " ":
            assert dark[int(middle) - COLUMN // 2 : int(middle) + COLUMN // 2].any()


def test_a_character_between_two_middles_has_a_column_of_its_own() -> None:
    spans = ((0.0, 30.0), (41.0, 45.0), (57.0, 62.0))
    crop = Crop(np.zeros((ROWS, 100), np.uint8), "A.1", spans, "A.1", "any", 0)
    assert columns(crop, 6).tolist() == [0, 0, 1, 2, -1, -1]


def test_columns_of_a_space_reach_from_neighbour_to_neighbour() -> None:
    spans = ((0.0, 30.0), None, (70.0, 100.0))
    crop = Crop(np.zeros((ROWS, 100), np.uint8), "A B", spans, "A B", "any", 0)
    assert columns(crop, 8).tolist() == [0, 0, 1, 1, 2, 2, -1, -1]


def test_the_same_seed_cuts_the_same_crops() -> None:
    one, two = (practice_crops(5, 3, stream(5, "x"), pool="packaged") for _ in range(2))
    assert [c.text for c in one] == [c.text for c in two]
    assert all(np.array_equal(a.image, b.image) for a, b in zip(one, two, strict=True))


def test_an_order_gives_labels_names_and_cells() -> None:
    crops = sheet_crops(7, 2, stream(7, "x"), pool="packaged")
    kinds = Counter(c.kind.split()[0] for c in crops)
    assert {"label", "name", "item", "amount", "order_date"} <= set(kinds)


def test_spaces_are_kept_once_and_wide_ones_are_plain() -> None:
    (index, segment), *_ = segments_of(page_with("品　名  A"))
    assert index == 0
    assert segment.text == "品 名 A"
    assert [b is None for _, b in segment.chars] == [False, True, False, True, False]


def test_a_line_that_the_sheet_cuts_is_left_out() -> None:
    page = Drawing(60, 60, 12.0, packaged()[0])
    page.text(50, 20, "はみ出す文字列", 4)
    page.text(5, 40, "内側", 4)
    assert [s.text for _, s in segments_of(page)] == ["内側"]


def test_what_is_gone_or_buried_is_not_readable() -> None:
    page = page_with("納入場所")
    clean = np.asarray(255 - page.ink, np.uint8)
    boxes = [b for _, b in page.runs[0].chars]
    left, top, right, bottom = (round(v * page.scale) for v in boxes[1])
    gone, buried = clean.copy(), clean.copy()
    gone[top - 3 : bottom + 3, left - 3 : right + 3] = 255
    buried[top - 3 : bottom + 3, left - 3 : right + 3] = 0
    assert [c.text for c in crops_of(page)] == ["納入場所"]
    for image in (gone, buried):
        (crop,) = crops_of(page, image=image)
        assert (crop.text, crop.true) == (f"納{UNREADABLE}場所", "納入場所")
    assert crops_of(page, image=np.full_like(clean, 255)) == []


def test_long_lines_are_split_and_nothing_is_lost() -> None:
    text = "東京都大田区西蒲田七丁目一番地第三工業団地南棟二階資材置場"
    page = page_with(text, size=3.0)
    for seed in range(5):
        assert "".join(c.text for c in crops_of(page, seed)) == text


@settings(deadline=None, max_examples=40)
@given(st.text("ア漢1A ", max_size=80).filter(str.strip), st.integers(0, 2**32))
def test_parts_add_up_and_fit(text: str, seed: int) -> None:
    chars = [
        (c, None if c == " " else (4.0 * i, 0.0, 4.0 * i + 3, 3.5)) for i, c in enumerate(text)
    ]
    while chars and chars[0][1] is None:
        chars.pop(0)
    segment = Segment(tuple(chars), 2.0, 4.0)
    top, bottom = band(segment, stream(seed, "band"))
    assert top < 0.0
    assert bottom > 3.5
    parts = split(segment, 60.0, stream(seed, "split"))
    assert "".join(p.text for p in parts).replace(" ", "") == text.replace(" ", "")
    for part in parts:
        assert part.chars[0][1] is not None
        assert part.chars[-1][1] is not None
        assert part.chars[-1][1][2] - part.chars[0][1][0] <= 60.0
        left, _, right, _ = frame(part, top, bottom, 60.0, stream(seed, "frame"))
        assert right - left <= 60.0 + 1e-9
        assert left <= part.chars[0][1][0]
        assert right >= part.chars[-1][1][2]
        assert part.before is None or left >= part.before
        assert part.after is None or right <= part.after
    assert parts[0].before is None
    assert parts[-1].after is None
    for one, two in pairwise(parts):
        assert one.after == two.chars[0][1][0]
        assert two.before == one.chars[-1][1][2]


def test_batches_have_one_width_and_come_out_the_same() -> None:
    one, two = chunk_batches(SMALL, 4), chunk_batches(SMALL, 4)
    assert one
    for a, b in zip(one, two, strict=True):
        assert a.texts == b.texts
        assert np.array_equal(a.images, b.images)
        assert a.images.shape[2] in WIDTHS
        assert np.array_equal(a.places, b.places)
        assert len(a.texts) == len(a.images) == SMALL.batch
        assert a.places.shape == (SMALL.batch, a.images.shape[2] // COLUMN)
    assert [b.index for b in one] == list(range(len(one)))
    assert {t for b in one for t in b.texts} != {
        t for b in chunk_batches(SMALL, 5) for t in b.texts
    }


def test_a_practice_page_says_what_is_on_it() -> None:
    page = practice_page(2, 0, pool="packaged")
    assert len(page.kinds) == len(page.drawing.lines) > 100
