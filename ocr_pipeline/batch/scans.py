"""What there is to read: the files behind the paths a user names."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ocr_pipeline.errors import UsageError


class Scan(NamedTuple):
    """A file to read, and its name in the results: the path relative to the folder it is in."""

    path: Path
    source: str


class Found(NamedTuple):
    """What was found, and (path, reason) of what was passed over."""

    scans: tuple[Scan, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def find_scans(
    inputs: Iterable[Path], suffixes: Collection[str], *, out: Path | None = None
) -> Found:
    """The scans among files and folders, folders recursively and in order of their names.

    Hidden files and the output folder are passed over without a word, files of other kinds are
    listed as skipped. A file that is named itself is always read: whether it can be is for the
    reader to say. A file is read once, however many ways lead to it; two files of one relative
    name get different sources.

    Args:
        inputs: files and folders.
        suffixes: what to take from folders, in lower case with their dots
            (`pages.load.SUPPORTED_SUFFIXES`).
        out: the output folder.

    Raises:
        UsageError: an input does not exist.
    """
    scans: list[Scan] = []
    skipped: list[tuple[str, str]] = []
    seen: set[str] = set()
    taken: set[str] = set()

    def add(path: Path, source: str, folder: str) -> None:
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            scans.append(Scan(path, _untaken(_unicode(source), _unicode(folder), taken)))

    for given in inputs:
        if given.is_dir():
            folder = given.resolve().name
            for path, problem in _walk(given, suffixes, out.resolve() if out else None):
                if problem:
                    skipped.append((_unicode(str(path)), problem))
                else:
                    add(path, path.relative_to(given).as_posix(), folder)
        elif given.exists():
            add(given, given.name, given.resolve().parent.name)
        else:
            raise UsageError(
                f"{given} does not exist", remedy="give the path of a scan or of a folder of scans"
            )
    return Found(tuple(scans), tuple(skipped))


def _walk(top: Path, suffixes: Collection[str], out: Path | None) -> Iterator[tuple[Path, str]]:
    """All visible files under a folder, each with the reason to skip it or an empty text."""
    unreadable: list[OSError] = []
    visited: set[Path] = set()
    for name, folders, files in os.walk(top, followlinks=True, onerror=unreadable.append):
        here = Path(name)
        real = here.resolve()
        if real == out or real in visited:  # a link may lead back to where we are
            folders.clear()
            continue
        visited.add(real)
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for file in sorted(f for f in files if not f.startswith(".")):
            path = here / file
            if path.suffix.lower() not in suffixes:
                yield path, "not a kind of file that is read"
            elif not path.is_file():
                yield path, "a broken link or no ordinary file"
            else:
                yield path, ""
    for error in unreadable:
        yield Path(error.filename), error.strerror or str(error)


def _unicode(path: str) -> str:
    """A path as text: old names on a Linux server may be cp932 bytes and no UTF-8."""
    if path.isprintable():
        return path
    parts = (os.fsencode(part) for part in path.split("/"))
    return "/".join(_decoded(part) for part in parts)


def _decoded(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("cp932", "replace")


def _untaken(source: str, folder: str, taken: set[str]) -> str:
    """A name that no other scan has, also where file systems ignore case and Unicode forms."""
    stem, dot, suffix = source.rpartition(".")
    names = [source, f"{folder}/{source}"]
    names += [f"{stem}~{n}{dot}{suffix}" for n in range(2, len(taken) + 3)]
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key not in taken:
            taken.add(key)
            return name
    raise AssertionError("there are more names than scans")
