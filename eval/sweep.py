"""A setting of an engine swept: what accuracy costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pandas as pd

from eval.selection import consensus, single
from eval.tidy import CONSENSUS, Scores
from ocr_pipeline.errors import UsageError

Setting = tuple[tuple[str, str], ...]
"""(option, value) pairs of an engine."""

COLUMNS = ("documents", "single", "right", "flagged", "silent", "seconds", "tokens")
"""`single` is the accuracy of a run, `right` that of all runs together; seconds and tokens are the
mean of a page and run. NaN where the engine does not tell."""


def settings_over(over: Sequence[str]) -> list[Setting]:
    """`steps=8,16` as the settings to compare; several sweeps give every combination.

    Raises:
        UsageError: it is not of that form, or a setting is named twice.
    """
    axes: list[list[tuple[str, str]]] = []
    for text in over:
        name, equals, values = text.partition("=")
        listed = [v.strip() for v in values.split(",")]
        if not equals or not name.strip() or not all(listed):
            raise UsageError(f"--over {text!r} sweeps nothing", remedy="write --over steps=8,16,32")
        axes.append([(name.strip(), value) for value in dict.fromkeys(listed)])
    names = [axis[0][0] for axis in axes]
    if len(set(names)) < len(names):
        raise UsageError("--over names a setting twice", remedy="put its values in one list")
    return list(product(*axes))


def label_of(setting: Setting) -> str:
    """A name for a setting that can be a folder's."""
    return ",".join(f"{name}={value}" for name, value in setting).replace("/", "_")


def table_of(swept: Mapping[str, Scores]) -> pd.DataFrame:
    """One row a setting, in their order: `COLUMNS`."""
    rows = {label: _figures(scores) for label, scores in swept.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS)).rename_axis(
        "setting"
    )


def _figures(scores: Scores) -> list[float]:
    together, alone = consensus(scores.values), single(scores.values)
    documents = scores.documents[scores.documents["run"] != CONSENSUS]
    pages = documents["pages"].sum()
    wrong = ~together["right"]
    return [
        documents["document"].nunique(),
        alone["right"].mean(),
        together["right"].mean(),
        together["flagged"].mean(),
        (wrong & ~together["flagged"]).mean(),
        # A sum over runs that tell nothing is unknown, not zero.
        documents["seconds"].sum(min_count=1) / pages,
        documents["tokens"].sum(min_count=1) / pages,
    ]
