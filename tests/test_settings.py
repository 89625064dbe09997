from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from ocr_pipeline.errors import UsageError
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.settings import Settings

SETTINGS = Settings(load_schema("purchase_order"), options={"threads": "2"}, seed=7)


def test_plain_values_for_the_summary_of_a_run() -> None:
    plain = SETTINGS.as_dict()
    assert plain == {
        "schema": "purchase_order",
        "engine": "ppocr",
        "model": "",
        "options": {"threads": "2"},
        "runs": 3,
        "seed": 7,
    }
    assert json.loads(json.dumps(plain)) == plain


def test_settings_are_a_value() -> None:
    assert replace(SETTINGS) == SETTINGS
    assert pickle.loads(pickle.dumps(SETTINGS)) == SETTINGS
    with pytest.raises(FrozenInstanceError):
        SETTINGS.runs = 4  # type: ignore[misc]


def test_the_fingerprint_is_that_of_equal_settings() -> None:
    same = Settings(load_schema("purchase_order"), options={"threads": "2"}, seed=7)
    assert same.fingerprint("1") == SETTINGS.fingerprint("1")
    assert len(SETTINGS.fingerprint("1")) == 16
    shuffled = [replace(SETTINGS, options=dict(o)) for o in ([("a", "1"), ("b", "2")],)]
    other = replace(SETTINGS, options={"b": "2", "a": "1"})
    assert shuffled[0].fingerprint("1") == other.fingerprint("1")


def test_whatever_may_change_a_result_changes_the_fingerprint() -> None:
    schema = SETTINGS.schema
    kinder = schema.model_copy(update={"closing": (*schema.closing, "終")})
    versions = [
        SETTINGS,
        replace(SETTINGS, engine="scripted"),
        replace(SETTINGS, model="m"),
        replace(SETTINGS, options={}),
        replace(SETTINGS, options={"threads": "3"}),
        replace(SETTINGS, runs=1),
        replace(SETTINGS, seed=8),
        replace(SETTINGS, schema=kinder),
    ]
    prints = [s.fingerprint("1") for s in versions] + [SETTINGS.fingerprint("2")]
    assert len(set(prints)) == len(prints)


def test_every_engine_of_a_panel_gets_a_run() -> None:
    schema = load_schema("purchase_order")
    with pytest.raises(UsageError, match="unasked"):
        Settings(schema, engine="ppocr,diffusiongemma", runs=1)
    assert Settings(schema, engine="ppocr,diffusiongemma", runs=2).runs == 2
