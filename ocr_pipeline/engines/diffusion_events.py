"""What a diffusion engine says while it works: drafts and canvases of a batch become events."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.engines.base import Char, Reading
from ocr_pipeline.engines.closing import done_event
from ocr_pipeline.engines.diffusion_stream import WATCHED, Canvas, Draft, Listener
from ocr_pipeline.engines.events import Emit, Event, Kind
from ocr_pipeline.engines.token_chars import TokenProb, characters


@dataclass(frozen=True, slots=True)
class Row:
    """Whose row of a batch it is."""

    run: int
    page: int
    tile: int


@dataclass(eq=False)
class Voice:
    """Turns what happens in one batch into events; says nothing when nobody listens.

    Attributes:
        emit: takes the events.
        tokenizer: of the model.
        rows: of the batch.
        steps: most steps of a canvas.
        canvases: canvases that a reply may use whatever it says.
        ends: tokens that end a reply.
    """

    emit: Emit | None
    tokenizer: Any
    rows: Sequence[Row]
    steps: int
    canvases: int
    ends: frozenset[int]
    _texts: dict[int, str] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)
    _tokens: dict[int, int] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)

    def listener(self) -> Listener:
        """What `generate` is given."""
        return Listener(self.draft, self.canvas) if self.emit is not None else Listener()

    def draft(self, draft: Draft) -> None:
        """A `step` for each run and page, a `draft` for each row that is not finished."""
        spoken: set[tuple[int, int]] = set()
        for i, row in enumerate(self.rows):
            if i in self._ended:
                continue
            if (row.run, row.page) not in spoken:  # one tile speaks for all of its batch
                spoken.add((row.run, row.page))
                self._say("step", row, self._step(draft, row))
            length = self._length(draft.tokens[i])
            chars = self._chars(draft.tokens[i, :length], draft.entropy[i, :length])
            text = "".join(c.text for c in chars)
            before = self._texts.get(i, "")
            changed = [k for k, c in enumerate(text) if k >= len(before) or before[k] != c]
            self._texts[i] = text
            # The confidence that `_chars` put in is exp(-entropy).
            entropy = [round(-math.log(max(c.confidence, 1e-12)), 4) for c in chars]
            data = {"canvas": draft.canvas, "step": draft.step, "text": text}
            self._say("draft", row, data | {"entropy": entropy, "changed": changed})

    def _step(self, draft: Draft, row: Row) -> dict[str, Any]:
        mine = [
            i
            for i, other in enumerate(self.rows)
            if (other.run, other.page) == (row.run, row.page) and i not in self._ended
        ]
        tokens = sum(self._tokens.get(i, 0) for i, r in enumerate(self.rows) if r.run == row.run)
        seconds = max(time.perf_counter() - self._started, 1e-9)
        return {
            "canvas": draft.canvas,
            "canvases": max(self.canvases, draft.canvas + 1),
            "step": draft.step,
            "steps": self.steps,
            "entropy": round(float(draft.entropy[mine].mean()), 4),
            "tokens": tokens,
            "tokens_per_second": round(tokens / seconds, 1),
        }

    def canvas(self, canvas: Canvas) -> None:
        """A `committed` for each row that was not finished before."""
        for i, row in enumerate(self.rows):
            if i in self._ended:
                continue
            tokens = canvas.tokens[i]
            length = self._length(tokens)
            if length < len(tokens):
                self._ended.add(i)
            self._tokens[i] = self._tokens.get(i, 0) + length
            self._texts.pop(i, None)
            chars = characters(self.tokenizer, token_probs(canvas, i, length), WATCHED)
            data = {
                "canvas": canvas.canvas,
                "text": "".join(c.text for c in chars),
                "confidence": [round(c.confidence, 4) for c in chars],
            }
            self._say("committed", row, data)

    def _length(self, tokens: NDArray[np.int64]) -> int:
        """Tokens before the end of the reply."""
        ends = np.flatnonzero(np.isin(tokens, list(self.ends)))
        return int(ends[0]) if ends.size else len(tokens)

    def _chars(self, ids: NDArray[np.int64], entropy: NDArray[np.float32]) -> tuple[Char, ...]:
        return characters(
            self.tokenizer,
            [
                TokenProb(int(t), math.exp(-float(e)), float(e), int(t), 0.0, 0)
                for t, e in zip(ids, entropy, strict=True)
            ],
            WATCHED,
        )

    def _say(self, kind: Kind, row: Row, data: Mapping[str, Any]) -> None:
        if self.emit is not None:
            self.emit(Event(kind, row.run, row.page, row.tile, dict(data)))


def token_probs(canvas: Canvas, row: int, length: int) -> list[TokenProb]:
    """The first tokens of a row of a finished canvas."""
    columns = (
        canvas.tokens,
        canvas.probability,
        canvas.entropy,
        canvas.runner_up,
        canvas.runner_up_probability,
        canvas.changes,
    )
    return [
        TokenProb(int(t), float(p), float(e), int(o), float(q), int(c))
        for t, p, e, o, q, c in zip(*(column[row, :length] for column in columns), strict=True)
    ]


def closing(reading: Reading) -> Iterator[Event]:
    """The last events of a run on a page: its words, where it has any, and `done`."""
    if reading.words:
        words = [
            {"text": w.text, "confidence": w.confidence, "quad": w.quad} for w in reading.words
        ]
        yield Event("words", reading.run, reading.page, data={"words": words})
    yield done_event(reading)
