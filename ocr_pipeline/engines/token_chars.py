"""Tokens with probabilities → characters with confidence and runners-up.

A kanji that is not in the vocabulary is three byte tokens (`<0xE8><0xA9><0xB0>`), a frequent word
is one token of several characters. What a model knows it knows per token; what a person must look
at is a character. A character is as sure as the least sure of its tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any, Protocol

from rapidfuzz.distance import Levenshtein

from ocr_pipeline.engines.base import Char

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"
"""How SentencePiece vocabularies write a space."""
_BROKEN = "\ufffd"
"""What a decoder writes for every byte that belongs to no character."""


class Tokenizer(Protocol):
    """What is asked of a tokenizer of transformers."""

    @property
    def all_special_ids(self) -> list[int]: ...  # noqa: D102

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]: ...  # noqa: D102

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]: ...  # noqa: D102

    def decode(self, ids: list[int], *, skip_special_tokens: bool) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class TokenProb:
    """One token of a reply as the model saw it.

    Attributes:
        id: the token.
        probability: its probability when it was committed, 0..1.
        entropy: of the whole distribution then, nats.
        runner_up: the token with the next highest probability.
        runner_up_probability: that probability.
        changes: in how many of the last steps another token stood here.
    """

    id: int
    probability: float
    entropy: float
    runner_up: int
    runner_up_probability: float
    changes: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a token stands for: some text (perhaps none), or one byte of a character."""

    meant: str | int
    confidence: float
    other: str | int
    other_probability: float


def characters(
    tokenizer: Tokenizer, tokens: Sequence[TokenProb], steps_watched: int
) -> tuple[Char, ...]:
    """The characters of a reply.

    The confidence of a character is the least, over its tokens, of
    `probability · (1 - changes / steps_watched)`. The runner-up of a token becomes alternatives of
    the characters in which the two differ.

    Args:
        tokenizer: of the model; SentencePiece or byte-fallback vocabularies and plain ones.
        tokens: the reply; special tokens say nothing and are skipped.
        steps_watched: the number of last steps in which changes were counted.

    Returns:
        One `Char` per character of `tokenizer.decode(ids, skip_special_tokens=True)`.
    """
    special = set(tokenizer.all_special_ids) | {
        i for i, added in tokenizer.added_tokens_decoder.items() if getattr(added, "special", False)
    }
    spoken = [t for t in tokens if t.id not in special]
    if not spoken:
        return ()
    ids = [t.id for t in spoken]
    names = tokenizer.convert_ids_to_tokens([*ids, *(t.runner_up for t in spoken)])
    pieces = [
        _piece(token, name, "" if token.runner_up in special else other, steps_watched)
        for token, name, other in zip(
            spoken, names[: len(spoken)], names[len(spoken) :], strict=True
        )
    ]
    return _aligned(tuple(_chars(pieces)), tokenizer.decode(ids, skip_special_tokens=True))


def _piece(token: TokenProb, name: str, other: str, steps: int) -> _Piece:
    steady = 1.0 - min(1.0, token.changes / steps) if steps > 0 else 1.0
    confidence = token.probability * steady
    return _Piece(_meaning(name), confidence, _meaning(other), token.runner_up_probability)


def _meaning(name: str | None) -> str | int:
    """The text of a token, or the byte that it stands for."""
    if match := _BYTE.fullmatch(name or ""):
        return int(match[1], 16)
    return (name or "").replace(_SPACE, " ")


def _chars(pieces: Sequence[_Piece]) -> Iterator[Char]:
    for is_byte, group in groupby(pieces, key=lambda p: isinstance(p.meant, int)):
        if is_byte:
            yield from _of_bytes(list(group))
        else:
            for piece in group:
                yield from _of_text(str(piece.meant), piece)


def _of_text(text: str, piece: _Piece) -> Iterator[Char]:
    other = piece.other if isinstance(piece.other, str) else _decoded([piece.other])
    choices = alternatives(text, other) if other else {}
    for i, c in enumerate(text):
        chosen = ((choices[i], piece.other_probability),) if i in choices else ()
        yield Char(c, piece.confidence, chosen)


def alternatives(text: str, other: str) -> dict[int, str]:
    """What the characters of a text would be in another reading of it.

    Where the stretches in which the two differ are equally long, each character has its own
    counterpart. Otherwise the first of them stands for all: put in its place, a stretch of one
    character gives the other reading whole; of a longer one only its first character is told.

    Args:
        text: what was read.
        other: the other reading.

    Returns:
        Index in `text` → text that may stand there instead.
    """
    if not text or text == other:
        return {}
    start = _common(text, other)
    end = _common(text[start:][::-1], other[start:][::-1])
    mine, theirs = text[start : len(text) - end], other[start : len(other) - end]
    if not mine:  # something more stands in the other reading
        at = max(0, start - 1)
        return {at: text[at] + theirs if start else theirs + text[at]}
    if len(mine) == len(theirs):
        pairs = enumerate(zip(mine, theirs, strict=True), start)
        return {i: b for i, (a, b) in pairs if a != b}
    if not theirs:  # nothing stands in its place, and nothing is no character
        return {}
    return {start: theirs if len(mine) == 1 else theirs[0]}


def _common(one: str, other: str) -> int:
    """Length of the longest common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))  # noqa: B905


def _of_bytes(run: Sequence[_Piece]) -> Iterator[Char]:
    """Characters of neighbouring byte tokens; like the decoder, all broken if one is."""
    codes = [int(p.meant) for p in run]
    text = _decoded(codes)
    if text is None:
        yield from (Char(_BROKEN, p.confidence) for p in run)
        return
    start = 0
    for c in text:
        end = start + len(c.encode())
        found: dict[str, float] = {}
        for i, piece in enumerate(run[start:end]):
            other = _instead(codes[start:end], i, piece.other)
            if other and other != c:
                found[other] = max(piece.other_probability, found.get(other, 0.0))
        ranked = tuple(sorted(found.items(), key=lambda item: -item[1]))
        yield Char(c, min(p.confidence for p in run[start:end]), ranked)
        start = end


def _instead(codes: list[int], i: int, other: str | int) -> str | None:
    """The character that comes out when one byte of a character gives way to its runner-up."""
    if isinstance(other, int):
        text = _decoded([*codes[:i], other, *codes[i + 1 :]])
        return text if text is not None and len(text) == 1 else None
    # A whole token in place of the first byte is a whole character; later it is none.
    return other[0] if other and i == 0 else None


def _decoded(codes: Sequence[int]) -> str | None:
    try:
        return bytes(codes).decode()
    except UnicodeDecodeError:
        return None


def _aligned(chars: tuple[Char, ...], text: str) -> tuple[Char, ...]:
    """The same knowledge for the text that the tokenizer makes of the tokens.

    Tokenizers tidy up: a leading space goes, spaces before punctuation too. What they put in place
    of something is as sure as what was there; what they add, as its neighbours.
    """
    built = "".join(c.text for c in chars)
    if built == text:
        return chars
    out: list[Char] = []
    for op in Levenshtein.opcodes(built, text):
        there = chars[op.src_start : op.src_end]
        if op.tag == "equal":
            out += there
            continue
        near = there or chars[max(0, op.src_start - 1) : op.src_end + 1]
        sure = min((c.confidence for c in near), default=0.0)
        out += (Char(c, sure) for c in text[op.dest_start : op.dest_end])
    return tuple(out)
