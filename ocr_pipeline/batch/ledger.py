"""The ledger of an output folder: what is done, with which settings, and what came of it.

One SQLite file, one row a document, one transaction a row. A row is written after the record it
speaks of, so a run that is killed at any moment leaves either a finished document or one that will
be read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import TracebackType

from ocr_pipeline.errors import OutputError
from ocr_pipeline.export.record import DocumentStatus

LEDGER_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger knows of one document.

    Attributes:
        source: name of the document in the results.
        path: where the file was.
        sha256: hash of its content; empty when the file could not be opened.
        settings: fingerprint of the settings it was read with.
        status: how it ended.
        error: why it failed.
        pages: number of pages.
        orders: number of orders.
        flags: number of things a person must look at.
        seconds: time it took.
        record: path of the record, relative to the output folder.
        updated: when it was read, ISO 8601 with the offset from UTC.
    """

    source: str
    path: str
    sha256: str
    settings: str
    status: DocumentStatus
    error: str
    pages: int
    orders: int
    flags: int
    seconds: float
    record: str
    updated: str

    def is_done(self, sha256: str, settings: str) -> bool:
        """Whether this content was read with these settings; what failed is tried again."""
        return (
            self.status is not DocumentStatus.FAILED
            and self.sha256 == sha256
            and self.settings == settings
        )


_NAMES = tuple(field.name for field in fields(Entry))
_CREATE = """
CREATE TABLE documents (
    source TEXT PRIMARY KEY, path TEXT NOT NULL, sha256 TEXT NOT NULL, settings TEXT NOT NULL,
    status TEXT NOT NULL, error TEXT NOT NULL, pages INTEGER NOT NULL, orders INTEGER NOT NULL,
    flags INTEGER NOT NULL, seconds REAL NOT NULL, record TEXT NOT NULL, updated TEXT NOT NULL
)
"""
_PUT = f"INSERT OR REPLACE INTO documents ({', '.join(_NAMES)}) VALUES ({', '.join('?' * 12)})"
_GET = f"SELECT {', '.join(_NAMES)} FROM documents"


class Ledger:
    """An open ledger; use it in a `with` statement.

    Args:
        path: the file; it is made when it is missing.
        fresh: forget what is in it.

    Raises:
        OutputError: the file is no ledger of this version or cannot be written; so do all methods.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._path = path
        with self._reported():
            if fresh:
                path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Autocommit: each statement is its own transaction.
            self._database = sqlite3.connect(path, isolation_level=None)
        try:
            with self._reported():
                self._prepare()
        except OutputError:
            self._database.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()

    def put(self, entry: Entry) -> None:
        """Write down a document, in place of what was known of it."""
        row = (_storable(value) for value in astuple(entry))
        with self._reported():
            self._database.execute(_PUT, tuple(row))

    def get(self, source: str) -> Entry | None:
        """What is known of a document."""
        with self._reported():
            row = self._database.execute(f"{_GET} WHERE source = ?", (source,)).fetchone()
        return _entry(row) if row else None

    def entries(self) -> list[Entry]:
        """All documents, by name."""
        with self._reported():
            return [_entry(row) for row in self._database.execute(f"{_GET} ORDER BY source")]

    def _prepare(self) -> None:
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.execute(_CREATE)
                self._database.execute(f"PRAGMA user_version = {LEDGER_VERSION}")
        elif version != LEDGER_VERSION:
            raise sqlite3.DatabaseError(f"it is of version {version}, not {LEDGER_VERSION}")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise OutputError(
                f"the ledger {self._path} cannot be used: {error}",
                remedy="check that you may write there and that no other run is using it; "
                "--fresh starts a new one, or give another output folder",
            ) from error


def _storable(value: str | int | float) -> str | int | float:
    """SQLite takes no lone surrogates; the names of old files on a Linux server can have them."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _entry(row: tuple[object, ...]) -> Entry:
    known = dict(zip(_NAMES, row, strict=True))
    return Entry(**known | {"status": DocumentStatus(str(known["status"]))})  # type: ignore[arg-type]
