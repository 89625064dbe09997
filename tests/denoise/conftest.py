"""Events by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ocr_pipeline.denoise.view import View, fold
from ocr_pipeline.engines.events import Event


def box(x: float, y: float, width: float = 40, height: float = 10) -> list[list[float]]:
    """A quad as it travels: upright, from its left top corner."""
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def draft(text, run=0, tile=0, **data) -> Event:
    return Event("draft", run, tile=tile, data={"text": text, **data})


def committed(text, run=0, tile=0, **data) -> Event:
    return Event("committed", run, tile=tile, data={"text": text, **data})


def step(number, run=0, **data) -> Event:
    return Event("step", run, data={"step": number, "steps": 48, **data})


def done(run=0, status="ok", **data) -> Event:
    return Event("done", run, data={"status": status, **data})


def begun(tiling="page", tiles=(), runs=(0,)) -> Event:
    data = {"engine": "x", "tiling": tiling, "tiles": list(tiles), "runs": list(runs)}
    return Event("page", data=data)


def seen(*events: Event) -> View:
    view = View()
    for second, event in enumerate(events):
        view = fold(view, event, float(second))
    return view


class Make:
    """The functions above, as a fixture hands them out."""

    box = staticmethod(box)
    draft = staticmethod(draft)
    committed = staticmethod(committed)
    step = staticmethod(step)
    done = staticmethod(done)
    begun = staticmethod(begun)
    seen = staticmethod(seen)

    @staticmethod
    def lane(*events: Event, run: int = 0):
        return seen(*events).lanes[1, run]

    @staticmethod
    def lines_page(texts: Iterable[str], runs=(0,)) -> Event:
        """Tiles that are lines: two a row, from left to right."""
        return begun("lines", [box(50 * (i % 2), 20 * (i // 2)) for i, _ in enumerate(texts)], runs)


@pytest.fixture
def make() -> Make:
    return Make()
