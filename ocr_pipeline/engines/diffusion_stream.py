"""What can be seen of a generation while it runs: drafts, confidence, and a way to stop it.

`generate` of DiffusionGemma returns neither scores nor logits, and a streamer that takes logits
gets the whole canvas × vocabulary tensor copied to the CPU at every step. Here a logits processor
looks at the logits where they are, and keeps five numbers per position and step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import LogitsProcessor, StoppingCriteria, TextDiffusionStreamer

from ocr_pipeline.engines.base import Cancel
from ocr_pipeline.errors import EngineError

WATCHED = 4
"""Steps before a commitment over which a position's changes are counted."""


class Cancelled(Exception):
    """Nobody wants the answer any more."""


class NotFiniteError(EngineError):
    """The logits hold NaN or infinity: broken weights, or a precision that overflows."""


@dataclass(frozen=True, eq=False, slots=True)
class Draft:
    """The canvases after one denoising step; B rows, L positions.

    Attributes:
        canvas: 0-based number of the canvas.
        step: 1-based step.
        tokens: B×L, the most likely token of each position.
        entropy: B×L, nats, of the distribution before the temperature.
    """

    canvas: int
    step: int
    tokens: NDArray[np.int64]
    entropy: NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class Canvas:
    """Finished canvases, and how sure the model was of them; arrays are B×L.

    Attributes:
        canvas: 0-based number of the canvas.
        steps: denoising steps it took.
        tokens: what was committed.
        probability: of the committed token, at the last step whose winner it was.
        entropy: nats, at that step.
        runner_up: the second token of that step.
        runner_up_probability: its probability.
        changes: how often the winner changed in the `WATCHED` steps up to there.
    """

    canvas: int
    steps: int
    tokens: NDArray[np.int64]
    probability: NDArray[np.float32]
    entropy: NDArray[np.float32]
    runner_up: NDArray[np.int64]
    runner_up_probability: NDArray[np.float32]
    changes: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Listener:
    """Who wants to know; each may be left out."""

    draft: Callable[[Draft], None] | None = None
    canvas: Callable[[Canvas], None] | None = None


class Probe(LogitsProcessor):
    """Keeps entropy, winner and runner-up of every position and step, on the device of the logits.

    The logits come before the temperature, so the numbers mean the same at every step. They pass
    unchanged. Rows that have finished early go on being computed with the rest of their batch;
    `read` therefore looks up, for every position, the last step whose winner is what was committed.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[torch.Tensor, ...]] = []

    @property
    def steps(self) -> int:
        """Steps since the last canvas was read."""
        return len(self._steps)

    def __call__(
        self, input_ids: torch.Tensor, scores: torch.Tensor, cur_step: torch.Tensor
    ) -> torch.Tensor:
        """Look, and pass on. `scores` is B×L×V; `generate` insists that `cur_step` is named.

        Raises:
            NotFiniteError: the logits are not finite; sampling would fail with less to say.
        """
        rows = [_look(row) for row in scores]  # a row at a time: V is 262,144 in the large model
        self._steps.append(tuple(torch.stack(column) for column in zip(*rows, strict=True)))
        if not bool(torch.isfinite(self._steps[-1][0]).all()):
            raise NotFiniteError(
                f"the model's logits are not finite at step {self.steps}",
                remedy="try -O dtype=float32; if that does not help, the weights are broken",
            )
        return scores

    def entropy(self) -> NDArray[np.float32]:
        """B×L, of the last step."""
        entropy: NDArray[np.float32] = self._steps[-1][0].cpu().numpy()
        return entropy

    def read(self, canvas: int, tokens: torch.Tensor) -> Canvas:
        """What was seen of committed tokens (B×L), and forget it."""
        entropy, first, first_p, second, second_p = (
            torch.stack(column) for column in zip(*self._steps, strict=True)
        )  # each S×B×L
        steps = len(self._steps)
        wanted = tokens.to(first.device)
        index = torch.arange(steps, device=first.device).view(-1, 1, 1)
        last = torch.where(first == wanted, index, -1).amax(0)
        found = last >= 0
        at = last.clamp(min=0).unsqueeze(0)
        changed = torch.zeros_like(first, dtype=torch.bool)
        changed[1:] = first[1:] != first[:-1]
        near = (index <= at) & (index > at - WATCHED)
        changes = (changed & near).sum(0)

        def pick(values: torch.Tensor) -> torch.Tensor:
            return values.gather(0, at).squeeze(0)

        # A token that never won (a pad written over the rest of a canvas) has no probability.
        probability = torch.where(found, pick(first_p), torch.zeros_like(first_p[0]))
        columns = (probability, pick(entropy), pick(second), pick(second_p), changes)
        arrays = [column.cpu().numpy() for column in columns]
        self._steps.clear()
        return Canvas(canvas, steps, tokens.cpu().numpy(), *arrays)


def _look(logits: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Entropy, winner, its probability, runner-up, its probability of L×V logits; each L."""
    log_p = torch.log_softmax(logits.float(), dim=-1)
    top, ids = log_p.topk(2, dim=-1)
    # An excluded token has log p = -inf and contributes nothing; 0 · -inf would be NaN.
    entropy = -(log_p.exp() * log_p.clamp(min=torch.finfo(log_p.dtype).min)).sum(-1)
    p = top.exp()
    return entropy, ids[:, 0], p[:, 0], ids[:, 1], p[:, 1]


@dataclass(eq=False)
class Stream:
    """The streamer and the probe of one `generate` call, which belong together."""

    tokenizer: Any
    listener: Listener
    cancel: Cancel | None = None
    probe: Probe = field(default_factory=Probe)
    canvases: list[Canvas] = field(default_factory=list)

    def streamer(self) -> TextDiffusionStreamer:
        """What `generate` is given."""
        return _Streamer(self)

    def draft(self, tokens: torch.Tensor) -> None:
        """A step was made; tokens are B×L."""
        entropy = self.probe.entropy()
        if self.listener.draft is not None:
            canvas, step = len(self.canvases), self.probe.steps
            self.listener.draft(Draft(canvas, step, tokens.numpy(), entropy))
        if self.cancel is not None and self.cancel():
            raise Cancelled

    def commit(self, tokens: torch.Tensor) -> None:
        """A canvas is finished; tokens are B×L."""
        canvas = self.probe.read(len(self.canvases), tokens)
        self.canvases.append(canvas)
        if self.listener.canvas is not None:
            self.listener.canvas(canvas)


class _Streamer(TextDiffusionStreamer):
    """Passes on what the original would print, for batches of any size."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream.tokenizer)
        self._stream = stream
        self._prompt = True

    def put_draft(self, value: torch.Tensor, **_: Any) -> None:
        self._stream.draft(value)

    def put(self, value: torch.Tensor) -> None:
        if self._prompt:  # the first thing that comes is the prompt
            self._prompt = False
        else:
            self._stream.commit(value)

    def end(self) -> None:
        pass


class Budget(StoppingCriteria):
    """Lets a long reply grow, and a looping one not.

    A reply may use `canvases` canvases whatever it says. From there on it goes on only while it is
    not running in circles; how far at most is `max_new_tokens`.
    """

    def __init__(self, canvases: int, prompt: int, loops: Callable[[list[int]], bool]) -> None:
        """Take the free canvases, the tokens of the prompt in `input_ids`, and who tells a loop."""
        self._free, self._prompt, self._loops = canvases, prompt, loops

    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        """True for the rows that have to stop."""
        length = int(kwargs["new_token_length"])
        stop = torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)
        if (input_ids.shape[1] - self._prompt) // length < self._free:
            return stop
        replies = input_ids[:, self._prompt :].tolist()
        return torch.tensor([self._loops(r) for r in replies], device=input_ids.device)
