"""A visitor's page is read: from the file that came in to the messages of the stream.

The stream has the events of the engines (`engines.events`), each as one message of its kind, and
some of our own:

job      id, source, pages, engine, runs, seed, labels: what was asked for
picture  page, size, dpi, src: a stored page to look at (only when asked for)
upright  page, rotation, skew, inverted, ink, size, dpi: a page is begun
record   the record of the document (docs/record.md)
report   html {ja, en}, files {name: text}: the same for people, and as files
end      outcome, dropped: the last message; drafts that a slow client did not get are counted
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import simplejson
from sse_starlette import EventSourceResponse, ServerSentEvent

from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.export.delimited import csv_bytes
from ocr_pipeline.export.record import Record, to_json
from ocr_pipeline.export.tabular import tables
from ocr_pipeline.orders.schema import Schema
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.pages.page import Page
from ocr_pipeline.pipeline import read_document
from ocr_pipeline.settings import Settings
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.jobs import Job, Work
from ocr_pipeline.web.pictures import Picture, picture
from ocr_pipeline.web.settings import Limits
from ocr_pipeline.web.streams import Message, one_line
from ocr_pipeline.web.watching import watched

HEADERS = {"Cache-Control": "no-store, no-transform"}
"""Nobody on the way may hold events back to compress them; `X-Accel-Buffering` is set besides."""

Render = Callable[[Record], Mapping[str, str]]
"""A record as HTML, by language."""
Shown = Iterator[Picture]
"""Pictures of the pages, one after the other."""


@dataclass(frozen=True)
class Request:
    """What is to be read, and how.

    Attributes:
        path: the file; ours, not the visitor's.
        source: what the visitor calls it; a text and nothing else.
        settings: engine, runs, seed, form.
    """

    path: Path
    source: str
    settings: Settings


def work(request: Request, render: Render) -> Work:
    """What a job does to read a document."""

    def run(job: Job) -> None:
        engine = watched(job.slot.engine(job.options), lambda page: _upright(job, page))
        record = read_document(
            request.path,
            request.source,
            engine,
            request.settings,
            emit=job.emit,
            cancel=job.stopped,
        )
        job.put("record", to_json(record))
        report = {"html": render(record), "files": files(record, request.settings.schema)}
        job.put("report", dumps(report))

    return run


def _upright(job: Job, page: Page) -> None:
    data = {
        "page": page.number,
        "rotation": page.rotation,
        "skew": page.skew,
        "inverted": page.inverted,
        "ink": page.ink,
        "size": page.stored_size,
        "dpi": page.dpi,
    }
    job.put("upright", dumps(data))


def files(record: Record, form: Schema) -> dict[str, str]:
    """The result as files: name → text. The record itself travels by itself."""
    made = {"transcript.md": record.markdown}
    for table in tables([record], form):
        name = f"{table.name}.csv"
        # The byte order mark stays: without it Excel takes the file for cp932.
        made[name] = csv_bytes(table, name)[0].decode("utf-8")
    return made


def dumps(value: Any) -> str:
    """A value as one line of JSON; a number that is not finite becomes null."""
    text: str = simplejson.dumps(
        value,
        ensure_ascii=False,
        ignore_nan=True,
        separators=(",", ":"),
        namedtuple_as_object=False,
        default=str,
    )
    return one_line(text)


async def follow(
    job: Job, about: Mapping[str, Any], shown: Shown | None, threads: ThreadPoolExecutor
) -> AsyncIterator[ServerSentEvent]:
    """The stream of a job: each page's picture before the first event about the page.

    When the client leaves, the job is stopped.
    """
    sent, loop = 0, asyncio.get_running_loop()

    async def next_picture() -> Picture | None:
        assert shown is not None
        return await loop.run_in_executor(threads, next, shown, None)

    try:
        yield _event(Message("job", dumps({"id": job.id, **about})))
        async for item in job.channel:
            while shown is not None and sent < max(1, item.page):
                try:
                    drawn = await next_picture()
                except OcrPipelineError:  # the reading says so itself
                    drawn = None
                if drawn is None:
                    shown = None
                else:
                    sent = drawn.number
                    yield _event(Message("picture", dumps(drawn.as_dict())))
            yield _event(item)
        yield _event(
            Message("end", dumps({"outcome": job.outcome, "dropped": job.channel.dropped}))
        )
    finally:
        job.stop("left")


def _event(item: Message) -> ServerSentEvent:
    return ServerSentEvent(item.data, event=item.kind, sep="\n")


def response(events: AsyncIterator[ServerSentEvent], limits: Limits) -> EventSourceResponse:
    """The events as a response that nobody holds back, with a sign of life when all is silent."""
    return EventSourceResponse(
        events,
        headers=HEADERS,
        ping=limits.heartbeat_seconds,
        ping_message_factory=lambda: ServerSentEvent(comment="alive", sep="\n"),
        send_timeout=limits.send_seconds,
        sep="\n",
    )


def open_pictures(path: Path, pages: int, limits: Limits) -> Shown:
    """The pictures of a document, drawn as they are asked for.

    Raises:
        InputError: the file cannot be opened.
        Refused: there is one page, and it cannot be decoded.
    """
    scans = read_scans(path, max_pixels=limits.page_pixels)
    first = next(scans, None)
    if first is None or (first.damaged and pages == 1):
        reason = first.flags[0][1] if first is not None and first.flags else "there is no page"
        raise Refused(
            422, f"the file cannot be decoded: {reason}", remedy="ask for it to be sent again"
        )
    return map(picture, chain([first], scans))
