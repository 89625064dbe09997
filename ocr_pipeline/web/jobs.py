"""One reading for one visitor: it waits its turn, runs in the engine's thread, can be stopped.

Everything of a job lives as long as its stream: upload, events, result. Nothing is kept.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from ocr_pipeline.engines.base import Engine
from ocr_pipeline.engines.events import Event
from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.web.queue import Turns
from ocr_pipeline.web.settings import Adjustable, EngineChoice, Limits
from ocr_pipeline.web.streams import Channel, Message, message

logger = logging.getLogger(__name__)


class Slot:
    """An engine with the line in front of it, loaded when the first visitor wants it.

    It has a thread of its own, so that no number of visitors can take the threads away from
    another engine, and two readings of one model are never at once.
    """

    def __init__(self, choice: EngineChoice, limits: Limits) -> None:
        self.choice = choice
        self.turns = Turns(limits.waiting)
        self.thread = ThreadPoolExecutor(1, thread_name_prefix=f"engine-{choice.name}")
        self._engine: Engine | None = None
        self._options: dict[str, str] = {}

    def engine(self, options: Mapping[str, str]) -> Engine:
        """The engine with a visitor's options; one is kept loaded. Runs in the slot's thread.

        Raises:
            OcrPipelineError: it cannot run here, or an option does not fit.
        """
        if self._engine is None or self._options != options:
            loaded = self._engine if isinstance(self._engine, Adjustable) else None
            self._engine = None  # two models at once may be more than the memory holds
            self._engine = self.choice.start(options, loaded)
            self._options = dict(options)
        return self._engine

    def close(self) -> None:
        """Give the thread back; what runs in it is not waited for."""
        self.thread.shutdown(wait=False, cancel_futures=True)


Work = Callable[["Job"], None]
"""What a job does in the engine's thread; it puts messages, and asks `stopped` now and then."""


class Job:
    """One reading.

    Attributes:
        id: cannot be guessed; who knows it may stop the job.
        channel: what the visitor is told.
    """

    def __init__(self, slot: Slot, options: Mapping[str, str], work: Work, limits: Limits) -> None:
        self.id = secrets.token_urlsafe(16)
        self.channel = Channel(limits.stream_events, limits.stream_bytes)
        self.options = options
        self.slot = slot
        self._work = work
        self._limits = limits
        self._stop = False
        self._deadline = float("inf")
        self._running = False
        self._task: asyncio.Task[None] | None = None
        self.outcome = "ok"

    def start(self, ended: Callable[[], None]) -> None:
        """Stand in the line; `ended` is called once nothing of the job runs any more."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: ended())

    def stop(self, outcome: str = "stopped") -> None:
        """End the reading: at once while it waits, within a step of the engine when it runs."""
        if not self._stop:
            self.outcome = outcome
        self._stop = True
        if self._task is not None and not self._running:
            self._task.cancel()

    def stopped(self) -> bool:
        """Whether the engine should stop: asked for, out of time, or nobody takes the events."""
        if self.channel.overflowed:
            self._stop, self.outcome = True, "client_too_slow"
        elif not self._stop and time.monotonic() > self._deadline:
            self._stop, self.outcome = True, "out_of_time"
        return self._stop

    def emit(self, event: Event) -> None:
        """Tell the visitor of an event; an `Emit`, called from the engine's thread."""
        self.channel.put(message(event))

    def put(self, kind: str, data: str) -> None:
        """Tell the visitor something of our own."""
        self.channel.put(Message(kind, data))

    def fail(self, error: str, remedy: str = "") -> None:
        """Tell the visitor that there will be no result."""
        self.outcome = "failed"
        self.emit(Event("error", data={"error": error, "remedy": remedy}))

    async def _run(self) -> None:
        try:
            async with self.slot.turns.turn(self._moved):
                self._running = True
                self._deadline = time.monotonic() + self._limits.reading_seconds
                loop = asyncio.get_running_loop()
                # The turn ends when the thread is done, whatever becomes of this task.
                await _to_its_end(loop.run_in_executor(self.slot.thread, self._in_thread))
        except OcrPipelineError as e:  # too many are waiting
            self.fail(e.message, e.remedy)
        finally:
            self.channel.close()

    def _moved(self, position: int) -> None:
        self.emit(Event("queued", data={"position": position}))

    def _in_thread(self) -> None:
        try:
            self._work(self)
        except OcrPipelineError as e:
            self.fail(e.message, e.remedy)
        except Exception as e:
            logger.exception("a reading failed")
            self.fail(f"{type(e).__name__}: {e}")


async def _to_its_end(future: asyncio.Future[None]) -> None:
    while not future.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(future)
