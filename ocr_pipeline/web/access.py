"""The door: who may come in, from where, and what a page may do in the browser.

Without a token the app serves this machine only, and even then a page of another site, open in a
browser here, must not be able to use it: its requests are told by their origin, and a name that was
pointed at 127.0.0.1 (DNS rebinding) by the host they ask for.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from sse_starlette.sse import SendTimeoutError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocr_pipeline.web.settings import is_loopback

COOKIE = "ocr_session"
COOKIE_SECONDS = 14 * 24 * 3600
OPEN = ("/login", "/static/", "/api/health")
"""Paths that need no token: the door itself, what it looks like, and the sign of life."""
WRONG_TOKEN_SECONDS = 1.0
"""What every wrong token costs."""

SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Door:
    """Middleware: lets in who may come in, and sets the security headers of every answer.

    Args:
        token: what visitors must know; empty: only this machine.
    """

    def __init__(self, app: ASGIApp, token: str = "") -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or refuse."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        refusal = await self._refusal(scope)
        # A client that takes nothing any more is let go; its reading is stopped by then.
        with suppress(SendTimeoutError):
            await (refusal or self._app)(scope, receive, secured)

    async def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = _name_of(headers.get("host", ""))
        if not self._token and not is_loopback(host):
            return _refused(
                403,
                f"this server serves its own machine only, not {host or 'a request without host'}",
                "start it with a token: ocr-pipeline serve --token …",
            )
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and _foreign(headers):
            return _refused(403, "the request comes from another site", "open this site itself")
        if not self._token or _starts(scope["path"], OPEN):
            return None
        given = _bearer(headers)
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if (given and same(given, self._token)) or is_session(cookie, self._token, time.time()):
            return None
        if given:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        if "text/html" in headers.get("accept", "") and scope["method"] == "GET":
            return RedirectResponse("/login", 303)
        answer = _refused(401, "a token is needed", "send it: Authorization: Bearer TOKEN")
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer


def same(given: str, token: str) -> bool:
    """Compare in a time that says nothing about where the first difference is."""
    digests = (hashlib.sha256(t.encode("utf-8", "replace")).digest() for t in (given, token))
    return hmac.compare_digest(*digests)


def session(token: str, now: float) -> str:
    """A session for a cookie: when it ends, signed. It does not hold the token.

    Args:
        token: the key of the signature; another token ends all sessions.
        now: seconds since the epoch.
    """
    ends = str(int(now) + COOKIE_SECONDS)
    return f"{ends}.{_signature(ends, token)}"


def is_session(cookie: str, token: str, now: float) -> bool:
    """Whether a cookie is a session that has not ended."""
    ends, _, signature = cookie.partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(ends, token).encode()):
        return False
    return ends.isdigit() and int(ends) > now


def set_session(response: Response, token: str, *, secure: bool) -> None:
    """Give a browser its session."""
    response.set_cookie(
        COOKIE,
        session(token, time.time()),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def _signature(text: str, token: str) -> str:
    return hmac.new(token.encode(), b"session:" + text.encode(), hashlib.sha256).hexdigest()


def _bearer(headers: Headers) -> str:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else headers.get("x-token", "")


def _name_of(host: str) -> str:
    """The host of a Host header without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _foreign(headers: Headers) -> bool:
    """Whether a browser says that another site sent this. Programs say nothing, and may come."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


def _starts(path: str, beginnings: Iterable[str]) -> bool:
    return any(path == b or (b.endswith("/") and path.startswith(b)) for b in beginnings)


def _refused(status: int, error: str, remedy: str) -> Response:
    body: MutableMapping[str, Any] = {"error": error, "remedy": remedy}
    return JSONResponse(body, status)
