from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from ocr_pipeline.engines.base import Reading, ReadingStatus, RunsEngine, Word
from ocr_pipeline.engines.events import Event
from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.errors import EngineError, InputError
from ocr_pipeline.export.record import DocumentStatus, Record, from_json, to_json
from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.page import Ink, Page
from ocr_pipeline.pipeline import assemble, read_document, to_transcript
from ocr_pipeline.settings import Settings
from ocr_pipeline.tables.markdown import parse

SCHEMA = load_schema("purchase_order")
FORM = """\
# 発注書

大塚商事 御中

発注番号: A-1

| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| ボルト | 10 | 100 | 1,000 |
| | | 小計 | 1,000 |
| | | 消費税 | 100 |
| | | 合計 | 1,100 |
"""
LETTER = "いつもお世話になっております。\n\n山田\n"


SIZE = (240, 160)


def draw(size: tuple[int, int] = SIZE) -> Image.Image:
    """A page with something on it."""
    image = Image.new("L", size, 255)
    pen = ImageDraw.Draw(image)
    for y in range(60, size[1] - 40, 40):
        for x in range(60, size[0] - 60, 30):
            pen.rectangle((x, y, x + 18, y + 14), outline=0, width=3)
    return image


@pytest.fixture(scope="session")
def png(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("scans") / "order.png"
    draw().save(path, dpi=(200, 200))
    return path


@pytest.fixture(scope="session")
def blank(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("scans") / "blank.png"
    Image.new("L", SIZE, 255).save(path, dpi=(200, 200))
    return path


def read(path: Path, *scripts: str | Script, runs: int | None = None, **others) -> Record:
    made = [Script(s) if isinstance(s, str) else s for s in scripts]
    settings = Settings(SCHEMA, engine="scripted", runs=runs or len(made), seed=40)
    return read_document(path, path.name, ScriptedEngine(made), settings, **others)


def fault(name) -> Script:
    return Script(FORM, name)


# --- how a document ends ---


@pytest.mark.parametrize(
    ("scripts", "status", "orders"),
    [
        ([FORM], DocumentStatus.OK, 1),
        ([FORM] * 3, DocumentStatus.OK, 1),
        ([LETTER], DocumentStatus.NOT_AN_ORDER, 0),
        ([""], DocumentStatus.NOT_AN_ORDER, 0),
        ([fault("empty")], DocumentStatus.NOT_AN_ORDER, 0),
        ([fault("incomplete")], DocumentStatus.INCOMPLETE, 1),
        ([fault("looping")], DocumentStatus.INCOMPLETE, 1),
        ([fault("raise")], DocumentStatus.FAILED, 0),
        ([fault("raise")] * 3, DocumentStatus.FAILED, 0),
        ([FORM, fault("raise"), FORM], DocumentStatus.INCOMPLETE, 1),
        ([FORM, fault("incomplete")], DocumentStatus.INCOMPLETE, 1),
    ],
)
def test_how_it_ends(png, scripts, status: DocumentStatus, orders: int) -> None:
    record = read(png, *scripts)
    assert record.status is status
    assert len(record.orders) == orders
    assert [p.status for p in record.pages] == [
        status if status is not DocumentStatus.NOT_AN_ORDER else DocumentStatus.OK
    ]
    assert len(record.readings) == len(scripts)


def test_a_blank_page_never_reaches_the_engine(blank) -> None:
    record = read(blank, fault("raise"), fault("die"))
    assert record.status is DocumentStatus.BLANK
    assert record.pages[0].ink is Ink.BLANK
    assert {r.status for r in record.readings} == {ReadingStatus.BLANK}
    assert (record.orders, record.error, record.markdown) == ((), "", "")


def test_an_order_with_its_checks(png) -> None:
    record = read(png, FORM, FORM)
    assert record.source == "order.png"
    (order,) = record.orders
    assert order.fields["total"].value == Decimal(1100)
    assert order.fields["order_no"].candidates[0].votes == 2
    assert [f.code for f in order.fields["due_date"].flags] == ["required_absent"]
    assert parse(record.markdown) == parse(FORM)
    assert record.stats["seconds"] >= 0
    assert record.pages[0].stored_size == SIZE


def test_runs_that_disagree_are_flagged(png) -> None:
    record = read(png, FORM, FORM.replace("A-1", "A-7"), FORM)
    number = record.orders[0].fields["order_no"]
    assert number.value == "A-1"
    assert "runs_disagree" in {f.code for f in number.flags}
    assert [(c.value, c.votes) for c in number.candidates] == [("A-1", 2), ("A-7", 1)]


def test_an_engine_that_raises_fails_the_reading_and_says_why(png) -> None:
    record = read(png, FORM, fault("raise"))
    failed = record.readings[1]
    assert (failed.status, failed.run, failed.seed) == (ReadingStatus.FAILED, 1, 41)
    assert "the script says so" in failed.error
    assert "take the fault out" in record.error
    # A run that failed has no vote.
    assert record.orders[0].fields["order_no"].candidates[0].votes == 1
    assert not record.orders[0].fields["order_no"].flags


def test_one_run_that_works_is_enough(png) -> None:
    record = read(png, fault("raise"), fault("raise"), FORM)
    assert record.status is DocumentStatus.INCOMPLETE
    assert [o.fields["order_no"].value for o in record.orders] == ["A-1"]
    assert "ボルト" in record.markdown


@dataclass
class Recording:
    """Remembers what it was asked, and raises or answers."""

    answer: str | BaseException = FORM
    name: str = "recording"
    calls: list[tuple[int, int, int]] = field(default_factory=list)

    def read(self, page: Page, *, run=0, seed=0, emit=None, cancel=None) -> Reading:
        self.calls.append((page.number, run, seed))
        if isinstance(self.answer, BaseException):
            raise self.answer
        if emit is not None:
            emit(Event("done", run, page.number))
        return Reading(self.name, run, seed, page.number, raw=self.answer)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such shape"), "ValueError: no such shape"),
        (EngineError("out of memory", remedy="use fewer runs"), "use fewer runs"),
    ],
)
def test_whatever_an_engine_throws(png, error: Exception, said: str) -> None:
    events: list[Event] = []
    settings = Settings(SCHEMA, runs=2)
    record = read_document(png, "x", Recording(error), settings, emit=events.append)
    assert record.status is DocumentStatus.FAILED
    assert record.error.count(said) == 1
    assert [(e.kind, e.run) for e in events] == [("error", 0), ("error", 1)]
    assert said in events[0].data["error"]


def test_ctrl_c_is_no_failed_reading(png) -> None:
    with pytest.raises(KeyboardInterrupt):
        read_document(png, "x", Recording(KeyboardInterrupt()), Settings(SCHEMA))


def test_runs_and_seeds_are_passed_on(png) -> None:
    engine = Recording()
    record = read_document(png, "x", engine, Settings(SCHEMA, runs=3, seed=40))
    assert engine.calls == [(1, 0, 40), (1, 1, 41), (1, 2, 42)]
    assert [(r.run, r.seed) for r in record.readings] == [(0, 40), (1, 41), (2, 42)]


def test_events_of_every_run(png) -> None:
    events: list[Event] = []
    read_document(png, "x", Recording(), Settings(SCHEMA, runs=2), emit=events.append)
    assert [(e.kind, e.run, e.page) for e in events] == [("done", 0, 1), ("done", 1, 1)]


def test_cancelled_from_the_start(png) -> None:
    engine = Recording()
    record = read_document(png, "x", engine, Settings(SCHEMA, runs=2), cancel=lambda: True)
    assert engine.calls == []
    assert record.status is DocumentStatus.INCOMPLETE
    assert {r.status for r in record.readings} == {ReadingStatus.INCOMPLETE}
    assert record.orders == ()


def test_cancelled_between_runs(png) -> None:
    engine = Recording()
    record = read_document(
        png, "x", engine, Settings(SCHEMA, runs=3), cancel=lambda: len(engine.calls) >= 2
    )
    assert len(engine.calls) == 2
    assert record.status is DocumentStatus.INCOMPLETE


def test_what_was_read_before_a_cancel_is_kept(png) -> None:
    engine = Recording()
    record = read_document(
        png, "x", engine, Settings(SCHEMA, runs=3), cancel=lambda: len(engine.calls) >= 1
    )
    assert len(record.orders) == 1


def test_a_hanging_engine_ends_when_cancelled(png) -> None:
    asked: list[int] = []

    def cancel() -> bool:
        asked.append(1)
        return len(asked) > 3

    record = read(png, fault("hang"), cancel=cancel)
    assert record.status is DocumentStatus.INCOMPLETE


# --- files ---


def test_several_pages(tmp_path) -> None:
    path = tmp_path / "two.tif"
    draw().save(path, save_all=True, append_images=[draw(), Image.new("L", SIZE, 255)])
    engine = Recording()
    record = read_document(path, "two.tif", engine, Settings(SCHEMA, runs=2))
    assert engine.calls == [(1, 0, 0), (2, 0, 0), (1, 1, 1), (2, 1, 1)]
    assert [p.status for p in record.pages] == [
        DocumentStatus.OK,
        DocumentStatus.OK,
        DocumentStatus.BLANK,
    ]
    assert record.status is DocumentStatus.OK
    # The same number on both pages: one order.
    assert [o.pages for o in record.orders] == [(1, 2, 3)]


def test_a_page_that_cannot_be_decoded_is_damaged(tmp_path) -> None:
    path = tmp_path / "cut.tif"
    draw().save(path, save_all=True, append_images=[draw((640, 480))], compression="tiff_lzw")
    path.write_bytes(path.read_bytes()[:-900])
    record = read(path, FORM)
    assert DocumentStatus.DAMAGED in {p.status for p in record.pages}
    assert record.status is DocumentStatus.DAMAGED
    assert len(record.orders) == 1
    assert any(p.flags for p in record.pages)


@pytest.mark.parametrize(
    ("name", "content"),
    [("empty.png", b""), ("broken.png", b"\x89PNG\r\n\x1a\nnothing"), ("notes.txt", b"hello")],
)
def test_a_file_that_is_no_scan(tmp_path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path, FORM)
    assert name in caught.value.message
    assert caught.value.remedy


def test_no_file(tmp_path) -> None:
    with pytest.raises(InputError):
        read(tmp_path / "gone.png", FORM)


# --- assembling from readings that are there already ---


def page(number: int = 1, ink: Ink = Ink.OK) -> Page:
    return Page(np.full((40, 60), 255, np.uint8), "x", number, (60, 40), ink=ink)


def reading(text: str, number: int = 1, status=ReadingStatus.OK, run: int = 0) -> Reading:
    return Reading("e", run, page=number, raw=text, status=status)


def test_stored_readings_give_the_same_record(png) -> None:
    record = read(png, FORM, FORM.replace("A-1", "A-7"), FORM)
    again = assemble(record.source, [page()], [[r] for r in record.readings], SCHEMA)
    assert again.orders == record.orders
    assert again.status is record.status
    assert again.markdown == record.markdown


def test_the_worst_page_decides() -> None:
    ok, failed = reading(FORM), reading("", 2, ReadingStatus.FAILED)
    letter = reading(LETTER, 2)
    looping = reading(FORM, 2, ReadingStatus.LOOPING)
    worst: Sequence[tuple[list[Page], list[Reading], DocumentStatus]] = [
        ([page(), page(2)], [ok, letter], DocumentStatus.OK),
        ([page(), page(2)], [ok, failed], DocumentStatus.FAILED),
        ([page(), page(2, Ink.DAMAGED)], [ok, reading("", 2)], DocumentStatus.DAMAGED),
        ([page(), page(2, Ink.DAMAGED)], [replace(failed, page=1), failed], DocumentStatus.FAILED),
        ([page(), page(2)], [ok, looping], DocumentStatus.INCOMPLETE),
        ([page(1, Ink.BLANK), page(2)], [reading(""), letter], DocumentStatus.NOT_AN_ORDER),
    ]  # fmt: skip
    for pages, readings, status in worst:
        assert assemble("x", pages, [readings], SCHEMA).status is status


def test_no_pages_at_all() -> None:
    record = assemble("x", [], [[]], SCHEMA)
    assert (record.orders, record.markdown) == ((), "")


def test_the_transcription_is_of_a_run_that_found_the_order() -> None:
    runs = [[reading(LETTER)], [reading(FORM, run=1)], [reading(FORM, run=2)]]
    record = assemble("x", [page()], runs, SCHEMA)
    assert "ボルト" in record.markdown
    assert len(record.orders) == 1


def test_pages_are_shown_one_after_the_other() -> None:
    record = assemble("x", [page(), page(2)], [[reading("甲"), reading("乙", 2)]], SCHEMA)
    assert record.markdown.index("甲") < record.markdown.index("乙")


def test_the_fax_header_line_is_in_the_record() -> None:
    record = assemble("x", [page()], [[reading(f"2026/02/09 10:15 P.1/1\n\n{FORM}")]], SCHEMA)
    assert [t.page for t in record.transmission] == [1]
    assert record.orders[0].fields["order_date"].state is FieldState.ABSENT


def test_the_record_survives_the_disk(png) -> None:
    record = read(png, FORM, fault("raise"), FORM.replace("A-1", "A-7"))
    assert from_json(to_json(record)) == record


def test_words_become_a_grid_and_a_reply_is_parsed() -> None:
    words = (Word("発注書", 0.9, quad_of_box((5, 5, 35, 15))),)
    boxes = to_transcript(Reading("e", words=words, raw="| a |\n|---|\n"), page(), SCHEMA)
    assert [c.text for c in boxes.lines] == ["発注書"]
    assert boxes.lines[0].quad is not None
    assert to_transcript(reading(FORM), page(), SCHEMA) == parse(FORM)


# --- engines that read all runs of a page at once ---


@dataclass
class AllRuns(Recording):
    """Answers all runs of a page in one call."""

    missing: int = 0
    asked: list[tuple[int, list[int], list[int]]] = field(default_factory=list)

    def read_runs(self, page: Page, *, runs, seeds, emit=None, cancel=None) -> list[Reading]:
        self.asked.append((page.number, list(runs), list(seeds)))
        pairs = list(zip(runs, seeds, strict=True))[self.missing :]
        return [self.read(page, run=r, seed=s, emit=emit, cancel=cancel) for r, s in pairs]


def test_all_runs_of_a_page_are_one_call(tmp_path) -> None:
    path = tmp_path / "two.tif"
    draw().save(path, save_all=True, append_images=[draw(), Image.new("L", SIZE, 255)])
    engine = AllRuns()
    assert isinstance(engine, RunsEngine)
    assert not isinstance(Recording(), RunsEngine)
    record = read_document(path, "two.tif", engine, Settings(SCHEMA, runs=3, seed=40))
    assert engine.asked == [(1, [0, 1, 2], [40, 41, 42]), (2, [0, 1, 2], [40, 41, 42])]
    singly = read_document(path, "two.tif", Recording(), Settings(SCHEMA, runs=3, seed=40))
    assert record.readings == singly.readings
    assert record.orders == singly.orders
    assert record.pages == singly.pages


def test_a_call_for_all_runs_that_breaks_fails_them_all(png) -> None:
    events: list[Event] = []
    engine = AllRuns(EngineError("out of memory", remedy="use fewer runs"))
    record = read_document(png, "x", engine, Settings(SCHEMA, runs=3), emit=events.append)
    assert record.status is DocumentStatus.FAILED
    assert [(r.run, r.seed, r.status) for r in record.readings] == [
        (k, k, ReadingStatus.FAILED) for k in range(3)
    ]
    assert record.error.count("out of memory") == 1
    assert [(e.kind, e.run) for e in events] == [("error", k) for k in range(3)]


def test_a_reading_that_is_missing_is_no_blank(png) -> None:
    record = read_document(png, "x", AllRuns(missing=1), Settings(SCHEMA, runs=2))
    assert record.status is DocumentStatus.FAILED
    assert "1 readings for 2 runs" in record.error


def test_all_runs_are_cancelled_together(png) -> None:
    engine = AllRuns()
    record = read_document(png, "x", engine, Settings(SCHEMA, runs=2), cancel=lambda: True)
    assert engine.asked == []
    assert [(r.run, r.status) for r in record.readings] == [
        (0, ReadingStatus.INCOMPLETE),
        (1, ReadingStatus.INCOMPLETE),
    ]
