import dataclasses

import pandas as pd
import pytest
from rich.console import Console

from eval.compare import FIGURES, compare
from eval.report.comparison import page, print_comparison, verdict, write_comparison
from eval.tidy import CONSENSUS
from ocr_pipeline.errors import OutputError, UsageError


def mended(scores, field="buyer", **how):
    """The same system, but it reads one field right in the consensus."""
    values = scores.values.copy()
    which = (values["run"] == CONSENSUS) & (values["field"] == field)
    values.loc[which, ["right", "raw_right", "folded_right"]] = True
    values.loc[which, "read"] = values.loc[which, "truth"]
    return dataclasses.replace(scores, values=values.assign(**how))


def whole(comparison, figure):
    return next(c.pair for c in comparison.figures if (c.figure, c.severity) == (figure, None))


def test_the_same_scores_do_not_differ(scores_of):
    scores = scores_of(8)
    found = compare(scores, scores)
    assert {c.figure for c in found.figures} == set(FIGURES)
    assert all(c.pair.difference == 0 and c.pair.p == 1 for c in found.figures)
    assert found.fields == ()
    assert found.changes == ()
    assert found.left_out == ()


def test_a_field_that_got_better_is_found(scores_of):
    before = scores_of(40, accuracy=0.5)
    found = compare(before, mended(before), names=("old", "new"))
    right = whole(found, "right")
    assert right.difference > 0
    assert right.p < 0.01
    assert right.low > 0
    assert whole(found, "single").difference == 0
    assert [f.field for f in found.fields] == ["buyer"]
    assert found.fields[0].q < 0.05
    assert all(c.better and c.field == "buyer" and c.first != c.truth for c in found.changes)
    assert verdict(found)[0].startswith("new has more values right than old")


def test_the_other_way_round_is_the_mirror(scores_of):
    before = scores_of(12, accuracy=0.5)
    there, back = compare(before, mended(before)), compare(mended(before), before)
    assert whole(there, "right").difference == pytest.approx(-whole(back, "right").difference)
    assert whole(there, "right").p == pytest.approx(whole(back, "right").p)
    assert len(there.changes) == len(back.changes)
    assert not any(c.better for c in back.changes)


def test_whoever_is_wrong_has_told_or_not(scores_of):
    before = scores_of(12, accuracy=0.5)
    values = before.values.assign(flagged=False)
    silent = dataclasses.replace(before, values=values)
    assert not any(c.told for c in compare(silent, mended(silent)).changes)
    loud = dataclasses.replace(before, values=values.assign(flagged=True))
    assert all(c.told for c in compare(loud, mended(loud)).changes)


def test_only_what_both_have_read_is_compared(scores_of):
    more = scores_of(6)
    kept = sorted(set(more.documents["document"]))[:4]
    fewer = dataclasses.replace(
        more,
        values=more.values[more.values["document"].isin(kept)],
        documents=more.documents[more.documents["document"].isin(kept)],
    )
    found = compare(more, fewer)
    assert found.documents == 4
    assert len(found.left_out) == 2
    assert whole(found, "right").difference == 0


def test_systems_may_have_different_numbers_of_runs(scores_of):
    more = scores_of(6, runs=5)
    values = more.values[more.values["run"] < 2]
    fewer = dataclasses.replace(more, values=values)
    assert whole(compare(more, fewer), "right").difference == 0


def test_other_sheets_or_other_truths_are_a_clear_error(scores_of):
    scores = scores_of(4)
    other = scores.documents.assign(document=scores.documents["document"] + "x")
    with pytest.raises(UsageError, match="no document in common"):
        compare(scores, dataclasses.replace(scores, documents=other))
    fewer = scores.values[scores.values["field"] != "total"]
    with pytest.raises(UsageError, match="not about the same values"):
        compare(scores, dataclasses.replace(scores, values=fewer))


def test_it_is_printed_and_written(scores_of, tmp_path):
    before = scores_of(6, accuracy=0.5)
    found = compare(before, mended(before), names=("steps=8", "<script>[bold]"))
    console = Console(width=120, record=True, force_terminal=False)
    print_comparison(console, found)
    printed = console.export_text()
    assert "<script>[bold]" in printed
    assert "wrong, and nobody told" in printed
    path = write_comparison(found, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert text == page(found)
    table = pd.read_csv(tmp_path / "comparison.csv", dtype=str)
    assert len(table) == len(found.changes)
    markdown = (tmp_path / "comparison.md").read_text(encoding="utf-8")
    assert "steps=8" in markdown
    assert "<script>" not in markdown


def test_a_folder_that_cannot_be_written_is_a_clear_error(scores_of, tmp_path):
    scores = scores_of(2)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_comparison(compare(scores, scores), tmp_path / "file" / "sub")
