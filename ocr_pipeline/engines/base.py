"""What every engine takes and gives: `Page` in, `Reading` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from ocr_pipeline.engines.events import Emit
from ocr_pipeline.geometry import Quad
from ocr_pipeline.pages.page import Page

Cancel = Callable[[], bool]
"""Asked now and then; true when nobody wants the answer any more."""


class ReadingStatus(StrEnum):
    """How a run ended. `blank` and `failed` are not the same, and neither is an empty reply."""

    OK = "ok"
    BLANK = "blank"
    INCOMPLETE = "incomplete"
    LOOPING = "looping"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Char:
    """One character as an engine saw it.

    Attributes:
        text: the character; a space between two words has confidence 1 and no quad.
        confidence: 0..1, the engine's own probability.
        alternatives: other characters it considered, most likely first, with their probabilities.
        quad: where it stands, in stored pixels; None when the engine has no boxes.
    """

    text: str
    confidence: float = 1.0
    alternatives: tuple[tuple[str, float], ...] = ()
    quad: Quad | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters that stand together on one line.

    Attributes:
        text: what was read.
        confidence: 0..1, of the least certain character.
        quad: in pixels of the page as stored in the file.
        alternatives: other readings of the whole word, with their probabilities.
        chars: one `Char` per character of `text`; empty when the engine has none.
    """

    text: str
    confidence: float
    quad: Quad
    alternatives: tuple[tuple[str, float], ...] = ()
    chars: tuple[Char, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one engine run saw on one page.

    Attributes:
        engine: registry name of the engine.
        run: 0-based number of the run.
        seed: the seed it was given.
        page: 1-based page number in the file.
        raw: the model's own reply (Markdown of a vision-language model); empty for box engines.
        chars: confidence and runner-up per character of `raw`, when known.
        words: words with quads, for box engines.
        status: how the run ended.
        error: the reason when it failed.
        stats: seconds, tokens, steps: whatever the engine can say about its own work.
    """

    engine: str
    run: int = 0
    seed: int = 0
    page: int = 1
    raw: str = ""
    chars: tuple[Char, ...] = ()
    words: tuple[Word, ...] = ()
    status: ReadingStatus = ReadingStatus.OK
    error: str = ""
    stats: dict[str, float] = field(default_factory=dict)


@runtime_checkable
class Engine(Protocol):
    """An engine is anything with a name that can read a page."""

    name: str

    def read(
        self,
        page: Page,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Read one page once.

        Args:
            page: the upright page.
            run: 0-based number of the run; a deterministic engine reads the page itself at run 0
                and a small re-scan of it (`pages.rescan`) at run k > 0.
            seed: seed of everything random in this run.
            emit: called with each `Event` as it happens.
            cancel: asked between steps; when true the engine stops with status `incomplete`.
        """
        ...


@runtime_checkable
class RunsEngine(Engine, Protocol):
    """An engine that reads a page several times for little more than the price of once.

    A class that says so by inheriting gets `read` from here: one run of `read_runs`.
    """

    def read(
        self,
        page: Page,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Read one page once. See `Engine.read`."""
        return self.read_runs(page, runs=[run], seeds=[seed], emit=emit, cancel=cancel)[0]

    def read_runs(
        self,
        page: Page,
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[Reading]:
        """Read one page once per seed.

        Args:
            page: the upright page.
            runs: numbers of the runs.
            seeds: one a run.
            emit: called with each event; its `run` is one of `runs`.
            cancel: asked between steps; when true all runs stop with status `incomplete`.

        Returns:
            One reading a run, in their order.
        """
        ...


@runtime_checkable
class ChatEngine(Protocol):
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
