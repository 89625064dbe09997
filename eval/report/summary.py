"""The three sentences at the top: what somebody wants to know who has one minute."""

from __future__ import annotations

from collections.abc import Sequence

from eval.report.figures import FieldFigures, Headline, Share
from eval.report.wording import between, count, percent

NOTHING = ("No value was scored.", "", "")


def summary_of(
    headline: Sequence[Headline], runs: int, fields: Sequence[FieldFigures]
) -> tuple[str, str, str]:
    """How much is right; how much is wrong unseen; what it costs, and what could help.

    Args:
        headline: by severity; the last is all together.
        runs: most runs of a document.
        fields: the figures of fields; the first that is of no severity is of all fields together.
    """
    if not headline or headline[-1].right.value is None:
        return NOTHING
    whole = headline[-1]
    return _right(headline, runs), _silent(whole), _cost(whole, runs, fields)


def _right(headline: Sequence[Headline], runs: int) -> str:
    *apart, whole = headline
    documents = f"{count(whole.documents)} fax{'' if whole.documents == 1 else 'es'}"
    times = "" if runs == 1 else f", each read {runs} times"
    text = (
        f"Of {count(whole.values)} values on {documents}{times}, {percent(whole.right.value)} "
        f"are right{_interval(whole.right)}"
    )
    if len(apart) < 2:
        return text + "."
    best = max(apart, key=lambda h: (h.right.value or 0.0, -(h.severity or 0)))
    least = min(apart, key=lambda h: (h.right.value or 0.0, -(h.severity or 0)))
    return (
        f"{text}: from {percent(best.right.value)} at severity {best.severity} "
        f"down to {percent(least.right.value)} at severity {least.severity}."
    )


def _silent(whole: Headline) -> str:
    silent = whole.silent
    if silent.value == 0:
        bound = f"; at these numbers, that means {between(silent)}" if between(silent) else ""
        return f"Not one value was wrong without somebody being told{bound}."
    orders = whole.orders.silent.value
    hidden = f"{percent(orders)} of the orders are wrong" if orders else "no wrong order came"
    return (
        f"{percent(silent.value)} of the values are wrong and nobody was told"
        f"{_interval(silent)}; {hidden} without any flag at all."
    )


def _cost(whole: Headline, runs: int, fields: Sequence[FieldFigures]) -> str:
    text = (
        f"A person has to look at {percent(whole.flagged.value)} of the values"
        f"{_interval(whole.flagged)}, {percent(whole.needless.value)} for nothing"
    )
    stable = next((f for f in fields if f.severity is None), None)
    if runs == 1 or stable is None or stable.unstable.value is None:
        return text + "."
    return (
        f"{text}; {percent(stable.unanimous_wrong.value)} are wrong in the same way in every run, "
        f"so that more runs cannot help, and {percent(stable.unstable.value)} change from run to "
        f"run."
    )


def _interval(share: Share) -> str:
    words = between(share)
    return f" ({words})" if words else ""
