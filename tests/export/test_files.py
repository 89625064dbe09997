import os
from pathlib import Path

import pytest

from ocr_pipeline.errors import OutputError
from ocr_pipeline.export.files import write_atomic


def test_a_file_is_written_with_its_folders_and_replaced(tmp_path):
    path = tmp_path / "受注" / "a" / "x.json"
    write_atomic(path, b"1")
    write_atomic(path, b"22")
    assert path.read_bytes() == b"22"
    assert [p.name for p in path.parent.iterdir()] == ["x.json"]


def test_a_file_that_excel_holds_open_is_an_error_that_says_so(tmp_path, monkeypatch):
    path = tmp_path / "orders.xlsx"
    path.write_bytes(b"old")

    def held(self, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(Path, "replace", held)
    with pytest.raises(OutputError, match="Excel") as caught:
        write_atomic(path, b"new")
    assert "orders.xlsx" in caught.value.message
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["orders.xlsx"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_a_file_where_a_folder_should_be_is_an_error(tmp_path):
    (tmp_path / "documents").write_text("")
    with pytest.raises(OutputError):
        write_atomic(tmp_path / "documents" / "x.json", b"")
