"""Points, quads and 3×3 matrices: the one vocabulary for "where on the page".

A quad is four (x, y) points in pixels, clockwise from the top left of the *text* (so on a page that
was fed upside down the first point is at the bottom right of the stored image). Wherever a quad
leaves a module it is in pixels of the page **as stored in the file**; `Page.matrix` maps upright
pixels to stored ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
Box = tuple[float, float, float, float]
"""Axis-parallel (left, top, right, bottom), pixels."""
Matrix = NDArray[np.float64]
"""3×3 homogeneous transform acting on column vectors (x, y, 1)."""


def identity() -> Matrix:
    """The transform that moves nothing."""
    return np.eye(3)


def scaling(x: float, y: float) -> Matrix:
    """Scale about the origin by factors `x` and `y`."""
    return np.diag([x, y, 1.0])


def translation(x: float, y: float) -> Matrix:
    """Shift by (`x`, `y`) pixels."""
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def rotation(degrees: float, center: Point = (0.0, 0.0)) -> Matrix:
    """Rotate about `center`; positive turns the x axis towards the y axis (clockwise on screen)."""
    a = np.deg2rad(degrees)
    c, s = float(np.cos(a)), float(np.sin(a))
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned: Matrix = translation(*center) @ turn @ translation(-center[0], -center[1])
    return turned


def transform(quad: Sequence[Point], matrix: Matrix) -> Quad:
    """Map the four points of a quad through a 3×3 matrix."""
    points = np.column_stack([np.asarray(quad, dtype=float), np.ones(len(quad))]) @ matrix.T
    points = points[:, :2] / points[:, 2:]
    a, b, c, d = ((float(x), float(y)) for x, y in points)
    return a, b, c, d


def quad_of_box(box: Box) -> Quad:
    """The quad of an axis-parallel box."""
    left, top, right, bottom = box
    return (left, top), (right, top), (right, bottom), (left, bottom)


def box_of(points: Iterable[Point]) -> Box:
    """The axis-parallel bounding box of some points.

    Raises:
        ValueError: there are no points.
    """
    array = np.asarray(list(points), dtype=float)
    if array.size == 0:
        raise ValueError("a box needs at least one point")
    (left, top), (right, bottom) = array.min(axis=0), array.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def slice_quad(quad: Quad, start: float, end: float) -> Quad:
    """The part of a quad between two fractions (0..1) of its reading direction."""
    tl, tr, br, bl = (np.asarray(p, dtype=float) for p in quad)
    points = (
        tl + (tr - tl) * start,
        tl + (tr - tl) * end,
        bl + (br - bl) * end,
        bl + (br - bl) * start,
    )
    a, b, c, d = ((float(x), float(y)) for x, y in points)
    return a, b, c, d


def union(quads: Sequence[Quad]) -> Quad | None:
    """The smallest quad along the reading direction of the first that holds them all.

    The direction is that of the longest top edge, so the union of the words of a skewed line is as
    skewed as the line. None when there are no quads.
    """
    if not quads:
        return None
    if len(quads) == 1:
        return quads[0]
    edges = [np.subtract(q[1], q[0]) for q in quads]
    direction = max(edges, key=lambda e: float(np.hypot(*e)))
    length = float(np.hypot(*direction))
    ux = direction / length if length else np.array([1.0, 0.0])
    uy = np.array([-ux[1], ux[0]])
    points = np.asarray([p for q in quads for p in q], dtype=float)
    along, across = points @ ux, points @ uy
    corners = (
        (along.min(), across.min()),
        (along.max(), across.min()),
        (along.max(), across.max()),
        (along.min(), across.max()),
    )
    a, b, c, d = ((float(p[0]), float(p[1])) for p in (ux * s + uy * t for s, t in corners))
    return a, b, c, d


def box_along(quad: Quad, frame: Quad) -> Box:
    """The bounding box of a quad in axes that follow the reading direction of another.

    Stored pages may lie on their side or upside down; seen along the frame, "right of" and "below"
    mean what a reader means. Pixels keep their stored size.
    """
    tl, tr, _, bl = (np.asarray(p, dtype=float) for p in frame)
    axes = np.column_stack([tr - tl, bl - tl])
    lengths = np.linalg.norm(axes, axis=0)
    axes = axes / np.where(lengths > 0, lengths, 1.0)
    if abs(np.linalg.det(axes)) < 1e-6:
        axes = np.eye(2)
    points = np.linalg.solve(axes, np.asarray(quad, dtype=float).T)
    (left, top), (right, bottom) = points.min(axis=1), points.max(axis=1)
    return float(left), float(top), float(right), float(bottom)
