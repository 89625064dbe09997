"""What a batch leaves in its output folder: a record a document, and the tables of them all."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ocr_pipeline.batch.ledger import Entry, Ledger
from ocr_pipeline.batch.pool import failed
from ocr_pipeline.errors import OutputError, UnreadableFileError
from ocr_pipeline.export.delimited import write_csv
from ocr_pipeline.export.files import write_atomic
from ocr_pipeline.export.record import DocumentStatus, Record, from_json, to_json
from ocr_pipeline.export.tabular import Form, Table, tables
from ocr_pipeline.export.workbook import keep_corrections, write_workbook

FORMATS = ("csv", "xlsx")
"""Kinds of tables; the records themselves are always written."""
LONGEST_NAME = 200
"""Bytes of a file name; most file systems take 255, and an ending is still to come."""


def record_path(source: str) -> str:
    """Path of the record of a document, relative to the output folder, without its ending.

    A name that would be too long is cut and told apart by a hash.
    """
    path = PurePosixPath("documents", source)
    name = path.name.encode("utf-8")
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(name).hexdigest()[:12]
        cut = name[: LONGEST_NAME - len(digest)].decode("utf-8", "ignore")
        path = path.with_name(f"{cut}~{digest}")
    return str(path)


def write_record(out: Path, record: Record) -> tuple[Record, str]:
    """Write the JSON and the Markdown of a document.

    Returns:
        The record that was written (one that failed, when this one holds a number that is none),
        and the path of its JSON relative to the output folder.

    Raises:
        OutputError: a file cannot be written.
    """
    try:
        text = to_json(record)
    except ValueError as error:
        record = failed(record.source, f"the result cannot be written: {error}")
        text = to_json(record)
    path = record_path(record.source)
    markdown = record.markdown or f"<!-- {record.status} -->\n"
    write_atomic(out / f"{path}.md", markdown.encode("utf-8", "replace"))
    write_atomic(out / f"{path}.json", text.encode("utf-8"))
    return record, f"{path}.json"


def write_tables(
    out: Path,
    ledger: Ledger,
    form: Form,
    *,
    formats: Collection[str] = FORMATS,
    csv_encoding: str = "utf-8-sig",
) -> tuple[list[str], list[OutputError]]:
    """Make the tables of everything in the ledger from the stored records.

    A record that has gone or is broken is put down as failed, so that the next run reads it again.

    Returns:
        Warnings, one sentence each; and what could not be written, after all else was.
    """
    records = [_stored(out, ledger, entry) for entry in ledger.entries()]
    warnings: list[str] = []
    errors: list[OutputError] = []
    made = tables(records, form)
    try:
        if "xlsx" in formats:
            warnings += _write_workbook(made, out / "orders.xlsx")
    except OutputError as error:
        errors.append(error)
    for table in made if "csv" in formats else ():
        try:
            warnings += write_csv(table, out / f"{table.name}.csv", encoding=csv_encoding)
        except OutputError as error:
            errors.append(error)
    return warnings, errors


def _write_workbook(made: Sequence[Table], path: Path) -> list[str]:
    """Write the workbook; what was typed into the one before is worth more than a new one."""
    try:
        kept = keep_corrections(path)
    except OSError as error:
        return [
            f"{path.name}: left as it was, for it may hold corrections (訂正値) and cannot be "
            f"renamed ({error.strerror or error}). Close it in Excel and run the same command again"
        ]
    return [*([kept] if kept else []), *write_workbook(made, path)]


def _stored(out: Path, ledger: Ledger, entry: Entry) -> Record:
    try:
        record = from_json((out / entry.record).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, UnreadableFileError) as problem:
        error = f"the stored record cannot be read, run again: {problem}"
        ledger.put(replace(entry, status=DocumentStatus.FAILED, error=error))
        return failed(entry.source, error)
    # The tables need no words and no transcription; a thousand documents' worth is a lot.
    return replace(record, readings=(), markdown="")
