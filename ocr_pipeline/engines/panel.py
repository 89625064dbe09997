"""Several engines that read the same page and vote: their errors are not each other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ocr_pipeline.engines.base import Cancel, Engine, Reading, RunsEngine
from ocr_pipeline.engines.events import Emit, Event
from ocr_pipeline.pages.page import Page


class Panel(RunsEngine):
    """Reads run k with engine k mod n.

    Each engine counts its own runs, so that a deterministic one reads the page itself the first
    time it is asked.
    """

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = tuple(engines)
        self.name = ",".join(engine.name for engine in engines)

    def read_runs(
        self,
        page: Page,
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[Reading]:
        """Read one page once per seed, each engine its own runs. See `RunsEngine.read_runs`."""
        found: dict[int, Reading] = {}
        count = len(self._engines)
        for i, engine in enumerate(self._engines):
            mine = [(run, seed) for run, seed in zip(runs, seeds, strict=True) if run % count == i]
            if mine:
                found |= _ask(engine, page, mine, count, emit, cancel)
        return [found[run] for run in runs]


def _ask(
    engine: Engine,
    page: Page,
    mine: Sequence[tuple[int, int]],
    count: int,
    emit: Emit | None,
    cancel: Cancel | None,
) -> dict[int, Reading]:
    """The readings of one engine, by the panel's number of the run."""
    numbers = {run // count: run for run, _ in mine}

    def pass_on(event: Event) -> None:
        if emit is not None:
            emit(replace(event, run=numbers.get(event.run, event.run)))

    heard = None if emit is None else pass_on
    if isinstance(engine, RunsEngine):
        readings = engine.read_runs(
            page, runs=list(numbers), seeds=[seed for _, seed in mine], emit=heard, cancel=cancel
        )
    else:
        readings = [
            engine.read(page, run=run // count, seed=seed, emit=heard, cancel=cancel)
            for run, seed in mine
        ]
    return {numbers[r.run]: replace(r, run=numbers[r.run]) for r in readings}
