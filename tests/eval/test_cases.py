from __future__ import annotations

import json

import pytest

from eval.cases import Case, load_cases
from ocr_pipeline.errors import UnreadableFileError, UsageError

ENTRY = {"severity": 2, "fields": {"total": 137, "tel": None}, "rows": [{"item": "ボルト"}]}


@pytest.fixture
def truth(tmp_path):
    """Writes a truth file and gives its path."""

    def write(content: object):
        path = tmp_path / "truth.json"
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_cases(truth) -> None:
    cases = load_cases(truth({"a.png": ENTRY, "sub/b.tif": ENTRY | {"severity": "0", "rows": []}}))
    assert cases == {
        "a.png": Case("a.png", 2, {"total": 137, "tel": None}, ({"item": "ボルト"},)),
        "sub/b.tif": Case("sub/b.tif", 0, {"total": 137, "tel": None}, ()),
    }


def test_no_cases(truth) -> None:
    with pytest.raises(UsageError, match="names no file"):
        load_cases(truth({}))


def test_no_file(tmp_path) -> None:
    with pytest.raises(UsageError) as caught:
        load_cases(tmp_path / "truth.json")
    assert "truth.json" in caught.value.message
    assert "--truth" in caught.value.remedy


@pytest.mark.parametrize(
    "content",
    [
        "no json",
        "",
        "[]",
        '"a"',
        {"a.png": {"severity": 1, "fields": {}}},
        {"a.png": {"fields": {}, "rows": []}},
        {"a.png": {"severity": "bad", "fields": {}, "rows": []}},
        {"a.png": [1, 2]},
        {"a.png": None},
        {"a.png": ENTRY | {"rows": None}},
    ],
)
def test_wrong_files(truth, content: object) -> None:
    path = truth(content)
    with pytest.raises(UnreadableFileError) as caught:
        load_cases(path)
    assert str(path) in caught.value.message
    assert "severity" in caught.value.remedy
