from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from typer.testing import CliRunner

import eval.cli
from eval.cli import app
from ocr_pipeline.batch.pool import Outcome
from ocr_pipeline.errors import OcrPipelineError, SchemaError, UnreadableFileError, UsageError
from ocr_pipeline.export.record import from_json

FORM = """\
# 発注書

発注番号: A-1

| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| ボルト | 10 | 100 | 1,000 |
| | | 合計 | 1,000 |
"""
TRUTH = {
    "severity": 0,
    "fields": {"order_no": "A-1", "total": 1100},
    "rows": [{"item": "ボルト", "quantity": 10}, {"item": "軸受", "quantity": 3}],
}


@pytest.fixture
def sheets(tmp_path, monkeypatch):
    """A folder of two sheets and their truth; documents are read in this process."""
    folder = tmp_path / "sheets"
    folder.mkdir()
    image = Image.new("L", (240, 160), 255)
    pen = ImageDraw.Draw(image)
    for x in range(40, 200, 30):
        pen.rectangle((x, 60, x + 18, 74), outline=0, width=3)
    for name in ("a.png", "b.png"):
        image.save(folder / name, dpi=(200, 200))
    truth = {"a.png": TRUTH, "b.png": TRUTH | {"severity": 3}}
    (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    (tmp_path / "replies.json").write_text(json.dumps([FORM]), encoding="utf-8")

    def read_all(scans, make_reader, **_):
        read = make_reader()
        for scan in scans:
            yield Outcome(scan, read(*scan), 0.5)

    monkeypatch.setattr("ocr_pipeline.batch.run.read_all", read_all)
    monkeypatch.setenv("COLUMNS", "160")
    return folder


def invoke(*arguments: object, fails: bool = False):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=fails)


def run(sheets: Path, *more: object):
    return invoke(
        *("run", "--sheets", sheets, "-o", sheets.parent / "out", "--engine", "scripted"),
        *("--model", sheets.parent / "replies.json", "--runs", 1, *more),
    )


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def starts(text: str, *words: str) -> bool:
    """Whether some line begins with these words."""
    return list(words) in [line[: len(words)] for line in lines(text)]


def test_run_reads_and_scores(sheets) -> None:
    result = run(sheets)
    assert result.exit_code == 0, result.output
    table = lines(result.output)
    # Of six values the number, one item and its quantity are right; the total and a row are not.
    assert starts(result.output, "0", "1", "6", "50.0%", "50.0%", "50.0%")
    assert starts(result.output, "3", "1", "6")
    assert ["order_no", "1", "1"] in table
    assert ["total", "0", "0"] in table
    assert ["item", "50.0%", "50.0%"] in table
    record = from_json((sheets.parent / "out/documents/a.png.json").read_text(encoding="utf-8"))
    assert record.source == "a.png"


def test_score_needs_no_engine(sheets) -> None:
    first = run(sheets)
    again = invoke("score", sheets.parent / "out", "--truth", sheets / "truth.json")
    assert again.exit_code == 0
    assert again.output.split("per severity")[1] == first.output.split("per severity")[1]


def test_misses_are_listed(sheets) -> None:
    assert "wrong values" not in run(sheets).output
    result = run(sheets, "--misses")
    listed = [r for r in lines(result.output.split("wrong values")[1]) if r[:1] == ["a.png"]]
    assert [r[1] for r in listed] == ["total", "item", "quantity"]
    assert starts(result.output, "a.png", "total", "1100", "1000")
    assert starts(result.output, "a.png", "item", "2", "軸受")


def test_a_sheet_that_is_missing_is_scored_as_failed(sheets) -> None:
    (sheets / "b.png").unlink()
    result = run(sheets)
    assert result.exit_code == 0
    assert ["3", "1", "6", "0", "0", "0", "1", "0", "0"] in lines(result.output)


def test_a_sheet_without_a_record_is_scored_as_silent(sheets) -> None:
    run(sheets)
    (sheets.parent / "out/documents/b.png.json").unlink()
    result = invoke("score", sheets.parent / "out", "--truth", sheets / "truth.json")
    assert ["3", "1", "6", "0", "0", "0", "0", "0", "1"] in lines(result.output)


def test_another_truth_file(sheets, tmp_path) -> None:
    other = tmp_path / "other.json"
    right = {"severity": 0, "fields": {"order_no": "A-1"}, "rows": []}
    other.write_text(json.dumps({"a.png": right}), encoding="utf-8")
    assert starts(run(sheets, "--truth", other).output, "0", "1", "1", "1", "1", "1")


def test_records_of_a_folder_read_by_name(sheets) -> None:
    run(sheets)
    documents = sheets.parent / "out" / "documents"
    (documents / "sub").mkdir()
    text = (documents / "a.png.json").read_text(encoding="utf-8")
    moved = text.replace('"source": "a.png"', '"source": "sub/a.png"', 1)
    (documents / "sub" / "a.png.json").write_text(moved, encoding="utf-8")
    (documents / "a.png.json").unlink()
    result = invoke("score", sheets.parent / "out", "--truth", sheets / "truth.json")
    assert ["order_no", "1", "1"] in lines(result.output)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["run", "--sheets", "EMPTY"], UsageError, "truth.json"),
        (["run", "--sheets", "SHEETS", "--truth", "gone.json"], UsageError, "gone.json"),
        (["run", "--sheets", "SHEETS", "--schema", "invoice"], SchemaError, "invoice"),
        (["run", "--sheets", "SHEETS", "-o", "OUT", "--engine", "magic"], UsageError, "magic"),
        (["score", "EMPTY", "--truth", "TRUTH"], UsageError, "no records"),
        (["score", "EMPTY", "--truth", "gone.json"], UsageError, "gone.json"),
    ],
)
def test_what_cannot_work(sheets, tmp_path, arguments, error, said) -> None:
    (tmp_path / "empty").mkdir()
    places = {
        "EMPTY": tmp_path / "empty",
        "SHEETS": sheets,
        "TRUTH": sheets / "truth.json",
        "OUT": tmp_path / "o",
    }
    result = invoke(*(places.get(a, a) for a in arguments), fails=True)
    assert isinstance(result.exception, error)
    assert said in result.exception.message
    assert result.exception.remedy


def test_a_broken_record(sheets) -> None:
    run(sheets)
    (sheets.parent / "out/documents/a.png.json").write_text("{}")
    result = invoke("score", sheets.parent / "out", "--truth", sheets / "truth.json", fails=True)
    assert isinstance(result.exception, UnreadableFileError)


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["score", "--help"]])
def test_help(arguments: list[str]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert "truth is known" in result.output or "score" in result.output.lower()


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
