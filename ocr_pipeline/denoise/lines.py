"""Events as plain lines, for a pipe or a log: each line says whose it is, and none ever changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ocr_pipeline.denoise.glyphs import visible
from ocr_pipeline.denoise.view import Lane, View, fold
from ocr_pipeline.engines.event_data import Step
from ocr_pipeline.engines.event_log import Entry
from ocr_pipeline.engines.events import Event

EVERY = 8
"""Steps between two lines about a canvas."""


def lines(entries: Iterable[Entry], *, every: int = EVERY) -> Iterator[str]:
    r"""What happened, a line at a time; committed text as soon as a line of it is whole.

    ```
    page 1: diffusiongemma, 2 runs
    run 0 canvas 1 step 8/48 entropy 2.104 81.3 tok/s
    run 0 | # 発注書
    run 0 ok 512 tokens
    ```

    Text lines are those with a `|` after the run, and the tile when there are several. Of tiles
    that are lines each comes as it is committed, and all of them as they stand on the page at the
    end: `sed -n 's/^run 0 | //p'` gives the text alone.

    Args:
        entries: as they happen.
        every: steps between two lines about a canvas.
    """
    view = View()
    told: dict[tuple[int, int], Step] = {}
    announced: set[int] = set()
    printed: dict[tuple[int, int, int], int] = {}
    for seconds, event in entries:
        view = fold(view, event, seconds)
        page, run = event.page, event.run
        lane = view.lanes.get((page, run), Lane())
        match event.kind:
            case "queued" if view.queued:
                yield f"waiting: {view.queued} before us"
            case "page" if page not in announced:
                announced.add(page)
                yield _page(view, event)
            case "step" if lane.step and _is_due(lane.step, told.get((page, run)), every):
                told[page, run] = lane.step
                yield f"run {run} {_progress(lane.step)}"
            case "committed" if lane.cut:
                yield from _text(f"run {run} tile {event.tile}", event.data["text"])
            case "committed":
                place = (page, run, event.tile)
                text = lane.tiles[event.tile].committed
                start, end = printed.get(place, 0), text.rfind("\n") + 1
                if end > start:
                    yield from _text(_whose(view, run, event.tile), text[start : end - 1])
                    printed[place] = end
            case "error":
                yield f"run {run} error: {' '.join(visible(reason(lane)).split())}"
            case "done":
                yield from _rest(view, page, run, printed)
                yield f"run {run} {ending(lane)}"
    for (page, run), lane in view.lanes.items():
        if lane.end is None:  # it breaks off here
            yield from _rest(view, page, run, printed)


def _rest(
    view: View, page: int, run: int, printed: Mapping[tuple[int, int, int], int]
) -> Iterator[str]:
    """The text of a run that was not told yet."""
    lane = view.lanes[page, run]
    if lane.rows:  # words, or lines of which each came by itself
        if lane.final.strip():
            yield from _text(f"run {run}", lane.final)
        return
    for tile in sorted(lane.tiles):
        rest = lane.tiles[tile].committed[printed.get((page, run, tile), 0) :]
        if rest:
            yield from _text(_whose(view, run, tile), rest)


def _page(view: View, event: Event) -> str:
    runs = len(event.data.get("runs", ()))
    tiling = f"{view.tiles} {view.tiling}" if view.tiling not in ("", "page") else ""
    parts = (view.engine, tiling, f"{runs} runs" if runs > 1 else "")
    return f"page {event.page}: {', '.join(filter(None, parts))}"


def _is_due(now: Step, before: Step | None, every: int) -> bool:
    """Every so many steps. A step that is smaller than the one before is of another canvas."""
    if before is None or now.canvas != before.canvas or now.step < before.step:
        return now.step % every == 0 or now.step == now.steps
    return now.step - before.step >= every or (now.step == now.steps != before.step)


def _progress(p: Step) -> str:
    parts = [f"canvas {p.canvas + 1} step {p.step}/{p.steps or '?'}"]
    if p.entropy is not None:
        parts.append(f"entropy {p.entropy:.3f}")
    if p.tokens_per_second:
        parts.append(f"{p.tokens_per_second:.1f} tok/s")
    return " ".join(parts)


def _whose(view: View, run: int, tile: int) -> str:
    return f"run {run} tile {tile}" if view.tiles > 1 else f"run {run}"


def _text(whose: str, text: str) -> Iterator[str]:
    return (f"{whose} | {line}" for line in visible(text).split("\n"))


def ending(lane: Lane) -> str:
    """How a run ended, in a few words."""
    if lane.end is None:
        return "unfinished"
    parts = [lane.end.status.value]
    for name, form in (("new_tokens", "{:.0f} tokens"), ("steps", "{:.0f} steps")):
        number = lane.end.stats.get(name)
        if number is not None:
            parts.append(form.format(number))
    return " ".join(parts)


def reason(lane: Lane) -> str:
    """Why a run did not end well, and what to do; empty when it did."""
    if lane.broken is None:
        return ""
    remedy = f"\n  → {lane.broken.remedy}" if lane.broken.remedy else ""
    return lane.broken.error + remedy
