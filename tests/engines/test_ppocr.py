from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files

import cv2
import numpy as np
import pytest
from PIL import ImageFont

from ocr_pipeline.engines import ppocr
from ocr_pipeline.engines.base import Engine, ReadingStatus
from ocr_pipeline.engines.ppocr import PpocrEngine, PpocrSettings, models_folder
from ocr_pipeline.errors import EngineError
from ocr_pipeline.geometry import box_along, quad_of_box, rotation, scaling, transform, translation
from ocr_pipeline.pages.fax import Scan
from ocr_pipeline.pages.page import Ink, Page, Resolution
from ocr_pipeline.pages.rescan import rescan
from ocr_pipeline.pages.upright import upright

DPI = Resolution(204.0, 204.0)
TEXTS = (
    ("御注文書", 640, 60, 56),
    ("大塚製作所株式会社御中", 120, 180, 38),
    ("六角穴付ボルト", 120, 300, 34),
    ("1,250", 620, 300, 34),
    ("個", 820, 300, 34),
    ("15,000", 1000, 300, 34),
    ("ステンレス丸棒", 120, 400, 34),
    ("40", 620, 400, 34),
    ("本", 820, 400, 34),
    ("208,500", 1000, 400, 34),
)


@pytest.fixture(scope="module")
def engine():
    return PpocrEngine(PpocrSettings(threads=1))


@pytest.fixture(scope="module")
def page(drawing):
    image = drawing.blank(1500, 520)
    for text, x, y, size in TEXTS:
        image = drawing.text(image, (x, y), text, size)
    image = np.where(image < 128, 0, 255).astype(np.uint8)
    return Page(image, "a.tif", number=2, stored_size=(1500, 520), dpi=DPI)


@pytest.fixture(scope="module")
def reading(engine, page):
    return engine.read(page, seed=5)


def texts(reading):
    return sorted(w.text.replace(" ", "") for w in reading.words)


def width_of(text, size):
    """Width of the ink of drawn text."""
    path = files("pylopdf_fonts_jp") / "NotoSansJP-Regular.otf"
    left, _, right, _ = ImageFont.truetype(str(path), size).getbbox(text)
    return right - left


EXPECTED = sorted(text for text, *_ in TEXTS)


def covered(image, quads):
    """Share of the ink of a stored image that lies in any of the quads."""
    mask = np.zeros(image.shape, np.uint8)
    for quad in quads:
        cv2.fillConvexPoly(mask, np.rint(quad).astype(np.int32), 1)
    ink = image < 128
    return (ink & (mask > 0)).sum() / ink.sum()


class TestSettings:
    def test_the_models_are_in_the_wheel(self):
        names = {p.name for p in models_folder().iterdir()}
        assert {ppocr.DETECTOR, ppocr.RECOGNISER} <= names

    def test_a_wheel_without_models_says_how_to_get_them(self, monkeypatch):
        monkeypatch.setattr(ppocr, "RECOGNISER", "none.onnx")
        with pytest.raises(EngineError) as caught:
            models_folder()
        assert "none.onnx" in caught.value.message
        assert "pip install" in caught.value.remedy


@pytest.mark.slow
class TestRead:
    def test_the_words_of_a_clean_page(self, engine, reading):
        assert isinstance(engine, Engine)
        assert texts(reading) == EXPECTED
        assert reading.status is ReadingStatus.OK
        assert (reading.engine, reading.run, reading.seed, reading.page) == ("ppocr", 0, 5, 2)
        assert reading.raw == ""
        assert reading.stats["seconds"] > 0

    def test_every_word_carries_its_characters(self, reading):
        for word in reading.words:
            assert "".join(c.text for c in word.chars) == word.text
            assert word.confidence == min(c.confidence for c in word.chars)
            assert 0.5 < word.confidence <= 1
            for c in word.chars:
                scores = [p for _, p in c.alternatives]
                assert scores == sorted(scores, reverse=True)
                assert c.quad is not None or c.text == " "

    def test_quads_lie_on_their_ink(self, page, reading):
        assert covered(page.image, [w.quad for w in reading.words]) >= 0.97
        chars = [c.quad for w in reading.words for c in w.chars if c.quad]
        assert covered(page.image, chars) >= 0.95
        for word in reading.words:
            (at,) = [t for t in TEXTS if t[0] == word.text.replace(" ", "")]
            left, top, right, bottom = box_along(word.quad, quad_of_box((0, 0, 1, 1)))
            assert left == pytest.approx(at[1], abs=0.2 * at[3])
            assert right - left == pytest.approx(width_of(at[0], at[3]), abs=0.3 * at[3])
            assert at[2] < top < bottom < at[2] + 1.5 * at[3]

    @pytest.mark.parametrize("run", [1, 2])
    def test_a_run_sees_another_page_and_answers_in_stored_pixels(self, engine, page, reading, run):
        again = engine.read(page, run=run, seed=5)
        assert again.run == run
        assert texts(again) == EXPECTED
        assert [w.quad for w in again.words] != [w.quad for w in reading.words]
        assert covered(page.image, [w.quad for w in again.words]) >= 0.95

    def test_runs_look_at_different_pixels(self, page):
        views = [ppocr._prepared(rescan(page, k, 5).image, 204, k) for k in range(4)]
        assert all((a != b).any() for i, a in enumerate(views) for b in views[:i])

    def test_stored_pixels_are_those_of_the_file(self, engine, page, reading):
        stored = translation(1500, 260) @ scaling(1.0, 0.5) @ rotation(180)
        again = engine.read(replace(page, matrix=stored), seed=5)
        assert texts(again) == texts(reading)
        for a, b in zip(again.words, reading.words, strict=True):
            assert np.asarray(a.quad)[0] == pytest.approx(
                np.asarray(transform(b.quad, stored))[0], abs=1
            )

    def test_the_same_run_and_seed_give_the_same_answer(self, engine, page):
        first, second = engine.read(page, run=1, seed=9), engine.read(page, run=1, seed=9)
        assert first.words == second.words

    def test_two_instances_give_the_same_answer(self, page, reading):
        other = PpocrEngine(PpocrSettings(threads=1)).read(page, seed=5)
        assert other.words == reading.words

    def test_it_says_what_it_read_as_it_reads(self, engine, page, reading):
        events = []
        engine.read(page, seed=5, emit=events.append)
        assert {(e.kind, e.run, e.page) for e in events} == {("words", 0, 2)}
        assert len(events) > 1
        said = [(w["text"], w["quad"]) for e in events for w in e.data["words"]]
        assert sorted(said) == sorted((w.text, w.quad) for w in reading.words)

    def test_it_stops_between_two_batches_of_lines(self, engine, page, reading):
        events = []
        stopped = engine.read(page, seed=5, emit=events.append, cancel=lambda: bool(events))
        assert stopped.status is ReadingStatus.INCOMPLETE
        assert 0 < len(stopped.words) < len(reading.words)
        assert len(events) == 1

    def test_it_stops_when_nobody_wants_the_answer(self, engine, page):
        events = []
        reading = engine.read(page, run=1, seed=5, emit=events.append, cancel=lambda: True)
        assert (reading.status, reading.words) == (ReadingStatus.INCOMPLETE, ())
        assert (reading.run, reading.seed, reading.page) == (1, 5, 2)
        assert events == []

    def test_a_blank_page_never_reaches_the_model(self, engine, page, monkeypatch):
        def never(_):
            raise AssertionError("the model was asked")

        monkeypatch.setattr(engine, "_detect", never)
        reading = engine.read(replace(page, ink=Ink.BLANK), run=1, seed=5)
        assert (reading.status, reading.words) == (ReadingStatus.BLANK, ())
        assert (reading.run, reading.seed, reading.page) == (1, 5, 2)

    def test_a_page_on_which_nothing_is_found_is_blank(self, engine):
        white = Page(np.full((300, 400), 255, np.uint8), "a.tif", dpi=DPI)
        assert engine.read(white).status is ReadingStatus.BLANK

    @pytest.mark.parametrize("shape", [(1, 1), (5, 300), (40, 8)])
    def test_a_page_of_almost_no_size(self, engine, shape):
        tiny = Page(np.zeros(shape, np.uint8), "a.tif", dpi=DPI)
        assert engine.read(tiny).status in {ReadingStatus.BLANK, ReadingStatus.OK}

    @pytest.mark.parametrize("text", ["合計¥41,300", "A・B"])
    def test_signs_that_have_several_code_points(self, engine, drawing, text):
        image = drawing.text(drawing.blank(700, 200), (50, 60), text, 36)
        (word,) = engine.read(Page(image, "a.tif", dpi=DPI)).words
        alike = str.maketrans("￥·", "¥・")
        assert word.text.replace(" ", "").translate(alike) == text
        assert word.confidence > 0.5

    def test_a_column_of_single_characters(self, engine, drawing):
        image = drawing.blank(1500, 400)
        rows = (
            ("六角穴付ボルト", "個", "1,250"),
            ("ステンレス丸棒", "本", "40"),
            ("ケーブル", "枚", "8"),
        )
        for i, row in enumerate(rows):
            for x, text in zip((120, 820, 1000), row, strict=True):
                image = drawing.text(image, (x, 100 + 56 * i), text, 34)
        words = texts(engine.read(Page(image, "a.tif", dpi=DPI)))
        assert words == sorted(text for row in rows for text in row)

    def test_a_table_with_rules(self, engine, drawing):
        image = drawing.order(rows=3, height=760)
        words = texts(engine.read(Page(image, "a.tif", dpi=DPI)))
        for text in ("御注文書", "242", "67", "731", "636,961", "307,829", "16,527", "1", "2", "3"):
            assert text in words
        assert words.count("個") == 3


class Upside:
    """The witness of direction that a test has instead of a model: it was told."""

    def __init__(self, turned):
        self.turned = turned

    def upside_down(self, crops, *, sideways=False):
        return 1.0 if self.turned else 0.0


@pytest.mark.slow
class TestSameWords:
    """The same sheet, fed differently, gives the same words."""

    @pytest.mark.parametrize(
        ("degrees", "shift", "oblong"),
        [
            (0, (23, 11), False),
            (90, (0, 0), False),
            (180, (0, 0), True),
            (270, (7, 3), False),
            (2.3, (5, 9), False),
            (-3.1, (0, 0), False),
            (181.7, (0, 0), False),
        ],
    )
    def test_rotated_and_shifted(self, engine, drawing, degrees, shift, oblong):
        image = drawing.blank(1500, 1000)
        for text, x, y, size in TEXTS:
            image = drawing.text(image, (x - 40 + shift[0], 2 * y + 100 + shift[1]), text, size)
        quarter = round(degrees / 90) % 4
        stored = np.rot90(drawing.turned(image, degrees - 90 * round(degrees / 90)), -quarter)
        dpi = DPI
        if oblong:
            stored, dpi = stored[::2], Resolution(204.0, 102.0)
        stored = np.where(stored < 128, 0, 255).astype(np.uint8)
        page = upright(Scan(stored, dpi), "a.tif", witness=Upside(quarter in (1, 2)))
        reading = engine.read(page)
        assert texts(reading) == EXPECTED
        assert covered(stored, [w.quad for w in reading.words]) >= 0.95


@pytest.mark.slow
def test_reading_touches_no_network(page, tmp_path):
    """In a process of its own, because an audit hook can not be taken away again."""
    np.save(tmp_path / "page.npy", page.image)
    code = """
import json, sys
attempts = []
def watch(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
                 "socket.sendmsg", "urllib.Request", "http.client.connect", "ftplib.connect"}:
        attempts.append(event)
        raise OSError(f"no network here: {event}")
sys.addaudithook(watch)
import numpy as np
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.pages.page import Page
page = Page(np.load(sys.argv[1]), "a.tif")
words = [w.text for run in (0, 1) for w in prepare_engine("ppocr")().read(page, run=run).words]
print(json.dumps({"attempts": attempts, "words": words}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "page.npy")],
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["attempts"] == []
    assert len(seen["words"]) >= 2 * len(TEXTS)
