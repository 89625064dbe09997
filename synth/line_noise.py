"""The telephone line: coded pages whose bits are flipped in bursts, decoded by a real decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.geometry import Quad
from ocr_pipeline.pages.page import Gray
from synth.chain import Plate, Step, Trace
from synth.coding import decode, encode
from synth.warp import Rows

_AHEAD = 12
"""Lines compared when looking for where decoding caught up again."""


@dataclass(frozen=True)
class Line(Step):
    """A call without error correction (T.30 without ECM).

    Errors come in bursts (clicks, fading): a Gilbert channel whose bad state lasts `burst_bits` on
    average and flips every other bit, and which is bad as often as `bit_error_rate` demands.

    Attributes:
        coding: `MH`, `MR` or `MMR`; the last has no line ends, so an error takes the rest of the
            page, which is why real machines use it with error correction only.
        bit_error_rate: share of flipped bits.
        burst_bits: average length of a burst.
    """

    name: ClassVar[str] = "line"
    coding: str = "MH"
    bit_error_rate: float = 0.0
    burst_bits: float = 30.0

    def apply(self, plate: Plate, rng: np.random.Generator) -> Plate:
        """What the receiver's decoder makes of it."""
        sent = plate.image
        strip = encode(sent, self.coding)
        flipped = self._flips(len(strip) * 8, rng)
        facts = (*plate.facts, ("bits", len(strip) * 8), ("flipped_bits", int(flipped.sum())))
        if not flipped.any():
            return replace(plate, facts=facts)
        damaged = (np.frombuffer(strip, np.uint8) ^ np.packbits(flipped)).tobytes()
        shape = (sent.shape[0], sent.shape[1])
        got = decode(damaged, shape, self.coding)
        source, bad = follow_lines(sent, got)
        traces = plate.traces + tuple(
            Trace("lost_lines", _band(plate, source, top, bottom)) for top, bottom in _runs(bad)
        )
        return replace(
            plate,
            image=got,
            geometry=plate.geometry.then(_rows(source)),
            traces=traces,
            facts=(*facts, ("damaged_lines", int(bad.sum()))),
        )

    def _flips(self, bits: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        flips = np.zeros(bits, bool)
        bursts = int(rng.poisson(bits * self.bit_error_rate * 2 / self.burst_bits))
        for start in rng.integers(0, bits, bursts):
            length = int(rng.geometric(1 / self.burst_bits))
            part = flips[start : start + length]
            part |= rng.random(len(part)) < 0.5
            flips[start] = True
        return flips


def follow_lines(sent: Gray, got: Gray) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which sent line each decoded line is.

    A line end that is lost melts two lines into one, and everything below moves up; one that is
    invented moves it down.

    Returns:
        For each decoded line the index of the sent one, and whether it differs from it or a line
        before it is missing.
    """
    before = [row.tobytes() for row in sent]
    after = [row.tobytes() for row in got]
    height = len(before)
    source = np.zeros(height, np.int64)
    bad = np.zeros(height, bool)
    shift = 0
    for i, row in enumerate(after):
        at = i + shift
        if at < 0 or at >= height or row != before[at]:
            shift = _resume(before, after, i, shift)
            at = i + shift
            bad[i] = not 0 <= at < height or row != before[at]
        source[i] = np.clip(at, 0, height - 1)
    # A line that is gone leaves no line behind: its damage is where its neighbours now meet.
    bad[1:] |= np.diff(source) > 1
    # Lines beyond the last sent one are the white fill of the decoder, not damage of any print.
    bad &= source < height - 1
    return source, bad


def _resume(before: list[bytes], after: list[bytes], i: int, shift: int) -> int:
    """The shift nearest to the present one under which most of the next lines agree."""
    best, most = shift, -1
    for change in (0, 1, -1, 2, -2, 3, -3, 4, 5):
        at = i + shift + change
        pairs = zip(after[i : i + _AHEAD], before[max(0, at) : at + _AHEAD], strict=False)
        agree = sum(a == b for a, b in pairs) if at >= 0 else 0
        if agree > most:
            best, most = shift + change, agree
    return best


def _rows(source: NDArray[np.int64]) -> Rows:
    """Height before → height after, from the source of each line."""
    keep = np.concatenate([[True], np.diff(np.maximum.accumulate(source)) > 0])
    lines = np.arange(len(source))[keep]
    return Rows(source[keep].astype(float), lines.astype(float))


def _runs(bad: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Contiguous runs of True as (first, one past the last)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _band(plate: Plate, source: NDArray[np.int64], top: int, bottom: int) -> Quad:
    """The lines from `top` to `bottom` as a quad on the sheet."""
    width = plate.image.shape[1]
    first, last = float(source[top]), float(source[min(bottom, len(source) - 1)])
    last = max(last, first + 1)
    corners = [(0.0, first), (float(width), first), (float(width), last), (0.0, last)]
    a, b, c, d = ((float(x), float(y)) for x, y in plate.geometry.back(corners))
    return a, b, c, d
