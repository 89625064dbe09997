"""Engines by name. A factory imports its engine only when it is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ocr_pipeline.engines.base import Engine
from ocr_pipeline.errors import MissingExtraError, UsageError

Start = Callable[[], Engine]
"""Loads the model and returns the engine; may take seconds."""
Factory = Callable[[str, Mapping[str, str]], Start]
"""Takes the model (may be empty) and the engine's own options, and checks them at once."""

T = TypeVar("T")


def _ppocr(model: str, options: Mapping[str, str]) -> Start:
    from ocr_pipeline.engines.ppocr import PpocrEngine, PpocrSettings  # noqa: PLC0415

    if model:
        raise UsageError("ppocr has one model, which ships with it", remedy="leave --model out")
    settings = settings_of(PpocrSettings, options, "ppocr")
    return lambda: PpocrEngine(settings)


def _scripted(model: str, options: Mapping[str, str]) -> Start:
    from ocr_pipeline.engines.scripted import ScriptedEngine  # noqa: PLC0415

    if not model:
        raise UsageError("the scripted engine needs replies", remedy="give --model replies.json")
    if options:
        raise UsageError("the scripted engine has no options", remedy="leave -O out")
    engine = ScriptedEngine.load(model)
    return lambda: engine


def _diffusion_gemma(model: str, options: Mapping[str, str]) -> Start:
    require("gemma", "torch", "transformers", "accelerate", what="the diffusiongemma engine")
    from ocr_pipeline.engines.diffusion_settings import DiffusionGemmaSettings  # noqa: PLC0415

    settings = settings_of(DiffusionGemmaSettings, options, "diffusiongemma")

    def start() -> Engine:
        from ocr_pipeline.engines.diffusion_gemma import DiffusionGemmaEngine  # noqa: PLC0415

        return DiffusionGemmaEngine.load(model, settings)

    return start


ENGINES: Mapping[str, Factory] = {
    "ppocr": _ppocr,
    "diffusiongemma": _diffusion_gemma,
    "scripted": _scripted,
}


def require(extra: str, *packages: str, what: str) -> None:
    """Find out whether the packages of an extra are there, without importing them.

    Raises:
        MissingExtraError: one is not.
    """
    missing = [p for p in packages if find_spec(p) is None]
    if missing:
        raise MissingExtraError(f"{what} needs {', '.join(missing)}", extra=extra)


def prepare_engine(name: str, model: str = "", options: Mapping[str, str] | None = None) -> Start:
    """Check an engine's name, model and options, without loading anything heavy.

    Args:
        name: of an engine; or of several with commas between, which read in turn and vote.
        model: hub id, folder or file; of several engines it is for all but `ppocr`.
        options: the engine's own; of several engines `engine.option`.

    Returns:
        What starts the engine. Starting raises `EngineError` when it cannot run here.

    Raises:
        UsageError: there is no such engine, or it has no such option.
    """
    if "," in name:
        return _panel([n.strip() for n in name.split(",")], model, options or {})
    if name not in ENGINES:
        raise UsageError(
            f"there is no engine {name!r}", remedy=f"give one of: {', '.join(sorted(ENGINES))}"
        )
    return ENGINES[name](model, options or {})


def _panel(names: Sequence[str], model: str, options: Mapping[str, str]) -> Start:
    if "" in names:
        raise UsageError("an engine without a name", remedy="write --engine ppocr,diffusiongemma")
    if len(set(names)) < len(names):
        raise UsageError(f"an engine is named twice: {', '.join(names)}", remedy="use --runs")
    strange = [key for key in options if key.partition(".")[0] not in names or "." not in key]
    if strange:
        raise UsageError(
            f"whose option is {strange[0]!r}?",
            remedy=f"name its engine: -O {' or '.join(names)}.{strange[0].rpartition('.')[2]}=…",
        )
    starts = [
        prepare_engine(
            name,
            "" if name == "ppocr" else model,
            {k.removeprefix(f"{name}."): v for k, v in options.items() if k.startswith(f"{name}.")},
        )
        for name in names
    ]

    def start() -> Engine:
        from ocr_pipeline.engines.panel import Panel  # noqa: PLC0415

        return Panel([start() for start in starts])

    return start


def settings_of(cls: type[T], options: Mapping[str, str], engine: str) -> T:
    """Make an engine's settings (a dataclass) from `key=value` texts.

    Raises:
        UsageError: a key is unknown or a value does not fit.
    """
    known = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise UsageError(
            f"{engine} has no option {', '.join(unknown)}", remedy=f"known: {', '.join(known)}"
        )
    plain: dict[str, Any] = dict(options)
    try:
        return TypeAdapter(cls).validate_python(plain)
    except ValidationError as e:
        first = e.errors()[0]
        where = f"option {'.'.join(map(str, first['loc']))}" if first["loc"] else "the options"
        given = f" (you gave {first['input']!r})" if first["loc"] else ""
        raise UsageError(
            f"{where} of {engine}: {first['msg']}{given}",
            remedy="docs/engines.md lists what each option takes",
        ) from e
