"""A table as a CSV file that a Windows Excel opens as it is meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ocr_pipeline.errors import UsageError
from ocr_pipeline.export.files import write_atomic
from ocr_pipeline.export.tabular import CellValue, Table, plain_text
from ocr_pipeline.export.text import LOST, encodable, neutralised, without_control

ENCODINGS = ("utf-8-sig", "cp932")
"""UTF-8 with a byte order mark, without which Excel takes it for cp932; and cp932 itself."""


def write_csv(table: Table, path: Path, *, encoding: str = "utf-8-sig") -> list[str]:
    """Write a table as CSV. See `csv_bytes`.

    Returns:
        One sentence per cell that could not be written as it was read.

    Raises:
        UsageError: the encoding is none of `ENCODINGS`.
        OutputError: the file cannot be written.
    """
    content, warnings = csv_bytes(table, path.name, encoding=encoding)
    write_atomic(path, content)
    return warnings


def csv_bytes(table: Table, name: str, *, encoding: str = "utf-8-sig") -> tuple[bytes, list[str]]:
    """A table as CSV with CRLF line ends.

    Text that could be taken for a formula gets an apostrophe in front; numbers do not, negative
    ones neither.

    Args:
        table: the table.
        name: of the file, for the warnings.
        encoding: one of `ENCODINGS`.

    Returns:
        The content of the file, and one sentence per cell that could not be written as it was read.

    Raises:
        UsageError: the encoding is none of `ENCODINGS`.
    """
    if encoding not in ENCODINGS:
        raise UsageError(f"CSV encoding {encoding!r} is unknown", remedy=f"use {ENCODINGS}")
    warnings: list[str] = []
    names = [column.name for column in table.columns]

    def text(row: tuple[CellValue, ...]) -> Iterator[str]:
        for column, value in zip(names, row, strict=True):
            if not isinstance(value, str):
                yield plain_text(value)
                continue
            cell, removed = without_control(value)
            cell, lost = encodable(cell, encoding)
            where = f"{name}: {row[0]}: {column}"
            if removed:
                warnings.append(f"{where}: control characters removed: {removed!a}")
            if lost:
                warnings.append(f"{where}: {encoding} lacks {lost}; written as {LOST}")
            yield neutralised(cell)

    frame = pd.DataFrame([list(text(row)) for row in table.rows], columns=names, dtype=object)
    csv = frame.to_csv(index=False, lineterminator="\r\n")
    return csv.encode(encoding), warnings
