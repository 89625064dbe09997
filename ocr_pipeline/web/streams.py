"""From the thread of an engine to the stream of one client, through a channel that has an end.

A client that is slow must not hold up the engine, and one that takes nothing must not fill the
memory. So the engine never waits: when the channel is full its oldest drafts and steps are given
up (the next ones replace them on the screen), and when there is nothing left to give up the client
has lost its reading.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

from ocr_pipeline.engines.event_log import to_json
from ocr_pipeline.engines.events import Event

PASSING = frozenset({"draft", "step", "queued"})
"""Kinds that the next of the kind makes obsolete."""


class Message(NamedTuple):
    """One message of a stream: the SSE event name, one line of data, and the page it is about."""

    kind: str
    data: str
    page: int = 0


def message(event: Event) -> Message:
    """An engine's event as a message."""
    return Message(event.kind, one_line(to_json(event)), event.page)


def one_line(text: str) -> str:
    """JSON text that can be sent: half a surrogate pair cannot be encoded, its escape can."""
    return text.encode("utf-8", "backslashreplace").decode()


class Channel:
    """Messages from any thread to one reader in an event loop.

    Args:
        events: messages that may wait.
        size: characters that may wait.
    """

    def __init__(self, events: int, size: int) -> None:
        self._events, self._size = events, size
        self._waiting: deque[Message] = deque()
        self._held = 0
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._closed = False
        self.dropped = 0
        self.overflowed = False

    def put(self, item: Message) -> None:
        """Leave a message; called from any thread, never waits. A closed channel takes none."""
        with self._lock:
            if self._closed:
                return
            self._waiting.append(item)
            self._held += len(item.data)
            while self._full():
                if not self._give_up():
                    self.overflowed = self._closed = True
                    self._waiting.clear()
                    self._held = 0
        self._wake()

    def close(self) -> None:
        """Nothing more will come; what is there can still be taken."""
        with self._lock:
            self._closed = True
        self._wake()

    def __len__(self) -> int:
        return len(self._waiting)

    async def __aiter__(self) -> AsyncIterator[Message]:
        """The messages as they come, until the channel is closed and empty."""
        while True:
            self._news.clear()
            with self._lock:
                item = self._waiting.popleft() if self._waiting else None
                closed = self._closed
                if item is not None:
                    self._held -= len(item.data)
            if item is not None:
                yield item
            elif closed:
                return
            else:
                await self._news.wait()

    def _full(self) -> bool:
        # A single message always fits: the record of a long document may be larger than all drafts.
        too_large = self._held > self._size and len(self._waiting) > 1
        return too_large or len(self._waiting) > self._events

    def _give_up(self) -> bool:
        """Forget the oldest passing message; false when there is none."""
        for i, item in enumerate(self._waiting):
            if item.kind in PASSING:
                del self._waiting[i]
                self._held -= len(item.data)
                self.dropped += 1
                return True
        return False

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:  # the loop is gone, and the client with it
            self._closed = True
