"""The pages for people: read, results, one document, the door."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ocr_pipeline.web import documents
from ocr_pipeline.web.access import WRONG_TOKEN_SECONDS, same, set_session
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.pictures import thumbnail
from ocr_pipeline.web.report import report
from ocr_pipeline.web.settings import MEBI
from ocr_pipeline.web.state import State, state_of

router = APIRouter(include_in_schema=False)
THUMBNAIL = 220
"""Pixels; width of the picture of a sample."""
KEEP = {"Cache-Control": "private, max-age=3600"}


@router.get("/")
async def read(request: Request) -> HTMLResponse:
    """Read: choose a scan, watch the text form."""
    state = state_of(request)
    limits = state.settings.limits
    return state.pages.page(
        request,
        "read.html",
        view="read",
        samples=list(state.samples),
        engines=[slot.choice for slot in state.slots.values()],
        limits=limits,
        size=limits.upload_bytes // MEBI,
    )


@router.get("/samples/{name}/thumbnail")
async def sample_thumbnail(request: Request, name: str) -> Response:
    """A small picture of a sample."""
    state = state_of(request)
    if name not in state.samples:
        raise Refused(404, "there is no such sample")
    if name not in state.thumbnails:
        draw = partial(
            thumbnail, state.samples[name], THUMBNAIL, max_pixels=state.settings.limits.page_pixels
        )
        state.thumbnails[name] = await asyncio.get_running_loop().run_in_executor(
            state.decoders, draw
        )
    drawn = state.thumbnails[name]
    return Response(drawn.data, media_type=drawn.media_type, headers=KEEP)


@router.get("/results")
async def results(
    request: Request,
    q: str = "",
    status: str = "",
    flagged: bool = False,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> HTMLResponse:
    """The documents of a batch."""
    found = _documents(state_of(request))
    query = documents.Query(q, status, flagged, page)
    return state_of(request).pages.page(
        request,
        "results.html",
        view="results",
        listing=found.listing(query),
        query=query,
        key_of=documents.key_of,
    )


@router.get("/results/{key}")
async def document(request: Request, key: str) -> HTMLResponse:
    """One document: what must be looked at, and the page beside it."""
    state = state_of(request)
    found = _documents(state)
    entry = found.entry(key)
    record = found.record(entry)
    return state.pages.page(
        request,
        "document.html",
        view="results",
        key=key,
        entry=entry,
        scan=found.scan_state(entry),
        report=report(record, state.settings.schema),
        pages=[
            {
                "page": page.number,
                "size": page.stored_size,
                "dpi": page.dpi,
                "rotation": page.rotation,
                "inverted": page.inverted,
                "src": f"/results/{key}/pages/{page.number}",
            }
            for page in record.pages
        ],
    )


@router.get("/results/{key}/pages/{number}")
async def document_page(request: Request, key: str, number: int) -> Response:
    """A page of a document as it is stored."""
    state = state_of(request)
    found = _documents(state)
    draw = partial(
        found.picture, found.entry(key), number, max_pixels=state.settings.limits.page_pixels
    )
    drawn = await asyncio.get_running_loop().run_in_executor(state.decoders, draw)
    return Response(drawn.data, media_type=drawn.media_type, headers=KEEP)


@router.get("/login")
async def door(request: Request) -> Response:
    """The form that asks for the token."""
    state = state_of(request)
    if not state.settings.token:
        return RedirectResponse("/", 303)
    return state.pages.page(request, "login.html", view="", wrong=False)


@router.post("/login")
async def enter(request: Request, token: Annotated[str, Form(max_length=500)] = "") -> Response:
    """Let somebody in who knows the token."""
    state = state_of(request)
    expected = state.settings.token
    if not expected:
        return RedirectResponse("/", 303)
    if not same(token.strip(), expected):
        await asyncio.sleep(WRONG_TOKEN_SECONDS)
        return state.pages.page(request, "login.html", view="", wrong=True, status=403)
    response = RedirectResponse("/", 303)
    set_session(response, expected, secure=request.url.scheme == "https")
    return response


def _documents(state: State) -> documents.Documents:
    if state.documents is None:
        raise Refused(404, "no results are served", remedy="ocr-pipeline serve --out OUT")
    return state.documents
