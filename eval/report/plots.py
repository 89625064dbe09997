"""Curves as SVG that takes the colours and the fonts of the page it stands in.

Matplotlib draws with stand-in colours; afterwards each becomes a variable of the style sheet, so
that one drawing serves light, dark and paper. Text stays text: the browser sets it, Japanese
included.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, SOFT, GRID = "#010101", "#020202", "#030303"
SERIES = ("#040404", "#050505", "#060606", "#070707")
"""Stand-in colours. They differ by one level of grey, so a missed one is seen at once."""

DODGE = 0.01
"""Shift of the whiskers of each further line, as a share of its length."""
MARKED = 30
"""Most points of a curve that are marked."""

_VARIABLES = {INK: "--ink", SOFT: "--soft", GRID: "--line"} | {
    colour: f"--series-{i}" for i, colour in enumerate(SERIES, start=1)
}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "eval.report",
    "text.parse_math": False,  # a $ in a text is a $
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": SOFT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 2.0,
    "lines.markersize": 5.0,
    "path.simplify": False,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        label: its name in the legend; empty: in none.
        x: positions.
        y: heights, as long as `x`.
        low: lower ends of the intervals; empty: there are none.
        high: upper ends.
        whiskers: draw intervals as whiskers, not as a band: where nothing lies between two points.
        dashed: a line to compare with rather than a measurement.
        points: single marks, not joined.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = field(default=())
    high: Sequence[float] = field(default=())
    whiskers: bool = False
    dashed: bool = False
    points: bool = False


def curves(
    name: str,
    lines: Sequence[Line],
    *,
    x: str,
    y: str,
    percent: str = "y",
    x_ticks: Sequence[float] = (),
    y_range: tuple[float, float] | None = None,
    second: tuple[str, Line] | None = None,
) -> str:
    """Some curves in one picture.

    Args:
        name: of the picture; its parts are named after it, so names must differ within a page.
        lines: at most as many as there are `SERIES`; dashed ones are drawn in grey.
        x: what runs along the page, with its unit.
        y: what runs up.
        percent: which axes hold shares that are shown as percent: `x`, `y`, `xy` or none.
        x_ticks: where to put numbers; where the values are few and whole.
        y_range: lowest and highest value shown; None: what the lines need.
        second: a quantity of another unit with its own axis at the right.

    Returns:
        An `<svg>` element to be put into HTML.
    """

    def draw(axes: Axes) -> None:
        for line in lines:
            if line.dashed:
                _draw(axes, line, SOFT)
        for i, line in enumerate(n for n in lines if not n.dashed):
            _draw(axes, line, SERIES[i], i)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if len(x_ticks):
            axes.set_xticks(list(x_ticks))
        if y_range is not None:
            axes.set_ylim(*y_range)
        for side in percent:
            axis = axes.xaxis if side == "x" else axes.yaxis
            axis.set_major_formatter(_percent)
        if second is not None:
            label, line = second
            right = axes.twinx()
            right.grid(visible=False)
            _draw(right, line, SERIES[-1])
            right.set_ylabel(label)
            right.set_ylim(bottom=0)
            right.spines["right"].set_visible(True)
            handles = axes.get_lines() + right.get_lines()
        else:
            handles = axes.get_lines()
        named = [h for h in handles if not str(h.get_label()).startswith("_")]
        if named:
            # Above the drawing, where no curve can run through it.
            axes.figure.legend(handles=named, loc="outside upper left", ncols=2)

    return _svg(name, (5.6, 3.5), draw)


def bars(name: str, labels: Sequence[str], counts: Sequence[float], *, x: str) -> str:
    """Horizontal bars with their numbers, the first at the top."""

    def draw(axes: Axes) -> None:
        places = range(len(labels))
        drawn = axes.barh(places, counts, height=0.62, color=SERIES[0])
        axes.bar_label(drawn, padding=4, color=SOFT)
        axes.set_yticks(places, labels=list(labels))
        axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=12)
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
        axes.set_xlabel(x)

    return _svg(name, (5.6, 0.7 + 0.3 * max(len(labels), 1)), draw)


def _draw(axes: Axes, line: Line, colour: str, place: int = 0) -> None:
    axes.plot(
        line.x,
        line.y,
        label=line.label or "_",
        color=colour,
        linestyle="none" if line.points else (0, (4, 3)) if line.dashed else "solid",
        linewidth=1.2 if line.dashed else None,
        marker="D" if line.points else "" if line.dashed or len(line.x) > MARKED else "o",
    )
    if not len(line.low):
        return
    if line.whiskers:
        shift = DODGE * place * (max(line.x) - min(line.x))
        aside = [x + shift for x in line.x]
        axes.vlines(aside, line.low, line.high, color=colour, alpha=0.45, linewidth=1.6)
    else:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.14, linewidth=0)


def _percent(value: float, _: object = None) -> str:
    return f"{100 * value:.4g} %"


def _svg(name: str, size: tuple[float, float], draw: Callable[[Axes], None]) -> str:
    with mpl.rc_context():
        mpl.rcdefaults()  # the drawing shall not depend on anybody's matplotlibrc
        mpl.rcParams.update({**_STYLE, "font.family": [_family()]})
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        stream = io.StringIO()
        nothing = {"Creator": None, "Date": None, "Format": None, "Type": None}
        with warnings.catch_warnings():
            # It is the browser that needs the glyph: a misread may be any character there is.
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
            figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    return _inline(stream.getvalue(), name)


@cache
def _family() -> str:
    """A font that has kanji, to lay text out with; the browser then takes that of the page."""
    with as_file(files("matplotlib_fontja") / "fonts" / "ipaexg.ttf") as path:
        font_manager.fontManager.addfont(path)
        return font_manager.FontProperties(fname=path).get_name()


def _inline(svg: str, name: str) -> str:
    """The drawing as a part of a page: no prologue, own ids, variables for colours, no fonts."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<(metadata|style|title)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r'\1 class="plot" role="img"', svg, count=1)
    svg = re.sub(r'((?: id=|xlink:href=)"#?|url\(#)', rf"\1{name}-", svg)
    svg = re.sub(r"(font(?:-family)?: [^;\"]*?)'[^'\"]*'(?:, sans-serif)?", r"\1inherit", svg)
    return re.sub("|".join(_VARIABLES), lambda m: f"var({_VARIABLES[m[0]]})", svg)
