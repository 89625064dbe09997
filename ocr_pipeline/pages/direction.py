"""Which way up a page is: along which axis its lines run, and which end of them is up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.errors import EngineError
from ocr_pipeline.geometry import Box
from ocr_pipeline.pages.ink import MM_PER_INCH, Mask
from ocr_pipeline.pages.page import Gray

GAP_MM = 2.5
"""Characters of a line are no further apart than this, and lines of a form no nearer."""
LINE_MM = (1.5, 12.0)
"""Height of a line of text."""
LINE_ASPECT = 3.0
"""Length of a line over its height, at least."""
CLASSIFIER_SURE = 0.1
"""Below this probability of being upside down the recogniser is not asked as well."""
MAX_READ = 8
"""Lines that the recogniser reads both ways; it takes most of the time."""


class Witness(Protocol):
    """Something that has seen much text."""

    def upside_down(self, lines: Sequence[Gray], *, sideways: bool = False) -> float:
        """Probability that lines of one page stand on their head.

        Args:
            lines: crops of horizontal lines, dark on light, any size.
            sideways: the lines were only found after a quarter turn of the page.

        Returns:
            0..1; 0.5 when it cannot tell, also because they are columns of vertical writing.
        """
        ...


def text_lines(glyphs: Mask, dpi: float) -> list[Box]:
    """Runs of characters that look like a horizontal line of text, longest first.

    Args:
        glyphs: H×W, true on the ink of character-sized marks; square pixels.
        dpi: their resolution.

    Returns:
        (left, top, right, bottom) boxes in pixels.
    """
    # Half resolution is plenty for boxes, and four times as fast.
    small = cv2.resize(
        glyphs.view(np.uint8) * 255,
        (max(1, glyphs.shape[1] // 2), max(1, glyphs.shape[0] // 2)),
        interpolation=cv2.INTER_AREA,
    )
    px = dpi / 2 / MM_PER_INCH
    gap = max(1, round(GAP_MM * px))
    runs = cv2.morphologyEx(
        (small > 0).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((1, gap), np.uint8)
    )
    _, _, stats, _ = cv2.connectedComponentsWithStats(runs, connectivity=4)
    lines: list[Box] = []
    for left, top, width, height, _ in stats[1:].tolist():
        tall = LINE_MM[0] * px <= height <= LINE_MM[1] * px
        if tall and width >= LINE_ASPECT * height:
            lines.append((2.0 * left, 2.0 * top, 2.0 * (left + width), 2.0 * (top + height)))
    return sorted(lines, key=lambda box: box[0] - box[2])


def axis_shares(across: Sequence[Box], along: Sequence[Box]) -> tuple[float, float]:
    """How likely the lines of a page run across it and along it; they sum to 1.

    Args:
        across: lines found on the page as it is.
        along: lines found after a quarter turn.

    Returns:
        Shares of the squared total lengths: lines found across the writing are an accident of
        columns, and short. (0.5, 0.5) without any line.
    """
    a, b = (sum(box[2] - box[0] for box in lines) ** 2 for lines in (across, along))
    return (a / (a + b), b / (a + b)) if a + b else (0.5, 0.5)


class TextWitness:
    """Two networks out of the rapidocr wheel, asked one after the other.

    The text-line classifier is quick and knows nothing but up and down. Where it hesitates, or
    where a turn hangs on the answer, the recogniser reads the lines both ways; text upside down is
    hardly legible to it, and a line that was no horizontal text at all is illegible both ways.

    The sessions are made on first use, and each instance has its own. Calls may come from several
    threads.

    Args:
        threads: CPU threads a session may use.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads

    @cached_property
    def _classifier(self) -> Any:
        return _session("ch_ppocr_mobile_v2.0_cls_mobile.onnx", self._threads)

    @cached_property
    def _recogniser(self) -> Any:
        return _session("PP-OCRv6_rec_small.onnx", self._threads)

    def upside_down(self, lines: Sequence[Gray], *, sideways: bool = False) -> float:
        """See `Witness`.

        Raises:
            EngineError: the models are not in the installed rapidocr.
        """
        if not lines:
            return 0.5
        upright = [np.ascontiguousarray(line) for line in lines]
        turned = [np.ascontiguousarray(line[::-1, ::-1]) for line in lines]
        # Asking both ways takes the classifier's own leaning out.
        quick = (self._classified(upright) + 1 - self._classified(turned)) / 2
        if quick < CLASSIFIER_SURE and not sideways:
            return quick
        gain = self._gain(upright[:MAX_READ])
        # Right against wrong way up differs by 0.25 to 0.7 on faxes, two wrong ways by up to 0.1.
        if abs(gain) < 0.12 or (sideways and self._is_vertical(upright[:MAX_READ], gain)):
            return 0.5
        return _both(quick, 1 / (1 + math.exp(-15.0 * gain)))

    def _is_vertical(self, lines: Sequence[Gray], gain: float) -> bool:
        """Whether lines found after a quarter turn are columns of vertical writing.

        The recogniser reads both: it was taught columns lying on their side. But where each
        character is turned back by itself, a column becomes a row of upright characters, and a
        line a row of characters lying on the *other* side, so the two differ in which end is up.
        """
        rows = [row for row in map(_each_turned_back, lines) if row is not None]
        if not rows:
            return False
        other = self._gain(rows)
        return abs(other) > 0.15 and (other > 0) != (gain > 0)

    def _gain(self, lines: Sequence[Gray]) -> float:
        """How much more legible the lines are upside down, -1..1."""
        turned = [np.ascontiguousarray(line[::-1, ::-1]) for line in lines]
        return self._legibility(turned) - self._legibility(lines)

    def _classified(self, lines: Sequence[Gray]) -> float:
        batch = np.concatenate([_network_input(line, 192, pad=True) for line in lines])
        (output,) = self._classifier.run(None, {self._classifier.get_inputs()[0].name: batch})
        return float(output[:, 1].mean())

    def _legibility(self, lines: Sequence[Gray]) -> float:
        """Mean probability of the characters read, 0..1 (CTC: class 0 is the blank)."""
        means = []
        for line in lines:
            image = _network_input(line[:, : 10 * line.shape[0]], 480, pad=False)
            (output,) = self._recogniser.run(None, {self._recogniser.get_inputs()[0].name: image})
            best, top = output[0].argmax(axis=1), output[0].max(axis=1)
            read = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
            means.append(float(top[read].mean()) if read.any() else 0.0)
        return float(np.mean(means))


def _both(first: float, second: float) -> float:
    """Two independent opinions as one probability: the product of their odds."""
    odds = 1.0
    for p in (first, second):
        kept = min(max(p, 0.02), 0.98)  # nobody is so sure that the other no longer counts
        odds *= kept / (1 - kept)
    return odds / (1 + odds)


def _each_turned_back(line: Gray) -> Gray | None:
    """Turn each character of a line a quarter counter-clockwise; None when none stands alone."""
    height = line.shape[0]
    close = np.ones((1, max(1, height // 12)), np.uint8)
    inked = np.asarray((line < 128).any(axis=0, keepdims=True), np.uint8)
    columns = np.asarray(cv2.morphologyEx(inked, cv2.MORPH_CLOSE, close)).ravel().astype(np.int8)
    steps = np.flatnonzero(np.diff(columns, prepend=0, append=0))
    turned = [
        np.rot90(line[:, max(0, start - 1) : end + 1])
        for start, end in zip(steps[::2].tolist(), steps[1::2].tolist(), strict=True)
        if end - start <= 1.6 * height
    ]
    if not turned:
        return None
    tall = max(height, *(piece.shape[0] for piece in turned)) + 4
    padded = [
        np.pad(
            piece,
            (((tall - len(piece)) // 2, tall - len(piece) - (tall - len(piece)) // 2), (0, 3)),
            constant_values=255,
        )
        for piece in turned
    ]
    return np.hstack(padded)


def _network_input(line: Gray, max_width: int, *, pad: bool) -> NDArray[np.float32]:
    """1×3×48×W float32 in -1..1: the input of PP-OCR's line networks (48 rows)."""
    height, width = line.shape
    scaled = min(max_width, max(1, math.ceil(48 * width / height)))
    row = cv2.resize(line, (scaled, 48), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    image = np.zeros((1, 3, 48, max_width if pad else scaled), np.float32)
    image[:, :, :, :scaled] = row / 127.5 - 1
    return image


def _session(name: str, threads: int) -> Any:
    import onnxruntime  # noqa: PLC0415 -- a second of import that pages without text never need
    import rapidocr  # noqa: PLC0415

    path = Path(rapidocr.__file__).parent / "models" / name
    if not path.is_file():
        raise EngineError(
            f"the model {name} is missing from the installed rapidocr",
            remedy='install it again: pip install --force-reinstall "rapidocr>=3.10"',
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
