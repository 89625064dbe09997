"""Runs over the sheets of a folder, stored as they come, so that they can be broken off anywhere.

A folder of runs holds `runs.jsonl` (see `eval.stored`) and `run.json` (what was run on what). Runs
that failed are kept: they are part of the result.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from eval.cases import Case
from eval.documents import Run, failed_run, run_of
from eval.outcomes import Form
from eval.reader import MakeRunner, StoredRuns
from eval.scoring import RunSet
from eval.stored import PageRun, line_of, page_run_of, place_of, read_lines
from ocr_pipeline import __version__
from ocr_pipeline.batch.pool import read_all
from ocr_pipeline.batch.scans import Scan
from ocr_pipeline.errors import OutputError, UnreadableFileError, UsageError
from ocr_pipeline.settings import Settings
from ocr_pipeline.tables.transcript import Transcript

RUNS = "runs.jsonl"
ABOUT = "run.json"
_SOFTWARE = (
    *("ocr-pipeline", "numpy", "opencv-python-headless", "rapidocr", "onnxruntime"),
    *("torch", "transformers"),
)
_FIXED = ("engine", "model", "options", "seed", "schema", "form", "version")
"""What must be the same for runs to be counted together."""

Progress = Callable[[int, int], None]
"""Told how many page-runs' documents are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    Attributes:
        sheets: the folder of the files.
        truth: the truth file, as given.
        cases: the files and their truth.
        bench: name of the bench set; empty when the sheets are a folder.
    """

    sheets: Path
    truth: Path
    cases: Mapping[str, Case]
    bench: str = ""


def perform(
    plan: Plan,
    settings: Settings,
    out: Path,
    *,
    workers: int = 1,
    time_limit: float | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> bool:
    """Run an engine over the sheets; what is stored in `out` already is not run again.

    Args:
        plan: the sheets.
        settings: engine, model, options, runs, seed, schema.
        out: the folder of runs.
        workers: processes.
        time_limit: seconds that all runs of a document may take.
        fresh: forget what is stored.
        progress: told of every document.

    Returns:
        Whether all runs are done; false when it was broken off.

    Raises:
        UsageError: `out` holds runs of something else.
        UnreadableFileError: a line of its `runs.jsonl` is broken.
        OutputError: nothing can be written there.
        OcrPipelineError: the engine cannot start.
    """
    about = _about(plan, settings)
    log = _Log.open(out, about, fresh=fresh)
    missing = {
        name: tuple(k for k in range(settings.runs) if (name, k) not in log.done)
        for name in plan.cases
    }
    missing = {name: runs for name, runs in missing.items() if runs}
    count = len(plan.cases) - len(missing)
    if progress:
        progress(count, len(plan.cases))
    scans = [Scan(plan.sheets / name, name) for name in missing]
    make = MakeRunner(settings, missing, workers)
    with log, closing(read_all(scans, make, workers=workers, time_limit=time_limit)) as outcomes:
        try:
            for outcome in outcomes:
                record = outcome.record
                if isinstance(record, StoredRuns):
                    lines: Sequence[str] = record.lines
                else:
                    lines = [
                        line_of(PageRun(record.source, k, 0, 0, None, Transcript(), record.error))
                        for k in missing[record.source]
                    ]
                log.write(lines)
                count += 1
                if progress:
                    progress(count, len(plan.cases))
        except KeyboardInterrupt:
            return False
    return True


def about_of(folder: Path) -> dict[str, Any]:
    """What a folder of runs says of itself.

    Raises:
        UsageError: it is no such folder.
        UnreadableFileError: its `run.json` is broken.
    """
    path = folder / ABOUT
    if not path.is_file() or not (folder / RUNS).is_file():
        raise UsageError(
            f"there are no runs in {folder}",
            remedy="make them: ocr-pipeline eval run --sheets DIR -o DIR",
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {**found, "runs": int(found["runs"])}
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise UnreadableFileError(
            f"{path} cannot be used: {e!r}", remedy="run again with --fresh"
        ) from e


def run_sets(
    folder: Path, cases: Mapping[str, Case], form: Form, *, partial: bool = False
) -> Iterator[RunSet]:
    """The stored runs of each document, in the order of the truth.

    Args:
        folder: of runs.
        cases: the truth.
        form: its form.
        partial: leave out documents of which runs are still missing.

    Raises:
        UsageError: runs are missing.
        UnreadableFileError: a line of `runs.jsonl` is broken.
    """
    count = about_of(folder)["runs"]
    found = _stored(folder / RUNS, form)
    whole = [name for name in cases if all((name, k) in found for k in range(count))]
    if len(whole) < len(cases) and not partial:
        raise UsageError(
            f"{len(cases) - len(whole)} of {len(cases)} documents in {folder} are not run yet",
            remedy="give the same `eval run` again, or score what is there with --partial",
        )
    if not whole:
        raise UsageError(f"no document in {folder} is done", remedy="run `eval run` first")
    for name in whole:
        form.require(cases[name])
        yield RunSet(cases[name], tuple(found[name, k] for k in range(count)), form)


def _stored(path: Path, form: Form) -> dict[tuple[str, int], Run]:
    """(document, run) → the run, of all whose pages are all there."""
    pages: dict[tuple[str, int], dict[int, PageRun]] = {}
    runs = {}
    for found in read_lines(path, lambda line: page_run_of(line, details=False)):
        key = found.document, found.run
        if not found.page:
            runs[key] = failed_run(found.error)
            continue
        held = pages.setdefault(key, {})
        held[found.page] = found
        if len(held) == found.pages:
            whole = [held[number] for number in sorted(held)]
            readings = [r.reading for r in whole if r.reading is not None]
            transcripts = [r.transcript for r in whole]
            seconds = sum(r.seconds for r in whole)
            runs[key] = run_of(readings, transcripts, form.schema, seconds=seconds)
            del pages[key]
    return runs


class _Log:
    """The files of a folder of runs, while it is written."""

    def __init__(self, path: Path, done: frozenset[tuple[str, int]]) -> None:
        self.done = done
        self._file = path.open("a", encoding="utf-8", newline="\n")

    @classmethod
    def open(cls, out: Path, about: Mapping[str, Any], *, fresh: bool) -> _Log:
        """Start or go on with a folder; see `perform`."""
        path = out / RUNS
        try:
            out.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
                (out / ABOUT).unlink(missing_ok=True)
            if (out / ABOUT).is_file():
                before = json.loads((out / ABOUT).read_text(encoding="utf-8"))
                _require_same(before, about, out)
                about = {**about, "began": before["began"]}
                about["files"] = before["files"] | about["files"]
            (out / ABOUT).write_text(
                json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
            )
            done = _done(path)
            return cls(path, done)
        except (OSError, ValueError, LookupError) as e:
            raise OutputError(
                f"the runs cannot be stored in {out}: {e!r}",
                remedy="choose another folder with -o, or start over with --fresh",
            ) from e

    def write(self, lines: Sequence[str]) -> None:
        """All runs of a document that were missing."""
        try:
            self._file.writelines(f"{line}\n" for line in lines)
            self._file.flush()
        except OSError as e:
            raise OutputError(f"the runs cannot be stored: {e}", remedy="free some space") from e

    def __enter__(self) -> _Log:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _done(path: Path) -> frozenset[tuple[str, int]]:
    """The (document, run) pairs that are stored whole; a torn last line is cut off."""
    if not path.exists():
        return frozenset()
    with path.open("rb+") as file:
        end = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(end)
    pages: dict[tuple[str, int], set[int]] = {}
    done = set()
    for document, run, page, count in read_lines(path, lambda line: place_of(json.loads(line))):
        held = pages.setdefault((document, run), set())
        held.add(page)
        if not page or len(held) == count:
            done.add((document, run))
    return frozenset(done)


def _require_same(before: Mapping[str, Any], about: Mapping[str, Any], out: Path) -> None:
    """Runs of other settings, or on other files of the same name, do not count together."""
    other = [name for name in _FIXED if before[name] != about[name]]
    changed = [
        name
        for name, digest in about["files"].items()
        if before["files"].get(name) not in (None, digest)
    ]
    if changed:
        other.append(f"the file {changed[0]}")
    if other:
        raise UsageError(
            f"{out} holds runs of something else: {', '.join(other)} differ",
            remedy="choose another folder with -o, or start over with --fresh",
        )


def _about(plan: Plan, settings: Settings) -> dict[str, Any]:
    """Provenance, as plain data."""
    schema = settings.schema.model_dump_json()
    return {
        **settings.as_dict(),
        "form": _digest(schema.encode()),
        "version": __version__,
        "bench": plan.bench,
        "sheets": str(plan.sheets.resolve()),
        "truth": str(plan.truth.resolve()),
        "files": {name: _digest_of(plan.sheets / name) for name in plan.cases},
        "software": {name: found for name in _SOFTWARE if (found := _version(name))},
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _digest_of(path: Path) -> str:
    """Empty when there is no such file: reading it will say so."""
    try:
        return _digest(path.read_bytes())
    except OSError:
        return ""
