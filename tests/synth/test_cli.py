import json

import pytest
from PIL import Image
from typer.testing import CliRunner

from ocr_pipeline.errors import UsageError
from synth.cli import app
from synth.making import name_kinds, severities, sheet_seed

runner = CliRunner()


def run(*arguments):
    return runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def test_a_folder_of_sheets(tmp_path):
    out = tmp_path / "sheets"
    flags = ("--preview", "--jsonl", "--clean", "-q", "--lines", "3-4")
    assert (
        run("sheets", "-n", 2, "-o", out, "--severity", "0,4", "--seed", 5, *flags).exit_code == 0
    )
    truth = json.loads((out / "truth.json").read_text(encoding="utf-8"))
    assert list(truth) == ["0000_s0.tif", "0001_s4.tif"]
    for name in truth:
        with Image.open(out / name) as file:
            file.load()
        assert json.loads((out / "truth" / f"{name}.json").read_text(encoding="utf-8"))
        assert (out / f"{name}.md").read_text(encoding="utf-8").count("|") > 20
    html = (out / "preview.html").read_text(encoding="utf-8")
    assert html.count("<polygon") > 20
    assert html.count("<img") == 2
    pairs = [json.loads(x) for x in (out / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(out / p["image"]).is_file() for p in pairs] == [True, True]
    assert all("|" in p["markdown"] for p in pairs)
    assert len(list((out / "clean").iterdir())) == 2


def test_the_same_order_at_every_severity(tmp_path):
    flags = ("--same-order", "-q", "--lines", "3-3", "--format", "pdf")
    run("sheets", "-n", 1, "-o", tmp_path, "--severity", "1,5", *flags)
    truth = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    one, two = truth["0000_s1.pdf"], truth["0000_s5.pdf"]
    assert one["fields"] == two["fields"]
    assert (one["severity"], two["severity"]) == (1, 5)


def test_a_parameter_can_be_fixed(tmp_path):
    flags = ("--set", "scan.skew_deg=1.25", "--set", "threshold.level=0.6", "-q", "--lines", "3-3")
    run("sheets", "-n", 1, "-o", tmp_path, *flags)
    long = json.loads((tmp_path / "truth" / "0000_s2.tif.json").read_text(encoding="utf-8"))
    steps = {s["step"]: s for s in long["chain"]}
    assert steps["scan"]["skew_deg"] == 1.25
    assert steps["threshold"]["level"] == 0.6


def test_the_article_preset(tmp_path):
    run("sheets", "--preset", "article", "-n", 1, "-o", tmp_path, "-q")
    long = json.loads((tmp_path / "truth" / "0000_s2.tif.json").read_text(encoding="utf-8"))
    assert len(long["scored"]) == 20


def test_contact_sheet(tmp_path):
    run("contact", "-o", tmp_path / "c.png")
    with Image.open(tmp_path / "c.png") as picture:
        assert picture.width > 1500


@pytest.mark.parametrize(
    "arguments",
    [
        ("--severity", "9"),
        ("--severity", "x"),
        ("--layout", "round"),
        ("--format", "gif"),
        ("--preset", "none"),
        ("--lines", "0-3"),
        ("--lines", "a"),
        ("--names", "latin"),
        ("--fonts", "web"),
        ("--set", "scan.skew_deg"),
        ("--set", "scan.nothing=1"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(arguments, tmp_path):
    with pytest.raises(UsageError) as error:
        run("sheets", "-n", 1, "-o", tmp_path, "-q", *arguments)
    assert error.value.remedy


def test_small_parsers():
    assert severities("0-2,5") == (0, 1, 2, 5)
    assert len(name_kinds("any")) == 4
    assert sheet_seed(1, 2) != sheet_seed(2, 1)
