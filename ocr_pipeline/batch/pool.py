"""Worker processes that read documents, and outlive whatever a document does to one of them.

Each worker is a fresh process (spawn: no locks or threads of the parent are copied) with one
reader, made once. An exception fails one document. A worker that dies or takes too long is replaced
and fails the one document it was reading; `concurrent.futures` would give up the whole pool, and
cannot tell which document it was.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple

from ocr_pipeline.batch.scans import Scan
from ocr_pipeline.errors import EngineError, OcrPipelineError
from ocr_pipeline.export.record import DocumentStatus, Record

Reader = Callable[[Path, str], Record]
"""Reads the document at a path, under the name it has in the results."""
ReaderFactory = Callable[[], Reader]
"""Makes a reader; called once in each worker process, so it must be picklable."""

_SPAWN = get_context("spawn")
_GOODBYE_S = 10.0
"""What an idle worker gets to end by itself."""


class Outcome(NamedTuple):
    """What came of one document: always a record, whatever happened."""

    scan: Scan
    record: Record
    seconds: float


def failed(source: str, error: str) -> Record:
    """The record of a document that could not be read."""
    return Record(source, DocumentStatus.FAILED, error)


def explained(error: BaseException) -> str:
    """An exception for the user: ours says it all, another one says where it came from."""
    if isinstance(error, OcrPipelineError):
        return str(error)
    frames = extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"


def read_all(
    scans: Iterable[Scan],
    make_reader: ReaderFactory,
    *,
    workers: int = 1,
    time_limit: float | None = None,
) -> Generator[Outcome, None, None]:
    """Read documents in worker processes; each one as soon as it is done, in no fixed order.

    All workers are gone when the iterator ends or is closed.

    Args:
        scans: the documents.
        make_reader: makes the reader of a worker.
        workers: how many processes.
        time_limit: seconds a document may take, not counting the start of a worker.

    Raises:
        OcrPipelineError: no worker could start.
    """
    todo = deque(scans)
    team: list[_Worker] = []
    problem: OcrPipelineError | None = None
    try:
        team.extend(_Worker(make_reader, time_limit) for _ in range(min(workers, len(todo))))
        while team:
            connection.wait([w.pipe for w in team], min(w.patience() for w in team))
            for worker in [w for w in team if w.has_news()]:
                try:
                    outcome = worker.news()
                except OcrPipelineError as error:  # it could not start; the others may do
                    problem = error
                    worker.kill()
                    team.remove(worker)
                    continue
                if worker.lost:
                    worker.kill()
                    team.remove(worker)
                    if todo:
                        team.append(_Worker(make_reader, time_limit))
                elif todo:
                    worker.give(todo.popleft())
                else:
                    worker.dismiss()
                    team.remove(worker)
                if outcome is not None:
                    yield outcome
        if todo and problem:
            raise problem
    finally:
        for worker in team:
            worker.kill()


class _Worker:
    """The parent's end of a worker process."""

    def __init__(self, make_reader: ReaderFactory, time_limit: float | None) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self.lost = False
        self._time_limit = time_limit
        self._scan: Scan | None = None
        self._since = 0.0
        self._process = _SPAWN.Process(target=_serve, args=(theirs, make_reader), daemon=True)
        with _deaf_to_interrupts():
            self._process.start()
        theirs.close()  # so that the death of the worker closes the pipe

    def give(self, scan: Scan) -> None:
        """Let it read a document."""
        self._scan, self._since = scan, time.monotonic()
        with suppress(OSError):  # it died meanwhile; its closed pipe will say so
            self.pipe.send(scan)

    def patience(self) -> float:
        """Seconds until its document takes too long; a wait must end now and then anyhow."""
        if self._scan is None or self._time_limit is None:
            return 60.0
        return max(0.0, self._since + self._time_limit - time.monotonic())

    def has_news(self) -> bool:
        """Whether it has said something, died, or taken too long."""
        return self.pipe.poll() or self.patience() == 0.0

    def news(self) -> Outcome | None:
        """What came of its document; None when it has only just started.

        Raises:
            OcrPipelineError: it could not start.
        """
        if not self.pipe.poll():
            return self._failed(
                f"reading took longer than {self._time_limit:g} s and was stopped"
                "\n  → allow more time, or look at the file: it may be very large or broken"
            )
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            return self._failed(self._death())
        if isinstance(message, OcrPipelineError):
            raise message
        if self._scan is None:
            return None
        record, seconds = message
        return Outcome(self._scan, record, seconds)

    def dismiss(self) -> None:
        """Let it end by itself."""
        with suppress(OSError):
            self.pipe.send(None)
        self._process.join(_GOODBYE_S)
        self.kill()

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()

    def _failed(self, why: str) -> Outcome:
        self.lost = True
        if self._scan is None:
            raise EngineError(
                f"a worker could not start: {why}", remedy="try one worker; run the doctor command"
            )
        seconds = time.monotonic() - self._since
        return Outcome(self._scan, failed(self._scan.source, why), seconds)

    def _death(self) -> str:
        self._process.join(_GOODBYE_S)
        code = self._process.exitcode
        how = f"exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                how = signal.Signals(-code).name
        hint = "\n  → often the memory ran out: use fewer workers" if how == "SIGKILL" else ""
        return f"the worker process died ({how}){hint}"


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """A process started in here is not interrupted by Ctrl-C: that is for the parent to handle.

    Only the main thread may say so, and only there does Ctrl-C arrive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(pipe: Connection[Any, Any], make_reader: ReaderFactory) -> None:
    """The life of a worker process: make a reader, then read what comes until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        reader = make_reader()
    except OcrPipelineError as error:
        pipe.send(error)
        return
    except Exception as error:
        pipe.send(EngineError(f"a worker could not start: {explained(error)}"))
        return
    pipe.send(None)
    while (scan := pipe.recv()) is not None:
        start = time.monotonic()
        try:
            answer = ForkingPickler.dumps((reader(*scan), time.monotonic() - start))
        except Exception as error:  # whatever it is, it concerns this document only
            record = failed(scan.source, explained(error))
            answer = ForkingPickler.dumps((record, time.monotonic() - start))
        pipe.send_bytes(answer)


def _follow_parent() -> None:
    """End with the parent, even when it is killed: an orphan would go on to fill the memory."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
