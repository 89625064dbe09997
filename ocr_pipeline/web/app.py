"""The app: which address answers what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ocr_pipeline import __version__
from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.web import api, views
from ocr_pipeline.web.access import Door
from ocr_pipeline.web.errors import BodyRefused, answer, status_of
from ocr_pipeline.web.pages import wants_html
from ocr_pipeline.web.settings import WebSettings
from ocr_pipeline.web.state import State, state_of
from ocr_pipeline.web.uploads import BodyLimit

STATIC = Path(__file__).parent / "static"


def create_app(settings: WebSettings) -> FastAPI:
    """Make the app.

    Raises:
        UsageError: the folder of results holds none.
    """
    state = State(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            state.close()

    app = FastAPI(
        title="ocr-pipeline",
        version=__version__,
        summary="Reads faxed Japanese purchase orders, and streams how the text forms.",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.web = state
    app.include_router(api.router)
    app.include_router(views.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(OcrPipelineError, _problem)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(BodyLimit, limits=settings.limits)
    app.add_middleware(Door, token=settings.token)
    return app


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, OcrPipelineError)
    return _say(request, status_of(error), answer(error))


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    remedy = error.remedy if isinstance(error, BodyRefused) else ""
    body = {"error": str(error.detail), "remedy": remedy}
    return _say(request, error.status_code, body, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = dict(error.errors()[0])
    where = ".".join(str(part) for part in first["loc"][1:])
    return _say(request, 422, {"error": f"{where}: {first['msg']}", "remedy": "see /openapi.json"})


def _say(request: Request, status: int, body: dict[str, str], headers: Any = None) -> Response:
    """The problem as a page for people and as JSON for programs."""
    if wants_html(request):
        return state_of(request).pages.page(request, "problem.html", status=status, **body)
    return JSONResponse(body, status, headers=headers)
