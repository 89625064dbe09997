"""The prompts, by name. A prompt that has been used is never edited: it gets a new version."""

from __future__ import annotations

from importlib.resources import files

from ocr_pipeline.errors import UsageError

_FOLDER = "prompts"


def names() -> tuple[str, ...]:
    """All prompts there are, sorted."""
    folder = files("ocr_pipeline.engines") / _FOLDER
    return tuple(sorted(p.name[:-4] for p in folder.iterdir() if p.name.endswith(".txt")))


def load_prompt(name: str) -> str:
    """The text of a prompt, without white space around it.

    Raises:
        UsageError: there is no such prompt.
    """
    if name not in names():
        raise UsageError(
            f"there is no prompt {name!r}", remedy=f"give one of: {', '.join(names())}"
        )
    path = files("ocr_pipeline.engines") / _FOLDER / f"{name}.txt"
    return path.read_text(encoding="utf-8").strip()
