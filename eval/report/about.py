"""Where scores come from, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eval.report.results import Results
from eval.report.wording import DASH, count


def byline(results: Results) -> str:
    """One line: what was measured, on what, how often."""
    about = results.about
    known = [str(about[k]) for k in ("engine", "model", "bench") if about.get(k)]
    whole = results.headline[-1] if results.headline else None
    known += [f"{count(whole.documents)} sheets"] if whole else []
    known += [f"{about['runs']} runs"] if about.get("runs") else []
    return " · ".join(known)


def about_lines(about: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Plain data as (name, text), nested names joined with dots, in sorted order."""
    for name, value in sorted(about.items()):
        if isinstance(value, Mapping):
            yield from about_lines(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value))
        else:
            yield f"{prefix}{name}", DASH if value in (None, "") else str(value)
