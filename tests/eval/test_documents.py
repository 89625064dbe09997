from __future__ import annotations

import math
from dataclasses import replace

import pytest

from eval.align import Alignment
from eval.cases import Case
from eval.documents import OUTCOMES, Run, failed_run, outcome_of, row_of, run_of, run_of_record
from eval.outcomes import Form
from eval.tidy import DOCUMENTS
from ocr_pipeline.engines.base import Reading, ReadingStatus
from ocr_pipeline.export.record import DocumentStatus, Record
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Flag, Order
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.markdown import parse

FORM = Form(load_schema("purchase_order"))
TEXT = "# 発注書\n\n発注番号: A-1\n\n| 品名 | 数量 | 金額 |\n|---|---|---|\n| 軸受 | 3 | 900 |\n"
CASE = Case("a.png", 1, {"order_no": "A-1"}, ({"item": "軸受"},))
BLANK = Case("b.png", 1, {}, ())
ORDER = Order(dict.fromkeys(FORM.fields, ABSENT), pages=(1,))


def made(*pages: Reading) -> Run:
    numbered = [replace(page, page=n) for n, page in enumerate(pages, start=1)]
    return run_of(numbered, [parse(p.raw, page=p.page) for p in numbered], FORM.schema)


def reply(raw: str = TEXT, status: ReadingStatus = ReadingStatus.OK, **stats: float) -> Reading:
    return Reading("e", raw=raw, status=status, stats=stats)


@pytest.mark.parametrize(
    ("pages", "ended", "votes"),
    [
        ([reply()], "ok", True),
        ([reply("")], "empty", True),
        ([reply("  \n")], "empty", True),
        ([reply("", ReadingStatus.BLANK)], "blank", True),
        ([reply(), reply("", ReadingStatus.BLANK)], "ok", True),
        ([reply("", ReadingStatus.FAILED)], "failed", False),
        ([reply(), reply("", ReadingStatus.FAILED)], "failed", True),
        ([reply(TEXT, ReadingStatus.LOOPING)], "looping", True),
        ([reply(TEXT, ReadingStatus.INCOMPLETE)], "cut", True),
        ([reply("", ReadingStatus.INCOMPLETE)], "incomplete", False),
        ([reply(TEXT + "| 座金 | 4")], "cut", True),
        ([reply(TEXT, ReadingStatus.LOOPING), reply("", ReadingStatus.FAILED)], "failed", True),
    ],
)
def test_how_a_run_ended(pages: list[Reading], ended: str, votes: bool) -> None:
    run = made(*pages)
    assert (run.ended, run.votes) == (ended, votes)
    assert run.ended in OUTCOMES


def test_what_a_run_gives() -> None:
    first = reply(steps=8, new_tokens=40, tokens_per_second=9)
    run = made(first, reply("```\n| a | b |\n| c |\n```", steps=2))
    assert len(run.orders) == 1
    assert (run.pages, run.tables) == (2, 2)
    assert run.tokens == 40.0
    assert run.stats == {"steps": 10.0, "new_tokens": 40.0}
    assert math.isnan(run.seconds)
    assert run_of([reply()], [parse(TEXT)], FORM.schema, seconds=2.5).seconds == 2.5
    assert not run.strict
    assert "code_fence" in run.repairs
    assert len(set(run.repairs)) == len(run.repairs)
    assert "軸受" in run.text
    assert made(reply()).strict
    assert math.isnan(made(reply()).tokens)


def test_the_outcome_with_the_truth_at_hand() -> None:
    assert outcome_of(Run(), ORDER, CASE) == "ok"
    assert outcome_of(Run(), None, CASE) == "not_an_order"
    assert outcome_of(Run(ended="blank"), None, CASE) == "blank"
    assert outcome_of(Run(ended="blank"), None, BLANK) == "ok"
    assert outcome_of(Run(), None, BLANK) == "ok"
    assert outcome_of(Run(), ORDER, BLANK) == "invented_on_blank"
    assert outcome_of(Run(ended="looping"), ORDER, CASE) == "looping"
    assert outcome_of(failed_run("no"), None, BLANK) == "failed"


def row(run: Run, order: Order | None, case: Case = CASE, *, told: bool = True) -> dict:
    orders = () if order is None else (order,)
    return row_of(run, orders, order, [], Alignment(()), case, told=told)


def test_the_columns_of_the_table() -> None:
    where = {"document", "sheet", "transmission", "severity", "run"}
    assert {*row(Run(), ORDER), *where} == set(DOCUMENTS)


def test_what_a_person_is_told_of_a_document() -> None:
    flag = Flag("sum", "?", "?")
    flagged = replace(
        ORDER, fields=ORDER.fields | {"total": FieldValue(FieldState.READ, flags=(flag,))}
    )
    assert not row(Run(), ORDER)["flagged"]
    assert row(Run(), flagged)["flagged"]
    assert row(Run(), replace(ORDER, flags=(flag,)))["order_flags"] == ("sum",)
    assert row(Run(), None)["flagged"]
    assert not row(Run(), None, told=False)["flagged"]
    assert row(Run(ended="cut"), ORDER)["flagged"]
    assert not row(Run(ended="blank"), None, BLANK)["flagged"]
    assert row(Run(ended="blank"), None)["flagged"]


def test_statuses() -> None:
    assert row(Run(), ORDER)["status"] == "ok"
    assert row(Run(), None)["status"] == "not_an_order"
    assert row(Run(ended="blank"), None)["status"] == "blank"
    assert row(failed_run("no"), None)["status"] == "failed"
    assert row(Run(ended="looping"), ORDER)["status"] == "incomplete"


def test_an_order_is_right_when_there_is_one_and_nothing_is_wrong() -> None:
    assert row(Run(), ORDER)["order_right"]
    assert not row(Run(), None)["order_right"]
    assert not row_of(Run(), (ORDER, ORDER), ORDER, [], Alignment(()), CASE, told=True)[
        "order_right"
    ]
    assert row(Run(), None, BLANK)["order_right"]
    assert not row(Run(), ORDER, BLANK)["order_right"]
    assert not row(Run(ended="cut"), ORDER)["order_right"]


def test_a_record_is_one_answer_of_the_whole_product() -> None:
    readings = tuple(Reading("e", k) for k in range(3))
    record = Record(
        "a", DocumentStatus.OK, orders=(ORDER,), readings=readings, stats={"seconds": 4}
    )
    run = run_of_record(record)
    assert run.checked
    assert run.votes
    assert run.orders == (ORDER,)
    assert (run.seconds, run.stats["runs"]) == (4.0, 3.0)
    lost = run_of_record(Record("a", DocumentStatus.FAILED, "no such file"))
    assert (lost.ended, lost.votes, lost.error) == ("failed", False, "no such file")
