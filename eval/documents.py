"""One run on one document: what it gave, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.align import Alignment
from eval.cases import Case
from eval.levels import plain
from eval.outcomes import Outcome
from ocr_pipeline.engines.base import Reading, ReadingStatus
from ocr_pipeline.export.record import DocumentStatus, Record, order_values
from ocr_pipeline.orders.extract import extract
from ocr_pipeline.orders.model import Order
from ocr_pipeline.orders.schema import Schema
from ocr_pipeline.tables.transcript import Transcript

OUTCOMES = (
    "failed",  # the file, the engine or the worker broke, or there is no prediction
    "looping",  # the reply repeats itself until it was stopped
    "cut",  # the reply ends in the middle
    "incomplete",  # the run was stopped before it said anything
    "empty",  # a page with ink, and a reply without any text
    "blank",  # a sheet taken for a blank page
    "not_an_order",  # there is text, and no order was found in it
    "invented_on_blank",  # an order read from a page that has none
    "ok",  # an order was found, right or wrong; or no order on a page that has none
)
"""How a run on a document ended; of several that apply, the first."""

_STATUS = {
    "failed": DocumentStatus.FAILED,
    "looping": DocumentStatus.INCOMPLETE,
    "cut": DocumentStatus.INCOMPLETE,
    "incomplete": DocumentStatus.INCOMPLETE,
    "blank": DocumentStatus.BLANK,
}


@dataclass(frozen=True, slots=True)
class Run:
    """One run on one document, as far as scoring needs it.

    Attributes:
        orders: what it found, before any check.
        ended: of `OUTCOMES`, as far as the replies show it by themselves; `ok` when they are whole.
        votes: whether it takes part in the consensus: a run that failed does not.
        checked: the orders carry their flags already, because they come from a record.
        partly: it stands for several runs that ended differently; the pipeline says so.
        error: the reason when it failed.
        strict: every reply could be parsed as it stood.
        repairs: codes of what the parser mended, without repetition.
        pages: of the document.
        tables: found on them.
        seconds: that the engine took; NaN when unknown.
        tokens: that it wrote; NaN when unknown.
        stats: everything the engine says about its work, summed over pages.
        text: all that was read, in plain form.
    """

    orders: tuple[Order, ...] = ()
    ended: str = "ok"
    votes: bool = True
    checked: bool = False
    partly: bool = False
    error: str = ""
    strict: bool = True
    repairs: tuple[str, ...] = ()
    pages: int = 1
    tables: int = 0
    seconds: float = math.nan
    tokens: float = math.nan
    stats: Mapping[str, float] = field(default_factory=dict)
    text: str = ""


def failed_run(error: str) -> Run:
    """A run of which there is nothing but the reason why."""
    return Run(ended="failed", votes=False, error=error, pages=0)


def run_of(
    readings: Sequence[Reading],
    transcripts: Sequence[Transcript],
    schema: Schema,
    *,
    seconds: float = math.nan,
) -> Run:
    """A run from what an engine read, page by page.

    Args:
        readings: of each page.
        transcripts: the same as lines and tables.
        schema: the form.
        seconds: that the engine took for all pages.
    """
    repairs = tuple(dict.fromkeys(r.code for t in transcripts for r in t.repairs))
    stats = _summed(r.stats for r in readings)
    ended = {_ended(r, t) for r, t in zip(readings, transcripts, strict=True)}
    if ended != {"blank"}:
        ended.discard("blank")  # a blank page among others is nothing amiss
    return Run(
        orders=extract(transcripts, schema)[0],
        ended=next(o for o in OUTCOMES if o in ended or o == "ok"),
        votes=any(_says_something(r) for r in readings),
        error="\n".join(dict.fromkeys(r.error for r in readings if r.error)),
        strict=not repairs,
        repairs=repairs,
        pages=len(readings),
        tables=sum(len(t.tables) for t in transcripts),
        seconds=seconds,
        tokens=stats.get("new_tokens", math.nan),
        stats=stats,
        text=text_of(transcripts),
    )


def run_of_record(record: Record) -> Run:
    """The run that stands for a record: all its runs together are one answer of the product."""
    repeats = len({r.run for r in record.readings})
    ended = {
        DocumentStatus.FAILED: "failed",
        DocumentStatus.INCOMPLETE: "cut",
        DocumentStatus.BLANK: "blank",
    }
    return Run(
        orders=record.orders,
        ended=ended.get(record.status, "ok"),
        votes=bool(record.orders),
        checked=True,
        error=record.error,
        pages=len(record.pages),
        seconds=float(record.stats.get("seconds", math.nan)),
        stats={"runs": float(repeats)} | dict(record.stats),
        text=plain(record.markdown),
    )


def text_of(transcripts: Iterable[Transcript]) -> str:
    """All text of some pages, in plain form: what can be searched for a piece of print."""
    texts = [
        cell.text
        for t in transcripts
        for part in (t.lines, *(row for table in t.tables for row in (table.header, *table.rows)))
        for cell in part
    ]
    return "\n".join(plain(text) for text in texts if text)


def _ended(reading: Reading, transcript: Transcript) -> str:
    text = bool(reading.words or reading.raw.strip())
    match reading.status:
        case ReadingStatus.FAILED:
            return "failed"
        case ReadingStatus.LOOPING:
            return "looping"
        case ReadingStatus.INCOMPLETE:
            return "cut" if text else "incomplete"
        case ReadingStatus.BLANK:
            return "blank"
        case ReadingStatus.OK:
            cut = any(r.code == "cut_row" for r in transcript.repairs)
            return "cut" if cut else "ok" if text else "empty"


def _says_something(reading: Reading) -> bool:
    """As in the pipeline: a run that failed or never started has no vote."""
    ended = reading.status in (ReadingStatus.OK, ReadingStatus.BLANK)
    return ended or bool(reading.words or reading.raw)


def _summed(stats: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Sums over pages; rates (`tokens_per_second`) have none."""
    total: dict[str, float] = {}
    for page in stats:
        for name, value in page.items():
            if "_per_" not in name:
                total[name] = total.get(name, 0.0) + float(value)
    return total


def outcome_of(run: Run, order: Order | None, case: Case) -> str:
    """How a run ended, with the truth at hand: of `OUTCOMES`."""
    if run.ended not in ("ok", "blank"):
        return run.ended
    if case.empty:
        return "ok" if order is None else "invented_on_blank"
    if order is not None:
        return "ok"
    return "blank" if run.ended == "blank" else "not_an_order"


def row_of(
    run: Run,
    orders: Sequence[Order],
    order: Order | None,
    outcomes: Sequence[Outcome],
    lines: Alignment,
    case: Case,
    *,
    told: bool,
) -> dict[str, Any]:
    """The columns of `tidy.DOCUMENTS` that belong to a run on a document.

    Args:
        run: the run.
        orders: its orders, checked.
        order: the one that was compared with the truth.
        outcomes: of its values.
        lines: which of its lines stand for which true ones.
        case: the truth.
        told: a person hears of a document without an order.
    """
    status = _STATUS.get(run.ended, DocumentStatus.OK)
    if run.partly:
        status = DocumentStatus.INCOMPLETE
    elif status is DocumentStatus.OK and not orders:
        status = DocumentStatus.NOT_AN_ORDER
    ended = outcome_of(run, order, case)
    flagged = any(order.flags or any(v.flags for v in order_values(order)) for order in orders)
    # A blank page that is blank is nothing to look at; any other document without an order is.
    unread = not (orders or (case.empty and ended == "ok"))
    return {
        "status": str(status),
        "outcome": ended,
        "error": run.error,
        "strict": run.strict,
        "repairs": run.repairs,
        "pages": run.pages,
        "orders": len(orders),
        "tables": run.tables,
        "rows_true": len(case.rows),
        "rows_read": len(order.rows) if order else 0,
        "rows_in_order": lines.in_order,
        "order_right": ended == "ok"
        and len(orders) == (not case.empty)
        and not any(o.error for o in outcomes),
        "flagged": flagged or run.partly or run.ended not in ("ok", "blank") or (unread and told),
        "order_flags": tuple(f.code for f in order.flags) if order else (),
        "seconds": run.seconds,
        "tokens": run.tokens,
        "stats": dict(run.stats),
    }
