"""Events an engine emits while it works: one versioned shape for terminal, browser and cloud."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

EVENT_VERSION = 1

Kind = Literal["queued", "page", "words", "draft", "committed", "step", "done", "error"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened during a run.

    Attributes:
        kind: what happened.
        run: 0-based run.
        page: 1-based page.
        tile: 0-based tile of the page, when an engine cuts the page into tiles.
        data: what the kind carries; `positions` and `entropy` where it applies.
        version: `EVENT_VERSION` of the writer.
    """

    kind: Kind
    run: int = 0
    page: int = 1
    tile: int = 0
    data: dict[str, Any] = field(default_factory=dict)
    version: int = EVENT_VERSION


Emit = Callable[[Event], None]
