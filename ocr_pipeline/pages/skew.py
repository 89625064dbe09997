"""How far the lines of a page fall, to a twentieth of a degree.

Projection profile: sheared by the right angle, the upper edges of characters and ruling lines fall
into few rows, and the sum of squares of the row counts is largest (Postl 1986; Bloomberg et al.
1995 use differences of rows in the same way). Only *upper edges* count, not ink: a streak of
dirty glass, the shadow of an edge or a vertical rule has a great deal of ink and next to no upper
edge, and solid ink no more than its outline. Evenly strewn dust adds the same to every angle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.pages.ink import Mask

MAX_SKEW = 5.0
MAX_POINTS = 60_000
DISTINCT = 1.06
"""How much sharper than the typical one the best profile must be; pages without lines stay."""

CHANCE = 6.0
"""Standard deviations of evenly strewn points by which the best profile must stand out."""

Points = NDArray[np.float32]


def find_skew(ink: Mask, *, max_skew: float = MAX_SKEW) -> float:
    """Degrees by which the lines of a page fall to the right; 0.0 when it has no lines.

    Args:
        ink: H×W, true on ink, without dust; square pixels, lines within `max_skew` of horizontal.
        max_skew: degrees searched to both sides.
    """
    points = _upper_edges(ink)
    if len(points) < 50:
        return 0.0
    # A little more than asked is searched, so that a peak at the border is seen from both sides.
    reach = max_skew + 0.5
    coarse = np.arange(-reach, reach + 0.05, 0.1)
    scores = np.array([_sharpness(points, a, 1.5) for a in coarse])
    best = int(scores.argmax())
    typical = float(np.median(scores))
    rows = len(_row_counts(points, 0.0, 1.5))
    if scores[best] < max(DISTINCT * typical, typical + CHANCE * _deviation(len(points), rows)):
        return 0.0
    angle = float(coarse[best])
    for step, bin_height in ((0.03, 1.5), (0.02, 1.0)):
        near = np.asarray(angle + step * np.arange(-6, 7), np.float64)
        fine = np.array([_sharpness(points, a, bin_height) for a in near], np.float64)
        angle = _centre(near, fine)
    return float(np.clip(angle, -max_skew, max_skew)) if abs(angle) <= max_skew + 0.1 else 0.0


def _upper_edges(ink: Mask) -> Points:
    """N×2 (x, y) of ink with paper above it, relative to the middle; thinned to `MAX_POINTS`."""
    edge = ink.copy()
    edge[1:] &= ~ink[:-1]
    edge[0] = False
    y, x = np.nonzero(edge)
    every = max(1, -(-len(x) // MAX_POINTS))
    height, width = ink.shape
    points: Points = np.column_stack(
        [x[::every] - np.float32(width / 2), y[::every] - np.float32(height / 2)]
    ).astype(np.float32)
    return points


def _sharpness(points: Points, degrees: float, bin_height: float) -> float:
    """Sum of squared row counts after shearing the lines level."""
    counts = _row_counts(points, degrees, bin_height)
    # Neighbouring rows count together: where the border of two rows falls must not matter.
    return float((counts**2).sum() + 1.5 * (counts[1:] * counts[:-1]).sum())


def _row_counts(points: Points, degrees: float, bin_height: float) -> NDArray[np.float64]:
    slope = np.float32(np.tan(np.deg2rad(degrees)))
    rows = (points[:, 1] - points[:, 0] * slope) * np.float32(1 / bin_height)
    return np.bincount((rows - rows.min()).astype(np.int32)).astype(np.float64)


def _deviation(points: int, rows: int) -> float:
    """Standard deviation of `_sharpness` for points strewn evenly over rows.

    For a Poisson count of mean m the variance of its square is 4m³ + 6m² + m; the products of
    neighbours, being made of the same counts, add at most their weight to the deviation.
    """
    m = points / rows
    return float(2.5 * np.sqrt(rows * (4 * m**3 + 6 * m**2 + m)))


def _centre(angles: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """The centre of the peak: mean of the angles above half its height, weighted."""
    floor = (scores.max() + scores.min()) / 2
    weights = np.clip(scores - floor, 0.0, None)
    total = float(weights.sum())
    return float((angles * weights).sum() / total) if total else float(angles[scores.argmax()])
