import pytest

from eval.report.gather import results_of
from eval.report.summary import NOTHING
from eval.tidy import DOCUMENTS, VALUES, Scores, frame


def sentences(scores):
    return [s.replace("\u00a0", " ") for s in results_of(scores, title="t").summary]


@pytest.fixture
def one(a_value, a_document):
    """`one(7, run changes…)`: so many sheets with one value each, in one run and together."""

    def make(sheets=6, runs=(0, -1), **changes):
        names = [f"{i}.tif" for i in range(sheets)]
        where = [{"document": n, "sheet": n, "run": k} for n in names for k in runs]
        return Scores(
            frame((a_value(**{**changes, **w}) for w in where), VALUES),
            frame((a_document(**w) for w in where), DOCUMENTS),
        )

    return make


def test_nothing_scored_is_said():
    assert results_of(Scores(frame([], VALUES), frame([], DOCUMENTS)), title="t").summary == NOTHING


def test_no_silent_error_comes_with_its_bound(one):
    right, silent, cost = sentences(one(60))
    assert right == "Of 60 values on 60 faxes, 100 % are right (at least 95.0 %)."
    assert silent == (
        "Not one value was wrong without somebody being told; "
        "at these numbers, that means at most 5.0 %."
    )
    assert "change from run to run" not in cost


def test_every_value_silently_wrong(one):
    right, silent, _ = sentences(one(right=False, error="wrong"))
    assert "0 % are right" in right
    assert silent.startswith("100 % of the values are wrong and nobody was told")


def test_several_severities_and_runs(scores_of):
    right, _, cost = sentences(scores_of(16, runs=5, severities=(1, 3)))
    assert "16 faxes, each read 5 times" in right
    assert "at severity" in right
    assert "wrong in the same way in every run" in cost
