"""What an engine is asked to do, so that every run ends with a `done` event, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ocr_pipeline.engines.base import Cancel, ChatEngine, Engine, Reading, ReadingStatus, RunsEngine
from ocr_pipeline.engines.closing import Closing
from ocr_pipeline.engines.events import Emit
from ocr_pipeline.errors import EngineError, OcrPipelineError
from ocr_pipeline.pages.page import Page

Work = Callable[[Emit, Cancel], None]
"""Does something, tells what happens, and asks now and then whether to stop."""


def reading(engine: Engine, page: Page, runs: int, seed: int) -> Work:
    """The work of reading a page `runs` times, run k with the seed `seed + k`."""
    expected = [Reading(engine.name, k, seed + k, page.number) for k in range(runs)]

    def work(emit: Emit, cancel: Cancel) -> None:
        if isinstance(engine, RunsEngine):
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


def chatting(engine: ChatEngine, name: str, prompt: str, runs: int, seed: int) -> Work:
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
    closing = Closing(emit)
    remedy = ""
    try:
        if cancel():
            readings = [replace(r, status=ReadingStatus.INCOMPLETE) for r in expected]
        else:
            readings = list(call(closing))
    except Exception as e:  # whatever an engine throws
        error = e if isinstance(e, OcrPipelineError) else EngineError(f"{type(e).__name__}: {e}")
        remedy = error.remedy
        readings = [replace(r, status=ReadingStatus.FAILED, error=error.message) for r in expected]
    for r in readings:
        closing.close(r, remedy)
