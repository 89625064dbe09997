from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from openpyxl import load_workbook
from PIL import Image, ImageDraw

from ocr_pipeline import cli
from ocr_pipeline.batch.pool import Outcome, failed
from ocr_pipeline.doctor import Diagnosis
from ocr_pipeline.errors import InputError

FORM = """\
# 発注書

㈱髙橋商事 御中

発注番号: A-1

| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| ボルト | 10 | 12.50 | 125 |
| | | 小計 | 125 |
| | | 消費税 | 12 |
| | | 合計 | 137 |
"""


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs a command in this process, as `main` does; documents are read here too."""

    def read_all(scans, make_reader, **_):
        reader = None
        for scan in scans:
            reader = reader or make_reader()
            try:
                yield Outcome(scan, reader(*scan), 0.5)
            except InputError as error:
                yield Outcome(scan, failed(scan.source, str(error)), 0.5)

    monkeypatch.setattr("ocr_pipeline.batch.run.read_all", read_all)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["ocr-pipeline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


def draw(path: Path) -> None:
    image = Image.new("L", (240, 160), 255)
    pen = ImageDraw.Draw(image)
    for x in range(40, 200, 30):
        pen.rectangle((x, 60, x + 18, 74), outline=0, width=3)
    image.save(path, dpi=(200, 200))


@pytest.fixture
def scans(tmp_path):
    """A folder with two pages with ink, a blank one, and a text file."""
    folder = tmp_path / "scans"
    (folder / "sub").mkdir(parents=True)
    draw(folder / "a.png")
    draw(folder / "sub" / "b.png")
    pen = Image.new("L", (240, 160), 255)
    pen.save(folder / "blank.png", dpi=(200, 200))
    (folder / "notes.txt").write_text("no scan")
    return folder


@pytest.fixture
def replies(tmp_path):
    """Writes the replies of a scripted engine and gives the arguments that use them."""

    def write(*entries: object) -> tuple[str, ...]:
        path = tmp_path / "replies.json"
        path.write_text(json.dumps(list(entries) or [FORM]), encoding="utf-8")
        return ("--engine", "scripted", "--model", str(path))

    return write


def rows(path: Path, encoding: str = "utf-8-sig") -> list[list[str]]:
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.reader(file))


# --- read ---


def test_a_folder_becomes_orders(command, scans, replies, tmp_path) -> None:
    out = tmp_path / "out"
    done = command("read", scans, "-o", out, *replies(), "--runs", 2, "--seed", 5)
    assert done.code == 0, done.err
    assert "3 read, 0 done before" in done.out
    assert "1 blank, 2 ok" in done.out
    assert "1 files of other kinds were passed over" in done.out
    assert "to check" in done.out
    assert {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()} == {
        *("orders.csv", "lines.csv", "review.csv", "orders.xlsx", "run.json", "ledger.sqlite"),
        *(
            f"documents/{name}.{kind}"
            for name in ("a.png", "sub/b.png", "blank.png")
            for kind in ("json", "md")
        ),
    }
    table = rows(out / "orders.csv")
    assert [r for r in table if "株式会社髙橋商事" in r and "137" in r]
    assert any("12.50" in r for r in rows(out / "lines.csv"))
    assert load_workbook(out / "orders.xlsx").sheetnames == ["発注", "明細", "要確認"]
    record = json.loads((out / "documents" / "sub" / "b.png.json").read_text(encoding="utf-8"))
    assert (record["source"], record["status"]) == ("sub/b.png", "ok")
    assert [(r["run"], r["seed"]) for r in record["readings"]] == [(0, 5), (1, 6)]
    about = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert about["seeds"] == [5, 6]
    assert about["settings"]["engine"] == "scripted"


def test_the_second_time_nothing_is_read(command, scans, replies, tmp_path) -> None:
    arguments = ("read", scans, "-o", tmp_path / "out", *replies(), "--runs", 1)
    assert "3 read, 0 done before" in command(*arguments).out
    before = rows(tmp_path / "out" / "orders.csv")
    assert "0 read, 3 done before" in command(*arguments).out
    assert rows(tmp_path / "out" / "orders.csv") == before
    assert "3 read, 0 done before" in command(*arguments, "--fresh").out
    assert "3 read, 0 done before" in command(*arguments[:-1], 2).out


def test_kinds_and_encoding_of_tables(command, scans, replies, tmp_path) -> None:
    arguments = ("read", scans / "a.png", *replies(), "--runs", 1)
    done = command(*arguments, "-o", tmp_path / "x", "--format", "csv", "--csv-encoding", "cp932")
    assert done.code == 0
    assert not (tmp_path / "x" / "orders.xlsx").exists()
    assert any("株式会社髙橋商事" in r for r in rows(tmp_path / "x" / "orders.csv", "cp932"))
    command(*arguments, "-o", tmp_path / "y", "--format", "xlsx")
    assert (tmp_path / "y" / "orders.xlsx").exists()
    assert not (tmp_path / "y" / "orders.csv").exists()
    assert (tmp_path / "y" / "documents" / "a.png.json").exists()


def test_a_broken_file_fails_alone(command, scans, replies, tmp_path) -> None:
    (scans / "broken.tif").write_bytes(b"II*\0broken")
    arguments = ("read", scans, "-o", tmp_path / "out", *replies(), "--runs", 1)
    done = command(*arguments)
    assert done.code == 10
    assert "1 failed" in done.out
    assert "2 ok" in done.out
    review = (tmp_path / "out" / "review.csv").read_text(encoding="utf-8-sig")
    assert "broken.tif" in review
    again = command(*arguments)
    assert (again.code, "1 read, 3 done before" in again.out) == (10, True)


def test_an_engine_that_breaks_fails_the_document(command, scans, replies, tmp_path) -> None:
    engine = replies({"text": "", "fault": "raise"})
    done = command("read", scans / "a.png", "-o", tmp_path / "out", *engine, "--runs", 2)
    assert done.code == 10
    record = json.loads((tmp_path / "out/documents/a.png.json").read_text(encoding="utf-8"))
    assert record["status"] == "failed"
    assert "the script says so" in record["error"]


def test_a_letter_is_no_order(command, scans, replies, tmp_path) -> None:
    done = command("read", scans / "a.png", "-o", tmp_path / "out", *replies("拝啓"), "--runs", 1)
    assert (done.code, "1 not_an_order" in done.out) == (0, True)


def test_how_much_is_printed(command, scans, replies, tmp_path) -> None:
    arguments = ("read", scans, *replies(), "--runs", 1, "-o")
    quiet = command(*arguments, tmp_path / "q", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    verbose = command(*arguments, tmp_path / "v", "--verbose")
    assert "sub/b.png: ok" in verbose.out
    assert "blank.png: blank" in verbose.out
    assert "done before" in command(*arguments, tmp_path / "v", "-v").out.split("3 done")[0]


def test_a_schema_of_one_s_own(command, scans, replies, tmp_path) -> None:
    form = tmp_path / "form.yaml"
    form.write_text(
        "name: quotation\ntitle: 見積依頼\ntitles: [見積依頼書]\n"
        "fields:\n  request: {label: 依頼番号, kind: code}\n"
        "rows:\n  part: {label: 部品名, kind: name}\n  pieces: {label: 予定数, kind: number}\n",
        encoding="utf-8",
    )
    text = "見積依頼書\n\n依頼番号: Q-7\n\n| 部品名 | 予定数 |\n|---|---|\n| 軸受 | 8 |\n"
    out = tmp_path / "out"
    done = command(
        "read", scans / "a.png", "-o", out, *replies(text), "--schema", form, "--runs", 1
    )
    assert done.code == 0
    header, order = rows(out / "orders.csv")
    assert order[header.index("request")] == "Q-7"
    assert json.loads((out / "run.json").read_text())["settings"]["schema"] == "quotation"


@pytest.mark.parametrize(
    ("arguments", "code", "message", "remedy"),
    [
        (["gone.tif"], 2, "gone.tif does not exist", "give the path of a scan"),
        (["EMPTY"], 2, "nothing to read there", ".tif"),
        (["A", "--engine", "magic"], 2, "no engine 'magic'", "ppocr"),
        (["A", "--engine", "scripted"], 2, "needs replies", "--model"),
        (["A", "-O", "colour=red"], 2, "no option colour", "known:"),
        (["A", "-O", "threads"], 2, "sets nothing", "key=value"),
        (["A", "-O", "=3"], 2, "sets nothing", "key=value"),
        (["A", "-O", "threads=many"], 2, "threads", "'many'"),
        (["A", "--model", "x"], 2, "ppocr has one model", "leave --model out"),
        (["A", "--schema", "invoice"], 4, "no schema 'invoice'", "purchase_order"),
        (["A", "--engine", "scripted", "--model", "gone.json"], 2, "gone.json", "JSON list"),
    ],
)
def test_what_cannot_work_says_what_to_do(
    command, scans, tmp_path, monkeypatch, arguments, code, message, remedy
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    places = {"A": str(scans / "a.png"), "EMPTY": str(tmp_path / "empty")}
    done = command("read", *(places.get(a, a) for a in arguments), "-o", tmp_path / "out")
    assert done.code == code
    assert message in done.err
    assert "→" in done.err
    assert remedy in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--runs", "0"),
        ("--runs", "many"),
        ("--workers", "-1"),
        ("--seed", "-1"),
        ("--format", "pdf"),
        ("--csv-encoding", "utf-7"),
        ("--time-limit", "-3"),
    ],
)
def test_values_out_of_range(command, scans, option: str, value: str) -> None:
    done = command("read", scans, option, value)
    assert done.code == 2
    assert f"Invalid value for '{option}'" in done.err


def test_nothing_given(command) -> None:
    assert command("read").code == 2
    assert "Usage" in command().err + command().out


# --- help ---


@pytest.mark.parametrize(
    ("arguments", "taught"),
    [
        (["--help"], ["read", "doctor", "eval", "sheets", "purchase orders"]),
        (["read", "--help"], ["--engine", "--model", "--option", "--runs", "--seed", "--schema"]),
        (["read", "--help"], ["--workers", "--fresh", "--format", "--csv-encoding", "cp932"]),
        (["read", "--help"], ["--quiet", "--verbose", "--time-limit", "orders.xlsx", "Exit code"]),
        (["doctor", "--help"], ["what is missing"]),
        (["eval", "--help"], ["run", "score"]),
        (["eval", "run", "--help"], ["--sheets", "--truth", "--runs", "--misses"]),
        (["eval", "score", "--help"], ["--truth"]),
        (["sheets", "--help"], ["sheets"]),
    ],
)
def test_help_teaches(command, arguments: list[str], taught: list[str]) -> None:
    done = command(*arguments)
    assert done.code == 0
    for word in taught:
        assert word in done.out


def test_every_option_of_read_has_a_sentence() -> None:
    from typer.main import get_command

    read = get_command(cli.app).commands["read"]  # type: ignore[attr-defined]
    for parameter in read.params:
        if parameter.name != "help":
            assert len(parameter.help or "") > 10, parameter.name


# --- doctor ---


def test_doctor(command) -> None:
    done = command("doctor")
    assert done.code == 0
    for what in ("python", "opencv", "engine ppocr", "poppler", "gpu"):
        assert what in done.out


def test_doctor_with_something_broken(command, monkeypatch) -> None:
    found = [
        Diagnosis("python", "ok", "3.12"),
        Diagnosis("engine x", "broken", "[none]", 'pip install "ocr-pipeline[x]"'),
        Diagnosis("extra y", "optional", "missing", "get it"),
    ]
    monkeypatch.setattr("ocr_pipeline.doctor.diagnose", lambda: iter(found))
    done = command("doctor")
    assert done.code == 1
    assert 'pip install "ocr-pipeline[x]"' in done.out
    assert "[none]" in done.out


def test_doctor_is_content_with_what_is_optional(command, monkeypatch) -> None:
    found = [Diagnosis("extra y", "optional", "missing", "get it")]
    monkeypatch.setattr("ocr_pipeline.doctor.diagnose", lambda: iter(found))
    assert command("doctor").code == 0


# --- the other rooms' commands ---


def test_eval_passes_its_arguments_on(command, scans, replies, tmp_path) -> None:
    truth = {"a.png": {"severity": 0, "fields": {"order_no": "A-1"}, "rows": []}}
    (scans / "truth.json").write_text(json.dumps(truth))
    done = command("eval", "run", "--sheets", scans, "-o", tmp_path / "r", *replies(), "--runs", 1)
    assert done.code == 0, done.err
    assert "per severity" in done.out
    scored = command("eval", "score", tmp_path / "r", "--truth", scans / "truth.json")
    assert scored.code == 0
    assert "order_no" in scored.out


def test_errors_of_eval_have_their_exit_code(command, tmp_path) -> None:
    done = command("eval", "run", "--sheets", tmp_path)
    assert done.code == 2
    assert "truth.json" in done.err
    assert "--truth" in done.err
    assert command("eval", "nonsense").code == 2


# --- as a program ---


@pytest.mark.slow
def test_the_program_with_real_workers(scans, tmp_path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(json.dumps([FORM]), encoding="utf-8")
    (scans / "broken.tif").write_bytes(b"II*\0broken")
    read = [sys.executable, "-m", "ocr_pipeline.cli", "read", str(scans), "--engine", "scripted"]
    read += ["--model", str(script), "-o", str(tmp_path / "out"), "--runs", "2", "-j", "2"]
    done = subprocess.run(read, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 10, done.stderr
    assert "1 blank, 1 failed, 2 ok" in done.stdout
    assert "Traceback" not in done.stderr
    assert any("137" in r for r in rows(tmp_path / "out" / "orders.csv"))
    again = subprocess.run(read, capture_output=True, text=True, timeout=300, check=False)
    assert "1 read, 3 done before" in again.stdout
