"""The state of a training run on disk: all that it takes to go on as if nothing had been."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ocr_pipeline.errors import InputError, UsageError

STATE, CURVE = "state.pt", "curve.csv"
COLUMNS = (
    "step",
    "crops",
    "seconds",
    "loss",
    "columns",
    "places",
    "gradient",
    "rate",
    "crops_per_second",
    "cer",
    "exact",
)


@dataclass
class Progress:
    """How far a run has got.

    Attributes:
        step: optimiser steps taken.
        crops: crops seen.
        seconds: of wall clock, all sittings together.
        chunk: of the training data, the one that the next batch belongs to.
        index: of that batch within the chunk.
    """

    step: int = 0
    crops: int = 0
    seconds: float = 0.0
    chunk: int = 0
    index: int = 0


def save_state(
    folder: Path,
    settings: dict[str, Any],
    progress: Progress,
    modules: dict[str, nn.Module],
    optimisers: Iterable[torch.optim.Optimizer],
    *,
    name: str = STATE,
) -> None:
    """Write the state beside the old one and put it in its place, so that one of them is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {
        "settings": settings,
        "progress": vars(progress),
        "modules": {name: module.state_dict() for name, module in modules.items()},
        "optimisers": [o.state_dict() for o in optimisers],
    }
    new = folder / f"{name}.new"
    torch.save(state, new)
    new.replace(folder / name)


def read_state(folder: Path, *, name: str = STATE) -> dict[str, Any]:
    """The state of a run.

    Raises:
        UsageError: there is none.
        InputError: it is damaged.
    """
    path = folder / name
    if not path.is_file():
        raise UsageError(
            f"{folder} holds no training run", remedy="leave out --resume to begin one"
        )
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what its unpickler and its zip reader raise
        raise InputError(
            f"{path} is damaged: {error}", remedy="begin again in another folder"
        ) from error
    return state


def load_state(
    state: dict[str, Any],
    modules: dict[str, nn.Module],
    optimisers: Iterable[torch.optim.Optimizer],
) -> Progress:
    """Put a state into a model and its optimisers; returns how far it had got.

    Raises:
        InputError: it is of a model of another shape, as after a change of this program.
    """
    try:
        for name, module in modules.items():
            module.load_state_dict(state["modules"][name])
        for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        return Progress(**state["progress"])
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the training run is of another version: {error}",
            remedy="begin again in another folder",
        ) from error


def note(folder: Path, row: Mapping[str, float]) -> None:
    """Add a row to the curve."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CURVE
    fresh = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        if fresh:
            writer.writeheader()
        writer.writerow(row)
