"""Where entries come from: an engine that works in a thread of its own, or a recording."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType

from ocr_pipeline.denoise.work import Work
from ocr_pipeline.engines.event_log import Entry
from ocr_pipeline.engines.events import Event

PATIENCE = 0.1
"""Seconds after which whoever waits looks up: on Windows Ctrl-C is heard only then."""


class Stop:
    """A wish to stop, and the `Cancel` that tells of it.

    A bare flag: a lock could be held just when the signal comes.
    """

    def __init__(self) -> None:
        self._wanted = False

    def set(self) -> None:
        """Wish it."""
        self._wanted = True

    def __call__(self) -> bool:
        """Whether anybody wished it."""
        return self._wanted


@contextmanager
def stop_on_interrupt() -> Iterator[Stop]:
    """The first Ctrl-C asks to stop, the second breaks off. For the main thread only."""
    stop = Stop()

    def interrupted(signum: int, frame: FrameType | None) -> None:
        if stop():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def live(work: Work, stop: Stop) -> Generator[Entry]:
    """Entries of a work as they happen, until it is over.

    Close the iterator when nobody listens any more: that wishes the stop and waits for it.
    """
    entries: SimpleQueue[Entry | None] = SimpleQueue()
    began = time.perf_counter()

    def emit(event: Event) -> None:
        entries.put(Entry(time.perf_counter() - began, event))

    def run() -> None:
        try:
            work(emit, stop)
        finally:
            entries.put(None)

    thread = threading.Thread(target=run, name="engine", daemon=True)
    thread.start()
    try:
        while True:
            try:
                entry = entries.get(timeout=PATIENCE)
            except Empty:
                continue
            if entry is None:
                break
            yield entry
    except BaseException:
        stop.set()
        raise
    finally:
        thread.join()


def replay(
    entries: Iterable[Entry],
    speed: float,
    stop: Stop,
    *,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Entry]:
    """Entries of a recording when they are due, until a stop is wished.

    Args:
        entries: the recording.
        speed: 1 as it was, 2 twice as fast; 0 at once.
        stop: asked all the time.
        clock: seconds.
        sleep: waits so many seconds.
    """
    began = clock()
    for entry in entries:
        due = began + entry.seconds / speed if speed else began
        while not stop() and (left := due - clock()) > 0:
            sleep(min(left, PATIENCE))
        if stop():
            return
        yield entry
