"""Page-runs as lines of `runs.jsonl`: all that an engine said, and what scoring needs besides.

One line a page and run:

    {"document": …, "run": 0, "page": 1, "pages": 2, "seconds": 2.9, "reading": {…},
     "transcript": {…} | null}

`reading` is the whole `Reading`. A reply in Markdown is parsed again whenever it is scored; words
with quads can be arranged as tables only with the page image at hand, so `transcript` holds what
came of it. Details of characters are stored as columns. Confidences have four digits, and quads
tenths of a pixel: finer than either is known.

A document or run that broke before there was a reading is a line with `page` 0 and an `error`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ocr_pipeline.engines.base import Char, Reading, ReadingStatus, Word
from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.geometry import Quad
from ocr_pipeline.tables.markdown import parse
from ocr_pipeline.tables.transcript import Cell, Table, TableRepair, Transcript

Plain = dict[str, Any]
T = TypeVar("T")

BROKEN = (ValueError, LookupError, TypeError, AttributeError)
"""What reading a line that `line_of` did not write may raise."""

_DELETE_IT = "delete that line and run the same command again: only that document is read again"


@dataclass(frozen=True, slots=True)
class PageRun:
    """What one run saw on one page.

    Attributes:
        document: name of the file.
        run: 0-based.
        page: 1-based; 0 when the run broke before there was a page.
        pages: how many pages the document has.
        reading: the engine's; None when `page` is 0.
        transcript: the same as lines and tables.
        error: why there is no reading.
        seconds: the engine took; an equal share, when several runs were done together.
    """

    document: str
    run: int
    page: int
    pages: int
    reading: Reading | None
    transcript: Transcript
    error: str = ""
    seconds: float = 0.0


def line_of(page_run: PageRun) -> str:
    """One line of JSON, without the line feed."""
    reading, transcript = page_run.reading, page_run.transcript
    entry: Plain = {
        "document": page_run.document,
        "run": page_run.run,
        "page": page_run.page,
        "pages": page_run.pages,
    }
    if reading is None:
        entry["error"] = page_run.error
    else:
        entry["seconds"] = round(page_run.seconds, 3)
        entry["reading"] = _reading(reading)
        entry["transcript"] = _transcript(transcript) if reading.words else None
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate cannot be written as UTF-8, but as a JSON escape it can.
    return text.encode("utf-8", "backslashreplace").decode()


def page_run_of(line: str, *, details: bool = True) -> PageRun:
    """Read back what `line_of` wrote.

    Args:
        line: of `runs.jsonl`.
        details: also make the characters of words; scoring has those of the transcript.

    Raises:
        BROKEN: it is no such line.
    """
    entry = json.loads(line)
    key = place_of(entry)
    if not entry["page"]:
        return PageRun(*key, None, Transcript(), entry["error"])
    reading = _to_reading(entry["reading"], key, details)
    stored = entry["transcript"]
    if stored is None:
        transcript = parse(reading.raw, page=reading.page, chars=reading.chars)
    else:
        transcript = _to_transcript(stored, reading.page)
    return PageRun(*key, reading, transcript, seconds=entry["seconds"])


def place_of(entry: Plain) -> tuple[str, int, int, int]:
    """Document, run, page and pages of a line that was parsed.

    Raises:
        BROKEN: it is of another shape.
    """
    key = entry["document"], entry["run"], entry["page"], entry["pages"]
    if [type(part) for part in key] != [str, int, int, int]:
        raise TypeError(f"no document, run, page and pages: {key}")
    return key


def read_lines(path: Path, read: Callable[[str], T]) -> Iterator[T]:
    """What `read` makes of each whole line of a file; one that was broken off at the end is none.

    Args:
        path: of `runs.jsonl`.
        read: raises one of `BROKEN` when it cannot.

    Raises:
        UnreadableFileError: a line is broken.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                found = read(line.decode())
            except BROKEN as e:
                raise UnreadableFileError(
                    f"{path}, line {number}, is broken: {e!r}", remedy=_DELETE_IT
                ) from e
            yield found


def _reading(reading: Reading) -> Plain:
    plain: Plain = {
        "engine": reading.engine,
        "seed": reading.seed,
        "status": str(reading.status),
        "stats": reading.stats,
    }
    if reading.error:
        plain["error"] = reading.error
    if reading.raw:
        plain["raw"] = reading.raw
        plain["chars"] = _chars(reading.raw, reading.chars)
    if reading.words:
        plain["words"] = [_piece(w.text, w.confidence, w.quad, w) for w in reading.words]
    return plain


def _to_reading(plain: Plain, key: tuple[str, int, int, int], details: bool) -> Reading:
    raw = plain.get("raw", "")
    return Reading(
        plain["engine"],
        key[1],
        plain["seed"],
        key[2],
        raw,
        _to_chars(raw, plain.get("chars")),
        tuple(_to_word(w, details) for w in plain.get("words", ())),
        ReadingStatus(plain["status"]),
        plain.get("error", ""),
        plain["stats"],
    )


def _to_word(plain: Plain, details: bool) -> Word:
    quad = _to_quad(plain["quad"])
    if quad is None:
        raise ValueError("a word without its place")
    return Word(
        plain["text"],
        plain["confidence"],
        quad,
        tuple((t, p) for t, p in plain.get("alternatives", ())),
        _to_chars(plain["text"], plain.get("chars") if details else None),
    )


def _transcript(transcript: Transcript) -> Plain:
    return {
        "lines": [_cell(c) for c in transcript.lines],
        "tables": [
            [[_cell(c) for c in row] for row in (table.header, *table.rows)]
            for table in transcript.tables
        ],
        "repairs": [[r.code, r.detail] for r in transcript.repairs],
    }


def _to_transcript(plain: Plain, page: int) -> Transcript:
    tables = [[tuple(_to_cell(c, page) for c in row) for row in t] for t in plain["tables"]]
    return Transcript(
        tuple(_to_cell(c, page) for c in plain["lines"]),
        tuple(Table(header, tuple(rows)) for header, *rows in tables),
        page,
        tuple(TableRepair(code, detail) for code, detail in plain["repairs"]),
    )


def _cell(cell: Cell) -> Plain:
    return _piece(cell.text, cell.confidence, cell.quad, cell)


def _to_cell(plain: Plain, page: int) -> Cell:
    return Cell(
        plain["text"],
        plain["confidence"],
        _to_quad(plain["quad"]),
        tuple((t, p) for t, p in plain.get("alternatives", ())),
        page,
        _to_chars(plain["text"], plain.get("chars")),
    )


def _piece(text: str, confidence: float, quad: Quad | None, whole: Word | Cell) -> Plain:
    plain: Plain = {"text": text, "confidence": round(confidence, 4), "quad": _quad(quad)}
    if whole.alternatives:
        plain["alternatives"] = _alternatives(whole.alternatives)
    if whole.chars:
        plain["chars"] = _chars(text, whole.chars)
    return plain


def _chars(text: str, chars: Sequence[Char]) -> Plain | None:
    """Characters as columns; their texts only where they are not those of `text`."""
    if not chars:
        return None
    plain: Plain = {"confidence": [round(c.confidence, 4) for c in chars]}
    if any(c.quad is not None for c in chars):
        plain["quads"] = [_quad(c.quad) for c in chars]
    others = {str(i): _alternatives(c.alternatives) for i, c in enumerate(chars) if c.alternatives}
    if others:
        plain["alternatives"] = others
    texts = [c.text for c in chars]
    if texts != list(text):
        plain["texts"] = texts
    return plain


def _to_chars(text: str, plain: Plain | None) -> tuple[Char, ...]:
    if plain is None:
        return ()
    confidences = plain["confidence"]
    texts = plain.get("texts") or list(text)
    quads = plain.get("quads") or [None] * len(confidences)
    alternatives = plain.get("alternatives", {})
    others = {int(i): tuple((t, p) for t, p in found) for i, found in alternatives.items()}
    return tuple(
        Char(c, confidence, others.get(i, ()), _to_quad(quad))
        for i, (c, confidence, quad) in enumerate(zip(texts, confidences, quads, strict=True))
    )


def _alternatives(found: Sequence[tuple[str, float]]) -> list[list[str | float]]:
    return [[text, round(share, 4)] for text, share in found]


def _quad(quad: Quad | None) -> list[float] | None:
    return None if quad is None else [round(float(v), 1) for point in quad for v in point]


def _to_quad(plain: Sequence[float] | None) -> Quad | None:
    if plain is None:
        return None
    a, b, c, d, e, f, g, h = plain
    return (a, b), (c, d), (e, f), (g, h)
