"""A `View` as a full screen of text: exactly so many lines of exactly so many cells."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from ocr_pipeline.denoise.glyphs import HEAT, fold, styled, visible, window
from ocr_pipeline.denoise.view import Lane, View
from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.event_data import Done, Step

LANE_WIDTH = 46
"""Cells a run needs to stand beside another; narrower ones stand one above the other."""
LANE_HEIGHT = 4
"""Lines a run needs at least, its heading among them; runs that find no room are counted only."""
BAR = 12
GAP = " │ "
FAINT = "grey50"
RULE = "grey50 dim"
_ENDED = {
    ReadingStatus.OK: ("✓", "green"),
    ReadingStatus.BLANK: ("○", FAINT),
    ReadingStatus.FAILED: ("✗", "red"),
}
_STOPPED = ("!", "yellow")


class Frame(NamedTuple):
    """What stands around the runs.

    Attributes:
        title: what is read.
        engine: what reads it, until it says so itself.
        note: a sentence below.
        heat: colour by entropy, and say what the colours mean.
    """

    title: str
    engine: str = ""
    note: str = ""
    heat: bool = False


def screen(view: View, frame: Frame, width: int, height: int) -> list[Text]:
    """Draw a view.

    Args:
        view: what is to be seen.
        frame: what stands around it.
        width: cells.
        height: lines.

    Returns:
        `height` lines of `width` cells.
    """
    body = max(1, height - 3)
    runs = view.runs()
    shown, lines = _runs(runs, width, body, heat=frame.heat) if runs else (0, _waiting(view))
    lines = [_head(view, frame, width), Text(), *lines[:body]]
    lines += [Text()] * (height - 1 - len(lines))
    lines = [*lines[: height - 1], _foot(frame, len(runs) - shown, width)][-height:]
    for line in lines:
        line.truncate(width, overflow="crop", pad=True)
    return lines


def _head(view: View, frame: Frame, width: int) -> Text:
    tiling = f"{view.tiles} {view.tiling}" if view.tiling not in ("", "page") else ""
    about = [visible(frame.title), view.engine or frame.engine, tiling, f"page {view.page}"]
    left = Text.assemble((about[0].replace("\n", " "), "bold"))
    for part in filter(None, about[1:]):
        left.append(f" · {part}", FAINT)
    return _spread(left, Text.assemble((f"{view.seconds:.1f} s", FAINT)), width)


def _foot(frame: Frame, hidden: int, width: int) -> Text:
    more = f"{hidden} more runs find no room here · " if hidden else ""
    right = Text()
    if frame.heat:
        right.append("nats", FAINT)
        for (limit, _), (end, style) in pairwise(HEAT):
            right.append(f" > {limit:g}" if end == inf else f" {limit:g}–{end:g}", style)
    return _spread(Text.assemble((more + frame.note, FAINT)), right, width)


def _spread(left: Text, right: Text, width: int) -> Text:
    """One text at the left edge, one at the right; the left one gives way."""
    room = width - right.cell_len - 2 if right else width
    left.truncate(max(0, room), overflow="ellipsis")
    left.append(" " * (width - left.cell_len - right.cell_len))
    return left.append_text(right)


def _waiting(view: View) -> list[Text]:
    if view.queued:
        return [Text(f"waiting: {view.queued} before us", FAINT)]
    return [Text("looking at the page …", FAINT)]


def _runs(
    runs: list[tuple[int, Lane]], width: int, height: int, *, heat: bool
) -> tuple[int, list[Text]]:
    """The runs in a grid that is as wide as their text allows; how many, and the lines."""
    columns = max(1, min(len(runs), (width + len(GAP)) // (LANE_WIDTH + len(GAP))))
    rows = ceil(len(runs) / columns)
    columns = ceil(len(runs) / rows)
    rows = min(rows, max(1, height // LANE_HEIGHT))
    lane_width = (width - len(GAP) * (columns - 1)) // columns
    lines: list[Text] = []
    for row in range(rows):
        lane_height = height // rows + (row < height % rows)
        blocks = [
            _lane(run, lane, lane_width, lane_height, heat=heat)
            for run, lane in runs[row * columns : (row + 1) * columns]
        ]
        between = Text.assemble((GAP, RULE))
        lines += [between.join(cells) for cells in zip(*blocks, strict=True)]
    return min(len(runs), rows * columns), lines


def _lane(run: int, lane: Lane, width: int, height: int, *, heat: bool) -> list[Text]:
    """One run: its heading, and as many lines of text as there is room for."""
    room = max(0, height - 2)
    text, start = styled(lane, room, heat=heat)
    if lane.broken:
        text.append("\n" if text else "").append(visible(lane.broken.error), "red")
    folded = fold(text, width)
    forming = None if start is None else sum(begin <= start for begin, _ in folded) - 1
    first = window(len(folded), room, forming)
    lines = [_heading(run, lane, width), *(line for _, line in folded[first : first + room])]
    lines += [Text() for _ in range(height - len(lines))]
    lines = lines[:height]
    for line in lines:
        line.truncate(width, overflow="crop", pad=True)
    return lines


def _heading(run: int, lane: Lane, width: int) -> Text:
    """What is known about a run, the least important left out where it is narrow."""
    if lane.end is not None:
        parts = _end(lane.end)
    elif lane.step is not None:
        parts = _progress(lane.step)
    else:
        parts = []
    parts = [(10, f"run {run}", "bold"), *parts]
    while len(parts) > 1 and sum(cell_len(t) + 2 for _, t, _ in parts) > width:
        parts.remove(min(parts))
    text = Text("  ").join(Text(t, style) for _, t, style in parts)
    return text.append(" ").append("─" * max(0, width - text.cell_len - 1), RULE)


def _progress(p: Step) -> list[tuple[int, str, str]]:
    """(importance, text, style) from left to right, in widths that stay the same."""
    digits = len(str(p.steps))
    parts = [(8, f"step {p.step:>{digits}}/{p.steps or '?'}", "")]
    if p.steps:
        done = min(BAR, round(BAR * p.step / p.steps))
        parts.append((4, "━" * done + "╌" * (BAR - done), FAINT))
    if p.canvases:
        parts.insert(0, (6, f"canvas {p.canvas + 1}/{p.canvases}", ""))
    if p.entropy is not None:
        parts.append((7, f"entropy {p.entropy:.3f}", ""))
    if p.tokens_per_second:  # none before the first canvas is committed
        parts.append((5, f"{p.tokens_per_second:5.1f} tok/s", ""))
    return parts


def _end(end: Done) -> list[tuple[int, str, str]]:
    mark, colour = _ENDED.get(end.status, _STOPPED)
    known = (
        (8, "new_tokens", "{:.0f} tokens"),
        (7, "steps", "{:.0f} steps"),
        (6, "tokens_per_second", "{:.1f} tok/s"),
        (5, "seconds", "{:.1f} s"),
    )
    stats = [
        (importance, form.format(number), "")
        for importance, name, form in known
        if (number := end.stats.get(name)) is not None
    ]
    return [(9, f"{mark} {end.status}", colour), *stats]
