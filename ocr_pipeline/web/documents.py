"""What a batch wrote, to look through. Nothing is changed.

A document is asked for by an id made from its name; the id is looked up among the documents of the
ledger, so no text from a visitor ever becomes a path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ocr_pipeline.batch.ledger import Entry, Ledger
from ocr_pipeline.errors import OcrPipelineError, UsageError
from ocr_pipeline.export.record import DocumentStatus, Record, from_json
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.pictures import Picture, picture

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Query:
    """Which documents are wanted.

    Attributes:
        text: must be in the name or the error, whatever its case.
        status: must be that; empty: any.
        flagged: there must be something to check.
        page: 1-based page of the list.
    """

    text: str = ""
    status: str = ""
    flagged: bool = False
    page: int = 1

    def fits(self, entry: Entry) -> bool:
        """Whether a document is wanted."""
        text = self.text.casefold().strip()
        return (
            (not self.status or entry.status == self.status)
            and (not self.flagged or bool(entry.flags))
            and (text in entry.source.casefold() or text in entry.error.casefold())
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of the list of documents.

    Attributes:
        entries: the documents, those with most to check first.
        found: how many fit the query.
        total: how many there are.
        page: 1-based; the last one when a later one was asked for.
        pages: of this list.
        statuses: those that occur.
    """

    entries: Sequence[Entry]
    found: int
    total: int
    page: int
    pages: int
    statuses: Sequence[DocumentStatus]


class Documents:
    """The documents in an output folder.

    Args:
        out: the folder.

    Raises:
        UsageError: no batch wrote there.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        if not (out / "ledger.sqlite").is_file():
            raise UsageError(
                f"there are no results in {out}",
                remedy=f"read something first: ocr-pipeline read SCANS --out {out}",
            )

    def entries(self) -> list[Entry]:
        """All documents by name; a batch may be writing meanwhile."""
        with Ledger(self._out / "ledger.sqlite") as ledger:
            return ledger.entries()

    def listing(self, query: Query) -> Listing:
        """The documents that fit a query."""
        everything = self.entries()
        found = sorted(
            (e for e in everything if query.fits(e)), key=lambda e: (-_urgency(e), e.source)
        )
        pages = max(1, -(-len(found) // PER_PAGE))
        page = min(max(1, query.page), pages)
        return Listing(
            found[(page - 1) * PER_PAGE : page * PER_PAGE],
            len(found),
            len(everything),
            page,
            pages,
            sorted({e.status for e in everything}),
        )

    def entry(self, key: str) -> Entry:
        """The document with that id.

        Raises:
            Refused: there is none (404).
        """
        for entry in self.entries():
            if key_of(entry.source) == key:
                return entry
        raise Refused(404, "there is no such document", remedy="go back to the list")

    def record(self, entry: Entry) -> Record:
        """Everything known about a document.

        Raises:
            Refused: its record is gone or broken (404).
        """
        path = (self._out / entry.record).resolve()
        try:
            if not path.is_relative_to(self._out.resolve()):
                raise FileNotFoundError(entry.record)
            return from_json(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, OcrPipelineError) as e:
            raise Refused(
                404,
                f"the record of {entry.source} cannot be read",
                remedy="run the same ocr-pipeline read again",
            ) from e

    def scan_state(self, entry: Entry) -> str:
        """`ok`, or why the scan cannot be shown: `gone` or `changed` since it was read."""
        try:
            with Path(entry.path).open("rb") as file:
                same = hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
        except OSError:
            return "gone"
        return "ok" if same else "changed"

    def picture(self, entry: Entry, number: int, *, max_pixels: int) -> Picture:
        """A page of the scan, if it is still the file that was read.

        Raises:
            Refused: there is no such page (404).
        """
        problem = Refused(404, "this page of the scan cannot be shown")
        if self.scan_state(entry) != "ok" or not 1 <= number <= entry.pages:
            raise problem
        try:
            for scan in read_scans(Path(entry.path), max_pixels=max_pixels):
                if scan.number == number:
                    return picture(scan)
        except OcrPipelineError as e:
            raise problem from e
        raise problem


def key_of(source: str) -> str:
    """The id of a document."""
    return hashlib.sha256(source.encode("utf-8", "backslashreplace")).hexdigest()[:20]


def _urgency(entry: Entry) -> int:
    """Documents that could not be read come before those with many things to check."""
    unread = entry.status in (
        DocumentStatus.FAILED,
        DocumentStatus.DAMAGED,
        DocumentStatus.INCOMPLETE,
    )
    return entry.flags + (1_000_000 if unread else 0)
