"""Random fields, made fast: noise, clouds, specks. All are uint8 planes."""

from __future__ import annotations

import cv2
import numpy as np
from scipy.special import ndtri

from ocr_pipeline.pages.page import Gray


def grain(rng: np.random.Generator, shape: tuple[int, int]) -> Gray:
    """Independent uniform bytes."""
    count = shape[0] * shape[1]
    return np.frombuffer(rng.bytes(count), np.uint8).reshape(shape)


def clouds(rng: np.random.Generator, shape: tuple[int, int], cell: float) -> Gray:
    """A smooth field, uniform at its nodes, `cell` pixels apart."""
    nodes = (int(shape[0] / cell) + 3, int(shape[1] / cell) + 3)
    small = rng.integers(0, 256, nodes, dtype=np.uint8)
    big = cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(big, dtype=np.uint8)


def add_noise(image: Gray, sigma: float, rng: np.random.Generator) -> Gray:
    """Gaussian noise of `sigma` grey levels, by a table of 256 quantiles."""
    if sigma <= 0:
        return image
    quantiles = ndtri((np.arange(256) + 0.5) / 256) * sigma
    up = np.clip(np.round(quantiles), 0, 255).astype(np.uint8)
    down = np.clip(np.round(-quantiles), 0, 255).astype(np.uint8)
    bytes_ = grain(rng, (image.shape[0], image.shape[1]))
    # uint8 arithmetic that saturates: once up for the upper half, once down for the lower.
    raised = cv2.add(image, cv2.LUT(bytes_, up))
    return np.asarray(cv2.subtract(raised, cv2.LUT(bytes_, down)), dtype=np.uint8)


def specks(
    rng: np.random.Generator,
    shape: tuple[int, int],
    count: int,
    largest: tuple[float, float],
) -> Gray:
    """`count` dark specks (255) at random places; most are small, the largest (x, y) pixels."""
    plane = np.zeros(shape, np.uint8)
    sizes = rng.random(count) ** 3
    ys, xs = rng.integers(0, shape[0], count), rng.integers(0, shape[1], count)
    for y, x, size in zip(ys, xs, sizes, strict=True):
        axes = (max(0, round(largest[0] * size / 2)), max(0, round(largest[1] * size / 2)))
        if axes == (0, 0):
            plane[y, x] = 255
        else:
            cv2.ellipse(plane, (int(x), int(y)), axes, 0, 0, 360, 255, -1)
    return plane


def tone(points: list[tuple[float, float]]) -> Gray:
    """A 256-entry curve through (grey in, grey out) points, both 0..255."""
    xs, ys = zip(*points, strict=True)
    curve = np.clip(np.round(np.interp(np.arange(256), xs, ys)), 0, 255)
    return np.asarray(curve, dtype=np.uint8)
