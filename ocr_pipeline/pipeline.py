"""Read one document: file → pages → readings → transcripts → orders → record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ocr_pipeline.engines.base import Cancel, Engine, Reading, ReadingStatus, RunsEngine
from ocr_pipeline.engines.events import Emit, Event
from ocr_pipeline.errors import EngineError, OcrPipelineError
from ocr_pipeline.export.record import DocumentStatus, PageRecord, Record
from ocr_pipeline.orders import text
from ocr_pipeline.orders.agree import agree
from ocr_pipeline.orders.check import check
from ocr_pipeline.orders.extract import extract
from ocr_pipeline.orders.schema import Schema
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Ink, Page
from ocr_pipeline.settings import Settings
from ocr_pipeline.tables.grid import transcribe
from ocr_pipeline.tables.markdown import parse, render
from ocr_pipeline.tables.transcript import Transcript

_PAGE_STATUS = {
    ReadingStatus.OK: DocumentStatus.OK,
    ReadingStatus.BLANK: DocumentStatus.BLANK,
    ReadingStatus.INCOMPLETE: DocumentStatus.INCOMPLETE,
    ReadingStatus.LOOPING: DocumentStatus.INCOMPLETE,
    ReadingStatus.FAILED: DocumentStatus.FAILED,
}


def read_document(
    path: Path,
    source: str,
    engine: Engine,
    settings: Settings,
    *,
    emit: Emit | None = None,
    cancel: Cancel | None = None,
) -> Record:
    """Read one file into orders.

    Args:
        path: where the file is.
        source: how the result names it.
        engine: reads the pages; one instance serves many documents.
        settings: schema, runs, seed.
        emit: called with each event of each run.
        cancel: asked between runs; when true the record comes back `incomplete`.

    Raises:
        InputError: the file cannot be opened. A page that cannot be read is no error of the
            document: it is `damaged` or `failed` in the record.
    """
    started = time.perf_counter()
    pages = tuple(load_pages(path, source))
    runs = range(settings.runs)
    readings: Sequence[Sequence[Reading]]
    if isinstance(engine, RunsEngine):
        by_page = [read_page(engine, page, runs, settings.seed, emit, cancel) for page in pages]
        readings = [[of_page[run] for of_page in by_page] for run in runs]
    else:
        readings = [
            [
                reading
                for page in pages
                for reading in read_page(engine, page, [run], settings.seed, emit, cancel)
            ]
            for run in runs
        ]
    return assemble(source, pages, readings, settings.schema, time.perf_counter() - started)


def assemble(
    source: str,
    pages: Sequence[Page],
    readings: Sequence[Sequence[Reading]],
    schema: Schema,
    seconds: float = 0.0,
) -> Record:
    """Make a record of readings that are there already (`readings[run][page]`)."""
    transcripts = [
        [to_transcript(r, p, schema) for r, p in zip(run, pages, strict=True)] for run in readings
    ]
    extracted = [extract(run, schema) for run in transcripts]
    usable = [
        orders
        for (orders, _), run in zip(extracted, readings, strict=True)
        if any(_says_something(r) for r in run)
    ]
    orders = tuple(check(order, schema) for order in agree(usable))
    per_page = [_page_status(p, [run[i] for run in readings]) for i, p in enumerate(pages)]
    # One transcription is shown: that of the first run in which an order was found.
    shown = next((t for t, (found, _) in zip(transcripts, extracted, strict=True) if found), None)
    return Record(
        source=source,
        status=_status(per_page, found=bool(orders)),
        error="\n".join(dict.fromkeys(r.error for run in readings for r in run if r.error)),
        pages=tuple(PageRecord.of(p, s) for p, s in zip(pages, per_page, strict=True)),
        orders=orders,
        readings=tuple(r for run in readings for r in run),
        transmission=extracted[0][1] if extracted else (),
        markdown="\n\n".join(render(t) for t in shown or transcripts[0]),
        stats={"seconds": round(seconds, 3)},
    )


def _says_something(reading: Reading) -> bool:
    """Whether a run has a vote: one that failed or never started has none."""
    ended = reading.status in (ReadingStatus.OK, ReadingStatus.BLANK)
    return ended or bool(reading.words or reading.raw)


def read_page(
    engine: Engine,
    page: Page,
    runs: Sequence[int],
    seed: int,
    emit: Emit | None,
    cancel: Cancel | None,
) -> list[Reading]:
    """Some runs on one page; an engine that breaks fails these readings, not the document.

    Args:
        engine: reads.
        page: the upright page.
        runs: numbers of the runs.
        seed: of run 0; run k gets `seed + k`.
        emit: called with each event.
        cancel: asked between steps.

    Returns:
        One reading a run.
    """
    seeds = [seed + run for run in runs]
    if cancel is not None and cancel():
        return _ended(engine, page, runs, seeds, ReadingStatus.INCOMPLETE)
    if page.ink is Ink.BLANK:
        return _ended(engine, page, runs, seeds, ReadingStatus.BLANK)
    if page.undecodable:
        return _ended(engine, page, runs, seeds, ReadingStatus.FAILED)
    try:
        if isinstance(engine, RunsEngine):
            found = engine.read_runs(page, runs=runs, seeds=seeds, emit=emit, cancel=cancel)
            if len(found) != len(runs):
                raise EngineError(f"{engine.name} gave {len(found)} readings for {len(runs)} runs")
            return found
        return [
            engine.read(page, run=run, seed=s, emit=emit, cancel=cancel)
            for run, s in zip(runs, seeds, strict=True)
        ]
    except OcrPipelineError as e:
        error: Exception = e
    except Exception as e:  # whatever an engine throws must not end the document
        error = EngineError(f"{type(e).__name__}: {e}")
    if emit is not None:
        for run in runs:
            emit(Event("error", run, page.number, data={"error": str(error)}))
    return _ended(engine, page, runs, seeds, ReadingStatus.FAILED, str(error))


def _ended(
    engine: Engine,
    page: Page,
    runs: Sequence[int],
    seeds: Sequence[int],
    status: ReadingStatus,
    error: str = "",
) -> list[Reading]:
    """Readings of runs that saw nothing."""
    return [
        Reading(engine.name, run, seed, page.number, status=status, error=error)
        for run, seed in zip(runs, seeds, strict=True)
    ]


def to_transcript(reading: Reading, page: Page, schema: Schema) -> Transcript:
    """Words become a grid, Markdown is parsed."""
    if reading.words:
        return transcribe(reading, page, schema.column_titles, text.label)
    return parse(reading.raw, page=reading.page, chars=reading.chars)


def _page_status(page: Page, runs: Sequence[Reading]) -> DocumentStatus:
    """The worst that happened to a page; runs that ended differently make it `incomplete`."""
    if page.ink is Ink.BLANK:
        return DocumentStatus.BLANK
    statuses = {_PAGE_STATUS[r.status] for r in runs}
    if page.ink is Ink.DAMAGED:
        return DocumentStatus.DAMAGED
    if len(statuses) == 1:
        return statuses.pop()
    return DocumentStatus.INCOMPLETE


def _status(pages: Sequence[DocumentStatus], *, found: bool) -> DocumentStatus:
    """The status of a document from those of its pages."""
    for worst in (DocumentStatus.FAILED, DocumentStatus.DAMAGED, DocumentStatus.INCOMPLETE):
        if worst in pages:
            return worst
    if found:
        return DocumentStatus.OK
    if all(p is DocumentStatus.BLANK for p in pages):
        return DocumentStatus.BLANK
    return DocumentStatus.NOT_AN_ORDER
