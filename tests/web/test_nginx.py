"""Behind a real nginx, with its defaults and what docs/web.md tells to write."""

import re
import socket
import subprocess
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "web.md"


@pytest.fixture
def nginx(needs, tmp_path):
    """Start nginx before a server; returns the address to use."""
    program = needs("nginx", "/usr/sbin/nginx", how="apt-get install nginx-light")
    running = []

    def start(served) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        text = DOCUMENT.read_text(encoding="utf-8")
        location = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)[1]
        location = location.replace("127.0.0.1:8000", f"127.0.0.1:{served.port}")
        folders = "".join(
            f"{kind}_temp_path {tmp_path}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        configuration = tmp_path / "nginx.conf"
        configuration.write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log;\n"
            "worker_processes 1; events { worker_connections 256; }\n"
            f"http {{ access_log off; gzip on; gzip_types *;\n{folders}"
            f"server {{ listen 127.0.0.1:{port};\n{location}}} }}\n"
        )
        command = [program, "-p", str(tmp_path), "-c", str(configuration)]
        running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        url = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                if httpx.get(f"{url}/api/health").status_code == 200:
                    return url
            except httpx.ConnectError:
                time.sleep(0.02)
        pytest.fail((tmp_path / "error.log").read_text())

    yield start
    for process in running:
        process.terminate()
        process.wait(10)


def test_events_arrive_one_by_one_and_leaving_stops_it(serve, watched, scan, nginx, read_messages):
    engine = watched(steps=12, pause=0.05, canvas=400)
    files = {"file": ("a.png", scan.read_bytes())}
    with serve(engine) as served:
        url = nginx(served)
        accept = {"Accept-Encoding": "gzip, br"}
        with httpx.Client(base_url=url, timeout=20, headers=accept) as client:
            with client.stream("POST", "/api/transcribe", files=files) as response:
                times = [t for kind, _, t in read_messages(response) if kind == "draft"]
            assert len(times) == 12
            assert times[-1] - times[0] > 0.5
            assert np.diff(times).max() < 0.3
            assert np.median(np.diff(times)) > 0.03

        engine.ended.clear()
        with (
            httpx.Client(base_url=url, timeout=20) as client,
            client.stream("POST", "/api/transcribe", files=files) as response,
        ):
            for line in response.iter_lines():
                if line == "event: draft":
                    break
        left = time.monotonic()
        served.wait(lambda: engine.ended)
        assert engine.ended[0] - left < 0.5
        assert engine.cancelled == 1
        served.wait(lambda: not served.state.jobs)


def test_a_browser_may_post_through_it(serve, watched, scan, nginx):
    """nginx passes on the name that the browser used, so its origin is ours."""
    token = "correct-horse-battery"
    with serve(watched(), token=token) as served:
        url = nginx(served)
        headers = {"Authorization": f"Bearer {token}", "Host": "fax.example"}
        files = {"file": ("a.png", scan.read_bytes())}

        def post(origin):
            more = {**headers, "Origin": origin}
            return httpx.post(f"{url}/api/transcribe", files=files, headers=more).status_code

        assert post("http://fax.example") == 200
        assert post("http://evil.example") == 403
