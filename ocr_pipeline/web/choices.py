"""Which engines visitors may choose, and which of their options they may set.

What costs the machine (device, precision, threads) is for whoever starts the server; what changes
the reading is for whoever reads.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ocr_pipeline.engines.base import Engine
from ocr_pipeline.engines.diffusion_files import POCKET, pocket_folder
from ocr_pipeline.engines.registry import ENGINES, prepare_engine
from ocr_pipeline.errors import EngineError, UsageError
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.settings import Adjustable, EngineChoice, Setting

OFFERED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ppocr": (
        "ocr_pipeline.engines.ppocr:PpocrSettings",
        ("second_look", "det_threshold", "box_threshold"),
    ),
    "diffusiongemma": (
        "ocr_pipeline.engines.diffusion_settings:DiffusionGemmaSettings",
        ("tiling", "soft_tokens", "steps", "entropy_bound", "t_max", "t_min", "canvases"),
    ),
}
"""Engine → its settings class, and the options that visitors may set."""
LONGEST_OPTION = 40
"""Characters of an option's value."""


def choose(
    wanted: Iterable[tuple[str, str]], options: Mapping[str, Mapping[str, str]]
) -> list[EngineChoice]:
    """The engines that were named (with their models), or else all that can be had.

    Raises:
        UsageError: a named engine does not exist, or an option does not fit or is for an engine
            that is not among them.
    """
    named = list(wanted)
    if named:
        found = [_choice(name, model, options.get(name, {})) for name, model in named]
    else:
        found = _usual(options)
    offered = {choice.name for choice in found}
    for name, given in options.items():
        if given and name not in offered:
            raise UsageError(
                f"-O {name}.{next(iter(given))} is for an engine that is not offered",
                remedy=f"leave it out, or give --engine {name}=MODEL",
            )
    return found


def _usual(options: Mapping[str, Mapping[str, str]]) -> list[EngineChoice]:
    found = []
    for name in ENGINES:
        model = _usual_model(name)
        if model is None:
            continue
        try:
            found.append(_choice(name, model, options.get(name, {})))
        except UsageError:
            if options.get(name):
                raise
            continue  # it needs to be told something, so it has to be named
    return found


def _usual_model(name: str) -> str | None:
    """What an engine loads when nobody names a model; None: nothing.

    A visitor must not set off the download of 50 GB: without a name it is the model that ships
    with the package, where it does.
    """
    if name != "diffusiongemma":
        return ""
    return POCKET if pocket_folder() is not None else None


def _choice(name: str, model: str, options: Mapping[str, str]) -> EngineChoice:
    def start(more: Mapping[str, str], loaded: Adjustable | None) -> Engine:
        together = {**options, **more}
        return loaded.with_options(together) if loaded else prepare_engine(name, model, together)()

    try:
        prepare_engine(name, model, options)
        settings, problem = _settings(name, options), ""
    except EngineError as e:
        settings, problem = (), f"{e.message} → {e.remedy}" if e.remedy else e.message
    return EngineChoice(name, start, model, settings, problem)


def _settings(name: str, options: Mapping[str, str]) -> tuple[Setting, ...]:
    if name not in OFFERED:
        return ()
    where, names = OFFERED[name]
    module, _, attribute = where.partition(":")
    cls: Any = getattr(importlib.import_module(module), attribute)
    hints = get_type_hints(cls)
    fields = {f.name: f.default for f in dataclasses.fields(cls)}
    return tuple(_setting(n, hints[n], options.get(n, fields[n])) for n in names if n in fields)


def _setting(name: str, hint: Any, default: Any) -> Setting:
    """What a type says about how an option may be set."""
    kinds = [h for h in _alternatives(hint) if h is not type(None)]
    shown = "" if default is None else default
    match kinds:
        case [kind] if kind is bool:
            return Setting(name, "flag", str(default).lower() in ("true", "1", "yes"))
        case [kind] if get_origin(kind) is Literal:
            return Setting(name, "choice", str(shown), tuple(map(str, get_args(kind))))
        case [kind] if kind is int:
            return Setting(name, "count", shown)
        case _:
            return Setting(name, "number", shown)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def checked(choice: EngineChoice, options: Mapping[str, str]) -> dict[str, str]:
    """A visitor's options, without those that say what is so anyway.

    Raises:
        Refused: it is no option that visitors may set, or its value does not fit.
    """
    offered = {s.name: s for s in choice.settings}
    unknown = sorted(set(options) - set(offered))
    if unknown:
        raise Refused(
            422,
            f"{choice.name} has no such option here: {', '.join(unknown)[:200]}",
            remedy=f"known: {', '.join(offered) or 'none'}",
        )
    kept = {n: v.strip() for n, v in options.items() if v.strip() != str(offered[n].default)}
    kept = {n: v for n, v in kept.items() if v}
    for name, value in kept.items():
        if len(value) > LONGEST_OPTION or not _fits(offered[name], value):
            raise Refused(
                422,
                f"{name} of {choice.name} cannot be {value[:LONGEST_OPTION]!r}",
                remedy=f"give a {offered[name].kind}",
            )
    return kept


def _fits(setting: Setting, value: str) -> bool:
    match setting.kind:
        case "flag":
            return value in ("true", "false")
        case "choice":
            return value in setting.choices
        case "count":
            return value.isascii() and value.isdigit() and 0 < int(value) <= 4096
        case _:
            try:
                return 0 <= float(value) <= 1000
            except ValueError:
                return False
