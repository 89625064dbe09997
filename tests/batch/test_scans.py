import os
import sys

import pytest

from ocr_pipeline.batch import scans
from ocr_pipeline.errors import UsageError


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


SUFFIXES = frozenset({".tif", ".tiff", ".pdf", ".png", ".jpeg"})


def find_scans(inputs, **arguments):
    return scans.find_scans(inputs, SUFFIXES, **arguments)


def sources(found):
    return [scan.source for scan in found.scans]


def test_folders_are_searched_in_order(tmp_path):
    for name in ("b.TIF", "a.pdf", "下/注文 1.png", "下/z.jpeg", "a/c.tiff"):
        touch(tmp_path / name)
    found = find_scans([tmp_path])
    assert sources(found) == ["a.pdf", "b.TIF", "a/c.tiff", "下/z.jpeg", "下/注文 1.png"]
    assert all(scan.path.is_file() for scan in found.scans)
    assert found.skipped == ()


def test_hidden_files_and_the_output_are_passed_over(tmp_path):
    for name in (".a.tif", ".git/b.tif", "out/documents/c.tif", "d.tif", "sub/out/e.tif"):
        touch(tmp_path / name)
    assert sources(find_scans([tmp_path], out=tmp_path / "out")) == ["d.tif", "sub/out/e.tif"]


def test_other_kinds_are_listed_in_folders_and_read_when_named(tmp_path):
    for name in ("a.tif", "memo.docx", "README"):
        touch(tmp_path / name)
    found = find_scans([tmp_path])
    assert sources(found) == ["a.tif"]
    assert [path for path, _ in found.skipped] == [
        str(tmp_path / "README"),
        str(tmp_path / "memo.docx"),
    ]
    assert all(reason for _, reason in found.skipped)
    assert sources(find_scans([tmp_path / "memo.docx"])) == ["memo.docx"]


def test_a_missing_input_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        find_scans([tmp_path / "nothing.tif"])


def test_two_files_of_one_name_stay_two(tmp_path):
    folders = [tmp_path / "甲", tmp_path / "乙", tmp_path / "x" / "乙"]
    for folder in folders:
        touch(folder / "1.tif")
    found = find_scans(folders)
    assert sources(found) == ["1.tif", "乙/1.tif", "1~2.tif"]
    assert [scan.path.parent for scan in found.scans] == folders
    assert find_scans(folders) == found


def test_names_that_some_file_systems_hold_equal_stay_two(tmp_path):
    one, two = touch(tmp_path / "a" / "ガ.tif"), touch(tmp_path / "b" / "カ\u3099.TIF")
    assert sources(find_scans([one, two])) == ["ガ.tif", "b/カ\u3099.TIF"]


def test_a_file_is_read_once_however_it_is_named(tmp_path):
    path = touch(tmp_path / "in" / "a.tif")
    (tmp_path / "in" / "b.tif").symlink_to(path)
    (tmp_path / "in" / "again").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "in" / "gone.tif").symlink_to(tmp_path / "nothing")
    found = find_scans([tmp_path / "in", path, tmp_path / "in"])
    assert sources(found) == ["a.tif"]
    assert {p for p, _ in found.skipped} == {str(tmp_path / "in" / "gone.tif")}


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.tif")
    found = find_scans([tmp_path])
    assert found.scans == ()
    assert len(found.skipped) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_in_cp932_is_understood(tmp_path):
    name = os.fsdecode("注文ソ表.tif".encode("cp932"))
    touch(tmp_path / name)
    (scan,) = find_scans([tmp_path]).scans
    assert scan.source == "注文ソ表.tif"
    assert scan.path.read_bytes() == b"x"


def test_an_empty_folder_has_nothing(tmp_path):
    assert find_scans([tmp_path]).scans == ()
    assert find_scans([]).scans == ()
