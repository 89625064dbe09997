import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from ocr_pipeline.batch.pool import explained, read_all
from ocr_pipeline.errors import EngineError, MissingExtraError, UnreadableFileError
from ocr_pipeline.export.record import DocumentStatus


def read(scans, make_reader, **arguments):
    with closing(read_all(scans, make_reader, **arguments)) as outcomes:
        return {outcome.scan.source: outcome for outcome in outcomes}


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_every_way_to_break_fails_one_document_only(fakes, scans):
    bad = ("raise", "unreadable", "exit", "die", "kill", "segfault", "hang", "lock")
    texts = {f"{i}_{what}": what for i, what in enumerate(bad)}
    texts |= {"00_good": "A-1", "99_good": "A-2"}
    out = read(scans(**texts), fakes.make_reader, workers=2, time_limit=2.0)
    assert len(out) == len(texts)
    errors = {
        source.removesuffix(".tif")[2:]: outcome.record.error
        for source, outcome in out.items()
        if outcome.record.status is DocumentStatus.FAILED
    }
    assert set(errors) == set(bad)
    assert errors["raise"].startswith("RuntimeError: something broke (fake_workers.py:")
    assert errors["unreadable"] == "the file is truncated\n  → ask for it again"
    assert "exit code 3" in errors["exit"]
    assert "exit code 7" in errors["die"]
    assert "SIGKILL" in errors["kill"]
    assert "fewer workers" in errors["kill"]
    assert "SIGSEGV" in errors["segfault"]
    assert "longer than 2 s" in errors["hang"]
    assert "pickle" in errors["lock"]
    for name, number in (("00_good.tif", "A-1"), ("99_good.tif", "A-2")):
        assert out[name].record.orders[0].fields["order_no"].value == number
    assert 2.0 <= out["6_hang.tif"].seconds < 20.0


def test_one_worker_makes_one_reader_and_survives_too(fakes, scans):
    out = read(scans(a="1", b="2", c="die", d="3"), fakes.make_reader)
    pids = [out[s].record.readings[0].engine for s in ("a.tif", "b.tif", "d.tif")]
    assert pids[0] == pids[1] != pids[2]
    assert str(os.getpid()) not in pids
    assert out["c.tif"].record.status is DocumentStatus.FAILED


def test_workers_work_side_by_side(fakes, scans):
    out = read(scans(a="slow 0.5", b="slow 0.5"), fakes.make_reader, workers=2)
    assert len({o.record.readings[0].engine for o in out.values()}) == 2


def test_nothing_to_do_starts_nothing():
    assert list(read_all([], None)) == []


def test_a_worker_that_cannot_start_ends_it_with_its_own_error(fakes, scans):
    todo = scans(a="1", b="2")
    with pytest.raises(MissingExtraError, match="gemma"):
        read(todo, fakes.make_missing, workers=2)
    with pytest.raises(EngineError, match="ValueError: no such model"):
        read(todo, fakes.make_broken)
    with pytest.raises(EngineError, match="exit code 9"):
        read(todo, fakes.make_dead)


def test_the_workers_that_could_start_do_all_the_work(fakes, scans, tmp_path):
    out = read(scans(a="1", b="2", c="3"), fakes.OnlyFirst(str(tmp_path / "token")), workers=2)
    assert [o.record.status for o in out.values()] == [DocumentStatus.OK] * 3


def test_when_no_worker_is_left_what_was_read_is_given_first(fakes, scans, tmp_path):
    outcomes = read_all(scans(a="1", b="die", c="3"), fakes.OnlyFirst(str(tmp_path / "token")))
    assert next(outcomes).scan.source == "a.tif"
    assert next(outcomes).scan.source == "b.tif"
    with pytest.raises(EngineError, match="out of memory"):
        next(outcomes)


def test_closing_ends_the_workers(fakes, scans):
    outcomes = read_all(scans(a="1", b="hang"), fakes.make_reader)
    pid = int(next(outcomes).record.readings[0].engine)
    assert alive(pid)
    outcomes.close()
    assert not alive(pid)


def test_a_reader_that_waited_for_us_is_not_overdue(fakes, scans):
    outcomes = read_all(scans(a="1", b="slow 0.3", c="2"), fakes.make_reader, time_limit=1.0)
    with closing(outcomes):
        next(outcomes)
        time.sleep(1.5)  # b was done long before its limit; we only come to ask now
        assert next(outcomes).record.status is DocumentStatus.OK


def test_an_error_explains_itself():
    assert explained(UnreadableFileError("a", remedy="b")) == "a\n  → b"
    assert explained(ValueError("a")) == "ValueError: a"
