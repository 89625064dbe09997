"""Templates: everything that comes from a file or a visitor is escaped by them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ocr_pipeline.export.record import Record
from ocr_pipeline.export.tabular import Form
from ocr_pipeline.web.report import report, shown
from ocr_pipeline.web.texts import LANGUAGES, TEXTS, language_of, translate

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGE_SECONDS = 365 * 24 * 3600


class Pages:
    """Renders the pages.

    Args:
        has_results: whether there is a list of documents to link to.
        token: whether visitors have to sign in.
    """

    def __init__(self, *, has_results: bool, token: bool) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["shown"] = shown
        self._environment.filters["json"] = partial(json.dumps, ensure_ascii=False)
        self._environment.globals.update(has_results=has_results, token_needed=token)

    def page(
        self, request: Request, template: str, /, *, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page in the visitor's language. `?lang=` changes it for good."""
        asked = request.query_params.get("lang")
        language = language_of(
            asked if asked in LANGUAGES else request.cookies.get("lang"),
            request.headers.get("accept-language"),
        )
        here = {code: f"?{urlencode({**request.query_params, 'lang': code})}" for code in LANGUAGES}
        html = self._render(template, language, status=status, here=here, **values)
        response = HTMLResponse(html, status)
        response.headers["Vary"] = "Cookie, Accept-Language"
        if asked in LANGUAGES:
            response.set_cookie("lang", asked, max_age=LANGUAGE_SECONDS, samesite="lax")
        return response

    def report(self, record: Record, form: Form) -> dict[str, str]:
        """A record as a piece of HTML, by language."""
        arranged = report(record, form)
        return {
            language: self._render("_report.html", language, report=arranged)
            for language in LANGUAGES
        }

    def _render(self, template: str, language: str, **values: Any) -> str:
        return self._environment.get_template(template).render(
            lang=language,
            t=partial(translate, language),
            texts=_texts(),
            **values,
        )


def _texts() -> Mapping[str, Mapping[str, str]]:
    return {name: text._asdict() for name, text in TEXTS.items()}


def wants_html(request: Request) -> bool:
    """Whether a person asks, not a program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        "/api/"
    )
