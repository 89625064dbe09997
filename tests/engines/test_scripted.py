from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.event_data import data_of
from ocr_pipeline.engines.scripted import Fault, Script, ScriptedEngine
from ocr_pipeline.errors import EngineError, UsageError
from ocr_pipeline.pages.page import Ink, Page

PAGE = Page(np.zeros((10, 10), np.uint8), "a.tif", number=3)
TABLE = "| 品名 | 数量 |\n|---|---|\n| ボルト | 10 |"


def saved(tmp_path, content):
    path = tmp_path / "replies.json"
    path.write_text(content, encoding="utf-8")
    return str(path)


class TestRead:
    def test_run_k_gets_the_kth_reply_round_and_round(self):
        engine = ScriptedEngine([Script("a"), Script("b")])
        readings = [engine.read(PAGE, run=k, seed=70 + k) for k in range(5)]
        assert [r.raw for r in readings] == list("ababa")
        assert [(r.run, r.seed, r.page, r.engine) for r in readings] == [
            (k, 70 + k, 3, "scripted") for k in range(5)
        ]
        assert {r.status for r in readings} == {ReadingStatus.OK}

    def test_it_says_what_it_did(self):
        events = []
        ScriptedEngine([Script(TABLE)]).read(PAGE, run=2, emit=events.append)
        assert [(e.kind, e.run, e.page, e.data) for e in events] == [
            ("committed", 2, 3, {"text": TABLE})
        ]

    def test_a_blank_page_never_reaches_the_script(self):
        events = []
        page = Page(PAGE.image, "a.tif", number=3, ink=Ink.BLANK)
        reading = ScriptedEngine([Script("x", "raise")]).read(page, run=1, emit=events.append)
        assert (reading.status, reading.raw, reading.run) == (ReadingStatus.BLANK, "", 1)
        assert events == []


class TestFaults:
    def test_raise(self):
        with pytest.raises(EngineError) as caught:
            ScriptedEngine([Script("x", "raise")]).read(PAGE)
        assert caught.value.remedy

    @pytest.mark.parametrize("fault", ["incomplete", "looping"])
    def test_what_was_written_so_far_comes_back(self, fault):
        reading = ScriptedEngine([Script(TABLE, fault)]).read(PAGE)
        assert reading.status == ReadingStatus(fault)
        assert reading.raw == TABLE

    def test_an_empty_reply_is_no_failure(self):
        reading = ScriptedEngine([Script(TABLE, "empty")]).read(PAGE)
        assert (reading.status, reading.raw, reading.error) == (ReadingStatus.OK, "", "")

    def test_it_hangs_until_it_is_cancelled(self):
        asked = iter([False, False, True])
        started = time.perf_counter()
        reading = ScriptedEngine([Script(TABLE, "hang")]).read(PAGE, cancel=lambda: next(asked))
        assert time.perf_counter() - started >= 0.02
        assert reading.status is ReadingStatus.INCOMPLETE
        assert next(asked, None) is None

    def test_it_dies_as_a_process(self):
        code = (
            "import numpy as np\n"
            "from ocr_pipeline.engines.scripted import Script, ScriptedEngine\n"
            "from ocr_pipeline.pages.page import Page\n"
            "try:\n"
            "    ScriptedEngine([Script('x', 'die')]).read(Page(np.zeros((9, 9), np.uint8), 'a'))\n"
            "finally:\n"
            "    print('survived')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == 3
        assert done.stdout == ""

    def test_a_fault_concerns_its_own_run_only(self):
        engine = ScriptedEngine([Script("a"), Script("", "raise"), Script("c")])
        assert engine.read(PAGE, run=0).raw == "a"
        with pytest.raises(EngineError):
            engine.read(PAGE, run=1)
        assert engine.read(PAGE, run=2).raw == "c"


class TestDenoising:
    SCRIPT = Script(TABLE, steps=4, canvas=12)

    def events(self, script=SCRIPT, seed=0, **arguments):
        events = []
        reading = ScriptedEngine([script]).read(PAGE, seed=seed, emit=events.append, **arguments)
        return reading, events

    def test_drafts_come_before_what_is_committed(self):
        reading, events = self.events()
        assert (reading.raw, reading.status) == (TABLE, ReadingStatus.OK)
        canvases = -(-len(TABLE) // 12)
        assert [e.kind for e in events] == [
            "page",
            *(["step", "draft"] * 4 + ["committed"]) * canvases,
        ]
        assert {(e.run, e.page) for e in events} == {(0, 3)}
        committed = [e.data["text"] for e in events if e.kind == "committed"]
        assert "".join(committed) == TABLE
        drafts = [data_of(e) for e in events if e.kind == "draft"]
        assert all(len(d.entropy) == len(d.text) for d in drafts)
        assert drafts[3].text == committed[0] != drafts[0].text

    def test_what_changed_is_what_differs(self):
        drafts = [data_of(e) for e in self.events()[1] if e.kind == "draft"][:4]
        for before, after in pairwise(drafts):
            differs = {
                i for i, (a, b) in enumerate(zip(before.text, after.text, strict=True)) if a != b
            }
            assert after.changed == differs

    def test_doubt_falls_and_the_steps_are_counted(self):
        steps = [data_of(e) for e in self.events()[1] if e.kind == "step"][:4]
        assert [s.step for s in steps] == [1, 2, 3, 4]
        entropy = [s.entropy for s in steps]
        assert entropy == sorted(entropy, reverse=True)
        assert entropy[0] > entropy[-1]

    def test_the_seed_makes_the_noise(self):
        def drafts(seed):
            return [e.data["text"] for e in self.events(seed=seed)[1] if e.kind == "draft"]

        assert drafts(1) == drafts(1) != drafts(2)

    def test_it_stops_within_a_step(self):
        asked = iter([False] * 6 + [True])
        reading, events = self.events(cancel=lambda: next(asked))
        assert (reading.status, reading.raw) == (ReadingStatus.INCOMPLETE, TABLE[:12])
        assert next(asked, None) is None
        assert [e.kind for e in events].count("draft") == 6

    def test_a_step_takes_its_time(self):
        started = time.perf_counter()
        self.events(Script("ab", steps=3, pause=0.02))
        assert time.perf_counter() - started >= 0.06

    def test_faults_stay_what_they_are(self):
        assert self.events(Script(TABLE, "looping", 2))[0].status is ReadingStatus.LOOPING
        reading, events = self.events(Script(TABLE, "empty", 2))
        assert (reading.raw, reading.status) == ("", ReadingStatus.OK)
        assert [e.kind for e in events] == ["page"]

    def test_a_prompt_is_answered_like_a_page(self):
        events = []
        engine = ScriptedEngine([Script("a"), self.SCRIPT])
        reading = engine.chat("?", run=1, seed=3, emit=events.append)
        assert (reading.raw, reading.run, reading.seed, reading.page) == (TABLE, 1, 3, 1)
        assert {(e.run, e.page) for e in events} == {(1, 1)}


class TestLoad:
    def test_texts_and_faults(self, tmp_path):
        content = json.dumps([TABLE, {"text": "x", "fault": "looping"}, {"text": "y"}])
        engine = ScriptedEngine.load(saved(tmp_path, content))
        readings = [engine.read(PAGE, run=k) for k in range(3)]
        assert [r.raw for r in readings] == [TABLE, "x", "y"]
        assert [str(r.status) for r in readings] == ["ok", "looping", "ok"]

    @pytest.mark.parametrize("fault", get_args(Fault))
    def test_every_fault_can_be_named(self, tmp_path, fault):
        content = json.dumps([{"text": "", "fault": fault}])
        assert isinstance(ScriptedEngine.load(saved(tmp_path, content)), ScriptedEngine)

    def test_denoising(self, tmp_path):
        content = json.dumps([{"text": "ab", "steps": 2, "canvas": 1, "pause": 0.001}])
        events = []
        ScriptedEngine.load(saved(tmp_path, content)).read(PAGE, emit=events.append)
        assert [e.kind for e in events].count("draft") == 4

    @pytest.mark.parametrize(
        "entry", [{"steps": -1}, {"canvas": 0}, {"pause": -0.1}, {"steps": "many"}]
    )
    def test_denoising_that_cannot_be(self, tmp_path, entry):
        with pytest.raises(UsageError):
            ScriptedEngine.load(saved(tmp_path, json.dumps([{"text": "a", **entry}])))

    @pytest.mark.parametrize("content", ["", "{", "[1]", '[{"txt": "a"}]', "3", "null", "[[]]"])
    def test_what_is_no_list_of_replies_is_refused(self, tmp_path, content):
        with pytest.raises(UsageError) as caught:
            ScriptedEngine.load(saved(tmp_path, content))
        assert "replies.json" in caught.value.message
        assert "JSON list" in caught.value.remedy

    @pytest.mark.parametrize("content", [{"text": TABLE}, [{"text": 5}], [{"fault": ["raise"]}]])
    def test_entries_of_another_shape_are_refused(self, tmp_path, content):
        with pytest.raises(UsageError):
            ScriptedEngine.load(saved(tmp_path, json.dumps(content)))

    def test_an_unknown_fault_names_the_known_ones(self, tmp_path):
        with pytest.raises(UsageError) as caught:
            ScriptedEngine.load(saved(tmp_path, json.dumps([{"text": "", "fault": "explode"}])))
        assert "explode" in caught.value.message
        assert all(f in caught.value.remedy for f in get_args(Fault))

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(UsageError, match=r"none\.json"):
            ScriptedEngine.load(str(tmp_path / "none.json"))

    def test_a_file_in_another_encoding(self, tmp_path):
        path = tmp_path / "replies.json"
        path.write_bytes(json.dumps(["品名"], ensure_ascii=False).encode("cp932"))
        with pytest.raises(UsageError):
            ScriptedEngine.load(str(path))

    @pytest.mark.parametrize("content", ["[]", '""'])
    def test_no_replies_at_all(self, tmp_path, content):
        with pytest.raises(UsageError) as caught:
            ScriptedEngine.load(saved(tmp_path, content))
        assert caught.value.remedy
