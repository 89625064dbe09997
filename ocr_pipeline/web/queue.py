"""Turns: one at a time, first come first served, and everybody knows how many are before them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from ocr_pipeline.web.errors import Refused

Moved = Callable[[int], None]
"""Told how many are before one: 0 is one's own turn."""


class _Ticket:
    def __init__(self, moved: Moved) -> None:
        self.moved = moved
        self.first = asyncio.Event()
        self.position = -1


class Turns:
    """The line in front of one engine. All calls come from one event loop.

    Args:
        waiting: how many may wait behind the one whose turn it is.
    """

    def __init__(self, waiting: int) -> None:
        self._waiting = waiting
        self._line: list[_Ticket] = []

    def __len__(self) -> int:
        """How many stand in the line, the one whose turn it is included."""
        return len(self._line)

    def check(self) -> None:
        """Make sure that one more may come.

        Raises:
            Refused: too many are waiting.
        """
        if len(self._line) > self._waiting:
            raise Refused(
                429,
                f"{len(self._line) - 1} readings are waiting for this engine already",
                remedy="try again in a few minutes",
            )

    @asynccontextmanager
    async def turn(self, moved: Moved) -> AsyncIterator[None]:
        """Stand in the line until it is one's turn; whoever leaves makes room for the others.

        Args:
            moved: told the position at once and whenever it changes.

        Raises:
            Refused: too many are waiting.
        """
        self.check()
        ticket = _Ticket(moved)
        self._line.append(ticket)
        try:
            self._announce()
            await ticket.first.wait()
            yield
        finally:
            self._line.remove(ticket)
            self._announce()

    def _announce(self) -> None:
        for position, ticket in enumerate(self._line):
            if position != ticket.position:
                ticket.position = position
                ticket.moved(position)
            if position == 0:
                ticket.first.set()
