"""Which rows of the tidy table a figure is about."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import pandas as pd

from eval.tidy import CONSENSUS


def single(table: pd.DataFrame) -> pd.DataFrame:
    """True values as each run read them for itself."""
    return _true(table[table["run"] != CONSENSUS])


def consensus(table: pd.DataFrame) -> pd.DataFrame:
    """True values as all runs together say them: what a user gets."""
    return _true(table[table["run"] == CONSENSUS])


def _true(table: pd.DataFrame) -> pd.DataFrame:
    """Without lines that are not on the sheet: they are in no denominator of accuracy."""
    return table[~table["extra"]]


def chosen_half(sheets: Iterable[str], seed: int = 0) -> frozenset[str]:
    """The half of the sheets on which thresholds are chosen; they are reported on the others.

    Sheets are ordered by a hash of seed and name, so the halves are the same on every machine and
    differ by one sheet at most.
    """

    def rank(sheet: str) -> bytes:
        return blake2b(f"{seed}:{sheet}".encode("utf-8", "surrogatepass"), digest_size=8).digest()

    ranked = sorted(set(sheets), key=rank)
    return frozenset(ranked[: len(ranked) // 2])
