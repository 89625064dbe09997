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

from ocr_pipeline.engines.diffusion_memory import PUBLISHED, describe, fitting
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
    found = f"torch {_installed('torch')}, transformers {_installed('transformers')}"
    if _version("transformers") < (5, 11):
        return Diagnosis(
            "extra gemma",
            "optional",
            f"{found}, which does not know DiffusionGemma",
            'pip install --upgrade "ocr-pipeline[gemma]"',
        )
    return Diagnosis("extra gemma", "ok", found)


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
    remedy = "none is needed: the ppocr engine runs on the CPU"
    try:
        cards = _cards()
    except (OSError, subprocess.SubprocessError) as e:
        return Diagnosis("gpu", "optional", f"nvidia-smi failed: {e}", remedy)
    if not cards:
        return Diagnosis("gpu", "optional", "no NVIDIA driver found", remedy)
    return Diagnosis("gpu", "ok", "; ".join(str(card) for card in cards))


def _diffusion_gemma() -> Diagnosis:
    """Which precision of the published model fits the largest card."""
    name, needs = "diffusiongemma 26B", describe(PUBLISHED)
    remedy = "-O device=cpu is slow; the pocket model (--model pocket) runs anywhere"
    try:
        cards = _cards()
    except (OSError, subprocess.SubprocessError):
        cards = []
    if not cards:
        return Diagnosis(name, "optional", f"no GPU to run it on; it needs {needs}", remedy)
    card = max(cards, key=lambda c: c.free)
    if _installed("torch").endswith("+cpu"):
        return Diagnosis(
            name,
            "optional",
            f"torch {_installed('torch')} cannot use {card.name}",
            "install torch for CUDA: https://pytorch.org/get-started/locally",
        )
    best = fitting(PUBLISHED, card.free)
    if best is None:
        return Diagnosis(name, "optional", f"too large for {card}; it needs {needs}", remedy)
    option = "" if best == "bfloat16" else f" (-O quantise={best})"
    rows = PUBLISHED.rows(best, card.free)
    return Diagnosis(
        name,
        "ok",
        f"{best}{option} fits {card.name}: {PUBLISHED.weights(best) / 1e9:.1f} GB of weights, "
        f"{rows} run{'s' * (rows > 1)} at once in the {card.free / 1e9:.1f} GB that are free",
    )


@dataclass(frozen=True, slots=True)
class _Card:
    """A graphics card; its memory in bytes."""

    name: str
    total: float
    free: float

    def __str__(self) -> str:
        return f"{self.name}, {self.total / 1e9:.1f} GB ({self.free / 1e9:.1f} GB free)"


def _cards() -> list[_Card]:
    """The NVIDIA cards of this machine, asked without torch.

    Raises:
        OSError: the driver's tool does not start.
        subprocess.SubprocessError: it fails, or says what cannot be understood.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, "--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits"]
    out = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    cards = []
    for line in out.splitlines():
        try:
            name, total, free = line.rsplit(",", 2)
            cards.append(_Card(name.strip(), float(total) * _MIB, float(free) * _MIB))
        except ValueError as e:  # a card that is part of a MIG, or broken, has no numbers
            raise subprocess.SubprocessError(f"it says {line.strip()!r}") from e
    return cards


_MIB = 2**20


def _importable(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _version(distribution: str) -> tuple[int, ...]:
    """Its first two numbers; none when it is not installed."""
    parts = _installed(distribution).split(".")[:2]
    return tuple(int(p) for p in parts if p.isdigit())


_EXAMINATIONS: tuple[Callable[[], Diagnosis], ...] = (
    _python,
    _opencv,
    _ppocr,
    _gemma,
    _poppler,
    _fonts,
    _gpu,
    _diffusion_gemma,
)
