"""A batch: many documents read, each by itself, and everything about them written down."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ocr_pipeline.batch.ledger import Entry, Ledger
from ocr_pipeline.batch.pool import Outcome, ReaderFactory, failed, read_all
from ocr_pipeline.batch.results import FORMATS, write_record, write_tables
from ocr_pipeline.batch.scans import Found, Scan
from ocr_pipeline.batch.summary import Report, now, twins, write_summary
from ocr_pipeline.errors import OcrPipelineError, OutputError, UsageError
from ocr_pipeline.export.delimited import ENCODINGS
from ocr_pipeline.export.record import DocumentStatus, flag_count
from ocr_pipeline.export.tabular import Form


@dataclass(frozen=True, slots=True)
class Step:
    """One document is done.

    Attributes:
        done: how many are.
        total: of how many.
        source: which one this is.
        status: how it ended.
        flags: things in it that a person must look at.
        seconds: time it took.
        resumed: it was done before, and was not read again.
    """

    done: int
    total: int
    source: str
    status: DocumentStatus
    flags: int
    seconds: float
    resumed: bool = False


Progress = Callable[[Step], None]


def run_batch(
    found: Found,
    out: Path,
    make_reader: ReaderFactory,
    *,
    form: Form,
    settings: Mapping[str, Any],
    fingerprint: str,
    seeds: Sequence[int] = (),
    workers: int = 1,
    time_limit: float | None = None,
    fresh: bool = False,
    formats: Collection[str] = FORMATS,
    csv_encoding: str = "utf-8-sig",
    progress: Progress | None = None,
) -> Report:
    """Read documents into an output folder, and skip what is done there already.

    The tables hold every document of the folder's ledger, also those of earlier runs. Ctrl-C
    (`KeyboardInterrupt`) ends the reading; tables are still made of what is done.

    Args:
        found: the documents, from `find_scans`.
        out: the output folder.
        make_reader: picklable; makes the reader of a worker process.
        form: the schema: fields and row fields with labels and kinds.
        settings: what to write of the settings into `run.json`.
        fingerprint: hash of all that may change a result (`Settings.fingerprint`); a document that
            was read with another one is read again.
        seeds: the seeds of the runs, for `run.json`.
        workers: how many processes read.
        time_limit: seconds a document may take; None for as long as it likes.
        fresh: forget what is done.
        formats: which tables to write, of `FORMATS`.
        csv_encoding: `utf-8-sig` or `cp932`.
        progress: called after each document.

    Raises:
        UsageError: an argument is out of range.
        OutputError: something cannot be written; everything else is.
        OcrPipelineError: no worker could start.
    """
    _check(workers, time_limit, formats, csv_encoding)
    start, began = time.monotonic(), now()
    with Ledger(out / "ledger.sqlite", fresh=fresh) as ledger:
        batch = _Batch(out, ledger, fingerprint, len(found.scans), progress)
        interrupted, problems = False, list[OcrPipelineError]()
        try:
            todo = [scan for scan in found.scans if not batch.resume(scan)]
            outcomes = read_all(todo, make_reader, workers=workers, time_limit=time_limit)
            with closing(outcomes):
                for outcome in outcomes:
                    batch.store(outcome)
        except KeyboardInterrupt:
            interrupted = True
        except OutputError:
            raise
        except OcrPipelineError as error:  # no worker is left; what is done is still worth a table
            problems.append(error)
        warnings, errors = write_tables(
            out, ledger, form, formats=formats, csv_encoding=csv_encoding
        )
        problems += errors
        entries = ledger.entries()
    report = Report(
        counts=dict(Counter(step.status for step in batch.steps)),
        flags=sum(step.flags for step in batch.steps),
        read=sum(not step.resumed for step in batch.steps),
        resumed=sum(step.resumed for step in batch.steps),
        seconds=time.monotonic() - start,
        skipped=found.skipped,
        warnings=(
            *batch.warnings,
            *twins(entries),
            *warnings,
            *(problem.message for problem in problems),
        ),
        interrupted=interrupted,
    )
    about = {"began": began, "settings": dict(settings), "seeds": list(seeds)}
    write_summary(out, report, entries, about)
    if problems:
        raise problems[0]
    return report


def _check(
    workers: int, time_limit: float | None, formats: Collection[str], csv_encoding: str
) -> None:
    if workers < 1:
        raise UsageError(f"{workers} workers cannot read", remedy="use at least one")
    if time_limit is not None and time_limit <= 0:
        raise UsageError(f"{time_limit:g} seconds are no time limit", remedy="use more than 0")
    if not set(formats) <= set(FORMATS):
        raise UsageError(f"unknown format in {sorted(formats)}", remedy=f"use {FORMATS}")
    if csv_encoding not in ENCODINGS:
        raise UsageError(f"unknown CSV encoding {csv_encoding}", remedy=f"use one of {ENCODINGS}")


@dataclass
class _Batch:
    """The state of a run: which documents are done, and how."""

    out: Path
    ledger: Ledger
    fingerprint: str
    total: int
    progress: Progress | None
    steps: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)

    def resume(self, scan: Scan) -> bool:
        """Whether a document needs no reading: it is done, or there is no file any more."""
        try:
            with scan.path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            why = f"the file cannot be opened: {error.strerror or error}"
            self.store(Outcome(scan, failed(scan.source, why), 0.0))
            return True
        self.hashes[scan.source] = sha256
        entry = self.ledger.get(scan.source)
        if entry is None:
            return False
        if entry.is_done(sha256, self.fingerprint) and (self.out / entry.record).is_file():
            self._step(entry, resumed=True)
            return True
        if entry.sha256 != sha256 and entry.path != str(scan.path.absolute()):
            self.warnings.append(
                f"{scan.source}: another file of this name was read before ({entry.path}); its "
                "record is replaced. Give each folder of scans an output folder of its own"
            )
        elif entry.sha256 != sha256 and entry.sha256:
            self.warnings.append(
                f"{scan.source}: the file has changed since it was read ({entry.updated}); the new "
                "content replaces the old one in the tables"
            )
        return False

    def store(self, outcome: Outcome) -> None:
        """Write a record, and then that it is there."""
        scan, seconds = outcome.scan, outcome.seconds
        record, path = write_record(self.out, outcome.record)
        entry = Entry(
            source=scan.source,
            path=str(scan.path.absolute()),
            sha256=self.hashes.get(scan.source, ""),
            settings=self.fingerprint,
            status=record.status,
            error=record.error,
            pages=len(record.pages),
            orders=len(record.orders),
            flags=flag_count(record),
            seconds=seconds,
            record=path,
            updated=now(),
        )
        self.ledger.put(entry)
        self._step(entry)

    def _step(self, entry: Entry, *, resumed: bool = False) -> None:
        done = len(self.steps) + 1
        seconds = 0.0 if resumed else entry.seconds
        step = Step(done, self.total, entry.source, entry.status, entry.flags, seconds, resumed)
        self.steps.append(step)
        if self.progress:
            self.progress(step)
