"""What a run reports at its end, and `run.json`, where it is kept."""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from ocr_pipeline import __version__
from ocr_pipeline.batch.ledger import Entry
from ocr_pipeline.export.files import write_atomic
from ocr_pipeline.export.record import DocumentStatus

_PACKAGES = (
    *("numpy", "opencv-python-headless", "onnxruntime", "rapidocr", "pillow", "pypdfium2"),
    *("pandas", "openpyxl", "torch", "transformers"),
)


@dataclass(frozen=True)
class Report:
    """What a batch did.

    Attributes:
        counts: status → documents of this run, resumed ones included.
        flags: things in them that a person must look at.
        read: documents that were read now.
        resumed: documents that were done before.
        seconds: time of the whole run.
        skipped: (path, reason) of files that were passed over.
        warnings: what could not be written as it was read, and what looks like a mistake.
        interrupted: the run was stopped before its end; what is done is kept.
    """

    counts: Mapping[DocumentStatus, int]
    flags: int
    read: int
    resumed: int
    seconds: float
    skipped: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False


def now() -> str:
    """The time in ISO 8601, with the offset from UTC."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def twins(entries: Sequence[Entry]) -> list[str]:
    """Files of one content, whose orders are therefore in the tables more than once."""
    same: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.orders:
            same[entry.sha256].append(entry.source)
    return [
        f"{', '.join(names)}: the same content; each of them is in the tables"
        for names in same.values()
        if len(names) > 1
    ]


def write_summary(
    out: Path, report: Report, entries: Sequence[Entry], about: Mapping[str, Any]
) -> None:
    """Write `run.json`: what was done with what, how long it took, and what went wrong."""
    content = {
        **about,
        "ended": now(),
        "seconds": round(report.seconds, 3),
        "interrupted": report.interrupted,
        "versions": _versions(),
        "this_run": {
            "read": report.read,
            "resumed": report.resumed,
            "counts": report.counts,
            "flags": report.flags,
        },
        "documents": {
            "total": len(entries),
            "counts": Counter(entry.status for entry in entries),
            "orders": sum(entry.orders for entry in entries),
            "flags": sum(entry.flags for entry in entries),
            "seconds": round(sum(entry.seconds for entry in entries), 3),
            "not_ok": [
                {"source": entry.source, "status": entry.status, "error": entry.error}
                for entry in entries
                if entry.status is not DocumentStatus.OK
            ],
        },
        "skipped": [{"path": path, "reason": reason} for path, reason in report.skipped],
        "warnings": report.warnings,
    }
    text = json.dumps(content, ensure_ascii=False, indent=2, default=str)
    write_atomic(out / "run.json", text.encode("utf-8", "backslashreplace"))


def _versions() -> dict[str, str]:
    versions = {"ocr-pipeline": __version__, "python": platform.python_version()}
    versions["platform"] = platform.platform()
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
