"""What works on this machine, what is missing, and how to get it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from ocr_pipeline.errors import OcrPipelineError

State = Literal["ok", "optional", "broken"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at.

    Attributes:
        name: what it is.
        state: `ok`, `optional` (missing, and only some uses need it) or `broken`.
        detail: what was found.
        remedy: how to get it, when it is missing.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""


def diagnose() -> Iterator[Diagnosis]:
    """Look at everything the pipeline may need."""
    for examine in _EXAMINATIONS:
        yield examine()


def _python() -> Diagnosis:
    ok = sys.version_info >= (3, 11)
    return Diagnosis(
        "python",
        "ok" if ok else "broken",
        f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "" if ok else "use Python 3.11 or newer",
    )


def _opencv() -> Diagnosis:
    """Two OpenCV wheels in one environment overwrite each other's files."""
    wheels = [w for w in _OPENCV_WHEELS if _installed(w)]
    if wheels == ["opencv-python-headless"]:
        return Diagnosis("opencv", "ok", f"opencv-python-headless {_installed(wheels[0])}")
    return Diagnosis(
        "opencv",
        "broken",
        f"installed: {', '.join(wheels) or 'none'}",
        (f"pip uninstall -y {' '.join(wheels)}; " if wheels else "")
        + "pip install opencv-python-headless",
    )


_OPENCV_WHEELS = (
    "opencv-python-headless",
    "opencv-python",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)


def _ppocr() -> Diagnosis:
    from ocr_pipeline.engines.ppocr import DETECTOR, RECOGNISER, models_folder  # noqa: PLC0415

    try:
        folder = models_folder()
    except (OcrPipelineError, ImportError) as e:
        return Diagnosis(
            "engine ppocr", "broken", str(e), 'pip install --force-reinstall "rapidocr>=3.10"'
        )
    size = sum((folder / m).stat().st_size for m in (DETECTOR, RECOGNISER)) / 1e6
    return Diagnosis(
        "engine ppocr",
        "ok",
        f"rapidocr {_installed('rapidocr')}, onnxruntime {_installed('onnxruntime')}, "
        f"models {size:.0f} MB, nothing to download",
    )


def _gemma() -> Diagnosis:
    missing = [p for p in ("torch", "transformers", "accelerate") if not _importable(p)]
    if missing:
        return Diagnosis(
            "extra gemma",
            "optional",
            f"missing: {', '.join(missing)} (needed for DiffusionGemma)",
            'pip install "ocr-pipeline[gemma]"',
        )
    return Diagnosis(
        "extra gemma",
        "ok",
        f"torch {_installed('torch')}, transformers {_installed('transformers')}",
    )


def _poppler() -> Diagnosis:
    tool = shutil.which("pdftoppm")
    if tool is None:
        return Diagnosis(
            "poppler",
            "optional",
            "pdftoppm is not on PATH; PDF pages are drawn by pypdfium2 instead",
            "apt-get install poppler-utils   (macOS: brew install poppler)",
        )
    return Diagnosis("poppler", "ok", tool)


def _fonts() -> Diagnosis:
    found = [p for p in ("pylopdf_fonts_jp", "matplotlib_fontja") if _importable(p)]
    if len(found) < 2:
        return Diagnosis(
            "japanese fonts",
            "optional",
            f"packages: {', '.join(found) or 'none'} (needed to make test sheets)",
            'pip install "ocr-pipeline[synth]"',
        )
    return Diagnosis("japanese fonts", "ok", f"from packages {', '.join(found)}")


def _gpu() -> Diagnosis:
    tool = shutil.which("nvidia-smi")
    remedy = "none is needed: the ppocr engine runs on the CPU"
    if tool is None:
        return Diagnosis("gpu", "optional", "no NVIDIA driver found", remedy)
    query = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        out = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError) as e:
        return Diagnosis("gpu", "optional", f"nvidia-smi failed: {e}", remedy)
    return Diagnosis("gpu", "ok", out.stdout.strip().replace("\n", "; "))


def _importable(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


_EXAMINATIONS: tuple[Callable[[], Diagnosis], ...] = (
    _python,
    _opencv,
    _ppocr,
    _gemma,
    _poppler,
    _fonts,
    _gpu,
)
