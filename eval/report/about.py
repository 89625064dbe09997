"""Where scores come from, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval.report.results import Results
from eval.report.wording import DASH, count

MANY = 24
"""Most entries of a nested part that are listed."""


def byline(results: Results) -> str:
    """One line: on what, how often, when."""
    about = results.about
    known = [f"{count(h.documents)} faxes" for h in results.headline[-1:]]
    known += [f"{about['runs']} runs"] if about.get("runs") else []
    known += [str(about["began"])[:10]] if about.get("began") else []
    return " · ".join(known)


def about_lines(about: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Plain data as (name, text), nested names joined with dots, in sorted order."""
    for name, value in sorted(about.items()):
        if isinstance(value, Mapping) and len(value) > MANY:
            yield f"{prefix}{name}", f"{count(len(value))} entries: results.json"
        elif isinstance(value, Mapping):
            yield from about_lines(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value)) or DASH
        else:
            yield f"{prefix}{name}", DASH if value in (None, "") else str(value)
