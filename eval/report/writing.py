"""Pages and tables of a report on their way to disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ocr_pipeline.errors import OutputError


def write_texts(out: Path, texts: Mapping[str, str], what: str) -> None:
    """Write some files into a folder, which is made when it is not there.

    A lone surrogate of a broken reply cannot be written as UTF-8, and is replaced.

    Args:
        out: the folder.
        texts: name → content.
        what: they are, for the message.

    Raises:
        OutputError: they cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in texts.items():
            (out / name).write_text(content, encoding="utf-8", errors="replace", newline="\n")
    except OSError as e:
        raise OutputError(
            f"the {what} cannot be written to {out}: {e}", remedy="choose another folder with -o"
        ) from e
