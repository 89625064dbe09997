"""The door."""

import ast
import inspect
import re
import socket
import time

import pytest

from ocr_pipeline.errors import UsageError
from ocr_pipeline.web import access
from ocr_pipeline.web.access import COOKIE, is_session, same, session
from ocr_pipeline.web.serve import serve as start
from ocr_pipeline.web.settings import WebSettings, is_loopback

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "::1", "[::1]"]
)
def test_this_machine(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "192.168.1.2", "::", "example.com", "127.0.0.1.example.com"]
)
def test_another_machine(host):
    assert not is_loopback(host)


class TestWithoutToken:
    def test_only_this_machine_and_its_own_pages(self, serve, watched):
        with serve(watched()) as served, served.client() as client:
            host = f"127.0.0.1:{served.port}"

            def get(**headers):
                return client.get("/api/engines", headers=headers).status_code

            def post(**headers):
                headers = {k.replace("_", "-"): v for k, v in headers.items()}
                return client.post("/api/jobs/x/stop", headers=headers).status_code

            assert get() == 200
            assert get(host="localhost") == 200
            assert get(host="evil.example") == 403  # DNS rebinding
            assert get(host="127.0.0.1.evil.example") == 403
            assert get(host="") in (400, 403)
            assert post() == 404  # let in, and there is no such job
            assert post(origin=f"http://{host}") == 404
            assert post(origin="http://evil.example") == 403
            assert post(origin="null") == 403
            assert post(sec_fetch_site="same-origin") == 404
            assert post(sec_fetch_site="cross-site") == 403
            assert post(sec_fetch_site="same-site") == 403


class TestWithToken:
    def test_the_door(self, serve, watched, monkeypatch):
        monkeypatch.setattr(access, "WRONG_TOKEN_SECONDS", 0.01)
        monkeypatch.setattr("ocr_pipeline.web.views.WRONG_TOKEN_SECONDS", 0.01)
        with serve(watched(), token=TOKEN) as served, served.client() as client:
            refused = client.get("/api/engines")
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.json()["remedy"]
            assert client.get("/openapi.json").status_code == 401
            assert client.post("/api/transcribe").status_code == 401
            assert client.get("/api/health").status_code == 200
            assert client.get("/static/base.css").status_code == 200
            assert client.get("/static/../api/engines").status_code == 401
            assert client.get("/static%2f..%2fapi/engines").status_code in (401, 404)

            for headers in (
                {"Authorization": f"Bearer {TOKEN}"},
                {"Authorization": f"bearer {TOKEN}"},
                {"X-Token": TOKEN},
            ):
                assert client.get("/api/engines", headers=headers).status_code == 200
            for wrong in ("x", TOKEN[:-1], TOKEN + "x", "é" * 10):
                headers = {"Authorization": f"Bearer {wrong}".encode()}
                assert client.get("/api/engines", headers=headers).status_code == 401
            assert client.get("/api/engines", params={"token": TOKEN}).status_code == 401

    def test_the_form(self, serve, watched, monkeypatch):
        monkeypatch.setattr("ocr_pipeline.web.views.WRONG_TOKEN_SECONDS", 0.01)
        with serve(watched(), token=TOKEN) as served, served.client() as client:
            html = {"Accept": "text/html"}
            sent = client.get("/", headers=html)
            assert (sent.status_code, sent.headers["location"]) == (303, "/login")
            page = client.get("/login", headers=html)
            assert 'type="password"' in page.text
            wrong = client.post("/login", data={"token": "wrong"}, headers=html)
            assert wrong.status_code == 403
            assert COOKIE not in wrong.cookies
            right = client.post("/login", data={"token": TOKEN}, headers=html)
            assert (right.status_code, right.headers["location"]) == (303, "/")
            cookie = right.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "samesite=strict" in cookie.lower()
            assert TOKEN not in cookie
            assert client.get("/", headers=html).status_code == 200
            assert client.get("/api/engines").status_code == 200

    def test_behind_https_the_cookie_is_secure(self, serve, watched):
        with serve(watched(), token=TOKEN) as served, served.client() as client:
            headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "10.0.0.1"}
            answer = client.post("/login", data={"token": TOKEN}, headers=headers)
            assert "Secure" in answer.headers["set-cookie"]


class TestSession:
    def test_it_holds_until_it_ends(self):
        cookie = session(TOKEN, 1000.0)
        assert is_session(cookie, TOKEN, 1000.0)
        assert not is_session(cookie, TOKEN, 1000.0 + access.COOKIE_SECONDS)

    @pytest.mark.parametrize("forged", ["", ".", "x", "99999999999", "99999999999.", "é.é"])
    def test_nobody_can_make_one(self, forged):
        assert not is_session(forged, TOKEN, 0.0)

    def test_nobody_can_lengthen_one(self):
        ends, _, signature = session(TOKEN, time.time()).partition(".")
        assert not is_session(f"{int(ends) + 1}.{signature}", TOKEN, time.time())

    def test_another_token_ends_it(self):
        assert not is_session(session(TOKEN, 0.0), TOKEN + "x", 0.0)


def test_tokens_are_compared_in_constant_time():
    assert same("a", "a")
    assert not same("a", "b")
    assert not same("", "b")
    for function in (same, is_session):
        tree = ast.parse(inspect.getsource(function))
        assert "hmac.compare_digest" in ast.unparse(tree)
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Eq)]


class TestHeaders:
    @pytest.mark.parametrize("path", ["/", "/api/engines", "/static/read.js", "/nowhere"])
    def test_what_a_page_may_do(self, serve, watched, path):
        with serve(watched()) as served, served.client() as client:
            headers = client.get(path, headers={"Accept": "text/html"}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "server" not in headers

    def test_no_page_holds_a_script_or_a_style_or_loads_from_elsewhere(self, serve, watched):
        with serve(watched()) as served, served.client() as client:
            page = client.get("/", headers={"Accept": "text/html"}).text
        assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
        assert re.findall(r"\sstyle=|<style|\son\w+=", page) == []
        loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert loaded
        assert [x for x in loaded if not x.startswith(("/", "?", "#"))] == []


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class TestStarting:
    @pytest.fixture
    def started(self, monkeypatch):
        """The apps that were to be served, each with the addresses it listened on."""
        started = []

        def run(server, sockets):
            app = server.config.app
            started.append((app, [s.getsockname() for s in sockets]))
            app.state.web.close()

        monkeypatch.setattr("uvicorn.Server.run", run)
        return started

    def test_another_address_gets_a_token(self, schema, started, port):
        said = []
        start(WebSettings([], schema), "0.0.0.0", port, said.append)
        ((app, addresses),) = started
        assert addresses == [("0.0.0.0", port)]
        token = app.state.web.settings.token
        assert len(token) > 20
        assert said[0] == f"token: {token}"

    def test_this_machine_needs_none(self, schema, started, port):
        said = []
        start(WebSettings([], schema), "localhost", port, said.append)
        ((app, addresses),) = started
        assert ("127.0.0.1", port) in addresses
        assert app.state.web.settings.token == ""
        assert f"http://localhost:{port}/" in said[0]

    @pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
    def test_a_port_in_use(self, schema, started, host):
        said = []
        with socket.create_server((host, 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(UsageError, match=f"port {port} is in use") as caught:
                start(WebSettings([], schema), host, port, said.append)
        assert str(port + 1) in caught.value.remedy
        assert (started, said) == ([], [])

    @pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "192.0.2.1"])
    def test_a_host_that_is_not_here(self, schema, started, port, host):
        said = []
        with pytest.raises(UsageError, match=re.escape(host)) as caught:
            start(WebSettings([], schema), host, port, said.append)
        assert "--host" in caught.value.remedy
        assert (started, said) == ([], [])

    def test_a_token_that_can_be_guessed(self, schema):
        with pytest.raises(UsageError):
            start(WebSettings([], schema, token="1234"), "127.0.0.1", 8000, print)
