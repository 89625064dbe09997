import sqlite3
from dataclasses import replace

import pytest

from ocr_pipeline.batch.ledger import Entry, Ledger
from ocr_pipeline.errors import OutputError
from ocr_pipeline.export.record import DocumentStatus

ENTRY = Entry(
    source="受注/a.tif",
    path="/scans/受注/a.tif",
    sha256="abc",
    settings="s1",
    status=DocumentStatus.OK,
    error="",
    pages=2,
    orders=1,
    flags=3,
    seconds=1.25,
    record="documents/受注/a.tif.json",
    updated="2024-03-05T10:00:00+09:00",
)


def test_what_is_put_is_there_after_reopening(tmp_path):
    path = tmp_path / "out" / "ledger.sqlite"
    with Ledger(path) as ledger:
        assert ledger.entries() == []
        assert ledger.get(ENTRY.source) is None
        ledger.put(replace(ENTRY, flags=9))
        ledger.put(ENTRY)
        ledger.put(replace(ENTRY, source="0.tif"))
    with Ledger(path) as ledger:
        assert ledger.get(ENTRY.source) == ENTRY
        assert ledger.get(ENTRY.source).status is DocumentStatus.OK
        assert [e.source for e in ledger.entries()] == ["0.tif", ENTRY.source]


def test_fresh_forgets(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.put(ENTRY)
    with Ledger(path, fresh=True) as ledger:
        assert ledger.entries() == []


@pytest.mark.parametrize("status", DocumentStatus)
def test_only_a_failed_document_is_tried_again(status):
    entry = replace(ENTRY, status=status)
    assert entry.is_done("abc", "s1") == (status is not DocumentStatus.FAILED)
    assert not entry.is_done("abd", "s1")
    assert not entry.is_done("abc", "s2")


def test_an_entry_is_on_the_disk_before_the_ledger_is_closed(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.put(ENTRY)
        with sqlite3.connect(path) as other:
            assert other.execute("SELECT source FROM documents").fetchall() == [(ENTRY.source,)]
        other.close()


def test_a_file_that_is_no_ledger_is_an_error_and_fresh_replaces_it(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is not a database, and long enough to be one" * 99)
    with pytest.raises(OutputError, match="--fresh"):
        Ledger(path)
    with Ledger(path, fresh=True) as ledger:
        ledger.put(ENTRY)


def test_a_ledger_of_another_version_is_refused(tmp_path):
    path = tmp_path / "ledger.sqlite"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(OutputError, match="version 99"):
        Ledger(path)


def test_a_folder_in_its_place_is_an_error(tmp_path):
    with pytest.raises(OutputError):
        Ledger(tmp_path)


def test_a_lone_surrogate_can_be_stored(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.put(replace(ENTRY, error="\udc82.tif"))
        assert ledger.get(ENTRY.source).error == "\\udc82.tif"
