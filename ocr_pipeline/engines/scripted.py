"""An engine that answers from a list, and fails on demand: for tests of everything around it.

The replies are Markdown, as a vision-language model writes it. In place of a reply a fault can be
named, so that every kind of failure can be had without waiting for one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ocr_pipeline.engines.base import Cancel, Reading, ReadingStatus
from ocr_pipeline.engines.events import Emit, Event, Kind
from ocr_pipeline.engines.scripted_canvas import denoise
from ocr_pipeline.errors import EngineError, UsageError
from ocr_pipeline.pages.page import Ink, Page

Fault = Literal["raise", "hang", "die", "incomplete", "looping", "empty"]


@dataclass(frozen=True, slots=True)
class Script:
    """One answer.

    Attributes:
        text: the Markdown.
        fault: what goes wrong instead of (or after) it: `raise` an error, `hang` until cancelled,
            `die` as a process, come back `incomplete` or `looping`, or `empty`.
        steps: drafts shown of each canvas before it is committed, as a diffusion model does; 0
            commits the text at once.
        canvas: characters of a canvas.
        pause: seconds a step takes.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    text: str = ""
    fault: Fault | None = None
    steps: Annotated[int, Field(ge=0)] = 0
    canvas: Annotated[int, Field(ge=1)] = 256
    pause: Annotated[float, Field(ge=0)] = 0.0


_ENTRIES = TypeAdapter(list[str | Script])


class ScriptedEngine:
    """Answers run k with the k-th script, round and round."""

    name = "scripted"

    def __init__(self, scripts: Sequence[Script]) -> None:
        if not scripts:
            raise UsageError("a scripted engine needs at least one reply", remedy="add one")
        self._scripts = tuple(scripts)

    @classmethod
    def load(cls, path: str) -> ScriptedEngine:
        """Load replies from a JSON file: a list of texts and of `{"text": …, "fault": …}`.

        Raises:
            UsageError: the file is missing or not such a list.
        """
        try:
            entries = _ENTRIES.validate_json(Path(path).read_bytes())
        except (OSError, ValidationError) as e:
            raise UsageError(
                f"the replies {path} cannot be used: {e}",
                remedy='write a JSON list: ["| 品名 | 数量 |…", {"text": "", "fault": "raise"}]; '
                f"faults are {', '.join(get_args(Fault))}",
            ) from e
        scripts = [Script(e) if isinstance(e, str) else e for e in entries]
        return cls(scripts)

    def read(
        self,
        page: Page,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Answer with the script of this run. See `Engine.read`."""
        if page.ink is Ink.BLANK:
            return Reading(self.name, run, seed, page.number, status=ReadingStatus.BLANK)
        return self._answer(run, seed, page.number, emit, cancel)

    def chat(
        self,
        prompt: str,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Answer with the script of this run, whatever the prompt is."""
        return self._answer(run, seed, 1, emit, cancel)

    def _answer(
        self, run: int, seed: int, page: int, emit: Emit | None, cancel: Cancel | None
    ) -> Reading:
        script = self._scripts[run % len(self._scripts)]
        text, status = script.text, ReadingStatus.OK
        match script.fault:
            case "raise":
                raise EngineError("the script says so", remedy="take the fault out of the script")
            case "die":
                os._exit(3)
            case "hang":
                while cancel is None or not cancel():
                    time.sleep(0.01)
                status = ReadingStatus.INCOMPLETE
            case "incomplete" | "looping":
                status = ReadingStatus(script.fault)
            case "empty":
                text = ""

        def say(kind: Kind, data: Mapping[str, Any]) -> None:
            if emit is not None:
                emit(Event(kind, run, page, data=dict(data)))

        if not script.steps:
            say("committed", {"text": text})
            return Reading(self.name, run, seed, page, raw=text, status=status)
        say("page", {"engine": self.name, "tiling": "page", "tiles": [], "runs": [run]})
        text, complete = denoise(
            text,
            canvas=script.canvas,
            steps=script.steps,
            pause=script.pause,
            seed=seed,
            say=say,
            cancel=cancel or (lambda: False),
        )
        status = status if complete else ReadingStatus.INCOMPLETE
        return Reading(self.name, run, seed, page, raw=text, status=status)
