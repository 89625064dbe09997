"""Where each millimetre of the sheet ends up: a chain of maps that points and whole rasters follow.

A copier turns and scales the sheet: a matrix. A fax feeds it through rollers that slip: a
monotone map of the height alone, which no matrix can express; and a line that is lost on the
telephone line moves everything below it up. So a geometry is a tuple of both kinds of map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Matrix, Point, Quad

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Affine:
    """A 3×3 matrix acting on (x, y, 1)."""

    matrix: Matrix

    def forward(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map points forward."""
        return _apply(self.matrix, x, y)

    def back(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map points back."""
        return _apply(np.asarray(np.linalg.inv(self.matrix), dtype=np.float64), x, y)


def _apply(m: Matrix, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    # Terms that vanish are left out, so that axis-parallel maps keep a row vector of x and a
    # column vector of y apart: a whole raster is then mapped at the price of its two edges.
    a = m[0, 0] * x + m[0, 2] + (m[0, 1] * y if m[0, 1] else 0.0)
    b = m[1, 1] * y + m[1, 2] + (m[1, 0] * x if m[1, 0] else 0.0)
    return a, b


@dataclass(frozen=True, eq=False)
class Rows:
    """A piecewise linear, increasing map of y; beyond the knots it goes on with slope one.

    Attributes:
        before: knots, strictly increasing.
        after: their images, strictly increasing.
    """

    before: Floats
    after: Floats

    def forward(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map points forward."""
        return x, _interpolate(y, self.before, self.after)

    def back(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map points back."""
        return x, _interpolate(y, self.after, self.before)


def _interpolate(y: Floats, knots: Floats, images: Floats) -> Floats:
    inside: Floats = np.interp(y, knots, images)
    mapped: Floats = inside + np.minimum(y - knots[0], 0) + np.maximum(y - knots[-1], 0)
    return mapped


@dataclass(frozen=True, eq=False)
class Geometry:
    """Maps applied one after the other: millimetres on the sheet → pixels of a raster."""

    maps: tuple[Affine | Rows, ...] = ()

    def then(self, *maps: Affine | Rows) -> Geometry:
        """This geometry followed by further maps."""
        return Geometry(self.maps + maps)

    def points(self, points: Sequence[Point] | Floats) -> Floats:
        """N×2 millimetres → N×2 pixels."""
        array = np.asarray(points, dtype=float).reshape(-1, 2)
        x, y = array[:, 0], array[:, 1]
        for step in self.maps:
            x, y = step.forward(x, y)
        return np.column_stack([x, y])

    def back(self, points: Sequence[Point] | Floats) -> Floats:
        """N×2 pixels → N×2 millimetres."""
        array = np.asarray(points, dtype=float).reshape(-1, 2)
        x, y = array[:, 0], array[:, 1]
        for step in reversed(self.maps):
            x, y = step.back(x, y)
        return np.column_stack([x, y])

    def quad(self, quad: Quad) -> Quad:
        """The quad on the raster of a quad on the sheet."""
        a, b, c, d = ((float(x), float(y)) for x, y in self.points(quad))
        return a, b, c, d

    def sources(
        self, shape: tuple[int, int], scale: float = 1.0
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """For each pixel centre of a raster its place before the maps, times `scale`.

        Args:
            shape: (height, width) of the raster.
            scale: pixels per unit of the source raster; its pixel centres lie at halves.

        Returns:
            Two H×W float32 arrays as `cv2.remap` takes them.
        """
        y = np.arange(shape[0], dtype=float)[:, None] + 0.5
        x = np.arange(shape[1], dtype=float)[None, :] + 0.5
        for step in reversed(self.maps):
            x, y = step.back(x, y)
        wide = np.broadcast_to(x * scale - 0.5, shape)
        tall = np.broadcast_to(y * scale - 0.5, shape)
        return wide.astype(np.float32), tall.astype(np.float32)
