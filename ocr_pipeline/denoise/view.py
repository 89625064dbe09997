"""What is to be seen at one moment: the events so far, folded into one frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import atan2, degrees, dist
from typing import assert_never

from ocr_pipeline.engines import event_data as data
from ocr_pipeline.engines.base import Word
from ocr_pipeline.engines.event_data import Number
from ocr_pipeline.engines.events import Event
from ocr_pipeline.geometry import Quad, rotation
from ocr_pipeline.tables.words import lines_of, tokens_of

GAP = "  "
"""Between two tiles that stand side by side."""


@dataclass(frozen=True, slots=True)
class Tile:
    """The text of one tile.

    Attributes:
        committed: final text.
        confidence: 0..1 per character of `committed`; None where nobody said.
        draft: the canvas that is forming; it stands after `committed`.
        entropy: nats per character of `draft`; None where nobody said.
        changed: positions of `draft` that differ from the draft before.
    """

    committed: str = ""
    confidence: tuple[Number, ...] = ()
    draft: str = ""
    entropy: tuple[Number, ...] = ()
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Lane:
    """One run on one page.

    Attributes:
        tiles: by their number; words of a box engine are final tiles.
        quads: where the tiles are, in stored pixels; empty when they are not laid out.
        cut: the tiles are the lines of the page, known from the start.
        rows: numbers of the tiles that stand on one line, lines from top to bottom.
        step: the last one; None before the first, and for engines that have no steps.
        end: how the run ended; None while it runs.
        broken: why it did not end well.
    """

    tiles: Mapping[int, Tile] = field(default_factory=dict)
    quads: tuple[Quad, ...] = ()
    cut: bool = False
    rows: tuple[tuple[int, ...], ...] = ()
    step: data.Step | None = None
    end: data.Done | None = None
    broken: data.Broken | None = None

    @property
    def lines(self) -> Sequence[Sequence[int]]:
        """Numbers of the tiles, those that stand side by side together."""
        return self.rows or [[n] for n in sorted(self.tiles)]

    @property
    def final(self) -> str:
        """What is final so far: tiles as they stand on the page, or the reply as a whole."""
        if self.end and self.end.text and not self.rows:
            return self.end.text
        lines = ([self.tiles[n].committed for n in row if n in self.tiles] for row in self.lines)
        return "\n".join(GAP.join(filter(None, line)) for line in lines)


@dataclass(frozen=True, slots=True)
class View:
    """All there is to be seen.

    Attributes:
        lanes: by (page, run).
        page: the page of the latest event.
        engine: its name; empty until it spoke.
        tiling: how the page was cut; empty when unknown.
        tiles: how many pieces.
        queued: how many are served before; 0 when it is our turn.
        seconds: time of the latest event.
    """

    lanes: Mapping[tuple[int, int], Lane] = field(default_factory=dict)
    page: int = 1
    engine: str = ""
    tiling: str = ""
    tiles: int = 0
    queued: int = 0
    seconds: float = 0.0

    def runs(self) -> list[tuple[int, Lane]]:
        """The runs on the page that is shown."""
        mine = {run: lane for (page, run), lane in self.lanes.items() if page == self.page}
        return [(run, mine[run]) for run in sorted(mine)]


def fold(view: View, event: Event, seconds: float = 0.0) -> View:
    """The view after one more event, which happened `seconds` after the start.

    Raises:
        ValidationError: the event does not carry what its kind needs.
    """
    carried = data.data_of(event)
    view = replace(view, page=event.page, seconds=seconds, queued=0)
    match carried:
        case data.Queued():
            return replace(view, queued=carried.position)
        case data.PageBegun():
            # Tiles of another kind hold lines of their own.
            lane = _laid_out(Lane(cut=True), carried.tiles) if carried.tiling == "lines" else Lane()
            begun = {(event.page, run): lane for run in carried.runs or (event.run,)}
            return replace(
                view,
                lanes={**begun, **view.lanes},
                engine=carried.engine,
                tiling=carried.tiling,
                tiles=len(carried.tiles),
            )
    key = (event.page, event.run)
    lane = _after(view.lanes.get(key, Lane()), event.tile, carried)
    return replace(view, lanes={**view.lanes, key: lane})


Said = data.Words | data.Step | data.Draft | data.Committed | data.Done | data.Broken


def _after(lane: Lane, number: int, said: Said) -> Lane:
    """One run after an event of its own."""
    tile = lane.tiles.get(number, Tile())
    match said:
        case data.Draft(text=text):
            entropy = _per_character(said.entropy, text)
            tile = replace(tile, draft=text, entropy=entropy, changed=said.changed)
            return replace(lane, tiles={**lane.tiles, number: tile})
        case data.Committed(text=text):
            confidence = tile.confidence + _per_character(said.confidence, text)
            tile = Tile(tile.committed + text, confidence)
            return replace(lane, tiles={**lane.tiles, number: tile})
        case data.Words():
            # Tiles that are lines say the same, and more.
            return lane if lane.cut else _with_words(lane, said.words)
        case data.Step():
            return replace(lane, step=said)
        case data.Broken():
            return replace(lane, broken=said)
        case data.Done():
            # A draft that was never committed is nothing that was read.
            final = {n: Tile(t.committed, t.confidence) for n, t in lane.tiles.items()}
            return replace(lane, tiles=final, end=said)
    assert_never(said)


def _with_words(lane: Lane, words: Sequence[data.WordRead]) -> Lane:
    tiles = dict(lane.tiles)
    for number, word in enumerate(words, len(lane.quads)):
        tiles[number] = Tile(word.text, (word.confidence,) * len(word.text))
    return _laid_out(replace(lane, tiles=tiles), (*lane.quads, *(w.quad for w in words)))


def _laid_out(lane: Lane, quads: Sequence[Quad]) -> Lane:
    """Put tiles on lines. Their quads are in stored pixels, and the page may have been turned."""
    if not quads:
        return lane
    numbered = [Word(str(i), 1.0, quad) for i, quad in enumerate(quads)]
    turn = rotation(-90.0 * _quarter_turns(max(quads, key=lambda q: dist(q[0], q[1]))))
    lines = lines_of(tokens_of(numbered, turn))
    rows = tuple(tuple(int(token.text) for token in line) for line in lines)
    return replace(lane, quads=tuple(quads), rows=rows)


def _quarter_turns(quad: Quad) -> int:
    """Quarter turns, clockwise, from the x axis to the direction a text runs in."""
    (left, top), (right, bottom) = quad[0], quad[1]
    return round(degrees(atan2(bottom - top, right - left)) / 90)


def _per_character(numbers: tuple[Number, ...], text: str) -> tuple[Number, ...]:
    """As many numbers as characters: None where there are none."""
    given = numbers[: len(text)]
    return given + (None,) * (len(text) - len(given))
