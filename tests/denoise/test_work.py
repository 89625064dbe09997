from __future__ import annotations

import numpy as np
import pytest

from ocr_pipeline.denoise.work import chatting, reading
from ocr_pipeline.engines.base import ChatEngine, Reading, ReadingStatus, RunsEngine
from ocr_pipeline.engines.events import Event
from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.errors import EngineError
from ocr_pipeline.pages.page import Ink, Page

PAGE = Page(np.zeros((9, 9), np.uint8), "a.tif", number=2)


def happened(work, cancel=lambda: False):
    events = []
    work(events.append, cancel)
    return events


def ends(events):
    return [(e.run, e.page, e.data["status"], e.data["text"]) for e in events if e.kind == "done"]


class Together:
    """Reads runs at once; may say `done` by itself."""

    name = "together"

    def __init__(self, says_done=False, fails=False):
        self.says_done, self.fails = says_done, fails

    def read(self, page, **_):
        raise AssertionError("not asked")

    def read_runs(self, page, *, runs, seeds, emit=None, cancel=None):
        if self.says_done:
            emit(Event("done", 0, page.number, data={"status": "ok", "text": "own", "stats": {}}))
        if self.fails:
            raise EngineError("out of memory", remedy="fewer runs")
        return [
            Reading(self.name, r, s, page.number, raw=f"{r}/{s}")
            for r, s in zip(runs, seeds, strict=True)
        ]


class TestReading:
    def test_every_run_ends(self):
        events = happened(reading(ScriptedEngine([Script("a"), Script("b")]), PAGE, 3, 7))
        assert ends(events) == [(0, 2, "ok", "a"), (1, 2, "ok", "b"), (2, 2, "ok", "a")]
        assert [e.kind for e in events] == ["committed", "done"] * 3

    def test_runs_that_are_read_together(self):
        assert isinstance(Together(), RunsEngine)
        events = happened(reading(Together(), PAGE, 2, 7))
        assert ends(events) == [(0, 2, "ok", "0/7"), (1, 2, "ok", "1/8")]

    def test_what_the_engine_said_is_not_said_again(self):
        events = happened(reading(Together(says_done=True), PAGE, 2, 0))
        assert ends(events) == [(0, 2, "ok", "own"), (1, 2, "ok", "1/1")]

    def test_a_run_that_breaks_fails_alone(self):
        engine = ScriptedEngine([Script("a"), Script("", "raise"), Script("c")])
        events = happened(reading(engine, PAGE, 3, 0))
        assert ends(events) == [(0, 2, "ok", "a"), (1, 2, "failed", ""), (2, 2, "ok", "c")]
        (error,) = [e for e in events if e.kind == "error"]
        assert (error.run, error.data["error"]) == (1, "the script says so")
        assert error.data["remedy"]

    def test_runs_that_break_together(self):
        events = happened(reading(Together(says_done=True, fails=True), PAGE, 3, 0))
        assert [(r, s) for r, _, s, _ in ends(events)] == [(0, "ok"), (1, "failed"), (2, "failed")]
        assert [e.run for e in events if e.kind == "error"] == [1, 2]

    def test_whatever_an_engine_throws(self):
        class Broken(ScriptedEngine):
            def read(self, page, **_):
                return 1 / 0

        events = happened(reading(Broken([Script("a")]), PAGE, 1, 0))
        assert events[0].data["error"] == "ZeroDivisionError: division by zero"
        assert ends(events) == [(0, 2, "failed", "")]

    def test_a_reason_that_comes_with_the_reading(self):
        class Reasons(ScriptedEngine):
            def read(self, page, **_):
                return Reading("x", page=2, status=ReadingStatus.LOOPING, error="goes round")

        events = happened(reading(Reasons([Script("a")]), PAGE, 1, 0))
        assert [e.kind for e in events] == ["error", "done"]
        assert events[0].data["error"] == "goes round"

    def test_nobody_waits(self):
        asked = iter([False, False, False, False, True, True, True])
        engine = ScriptedEngine([Script("abc", steps=2)])
        events = happened(reading(engine, PAGE, 3, 0), lambda: next(asked, True))
        assert [s for _, _, s, _ in ends(events)] == ["ok", "incomplete", "incomplete"]
        assert {e.run for e in events if e.kind == "draft"} == {0}

    def test_a_blank_page(self):
        blank = Page(PAGE.image, "a.tif", ink=Ink.BLANK)
        events = happened(reading(ScriptedEngine([Script("x", "raise")]), blank, 1, 0))
        assert ends(events) == [(0, 1, "blank", "")]


class TestChatting:
    def test_runs(self):
        engine = ScriptedEngine([Script("a"), Script("b")])
        assert isinstance(engine, ChatEngine)
        events = happened(chatting(engine, "scripted", "?", 2, 5))
        assert ends(events) == [(0, 1, "ok", "a"), (1, 1, "ok", "b")]

    def test_a_run_that_breaks(self):
        engine = ScriptedEngine([Script("", "raise"), Script("b")])
        events = happened(chatting(engine, "scripted", "?", 2, 5))
        assert ends(events) == [(0, 1, "failed", ""), (1, 1, "ok", "b")]

    def test_an_engine_that_only_reads(self):
        assert not isinstance(Together(), ChatEngine)
        assert not isinstance(ScriptedEngine([Script("a")]), RunsEngine)


@pytest.mark.parametrize("runs", [1, 4])
def test_seeds_count_up(runs):
    seeds = []

    class Seeds(ScriptedEngine):
        def read(self, page, *, run=0, seed=0, emit=None, cancel=None):
            seeds.append((run, seed))
            return super().read(page, run=run, seed=seed, emit=emit, cancel=cancel)

    happened(reading(Seeds([Script("a")]), PAGE, runs, 40))
    assert seeds == [(k, 40 + k) for k in range(runs)]
