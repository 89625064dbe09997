from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.stored import BROKEN, PageRun, line_of, page_run_of, read_lines
from ocr_pipeline.engines.base import Char, Reading, ReadingStatus, Word
from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.tables.transcript import Cell, Table, TableRepair, Transcript

QUAD = ((1.5, 2.0), (30.0, 2.5), (30.0, 12.0), (1.5, 11.5))
SMALL = ((1.5, 2.0), (8.0, 2.0), (8.0, 12.0), (1.5, 12.0))

texts = st.text(st.characters(), max_size=4)
shares = st.integers(0, 10**4).map(lambda n: n / 10**4)
others = st.lists(st.tuples(texts, shares), max_size=2).map(tuple)
quads = st.sampled_from([QUAD, SMALL])
chars = st.builds(Char, texts, shares, others, st.none() | quads)
details = st.lists(chars, max_size=4).map(tuple)
words = st.builds(Word, texts, shares, quads, others, details)
cells = st.builds(Cell, texts, shares, st.none() | quads, others, st.just(1), details)
rows = st.lists(st.tuples(cells, cells), min_size=1, max_size=2)
tables = rows.map(lambda r: Table(r[0], tuple(r[1:])))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(words, min_size=1, max_size=3).map(tuple),
    st.builds(
        Transcript,
        st.lists(cells, max_size=2).map(tuple),
        st.lists(tables, max_size=2).map(tuple),
        st.just(1),
        st.lists(st.builds(TableRepair, texts, texts), max_size=2).map(tuple),
    ),
)
def test_words_and_their_tables_come_back(found: tuple[Word, ...], transcript: Transcript) -> None:
    reading = Reading("e", 1, 7, 1, words=found, stats={"seconds": 1.25})
    stored = PageRun("a.tif", 1, 1, 2, reading, transcript, seconds=2.125)
    line = line_of(stored)
    assert "\n" not in line
    line.encode()
    assert page_run_of(line) == stored


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(), max_size=12), st.data())
def test_a_reply_comes_back_and_is_parsed_again(raw: str, data: st.DataObject) -> None:
    known = data.draw(st.booleans())
    seen = tuple(Char(c, data.draw(shares)) for c in raw) if known else ()
    reading = Reading("e", 0, 0, 3, raw, seen, status=ReadingStatus.INCOMPLETE, error="cut")
    back = page_run_of(line_of(PageRun("日本.tif", 0, 3, 3, reading, Transcript())))
    assert back.reading == reading
    assert back.transcript.page == 3


def test_a_reply_in_markdown_keeps_its_tables() -> None:
    raw = "# 発注書\n\n| 品名 | 数量 |\n|---|---|\n| 軸受 | 3 |\n| 座金 |\n"
    back = page_run_of(line_of(PageRun("a", 0, 1, 1, Reading("e", raw=raw), Transcript())))
    assert [[c.text for c in r] for r in back.transcript.tables[0].rows] == [
        ["軸受", "3"],
        ["座金", ""],
    ]
    assert [r.code for r in back.transcript.repairs] == ["short_row"]


def test_characters_of_words_can_be_left_out() -> None:
    word = Word("軸", 0.5, QUAD, (), (Char("軸", 0.5, (("釉", 0.4),), SMALL),))
    cell = Cell("軸", 0.5, QUAD, (), 1, word.chars)
    stored = PageRun("a", 0, 1, 1, Reading("e", words=(word,)), Transcript((cell,)))
    back = page_run_of(line_of(stored), details=False)
    assert back.reading is not None
    assert back.reading.words == (Word("軸", 0.5, QUAD),)
    assert back.transcript == stored.transcript


def test_a_run_that_broke_before_there_was_a_page() -> None:
    broken = PageRun("a.tif", 2, 0, 0, None, Transcript(), "the worker process died (SIGKILL)")
    assert page_run_of(line_of(broken)) == broken


def changed(**changes: Any) -> str:
    reading = Reading("e", words=(Word("軸", 0.5, QUAD),))
    entry = json.loads(line_of(PageRun("a", 0, 1, 1, reading, Transcript())))
    return json.dumps(entry | changes)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no json",
        "[]",
        "{}",
        changed(reading=None),
        changed(reading={"engine": "e", "seed": 0, "status": "lost", "stats": {}}),
        changed(transcript={"lines": []}),
        changed(page=0),
    ],
)
def test_what_is_no_line(line: str) -> None:
    with pytest.raises(BROKEN):
        page_run_of(line)


@pytest.mark.parametrize("broken", [b"{", b"[1]", b"3", b"\xff", changed(document=[1]).encode()])
def test_a_broken_line_is_named(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(changed().encode() + b"\n" + broken + b"\n")
    found = read_lines(path, page_run_of)
    assert next(found).page == 1
    with pytest.raises(UnreadableFileError, match=r"runs\.jsonl, line 2, is broken") as caught:
        next(found)
    assert "delete that line" in caught.value.remedy
