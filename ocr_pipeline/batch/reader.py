"""The reader of a worker process: one engine, many documents."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ocr_pipeline.batch.pool import Reader
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.export.record import Record
from ocr_pipeline.pipeline import read_document
from ocr_pipeline.settings import Settings


def usual_workers(engine: str = "ppocr") -> int:
    """One worker for every two cores, for a page keeps two threads busy.

    A model that fills a graphics card, or a server, is there only once.
    """
    if set(engine.split(",")) - {"ppocr", "scripted"}:
        return 1
    return max(1, (os.cpu_count() or 2) // 2)


@dataclass(frozen=True)
class MakeReader:
    """Makes a worker's reader; picklable, so that it can be sent to the worker.

    Attributes:
        settings: how documents are read.
        workers: how many such readers share the machine.
    """

    settings: Settings
    workers: int = 1

    def __call__(self) -> Reader:
        """Load the engine, and return what reads a document with it.

        Raises:
            UsageError: there is no such engine or option.
            EngineError: the engine cannot start here.
        """
        settings = self.settings
        options = dict(settings.options)
        if "ppocr" in settings.engine.split(","):
            # Workers that each take all cores would only stand in one another's way.
            threads = "threads" if settings.engine == "ppocr" else "ppocr.threads"
            options.setdefault(threads, str(max(1, (os.cpu_count() or 1) // self.workers)))
        engine = prepare_engine(settings.engine, settings.model, options)()

        def read(path: Path, source: str) -> Record:
            return read_document(path, source, engine, settings)

        return read
