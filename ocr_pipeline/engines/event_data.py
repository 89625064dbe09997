"""What an event carries, by its kind; `Event.data` holds these as plain values.

What has a default may be left out. `canvas` counts from 0, as runs and tiles do; `step` is how many
steps of the canvas are done. A number that was not finite travels as null: JSON knows no NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.events import Event, Kind
from ocr_pipeline.geometry import Quad

Number = float | None


@dataclass(frozen=True, slots=True)
class Queued:
    """`queued`: so many others are served before; 0 is one's own turn."""

    position: int


@dataclass(frozen=True, slots=True)
class PageBegun:
    """`page`: a page is begun.

    Attributes:
        engine: its name.
        tiling: how the page was cut: `page`, `bands` or `lines`.
        tiles: where the tiles are, in pixels of the page as stored.
        runs: numbers of the runs that read it.
        soft_tokens: image budget of a tile.
    """

    engine: str = ""
    tiling: str = ""
    tiles: tuple[Quad, ...] = ()
    runs: tuple[int, ...] = ()
    soft_tokens: int = 0


@dataclass(frozen=True, slots=True)
class WordRead:
    """One word; the quad is in pixels of the page as stored."""

    text: str
    quad: Quad
    confidence: Number = None


@dataclass(frozen=True, slots=True)
class Words:
    """`words`: what was read, with its place; further events of a run add to it."""

    words: tuple[WordRead, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """`step`: one denoising step is over.

    Attributes:
        step: steps of this canvas that are done.
        steps: the most it may take.
        canvas: which one.
        canvases: how many there may be.
        entropy: mean of the canvas, nats.
        tokens: how many there are so far.
        tokens_per_second: of the run.
    """

    step: int
    steps: int = 0
    canvas: int = 0
    canvases: int = 0
    entropy: Number = None
    tokens: int = 0
    tokens_per_second: Number = None


@dataclass(frozen=True, slots=True)
class Draft:
    """`draft`: the current canvas alone; it stands after all that was committed.

    Attributes:
        text: its text.
        entropy: nats, one per character.
        changed: positions of characters that differ from the draft before.
        canvas: which one.
        step: as in `Step`.
    """

    text: str
    entropy: tuple[Number, ...] = ()
    changed: frozenset[int] = frozenset()
    canvas: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class Committed:
    """`committed`: text to append, final for good; confidence is 0..1 per character."""

    text: str
    confidence: tuple[Number, ...] = ()
    canvas: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """`done`: the run is over on this page; `text` is the whole reply."""

    status: ReadingStatus
    text: str = ""
    stats: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Broken:
    """`error`: the run broke, or gives a reason for its status."""

    error: str
    remedy: str = ""


Data = Queued | PageBegun | Words | Step | Draft | Committed | Done | Broken

_ADAPTERS: Mapping[Kind, TypeAdapter[Data]] = {
    "queued": TypeAdapter(Queued),
    "page": TypeAdapter(PageBegun),
    "words": TypeAdapter(Words),
    "step": TypeAdapter(Step),
    "draft": TypeAdapter(Draft),
    "committed": TypeAdapter(Committed),
    "done": TypeAdapter(Done),
    "error": TypeAdapter(Broken),
}


def data_of(event: Event) -> Data:
    """What an event carries, as a value.

    Raises:
        ValidationError: something that its kind needs is missing, or of another type.
    """
    return _ADAPTERS[event.kind].validate_python(event.data)
