"""Bench sets: sheets that everybody can make again, byte by byte, from a few lines of YAML.

    about: what it is for
    seed: 1
    groups:
      - {count: 12, severity: 0-5, lines: 3-8}

A set is a `folder` of scans, or groups of sheets made by `synth`. It is made once and kept in the
user's cache, under a name that changes with whatever may change a pixel.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

import synth
from eval.sheets import Written, sent_again, twin_of, written_blank, written_sheet
from ocr_pipeline.errors import OutputError, UsageError
from synth.files import to_json
from synth.making import Job, name_kinds, severities, sheet_of, sheet_seed
from synth.names import NameKind

SHIPPED = Path(__file__).parents[1] / "datasets" / "bench"
_PIXELS = ("numpy", "opencv-python-headless", "pillow", "pylopdf-fonts-jp", "matplotlib-fontja")
"""Packages whose version may change a pixel."""

Order = Callable[[], list[Written]]
"""Makes the files of one order: its twin's and those of further transmissions are among them."""


def _range(text: object) -> tuple[int, int]:
    low, _, high = str(text).partition("-")
    return int(low), int(high or low)


class Group(BaseModel):
    """Sheets of one sort.

    Attributes:
        count: how many orders.
        severity: `2`, `0-5` or `0,3,5`; they take turns.
        same_order: every order at each severity, instead of one after the other.
        lines: fewest and most lines of an order.
        layout: name of a layout, or `any`.
        preset: `article`, or nothing.
        marks: seals, stamps and pen.
        names: kinds of company names.
        form: how the files are stored.
        twins: each order once more, its sender's name with one look-alike swapped.
        transmissions: how often each sheet is sent.
        blank: nothing is printed on them: whatever is read is invented.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(ge=1)
    severity: Annotated[tuple[int, ...], BeforeValidator(lambda v: severities(str(v)))]
    same_order: bool = False
    lines: Annotated[tuple[int, int], BeforeValidator(_range)] = (3, 12)
    layout: str = "any"
    preset: Literal["", "article"] = ""
    marks: bool = True
    names: Annotated[tuple[NameKind, ...], BeforeValidator(name_kinds)] = tuple(NameKind)
    form: Literal["tif", "pdf", "png"] = "tif"
    twins: bool = False
    transmissions: int = Field(default=1, ge=1)
    blank: bool = False


class Bench(BaseModel):
    """A bench set.

    Attributes:
        name: of its file.
        about: what it is for.
        seed: of all its sheets.
        groups: what is made.
        folder: of scans with a truth.json, relative to the file, instead of groups.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    seed: int = 0
    groups: tuple[Group, ...] = ()
    folder: Path | None = None


def load_bench(name_or_path: str) -> tuple[Bench, Path]:
    """A bench set that ships with the repository (by name) or a YAML file (by path).

    Returns:
        The set, and the file it was read from.

    Raises:
        UsageError: there is no such set, or the file is wrong.
    """
    shipped = SHIPPED / f"{name_or_path}.yaml"
    path = shipped if shipped.is_file() else Path(name_or_path)
    if not path.is_file():
        names = ", ".join(sorted(p.stem for p in SHIPPED.glob("*.yaml")))
        raise UsageError(
            f"there is no bench set {name_or_path!r}",
            remedy=f"give the path of a YAML file{f', or one of {names}' if names else ''}",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        bench = Bench.model_validate({**content, "name": path.stem})
        if bool(bench.groups) == bool(bench.folder):
            raise ValueError("it needs either groups or a folder")
    except (OSError, ValueError, TypeError, yaml.YAMLError, ValidationError, UsageError) as e:
        raise UsageError(
            f"the bench set {path} is wrong: {e}",
            remedy="compare it with datasets/bench/quick.yaml",
        ) from e
    return bench, path


def sheets_of(bench: Bench) -> Iterator[Order]:
    """What makes the files of the set, one order at a time, in their order."""
    index = 0
    for group in bench.groups:
        for i in range(group.count):
            levels = group.severity
            for severity in levels if group.same_order else (levels[i % len(levels)],):
                job = Job(
                    f"{index:04d}_s{severity}",
                    sheet_seed(bench.seed, index),
                    severity,
                    group.form,
                    group.layout,
                    group.preset,
                    group.marks and not group.preset,
                    lines=group.lines,
                    kinds=group.names,
                )
                yield partial(_files, job, group)
            index += 1


def _files(job: Job, group: Group) -> list[Written]:
    if group.blank:
        return [written_blank(job.name, job.form, job.severity, job.seed)]
    sheet = sheet_of(job)
    twins = {job.name: sheet} | ({f"{job.name}_twin": twin_of(sheet)} if group.twins else {})
    if group.transmissions == 1:
        return [written_sheet(each, name, job.form) for name, each in twins.items()]
    return [
        written_sheet(sent_again(each, n), f"{name}_t{n}", job.form, of=name, number=n)
        for name, each in twins.items()
        for n in range(group.transmissions)
    ]


def make_bench(
    bench: Bench,
    path: Path,
    *,
    cached: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """The folder of a set, with its truth.json: made now, or earlier.

    Args:
        bench: the set.
        path: of its file.
        cached: where sets are kept; the user's cache by default.
        progress: told how many orders are made, and of how many.

    Raises:
        OutputError: the sheets cannot be written.
    """
    if bench.folder is not None:
        return (path.parent / bench.folder).resolve()
    home = cached or user_cache()
    folder = home / f"{bench.name}-{fingerprint(bench)}"
    if (folder / "truth.json").is_file():
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=home, prefix=f"{bench.name}-"))
        try:
            _fill(making, list(sheets_of(bench)), progress or (lambda done, total: None))
            # What is broken off half-way is never taken for a whole set.
            making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except OSError as e:
        if (folder / "truth.json").is_file():  # somebody else has made it meanwhile
            return folder
        raise OutputError(
            f"the bench set cannot be written to {folder}: {e}",
            remedy="free some space, or name another cache in XDG_CACHE_HOME",
        ) from e
    return folder


def _fill(folder: Path, orders: Sequence[Order], progress: Callable[[int, int], None]) -> None:
    truth = {}
    for done, order in enumerate(orders):
        progress(done, len(orders))
        for written in order():
            for name, content in written.files.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            truth[written.name] = written.truth
    (folder / "truth.json").write_text(to_json(truth), encoding="utf-8")
    progress(len(orders), len(orders))


def user_cache() -> Path:
    """Where bench sets are kept: below the cache folder of the user's system."""
    if sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "ocr-pipeline" / "bench"


def fingerprint(bench: Bench) -> str:
    """Changes with whatever may change a pixel: the set, the generator, its packages."""
    content = hashlib.sha256(bench.model_dump_json(exclude={"about"}).encode())
    content.update(_generator())
    return content.hexdigest()[:12]


@cache
def _generator() -> bytes:
    root = Path(synth.__file__).parent
    sources = [p for suffix in ("py", "csv") for p in sorted(root.rglob(f"*.{suffix}"))]
    digest = hashlib.sha256()
    for path in (*sources, Path(__file__), Path(__file__).with_name("sheets.py")):
        digest.update(path.read_bytes())
    for package in _PIXELS:
        digest.update(f"{package} {version(package)}".encode())
    return digest.digest()
