"""Made-up scores of the real shape, for tests of what is computed from them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageDraw

from eval.tidy import CHECKLIST, CONSENSUS, DOCUMENTS, VALUES, Scores, frame
from ocr_pipeline.batch.pool import Outcome, failed
from ocr_pipeline.errors import OcrPipelineError

KANA = "アイウカガキサシソツタナハバパマヤラロンー"
FIELDS = (
    ("order_no", "code", False),
    ("order_date", "date", False),
    ("buyer", "name", False),
    ("supplier", "name", False),
    ("total", "money", False),
    ("item", "name", True),
    ("quantity", "number", True),
    ("amount", "money", True),
)
NAME_KINDS = ("random", "pronounceable", "minimal_pair", "dictionary")


def value(**changes: Any) -> dict[str, Any]:
    """One row of `Scores.values`: a total that was read right, changed as asked."""
    row: dict[str, Any] = {
        "document": "0000_s2.tif",
        "sheet": "0000_s2.tif",
        "transmission": 0,
        "severity": 2,
        "run": 0,
        "field": "total",
        "row": pd.NA,
        "extra": False,
        "kind": "money",
        "name_kind": "",
        "truth": "1200",
        "raw": "¥1,200",
        "read": "1200",
        "state": "read",
        "raw_right": False,
        "right": True,
        "folded_right": True,
        "cer": math.nan,
        "error": "",
        "flagged": False,
        "codes": (),
        "confidence": 0.95,
        "votes": math.nan,
        "ink": 0.9,
        "page": 1,
        "quad": ((10.0, 10.0), (90.0, 10.0), (90.0, 30.0), (10.0, 30.0)),
        "true_page": 1,
        "true_quad": ((9.0, 9.0), (91.0, 9.0), (91.0, 31.0), (9.0, 31.0)),
    }
    assert row.keys() == VALUES.keys()
    return row | changes


def document(**changes: Any) -> dict[str, Any]:
    """One row of `Scores.documents`: a run that went well, changed as asked."""
    row: dict[str, Any] = {
        "document": "0000_s2.tif",
        "sheet": "0000_s2.tif",
        "transmission": 0,
        "severity": 2,
        "run": 0,
        "status": "ok",
        "outcome": "ok",
        "error": "",
        "strict": True,
        "repairs": (),
        "pages": 1,
        "orders": 1,
        "tables": 1,
        "rows_true": 2,
        "rows_read": 2,
        "rows_in_order": True,
        "order_right": True,
        "flagged": False,
        "order_flags": (),
        "seconds": 2.5,
        "tokens": math.nan,
        "stats": {"seconds": 2.5},
    }
    assert row.keys() == DOCUMENTS.keys()
    return row | changes


def checked(**changes: Any) -> dict[str, Any]:
    """One row of `Scores.checklist`, changed as asked."""
    row = {
        "document": "0000_s2.tif",
        "sheet": "0000_s2.tif",
        "transmission": 0,
        "severity": 2,
        "run": 0,
        "item": "total",
        "truth": "¥1,200",
        "right": True,
    }
    return row | changes


def make_scores(
    sheets: int = 8,
    *,
    runs: int = 5,
    transmissions: int = 1,
    severities: tuple[int, ...] = (1, 3),
    lines: int = 2,
    accuracy: float = 0.9,
    flagged: float = 0.6,
    seed: int = 0,
) -> Scores:
    """Scores of an engine that errs at random.

    Every value has a difficulty, so that runs are alike; a wrong value has one character changed;
    the consensus is what most runs read, and is flagged with the chance `flagged` when it is wrong
    and a tenth of that when it is right.
    """
    rng = np.random.default_rng(seed)
    values, documents, checklist = [], [], []
    for s in range(sheets):
        severity = severities[s % len(severities)]
        truths = [_truths(rng, lines)]
        for t in range(transmissions):
            name = f"{s:04d}_s{severity}" + (f".t{t}" if t else "") + ".tif"
            where = {
                "document": name,
                "sheet": f"{s:04d}_s{severity}.tif",
                "transmission": t,
                "severity": severity,
            }
            rows = _document(rng, truths[0], runs, accuracy, flagged)
            values += [value(**where, **r) for r in rows]
            for run in (*range(runs), CONSENSUS):
                own = [r for r in rows if r["run"] == run]
                right = all(r["right"] for r in own)
                documents.append(
                    document(
                        **where,
                        run=run,
                        order_right=right,
                        flagged=any(r["flagged"] for r in own),
                        rows_true=lines,
                        rows_read=lines,
                    )
                )
                checklist += [
                    checked(**where, run=run, item=r["field"], truth=r["truth"], right=r["right"])
                    for r in own
                    if pd.isna(r["row"])
                ]
    about = {"engine": "made_up", "runs": runs, "seed": seed, "schema": "purchase_order"}
    return Scores(
        frame(values, VALUES), frame(documents, DOCUMENTS), frame(checklist, CHECKLIST), about=about
    )


def _truths(rng: np.random.Generator, lines: int) -> list[dict[str, Any]]:
    truths = []
    for name, kind, of_line in FIELDS:
        for row in range(lines) if of_line else (pd.NA,):
            if kind == "name":
                truth = "".join(rng.choice(list(KANA), 6))
            elif kind == "date":
                truth = f"2026-0{rng.integers(1, 10)}-1{rng.integers(0, 10)}"
            else:
                truth = str(rng.integers(1000, 100000))
            named = NAME_KINDS[rng.integers(4)] if name in ("buyer", "supplier") else ""
            truths.append(
                {"field": name, "kind": kind, "row": row, "truth": truth, "name_kind": named}
            )
    return truths


def _document(
    rng: np.random.Generator,
    truths: list[dict[str, Any]],
    runs: int,
    accuracy: float,
    flagged: float,
) -> list[dict[str, Any]]:
    rows = []
    for true in truths:
        # A Beta spread: some values are right in every run, some in none.
        chance = rng.beta(2 * accuracy, 2 * (1 - accuracy))
        reads = [
            true["truth"] if rng.random() < chance else _damaged(rng, true["truth"])
            for _ in range(runs)
        ]
        winner = max(dict.fromkeys(reads), key=reads.count)
        ink = float(rng.uniform(0.5, 1.0))
        for run, read in [*enumerate(reads), (CONSENSUS, winner)]:
            right = read == true["truth"]
            told = rng.random() < (flagged if not right else flagged / 10)
            rows.append(
                true
                | {
                    "run": run,
                    "raw": read,
                    "read": read,
                    "raw_right": right,
                    "right": right,
                    "folded_right": right,
                    "cer": _cer(true, right),
                    "error": "" if right else "wrong",
                    "flagged": bool(told),
                    "codes": ("low_confidence",) if told else (),
                    "confidence": float(rng.beta(8, 1 if right else 4)),
                    "votes": reads.count(winner) / runs if run == CONSENSUS else math.nan,
                    "ink": ink,
                }
            )
    return rows


def _cer(true: dict[str, Any], right: bool) -> float:
    """One character of a name is changed, or none."""
    return math.nan if true["kind"] != "name" else 0.0 if right else 1 / len(true["truth"])


def _damaged(rng: np.random.Generator, text: str) -> str:
    at = int(rng.integers(len(text)))
    others = [c for c in (KANA if text[at] in KANA else "0123456789") if c != text[at]]
    return text[:at] + str(rng.choice(others)) + text[at + 1 :]


@pytest.fixture
def a_value() -> Callable[..., dict[str, Any]]:
    """`a_value(run=1, right=False) -> dict`: a row for `tidy.frame(…, VALUES)`."""
    return value


@pytest.fixture
def a_document() -> Callable[..., dict[str, Any]]:
    """`a_document(outcome="failed") -> dict`: a row for `tidy.frame(…, DOCUMENTS)`."""
    return document


@pytest.fixture
def scores_of() -> Callable[..., Scores]:
    """`scores_of(sheets=8, runs=5, …) -> Scores`."""
    return make_scores


FORM_TEXT = """\
# 発注書

発注番号: A-1

| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| ボルト | 10 | 100 | 1,000 |
| | | 合計 | 1,000 |
"""
FORM_TRUTH = {
    "severity": 0,
    "fields": {"order_no": "A-1", "total": 1100},
    "rows": [{"item": "ボルト", "quantity": 10}, {"item": "軸受", "quantity": 3}],
}


@dataclass(frozen=True)
class Bench:
    """A folder of two small sheets with their truth, and what a scripted engine says of them.

    Of the six true values of each the number, one item and its quantity are read right; the total
    and a line are not.

    Attributes:
        sheets: the folder.
        out: a folder for results.
    """

    sheets: Path
    out: Path

    def replies(self, *scripts: object) -> Path:
        """A file of replies, for `--model`; the right one when none is given."""
        path = self.sheets.parent / "replies.json"
        path.write_text(json.dumps(scripts or [FORM_TEXT]), encoding="utf-8")
        return path


@pytest.fixture
def small_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Two sheets; documents are read in this process, whatever the number of workers."""
    folder = tmp_path / "sheets"
    folder.mkdir()
    image = Image.new("L", (240, 160), 255)
    pen = ImageDraw.Draw(image)
    for x in range(40, 200, 30):
        pen.rectangle((x, 60, x + 18, 74), outline=0, width=3)
    for name in ("a.png", "b.png"):
        image.save(folder / name, dpi=(200, 200))
    truth = {"a.png": FORM_TRUTH, "b.png": FORM_TRUTH | {"severity": 3}}
    (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")

    def read_all(scans: Any, make_reader: Any, **_: object) -> Iterator[Outcome]:
        read = make_reader()
        for scan in scans:
            try:
                yield Outcome(scan, read(*scan), 0.5)
            except OcrPipelineError as error:
                yield Outcome(scan, failed(scan.source, str(error)), 0.5)

    monkeypatch.setattr("eval.runs.read_all", read_all)
    monkeypatch.setenv("COLUMNS", "160")
    return Bench(folder, tmp_path / "out")
