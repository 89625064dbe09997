from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import eval.cli
from eval.bench import Bench
from eval.cli import app
from eval.tidy import load
from ocr_pipeline.errors import (
    MissingExtraError,
    OcrPipelineError,
    SchemaError,
    UnreadableFileError,
    UsageError,
)
from ocr_pipeline.export.record import DocumentStatus, Record, to_json

# a.png and b.png: of six values the number, one item and its quantity are right in each.
OTHER = "# 発注書\n\n発注番号: A-7\n\n| 品名 | 数量 | 金額 |\n|---|---|---|\n| ボルト | 10 | 9 |\n"


@pytest.fixture(autouse=True)
def reports(monkeypatch, request) -> list[dict[str, Any]]:
    """Reports that were asked for; only tests that are marked `whole` write them."""
    asked: list[dict[str, Any]] = []

    def write_report(scores, out, **options):
        asked.append({"scores": scores, "out": out, **options})
        return out / "report.html"

    if "whole" not in request.fixturenames:
        monkeypatch.setattr("eval.report.write_report", write_report)
    return asked


@pytest.fixture
def whole() -> None:
    """Asks for the real report."""


def invoke(*arguments: object, fails: bool = False) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=fails)


def run(bench: Any, *more: object, replies: tuple[object, ...] = (), runs: int = 1) -> Result:
    model = bench.replies(*replies)
    return invoke(
        *("run", "--sheets", bench.sheets, "-o", bench.out, "--engine", "scripted"),
        *("--model", model, "--runs", runs, *more),
    )


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def starts(text: str, *words: str) -> bool:
    """Whether some line begins with these words."""
    return list(words) in [line[: len(words)] for line in lines(text)]


def test_run_reads_and_scores(small_bench, reports) -> None:
    result = run(small_bench)
    assert result.exit_code == 0, result.output
    assert starts(result.output, "0", "1", "6", "50.0%", "50.0%", "50.0%")
    assert starts(result.output, "3", "1", "6")
    table = lines(result.output)
    assert ["order_no", "1", "1"] in table
    assert ["total", "0", "0"] in table
    assert ["item", "50.0%", "50.0%"] in table
    assert "of the values are right" in result.output
    assert f"the report: {small_bench.out / 'report.html'}" in result.output
    (asked,) = reports
    assert asked["title"].startswith("scripted")
    assert asked["images"]("a.png", 1).shape == (160, 240)
    assert asked["images"]("a.png", 2) is None
    assert asked["images"]("gone.png", 1) is None
    assert len(load(small_bench.out).values) == len(asked["scores"].values)


def test_score_needs_no_engine_and_gives_the_same_bytes(small_bench, reports) -> None:
    first = run(small_bench, runs=3, replies=(OTHER,))
    before = {p.name: p.read_bytes() for p in small_bench.out.iterdir()}
    (small_bench.sheets.parent / "replies.json").unlink()
    again = invoke("score", small_bench.out)
    assert again.exit_code == 0
    assert again.output.strip() == first.output.strip()
    assert {p.name: p.read_bytes() for p in small_bench.out.iterdir()} == before
    elsewhere = small_bench.out.parent / "elsewhere"
    invoke("score", small_bench.out, "-o", elsewhere)
    assert (elsewhere / "values.csv").read_bytes() == before["values.csv"]


def test_the_consensus_curve_is_kept(small_bench, reports) -> None:
    run(small_bench, runs=3)
    curve = load(small_bench.out).curve
    assert list(curve["k"]) == [1, 2, 3] * 2
    assert list(curve["right"]) == [3.0] * 6


def test_misses_are_listed(small_bench) -> None:
    assert "wrong values" not in run(small_bench).output
    result = run(small_bench, "--misses")
    listed = [r for r in lines(result.output.split("wrong values")[1]) if r[:1] == ["a.png"]]
    assert [r[1] for r in listed] == ["total", "item", "quantity"]
    assert starts(result.output, "a.png", "total", "1100", "1000", "wrong")
    assert starts(result.output, "a.png", "item", "2", "軸受", "missing_row")


def test_how_runs_ended(small_bench) -> None:
    assert "how runs ended" not in run(small_bench).output
    result = run(small_bench, "--fresh", replies=({"fault": "raise"}, {"fault": "looping"}), runs=2)
    assert starts(result.output, "failed", "2")
    assert starts(result.output, "looping", "2")


def test_only_the_first_sheets(small_bench) -> None:
    result = run(small_bench, "--limit", 1)
    assert not starts(result.output, "3", "1", "6")
    assert set(load(small_bench.out).documents["document"]) == {"a.png"}


def test_a_bench_set(small_bench, monkeypatch, reports) -> None:
    monkeypatch.setattr(
        "eval.bench.load_bench", lambda name: (Bench(name=name, about=""), Path("x.yaml"))
    )
    monkeypatch.setattr("eval.bench.make_bench", lambda *_, **__: small_bench.sheets)
    arguments = ("--engine", "scripted", "--model", small_bench.replies(), "--runs", 1)
    result = invoke("run", "--bench", "tiny", "-o", small_bench.out, *arguments)
    assert result.exit_code == 0
    assert reports[0]["scores"].about["bench"] == "tiny"
    assert invoke("bench", "tiny").output.strip() == str(small_bench.sheets)


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("jinja2", "eval", ["score", "OUT"]),
        ("jinja2", "eval", ["compare", "OUT", "SHEETS"]),
        ("fontTools", "synth", ["run", "--bench", "quick"]),
    ],
)
def test_an_extra_that_is_not_installed(
    small_bench, monkeypatch, package: str, extra: str, arguments: list[str]
) -> None:
    run(small_bench)
    monkeypatch.setattr(
        "ocr_pipeline.engines.registry.find_spec", lambda name: None if name == package else name
    )
    places = {"OUT": small_bench.out, "SHEETS": small_bench.sheets}
    result = invoke(*(places.get(a, a) for a in arguments), fails=True)
    assert isinstance(result.exception, MissingExtraError)
    assert f"ocr-pipeline[{extra}]" in result.exception.remedy


def test_broken_off(small_bench, monkeypatch) -> None:
    def interrupted(*_: object, **__: object):
        raise KeyboardInterrupt
        yield

    with monkeypatch.context() as patch:
        patch.setattr("eval.runs.read_all", interrupted)
        result = run(small_bench)
    assert result.exit_code == 130
    assert "goes on" in result.output
    assert run(small_bench).exit_code == 0


def test_somebody_elses_markdown(small_bench, tmp_path, reports) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "a.md").write_text(f"```\n{OTHER}```", encoding="utf-8")
    result = invoke(
        *("score", "--predictions", folder, "--truth", small_bench.sheets / "truth.json"),
        *("-o", small_bench.out),
    )
    assert result.exit_code == 0, result.output
    assert starts(result.output, "failed", "1")
    scores = load(small_bench.out)
    assert scores.about["engine"] == "predictions"
    documents = scores.documents.set_index(["document", "run"])
    assert "code_fence" in documents.loc[("a.png", 0), "repairs"]
    assert not documents.loc[("a.png", 0), "strict"]


def test_records_of_a_batch(small_bench, tmp_path, reports) -> None:
    folder = tmp_path / "batch"
    (folder / "documents").mkdir(parents=True)
    for name in ("a.png", "b.png"):
        record = Record(f"scans/{name}", DocumentStatus.FAILED, "broken")
        (folder / "documents" / f"{name}.json").write_text(to_json(record), encoding="utf-8")
    result = invoke("score", folder, "--truth", small_bench.sheets / "truth.json")
    assert result.exit_code == 0, result.output
    assert starts(result.output, "0", "1", "6", "0", "0", "0", "1", "0", "0")
    assert (folder / "eval" / "values.csv").is_file()


def test_a_sheet_without_a_record_is_scored_as_silent(small_bench, tmp_path) -> None:
    folder = tmp_path / "batch"
    (folder / "documents").mkdir(parents=True)
    record = to_json(Record("a.png", DocumentStatus.FAILED, "broken"))
    (folder / "documents" / "a.png.json").write_text(record, encoding="utf-8")
    result = invoke("score", folder, "--truth", small_bench.sheets / "truth.json")
    assert ["3", "1", "6", "0", "0", "0", "0", "0", "1"] in lines(result.output)


def test_another_truth_file(small_bench, tmp_path) -> None:
    other = tmp_path / "other.json"
    right = {"severity": 0, "fields": {"order_no": "A-1"}, "rows": []}
    other.write_text(json.dumps({"a.png": right}), encoding="utf-8")
    assert starts(run(small_bench, "--truth", other).output, "0", "1", "1", "1", "1", "1")


@pytest.mark.slow
def test_compare(small_bench, whole) -> None:
    run(small_bench)
    worse = small_bench.out.parent / "worse"
    run(small_bench, "-o", worse, "--fresh", replies=(OTHER,))
    result = invoke("compare", small_bench.out, worse)
    assert result.exit_code == 0, result.output
    assert "worse" in result.output
    assert (worse / "comparison.html").is_file()
    same = invoke("compare", small_bench.out, small_bench.out, fails=True)
    assert isinstance(same.exception, UsageError)


@pytest.mark.slow
def test_everything_together(small_bench, whole) -> None:
    result = run(small_bench, runs=2, replies=(OTHER, {"fault": "raise"}))
    assert result.exit_code == 0, result.output
    for name in ("report.html", "report.md", "results.json", "values.csv", "runs.jsonl"):
        assert (small_bench.out / name).is_file(), name
    before = {p.name: p.read_bytes() for p in small_bench.out.iterdir()}
    invoke("score", small_bench.out)
    assert {p.name: p.read_bytes() for p in small_bench.out.iterdir()} == before


def test_sweep(small_bench, monkeypatch, reports) -> None:
    def prepare(engine: str, model: str, options: dict[str, str]) -> object:
        assert set(options) <= {"threads"}
        return lambda: __import__(
            "ocr_pipeline.engines.scripted", fromlist=["x"]
        ).ScriptedEngine.load(model)

    monkeypatch.setattr("eval.steps.prepare_engine", prepare)
    monkeypatch.setattr("eval.reader.prepare_engine", prepare)
    arguments = ("--engine", "scripted", "--model", small_bench.replies(), "--runs", 1)
    result = invoke(
        *("sweep", "--over", "threads=1,2", "--sheets", small_bench.sheets),
        *("-o", small_bench.out, *arguments),
    )
    assert result.exit_code == 0, result.output
    assert starts(result.output, "threads=1", "2", "50.0%", "50.0%")
    assert starts(result.output, "threads=2", "2")
    assert load(small_bench.out / "threads=2").about["options"] == {"threads": "2"}
    swept = (small_bench.out / "sweep.csv").read_text(encoding="utf-8").splitlines()
    assert swept[0].startswith("setting,documents,single,right")
    assert len(swept) == 3
    assert [r["out"].name for r in reports] == ["threads=1", "threads=2"]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["run", "--sheets", "EMPTY"], UsageError, "truth.json"),
        (["run", "--bench", "nothing"], UsageError, "nothing"),
        (["run", "--sheets", "SHEETS", "--truth", "gone.json"], UsageError, "gone.json"),
        (["run", "--sheets", "SHEETS", "--schema", "invoice"], SchemaError, "invoice"),
        (["run", "--sheets", "SHEETS", "-o", "OUT", "--engine", "magic"], UsageError, "magic"),
        (["run", "--sheets", "SHEETS", "-o", "OUT", "-O", "threads"], UsageError, "threads"),
        (["sweep", "--sheets", "SHEETS", "--over", "steps"], UsageError, "steps"),
        (["score"], UsageError, "what is to be scored"),
        (["score", "EMPTY"], UsageError, "no runs in it"),
        (["score", "nosuch"], UsageError, "nosuch: there is no such folder"),
        (["score", "RECORDS"], UsageError, "the truth is not known"),
        (["score", "EMPTY", "--truth", "TRUTH"], UsageError, "no records"),
        (["score", "RECORDS", "--truth", "gone.json"], UsageError, "gone.json"),
        (["score", "--predictions", "EMPTY", "--truth", "TRUTH"], UsageError, "belongs"),
        (["score", "EMPTY", "--predictions", "EMPTY"], UsageError, "what is to be scored"),
        (["compare", "EMPTY", "SHEETS"], UsageError, "no scores"),
    ],
)
def test_what_cannot_work(small_bench, tmp_path, arguments, error, said) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "records" / "documents").mkdir(parents=True)
    (tmp_path / "records" / "documents" / "a.png.json").touch()
    places = {
        "EMPTY": tmp_path / "empty",
        "RECORDS": tmp_path / "records",
        "SHEETS": small_bench.sheets,
        "TRUTH": small_bench.sheets / "truth.json",
        "OUT": tmp_path / "o",
    }
    result = invoke(*(places.get(a, a) for a in arguments), fails=True)
    assert isinstance(result.exception, error)
    assert said in result.exception.message
    assert result.exception.remedy


@pytest.mark.parametrize("broken", ["{", "[1]", "{}"])
def test_a_broken_line(small_bench, broken: str) -> None:
    run(small_bench)
    path = small_bench.out / "runs.jsonl"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{first}\n{broken}\n", encoding="utf-8")
    model = small_bench.out.parent / "replies.json"
    again = (
        *("run", "--sheets", small_bench.sheets, "-o", small_bench.out),
        *("--engine", "scripted", "--model", model, "--runs", 1),
    )
    for command in (again, ("score", small_bench.out)):
        error = invoke(*command, fails=True).exception
        assert isinstance(error, UnreadableFileError)
        assert f"{path}, line 2," in error.message
        assert error.remedy.startswith("delete that line and run the same command again")
    path.write_text(f"{first}\n", encoding="utf-8")
    assert invoke(*again).exit_code == 0
    stored = path.read_text(encoding="utf-8").splitlines()
    assert stored[0] == first
    assert [json.loads(line)["document"] for line in stored] == ["a.png", "b.png"]


@pytest.mark.parametrize("command", ["run", "score", "compare", "sweep", "bench"])
def test_help(command: str) -> None:
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert command in result.output
    assert "truth is known" in invoke("--help").output


def test_main_prints_the_remedy(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(sys, "argv", ["eval", "run", "--sheets", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        eval.cli.main()
    assert ended.value.code == UsageError.exit_code
    printed = capsys.readouterr()
    assert "truth.json" in printed.err
    assert "→ give --truth" in printed.err


@pytest.mark.parametrize("code", [OcrPipelineError.exit_code, SchemaError.exit_code])
def test_main_exits_with_the_code_of_the_error(monkeypatch, capsys, code: int) -> None:
    def broken() -> None:
        raise next(k for k in (OcrPipelineError, SchemaError) if k.exit_code == code)("no")

    monkeypatch.setattr(eval.cli, "app", broken)
    with pytest.raises(SystemExit) as ended:
        eval.cli.main()
    assert ended.value.code == code
    assert "error: no" in capsys.readouterr().err
