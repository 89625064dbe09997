"""Does the reader say so when the ink is gone?

`synth` knows what share of a value's glyph pixels survived the fax. Where little did, a value that
was read nevertheless is a guess; the honest answers are none, or one with a flag.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from eval.bootstrap import means
from eval.selection import consensus

EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Upper edges of the bins of ink survival; the first bin is ink that is gone altogether."""
FIGURES = ("right", "abstained", "flagged", "silent")


def by_ink(values: pd.DataFrame, *, edges: Sequence[float] = EDGES, seed: int = 0) -> pd.DataFrame:
    """What became of values, by how much of their ink is left.

    Args:
        values: the tidy table; the values as all runs together say them are used.
        edges: upper edges of the bins, growing; ink above the last one is in the last bin.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.means` with `ink` (upper edge of the bin; NaN: unknown)
        before `figure`: `right`, `abstained` (printed, and no value was given), `flagged`, `silent`
        (wrong, and nobody was told). Bins without values are left out.
    """
    table = consensus(values)
    upper = pd.Series(float("nan"), table.index)
    for edge in reversed(edges):
        upper = upper.mask(table["ink"].clip(upper=edges[-1]) <= edge, edge)
    table = table.assign(
        # NaN is no key of a group, and unknown comes last.
        ink=upper.fillna(float("inf")),
        abstained=(table["state"] != "read") & (table["truth"] != ""),
        silent=~table["right"] & ~table["flagged"],
    )
    found = means(table, FIGURES, by=["ink"], seed=seed)
    return found.assign(ink=found["ink"].astype(float).replace(float("inf"), float("nan")))
