"""Many clients, slow clients, silent clients, and for a long time."""

import json
import signal
import socket
import subprocess
import sys
import time

import httpx
import psutil
import pytest

from ocr_pipeline.engines.base import Reading, ReadingStatus
from ocr_pipeline.engines.events import Event
from ocr_pipeline.web.settings import EngineChoice


class Flood:
    """Emits large drafts as fast as it can for a while, then some text that must arrive."""

    name = "flood"

    def __init__(self, seconds=0.3):
        self.seconds = seconds
        self.emitted = 0

    def read(self, page, *, run=0, seed=0, emit=None, cancel=None):
        ends = time.monotonic() + self.seconds
        while time.monotonic() < ends and not cancel():
            emit(Event("draft", run, page.number, data={"text": "灰" * 5000}))
            self.emitted += 1
            time.sleep(0.0005)
        emit(Event("committed", run, page.number, data={"text": "確定"}))
        return Reading(self.name, run, seed, page.number, "確定", status=ReadingStatus.OK)


def body(scan: bytes, **fields) -> bytes:
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode()
        for k, v in fields.items()
    ]
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'
    return b"".join(parts) + head + scan + b"\r\n--x--\r\n"


def connect(served, content: bytes, *, send: float = 1.0, window: int | None = None):
    """Send a request, or the first part of it, and never read the answer."""
    connection = socket.socket()
    if window is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    connection.connect(("127.0.0.1", served.port))
    head = (
        "POST /api/transcribe HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    ).encode()
    connection.sendall(head + content[: int(len(content) * send)])
    return connection


def test_fifty_slow_or_silent_clients_do_not_starve_the_next(
    serve, watched, scan, limits, read_messages
):
    """Some send half a request, some nothing, some never read the answer they asked for."""
    content = body(scan.read_bytes())
    engine = watched(steps=2, pause=0.001)
    with serve(engine, limits=limits(send_seconds=1, upload_seconds=20)) as served:
        silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(15)]
        silent += [connect(served, content, send=0.5) for _ in range(15)]
        silent += [connect(served, content, window=2048) for _ in range(20)]
        began = time.monotonic()
        with served.client() as client:
            files = {"file": ("b.png", scan.read_bytes())}
            with client.stream("POST", "/api/transcribe", files=files) as response:
                got = list(read_messages(response))
            assert got[-1][1]["outcome"] == "ok"
            assert time.monotonic() - began < 8
            assert client.get("/api/health").status_code == 200
            assert client.get("/").status_code == 200
        for connection in silent:
            connection.close()
        served.wait(lambda: not served.state.jobs)
        served.wait(lambda: list(served.state.folder.iterdir()) == [])


def test_a_client_that_takes_nothing_holds_neither_engine_nor_memory(serve, scan, limits):
    flood = Flood(seconds=1.0)
    small = limits(stream_events=50, send_seconds=0.5)
    with serve(EngineChoice("flood", lambda *_: flood), limits=small) as served:
        connection = connect(served, body(scan.read_bytes()), window=2048)
        served.wait(lambda: served.state.jobs)
        (job,) = served.state.jobs.values()
        longest, ends = 0, time.monotonic() + 5
        while served.state.jobs and time.monotonic() < ends:
            longest = max(longest, len(job.channel))
            time.sleep(0.005)
        assert flood.emitted > 100  # the engine was never held up
        assert longest <= 50
        assert job.outcome == "left"  # given up after half a second, and stopped
        served.wait(lambda: not served.state.jobs)
        connection.close()


def test_a_slow_client_misses_drafts_and_no_text(serve, scan, limits, read_messages):
    flood = Flood()
    with (
        serve(EngineChoice("flood", lambda *_: flood), limits=limits(stream_events=20)) as served,
        served.client() as client,
        client.stream(
            "POST", "/api/transcribe", files={"file": ("a.png", scan.read_bytes())}
        ) as response,
    ):
        served.wait(lambda: flood.emitted > 50)
        time.sleep(0.3)  # it does something else meanwhile
        got = list(read_messages(response))
    drafts = sum(k == "draft" for k, _, _ in got)
    assert [d["data"]["text"] for k, d, _ in got if k == "committed"] == ["確定"]
    assert got[-1][1]["dropped"] == flood.emitted - drafts


@pytest.mark.slow
def test_memory_stays_flat_over_five_hundred_reads(tmp_path, scan, order_text):
    """A server of its own, started from the command line; the clients do not count."""
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps([{"text": order_text, "steps": 3}]), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ocr_pipeline.cli", "serve", "--port", str(port)]
    command += ["--engine", f"scripted={replies}"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert str(port) in server.stdout.readline()
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)
        files = {"file": ("a.png", scan.read_bytes())}
        sizes = []
        with client:
            _until(lambda: client.get("/api/health").status_code == 200)
            for i in range(1, 501):
                answer = client.post("/api/transcribe", files=files)
                assert answer.text.rstrip().endswith('{"outcome":"ok","dropped":0}')
                if i % 100 == 0:
                    sizes.append(psutil.Process(server.pid).memory_info().rss / 2**20)
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(15) == 0
        server.stdout.close()
    # The first hundred fill caches; the four hundred after them add nothing that grows.
    assert max(sizes[1:]) - sizes[0] < 8, sizes


def _until(true, seconds=20.0):
    ends = time.monotonic() + seconds
    while True:
        try:
            if true():
                return
        except httpx.ConnectError:
            assert time.monotonic() < ends
            time.sleep(0.05)
