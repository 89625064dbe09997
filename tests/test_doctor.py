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
    assert "diffusiongemma 26B" in names
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


@pytest.mark.parametrize(
    ("version", "state"), [("5.10.2", "optional"), ("4.57", "optional"), ("5.11.0", "ok")]
)
def test_an_old_transformers(monkeypatch, version: str, state: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(doctor, "_installed", lambda _: version)
    assert named("extra gemma").state == state


def test_fonts_are_optional(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert named("japanese fonts").state == "optional"
    assert "ocr-pipeline[synth]" in named("japanese fonts").remedy


def test_tools_that_are_not_there(monkeypatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    assert (named("poppler").state, named("gpu").state) == ("optional", "optional")
    assert "pypdfium2" in named("poppler").detail


def answer(monkeypatch, text: str, torch: str = "2.13.0+cu130") -> None:
    real = doctor._installed
    monkeypatch.setattr(doctor, "_installed", lambda d: torch if d == "torch" else real(d))
    done = subprocess.CompletedProcess([], 0, stdout=text)
    monkeypatch.setattr(doctor.shutil, "which", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: done)


def test_tools_that_are_there(monkeypatch) -> None:
    answer(monkeypatch, "Card A, 24564, 24000\nCard B, with a comma, 24564, 12000\n")
    assert named("poppler") == Diagnosis("poppler", "ok", "/usr/bin/pdftoppm")
    assert named("gpu").detail == (
        "Card A, 25.8 GB (25.2 GB free); Card B, with a comma, 25.8 GB (12.6 GB free)"
    )


@pytest.mark.parametrize(
    ("mebibytes", "detail"),
    [
        (143_771, "bfloat16 fits Card: 51.6 GB of weights, 45 runs at once in the 150.8 GB"),
        (81_559, "bfloat16 fits Card: 51.6 GB of weights, 15 runs at once in the 85.5 GB"),
        (46_068, "int8 (-O quantise=int8) fits Card: 27.9 GB of weights, 8 runs at once"),
        (32_607, "int8 (-O quantise=int8) fits Card: 27.9 GB of weights, 1 run at once"),
        (24_564, "int4 (-O quantise=int4) fits Card: 17.2 GB of weights, 2 runs at once"),
    ],
)
def test_the_precision_that_fits(monkeypatch, mebibytes: int, detail: str) -> None:
    answer(monkeypatch, f"Card, {mebibytes}, {mebibytes}\n")
    found = named("diffusiongemma 26B")
    assert found.state == "ok"
    assert found.detail.startswith(detail)


def test_what_is_free_counts_and_the_larger_card_is_taken(monkeypatch) -> None:
    answer(monkeypatch, "Busy, 81559, 9000\nFree, 46068, 45000\n")
    assert "fits Free" in named("diffusiongemma 26B").detail


def test_a_torch_that_cannot_use_the_card(monkeypatch) -> None:
    answer(monkeypatch, "Card, 81559, 81000\n", torch="2.13.0+cpu")
    found = named("diffusiongemma 26B")
    assert (found.state, found.detail) == ("optional", "torch 2.13.0+cpu cannot use Card")
    assert "CUDA" in found.remedy


def test_a_card_that_is_too_small(monkeypatch) -> None:
    answer(monkeypatch, "Card, 16380, 16000\n")
    found = named("diffusiongemma 26B")
    assert found.state == "optional"
    assert "too large for Card" in found.detail
    assert "bfloat16 54.8 GB, int8 33.0 GB, int4 22.3 GB" in found.detail
    assert "pocket" in found.remedy


def test_no_card(monkeypatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    found = named("diffusiongemma 26B")
    assert found.state == "optional"
    assert "no GPU" in found.detail


@pytest.mark.parametrize("line", ["[Unknown Error]", "Card, [N/A], [N/A]"])
def test_a_card_that_tells_nothing(monkeypatch, line: str) -> None:
    answer(monkeypatch, line)
    assert named("gpu").state == "optional"
    assert line in named("gpu").detail
    assert named("diffusiongemma 26B").state == "optional"


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
