import pytest

from eval.report.about import MANY, about_lines, byline
from eval.report.gather import results_of


def test_nested_names_are_joined_and_nothing_is_a_dash():
    about = {"b": {"y": 1, "x": {"z": None}}, "a": [1, "<"], "c": "", "d": [], "e": False}
    assert list(about_lines(about)) == [
        ("a", "1, <"),
        ("b.x.z", "–"),
        ("b.y", "1"),
        ("c", "–"),
        ("d", "–"),
        ("e", "False"),
    ]


def test_a_long_list_of_files_is_counted():
    assert list(about_lines({"files": dict.fromkeys(map(str, range(MANY + 1)), "x")})) == [
        ("files", f"{MANY + 1} entries: results.json")
    ]


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({}, "4 faxes"),
        ({"runs": 5, "began": "2026-11-30T21:17:16+00:00"}, "4 faxes · 5 runs · 2026-11-30"),
    ],
)
def test_one_line_says_on_what_how_often_and_when(scores_of, about, text):
    scores = scores_of(4, runs=1)
    found = results_of(type(scores)(scores.values, scores.documents, about=about), title="t")
    assert byline(found) == text
