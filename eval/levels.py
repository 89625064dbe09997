"""The levels at which a value is compared with the truth.

- raw: to the letter what is printed, or what the truth file says (NFC, trimmed).
- typed: equal values; ￥1,200 is 1200, １０ is 10, 令和8年4月1日 is 2026-04-01. This is the score.
- folded: equal once characters that look alike across scripts are merged. What is wrong when typed
  and right when folded is what a rule of script context could still mend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from ocr_pipeline.orders import text, values
from ocr_pipeline.orders.kinds import Kind

# The same few texts are compared again and again: over runs, over rows, over subsets of runs.
typed = lru_cache(maxsize=1 << 16)(values.typed)
plain = lru_cache(maxsize=1 << 16)(text.plain)
_folded = lru_cache(maxsize=1 << 16)(text.folded)
_raw = lru_cache(maxsize=1 << 16)(text.raw)


def same(kind: Kind, truth: str, read: str) -> bool:
    """Whether two values are equal at the typed level; two empty ones are."""
    if not truth or not read:
        return truth == read
    expected = typed(kind, truth)
    return expected is not None and expected == typed(kind, read)


def same_folded(kind: Kind, truth: str, read: str) -> bool:
    """Whether two values are equal at the folded level."""
    return same(kind, truth, read) or _folded(truth) == _folded(read)


def same_raw(truth: str, prints: Sequence[str], raw: str) -> bool:
    """Whether a text is to the letter what is printed, or what the truth says.

    Args:
        truth: the true value, as text.
        prints: how it is printed: several times, or on several lines; empty when unknown.
        raw: the text that was read.
    """
    read = "".join(_raw(raw).split("\n"))
    whole = "".join(map(_raw, prints))
    return bool(read) and read in {_raw(truth), whole, *map(_raw, prints)}


def character_error_rate(kind: Kind, truth: str, read: str) -> float:
    """Edits per true character of a name or text at the typed level; NaN for other kinds.

    Levenshtein distance over the length of the truth, as jiwer counts it: what was read beyond the
    truth counts, so that it may exceed 1.
    """
    if kind not in (Kind.NAME, Kind.TEXT) or not truth:
        return math.nan
    expected = typed(kind, truth) or plain(truth)
    return Levenshtein.distance(expected, typed(kind, read) or "") / len(expected)
