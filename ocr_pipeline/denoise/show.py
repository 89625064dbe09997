"""Entries as they come on a terminal, or as plain lines where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from ocr_pipeline.denoise.glyphs import visible
from ocr_pipeline.denoise.lines import ending, lines, reason
from ocr_pipeline.denoise.screen import FAINT, Frame, screen
from ocr_pipeline.denoise.view import View, fold
from ocr_pipeline.engines.event_log import Entry

FRAMES = 12
"""Pictures a second: more is not seen, and costs the engine time where both share a CPU."""


def show(entries: Iterable[Entry], console: Console, frame: Frame) -> View:
    """Show what happens until it is over.

    On a terminal a screen of its own is used, and the texts are printed when it is left. Elsewhere
    there are plain lines.

    Returns:
        The last view.
    """
    if not (console.file.isatty() and console.is_interactive):
        return _plain(entries, console)
    picture = _Picture(frame)
    with Live(
        console=console,
        screen=True,
        refresh_per_second=FRAMES,
        get_renderable=lambda: picture,
    ):
        for seconds, event in entries:
            picture.view = fold(picture.view, event, seconds)
    for text in summary(picture.view):
        console.print(text, soft_wrap=True)
    return picture.view


def summary(view: View) -> Iterator[Text]:
    """What remains on the terminal: the texts, those that are the same only once."""
    same: dict[tuple[str, str, str], list[int]] = {}
    for run, lane in view.runs():
        same.setdefault((lane.final, ending(lane), reason(lane)), []).append(run)
    for (final, end, why), runs in same.items():
        whose = f"run {runs[0]}" if len(runs) == 1 else f"runs {', '.join(map(str, runs))}"
        if final.strip():
            yield Text(visible(final).rstrip("\n"))
        if why:
            yield Text(visible(why), "red")
        yield Text(f"{whose}: {end}", FAINT)


def _plain(entries: Iterable[Entry], console: Console) -> View:
    view = View()

    def seen() -> Iterator[Entry]:
        nonlocal view
        for entry in entries:
            view = fold(view, entry.event, entry.seconds)
            yield entry

    for line in lines(seen()):
        console.file.write(line + "\n")
        console.file.flush()
    return view


class _Picture:
    """Draws the view of the moment whenever it is asked to, and nothing twice."""

    def __init__(self, frame: Frame) -> None:
        self.view = View()
        self._frame = frame
        self._drawn: tuple[View, int, int] | None = None
        self._text = Text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        view, width, height = self.view, options.max_width, options.height or console.height
        last = self._drawn
        if last is None or last[0] is not view or last[1:] != (width, height):
            blank = Text("\n", no_wrap=True, overflow="crop", end="")
            self._text = blank.join(screen(view, self._frame, width, height))
            self._drawn = (view, width, height)
        yield self._text
