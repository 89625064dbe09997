"""All settings of a run in one frozen value, built once at the edge and passed on explicitly."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ocr_pipeline.errors import UsageError
from ocr_pipeline.orders.schema import Schema

DEFAULT_RUNS = 3
"""Runs of a page: two can only disagree, three can outvote."""


@dataclass(frozen=True)
class Settings:
    """How documents are read.

    Attributes:
        schema: the form.
        engine: registry name of the engine.
        model: hub id or folder, for engines that load one; empty is the engine's default.
        options: the engine's own settings, as given with `-O key=value`.
        runs: how often each page is read.
        seed: seed of the first run; run k gets `seed + k`.
    """

    schema: Schema
    engine: str = "ppocr"
    model: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    runs: int = DEFAULT_RUNS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.runs < len(self.engine.split(",")):
            raise UsageError(
                f"{self.engine}: {self.runs} runs leave some of the engines unasked",
                remedy=f"give --runs {len(self.engine.split(','))} or more",
            )

    def as_dict(self) -> dict[str, object]:
        """Plain values for `run.json`; the schema by its name."""
        return asdict(self) | {"schema": self.schema.name, "options": dict(self.options)}

    def fingerprint(self, version: str) -> str:
        """Changes when a document would be read differently: settings, schema, our own version."""
        content = self.as_dict() | {"schema": self.schema.model_dump_json(), "version": version}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
