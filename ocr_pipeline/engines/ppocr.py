"""PP-OCRv6 small on the CPU: the engine that is always there.

The models ship inside the `rapidocr` wheel, so nothing is ever downloaded. Detection goes through
rapidocr itself; recognition runs the same wheel's model directly, because rapidocr keeps only the
winning character and its score, and what this project needs is the runner-up and the position of
every single character.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from ocr_pipeline.engines.base import Cancel, Reading, ReadingStatus, Word
from ocr_pipeline.engines.ctc import Glyph, decode, printable
from ocr_pipeline.engines.events import Emit, Event
from ocr_pipeline.engines.lines import crop, place
from ocr_pipeline.engines.regions import cut_at_rules, unread_ink, without_columns
from ocr_pipeline.errors import EngineError
from ocr_pipeline.geometry import Quad, transform, union
from ocr_pipeline.pages.clean import despeckle
from ocr_pipeline.pages.page import Gray, Ink, Page
from ocr_pipeline.pages.rescan import rescan
from ocr_pipeline.pages.rules import find_rules

DETECTOR = "PP-OCRv6_det_small.onnx"
RECOGNISER = "PP-OCRv6_rec_small.onnx"

LINE_HEIGHT = 48
"""Pixels; the recogniser's fixed input height."""
BATCH = 8
SECOND_LOOK = 0.5
"""What no detector box covers counts as text only when it is read with this confidence."""
MIN_WIDTH = 320
"""Pixels; narrower lines are padded, as in training."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is prepared: `blur` is the sigma in inches."""

    blur: float
    despeckled: bool = False


LOOKS = (Look(0.0034), Look(0.0), Look(0.0034, despeckled=True))
"""Sigma 0.0034 in is 0.7 pixels of a fax."""


@dataclass(frozen=True, slots=True)
class PpocrSettings:
    """What can be set with `-O key=value`.

    Attributes:
        threads: threads of one model instance; 0 takes what the batch gives each worker.
        det_threshold: a pixel counts as text above this probability.
        box_threshold: a detected box is kept above this mean probability.
        second_look: also read ink that the detector passed over.
    """

    threads: int = 0
    det_threshold: float = 0.3
    box_threshold: float = 0.5
    second_look: bool = True


def models_folder() -> Path:
    """Where rapidocr keeps the models that came in its wheel.

    Raises:
        EngineError: the wheel carries no models.
    """
    import rapidocr  # noqa: PLC0415  (slow to import; only this engine needs it)

    folder = Path(rapidocr.__file__).parent / "models"
    missing = [m for m in (DETECTOR, RECOGNISER) if not (folder / m).is_file()]
    if missing:
        raise EngineError(
            f"rapidocr is installed without its models: {', '.join(missing)}",
            remedy='install it again: pip install --force-reinstall "rapidocr>=3.10"',
        )
    return folder


class Recogniser:
    """The line recogniser: crops → characters."""

    def __init__(self, folder: Path, threads: int) -> None:
        import onnxruntime  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(folder / RECOGNISER), options, providers=["CPUExecutionProvider"]
        )
        listed = self._session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *listed, " "]
        self._allowed = printable(self._characters)
        self._input = self._session.get_inputs()[0].name

    def batches(self, lines: list[Gray]) -> Iterator[list[tuple[int, tuple[Glyph, ...]]]]:
        """Read lines (grey, H×W with H = `LINE_HEIGHT`), narrow ones first.

        Yields:
            Some lines at a time: the number of each in `lines`, and what it says.
        """
        order = sorted(range(len(lines)), key=lambda i: lines[i].shape[1])
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            width = max(MIN_WIDTH, *(lines[i].shape[1] for i in chosen))
            batch = np.zeros((len(chosen), 3, LINE_HEIGHT, width), np.float32)
            for row, i in zip(batch, chosen, strict=True):
                row[:, :, : lines[i].shape[1]] = lines[i].astype(np.float32) / 127.5 - 1.0
            out = self._session.run(None, {self._input: batch})[0]
            yield [
                (i, decode(scores, self._characters, self._allowed, lines[i].shape[1] / width))
                for i, scores in zip(chosen, out, strict=True)
            ]


class PpocrEngine:
    """PP-OCRv6 small: detector and recogniser, one instance a worker."""

    name = "ppocr"

    def __init__(self, settings: PpocrSettings | None = None) -> None:
        self.settings = settings or PpocrSettings()
        folder = models_folder()
        self._detect = _detector(folder, self.settings)
        self._recogniser = Recogniser(folder, self.settings.threads)

    def read(
        self,
        page: Page,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Read a page; run k > 0 reads a small re-scan of it. See `Engine.read`."""
        started = time.perf_counter()
        blank = Reading(self.name, run, seed, page.number, status=ReadingStatus.BLANK)
        if page.ink is Ink.BLANK:
            return blank
        view = rescan(page, run, seed)
        view = replace(view, image=_prepared(view.image, max(view.dpi), run))
        boxes = self._detect(view.image)
        if cancel is not None and cancel():
            return replace(blank, status=ReadingStatus.INCOMPLETE)
        quads, missed = _places(view.image, boxes, max(view.dpi), self.settings)
        words: list[Word] = []
        for places, least in ((quads, 0.0), (missed, SECOND_LOOK)):
            found: dict[int, Word] = {}
            for batch in self._words(view, places):
                seen = {i: word for i, word in batch.items() if word.confidence >= least}
                if emit is not None and seen:
                    emit(Event("words", run, page.number, data=_told(seen.values())))
                found |= seen
                if cancel is not None and cancel():
                    words += (found[i] for i in sorted(found))
                    return replace(blank, words=tuple(words), status=ReadingStatus.INCOMPLETE)
            words += (found[i] for i in sorted(found))
        return replace(
            blank,
            words=tuple(words),
            status=ReadingStatus.OK if words else ReadingStatus.BLANK,
            stats={"seconds": round(time.perf_counter() - started, 3), "boxes": float(len(boxes))},
        )

    def _words(self, view: Page, quads: list[Quad]) -> Iterator[dict[int, Word]]:
        """The words in some quads (upright pixels of the view), with quads in stored pixels.

        Yields:
            Some of them at a time, by the number of the quad.
        """
        lines = [crop(view.image, q, LINE_HEIGHT) for q in quads]
        for batch in self._recogniser.batches(lines):
            found: dict[int, Word] = {}
            for i, glyphs in batch:
                chars = tuple(
                    replace(c, quad=transform(c.quad, view.matrix)) if c.quad else c
                    for c in place(glyphs, lines[i], quads[i])
                )
                if chars:
                    found[i] = Word(
                        "".join(c.text for c in chars),
                        min(c.confidence for c in chars),
                        union([c.quad for c in chars if c.quad])
                        or transform(quads[i], view.matrix),
                        chars=chars,
                    )
            yield found


def _told(words: Iterable[Word]) -> dict[str, object]:
    """Words as the data of an event."""
    return {"words": [{"text": w.text, "confidence": w.confidence, "quad": w.quad} for w in words]}


class LineFinder:
    """Where the text lines of a page are, for engines that read lines cut out of it."""

    def __init__(self, settings: PpocrSettings | None = None) -> None:
        self._settings = settings or PpocrSettings()
        self._detect = _detector(models_folder(), self._settings)

    def __call__(self, image: Gray, dpi: float) -> tuple[list[Quad], list[Quad]]:
        """Boxes of text, cut at the borders of cells.

        Args:
            image: H×W, upright.
            dpi: resolution of the square pixels.

        Returns:
            The detector's boxes, and those around text-sized ink that it passed over: the latter
            hold text only when they are read with a confidence of `SECOND_LOOK`. Upright pixels.
        """
        image = _prepared(image, dpi, run=0)
        return _places(image, self._detect(image), dpi, self._settings)


def _places(
    image: Gray, boxes: list[Quad], dpi: float, settings: PpocrSettings
) -> tuple[list[Quad], list[Quad]]:
    """The boxes of cells, and the ink that none of them covers."""
    rules = find_rules(image, dpi)
    if not settings.second_look:
        return cut_at_rules(boxes, rules, dpi), []
    quads = cut_at_rules(without_columns(boxes), rules, dpi)
    return quads, unread_ink(image, quads, rules, dpi)


def _prepared(image: Gray, dpi: float, run: int) -> Gray:
    """The page as the models see it: another way of looking at it in each run.

    The models know photographs. A 1-bit page has hard stairs for edges, and a slight blur reads
    better than the page itself. Runs that look differently err differently, which is what makes
    their agreement worth something.
    """
    look = LOOKS[run % len(LOOKS)]
    if look.despeckled:
        image = despeckle(image, dpi)
    if look.blur:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), look.blur * dpi), np.uint8)
    return image


Detect = Callable[[Gray], list[Quad]]


def _detector(folder: Path, settings: PpocrSettings) -> Detect:
    from rapidocr import RapidOCR  # noqa: PLC0415

    ocr = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": 100_000,  # a fax page is read at its own size
            "Global.model_root_dir": str(folder),
            "EngineConfig.onnxruntime.intra_op_num_threads": settings.threads or -1,
            # Without this a narrow strip would be blown up until its short side has 736 pixels.
            "Det.limit_type": "max",
            "Det.limit_side_len": 100_000,
            "Det.thresh": settings.det_threshold,
            "Det.box_thresh": settings.box_threshold,
        }
    )

    def detect(image: Gray) -> list[Quad]:
        found = ocr(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR), use_cls=False, use_rec=False)
        boxes = getattr(found, "boxes", None)
        if boxes is None:
            return []
        return [tuple((float(x), float(y)) for x, y in box) for box in boxes]  # type: ignore[misc]

    return detect
