"""Everything the web app is given: engines, limits, folders, who may come in."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from ocr_pipeline.engines.base import Engine
from ocr_pipeline.orders.schema import Schema

MEBI = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What a visitor may ask for. Everything beyond is refused with a 4xx that says so.

    Attributes:
        upload_bytes: of a request body.
        upload_seconds: from the first to the last byte of a request body.
        pages: of a file.
        page_pixels: of a page, and of an image inside a PDF page.
        runs: of a page.
        prompt_characters: of all messages of a chat together.
        waiting: readings that may wait for one engine.
        reading_seconds: after which a reading is stopped.
        stream_events: that may wait for a client that does not take them.
        stream_bytes: the same, in bytes.
        heartbeat_seconds: between two signs of life on a silent stream.
        send_seconds: after which a client that takes nothing is given up.
    """

    upload_bytes: int = 32 * MEBI
    upload_seconds: float = 60.0
    pages: int = 20
    page_pixels: int = 40_000_000
    runs: int = 8
    prompt_characters: int = 20_000
    waiting: int = 64
    reading_seconds: float = 900.0
    stream_events: int = 1000
    stream_bytes: int = 16 * MEBI
    heartbeat_seconds: float = 10.0
    send_seconds: float = 30.0


@dataclass(frozen=True)
class Setting:
    """An option of an engine that a visitor may set.

    Attributes:
        name: the engine's own name for it.
        kind: `flag`, `number`, `count` or `choice`.
        default: its value when nothing is said.
        choices: for a `choice`, what there is.
    """

    name: str
    kind: str
    default: str | float | bool
    choices: tuple[str, ...] = ()


@runtime_checkable
class Adjustable(Protocol):
    """An engine whose weights serve under other options, too."""

    def with_options(self, options: Mapping[str, str]) -> Engine:
        """The same weights with other options."""
        ...


@dataclass(frozen=True)
class EngineChoice:
    """An engine that a visitor may choose.

    Attributes:
        name: what it is called in requests.
        start: makes it with a visitor's options, of the engine that is loaded already where its
            weights serve again; raises `EngineError` when it cannot run here.
        model: what it loads, for people.
        settings: the options a visitor may set.
        problem: why it cannot be used here; empty when it can.
    """

    name: str
    start: Callable[[Mapping[str, str], Adjustable | None], Engine]
    model: str = ""
    settings: tuple[Setting, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class WebSettings:
    """How the app is set up.

    Attributes:
        engines: what visitors may choose; the first that works is the default.
        schema: the form.
        token: what visitors must know; empty: only this machine may come, and needs none.
        samples: folder of scans that may be tried.
        out: output folder of a batch, to look through.
        limits: what visitors may ask for.
    """

    engines: Sequence[EngineChoice]
    schema: Schema
    token: str = ""
    samples: Path | None = None
    out: Path | None = None
    limits: Limits = field(default_factory=Limits)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
