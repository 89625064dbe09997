"""A server on a free port, engines that are watched, scans drawn in code."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest
import uvicorn
from PIL import Image, ImageDraw

from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.web.app import create_app
from ocr_pipeline.web.settings import EngineChoice, Limits, WebSettings

ORDER = """発注書

株式会社サンプル商事 御中

発注番号: PO-2026-0415
発注日: 2026年4月15日
納期: 2026年5月1日

| No | 品名 | 数量 | 単位 | 単価 | 金額 |
|---|---|---|---|---|---|
| 1 | 六角穴付ボルト M6×20 | 200 | 本 | 12 | 2,400 |
| 2 | ステンレス丸棒 SUS303 | 15 | 本 | 1,850 | 27,750 |

小計 30,150
消費税 3,015
合計 33,165
"""


@dataclass
class Watched:
    """A scripted engine that counts who uses it."""

    scripts: list[Script]
    name: str = "scripted"
    running: int = 0
    most: int = 0
    asked: int = 0
    ended: list[float] = field(default_factory=list)
    cancelled: int = 0

    def read(self, page, *, run=0, seed=0, emit=None, cancel=None):
        def asked():
            self.asked += 1
            stop = cancel()
            self.cancelled += stop
            return stop

        self.running += 1
        self.most = max(self.most, self.running)
        try:
            engine = ScriptedEngine(self.scripts)
            return engine.read(page, run=run, seed=seed, emit=emit, cancel=asked)
        finally:
            self.running -= 1
            self.ended.append(time.monotonic())

    def chat(self, prompt, *, run=0, seed=0, emit=None, cancel=None):
        engine = ScriptedEngine(self.scripts)
        return engine.chat(prompt, run=run, seed=seed, emit=emit, cancel=cancel)

    def choice(self) -> EngineChoice:
        return EngineChoice(self.name, lambda *_: self)


@dataclass
class Served:
    """A running server."""

    url: str
    app: object

    @property
    def state(self):
        return self.app.state.web

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def client(self, **settings) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, **settings)

    def wait(self, true: Callable[[], bool], seconds: float = 5.0) -> None:
        ends = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < ends, "it did not happen in time"
            time.sleep(0.01)


def messages(response: httpx.Response) -> Iterator[tuple[str, dict, float]]:
    """Kind, data and arrival of each message of a stream."""
    kind = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield kind, json.loads(line[6:]), time.monotonic()


@contextmanager
def running(settings: WebSettings) -> Iterator[Served]:
    app = create_app(settings)
    config = uvicorn.Config(
        app, port=0, log_level="error", timeout_graceful_shutdown=1, server_header=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
        assert thread.is_alive(), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{port}", app)
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="session")
def order_text() -> str:
    return ORDER


@pytest.fixture(scope="session")
def schema():
    return load_schema("purchase_order")


@pytest.fixture
def watched():
    """Make a scripted engine: what it says, and how it takes its time."""

    def make(text: str = ORDER, *, steps: int = 6, pause: float = 0.01, canvas: int = 120, **more):
        script = Script(text, steps=steps, pause=pause, canvas=canvas, **more)
        other = replace(script, text=text.replace("1,850", "1,650"))
        return Watched([script, other])

    return make


@pytest.fixture
def serve(schema):
    """Start a server with some engines; it ends with the block."""

    def start(*engines, **settings):
        choices = [e.choice() if isinstance(e, Watched) else e for e in engines]
        return running(WebSettings(choices, schema, **settings))

    return start


@pytest.fixture(scope="session")
def serving():
    """Serve with given settings; ends with the block."""
    return running


@pytest.fixture
def limits():
    return Limits


@pytest.fixture
def read_messages():
    return messages


@pytest.fixture(scope="session")
def scan(tmp_path_factory) -> Path:
    """A small page of plain text: its direction is clear, so it is loaded in no time."""
    image = Image.new("L", (200, 150), 255)
    for y in (30, 60, 90):
        ImageDraw.Draw(image).text((20, y), "ORDER 1234", fill=0)
    path = tmp_path_factory.mktemp("scan") / "small.png"
    image.save(path)
    return path


@pytest.fixture(scope="session")
def needs():
    """Skip where a program is missing, except in CI, which installs it."""

    def find(*names: str, how: str) -> str:
        found = next((p for n in names if (p := shutil.which(n))), None)
        if found is None:
            reason = f"{names[0]} is not installed: {how}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return found

    return find
