"""A second look at what was read without confidence: the word alone, at full resolution.

What the model then says has a vote: where it agrees it makes the character surer, where it does not
it becomes an alternative, and the two share the confidence. The text that was read first stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ocr_pipeline.engines.base import Char, Reading, Word
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.lines import part
from ocr_pipeline.engines.tiles import Tile, line_tiles
from ocr_pipeline.engines.token_chars import alternatives
from ocr_pipeline.geometry import Quad, transform
from ocr_pipeline.pages.page import Page

PAD = 0.2
"""Share of a word's height that is shown around it: its quad lies close around the ink."""


def doubtful(reading: Reading, threshold: float) -> tuple[int, ...]:
    """Numbers of the words that were read with less confidence than asked for."""
    return tuple(i for i, word in enumerate(reading.words) if word.confidence < threshold)


def look_tiles(page: Page, words: Sequence[Word], card: Card) -> tuple[Tile, ...]:
    """Pictures of single words; `line` is the word's number in `words`."""
    to_upright = np.asarray(np.linalg.inv(page.matrix), np.float64)
    quads = [_wider(transform(word.quad, to_upright)) for word in words]
    return line_tiles(page, quads, [True] * len(quads), card=card)


def _wider(quad: Quad) -> Quad:
    width, height = math.dist(quad[0], quad[1]), math.dist(quad[0], quad[3])
    share = PAD * height / max(width, 1e-9)
    return part(quad, (-share, -PAD, 1 + share, 1 + PAD))


def merged(reading: Reading, answers: Mapping[int, Word]) -> Reading:
    """The reading with what a second look said of some of its words.

    Args:
        reading: of the first look.
        answers: number of the word → the word as it was read again.
    """
    words = tuple(
        _merged(word, answers[i]) if i in answers else word for i, word in enumerate(reading.words)
    )
    return replace(reading, words=words)


def _merged(word: Word, again: Word) -> Word:
    chars = word.chars or tuple(Char(c, word.confidence) for c in word.text)
    if again.text == word.text:
        second = again.chars or tuple(Char(c, again.confidence) for c in again.text)
        surer = tuple(
            replace(c, confidence=max(c.confidence, d.confidence))
            for c, d in zip(chars, second, strict=True)
        )
        confidence = max(word.confidence, again.confidence)
        if word.chars:
            confidence = min(c.confidence for c in surer)
        return replace(word, confidence=confidence, chars=surer if word.chars else ())
    differing = alternatives(word.text, again.text)
    voted = tuple(_voted(c, differing.get(i, ""), again.confidence) for i, c in enumerate(chars))
    share = _share(word.confidence, again.confidence)
    return replace(
        word,
        confidence=min(share, *(c.confidence for c in voted)),
        alternatives=(*word.alternatives, (again.text, again.confidence)),
        chars=voted if word.chars else (),
    )


def _voted(char: Char, other: str, confidence: float) -> Char:
    if not other:
        return char
    found = dict(char.alternatives)
    found[other] = max(confidence, found.get(other, 0.0))
    ranked = tuple(sorted(found.items(), key=lambda item: -item[1]))
    return replace(char, confidence=_share(char.confidence, confidence), alternatives=ranked)


def _share(mine: float, other: float) -> float:
    """What is left of a confidence when another reading has one too; never more than before."""
    return mine * (mine / (mine + other)) if mine + other > 0 else 0.0
