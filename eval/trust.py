"""Right or wrong, and was anybody told: the four cases for fields, lines and orders."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from eval.bootstrap import means
from eval.selection import consensus
from eval.tidy import CONSENSUS

LEVELS = ("field", "row", "order")
CASES = ("trusted", "needless", "caught", "silent")
"""Right and not flagged, right and flagged, wrong and flagged, wrong and *not* flagged."""


def verdicts(values: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    """Every field, line and order as all runs together say it, with what became of it.

    A line is right when all of its values are and nothing was read where it is blank, and flagged
    when any value of it is. A line that is not on the sheet is a wrong line: whoever trusts the
    order delivers it. What is not on the sheet is none among the fields, for it has no true value.

    Returns:
        `level` (of `LEVELS`), `document`, `sheet`, `severity`, `right`, `flagged`, and `CASES` as
        booleans, of which exactly one holds.
    """
    keys = ["document", "sheet", "severity"]
    fields = consensus(values)[[*keys, "right", "flagged"]]
    lines = values[(values["run"] == CONSENSUS) & (values["row"].notna() | values["extra"])]
    rows = (
        lines.assign(
            right=lines["right"] & ~lines["extra"],
            beyond=lines["extra"] & (lines["error"] != "invented"),
        )
        .groupby([*keys, "row", "beyond"], dropna=False)
        .agg(right=("right", "all"), flagged=("flagged", "any"))
        .reset_index()[[*keys, "right", "flagged"]]
    )
    orders = documents[documents["run"] == CONSENSUS]
    orders = orders.rename(columns={"order_right": "right"})[[*keys, "right", "flagged"]]
    levels = [t.assign(level=n) for n, t in zip(LEVELS, (fields, rows, orders), strict=True)]
    table = pd.concat(levels, ignore_index=True).astype({"right": bool, "flagged": bool})
    right, flagged = table["right"], table["flagged"]
    cases = (right & ~flagged, right & flagged, ~right & flagged, ~right & ~flagged)
    return table.assign(**dict(zip(CASES, cases, strict=True)))


def quadrants(table: pd.DataFrame, *, by: Sequence[str] = ("level", "severity")) -> pd.DataFrame:
    """How many are in each case.

    Args:
        table: what `verdicts` returns.
        by: columns to group by.

    Returns:
        Wide: one row per group, with the columns of `by`, `CASES` and `count`.
    """
    grouped = table.groupby(list(by))
    counts = grouped[list(CASES)].sum().assign(count=grouped.size())
    return counts.reset_index()


def rates(
    table: pd.DataFrame, *, by: Sequence[str] = ("level", "severity"), seed: int = 0
) -> pd.DataFrame:
    """The shares of the cases, with intervals over sheets.

    Where nothing is silently wrong, the upper limit is 3/n for n *sheets*, not values: the values
    of one sheet are no independent trials.

    Args:
        table: what `verdicts` returns.
        by: columns to group by.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.means` for `CASES` and `flagged` (the review rate).
    """
    return means(table, [*CASES, "flagged"], by=by, seed=seed)


def by_flag(values: pd.DataFrame) -> pd.DataFrame:
    """What each flag code is worth: how often it is needed, and what it alone catches.

    Returns:
        One row per code, most frequent first: `code`, `values` under it, `wrong` and `right` among
        them, `only` (wrong values that no other code marks), `precision` (wrong / values), `recall`
        (share of all wrong values), and what is left when this code alone sends values to review:
        `coverage` (share of all values) and `risk` (share wrong of those). NaN: nothing to divide
        by. Values that are flagged without a code of their own (a missing line of a flagged order)
        are under `(order)`.
    """
    table = consensus(values)
    codes = [
        tuple(dict.fromkeys(own)) or (("(order)",) if flagged else ())
        for own, flagged in zip(table["codes"], table["flagged"], strict=True)
    ]
    table = table.assign(
        code=pd.Series(codes, table.index, dtype=object),
        wrong=~table["right"],
        only=pd.Series([len(own) == 1 for own in codes], table.index, dtype=bool) & ~table["right"],
    )
    found = (
        table.explode("code")
        .dropna(subset=["code"])
        .groupby("code")
        .agg(values=("wrong", "size"), wrong=("wrong", "sum"), only=("only", "sum"))
        .reset_index()
        .sort_values(["values", "code"], ascending=[False, True], ignore_index=True)
    )
    total, wrong = len(table), int(table["wrong"].sum())
    left = total - found["values"]
    return pd.DataFrame(
        {
            "code": found["code"],
            "values": found["values"],
            "wrong": found["wrong"],
            "right": found["values"] - found["wrong"],
            "only": found["only"],
            "precision": found["wrong"] / found["values"],
            "recall": found["wrong"] / (wrong or float("nan")),
            "coverage": left / (total or float("nan")),
            "risk": (wrong - found["wrong"]) / left.where(left > 0),
        }
    )
