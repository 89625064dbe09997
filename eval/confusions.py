"""What is read for what, and where, so that it can be shown."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from eval.characters import true_text
from ocr_pipeline.geometry import Quad


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mistake was made, so that it can be shown.

    Attributes:
        document: name of the file.
        run: of the reading.
        field: of the value.
        row: 0-based true line; None for a field of the order.
        truth: the true text of the value.
        raw: what was read.
        position: of the character in the true text, 0-based.
        length: of the true text, in characters.
        page: 1-based page where the text was read, if it is known.
        quad: there, in stored pixels.
        true_page: 1-based page where the value is printed, if it is known.
        true_quad: there, in stored pixels.
    """

    document: str
    run: int
    field: str
    row: int | None
    truth: str
    raw: str
    position: int
    length: int
    page: int | None
    quad: Quad | None
    true_page: int | None
    true_quad: Quad | None


def confusions(chars: pd.DataFrame, values: pd.DataFrame, *, places: int = 6) -> pd.DataFrame:
    """What was read for what, most frequent first.

    Args:
        chars: what `characters` made of `values`.
        values: the tidy table.
        places: how many places are named for each pair, every time in another text if possible.

    Returns:
        `true`, `read` (empty: added, lost), `mistake`, `count`, `sheets` on which it was made, and
        `places`, a tuple of `Place`.
    """
    wrong = chars[chars["mistake"] != ""]
    wrong = wrong.join(values[["document", "run", "row", "truth", "raw"]], on="value")
    order = ["document", "run", "field", "row", "position"]
    # The same text in another run is shown after all others.
    again = wrong.sort_values(order).groupby(
        ["true", "read", "document", "field", "row", "position"], dropna=False
    )
    wrong = wrong.assign(again=again.cumcount()).sort_values(["again", *order])
    rows = [
        (
            true,
            read,
            mistake,
            len(group),
            group["sheet"].nunique(),
            tuple(
                _place(values.loc[v], position)
                for v, position in zip(
                    group["value"].head(places), group["position"].head(places), strict=True
                )
            ),
        )
        for (true, read, mistake), group in wrong.groupby(["true", "read", "mistake"])
    ]
    rows.sort(key=lambda r: (-r[3], r[0], r[1]))
    return pd.DataFrame(rows, columns=["true", "read", "mistake", "count", "sheets", "places"])


def _place(value: pd.Series, position: int) -> Place:
    return Place(
        document=value["document"],
        run=int(value["run"]),
        field=value["field"],
        row=None if pd.isna(value["row"]) else int(value["row"]),
        truth=value["truth"],
        raw=value["raw"],
        position=int(position),
        length=len(true_text(value["kind"], value["truth"])),
        page=None if pd.isna(value["page"]) else int(value["page"]),
        quad=value["quad"],
        true_page=None if pd.isna(value["true_page"]) else int(value["true_page"]),
        true_quad=value["true_quad"],
    )
