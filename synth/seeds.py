"""Independent random streams from one seed: a name for each use, so none disturbs another."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """The generator that belongs to `names` under `seed`.

    The names become the spawn key (`zlib.crc32`, which unlike `hash` is the same in every
    process), so adding a new use of randomness never changes what the old ones draw.
    """
    key = tuple(n if isinstance(n, int) else zlib.crc32(n.encode()) for n in names)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """One of `options`, each as likely (`Generator.choice` would turn them into an array)."""
    return options[int(rng.integers(len(options)))]


def chance(rng: np.random.Generator, probability: float) -> bool:
    """True with this probability; always draws, so that streams stay in step."""
    return bool(rng.random() < probability)
