"""Every run ends with a `done` event, whether the engine says so or not."""

from __future__ import annotations

from ocr_pipeline.engines.base import Reading
from ocr_pipeline.engines.events import Emit, Event


def done_event(reading: Reading) -> Event:
    """The last event of a run on a page."""
    data = {"status": reading.status.value, "text": reading.raw, "stats": dict(reading.stats)}
    return Event("done", reading.run, reading.page, data=data)


class Closing:
    """Passes events on, and adds the `done` that an engine leaves out."""

    def __init__(self, emit: Emit | None) -> None:
        self._emit = emit
        self._done: set[tuple[int, int]] = set()

    def __call__(self, event: Event) -> None:
        """Pass an event on."""
        if event.kind == "done":
            self._done.add((event.run, event.page))
        if self._emit is not None:
            self._emit(event)

    def close(self, reading: Reading, remedy: str = "") -> None:
        """Say that a run is over, and why when it did not end well, unless that was said."""
        if (reading.run, reading.page) in self._done:
            return
        if reading.error:
            data = {"error": reading.error, "remedy": remedy}
            self(Event("error", reading.run, reading.page, data=data))
        self(done_event(reading))
