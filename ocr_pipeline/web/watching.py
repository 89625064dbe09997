"""An engine that is being watched: every page is announced, and every run ends with `done`.

The stream of one client is made of these events. Engines differ in what they say on their own; what
a client can rely on is added here, and nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ocr_pipeline.engines.base import Cancel, Engine, Reading, RunsEngine
from ocr_pipeline.engines.closing import Closing
from ocr_pipeline.engines.events import Emit
from ocr_pipeline.pages.page import Page

Seen = Callable[[Page], None]
"""Told of a page before an engine gets it."""


def watched(engine: Engine, seen: Seen) -> Engine:
    """The engine, telling what it does."""
    return _WatchedRuns(engine, seen) if isinstance(engine, RunsEngine) else _Watched(engine, seen)


class _Watched:
    def __init__(self, engine: Engine, seen: Seen) -> None:
        self.name = engine.name
        self._engine = engine
        self._seen = seen

    def read(
        self,
        page: Page,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """See `Engine.read`."""
        self._seen(page)
        closing = Closing(emit)
        reading = self._engine.read(page, run=run, seed=seed, emit=closing, cancel=cancel)
        closing.close(reading)
        return reading


class _WatchedRuns(_Watched):
    def read_runs(
        self,
        page: Page,
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[Reading]:
        """See `RunsEngine.read_runs`."""
        assert isinstance(self._engine, RunsEngine)
        self._seen(page)
        closing = Closing(emit)
        readings = self._engine.read_runs(page, runs=runs, seeds=seeds, emit=closing, cancel=cancel)
        for reading in readings:
            closing.close(reading)
        return readings
