"""What an engine is asked to do, so that every run ends with a `done` event, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

from ocr_pipeline.engines.base import Cancel, Engine, Reading, ReadingStatus
from ocr_pipeline.engines.events import Emit, Event
from ocr_pipeline.errors import EngineError, OcrPipelineError
from ocr_pipeline.pages.page import Page

Work = Callable[[Emit, Cancel], None]
"""Does something, tells what happens, and asks now and then whether to stop."""


@runtime_checkable
class ReadsRuns(Protocol):
    """An engine that does better on many runs at once."""

    def read_runs(
        self,
        page: Page,
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[Reading]:
        """One reading per run, each as `Engine.read` gives it."""
        ...


@runtime_checkable
class Chats(Protocol):
    """An engine that answers a text without an image."""

    def chat(
        self,
        prompt: str,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """The answer; it and its events are of page 1."""
        ...


def reading(engine: Engine, page: Page, runs: int, seed: int) -> Work:
    """The work of reading a page `runs` times, run k with the seed `seed + k`."""
    expected = [Reading(engine.name, k, seed + k, page.number) for k in range(runs)]

    def work(emit: Emit, cancel: Cancel) -> None:
        if isinstance(engine, ReadsRuns):
            together = partial(
                engine.read_runs,
                page,
                runs=[r.run for r in expected],
                seeds=[r.seed for r in expected],
                cancel=cancel,
            )
            _attempt(lambda tell: together(emit=tell), expected, emit, cancel)
            return
        for r in expected:
            alone = partial(engine.read, page, run=r.run, seed=r.seed, cancel=cancel)
            _attempt(lambda tell, call=alone: [call(emit=tell)], [r], emit, cancel)  # type: ignore[misc]

    return work


def chatting(engine: Chats, name: str, prompt: str, runs: int, seed: int) -> Work:
    """The work of answering a prompt `runs` times, run k with the seed `seed + k`."""

    def work(emit: Emit, cancel: Cancel) -> None:
        for k in range(runs):
            ask = partial(engine.chat, prompt, run=k, seed=seed + k, cancel=cancel)
            expected = [Reading(name, k, seed + k)]
            _attempt(lambda tell, call=ask: [call(emit=tell)], expected, emit, cancel)  # type: ignore[misc]

    return work


def _attempt(
    call: Callable[[Emit], Sequence[Reading]],
    expected: Sequence[Reading],
    emit: Emit,
    cancel: Cancel,
) -> None:
    """Make a call, and say how its runs ended where the engine does not say so itself.

    A call that breaks fails its own runs and no others; one that nobody waits for is not made.
    """
    ended: set[int] = set()

    def tell(event: Event) -> None:
        if event.kind == "done":
            ended.add(event.run)
        emit(event)

    remedy = ""
    try:
        if cancel():
            readings = [replace(r, status=ReadingStatus.INCOMPLETE) for r in expected]
        else:
            readings = list(call(tell))
    except Exception as e:  # whatever an engine throws
        error = e if isinstance(e, OcrPipelineError) else EngineError(f"{type(e).__name__}: {e}")
        remedy = error.remedy
        readings = [replace(r, status=ReadingStatus.FAILED, error=error.message) for r in expected]
    for r in readings:
        if r.run in ended:
            continue
        if r.error:
            data: dict[str, Any] = {"error": r.error, "remedy": remedy}
            emit(Event("error", r.run, r.page, data=data))
        data = {"status": r.status.value, "text": r.raw, "stats": dict(r.stats)}
        emit(Event("done", r.run, r.page, data=data))
