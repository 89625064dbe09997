from __future__ import annotations

import json
import os
import pickle

import pytest
from PIL import Image

from ocr_pipeline.batch import reader
from ocr_pipeline.batch.reader import MakeReader
from ocr_pipeline.errors import UsageError
from ocr_pipeline.export.record import DocumentStatus
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.settings import Settings

SCHEMA = load_schema("purchase_order")


@pytest.fixture
def replies(tmp_path):
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(["発注書", "注文書"]), encoding="utf-8")
    return str(path)


def test_a_reader_reads_documents_with_one_engine(tmp_path, replies) -> None:
    scan = tmp_path / "blank.png"
    Image.new("L", (240, 160), 255).save(scan)
    read = MakeReader(Settings(SCHEMA, "scripted", replies, runs=2))()
    for source in ("a.png", "b.png"):
        record = read(scan, source)
        assert (record.source, record.status) == (source, DocumentStatus.BLANK)
        assert [r.engine for r in record.readings] == ["scripted", "scripted"]


def test_what_is_sent_to_a_worker(replies) -> None:
    make = MakeReader(Settings(SCHEMA, "scripted", replies), workers=2)
    assert pickle.loads(pickle.dumps(make)) == make


@pytest.mark.parametrize(
    ("cores", "workers", "given", "threads"),
    [(8, 2, {}, "4"), (2, 4, {}, "1"), (None, 1, {}, "1"), (8, 2, {"threads": "7"}, "7")],
)
def test_workers_share_the_cores(monkeypatch, cores, workers, given, threads) -> None:
    asked: list[dict[str, str]] = []

    def prepare(name: str, model: str, options: dict[str, str]):
        asked.append(dict(options))
        return lambda: None

    monkeypatch.setattr(reader, "prepare_engine", prepare)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    MakeReader(Settings(SCHEMA, options=given), workers)()
    assert asked == [{"threads": threads}]


def test_no_such_engine() -> None:
    with pytest.raises(UsageError, match="no engine 'magic'"):
        MakeReader(Settings(SCHEMA, "magic"))()
