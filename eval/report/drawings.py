"""Which curves a report shows, and what is on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from eval.report.figures import FieldFigures, Headline, Number, Share
from eval.report.gather import ALL
from eval.report.plots import Line, bars, curves
from eval.report.results import Results
from eval.report.wording import glyph

SPAN = 0.06
"""Least span of the consensus curve's axis, as a share of the values."""
PAIRS = 14
"""Bars of confusion pairs."""
SHOWN = {"flags": "flags as they are", "confidence": "confidence", "votes": "votes", "all": "all"}


def drawings(results: Results) -> dict[str, Markup]:
    """Name → `<svg>`. What there is nothing to draw of is not among them."""
    drawn = {
        "severity": _severity(results),
        "levels": _levels(results.headline[:-1]),
        "pairs": _pairs(results),
    }
    if results.consensus:
        drawn |= {"consensus": _consensus(results), "unseen": _unseen(results)}
    if results.risk:
        drawn["risk"] = _risk(results)
    if results.calibration:
        drawn["calibration"] = _calibration(results)
    return {name: Markup(svg) for name, svg in drawn.items()}


def _line(
    label: str,
    x: Sequence[float],
    shares: Sequence[Share],
    *,
    band: bool = True,
    whiskers: bool = False,
) -> Line:
    """A curve through the shares that are known, with the intervals that are known."""
    known = [(at, s) for at, s in zip(x, shares, strict=True) if s.value is not None]
    ends = [_ends(s) for _, s in known]
    some = band and not all(map(math.isnan, (low for low, _ in ends)))
    return Line(
        label,
        [at for at, _ in known],
        [_or_nan(s.value) for _, s in known],
        [low for low, _ in ends] if some else (),
        [high for _, high in ends] if some else (),
        whiskers=whiskers,
    )


def _ends(share: Share) -> tuple[float, float]:
    """The interval; NaN where there is none, or where it excludes nothing."""
    if (share.low, share.high) == (0.0, 1.0):
        return math.nan, math.nan
    return _or_nan(share.low), _or_nan(share.high)


def _or_nan(value: Number) -> float:
    return math.nan if value is None else value


def _severity(results: Results) -> str:
    rows: list[FieldFigures] = [
        f for f in results.fields if f.field == ALL and f.severity is not None
    ]
    x = [f.severity or 0 for f in rows]
    lines = [
        _line("all runs together", x, [f.right for f in rows], whiskers=True),
        _line("one run", x, [f.accuracy for f in rows], whiskers=True),
        _line("right in any run", x, [f.any_right for f in rows], band=False),
        _line("right in every run", x, [f.all_right for f in rows], band=False),
    ]
    return curves("severity", lines, x="severity", y="values that are right", x_ticks=x)


def _levels(rows: Sequence[Headline]) -> str:
    x = [h.severity or 0 for h in rows]
    lines = [
        _line("typed (the score)", x, [h.right for h in rows], whiskers=True),
        _line("look-alikes as one", x, [h.folded_right for h in rows], band=False),
        _line("to the letter", x, [h.raw_right for h in rows], band=False),
    ]
    return curves("levels", lines, x="severity", y="values that are right", x_ticks=x)


def _consensus(results: Results) -> str:
    points = [p for p in results.consensus if p.severity is None]
    x = [p.k for p in points]
    seconds = _line("seconds", x, [p.seconds for p in points], band=False)
    tokens = _line("tokens", x, [p.tokens for p in points], band=False)
    cost = (
        ("engine seconds a document", seconds) if len(seconds.x) else ("tokens a document", tokens)
    )
    return curves(
        "consensus",
        [_line("right", x, [p.right for p in points], band=False)],
        x="runs that vote",
        y="values that are right",
        x_ticks=x,
        y_range=_range([p.right.value for p in points if p.right.value is not None]),
        second=cost if len(cost[1].x) else None,
    )


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    """A span of at least `SPAN`, so that noise does not look like a mountain."""
    if not values:
        return None
    low, high = min(values), max(values)
    room = max(0.1 * (high - low), (SPAN - (high - low)) / 2)
    return max(0.0, low - room), min(1.0, high + room) + 0.002


def _unseen(results: Results) -> str:
    points = [p for p in results.consensus if p.severity is None]
    x = [p.k for p in points]
    lines = [
        _line("wrong, and nobody told", x, [p.silent for p in points], band=False),
        _line("to look at", x, [p.flagged for p in points], band=False),
    ]
    return curves("unseen", lines, x="runs that vote", y="share of the values", x_ticks=x)


def _risk(results: Results) -> str:
    lines = [
        Line(SHOWN[c.signal], c.coverage, c.risk, points=c.signal == "flags") for c in results.risk
    ]
    return curves("risk", lines, x="accepted unseen", y="wrong among the accepted", percent="xy")


def _calibration(results: Results) -> str:
    bins = results.calibration
    x = [b.confidence for b in bins]
    least = min([*x, *(b.accuracy.value or 0.0 for b in bins)])
    lines = [
        Line("as sure as right", (least, 1.0), (least, 1.0), dashed=True),
        _line("values", x, [b.accuracy for b in bins], whiskers=True),
    ]
    return curves("calibration", lines, x="confidence", y="right", percent="xy")


def _pairs(results: Results) -> str:
    most = results.confusions[:PAIRS]
    labels = [f"{glyph(c.true)} → {glyph(c.read)}" for c in most]
    return bars("pairs", labels, [c.count for c in most], x="times")
