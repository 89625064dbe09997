"""The chain: steps in physical units, applied in order to a plate, every parameter recorded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from ocr_pipeline.errors import UsageError
from ocr_pipeline.geometry import Quad, scaling
from ocr_pipeline.pages.page import Gray
from synth.seeds import stream
from synth.warp import Affine, Geometry


@dataclass(frozen=True, slots=True)
class Trace:
    """Something that covers or cuts what was printed.

    Attributes:
        kind: `seal`, `stamp`, `pen`, `streak` or `lost_lines`.
        quad: where, in millimetres on the sheet.
    """

    kind: str
    quad: Quad


@dataclass(frozen=True, eq=False)
class Plate:
    """A page on its way through the chain.

    Attributes:
        image: H×W uint8, 0 is black.
        geometry: millimetres on the sheet → pixels of `image`.
        scale: pixels a millimetre along x and y.
        bilevel: only 0 and 255 occur.
        number: 1-based page.
        pages: number of pages.
        traces: what covers the print, so far.
        facts: what happened by chance, e.g. how many bits were flipped.
    """

    image: Gray
    geometry: Geometry
    scale: tuple[float, float]
    bilevel: bool = False
    number: int = 1
    pages: int = 1
    traces: tuple[Trace, ...] = ()
    facts: tuple[tuple[str, float], ...] = ()

    @property
    def dpi(self) -> tuple[float, float]:
        """Dots per inch along x and y."""
        return self.scale[0] * 25.4, self.scale[1] * 25.4


def plate_of(image: Gray, scale: float, *, number: int = 1, pages: int = 1) -> Plate:
    """A clean page with square pixels, `scale` of them a millimetre, at the start of a chain."""
    geometry = Geometry((Affine(scaling(scale, scale)),))
    return Plate(image, geometry, (scale, scale), number=number, pages=pages)


class Step(ABC):
    """One physical process. Subclasses are frozen dataclasses; their fields are the parameters."""

    name: ClassVar[str]

    @abstractmethod
    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """What the plate is like afterwards; all chance comes from `rng`."""


Chain = tuple[Step, ...]


def run(chain: Sequence[Step], plate: Plate, seed: int) -> Plate:
    """Send a plate through a chain.

    Every step has its own random stream, named by the step, its place among those of its name and
    the page: leaving one out does not change what chance does in the others.
    """
    seen: dict[str, int] = {}
    for step in chain:
        seen[step.name] = seen.get(step.name, 0) + 1
        plate = step.apply(plate, stream(seed, step.name, seen[step.name], plate.number))
    return plate


def record(chain: Sequence[Step]) -> list[dict[str, Any]]:
    """The chain as plain data: the name of each step and its parameters."""
    return [{"step": step.name, **asdict(step)} for step in chain]  # type: ignore[call-overload]


def change(chain: Sequence[Step], parameter: str, value: object) -> Chain:
    """The same chain with one parameter changed: the way to sweep a factor alone.

    Args:
        chain: the steps.
        parameter: `step.field`, e.g. `scan.skew_deg`; every step of that name is changed.
        value: the new value; numbers may come as text.

    Raises:
        UsageError: no such step or field, or the value is of another type.
    """
    name, _, field_name = parameter.partition(".")
    known = sorted(f"{s.name}.{f.name}" for s in chain for f in fields(s))  # type: ignore[arg-type]
    if parameter not in known:
        raise UsageError(
            f"no parameter is called {parameter!r}",
            remedy="one of: " + ", ".join(dict.fromkeys(known)),
        )
    changed: list[Step] = []
    for step in chain:
        if step.name == name:
            old = getattr(step, field_name)
            step = replace(step, **{field_name: _like(old, value, parameter)})  # type: ignore[type-var]  # noqa: PLW2901
        changed.append(step)
    return tuple(changed)


def _like(old: object, value: object, parameter: str) -> object:
    """Text turned into the type of the old value."""
    if not isinstance(value, str) or isinstance(old, str):
        return value
    try:
        if isinstance(old, bool):
            return {"true": True, "false": False}[value.lower()]
        if isinstance(old, int | float):
            return type(old)(value)
    except (KeyError, ValueError) as error:
        kind = type(old).__name__
        raise UsageError(
            f"{value!r} is no {kind} for {parameter}", remedy=f"give a {kind}"
        ) from error
    raise UsageError(f"{parameter} cannot be set from text", remedy="set it in Python")
