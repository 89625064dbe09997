"""DiffusionGemma: a page, a prompt, and text that forms out of noise.

The published model reads a page as a whole; a small one of ours reads line by line. Both are the
same classes and come through the same code: tiles → prompts → one prefill for all runs →
denoising → characters with confidence → one reading a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ocr_pipeline.engines import replies, second_look
from ocr_pipeline.engines.base import Cancel, Char, Reading, ReadingStatus, RunsEngine, Word
from ocr_pipeline.engines.diffusion_card import Tiling
from ocr_pipeline.engines.diffusion_events import Row, Voice, closing
from ocr_pipeline.engines.diffusion_generate import (
    Generation,
    Sampling,
    Tokens,
    end_tokens,
    generate,
    prompt_inputs,
)
from ocr_pipeline.engines.diffusion_load import Loaded, load
from ocr_pipeline.engines.diffusion_settings import DiffusionGemmaSettings
from ocr_pipeline.engines.diffusion_stream import WATCHED
from ocr_pipeline.engines.events import Emit, Event
from ocr_pipeline.engines.ppocr import LineFinder
from ocr_pipeline.engines.prompts import load_prompt
from ocr_pipeline.engines.registry import settings_of
from ocr_pipeline.engines.tiles import Tile, join, tiles_of
from ocr_pipeline.engines.token_chars import characters
from ocr_pipeline.geometry import Quad
from ocr_pipeline.pages.page import Gray, Ink, Page

if TYPE_CHECKING:
    from torch import Tensor

DEFAULT_MODEL = "google/diffusiongemma-26B-A4B-it"
MOST_ROWS = 64
"""Rows of a batch where memory would allow more: larger ones are no faster, and harder to stop."""


@dataclass(eq=False)
class _Spent:
    """What the batches of one call cost together."""

    image_tokens: int = 0
    prompt_tokens: int = 0
    encoder_calls: int = 0
    prefill_seconds: float = 0.0
    denoise_seconds: float = 0.0
    cancelled: bool = False

    def add(self, made: Generation) -> None:
        self.image_tokens = max(self.image_tokens, made.image_tokens)
        self.prompt_tokens = max(self.prompt_tokens, made.prompt_tokens)
        self.encoder_calls += 1
        self.prefill_seconds += made.prefill_seconds
        self.denoise_seconds += made.denoise_seconds
        self.cancelled = self.cancelled or made.cancelled


@dataclass(frozen=True, eq=False, slots=True)
class _Piece:
    """A tile with the page it was cut from, and each run's reply once it is there."""

    page: Page
    number: int
    tile: Tile
    answers: list[Tokens] = field(default_factory=list)


class DiffusionGemmaEngine(RunsEngine):
    """Reads pages with a DiffusionGemma checkpoint."""

    name = "diffusiongemma"

    def __init__(self, loaded: Loaded, settings: DiffusionGemmaSettings | None = None) -> None:
        settings = settings or DiffusionGemmaSettings()
        card = loaded.card
        self._loaded = loaded
        self._rows = settings.rows or min(loaded.rows, MOST_ROWS)
        self._second_look = settings.second_look
        self._tiling: Tiling = settings.tiling or card.tiling
        prompt = card.prompt if settings.prompt is None else settings.prompt
        self._prompt = load_prompt(prompt) if prompt else ""
        self._soft_tokens = int(settings.soft_tokens or card.soft_tokens)
        self._finder: LineFinder | None = None
        self._sampling = Sampling(
            steps=settings.steps or card.steps,
            t_min=settings.t_min,
            t_max=settings.t_max,
            entropy_bound=settings.entropy_bound,
            stability=settings.stability,
            confidence=settings.confidence,
            canvases=settings.canvases or card.canvases,
            most_canvases=settings.most_canvases or card.most_canvases,
        )

    @classmethod
    def load(cls, model: str, settings: DiffusionGemmaSettings) -> DiffusionGemmaEngine:
        """Load a checkpoint by hub id, folder, or the name `pocket`.

        Raises:
            EngineError: it cannot be loaded, with what to do about it.
        """
        loaded = load(
            model or DEFAULT_MODEL,
            device=settings.device,
            dtype=settings.dtype,
            quantise=settings.quantise,
        )
        return cls(loaded, settings)

    def with_options(self, options: Mapping[str, str]) -> DiffusionGemmaEngine:
        """The same weights, read with other settings; where and how they are loaded stays.

        Raises:
            UsageError: there is no such option, or its value does not fit.
        """
        settings = settings_of(DiffusionGemmaSettings, options, self.name)
        return DiffusionGemmaEngine(self._loaded, settings)

    def read_runs(
        self,
        page: Page,
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[Reading]:
        """Read one page once per seed. See `read_pages`."""
        (readings,) = self.read_pages([page], runs=runs, seeds=seeds, emit=emit, cancel=cancel)
        return readings

    def read_pages(
        self,
        pages: Sequence[Page],
        *,
        runs: Sequence[int],
        seeds: Sequence[int],
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> list[list[Reading]]:
        """Read several pages once per seed: the runs of a tile share its encoding.

        Args:
            pages: upright pages; their tiles share batches where they are of one size.
            runs: numbers of the runs.
            seeds: one a run; the same seeds together, for the same pages, give the same readings.
            emit: called with each event.
            cancel: asked after every denoising step.

        Returns:
            `[page][run]`.
        """
        pieces = [
            _Piece(page, i, tile)
            for page in pages
            for i, tile in enumerate(self._tiles(page, runs, emit))
        ]
        spent = _Spent()
        for batch in self._batches(pieces, len(runs)):
            self._ask(batch, runs, seeds, spent, emit, cancel)
            if spent.cancelled:
                break
        result = []
        for page in pages:
            mine = [p for p in pieces if p.page is page]
            result.append(
                [
                    self._reading(page, mine, k, run, seed, spent)
                    for k, (run, seed) in enumerate(zip(runs, seeds, strict=True))
                ]
            )
            if self._second_look and self._tiling == "lines":
                result[-1] = [self._look_again(page, r, spent, cancel) for r in result[-1]]
            for reading in result[-1]:
                _close(reading, emit)
        return result

    def chat(
        self,
        prompt: str,
        *,
        run: int = 0,
        seed: int = 0,
        emit: Emit | None = None,
        cancel: Cancel | None = None,
    ) -> Reading:
        """Answer a text without an image; the reading's `raw` is the answer."""
        inputs = prompt_inputs(self._loaded.processor, [], prompt, soft_tokens=self._soft_tokens)
        voice = self._voice([Row(run, 1, 0)], emit)
        made = self._generate(inputs, [seed], voice, cancel)
        spent = _Spent()
        spent.add(made)
        (answer,) = made.replies[0]
        chars = self._chars(answer)
        text = "".join(c.text for c in chars)
        verdict = replies.judge(text, finished=answer.finished)
        stats = self._stats([answer], spent)
        status = ReadingStatus.INCOMPLETE if made.cancelled else verdict.status
        reading = Reading(
            self.name, run, seed, 1, text, chars, status=status, error=verdict.reason, stats=stats
        )
        _close(reading, emit)
        return reading

    def _tiles(self, page: Page, runs: Sequence[int], emit: Emit | None) -> Sequence[Tile]:
        if page.ink is Ink.BLANK:
            return ()
        images = self._loaded.processor.image_processor
        cut = tiles_of(
            page,
            self._tiling,
            card=self._loaded.card,
            soft_tokens=self._soft_tokens,
            find=self._find_lines if self._tiling == "lines" else None,
            token_side=images.patch_size * images.pooling_kernel_size,
        )
        if emit is None:
            return cut
        for run in runs:
            data = {
                "engine": self.name,
                "tiling": self._tiling,
                "tiles": [t.quad for t in cut],
                "runs": list(runs),
                "soft_tokens": self._soft_tokens,
            }
            emit(Event("page", run, page.number, data=data))
        return cut

    def _look_again(
        self, page: Page, reading: Reading, spent: _Spent, cancel: Cancel | None
    ) -> Reading:
        """Read the words of a run again that it was not sure of."""
        numbers = second_look.doubtful(reading, self._second_look)
        card = self._loaded.card
        cut = second_look.look_tiles(page, [reading.words[i] for i in numbers], card)
        pieces = [_Piece(page, i, tile) for i, tile in enumerate(cut)]
        for batch in self._batches(pieces, 1):
            self._ask(batch, [reading.run], [reading.seed], spent, None, cancel)
        answers: dict[int, Word] = {}
        for line, number in enumerate(numbers):
            mine = [p for p in pieces if p.tile.line == line and p.answers]
            said = [self._chars(p.answers[0]) for p in mine]
            joined = join("lines", said, [p.tile for p in mine], unreadable=card.unreadable)
            answers.update((number, word) for word in joined.words)
        return second_look.merged(reading, answers)

    def _find_lines(self, image: Gray, dpi: float) -> tuple[list[Quad], list[Quad]]:
        if self._finder is None:  # only `lines` needs the detector
            self._finder = LineFinder()
        return self._finder(image, dpi)

    def _batches(self, pieces: Sequence[_Piece], runs: int) -> Iterator[list[_Piece]]:
        """Tiles of one size share a batch: then no prompt is padded."""
        most = max(1, self._rows // runs)
        sizes: dict[tuple[int, ...], list[_Piece]] = {}
        for piece in pieces:
            sizes.setdefault(piece.tile.image.shape, []).append(piece)
        for group in sizes.values():
            for start in range(0, len(group), most):
                yield group[start : start + most]

    def _ask(
        self,
        batch: Sequence[_Piece],
        runs: Sequence[int],
        seeds: Sequence[int],
        spent: _Spent,
        emit: Emit | None,
        cancel: Cancel | None,
    ) -> None:
        if cancel is not None and cancel():
            spent.cancelled = True
            return
        images: list[Gray] = [piece.tile.image for piece in batch]
        resize = not (self._tiling == "lines" and self._loaded.card.line_height)
        inputs = prompt_inputs(
            self._loaded.processor,
            images,
            self._prompt,
            soft_tokens=self._soft_tokens,
            resize=resize,
        )
        rows = [Row(run, piece.page.number, piece.number) for piece in batch for run in runs]
        made = self._generate(inputs, seeds, self._voice(rows, emit), cancel)
        spent.add(made)
        for piece, answers in zip(batch, made.replies, strict=True):
            piece.answers.extend(answers)

    def _voice(self, rows: Sequence[Row], emit: Emit | None) -> Voice:
        sampling = self._sampling
        ends = frozenset(end_tokens(self._loaded.model))
        tokenizer = self._loaded.processor.tokenizer
        return Voice(emit, tokenizer, rows, sampling.steps, sampling.canvases, ends)

    def _generate(
        self, inputs: dict[str, Tensor], seeds: Sequence[int], voice: Voice, cancel: Cancel | None
    ) -> Generation:
        return generate(
            self._loaded.model,
            self._loaded.processor,
            inputs,
            seeds,
            self._sampling,
            loops=lambda text: bool(replies.repeated(text, finished=False)),
            listener=voice.listener(),
            cancel=cancel,
        )

    def _chars(self, answer: Tokens) -> tuple[Char, ...]:
        return characters(self._loaded.processor.tokenizer, answer.probs(), WATCHED)

    def _reading(
        self,
        page: Page,
        pieces: Sequence[_Piece],
        k: int,
        run: int,
        seed: int,
        spent: _Spent,
    ) -> Reading:
        """Join what the k-th run said of a page's tiles."""
        if page.ink is Ink.BLANK:
            return Reading(self.name, run, seed, page.number, status=ReadingStatus.BLANK)
        answered = [p for p in pieces if p.answers]
        answers = [p.answers[k] for p in answered]
        said = [self._chars(answer) for answer in answers]
        joined = join(
            self._tiling,
            said,
            [p.tile for p in answered],
            unreadable=self._loaded.card.unreadable,
        )
        inked = self._tiling != "lines"  # a crop may hold a speck and nothing to read
        verdict = replies.combined(
            [
                replies.judge("".join(c.text for c in chars), finished=a.finished, inked=inked)
                for chars, a in zip(said, answers, strict=True)
            ]
        )
        status = verdict.status
        if spent.cancelled:
            status = ReadingStatus.INCOMPLETE
        elif status is ReadingStatus.BLANK:  # there is ink, even if it says nothing
            status = ReadingStatus.OK
        return Reading(
            self.name,
            run,
            seed,
            page.number,
            raw=joined.raw,
            chars=joined.chars,
            words=joined.words,
            status=status,
            error=verdict.reason,
            stats=self._stats(answers, spent),
        )

    def _stats(self, answers: Sequence[Tokens], spent: _Spent) -> dict[str, float]:
        """What a run cost. Seconds are those of the whole call, which all of its runs share."""
        tokens = sum(len(a.ids) for a in answers)
        steps = sum(a.steps for a in answers)
        return {
            "tiles": len(answers),
            "image_tokens": spent.image_tokens,
            "prompt_tokens": spent.prompt_tokens,
            "encoder_calls": spent.encoder_calls,
            "new_tokens": tokens,
            "canvases": sum(a.canvases for a in answers),
            "steps": steps,
            "tokens_per_forward": round(tokens / max(steps, 1), 3),
            "prefill_seconds": round(spent.prefill_seconds, 4),
            "denoise_seconds": round(spent.denoise_seconds, 4),
            "tokens_per_second": round(tokens / max(spent.denoise_seconds, 1e-9), 1),
        }


def _close(reading: Reading, emit: Emit | None) -> None:
    if emit is not None:
        for event in closing(reading):
            emit(event)
