from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.cases import load_cases
from eval.outcomes import Form
from eval.reader import page_runs
from eval.runs import ABOUT, RUNS, Plan, about_of, perform, run_sets
from eval.scoring import score
from ocr_pipeline.engines.base import Reading, ReadingStatus
from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.errors import EngineError, OutputError, UnreadableFileError, UsageError
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Ink, Page
from ocr_pipeline.settings import Settings

FORM = Form(load_schema("purchase_order"))
WRONG = "# 発注書\n\n発注番号: A-7\n\n| 品名 | 数量 | 金額 |\n|---|---|---|\n| ボルト | 10 | 9 |\n"


def settings(model: Path, runs: int = 3, seed: int = 0) -> Settings:
    return Settings(FORM.schema, "scripted", str(model), {}, runs, seed)


def plan(bench: Any) -> Plan:
    truth = bench.sheets / "truth.json"
    return Plan(bench.sheets, truth, load_cases(truth))


def run(bench: Any, *scripts: object, runs: int = 3, **options: Any) -> bool:
    return perform(plan(bench), settings(bench.replies(*scripts), runs), bench.out, **options)


def lines(bench: Any) -> list[dict]:
    return [json.loads(x) for x in (bench.out / RUNS).read_text(encoding="utf-8").splitlines()]


def scores(bench: Any, **options: Any) -> Any:
    return score(run_sets(bench.out, plan(bench).cases, FORM, **options), about_of(bench.out))


def test_every_run_is_stored_and_scored(small_bench) -> None:
    assert run(small_bench, WRONG, {"fault": "raise"})
    assert [(x["document"], x["run"]) for x in lines(small_bench)] == [
        (name, k) for name in ("a.png", "b.png") for k in range(3)
    ]
    found = scores(small_bench)
    assert found.about["engine"] == "scripted"
    assert list(found.documents["run"]) == [0, 1, 2, -1] * 2
    assert list(found.documents["outcome"][:4]) == ["ok", "failed", "ok", "ok"]
    # A run that failed is kept, has everything wrong, and no vote.
    assert not found.values.loc[found.values["run"] == 1, "right"].any()
    votes = found.values.loc[(found.values["run"] == -1) & found.values["right"], "votes"]
    assert list(votes.unique()) == [pytest.approx(2 / 3)]


def test_each_run_has_its_seed(small_bench) -> None:
    perform(plan(small_bench), settings(small_bench.replies(), seed=40), small_bench.out)
    assert [x["reading"]["seed"] for x in lines(small_bench)[:3]] == [40, 41, 42]


def test_what_is_stored_is_not_run_again(small_bench) -> None:
    run(small_bench)
    before = (small_bench.out / RUNS).read_bytes()
    told: list[tuple[int, int]] = []
    assert run(small_bench, progress=lambda *done: told.append(done))
    assert (small_bench.out / RUNS).read_bytes() == before
    assert told == [(2, 2)]


def test_more_runs_are_added(small_bench) -> None:
    run(small_bench, runs=2)
    run(small_bench, runs=4)
    assert [x["run"] for x in lines(small_bench)] == [0, 1, 0, 1, 2, 3, 2, 3]
    assert about_of(small_bench.out)["runs"] == 4
    run(small_bench, runs=1)
    assert list(scores(small_bench).documents["run"].unique()) == [0, -1]


@pytest.mark.parametrize("cut", [1, 40, 900])
def test_a_folder_that_was_broken_off_anywhere_is_finished(small_bench, cut: int) -> None:
    run(small_bench)
    whole = scores(small_bench)
    path = small_bench.out / RUNS
    path.write_bytes(path.read_bytes()[:-cut])
    run(small_bench)
    assert len(lines(small_bench)) == 6
    assert whole.values.equals(scores(small_bench).values)


def test_an_interrupt_keeps_what_is_done(small_bench, monkeypatch) -> None:
    import eval.runs

    read_all = eval.runs.read_all

    def interrupted(scans, make, **options):
        yield from read_all(scans[:1], make, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("eval.runs.read_all", interrupted)
        assert not run(small_bench)
    assert {x["document"] for x in lines(small_bench)} == {"a.png"}
    with pytest.raises(UsageError, match="1 of 2 documents") as caught:
        scores(small_bench)
    assert "--partial" in caught.value.remedy
    assert set(scores(small_bench, partial=True).documents["document"]) == {"a.png"}
    assert run(small_bench)
    assert set(scores(small_bench).documents["document"]) == {"a.png", "b.png"}


def test_the_order_of_the_lines_does_not_matter(small_bench) -> None:
    run(small_bench)
    before = scores(small_bench)
    path = small_bench.out / RUNS
    shuffled = path.read_text(encoding="utf-8").splitlines(keepends=True)[::-1]
    path.write_text("".join(shuffled), encoding="utf-8")
    after = scores(small_bench)
    assert before.values.equals(after.values)
    assert before.documents.equals(after.documents)


def test_a_sheet_that_is_missing_is_kept_as_failed(small_bench) -> None:
    (small_bench.sheets / "b.png").unlink()
    assert run(small_bench)
    found = scores(small_bench)
    lost = found.documents[found.documents["document"] == "b.png"]
    assert set(lost["outcome"]) == {"failed"}
    assert "b.png" in lost["error"].iloc[0]
    values = found.values[found.values["document"] == "b.png"]
    assert not values["right"].any()
    assert values["flagged"].all()
    assert len(lines(small_bench)) == 6
    assert run(small_bench)
    assert len(lines(small_bench)) == 6


@pytest.mark.parametrize("what", ["settings", "file"])
def test_runs_of_something_else_do_not_mix(small_bench, what: str) -> None:
    run(small_bench)
    if what == "file":
        (small_bench.sheets / "a.png").write_bytes(b"another one")
    other = settings(small_bench.replies(), seed=1 if what == "settings" else 0)
    with pytest.raises(UsageError, match="something else") as caught:
        perform(plan(small_bench), other, small_bench.out)
    assert "--fresh" in caught.value.remedy
    assert perform(plan(small_bench), other, small_bench.out, fresh=True)
    assert len(lines(small_bench)) == 6


def test_no_runs(tmp_path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        about_of(tmp_path)


def test_a_broken_folder(small_bench) -> None:
    run(small_bench)
    about = small_bench.out / ABOUT
    about.write_text("{}", encoding="utf-8")
    with pytest.raises(UnreadableFileError):
        about_of(small_bench.out)
    with pytest.raises(OutputError):
        run(small_bench)


def test_a_folder_that_cannot_be_made(small_bench) -> None:
    small_bench.out.write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be stored"):
        run(small_bench)


class Many:
    """An engine that does several runs of a page at once."""

    name = "many"

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken
        self.asked: list[tuple[list[int], list[int]]] = []

    def read(self, page: Page, **_: Any) -> Reading:
        raise AssertionError("all runs are asked for together")

    def read_runs(self, page: Page, *, runs: Any, seeds: Any, **_: Any) -> list[Reading]:
        self.asked.append((list(runs), list(seeds)))
        if self.broken:
            raise ZeroDivisionError("by zero")
        asked = zip(runs, seeds, strict=True)
        return [Reading(self.name, k, seed, page.number, raw="x") for k, seed in asked]


@pytest.fixture
def page(small_bench) -> Page:
    (page,) = load_pages(small_bench.sheets / "a.png", "a.png")
    return page


def statuses(found: Any) -> list[tuple[int, ReadingStatus]]:
    return [(r.run, r.reading.status) for r in found]


def test_an_engine_that_does_many_runs_is_asked_once(page: Page) -> None:
    engine = Many()
    found = page_runs(engine, page, [1, 2], Settings(FORM.schema, seed=5), 1)
    assert engine.asked == [([1, 2], [6, 7])]
    assert statuses(found) == [(1, ReadingStatus.OK), (2, ReadingStatus.OK)]
    assert found[0].seconds == found[1].seconds > 0
    broken = page_runs(Many(broken=True), page, [0, 1], Settings(FORM.schema), 1)
    assert statuses(broken) == [(0, ReadingStatus.FAILED), (1, ReadingStatus.FAILED)]
    assert "by zero" in broken[0].reading.error


def test_an_engine_that_breaks_fails_this_run_and_no_other(page: Page) -> None:
    engine = ScriptedEngine([Script("x"), Script(fault="raise")])
    found = page_runs(engine, page, [0, 1, 2], Settings(FORM.schema), 1)
    assert statuses(found) == [
        (0, ReadingStatus.OK),
        (1, ReadingStatus.FAILED),
        (2, ReadingStatus.OK),
    ]
    assert "script says so" in found[1].reading.error


def test_pages_without_ink_are_not_read(page: Page) -> None:
    class Never:
        name = "never"

        def read(self, *_: Any, **__: Any) -> Reading:
            raise EngineError("a blank page was read")

    blank = page_runs(Never(), replace(page, ink=Ink.BLANK), [0], Settings(FORM.schema), 1)
    assert statuses(blank) == [(0, ReadingStatus.BLANK)]
    gone = replace(page, ink=Ink.DAMAGED, image=page.image[:1, :1])
    found = page_runs(Never(), gone, [0], Settings(FORM.schema), 1)
    assert statuses(found) == [(0, ReadingStatus.FAILED)]


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_document_and_no_other(small_bench, monkeypatch) -> None:
    """With real worker processes; the script ends the process at its second answer."""
    import ocr_pipeline.batch.pool

    monkeypatch.setattr("eval.runs.read_all", ocr_pipeline.batch.pool.read_all)
    assert run(small_bench, runs=1, workers=2)
    assert set(scores(small_bench).documents["outcome"]) == {"ok"}
    replies = small_bench.replies({"fault": "die"})
    assert perform(plan(small_bench), settings(replies, 1), small_bench.out, fresh=True)
    found = scores(small_bench).documents
    assert set(found["outcome"]) == {"failed"}
    assert found["error"].str.contains("died").all()


@pytest.mark.slow
def test_a_run_that_hangs_is_stopped(small_bench, monkeypatch) -> None:
    import ocr_pipeline.batch.pool

    monkeypatch.setattr("eval.runs.read_all", ocr_pipeline.batch.pool.read_all)
    assert run(small_bench, {"fault": "hang"}, runs=1, time_limit=1.0)
    found = scores(small_bench).documents
    assert set(found["outcome"]) == {"failed"}
    assert found["error"].str.contains("longer").all()
