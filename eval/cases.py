"""Cases: files whose truth is known (`truth.json`: file → severity, fields, rows)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ocr_pipeline.errors import UnreadableFileError, UsageError

Plain = str | int | float | None
"""A true value as JSON has it: dates are ISO text, money is a number."""


@dataclass(frozen=True, slots=True)
class Case:
    """One file with its truth.

    Attributes:
        source: name of the file, relative to the folder of `truth.json`.
        severity: how badly the fax was damaged.
        fields: header field name → true value; fields that are not named are not scored.
        rows: the same for each item line, top to bottom.
    """

    source: str
    severity: int
    fields: Mapping[str, Plain]
    rows: tuple[Mapping[str, Plain], ...]


def load_cases(truth: Path) -> dict[str, Case]:
    """Read a `truth.json`.

    Raises:
        UsageError: there is no such file.
        UnreadableFileError: it is not of that form.
    """
    if not truth.is_file():
        raise UsageError(f"there is no truth file {truth}", remedy="give --truth FILE")
    try:
        data = json.loads(truth.read_text(encoding="utf-8"))
        return {
            source: Case(source, int(entry["severity"]), entry["fields"], tuple(entry["rows"]))
            for source, entry in data.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise UnreadableFileError(
            f"the truth file {truth} cannot be used: {e!r}",
            remedy='it maps each file to {"severity": …, "fields": {…}, "rows": […]}',
        ) from e
