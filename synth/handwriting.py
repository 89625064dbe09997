"""Digits as a pen draws them: a few strokes each, never twice the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SHAPES: dict[str, str] = {
    "0": "50,2 15,30 15,75 45,98 80,75 80,25 50,2",
    "1": "35,20 52,3 50,50 48,98",
    "2": "15,25 40,2 78,20 60,55 12,96 85,93",
    "3": "18,12 55,2 75,22 40,46 80,70 55,97 12,86",
    "4": "60,3 10,66 90,64; 66,40 60,99",
    "5": "25,5 22,45 60,40 80,68 50,97 12,88; 25,6 82,4",
    "6": "65,3 25,40 15,78 45,98 78,76 50,52 18,70",
    "7": "15,30 14,8 82,7 55,50 42,98",
    "8": "70,12 35,5 25,30 75,65 60,95 20,85 30,55 75,20",
    "9": "75,25 40,5 18,30 45,50 75,28 70,60 55,98",
    "/": "75,0 20,105",
    ".": "35,93 42,98",
}
"""Character → strokes of points x,y in hundredths of a box, y down."""

WRITABLE = "".join(_SHAPES)


def _curve(points: NDArray[np.float64], each: int = 6) -> NDArray[np.float64]:
    """A Catmull–Rom spline through the points."""
    p = np.vstack([points[0], points, points[-1]])
    t = np.linspace(0, 1, each, endpoint=False)[:, None]
    parts = []
    for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:], strict=True):
        parts.append(
            0.5
            * (
                2 * b
                + (c - a) * t
                + (2 * a - 5 * b + 4 * c - d) * t**2
                + (3 * b - a - 3 * c + d) * t**3
            )
        )
    return np.vstack([*parts, points[-1:]])


def strokes(text: str, rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Pen strokes of a text of `WRITABLE` characters, each N×2, one unit high, from x = 0.

    Raises:
        KeyError: a character has no shape.
    """
    lines = []
    pen, slant = 0.0, float(rng.normal(0.1, 0.06))
    for char in text:
        lift = float(rng.normal(0, 0.03))
        for shape in _SHAPES[char].split(";"):
            points = np.array([p.split(",") for p in shape.split()], dtype=float) / 100
            points += rng.normal(0, 0.025, points.shape)
            line = _curve(points)
            line[:, 0] = line[:, 0] * 0.58 + slant * (1 - line[:, 1]) + pen
            line[:, 1] += lift
            lines.append(line)
        pen += 0.34 if char == "." else 0.66 + float(rng.normal(0, 0.02))
    return lines
