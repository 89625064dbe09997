"""The command: what is to be watched, shown, and kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from ocr_pipeline import __version__
from ocr_pipeline.denoise.screen import Frame
from ocr_pipeline.denoise.session import live, replay, stop_on_interrupt
from ocr_pipeline.denoise.show import show
from ocr_pipeline.denoise.view import View
from ocr_pipeline.denoise.work import Work, chatting, reading
from ocr_pipeline.engines.base import ChatEngine, Engine, ReadingStatus
from ocr_pipeline.engines.diffusion_files import POCKET, pocket_folder
from ocr_pipeline.engines.event_data import Broken
from ocr_pipeline.engines.event_log import Entry, Header, LogWriter, read_log
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.errors import (
    EXIT_OK,
    EXIT_SOME_FAILED,
    EngineError,
    UnreadableFileError,
    UsageError,
)
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Page

INTERRUPTED = 130


@dataclass(frozen=True)
class Watch:
    """What to watch: a page or a prompt, and the engine that gets it.

    Attributes:
        scan: the file; None with a prompt.
        prompt: text to send without an image; None with a scan.
        page: 1-based page of the file.
        engine: registry name.
        model: hub id or folder; empty is the engine's default.
        options: the engine's own settings.
        runs: how often.
        seed: of the first run; run k gets `seed + k`.
    """

    scan: Path | None = None
    prompt: str | None = None
    page: int = 1
    engine: str = "diffusiongemma"
    model: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    runs: int = 1
    seed: int = 0

    def header(self) -> Header:
        """What a recording says about itself."""
        settings = {
            "engine": self.engine,
            "model": self.model,
            "options": dict(self.options),
            "runs": self.runs,
            "seed": self.seed,
            "page": self.page,
        }
        if self.prompt is not None:
            settings["prompt"] = self.prompt
        return Header(self.scan.name if self.scan else "", settings, __version__)


def watch(wanted: Watch, console: Console, *, record: Path | None, heat: bool) -> int:
    """Watch an engine work; returns the exit code.

    Raises:
        UsageError: the engine cannot do what is wanted.
        InputError: the page cannot be read.
        EngineError: the engine cannot start, or no run succeeded.
        OutputError: the recording cannot be written.
    """
    start = prepare_engine(wanted.engine, model_of(wanted.engine, wanted.model), wanted.options)
    page = None if wanted.scan is None else _page(wanted.scan, wanted.page)
    header = wanted.header()
    with ExitStack() as stack:
        # Before the model, which may take minutes to load: a name that cannot be is told at once.
        writer = stack.enter_context(LogWriter(record, header)) if record else None
        Console(stderr=True).print(f"[dim]loading {wanted.engine} …[/]", highlight=False)
        work = _work(start(), page, wanted)
        stop = stack.enter_context(stop_on_interrupt())
        entries = stack.enter_context(closing(live(work, stop)))
        kept = entries if writer is None else _kept(entries, writer)
        try:
            view = show(kept, console, _frame(header, "Ctrl-C stops", heat))
        except BrokenPipeError:
            return _unread()
        return INTERRUPTED if stop() else _exit_code(view)


def _work(engine: Engine, page: Page | None, wanted: Watch) -> Work:
    if page is not None:
        return reading(engine, page, wanted.runs, wanted.seed)
    if isinstance(engine, ChatEngine):
        return chatting(engine, engine.name, wanted.prompt or "", wanted.runs, wanted.seed)
    raise UsageError(
        f"{wanted.engine} reads pages and takes no prompt",
        remedy="give a page, or --engine diffusiongemma",
    )


def watch_again(recording: Path, console: Console, *, speed: float, heat: bool) -> int:
    """Show a recording; returns the exit code: that a run failed then is no failure now.

    Raises:
        InputError: it cannot be replayed.
    """
    log = read_log(recording)
    pace = "at once" if speed == 0 else f"speed {speed:g}"
    with stop_on_interrupt() as stop:
        entries = replay(log.entries, speed, stop)
        note = f"replay of {recording.name}, {pace} · Ctrl-C stops"
        try:
            show(entries, console, _frame(log.header, note, heat))
        except BrokenPipeError:
            return _unread()
        if not log.complete and not stop():
            Console(stderr=True).print(
                "[yellow]![/] the recording breaks off here", highlight=False
            )
        return INTERRUPTED if stop() else EXIT_OK


def _unread() -> int:
    """Whoever read along has seen enough (`| head`): no failure. What is left goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return EXIT_OK


def model_of(engine: str, model: str) -> str:
    """The model to load: the pocket model where none is named and it ships.

    Raises:
        UsageError: none is named, and there is no pocket model.
    """
    if model or engine != "diffusiongemma":
        return model
    if pocket_folder() is not None:
        return POCKET
    raise UsageError(
        "no model is named, and this installation has no small one of its own",
        remedy="give --model: a folder, or a hub id such as google/diffusiongemma-26B-A4B-it; "
        "or see another engine work: --engine ppocr",
    )


def _page(scan: Path, number: int) -> Page:
    """One page of a file, ready to be read."""
    count = 0
    for page in load_pages(scan, scan.name):
        count = page.number
        if page.number == number:
            if page.undecodable:
                raise UnreadableFileError(
                    f"page {number} of {scan.name} cannot be decoded",
                    remedy="ask for it to be sent again",
                )
            return page
    raise UsageError(
        f"{scan.name} has no page {number}", remedy=f"it has {count}: give --page 1 up to {count}"
    )


def _kept(entries: Iterable[Entry], writer: LogWriter) -> Iterator[Entry]:
    for entry in entries:
        writer.write(entry)
        yield entry


def _frame(header: Header, note: str, heat: bool) -> Frame:
    about = header.settings
    title = header.source or str(about.get("prompt", ""))
    return Frame(title, str(about.get("engine", "")), note, heat)


def _exit_code(view: View) -> int:
    """0 when all runs came to an end; some did not: 10; none did: the error."""
    lanes = [lane for _, lane in view.runs()]
    if all(lane.end and lane.end.status is ReadingStatus.FAILED for lane in lanes):
        broken = next((lane.broken for lane in lanes if lane.broken), Broken("the engine failed"))
        raise EngineError(broken.error, remedy=broken.remedy)
    good = (ReadingStatus.OK, ReadingStatus.BLANK)
    return (
        EXIT_OK if all(lane.end and lane.end.status in good for lane in lanes) else EXIT_SOME_FAILED
    )
