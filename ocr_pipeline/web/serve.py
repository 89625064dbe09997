"""Starting the server: where it listens, who may come, what it says about itself."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
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
        UsageError: the token is too short, or there are no results in the folder.
    """
    if settings.token and len(settings.token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token has {len(settings.token)} characters",
            remedy=f"use {SHORTEST_TOKEN} or more",
        )
    if not settings.token and not is_loopback(host):
        settings = replace(settings, token=secrets.token_urlsafe(24))
        say(f"token: {settings.token}")
    app = create_app(settings)
    shown = f"[{host}]" if ":" in host else host
    say(f"http://{shown}:{port}/   (Ctrl-C ends it)")
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=LAST_SECONDS,
    )


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
