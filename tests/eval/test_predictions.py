from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.cases import Case, load_cases
from eval.outcomes import Form
from eval.predictions import MISSING, prediction_sets, record_sets, run_of_markdown, run_of_values
from eval.scoring import RunSet, score
from eval.tidy import Scores
from ocr_pipeline.errors import UnreadableFileError, UsageError
from ocr_pipeline.export.record import DocumentStatus, Record, to_json
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))
SAMPLES = load_cases(Path(__file__).parents[2] / "datasets" / "samples" / "truth.json")
TRUTH = {
    "0001.tif": Case("0001.tif", 1, {"order_no": "A-1", "total": 1000}, ({"item": "ボルト"},)),
    "0002.tif": Case("0002.tif", 1, {"order_no": "A-2"}, ()),
}
GOOD = (
    "発注書\n\n注文番号：A-1\n\n| 品名 | 数量 | 金額 |\n|---|---|---|\n"
    "| ボルト | 10 | 1,000 |\n| | 合計 | 1,000 |\n"
)
HTML = (
    "<p>発注書</p><p>発注番号: A-1</p><table><tr><th>品名</th><th>数量</th><th>金額</th></tr>"
    "<tr><td>ボルト</td><td>10</td><td>1,000</td></tr>"
    "<tr><td colspan=2>合計</td><td>1,000</td></tr></table>"
)
ODD = {
    "as it should be": GOOD,
    "in a code block": f"Here you are:\n\n```markdown\n{GOOD}```\n",
    "without a separator": GOOD.replace("|---|---|---|\n", ""),
    "with a separator too short": GOOD.replace("|---|---|---|", "|---|---|"),
    "ragged": GOOD.replace("| ボルト | 10 | 1,000 |", "| ボルト | 10 | 1,000 | |"),
    "without outer pipes": GOOD.replace("| ボルト | 10 | 1,000 |", "ボルト | 10 | 1,000"),
    "full-width pipes": GOOD.replace("|", "｜"),
    "a table in HTML": HTML,
}


def scored(sets: list[RunSet]) -> Scores:
    return score(sets, {})


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def right(scores: Scores) -> dict[tuple[str, int], float]:
    return dict(scores.values.groupby(["document", "run"])["right"].mean())


@pytest.mark.parametrize("how", ODD)
def test_odd_tables_are_read(how: str) -> None:
    run = run_of_markdown(ODD[how], FORM)
    values = scored([RunSet(TRUTH["0001.tif"], (run,), FORM)]).values
    assert values["right"].all(), values[["field", "raw", "error"]]
    assert run.strict == (how in ("as it should be", "without outer pipes"))


def test_the_truth_against_itself_on_every_sample(tmp_path: Path) -> None:
    truth = {n: {"fields": c.fields, "rows": list(c.rows)} for n, c in SAMPLES.items()}
    scores = scored(prediction_sets(write(tmp_path, "all.json", truth), SAMPLES, FORM))
    assert scores.values[["raw_right", "right", "folded_right"]].all(axis=None)
    assert scores.documents["order_right"].all()
    assert not scores.values["extra"].any()


@pytest.mark.parametrize(
    "name", ["0001.md", "0001.tif.md", "0001.run0.md", "run0/0001.md", "0001.txt", "0001.html"]
)
def test_how_files_are_named(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, GOOD)
    write(tmp_path, "README.md", "nothing of a sheet")
    found = right(scored(prediction_sets(tmp_path, TRUTH, FORM)))
    assert found["0001.tif", 0] == 1.0
    assert found["0002.tif", 0] == 0.0


@pytest.mark.parametrize(
    "names", [("0001.run0.md", "0001.run1.md"), ("run0/0001.md", "run1/0001.md")]
)
def test_several_runs(tmp_path: Path, names: tuple[str, str]) -> None:
    write(tmp_path, names[0], GOOD)
    write(tmp_path, names[1], GOOD.replace("A-1", "A-7"))
    scores = scored(prediction_sets(tmp_path, TRUTH, FORM))
    found = right(scores)
    assert found["0001.tif", 0] == 1.0
    assert found["0001.tif", 1] == pytest.approx(2 / 3)
    together = scores.values[
        (scores.values["document"] == "0001.tif") & (scores.values["run"] == -1)
    ]
    assert together.set_index("field").loc["order_no", "flagged"]


def test_a_sheet_without_a_prediction_is_wrong_and_nobody_was_told(tmp_path: Path) -> None:
    write(tmp_path, "0001.md", GOOD)
    scores = scored(prediction_sets(tmp_path, TRUTH, FORM))
    lost = scores.documents[scores.documents["document"] == "0002.tif"]
    assert set(lost["outcome"]) == {"failed"}
    assert set(lost["error"]) == {MISSING}
    values = scores.values[scores.values["document"] == "0002.tif"]
    assert not values["right"].any()
    assert not values["flagged"].any()


@pytest.mark.parametrize(
    "order",
    [
        {"fields": {"order_no": "A-1", "total": 1000}, "rows": [{"item": "ボルト"}]},
        {"fields": {"発注番号": "A-1", "合計金額": "¥1,000-"}, "items": [{"品名": "ボルト"}]},
        {"order_no": "A-1", "total": "1,000", "rows": [{"item": "ボルト", "colour": "red"}]},
        {"注文番号": "A-1", "税込合計": "1000円", "明細": [{"商品名": "ボルト"}], "印": None},
    ],
)
def test_orders_as_json(tmp_path: Path, order: dict) -> None:
    write(tmp_path, "0001.json", order)
    assert right(scored(prediction_sets(tmp_path, TRUTH, FORM)))["0001.tif", 0] == 1.0


def test_values_in_json_are_not_mended() -> None:
    """Somebody's answer is no reading: a kanji in a coined name may be meant."""
    case = Case("a", 1, {"buyer": "株式会社ネホュビヨ口機工"}, ())
    run = run_of_values({"fields": dict(case.fields)}, FORM)
    assert scored([RunSet(case, (run,), FORM)]).values["right"].all()


def test_an_empty_answer_is_no_order() -> None:
    assert run_of_values({"fields": {"order_no": None}, "rows": []}, FORM).orders == ()
    assert run_of_values({}, FORM).orders == ()
    assert run_of_markdown("", FORM).ended == "empty"


def test_pages_of_one_answer() -> None:
    run = run_of_markdown(GOOD + "\f発注番号: A-1\n", FORM)
    assert run.pages == 2
    assert len(run.orders) == 1


def test_records_among_the_predictions(tmp_path: Path) -> None:
    order = run_of_markdown(GOOD, FORM).orders[0]
    record = Record("0001.tif", DocumentStatus.OK, orders=(order,))
    write(tmp_path, "0001.json", to_json(record))
    assert right(scored(prediction_sets(tmp_path, TRUTH, FORM)))["0001.tif", 0] == 1.0


def test_records_of_a_batch(tmp_path: Path) -> None:
    order = run_of_markdown(GOOD, FORM).orders[0]
    record = Record("scans/0001.tif", DocumentStatus.OK, orders=(order,))
    write(tmp_path, "documents/scans/0001.tif.json", to_json(record))
    found = right(scored(record_sets(tmp_path, TRUTH, FORM)))
    assert found == {
        ("0001.tif", 0): 1.0,
        ("0001.tif", -1): 1.0,
        ("0002.tif", 0): 0.0,
        ("0002.tif", -1): 0.0,
    }
    with pytest.raises(UsageError, match="no records"):
        record_sets(tmp_path / "documents", TRUTH, FORM)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("other.json", "{", UnreadableFileError),
        ("other.json", "[1]", UnreadableFileError),
        ("0003.md", "of no sheet", UsageError),
        ("other.json", {"0003.tif": {}}, UsageError),
    ],
)
def test_what_cannot_be_scored(tmp_path: Path, name: str, content: object, error: type) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(error) as caught:
        prediction_sets(path if name.startswith("other") else tmp_path, TRUTH, FORM)
    assert caught.value.remedy


def test_two_answers_for_one_run(tmp_path: Path) -> None:
    write(tmp_path, "0001.md", GOOD)
    write(tmp_path, "0001.tif.md", GOOD)
    with pytest.raises(UsageError, match="second prediction"):
        prediction_sets(tmp_path, TRUTH, FORM)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        prediction_sets(tmp_path / "gone", TRUTH, FORM)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("0001.md", "発注書".encode("cp932"), "cannot be read"),
        ("0001.json", "{}é".encode("latin-1"), "cannot be read"),
        ("0001.json", b'{"fields": {', "no JSON"),
        ("0001.json", b"[1]", "holds a list"),
        ("0001.json", b'{"fields": 3}', "no order"),
        ("0001.json", b'{"fields": {"total": [1]}}', "no order"),
        ("0001.json", b'{"rows": [1]}', "no order"),
        ("0001.json", b'{"orders": [], "readings": []}', "not a document record"),
    ],
)
def test_what_cannot_be_read_fails_its_sheet_and_no_other(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    write(tmp_path, "0002.json", {"order_no": "A-2"})
    scores = scored(prediction_sets(tmp_path, TRUTH, FORM))
    found = right(scores)
    assert (found["0001.tif", 0], found["0002.tif", 0]) == (0.0, 1.0)
    lost = scores.documents[scores.documents["document"] == "0001.tif"]
    assert set(lost["outcome"]) == {"failed"}
    assert lost["error"].str.contains(said).all()


def test_one_file_with_a_sheet_of_another_shape(tmp_path: Path) -> None:
    path = write(tmp_path, "all.json", {"0001.tif": 3, "0002.tif": {"order_no": "A-2"}})
    found = right(scored(prediction_sets(path, TRUTH, FORM)))
    assert (found["0001.tif", 0], found["0002.tif", 0]) == (0.0, 1.0)
