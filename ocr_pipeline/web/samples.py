"""Scans to try: a fixed list, known by name. A name is looked up, never opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ocr_pipeline.pages.load import SUPPORTED_SUFFIXES


def find_samples(folder: Path | None) -> Mapping[str, Path]:
    """The scans of a folder by name; none when there is no folder."""
    if folder is None or not folder.is_dir():
        return {}
    return {
        path.name: path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in SUPPORTED_SUFFIXES and path.is_file()
    }
