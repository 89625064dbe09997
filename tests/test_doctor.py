from __future__ import annotations

import importlib.util
import subprocess

import pytest

from ocr_pipeline import doctor
from ocr_pipeline.doctor import Diagnosis, diagnose
from ocr_pipeline.errors import EngineError


def named(name: str) -> Diagnosis:
    return next(d for d in diagnose() if d.name == name)


def test_everything_is_looked_at_once() -> None:
    found = list(diagnose())
    names = [d.name for d in found]
    assert len(set(names)) == len(names)
    assert {"python", "opencv", "engine ppocr", "extra gemma", "poppler", "gpu"} <= set(names)
    for d in found:
        assert d.detail
        assert d.state == "ok" or d.remedy, f"{d.name} says nothing about how to get it"


def test_what_this_test_runs_on_works() -> None:
    assert named("python").state == "ok"
    assert named("opencv").state == "ok"
    ppocr = named("engine ppocr")
    assert ppocr.state == "ok"
    assert "nothing to download" in ppocr.detail


def test_an_old_python(monkeypatch) -> None:
    monkeypatch.setattr(doctor.sys, "version_info", (3, 10, 12))
    assert (named("python").state, named("python").remedy) == ("broken", "use Python 3.11 or newer")


@pytest.mark.parametrize(
    "wheels", [(), ("opencv-python",), ("opencv-python-headless", "opencv-python")]
)
def test_one_opencv_wheel_and_the_right_one(monkeypatch, wheels: tuple[str, ...]) -> None:
    monkeypatch.setattr(doctor, "_installed", lambda w: "4.12" if w in wheels else "")
    found = named("opencv")
    assert found.state == "broken"
    assert "pip install opencv-python-headless" in found.remedy
    assert all(w in found.detail for w in wheels)


def test_the_remedy_for_no_opencv_is_a_command_that_runs(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_installed", lambda _: "")
    assert "pip uninstall -y ;" not in named("opencv").remedy


def test_an_engine_without_its_models(monkeypatch) -> None:
    def broken() -> None:
        raise EngineError("no models in the wheel")

    monkeypatch.setattr("ocr_pipeline.engines.ppocr.models_folder", broken)
    found = named("engine ppocr")
    assert found.state == "broken"
    assert "no models" in found.detail
    assert "rapidocr" in found.remedy


@pytest.mark.parametrize("missing", ["torch", "transformers", "accelerate"])
def test_extras_are_optional(monkeypatch, missing: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda p: None if p == missing else real(p))
    found = named("extra gemma")
    assert found.state == "optional"
    assert missing in found.detail
    assert "ocr-pipeline[gemma]" in found.remedy


def test_fonts_are_optional(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert named("japanese fonts").state == "optional"
    assert "ocr-pipeline[synth]" in named("japanese fonts").remedy


def test_tools_that_are_not_there(monkeypatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    assert (named("poppler").state, named("gpu").state) == ("optional", "optional")
    assert "pypdfium2" in named("poppler").detail


def test_tools_that_are_there(monkeypatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    done = subprocess.CompletedProcess([], 0, stdout="Card A, 24 GB\nCard B, 24 GB\n")
    monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: done)
    assert named("poppler") == Diagnosis("poppler", "ok", "/usr/bin/pdftoppm")
    assert named("gpu").detail == "Card A, 24 GB; Card B, 24 GB"


@pytest.mark.parametrize(
    "error", [OSError("gone"), subprocess.TimeoutExpired("nvidia-smi", 20)], ids=["gone", "hangs"]
)
def test_a_driver_that_does_not_answer(monkeypatch, error: Exception) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(doctor.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(doctor.subprocess, "run", broken)
    assert named("gpu").state == "optional"
    assert "nvidia-smi failed" in named("gpu").detail
