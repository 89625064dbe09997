"""What lives as long as the app: engines, jobs, folders."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.requests import Request

from ocr_pipeline.web.documents import Documents
from ocr_pipeline.web.jobs import Job, Slot
from ocr_pipeline.web.pages import Pages
from ocr_pipeline.web.pictures import Picture
from ocr_pipeline.web.samples import find_samples
from ocr_pipeline.web.settings import WebSettings

DECODERS = 4
"""Threads that decode pages for looking at; what they hold at once is bounded by it."""


class State:
    """What lives as long as the app.

    Attributes:
        settings: how it is set up.
        slots: the engines by name, in the order they are offered.
        jobs: what is read or waits, by id.
        samples: scans to try, by name.
        documents: what a batch wrote; None when no folder was given.
        folder: where uploads lie while they are read.
        decoders: threads for pictures and for looking into uploads.
        pages: the templates.
        thumbnails: pictures of the samples that were asked for.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.slots = {c.name: Slot(c, settings.limits) for c in settings.engines}
        self.jobs: dict[str, Job] = {}
        self.samples = find_samples(settings.samples)
        self.documents = Documents(settings.out) if settings.out is not None else None
        self.folder = Path(tempfile.mkdtemp(prefix="ocr-pipeline-web-"))
        self.decoders = ThreadPoolExecutor(DECODERS, thread_name_prefix="decoder")
        self.pages = Pages(has_results=self.documents is not None, token=bool(settings.token))
        self.thumbnails: dict[str, Picture] = {}

    def close(self) -> None:
        """Stop everything and leave nothing behind."""
        for job in list(self.jobs.values()):
            job.stop("left")
        for slot in self.slots.values():
            slot.close()
        self.decoders.shutdown(wait=False, cancel_futures=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def state_of(request: Request) -> State:
    """The state of the app that got a request."""
    state: State = request.app.state.web
    return state
