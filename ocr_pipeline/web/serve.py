"""Starting the server: where it listens, who may come, what it says about itself."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import uvicorn

from ocr_pipeline.engines.registry import ENGINES
from ocr_pipeline.errors import UsageError
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.web.app import create_app
from ocr_pipeline.web.choices import choose
from ocr_pipeline.web.settings import WebSettings, is_loopback

SHORTEST_TOKEN = 12
"""Characters. A token that somebody thought up must not be guessed at a guess a second."""
HIGHEST_PORT = 65535
LAST_SECONDS = 5
"""How long open streams may take to end when the server stops."""


def serve(settings: WebSettings, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        settings: what is served.
        host: address to listen on; any but this machine's own needs a token, and gets one.
        port: to listen on.
        say: prints a line.

    Raises:
        UsageError: the token is too short, there are no results in the folder, or the address
            cannot be listened on.
    """
    if settings.token and len(settings.token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token has {len(settings.token)} characters",
            remedy=f"use {SHORTEST_TOKEN} or more",
        )
    made_up = not settings.token and not is_loopback(host)
    if made_up:
        settings = replace(settings, token=secrets.token_urlsafe(24))
    with ExitStack() as stack:
        sockets = [stack.enter_context(s) for s in _listen(host, port)]
        config = uvicorn.Config(
            create_app(settings),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=LAST_SECONDS,
        )
        if made_up:
            say(f"token: {settings.token}")
        shown = f"[{host}]" if ":" in host else host
        say(f"http://{shown}:{port}/   (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets)


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets on all addresses of a host that this machine has.

    Raises:
        UsageError: there is none, or the port cannot be had.
    """
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"the host {host!r} cannot be found", remedy="give --host 127.0.0.1"
        ) from error
    sockets = []
    with ExitStack() as stack:
        for family, address in dict.fromkeys((family, address) for family, *_, address in found):
            try:
                listening = socket.create_server(address, family=family)
            except OSError as error:
                if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue  # `localhost` may have an IPv6 address that this machine lacks
                raise _unavailable(port, error) from error
            sockets.append(stack.enter_context(listening))
        stack.pop_all()
    if not sockets:
        raise UsageError(f"{host} is no address of this machine", remedy="give --host 127.0.0.1")
    return sockets


def _unavailable(port: int, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        other = port + 1 if port < HIGHEST_PORT else port - 1
        return UsageError(f"port {port} is in use", remedy=f"give --port {other}")
    if error.errno == errno.EACCES:
        return UsageError(f"port {port} is not allowed here", remedy="give --port 8000")
    return UsageError(f"port {port} cannot be listened on: {error}", remedy="give another --port")


def settings_of(
    engines: Sequence[str],
    options: Sequence[str],
    *,
    schema: str,
    token: str = "",
    samples: Path | None = None,
    out: Path | None = None,
) -> WebSettings:
    """Make the settings of what was given on the command line.

    Args:
        engines: `NAME` or `NAME=MODEL`; none: all that can be had.
        options: `ENGINE.KEY=VALUE`.
        schema: name or path of the form.
        token: what visitors must know.
        samples: folder of scans to try.
        out: output folder of a batch.

    Raises:
        UsageError: an engine or an option does not exist or is not written like that.
    """
    wanted = [(name, model) for name, _, model in (text.partition("=") for text in engines)]
    given: dict[str, dict[str, str]] = {}
    for text in options:
        where, equals, value = text.partition("=")
        engine, dot, key = where.partition(".")
        if not (equals and dot and key):
            raise UsageError(f"-O {text!r} sets nothing", remedy="write -O engine.key=value")
        if engine not in ENGINES:
            raise UsageError(
                f"-O {text!r} names no engine", remedy=f"known: {', '.join(sorted(ENGINES))}"
            )
        given.setdefault(engine, {})[key] = value.strip()
    return WebSettings(
        choose(wanted, given), load_schema(schema), token=token, samples=samples, out=out
    )
