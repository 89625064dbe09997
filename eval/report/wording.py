"""Numbers and names as people read them."""

from __future__ import annotations

from collections.abc import Iterable

from eval.report.figures import Number, Share

DASH = "–"
"""Stands for what is not known."""

PERCENT = "\u00a0%"
"""Its space does not break."""

_STEPS = (0.995, 0.98, 0.95, 0.9, 0.75)


def percent(value: Number) -> str:
    """A share in percent. Only nothing is 0 % and only all is 100 %: near the ends digits grow."""
    if value is None:
        return DASH
    if value in (0.0, 1.0):
        return f"{100 * value:.0f}{PERCENT}"
    for digits in (1, 2, 3):
        text = f"{100 * value:.{digits}f}"
        if 0 < float(text) < 100:
            return f"{text}{PERCENT}"
    return f"under 0.001{PERCENT}" if value < 0.5 else f"over 99.999{PERCENT}"


def points(value: Number) -> str:
    """A difference of shares in percentage points, with its sign."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    sign = "+" if value > 0 else "−"
    size = abs(100 * value)
    return f"{sign}{size:.1f}" if size >= 0.05 else f"{sign}{size:.2g}"


def count(value: int) -> str:
    """A whole number; thousands are parted by a narrow space."""
    return f"{value:,}".replace(",", "\u202f")


def quantity(value: Number, digits: int = 3) -> str:
    """Any other number, to some significant digits."""
    return DASH if value is None else f"{value:.{digits}g}"


def between(share: Share) -> str:
    """The interval in words; empty when there is none, or nothing to say."""
    if share.low is None or share.high is None or share.low == share.high:
        return ""
    if share.low == 0 and share.high == 1:
        return "too few to say"
    if share.value == 0:
        return f"at most {percent(share.high)}"
    if share.value == 1:
        return f"at least {percent(share.low)}"
    return f"{percent(share.low).removesuffix(PERCENT)} to {percent(share.high)}"


def heat(value: float) -> str:
    """The step of a heat map: `h5` is all but perfect, `h0` is bad."""
    return f"h{sum(value >= step for step in _STEPS)}"


def spoken(code: str) -> str:
    """A machine name as words."""
    return code.replace("_", " ")


def glyph(char: str) -> str:
    """A character that can be seen: nothing and spaces have signs of their own."""
    return {"": "∅", " ": "␣", "\u3000": "␣", "\n": "↵"}.get(char, char)


def numbered(runs: Iterable[int]) -> str:
    """Numbers of runs for people, who count from one: `runs 1–3, 5`."""
    spans: list[list[int]] = []
    for run in sorted(runs):
        if spans and spans[-1][1] == run:
            spans[-1][1] = run + 1
        else:
            spans.append([run + 1, run + 1])
    parts = [str(a) if a == b else f"{a}–{b}" for a, b in spans]
    several = len(parts) > 1 or "–" in "".join(parts)
    return f"run{'s' if several else ''} {', '.join(parts)}"
