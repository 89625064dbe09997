"""The interface for programs; the pages use it, too."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse
from starlette.requests import Request

from ocr_pipeline import __version__
from ocr_pipeline.export.record import Record
from ocr_pipeline.settings import Settings
from ocr_pipeline.web import reading
from ocr_pipeline.web.chat import chat_work
from ocr_pipeline.web.choices import checked
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.jobs import Job, Slot, Work
from ocr_pipeline.web.settings import Limits, Setting
from ocr_pipeline.web.state import State, state_of
from ocr_pipeline.web.uploads import inspect

router = APIRouter(prefix="/api")
LONGEST_NAME = 200
"""Characters that are kept of what a visitor calls a file."""
LARGEST_SEED = 2**31 - 1


class Health(BaseModel):
    """A sign of life."""

    status: str = "ok"


class EngineInfo(BaseModel):
    """An engine, what may be set, and how many readings are before the next one."""

    name: str
    model: str
    available: bool
    problem: str
    settings: list[Setting]
    waiting: int


class Engines(BaseModel):
    """What can be chosen, and what may be asked for."""

    engines: list[EngineInfo]
    samples: list[str]
    limits: Limits


class Problem(BaseModel):
    """Why a request is refused, and what to do."""

    error: str
    remedy: str


class Chat(BaseModel):
    """A text for a model to answer."""

    model_config = ConfigDict(extra="forbid")

    prompt: str = Field(min_length=1)
    engine: str = ""
    runs: int = Field(1, ge=1)
    seed: int = Field(0, ge=0, le=LARGEST_SEED)
    options: dict[str, str] = Field(default_factory=dict)


EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, one message a line of JSON: docs/web.md",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    **{
        status: {"model": Problem, "description": why}
        for status, why in {
            400: "The body cannot be parsed",
            401: "A token is needed",
            403: "The request comes from elsewhere",
            404: "There is no such sample, engine or job",
            408: "The upload took too long",
            413: "Too many bytes, pages, pixels or characters",
            415: "Not a kind of file that is read",
            422: "Something does not fit",
            429: "Too many are waiting",
        }.items()
    },
}


class Events(EventSourceResponse):
    """An event stream; the class keeps JSON out of the documented answers."""

    media_type = "text/event-stream"


@router.get("/health")
async def health() -> Health:
    """Say that the server lives."""
    return Health()


@router.get("/engines")
async def engines(request: Request) -> Engines:
    """What can be chosen, and what may be asked for."""
    state = state_of(request)
    return Engines(
        engines=[
            EngineInfo(
                name=slot.choice.name,
                model=slot.choice.model,
                available=not slot.choice.problem,
                problem=slot.choice.problem,
                settings=list(slot.choice.settings),
                waiting=len(slot.turns),
            )
            for slot in state.slots.values()
        ],
        samples=list(state.samples),
        limits=state.settings.limits,
    )


@router.post("/transcribe", response_class=Events, responses=EVENTS)
async def transcribe(
    request: Request,
    file: Annotated[UploadFile | None, File(description="The scan")] = None,
    sample: Annotated[str, Form(max_length=500, description="A sample, in place of a file")] = "",
    engine: Annotated[str, Form(max_length=100)] = "",
    runs: Annotated[int, Form(ge=1)] = 1,
    seed: Annotated[int, Form(ge=0, le=LARGEST_SEED)] = 0,
    option: Annotated[list[str], Form(description="An option of the engine: key=value")] = [],  # noqa: B006
    pictures: Annotated[bool, Form(description="Also send the pages as pictures")] = False,
) -> EventSourceResponse:
    """Read a scan; the answer is a stream of what happens, and ends with the result."""
    state = state_of(request)
    limits = state.settings.limits
    slot, options = _slot(state, engine, _pairs(option))
    _check_runs(runs, limits)
    slot.turns.check()
    folder = Path(tempfile.mkdtemp(dir=state.folder))
    try:
        path, source = await _scan(state, folder, file, sample)
        loop = asyncio.get_running_loop()
        pages = await loop.run_in_executor(state.decoders, inspect, path, limits)
        shown = await loop.run_in_executor(
            state.decoders, reading.open_pictures, path, pages, limits
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    choice = slot.choice
    settings = Settings(state.settings.schema, choice.name, choice.model, options, runs, seed)
    render = partial(_rendered, state)
    about = {
        "program": __version__,
        "source": source,
        "pages": pages,
        "engine": choice.name,
        "model": choice.model,
        "runs": runs,
        "seed": seed,
        "options": options,
    }
    return _stream(
        state,
        slot,
        options,
        reading.work(reading.Request(path, source, settings), render),
        about,
        shown if pictures else None,
        folder,
    )


@router.post("/chat", response_class=Events, responses=EVENTS)
async def chat(request: Request, body: Chat) -> EventSourceResponse:
    """Answer a text; the answer is a stream of what happens."""
    state = state_of(request)
    limits = state.settings.limits
    slot, options = _slot(state, body.engine, body.options)
    _check_runs(body.runs, limits)
    if len(body.prompt) > limits.prompt_characters:
        raise Refused(413, f"the prompt is longer than {limits.prompt_characters} characters")
    slot.turns.check()
    about = {"engine": slot.choice.name, "model": slot.choice.model, "runs": body.runs}
    about |= {"seed": body.seed, "options": options}
    work = chat_work(body.prompt, body.runs, body.seed)
    return _stream(state, slot, options, work, about, None, None)


@router.post("/jobs/{job}/stop", responses={404: EVENTS[404]})
async def stop(request: Request, job: str) -> Health:
    """Stop a reading; what there is by then is its result."""
    running = state_of(request).jobs.get(job)
    if running is None:
        raise Refused(404, "there is no such job", remedy="it is over already")
    running.stop()
    return Health()


def _slot(state: State, name: str, options: Mapping[str, str]) -> tuple[Slot, dict[str, str]]:
    """The engine that is wanted, without a name the first that works; and its checked options."""
    slots = state.slots
    chosen = name or next((n for n, s in slots.items() if not s.choice.problem), "")
    if chosen not in slots:
        raise Refused(404, "there is no such engine", remedy=f"known: {', '.join(slots) or 'none'}")
    slot = slots[chosen]
    if slot.choice.problem:
        raise Refused(422, f"{chosen} cannot be used here", remedy=slot.choice.problem)
    return slot, checked(slot.choice, options)


def _pairs(options: list[str]) -> dict[str, str]:
    pairs = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals:
            raise Refused(422, f"option {text[:40]!r} sets nothing", remedy="write key=value")
        pairs[key.strip()] = value.strip()
    return pairs


def _check_runs(runs: int, limits: Limits) -> None:
    if runs > limits.runs:
        raise Refused(422, f"a page is read at most {limits.runs} times", remedy="ask for fewer")


async def _scan(
    state: State, folder: Path, file: UploadFile | None, sample: str
) -> tuple[Path, str]:
    """The file to read, and what to call it. No text from the visitor becomes a path."""
    if file is not None and file.filename and not sample:
        path = folder / "scan"
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(state.decoders, _copy, file, path)
        return path, file.filename[:LONGEST_NAME]
    if sample:
        if sample not in state.samples:
            raise Refused(404, "there is no such sample", remedy="see GET /api/engines")
        return state.samples[sample], sample
    raise Refused(422, "there is nothing to read", remedy="send a file, or name a sample")


def _copy(file: UploadFile, path: Path) -> None:
    with path.open("wb") as target:
        shutil.copyfileobj(file.file, target)


def _stream(
    state: State,
    slot: Slot,
    options: Mapping[str, str],
    work: Work,
    about: Mapping[str, Any],
    shown: reading.Shown | None,
    folder: Path | None,
) -> EventSourceResponse:
    """Start a job and answer with its events; what it needed goes when it ends."""
    job = Job(slot, options, work, state.settings.limits)
    state.jobs[job.id] = job

    def ended() -> None:
        state.jobs.pop(job.id, None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    job.start(ended)
    events = reading.follow(job, about, shown, state.decoders)
    return reading.response(events, state.settings.limits)


def _rendered(state: State, record: Record) -> Mapping[str, str]:
    return state.pages.report(record, state.settings.schema)
