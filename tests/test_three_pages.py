"""The whole way with real weights: a checkpoint that knows three pages by heart.

`ocr_pipeline.pocket.memorise` made it; how is in its docstring. The pages are drawn anew from their
seed, so what is tested is the way from file to order and nothing that was stored.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from eval.cases import load_cases
from eval.documents import run_of_record
from eval.outcomes import Form
from eval.scoring import RunSet, score
from eval.selection import consensus
from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.diffusion_gemma import DiffusionGemmaEngine
from ocr_pipeline.engines.diffusion_settings import DiffusionGemmaSettings
from ocr_pipeline.engines.event_log import read_log
from ocr_pipeline.engines.events import Event
from ocr_pipeline.export.record import from_json
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pocket.memorise import load_lessons
from ocr_pipeline.tables.markdown import parse, render

MODEL = Path(__file__).parent / "data" / "three_pages"
pytestmark = pytest.mark.slow


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ocr_pipeline.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sheets")
    wish = "sheets -n 3 --severity 0 --lines 2-3 --layout full_grid --seed 11 --out"
    done = command(*wish.split(), folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_read_reproduces_their_markdown_and_the_exact_orders(sheets: Path, tmp_path: Path) -> None:
    done = command(
        *("read", sheets, "--out", tmp_path, "--engine", "diffusiongemma", "--model", MODEL),
        *("--runs", "2", "-O", "tiling=page"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing to check" in done.stdout
    schema = load_schema("purchase_order")
    cases = load_cases(sheets / "truth.json")
    lessons = load_lessons(sheets)
    assert len(cases) == len(lessons) == 3
    for (name, case), lesson in zip(sorted(cases.items()), lessons, strict=True):
        record = from_json((tmp_path / "documents" / f"{name}.json").read_text(encoding="utf-8"))
        assert record.markdown == render(parse(lesson.reply))
        for reading in record.readings:
            assert reading.raw == lesson.reply
            assert reading.status is ReadingStatus.OK
            assert reading.stats["canvases"] >= 2
            assert 50 < reading.stats["image_tokens"] <= 70
            assert reading.stats["encoder_calls"] == 1  # for both runs
        runs = RunSet(case, (run_of_record(record),), Form(schema))
        values = consensus(score([runs], {}).values)
        assert len(values) > 20
        assert list(values.loc[~values["right"], "field"]) == []


def test_five_runs_of_a_page_agree_and_the_text_forms_before_it_stands(sheets: Path) -> None:
    engine = DiffusionGemmaEngine.load(str(MODEL), DiffusionGemmaSettings(tiling="page"))
    (page,) = load_pages(sheets / "0001_s0.tif", "0001_s0.tif")
    events: list[Event] = []
    readings = engine.read_runs(page, runs=range(5), seeds=range(5), emit=events.append)
    assert len({r.raw for r in readings}) == 1
    mine = [e for e in events if e.run == 3]
    drafts = [e for e in mine if e.kind == "draft"]
    committed = [e for e in mine if e.kind == "committed"]
    assert "".join(e.data["text"] for e in committed) == readings[3].raw
    first, last = drafts[0], next(d for d in reversed(drafts) if d.data["canvas"] == 0)
    assert last.data["text"] == committed[0].data["text"]
    assert first.data["text"] != last.data["text"]  # noise first
    assert sum(first.data["entropy"]) > sum(last.data["entropy"])


def test_denoise_shows_it_forming(sheets: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    done = command(
        *("denoise", sheets / "0000_s0.tif", "--model", MODEL, "--record", log, "--seed", "4"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2601-508" in done.stdout
    kinds = [entry.event.kind for entry in read_log(log).entries]
    assert kinds.index("draft") < kinds.index("committed") < kinds.index("done")
    again = command("denoise", "--replay", log, "--speed", "0")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "2601-508" in again.stdout


def test_the_checkpoint_is_small_enough_to_keep() -> None:
    card = json.loads((MODEL / "ocr_pipeline.json").read_text(encoding="utf-8"))
    assert card["tiling"] == "page"
    assert (MODEL / "model.safetensors").stat().st_size < 1_500_000
