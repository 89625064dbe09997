import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from openpyxl import load_workbook

from ocr_pipeline.batch.ledger import Ledger
from ocr_pipeline.batch.pool import Outcome, failed
from ocr_pipeline.batch.results import record_path
from ocr_pipeline.batch.run import run_batch
from ocr_pipeline.batch.scans import Found, Scan, find_scans
from ocr_pipeline.errors import MissingExtraError, OutputError, UsageError
from ocr_pipeline.export.record import DocumentStatus, from_json

HERE = Path(__file__).parent


@pytest.fixture
def run_for_real(fakes, tmp_path):
    """Runs a batch into `tmp_path/out`; gives the report and the steps."""

    def start(scans, **arguments):
        steps = []
        defaults = {"settings": {"engine": "fake"}, "fingerprint": "f1"}
        arguments = defaults | {"make_reader": fakes.make_reader} | arguments
        report = run_batch(
            Found(tuple(scans)),
            tmp_path / "out",
            form=fakes.Form(),
            progress=steps.append,
            **arguments,
        )
        return report, steps

    return start


@pytest.fixture
def run(run_for_real, monkeypatch):
    """The same without processes, for what does not depend on them: that is much faster."""

    def read_all(scans, make_reader, **_):
        reader = make_reader()
        for scan in scans:
            try:
                yield Outcome(scan, reader(*scan), 0.5)
            except RuntimeError as error:
                yield Outcome(scan, failed(scan.source, str(error)), 0.5)

    monkeypatch.setattr("ocr_pipeline.batch.run.read_all", read_all)
    return run_for_real


def table(path, encoding="utf-8-sig"):
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file))


def test_a_batch_leaves_everything_that_is_promised(run_for_real, scans, tmp_path):
    texts = {"注文1": "A-1", "b_raise": "raise", "c_blank": "blank", "d_nan": "nan"}
    report, steps = run_for_real(scans(**texts), workers=2, seeds=(0, 1))
    out = tmp_path / "out"
    assert report.counts == {"ok": 1, "failed": 2, "blank": 1}
    assert (report.read, report.resumed, report.flags, report.interrupted) == (4, 0, 1, False)
    assert [(s.done, s.total) for s in steps] == [(i, 4) for i in range(1, 5)]
    assert {s.source for s in steps} == {f"{name}.tif" for name in texts}
    for name in texts:
        assert from_json((out / f"documents/{name}.tif.json").read_text()).source == f"{name}.tif"
    assert (out / "documents/注文1.tif.md").read_text() == "# A-1\n"
    assert (out / "documents/c_blank.tif.md").read_text() == "<!-- blank -->\n"
    nan = from_json((out / "documents/d_nan.tif.json").read_text())
    assert nan.status is DocumentStatus.FAILED
    assert "Out of range" in nan.error
    (order,) = table(out / "orders.csv")
    assert (order["source"], order["order_no"], order["total"]) == ("注文1.tif", "A-1", "1.50")
    assert [row["order_no"] for row in table(out / "lines.csv")] == ["A-1"]
    review = table(out / "review.csv")
    assert {row["source"] for row in review} == {f"{name}.tif" for name in texts}
    assert load_workbook(out / "orders.xlsx").sheetnames == ["発注", "明細", "要確認"]
    about = json.loads((out / "run.json").read_text())
    assert about["settings"] == {"engine": "fake"}
    assert about["seeds"] == [0, 1]
    assert about["this_run"]["counts"] == {"ok": 1, "failed": 2, "blank": 1}
    assert about["documents"]["orders"] == 1
    assert {d["source"] for d in about["documents"]["not_ok"]} == {
        *("b_raise.tif", "c_blank.tif", "d_nan.tif")
    }
    assert {"ocr-pipeline", "python", "numpy", "pandas"} <= set(about["versions"])
    assert not list(out.rglob("*.tmp"))


def test_what_is_done_is_skipped_and_what_failed_is_not(run, scans, tmp_path):
    first = scans(a="1", b="raise", c="blank")
    run(first)
    report, steps = run(scans(a="1", b="2", c="blank", d="4"))
    assert (report.read, report.resumed) == (2, 2)
    assert {s.source for s in steps if s.resumed} == {"a.tif", "c.tif"}
    assert [s.flags for s in steps if s.source == "a.tif"] == [1]
    rows = table(tmp_path / "out/orders.csv")
    assert [row["order_no"] for row in rows] == ["1", "2", "4"]


@pytest.mark.parametrize("change", ["content", "settings", "record gone", "record broken", "fresh"])
def test_what_may_have_changed_is_read_again(run, scans, tmp_path, change):
    todo = scans(a="1", b="2")
    run(todo)
    arguments = {}
    record = tmp_path / "out/documents/a.tif.json"
    match change:
        case "content":
            todo = scans(a="3", b="2")
        case "settings":
            arguments = {"fingerprint": "f2"}
        case "fresh":
            arguments = {"fresh": True}
        case "record gone":
            record.unlink()
        case "record broken":
            record.write_text("{}")
            broken, _ = run(todo)  # found when the tables are made, and told
            assert broken.read == 0
            review = table(tmp_path / "out/review.csv")
            assert [r["status"] for r in review if r["source"] == "a.tif"] == ["failed"]
    report, _ = run(todo, **arguments)
    assert report.read == (2 if change in ("settings", "fresh") else 1)
    assert report.counts == {"ok": 2}
    numbers = [row["order_no"] for row in table(tmp_path / "out/orders.csv")]
    assert numbers == (["3", "2"] if change == "content" else ["1", "2"])


def type_correction(path):
    book = load_workbook(path)
    sheet = book["要確認"]
    assert sheet.cell(1, sheet.max_column).value == "訂正値"
    sheet.cell(2, sheet.max_column).value = "1,500"
    book.save(path)


def test_corrections_survive_the_next_run(run, scans, tmp_path):
    out = tmp_path / "out"
    run(scans(a="1"))
    assert run(scans(a="1"))[0].warnings == ()
    type_correction(out / "orders.xlsx")
    typed = (out / "orders.xlsx").read_bytes()
    report, _ = run(scans(a="1"))
    (kept,) = out.glob("orders.*-*.xlsx")
    assert kept.read_bytes() == typed
    (warning,) = report.warnings
    assert kept.name in warning
    assert load_workbook(out / "orders.xlsx").sheetnames == ["発注", "明細", "要確認"]
    assert run(scans(a="1"))[0].warnings == ()


def test_corrections_that_cannot_be_set_aside_are_not_overwritten(
    run, scans, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    run(scans(a="1"))
    type_correction(out / "orders.xlsx")
    typed = (out / "orders.xlsx").read_bytes()

    def refuse(self, target):
        raise PermissionError(13, "it is open elsewhere")

    monkeypatch.setattr(Path, "rename", refuse)
    report, _ = run(scans(a="1", b="2"))
    assert (out / "orders.xlsx").read_bytes() == typed
    (warning,) = report.warnings
    assert warning.startswith("orders.xlsx: left as it was")
    assert "it is open elsewhere" in warning
    assert [row["order_no"] for row in table(out / "orders.csv")] == ["1", "2"]


def test_earlier_documents_stay_in_the_tables_until_a_fresh_start(run, scans, tmp_path):
    run(scans(a="1"))
    run(scans(b="2"))
    assert len(table(tmp_path / "out/orders.csv")) == 2
    run(scans(b="2"), fresh=True)
    assert len(table(tmp_path / "out/orders.csv")) == 1


def test_a_file_that_has_gone_is_a_failed_document(run, scans, tmp_path):
    todo = [*scans(a="1"), Scan(tmp_path / "gone.tif", "gone.tif")]
    report, _ = run(todo)
    assert report.counts == {"ok": 1, "failed": 1}
    record = from_json((tmp_path / "out/documents/gone.tif.json").read_text())
    assert "No such file" in record.error


def test_what_looks_like_a_mistake_is_told(run, scans, tmp_path):
    report, _ = run(scans(a="1", b="1"))
    assert [w for w in report.warnings if "same content" in w and "a.tif, b.tif" in w]
    other = tmp_path / "other" / "a.tif"
    other.parent.mkdir()
    other.write_text("7")
    report, _ = run([Scan(other, "a.tif")])
    assert [w for w in report.warnings if "replaced" in w and "scans" in w]


def test_a_very_long_name_can_be_written(run, tmp_path):
    names = ["注" * 80 + end + ".tif" for end in "ab"]  # 247 bytes; with an ending it is too long
    for i, name in enumerate(names):
        (tmp_path / name).write_text(str(i))
    report, _ = run(find_scans([tmp_path], {".tif"}).scans)
    assert report.counts == {"ok": 2}
    assert {r["source"] for r in table(tmp_path / "out/orders.csv")} == set(names)
    assert len({record_path(name) for name in names}) == 2
    assert record_path("a/b.tif") == "documents/a/b.tif"


def test_cp932_and_its_losses_are_told(run, scans, tmp_path):
    report, _ = run(scans(a="𠮷野"), csv_encoding="cp932", formats=("csv",))
    assert table(tmp_path / "out/orders.csv", "cp932")[0]["order_no"] == "〓野"
    assert [w for w in report.warnings if "cp932 lacks 𠮷" in w]
    assert json.loads((tmp_path / "out/run.json").read_text())["warnings"] == list(report.warnings)
    assert not (tmp_path / "out/orders.xlsx").exists()


def test_a_workbook_that_is_open_costs_nothing_else(run, scans, tmp_path, monkeypatch):
    replace = Path.replace

    def held(self, target):
        if target.name == "orders.xlsx":
            raise PermissionError(13, "held by Excel")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", held)
    with pytest.raises(OutputError, match=r"orders\.xlsx"):
        run(scans(a="1"))
    assert len(table(tmp_path / "out/orders.csv")) == 1
    warnings = json.loads((tmp_path / "out/run.json").read_text())["warnings"]
    assert [w for w in warnings if "orders.xlsx" in w]
    monkeypatch.undo()


def test_an_engine_that_cannot_start_says_so_and_keeps_what_is_done(run, scans, fakes, tmp_path):
    run(scans(a="1"))
    with pytest.raises(MissingExtraError, match="gemma"):
        run(scans(a="1", b="2"), make_reader=fakes.make_missing)
    assert len(table(tmp_path / "out/orders.csv")) == 1
    report, _ = run(scans(a="1", b="2"))
    assert (report.read, report.resumed) == (1, 1)


@pytest.mark.parametrize(
    "wrong",
    [{"workers": 0}, {"time_limit": 0.0}, {"formats": ("pdf",)}, {"csv_encoding": "latin-1"}],
)
def test_arguments_out_of_range_are_usage_errors(run, scans, wrong, tmp_path):
    with pytest.raises(UsageError):
        run(scans(a="1"), **wrong)
    assert not (tmp_path / "out").exists()


def test_nothing_to_read_leaves_empty_tables(run, tmp_path):
    report, steps = run([])
    assert (report.read, steps, dict(report.counts)) == (0, [], {})
    assert table(tmp_path / "out/orders.csv") == []


def test_ctrl_c_keeps_what_is_done(fakes, scans, tmp_path):
    def stop(step):
        if step.done == 1:
            os.kill(os.getpid(), signal.SIGINT)

    report = run_batch(
        Found(tuple(scans(a="1", b="hang"))),
        tmp_path / "out",
        fakes.make_reader,
        form=fakes.Form(),
        settings={},
        fingerprint="f1",
        progress=stop,
    )
    assert report.interrupted
    assert (report.read, dict(report.counts)) == (1, {"ok": 1})
    assert len(table(tmp_path / "out/orders.csv")) == 1
    assert json.loads((tmp_path / "out/run.json").read_text())["interrupted"] is True
    with Ledger(tmp_path / "out/ledger.sqlite") as ledger:
        assert [e.source for e in ledger.entries()] == ["a.tif"]


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
if __name__ == "__main__":
    import fake_workers
    from ocr_pipeline.batch.run import run_batch
    from ocr_pipeline.batch.scans import find_scans
    root = Path(sys.argv[2])
    found = find_scans([root / "scans"], {".tif"})
    report = run_batch(found, root / "out", fake_workers.make_reader, form=fake_workers.Form(),
                       settings={}, fingerprint="f1", workers=2)
    print(report.interrupted, report.counts["ok"])
"""


@pytest.fixture
def program(tmp_path):
    """The batch as a program of its own, in its own process group, once two documents are done."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, path, HERE, tmp_path],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with closing(process.stdout), closing(process.stderr):
        yield process
        process.wait(10)


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def done_in(out):
    """How many documents the ledger has, read while it is being written."""
    path = out / "ledger.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as ledger:
        try:
            return ledger.execute("SELECT count(*) FROM documents").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def workers_of(group):
    """Processes of a process group that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_run_leaves_no_worker_and_resumes(scans, program, run_for_real, tmp_path):
    todo = scans(a="1", b="2", c="slow 30", d="slow 31")
    wait_for(lambda: done_in(tmp_path / "out") == 2)
    time.sleep(0.3)
    os.kill(program.pid, signal.SIGKILL)
    wait_for(lambda: workers_of(program.pid) == [])
    scans(c="3", d="4")
    report, _ = run_for_real(todo)
    assert (report.read, report.resumed) == (2, 2)
    assert len(table(tmp_path / "out/orders.csv")) == 4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_at_a_terminal_is_quiet_and_leaves_no_worker(scans, program, tmp_path):
    scans(a="1", b="2", c="slow 30", d="slow 31")
    wait_for(lambda: done_in(tmp_path / "out") == 2)
    os.killpg(program.pid, signal.SIGINT)  # a terminal interrupts the whole group
    out, err = program.communicate(timeout=20)
    assert out == "True 2\n"
    assert err == ""
    wait_for(lambda: workers_of(program.pid) == [])
    assert len(table(tmp_path / "out/orders.csv")) == 2
