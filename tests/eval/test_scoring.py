from __future__ import annotations

import math
from dataclasses import replace

import pytest

from eval.cases import Case
from eval.documents import Run, failed_run
from eval.outcomes import Form
from eval.predictions import run_of_markdown, run_of_values
from eval.scoring import RunSet, consensus_of, score
from eval.tidy import CONSENSUS
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))
CASE = Case("a.tif", 2, {"order_no": "A-1", "total": 1100}, ({"item": "軸受"},))


def answer(number: str, total: int = 1100) -> Run:
    fields = {"order_no": number, "total": total}
    return run_of_values({"fields": fields, "rows": [{"item": "軸受"}]}, FORM)


def runs(*found: Run, case: Case = CASE) -> RunSet:
    return RunSet(case, found, FORM)


def test_every_run_and_the_consensus_of_all() -> None:
    scores = score([runs(answer("A-1"), answer("A-7"), answer("A-1"))], {"engine": "x"})
    number = scores.values[scores.values["field"] == "order_no"]
    assert list(number["run"]) == [0, 1, 2, CONSENSUS]
    assert list(number["right"]) == [True, False, True, True]
    assert list(number["votes"].round(3))[3] == 0.667
    assert number["votes"].isna().tolist() == [True, True, True, False]
    assert scores.about == {"engine": "x"}
    assert len(scores.documents) == 4


def test_the_consensus_of_some_runs() -> None:
    found = runs(answer("A-1"), answer("A-7"), answer("A-7"))
    by_subset = {
        subset: next(r["read"] for r in consensus_of(found, subset) if r["field"] == "order_no")
        for subset in ((0,), (1,), (0, 1, 2))
    }
    assert by_subset == {(0,): "A-1", (1,): "A-7", (0, 1, 2): "A-7"}
    assert {r["run"] for r in consensus_of(found, (0,))} == {CONSENSUS}


def test_a_run_that_failed_is_behind_no_value() -> None:
    scores = score([runs(answer("A-1"), failed_run("no"))], {})
    together = scores.values[scores.values["run"] == CONSENSUS]
    assert together["right"].all()
    assert set(together["votes"]) == {0.5}
    alone = scores.documents.set_index("run")
    assert alone.loc[1, "outcome"] == "failed"
    assert alone.loc[CONSENSUS, "outcome"] == "ok"
    assert alone.loc[CONSENSUS, "error"] == "no"
    # As in the pipeline, a person hears that some of the runs are missing.
    assert alone.loc[CONSENSUS, "status"] == "incomplete"
    assert alone.loc[CONSENSUS, "flagged"]


@pytest.mark.parametrize("told", [True, False])
def test_nothing_but_failures(told: bool) -> None:
    found = replace(runs(failed_run("no"), failed_run("no")), told=told)
    scores = score([found], {})
    assert not scores.values["right"].any()
    assert set(scores.values["error"]) == {"failed"}
    assert set(scores.values["flagged"]) == {told}
    assert set(scores.documents["flagged"]) == {True}
    assert set(scores.documents["outcome"]) == {"failed"}


def test_the_cost_of_a_consensus_is_that_of_its_runs() -> None:
    costly = replace(answer("A-1"), seconds=2.0, tokens=50.0, stats={"seconds": 2.0, "steps": 8.0})
    documents = score([runs(costly, costly, costly)], {}).documents.set_index("run")
    assert documents.loc[CONSENSUS, "seconds"] == 6.0
    assert documents.loc[0, "tokens"] == 50.0
    assert documents.loc[CONSENSUS, "stats"] == {"seconds": 6.0, "steps": 24.0}
    unknown = score([runs(costly, answer("A-1"))], {}).documents.set_index("run")
    assert math.isnan(unknown.loc[CONSENSUS, "seconds"])


def test_an_order_invented_on_a_blank_page() -> None:
    blank = Case("b.tif", 1, {}, ())
    empty = run_of_markdown("", FORM)
    scores = score([runs(answer("A-1"), replace(empty, ended="blank"), case=blank)], {})
    assert list(scores.documents["outcome"]) == ["invented_on_blank", "ok", "invented_on_blank"]
    assert list(scores.documents["order_right"]) == [False, True, False]
    assert set(scores.values["error"]) == {"extra_row"}
    assert scores.values["extra"].all()


def test_the_items_that_a_preset_scores() -> None:
    items = (
        (("order_no", None), "A-1"),
        (("total", None), "¥1,100"),
        (("item", 0), "軸受"),
        (("title", None), "発注書"),
        (("acceptance", None), "検収"),
    )
    markdown = (
        "発 注 書\n\n発注番号: A-1\n\n| 品名 | 数量 | 金額 |\n|---|---|---|\n| 軸受 | 1 | 9 |\n"
    )
    found = score([runs(run_of_markdown(markdown, FORM), case=replace(CASE, checklist=items))], {})
    assert list(found.checklist["run"]) == [0] * 5 + [CONSENSUS] * 5
    assert list(found.checklist["item"][:5]) == [
        "order_no",
        "total",
        "item[1]",
        "title",
        "acceptance",
    ]
    assert list(found.checklist["right"][:5]) == [True, False, True, True, False]


def test_transmissions_keep_their_sheet() -> None:
    sent = replace(CASE, source="a_t1.tif", sheet="a", transmission=1)
    scores = score([runs(answer("A-1"), case=sent), runs(answer("A-1"))], {})
    keys = scores.documents[["document", "sheet", "transmission"]].drop_duplicates()
    assert keys.to_numpy().tolist() == [["a_t1.tif", "a", 1], ["a.tif", "a.tif", 0]]


def test_no_documents() -> None:
    scores = score([], {})
    assert len(scores.values) == len(scores.documents) == len(scores.checklist) == 0
