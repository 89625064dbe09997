import json
import math
from pathlib import Path

import jsonschema
import pytest

from eval.report.gather import ALL, results_of
from eval.report.results import json_schema, to_json
from eval.tidy import CURVE, DOCUMENTS, VALUES, Scores, frame

DOCS = Path(__file__).parents[3] / "docs"


def plain(scores):
    return json.loads(to_json(results_of(scores, title="t")))


@pytest.fixture(scope="module")
def schema():
    return json_schema()


def test_the_schema_in_the_documentation_is_that_of_the_code(schema):
    stored = json.loads((DOCS / "results.schema.json").read_text(encoding="utf-8"))
    assert stored == schema


@pytest.mark.parametrize("runs", [1, 3])
def test_results_are_of_the_schema(scores_of, schema, runs):
    found = plain(scores_of(6, runs=runs, transmissions=runs))
    jsonschema.validate(found, schema)
    assert found["headline"][-1]["severity"] is None


def test_no_document_at_all_is_of_the_schema(schema):
    found = plain(Scores(frame([], VALUES), frame([], DOCUMENTS)))
    jsonschema.validate(found, schema)
    assert found["headline"] == []


def test_one_sheet_has_no_interval_rather_than_a_false_one(scores_of, schema):
    found = plain(scores_of(1, runs=2, accuracy=0.6, severities=(1,)))
    jsonschema.validate(found, schema)
    right = found["headline"][-1]["right"]
    assert 0 < right["value"] < 1
    assert right["low"] is None


def test_a_failed_document_counts_as_wrong_and_is_told(a_value, a_document, schema):
    runs = (0, -1)
    lost = {"right": False, "error": "failed", "read": "", "raw": "", "state": "absent"}
    lost |= {"page": None, "quad": None, "confidence": math.nan, "flagged": True}
    values = frame((a_value(run=k, **lost) for k in runs), VALUES)
    documents = frame(
        (a_document(run=k, outcome="failed", order_right=False, flagged=True) for k in runs),
        DOCUMENTS,
    )
    found = plain(Scores(values, documents))
    jsonschema.validate(found, schema)
    assert found["headline"][-1]["right"]["value"] == 0
    assert found["headline"][-1]["silent"]["value"] == 0
    assert [o["name"] for o in found["outcomes"]] == ["failed"]
    assert [e["error"] for e in found["errors"]] == ["failed"]


def test_the_parts_agree(scores_of):
    found = plain(scores_of(8))
    whole = found["headline"][-1]
    together = next(f for f in found["fields"] if f["field"] == ALL and f["severity"] is None)
    values = next(c for c in found["cases"] if c["level"] == "field")
    assert whole["right"] == together["right"]
    assert whole["silent"]["value"] == pytest.approx(values["silent"]["value"])
    four = (values[c]["value"] for c in ("trusted", "needless", "caught", "silent"))
    assert sum(four) == pytest.approx(1)
    assert sum(h["values"] for h in found["headline"][:-1]) == whole["values"]


def test_the_curve_is_there_when_the_scores_have_one(scores_of):
    scores = scores_of(2, runs=2)
    assert plain(scores)["consensus"] == []
    row = {"values": 4.0, "right": 3.0, "flagged": 1.0, "silent": 1.0}
    about = {"severity": 1, "seconds": 2.0, "tokens": math.nan}
    rows = [{"document": d, "sheet": d, "k": k, **row, **about} for d in "ab" for k in (1, 2)]
    curve = Scores(scores.values, scores.documents, curve=frame(rows, CURVE))
    points = [p for p in plain(curve)["consensus"] if p["severity"] is None]
    assert [p["k"] for p in points] == [1, 2]
    assert points[0]["right"]["value"] == 0.75
    assert points[0]["tokens"]["value"] is None


def test_items_of_the_article_test(scores_of):
    found = plain(scores_of(2, runs=3, accuracy=0.5))
    runs = found["checked_runs"]
    assert {r["run"] for r in runs} == {-1, 0, 1, 2}
    assert all(0 <= r["right"] <= r["of"] == 5 for r in runs)
    alone = sum(r["right"] for r in runs if r["run"] >= 0)
    assert alone == sum(i["right"] for i in found["checked_items"])
    for item in found["checked_items"]:
        assert item["flips"] <= 1
        assert (item["flips"] > 0) == (0 < item["right"] < item["of"])


def test_numbers_have_no_noise_behind_the_ninth_digit(scores_of):
    text = to_json(results_of(scores_of(4), title="t"))
    numbers = [t for t in text.replace(",", " ").split() if "." in t and t[0].isdigit()]
    assert numbers
    assert max(len(t.split("e")[0].replace(".", "").lstrip("0")) for t in numbers) <= 9
