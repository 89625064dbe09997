from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from ocr_pipeline.engines import registry
from ocr_pipeline.engines.base import Engine
from ocr_pipeline.engines.registry import ENGINES, prepare_engine, settings_of
from ocr_pipeline.errors import MissingExtraError, OcrPipelineError, UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    steps: int = 48
    bound: float = 0.1
    stream: bool = False
    device: str = "cpu"


@pytest.fixture
def replies(tmp_path):
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(["| 品名 |"]), encoding="utf-8")
    return str(path)


def refused(name, model="", options=None):
    with pytest.raises(UsageError) as caught:
        prepare_engine(name, model, options)
    assert caught.value.exit_code == 2
    return caught.value


class TestPrepareEngine:
    def test_an_unknown_engine_names_those_there_are(self):
        error = refused("tesseract")
        assert "'tesseract'" in error.message
        assert all(name in error.remedy for name in ENGINES)

    def test_an_unknown_option_names_the_known_ones(self):
        error = refused("ppocr", options={"tiles": "4"})
        assert "tiles" in error.message
        assert "threads" in error.remedy
        assert "det_threshold" in error.remedy

    def test_all_unknown_options_are_named(self):
        error = refused("ppocr", options={"tiles": "4", "threads": "2", "beams": "3"})
        assert "beams, tiles" in error.message
        assert "threads" not in error.message

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("threads", "many"),
            ("det_threshold", "high"),
            ("second_look", "perhaps"),
            ("threads", ""),
        ],
    )
    def test_a_value_that_does_not_fit_is_shown(self, key, value):
        error = refused("ppocr", options={key: value})
        assert key in error.message
        assert "ppocr" in error.message
        assert repr(value) in error.message

    def test_ppocr_takes_no_model(self):
        assert "--model" in refused("ppocr", "large").remedy

    def test_scripted_needs_replies(self):
        assert "--model" in refused("scripted").remedy

    def test_scripted_has_no_options(self, replies):
        assert "-O" in refused("scripted", replies, {"threads": "1"}).remedy

    def test_scripted_replies_are_looked_at_at_once(self, tmp_path):
        assert "JSON" in refused("scripted", str(tmp_path / "none.json")).remedy

    def test_scripted_starts(self, replies):
        engine = prepare_engine("scripted", replies)()
        assert isinstance(engine, Engine)
        assert engine.name == "scripted"

    def test_nothing_heavy_is_loaded_before_the_start(self):
        code = (
            "import sys\n"
            "from ocr_pipeline.engines.registry import prepare_engine\n"
            "prepare_engine('ppocr', options={'threads': '1'})\n"
            "print(*{'rapidocr', 'onnxruntime', 'torch', 'transformers'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == ""

    @pytest.mark.slow
    def test_ppocr_starts_with_its_options(self):
        engine = prepare_engine("ppocr", options={"threads": "1", "second_look": "no"})()
        assert isinstance(engine, Engine)
        assert engine.name == "ppocr"
        assert (engine.settings.threads, engine.settings.second_look) == (1, False)


class TestSettingsOf:
    def test_texts_become_values(self):
        options = {"steps": "12", "bound": "0.25", "stream": "true", "device": "cuda"}
        assert settings_of(Settings, options, "x") == Settings(12, 0.25, True, "cuda")

    def test_what_is_not_given_keeps_its_default(self):
        assert settings_of(Settings, {}, "x") == Settings()
        assert settings_of(Settings, {"steps": "3"}, "x") == Settings(steps=3)

    @pytest.mark.parametrize("options", [{"steps": "3.5"}, {"stream": "2"}, {"bound": "1,5"}])
    def test_a_value_of_another_type_is_refused(self, options):
        with pytest.raises(OcrPipelineError, match="of model:"):
            settings_of(Settings, options, "model")


def test_a_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    there = registry.find_spec
    monkeypatch.setattr(registry, "find_spec", lambda n: None if n == "torch" else there(n))
    with pytest.raises(MissingExtraError, match=r"needs torch[\s\S]*ocr-pipeline\[gemma\]"):
        prepare_engine("diffusiongemma")
