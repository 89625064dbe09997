from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.tidy import CHECKLIST, DOCUMENTS, VALUES, Scores, frame, load, save
from ocr_pipeline.errors import OutputError, UnreadableFileError, UsageError


def same(a: Scores, b: Scores) -> None:
    for name in ("values", "documents", "checklist", "curve"):
        pd.testing.assert_frame_equal(getattr(a, name), getattr(b, name))
    assert a.about == b.about


def test_scores_come_back_as_they_were(scores_of, tmp_path: Path):
    scores = scores_of(3, runs=2)
    save(scores, tmp_path)
    same(load(tmp_path), scores)


def test_the_same_scores_are_the_same_bytes(scores_of, tmp_path: Path):
    for name in "ab":
        save(scores_of(2, runs=2), tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_unknown_empty_and_zero_stay_apart(a_value, a_document, tmp_path: Path):
    values = frame(
        [
            a_value(confidence=0.0, row=0, votes=math.nan, quad=None, page=pd.NA, codes=()),
            a_value(raw="", read="", truth="NaN", row=pd.NA, codes=("sum", "low_confidence")),
        ],
        VALUES,
    )
    scores = Scores(values, frame([a_document(stats={}, seconds=math.nan)], DOCUMENTS))
    save(scores, tmp_path)
    back = load(tmp_path)
    same(back, scores)
    assert back.values["row"].tolist()[0] == 0
    assert back.values["row"].isna().tolist() == [False, True]
    assert back.values["codes"].tolist() == [(), ("sum", "low_confidence")]
    assert back.values["truth"].tolist() == ["1200", "NaN"]


@settings(deadline=None, max_examples=40)
@given(text=st.text(st.characters(), max_size=8))
def test_any_text_survives(text: str, tmp_path_factory: pytest.TempPathFactory):
    row = {**dict.fromkeys(CHECKLIST, 0), "document": text, "sheet": "s", "item": "i"}
    checklist = frame([row | {"truth": text, "right": True}], CHECKLIST)
    scores = Scores(frame([], VALUES), frame([], DOCUMENTS), checklist)
    folder = tmp_path_factory.mktemp("scores")
    save(scores, folder)
    assert load(folder).checklist["truth"].tolist() == [text]


def test_no_rows_have_columns_and_dtypes(tmp_path: Path):
    scores = Scores(frame([], VALUES), frame([], DOCUMENTS))
    save(scores, tmp_path)
    same(load(tmp_path), scores)
    assert list(load(tmp_path).values.columns) == list(VALUES)


def test_a_folder_without_scores_says_how_to_make_them(tmp_path: Path):
    with pytest.raises(UsageError, match="eval score"):
        load(tmp_path)


def test_broken_scores_are_an_error(scores_of, tmp_path: Path):
    save(scores_of(1, runs=1), tmp_path)
    (tmp_path / "documents.csv").write_text("document\nx\n", encoding="utf-8")
    with pytest.raises(UnreadableFileError, match="cannot be used"):
        load(tmp_path)


def test_scores_that_cannot_be_written_are_an_error(scores_of, tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        save(scores_of(1, runs=1), tmp_path / "file")
