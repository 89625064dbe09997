"""Cases: files whose truth is known.

`truth.json` maps each file to `{severity, fields, rows}`; beside it, `truth/<file>.json` may hold
what only a generator knows: where each value stands, how much of its ink is left, how the company
names were made. A sheet that was sent several times has an entry for each transmission, with
`sheet` (a name they share) and `transmission` (0, 1, …).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ocr_pipeline.errors import UnreadableFileError, UsageError
from ocr_pipeline.geometry import Quad

Plain = str | int | float | None
"""A true value as JSON has it: dates are ISO text, money is a number; None is a blank place."""
Ref = tuple[str, int | None]
"""Name of a value and its 0-based line; None for a field of the order."""
_FORM = 'it maps each file to {"severity": …, "fields": {…}, "rows": […]}'


@dataclass(frozen=True, slots=True)
class Place:
    """Where a true value stands in the file.

    Attributes:
        page: 1-based page of its first print.
        quad: of its first print, in stored pixels.
        ink: least share of glyph pixels left (0..1) among its prints; NaN when unknown.
        prints: the texts as printed, in reading order.
    """

    page: int
    quad: Quad
    ink: float = math.nan
    prints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One file with its truth.

    Attributes:
        source: name of the file, relative to the folder of `truth.json`.
        severity: how badly the fax was damaged.
        fields: header field name → true value; fields that are not named are not scored.
        rows: the same for each item line, top to bottom.
        sheet: what it is a transmission of; empty when it was sent once.
        transmission: 0-based number of the transmission.
        places: where the values stand, as far as known.
        blank: places of lines that are on the form and empty, as far as known.
        name_kinds: field → how its company name was made.
        checklist: (value, text as printed) that a preset scores one by one.
    """

    source: str
    severity: int
    fields: Mapping[str, Plain]
    rows: tuple[Mapping[str, Plain], ...]
    sheet: str = ""
    transmission: int = 0
    places: Mapping[Ref, Place] = field(default_factory=dict)
    blank: frozenset[Ref] = frozenset()
    name_kinds: Mapping[str, str] = field(default_factory=dict)
    checklist: tuple[tuple[Ref, str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the page holds no order: whatever is read from it is invented."""
        return not self.fields and not self.rows


def load_cases(truth: Path) -> dict[str, Case]:
    """Read a `truth.json`, and the `truth/<file>.json` that lie beside it.

    Raises:
        UsageError: there is no such file, or it names no file.
        UnreadableFileError: one of them is not of that form.
    """
    if not truth.is_file():
        raise UsageError(f"there is no truth file {truth}", remedy="give --truth FILE")
    entries = _json(truth)
    try:
        cases = {
            source: _case(source, entry, truth.parent / "truth" / f"{source}.json")
            for source, entry in entries.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise UnreadableFileError(
            f"the truth file {truth} cannot be used: {e!r}",
            remedy=_FORM,
        ) from e
    if not cases:
        raise UsageError(f"the truth file {truth} names no file", remedy="give another one")
    return cases


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise UnreadableFileError(
            f"the truth file {path} cannot be used: {e!r}", remedy=_FORM
        ) from e


def _case(source: str, entry: Mapping[str, Any], known: Path) -> Case:
    more = _known(_json(known)) if known.is_file() else {}
    return Case(
        source,
        int(entry["severity"]),
        dict(entry["fields"]),
        tuple(dict(row) for row in entry["rows"]),
        sheet=str(entry.get("sheet", "")),
        transmission=int(entry.get("transmission", 0)),
        **more,
    )


def _known(long: Mapping[str, Any]) -> dict[str, Any]:
    """What `truth/<file>.json` of `synth` adds."""
    values = dict(_values(long))
    return {
        "places": {ref: _place(v["prints"]) for ref, v in values.items() if v["prints"]},
        "blank": frozenset(ref for ref, v in values.items() if v.get("blank")),
        "name_kinds": {role: str(name["kind"]) for role, name in long["names"].items()},
        "checklist": tuple(((s["name"], s["row"]), s["text"]) for s in long["scored"]),
    }


def _values(long: Mapping[str, Any]) -> Iterator[tuple[Ref, Mapping[str, Any]]]:
    for name, value in long["fields"].items():
        yield (name, None), value
    for i, row in enumerate(long["rows"]):
        for name, value in row.items():
            yield (name, i), value


def _place(prints: list[Mapping[str, Any]]) -> Place:
    first = prints[0]
    a, b, c, d = ((float(x), float(y)) for x, y in first["quad"])
    ink = min(float(p["ink"]) for p in prints)
    return Place(first["page"], (a, b, c, d), ink, tuple(p["text"] for p in prints))
