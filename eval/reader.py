"""What a worker process does with one document: every run on every page, as lines to store."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.stored import PageRun, line_of
from ocr_pipeline.batch.pool import Reader
from ocr_pipeline.engines.base import Engine, RunsEngine
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.export.record import DocumentStatus, Record
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Page
from ocr_pipeline.pipeline import read_page, to_transcript
from ocr_pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class StoredRuns(Record):
    """A record that carries the lines of `runs.jsonl` instead of orders.

    Attributes:
        lines: one a page and run.
    """

    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class MakeRunner:
    """Makes a worker's reader; picklable, so that it can be sent to the worker.

    Attributes:
        settings: how documents are read.
        missing: document → the runs that are not stored yet.
        workers: how many such readers share the machine.
    """

    settings: Settings
    missing: Mapping[str, tuple[int, ...]]
    workers: int = 1

    def __call__(self) -> Reader:
        """Load the engine, and return what reads a document with it.

        Raises:
            UsageError: there is no such engine or option.
            EngineError: the engine cannot start here.
        """
        options = dict(self.settings.options)
        if self.settings.engine == "ppocr":
            # Workers that each take all cores would only stand in one another's way.
            options.setdefault("threads", str(max(1, (os.cpu_count() or 1) // self.workers)))
        engine = prepare_engine(self.settings.engine, self.settings.model, options)()

        def read(path: Path, source: str) -> Record:
            pages = tuple(load_pages(path, source))
            runs = self.missing[source]
            lines = tuple(
                line_of(found)
                for page in pages
                for found in page_runs(engine, page, runs, self.settings, len(pages))
            )
            return StoredRuns(source, DocumentStatus.OK, lines=lines)

        return read


def page_runs(
    engine: Engine, page: Page, runs: Sequence[int], settings: Settings, pages: int
) -> list[PageRun]:
    """Read a page once a run; a run that breaks has a reading that says so.

    Args:
        engine: reads it.
        page: the upright page.
        runs: numbers of the runs; run k gets the seed `settings.seed + k`.
        settings: schema and seed.
        pages: of the document.
    """
    together = [list(runs)] if isinstance(engine, RunsEngine) else [[k] for k in runs]
    found = []
    for some in together:
        start = time.perf_counter()
        readings = read_page(engine, page, some, settings.seed, None, None)
        seconds = (time.perf_counter() - start) / len(some)
        found += [
            PageRun(
                page.source,
                reading.run,
                page.number,
                pages,
                reading,
                to_transcript(reading, page, settings.schema),
                seconds=seconds,
            )
            for reading in readings
        ]
    return found
