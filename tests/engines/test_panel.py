from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ocr_pipeline.engines.events import Event
from ocr_pipeline.engines.panel import Panel
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.errors import UsageError
from ocr_pipeline.pages.page import Page

PAGE = Page(np.zeros((40, 30), np.uint8), source="a.tif")


class Named(ScriptedEngine):
    def __init__(self, name: str, *texts: str) -> None:
        super().__init__([Script(text) for text in texts])
        self.name = name


def test_engines_read_in_turn_and_count_their_own_runs() -> None:
    panel = Panel([Named("a", "a0", "a1"), Named("b", "b0", "b1")])
    events: list[Event] = []
    readings = panel.read_runs(PAGE, runs=range(4), seeds=[7, 8, 9, 10], emit=events.append)
    assert panel.name == "a,b"
    assert [(r.engine, r.run, r.seed, r.raw) for r in readings] == [
        ("a", 0, 7, "a0"),
        ("b", 1, 8, "b0"),
        ("a", 2, 9, "a1"),
        ("b", 3, 10, "b1"),
    ]
    assert sorted(e.run for e in events) == [0, 1, 2, 3]
    assert panel.read(PAGE, run=3, seed=10) == readings[3]


def test_the_registry_knows_panels(tmp_path: Path) -> None:
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps(["x"]))
    engine = prepare_engine("ppocr,scripted", str(replies), {"ppocr.threads": "1"})()
    assert engine.name == "ppocr,scripted"
    assert engine.read(PAGE, run=1).raw == "x"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ppocr,ppocr", {}),
        ("ppocr,nothing", {}),
        ("ppocr,", {}),
        ("ppocr,scripted", {"threads": "1"}),
        ("ppocr,scripted", {"server.threads": "1"}),
        ("ppocr,scripted", {"ppocr.colour": "1"}),
    ],
)
def test_panels_that_cannot_be(name: str, options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        prepare_engine(name, "replies.json", options)
