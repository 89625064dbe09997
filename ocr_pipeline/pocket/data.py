"""Training data without end, made by another process, the same for the same seed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from multiprocessing.process import BaseProcess
from queue import Empty, Full
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.errors import EngineError
from ocr_pipeline.pocket.crops import ROWS, WIDTHS, Crop, cut_crops
from ocr_pipeline.pocket.practice import practice_page
from synth.drawing import Ref
from synth.seeds import chance, stream
from synth.sheet import Sheet, make_sheet

COLUMN = 16
"""Pixels; the width of a patch."""
AHEAD = 3
"""Chunks that are made before they are needed."""


@dataclass(frozen=True, slots=True)
class Course:
    """What is learnt, and when.

    Attributes:
        seed: of everything.
        pages: pages of a chunk.
        sheets: share of them that are orders; the rest are practice pages.
        easy: chunks until all characters are there in full measure.
        batch: crops of a batch.
        pool: of fonts.
    """

    seed: int = 0
    pages: int = 4
    sheets: float = 0.7
    easy: int = 200
    batch: int = 64
    pool: str = "any"

    def lesson(self, chunk: int) -> float:
        """How far the course has got, 0..1."""
        return min(1.0, chunk / self.easy) if self.easy else 1.0


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Crops of one width.

    Attributes:
        images: B×32×W uint8, padded with white.
        texts: what is written.
        places: B×(W/16) int16: which character of the text stands in a column of patches; -1 where
            none does.
        chunk: that it belongs to.
        index: within the chunk.
    """

    images: NDArray[np.uint8]
    texts: tuple[str, ...]
    places: NDArray[np.int16]
    chunk: int
    index: int


_MILD = np.array([0.30, 0.40, 0.25, 0.05, 0.0, 0.0])
_FULL = np.array([0.08, 0.17, 0.22, 0.21, 0.17, 0.15])


def _severity(rng: np.random.Generator, lesson: float) -> int:
    shares = _MILD + (_FULL - _MILD) * lesson
    return int(rng.choice(len(shares), p=shares / shares.sum()))


def sheet_crops(
    seed: int, severity: int, rng: np.random.Generator, *, pool: str = "any", finer: int = 0
) -> list[Crop]:
    """The crops of an order: every line that is printed on it and not struck out.

    Args:
        seed: of the sheet.
        severity: of the sheet.
        rng: of the frames.
        pool: of fonts.
        finer: see `cut_crops`.
    """
    sheet = make_sheet(seed, severity=severity, pool=pool)
    crops = []
    for drawing, plate in zip(sheet.drawings, sheet.pages, strict=True):
        kinds = {}
        for index, line in enumerate(drawing.lines):
            refs = [ref for _, ref in line.pieces if ref is not None]
            if not any(ref in sheet.truth.struck for ref in refs):
                kinds[index] = _kind(sheet, refs[0]) if refs else "label"
        crops += cut_crops(drawing, plate, kinds=kinds, severity=severity, rng=rng, finer=finer)
    return crops


def practice_crops(
    seed: int,
    severity: int,
    rng: np.random.Generator,
    *,
    lesson: float = 1.0,
    pool: str = "any",
    finer: int = 0,
) -> list[Crop]:
    """The crops of a practice page; arguments as for `sheet_crops` and `practice_page`."""
    made = practice_page(seed, severity, lesson=lesson, pool=pool)
    kinds = dict(enumerate(made.kinds))
    return cut_crops(made.drawing, made.plate, kinds=kinds, severity=severity, rng=rng, finer=finer)


def _kind(sheet: Sheet, ref: Ref) -> str:
    if ref.name in ("buyer", "supplier"):
        return f"name {getattr(sheet.content, ref.name).kind}"
    return ref.name


def chunk_crops(course: Course, chunk: int) -> list[Crop]:
    """All crops of a chunk, shuffled."""
    lesson = course.lesson(chunk)
    crops: list[Crop] = []
    for page in range(course.pages):
        rng = stream(course.seed, "chunk", chunk, page)
        seed, severity = int(rng.integers(2**31)), _severity(rng, lesson)
        if chance(rng, course.sheets):
            crops += sheet_crops(seed, severity, rng, pool=course.pool)
        else:
            crops += practice_crops(seed, severity, rng, lesson=lesson, pool=course.pool)
    order = stream(course.seed, "order", chunk).permutation(len(crops))
    return [crops[i] for i in order]


def padded(images: list[NDArray[np.uint8]], width: int) -> NDArray[np.uint8]:
    """Crops side by side: B×32×`width`, white on the right."""
    batch = np.full((len(images), ROWS, width), 255, np.uint8)
    for row, image in zip(batch, images, strict=True):
        row[:, : image.shape[1]] = image
    return batch


def columns(crop: Crop, count: int) -> NDArray[np.int16]:
    """Which character stands in the middle of each of so many columns of patches; -1 for none.

    A space stands in all the columns between its neighbours, and a character that is narrower than
    a column and met by no middle in the one that its own middle lies in.
    """
    middles = (np.arange(count) + 0.5) * COLUMN
    found = np.full(count, -1, np.int16)
    ends = 0.0
    for i, span in enumerate(crop.spans):
        after = crop.spans[i + 1] if span is None else span
        assert after is not None  # the parts of a line neither end with a space nor hold two
        left, right = (ends, after[0]) if span is None else span
        met = (middles >= left) & (middles < right)
        found[met] = i
        own = int((left + right) / 2 // COLUMN)
        if not met.any() and 0 <= own < count and found[own] < 0:
            found[own] = i
        ends = right
    return found


def chunk_batches(course: Course, chunk: int) -> list[Batch]:
    """The batches of a chunk, each of crops of one width.

    What is left over of a width goes along with the next wider ones. The last batch is filled with
    some of its crops again, so that all are of one size, or dropped when it is less than half full.
    """
    crops = chunk_crops(course, chunk)
    groups: list[tuple[int, list[Crop]]] = []
    rest: list[Crop] = []
    for i, width in enumerate(WIDTHS):
        low = WIDTHS[i - 1] if i else 0
        here = rest + [c for c in crops if low < c.image.shape[1] <= width]
        full = len(here) // course.batch * course.batch
        groups += [(width, here[k : k + course.batch]) for k in range(0, full, course.batch)]
        rest = here[full:]
    if 2 * len(rest) >= course.batch:
        groups.append((WIDTHS[-1], [*rest, *rest[: course.batch - len(rest)]]))
    order = stream(course.seed, "batches", chunk).permutation(len(groups))
    return [
        Batch(
            padded([c.image for c in groups[i][1]], groups[i][0]),
            tuple(c.text for c in groups[i][1]),
            np.stack([columns(c, groups[i][0] // COLUMN) for c in groups[i][1]]),
            chunk,
            index,
        )
        for index, i in enumerate(order)
    ]


def _make(course: Course, first: int, stride: int, queue: Any) -> None:
    import cv2  # noqa: PLC0415

    cv2.setNumThreads(1)
    trainer = multiprocessing.parent_process()
    chunk = first
    while True:
        made = chunk_batches(course, chunk)
        while True:
            if trainer is not None and not trainer.is_alive():
                return  # it was killed, and nobody else waits for these
            try:
                queue.put(made, timeout=30)
                break
            except Full:
                continue
        chunk += stride


def batches(course: Course, *, chunk: int = 0, index: int = 0, makers: int = 1) -> Iterator[Batch]:
    """Batches from a place in the course on, without end; other processes make them.

    Args:
        course: what to learn.
        chunk: where to begin.
        index: the first batch wanted of that chunk.
        makers: processes; they take turns, so the batches do not depend on their number.

    Raises:
        EngineError: one of the processes died.
    """
    context = multiprocessing.get_context("spawn")
    queues = [context.Queue(AHEAD) for _ in range(makers)]
    processes = [
        context.Process(target=_make, args=(course, chunk + i, makers, queue), daemon=True)
        for i, queue in enumerate(queues)
    ]
    for process in processes:
        process.start()
    try:
        for process, queue in cycle(zip(processes, queues, strict=True)):
            for batch in _next(process, queue):
                if batch.chunk > chunk or batch.index >= index:
                    yield batch
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _next(process: BaseProcess, queue: Any) -> list[Batch]:
    while True:
        try:
            made: list[Batch] = queue.get(timeout=30)
            return made
        except Empty:
            if not process.is_alive():
                raise EngineError(
                    "a process that makes the training data died",
                    remedy="see its message above; go on with --resume",
                ) from None
