from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ocr_pipeline.engines import event_log
from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.event_data import Committed, Done, Draft, Step, Words, data_of
from ocr_pipeline.engines.event_log import Entry, Header, LogWriter, from_plain, read_log, to_json
from ocr_pipeline.engines.events import EVENT_VERSION, Event
from ocr_pipeline.errors import (
    InputError,
    OutputError,
    UnreadableFileError,
    UnsupportedFileError,
    UsageError,
)

QUAD = [[0.0, 0.0], [9.0, 0.0], [9.0, 5.0], [0.0, 5.0]]
EVENTS = (
    Event("queued", data={"position": 2}),
    Event("page", 0, 3, data={"engine": "x", "tiling": "page", "tiles": [QUAD], "runs": [0, 1]}),
    Event("step", 1, 3, data={"canvas": 0, "step": 1, "steps": 4, "entropy": 2.5}),
    Event("draft", 1, 3, 7, {"text": "発主", "entropy": [0.1, 2.0], "changed": [1]}),
    Event("committed", 1, 3, 7, {"text": "発注\n", "confidence": [1.0, 0.5, 1.0]}),
    Event("words", 1, 3, data={"words": [{"text": "発注", "confidence": 0.5, "quad": QUAD}]}),
    Event("error", 1, 3, data={"error": "no", "remedy": "yes"}),
    Event("done", 1, 3, data={"status": "ok", "text": "発注", "stats": {"steps": 4}}),
)
HEADER = Header("a.tif", {"engine": "x", "runs": 2, "options": {"k": "v"}}, "0.1")


def recorded(path, events=EVENTS):
    with LogWriter(path, HEADER) as writer:
        for i, event in enumerate(events):
            writer.write(Entry(i / 8, event))
    return path


class TestEvents:
    @pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.kind)
    def test_there_and_back(self, event):
        line = to_json(event)
        assert "\n" not in line
        assert from_plain(json.loads(line)) == event

    @settings(deadline=None, max_examples=50)
    @given(st.text(), st.lists(st.floats(allow_nan=False, allow_infinity=False)))
    def test_any_text_and_number(self, text, numbers):
        event = Event("draft", data={"text": text, "entropy": numbers})
        assert from_plain(json.loads(to_json(event))) == event

    @pytest.mark.parametrize("text", ["\udc80", "発\ud83d注"])
    def test_half_a_surrogate_pair_can_be_sent(self, text):
        line = to_json(Event("committed", data={"text": text}))
        assert json.loads(line.encode())["data"]["text"] == text

    def test_what_is_not_finite_is_null(self):
        event = Event("draft", data={"text": "ab", "entropy": [float("nan"), float("inf")]})
        assert from_plain(json.loads(to_json(event))).data["entropy"] == [None, None]

    @pytest.mark.parametrize(
        ("plain", "named"),
        [
            ({"kind": "drift"}, "kind"),
            ({"kind": "draft"}, "text"),
            ({"kind": "draft", "data": {"text": 5}}, "text"),
            ({"kind": "draft", "data": {"text": "a", "changed": "no"}}, "changed"),
            ({"kind": "done", "data": {"status": "splendid"}}, "status"),
            ({"kind": "words", "data": {"words": ["a"]}}, "words.0"),
            ({"kind": "words", "data": {"words": [{"text": "a", "quad": [[0, 0]]}]}}, "quad"),
            ({"kind": "step", "run": "first", "data": {"step": 1}}, "run"),
            ([], ""),
            (None, ""),
        ],
    )
    def test_what_is_no_event(self, plain, named):
        with pytest.raises(InputError, match="no event") as caught:
            from_plain(plain)
        assert named in caught.value.message
        assert caught.value.remedy

    def test_another_version_is_named(self):
        with pytest.raises(InputError, match=str(EVENT_VERSION + 1)):
            from_plain({"kind": "queued", "data": {"position": 0}, "version": EVENT_VERSION + 1})


class TestData:
    def test_values_by_kind(self):
        carried = [data_of(e) for e in EVENTS]
        assert carried[2] == Step(1, 4, 0, entropy=2.5)
        assert carried[3] == Draft("発主", (0.1, 2.0), frozenset({1}))
        assert carried[4] == Committed("発注\n", (1.0, 0.5, 1.0))
        assert isinstance(carried[5], Words)
        assert carried[5].words[0].quad == tuple(map(tuple, QUAD))
        assert carried[7] == Done(ReadingStatus.OK, "発注", {"steps": 4})

    def test_what_is_left_out_has_a_default(self):
        assert data_of(Event("committed", data={"text": "a"})) == Committed("a")

    def test_what_is_needed_is_needed(self):
        with pytest.raises(ValidationError):
            data_of(Event("committed", data={"confidence": []}))


class TestRecording:
    def test_there_and_back(self, tmp_path):
        log = read_log(recorded(tmp_path / "new" / "a.jsonl"))
        assert log.complete
        assert log.header == HEADER
        assert log.entries == tuple(Entry(i / 8, e) for i, e in enumerate(EVENTS))

    def test_every_line_is_there_at_once(self, tmp_path):
        path = tmp_path / "a.jsonl"
        part = tmp_path / "a.jsonl.part"
        writer = LogWriter(path, HEADER)
        for i, event in enumerate(EVENTS):
            writer.write(Entry(float(i), event))
            log = read_log(part)
            assert (log.entries[-1].event, len(log.entries), log.complete) == (event, i + 1, False)
        assert not path.exists()
        writer.close()
        assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]

    def test_what_had_the_name_is_kept_until_the_end(self, tmp_path):
        path = recorded(tmp_path / "a.jsonl", EVENTS[:1])
        with LogWriter(path, HEADER) as writer:
            writer.write(Entry(0.0, EVENTS[1]))
            assert read_log(path).entries[0].event == EVENTS[0]
        assert read_log(path).entries[0].event == EVENTS[1]

    def test_an_error_keeps_what_was_recorded(self, tmp_path):
        path = tmp_path / "a.jsonl"

        def run():
            with LogWriter(path, HEADER) as writer:
                writer.write(Entry(0.0, EVENTS[0]))
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run()
        assert len(read_log(path).entries) == 1

    def test_an_error_before_the_first_event_leaves_nothing(self, tmp_path):
        path = recorded(tmp_path / "a.jsonl")
        before = path.read_bytes()
        with pytest.raises(UsageError), LogWriter(path, HEADER):
            raise UsageError("no such model")
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]

    def test_places_that_cannot_be_written(self, tmp_path):
        with pytest.raises(OutputError, match="not a file") as caught:
            LogWriter(tmp_path, HEADER)
        assert "--record" in caught.value.remedy
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError, match="cannot be written"):
            LogWriter(tmp_path / "file" / "a.jsonl", HEADER)

    def test_a_full_disk(self, tmp_path, monkeypatch):
        path = tmp_path / "a.jsonl"

        def fail(plain):
            raise OSError(28, "No space left on device")

        def run():
            with LogWriter(path, HEADER) as writer:
                writer.write(Entry(0.0, EVENTS[0]))
                monkeypatch.setattr(writer, "_write", fail)
                writer.write(Entry(1.0, EVENTS[1]))

        with pytest.raises(OutputError, match="No space left"):
            run()
        assert not path.exists()
        assert len(read_log(tmp_path / "a.jsonl.part").entries) == 1


class TestReading:
    @settings(deadline=None, max_examples=60)
    @given(st.data())
    def test_cut_anywhere_it_is_good_up_to_there(self, tmp_path_factory, data):
        folder = tmp_path_factory.mktemp("cut")
        whole = recorded(folder / "a.jsonl").read_bytes()
        start = whole.index(b"\n") + 1
        cut = data.draw(st.integers(start, len(whole) - 1))
        (folder / "b.jsonl").write_bytes(whole[:cut])
        log = read_log(folder / "b.jsonl")
        lines = whole[start:cut].count(b"\n")
        # A last line that only lacks its line break is whole.
        assert len(log.entries) in (lines, min(lines + 1, len(EVENTS)))
        assert [e.event for e in log.entries] == list(EVENTS[: len(log.entries)])
        assert log.complete == (cut == len(whole) - 1)

    def test_a_broken_line_in_the_middle_is_named(self, tmp_path):
        path = recorded(tmp_path / "a.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines()
        for broken in ("{", '{"t": -1, "kind": "queued"}', '{"kind": "queued"}', "3", "[]"):
            path.write_text("\n".join([*lines[:4], broken, *lines[5:]]), encoding="utf-8")
            with pytest.raises(UnreadableFileError, match="line 5") as caught:
                read_log(path)
            assert caught.value.remedy

    @pytest.mark.parametrize(
        "content", ["", "\n", "{}", "[]", "7", '{"log": "other", "version": 1}', '{"log"', "発注"]
    )
    def test_what_is_no_recording(self, tmp_path, content):
        path = tmp_path / "a.jsonl"
        path.write_text(content, encoding="cp932")
        with pytest.raises(UnsupportedFileError, match="no recording"):
            read_log(path)

    def test_a_broken_header(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"log": "ocr-pipeline", "version": 1, "settings": 5}')
        with pytest.raises(UnsupportedFileError, match="header"):
            read_log(path)

    def test_another_version_says_what_to_do(self, tmp_path):
        path = tmp_path / "a.jsonl"
        writer = LogWriter(path, replace(HEADER, version=9))
        writer.close()
        with pytest.raises(InputError, match="version 9") as caught:
            read_log(path)
        assert "record it again" in caught.value.remedy

    @pytest.mark.parametrize("name", ["none.jsonl", "."])
    def test_what_is_not_there(self, tmp_path, name):
        with pytest.raises(UnreadableFileError, match="cannot be read"):
            read_log(tmp_path / name)

    def test_nothing_happened(self, tmp_path):
        log = read_log(recorded(tmp_path / "a.jsonl", ()))
        assert (log.entries, log.complete) == ((), True)

    def test_the_version_is_that_of_the_events(self):
        assert event_log.Header().version == EVENT_VERSION
