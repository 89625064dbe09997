"""Tables as sheets of one Excel workbook, for the person who checks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from itertools import count
from pathlib import Path

from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell
from openpyxl.comments import Comment
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from ocr_pipeline.export.files import write_atomic
from ocr_pipeline.export.record import DocumentStatus
from ocr_pipeline.export.tabular import CORRECTION, CellValue, Column, Table, plain_text
from ocr_pipeline.export.text import looks_like_formula, without_control
from ocr_pipeline.orders.model import FieldState

FLAGGED = PatternFill("solid", fgColor="FFFFE699")
HEADER = PatternFill("solid", fgColor="FFD9E1F2")
LONGEST_TEXT = 32767
"""Characters in a cell, by the specification of Excel."""
MOST_DIGITS = 15
"""Significant digits of a number in Excel; it sets the others to zero without a word."""
FIRST_DAY = date(1900, 3, 1)
"""Before it, Excel's calendar is off by a day or has none."""

WIDEST = 60
"""Columns of half-width characters; longer text is wrapped."""
_NUMERIC = ("money", "number", "percent", "date")

_LABELS: dict[type, dict[str, str]] = {
    DocumentStatus: {
        DocumentStatus.OK: "正常",
        DocumentStatus.BLANK: "白紙",
        DocumentStatus.NOT_AN_ORDER: "注文書以外",
        DocumentStatus.INCOMPLETE: "途中まで",
        DocumentStatus.DAMAGED: "損傷",
        DocumentStatus.FAILED: "失敗",
    },
    FieldState: {
        FieldState.READ: "読み取り済み",
        FieldState.BLANK: "空欄",
        FieldState.UNREADABLE: "判読不能",
        FieldState.ABSENT: "欄なし",
    },
}


def write_workbook(tables: Sequence[Table], path: Path) -> list[str]:
    """Write tables as the sheets of one workbook.

    Text is always text, whatever it begins with; flagged cells are coloured and carry the reason
    as a comment.

    Returns:
        One sentence per cell that could not be written as it was read.

    Raises:
        OutputError: the file cannot be written.
    """
    book = Workbook()
    book.remove(book.worksheets[0])
    warnings = [
        f"{path.name}: {table.title}: {warning}"
        for table in tables
        for warning in _fill(book.create_sheet(table.title), table)
    ]
    buffer = BytesIO()
    book.save(buffer)
    write_atomic(path, buffer.getvalue())
    return warnings


def keep_corrections(path: Path) -> str:
    """Set an existing workbook aside if somebody has typed corrections (訂正値) into it.

    It is renamed after the time of its last change, `orders.20240305-101500.xlsx`. One that cannot
    be opened is set aside too: nobody knows what it holds.

    Returns:
        One sentence that says what was done, or nothing when there was nothing to keep.

    Raises:
        OSError: it cannot be renamed, for example because Excel has it open; it is unchanged.
    """
    if not path.is_file():
        return ""
    try:
        if not _has_corrections(path):
            return ""
        why = "it holds corrections (訂正値), which are not carried over"
    except Exception as error:  # openpyxl raises whatever a broken file provokes
        why = f"it cannot be opened to look for corrections (訂正値): {error}"
    changed = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    name = f"{path.stem}.{changed:%Y%m%d-%H%M%S}"
    kept = path.with_name(f"{name}{path.suffix}")
    for number in count(2):
        if not kept.exists():
            break
        kept = path.with_name(f"{name}-{number}{path.suffix}")
    path.rename(kept)
    return f"{path.name}: the workbook of the run before was kept as {kept.name}: {why}"


def _has_corrections(path: Path) -> bool:
    with closing(load_workbook(path, read_only=True)) as book:
        for sheet in book.worksheets:
            rows = sheet.iter_rows(values_only=True)
            head = next(rows, ())
            if CORRECTION.label not in head:
                continue
            column = head.index(CORRECTION.label)
            typed = (row[column] for row in rows if len(row) > column)
            if any(value is not None and str(value).strip() for value in typed):
                return True
    return False


def _fill(sheet: Worksheet, table: Table) -> list[str]:
    warnings: list[str] = []
    widths = [_width(column.label) + 4 for column in table.columns]  # room for the filter's arrow
    for j, column in enumerate(table.columns):
        cell = _cell(sheet, 0, j)
        _put_text(cell, without_control(column.label)[0])
        cell.fill, cell.font = HEADER, Font(bold=True)
    for i, row in enumerate(table.rows):
        for j, (column, value) in enumerate(zip(table.columns, row, strict=True)):
            cell = _cell(sheet, i + 1, j)
            problem = _put(cell, column, value)
            if problem:
                warnings.append(f"{row[0]}: {column.label}: {problem}")
            note = table.notes.get((i, j))
            if note:
                cell.fill = FLAGGED
                cell.comment = Comment(without_control(note)[0], "ocr-pipeline", 120, 320)
            widths[j] = max(widths[j], _width(str(cell.value or "")) + 2)
    for j, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(j)].width = min(width, WIDEST)
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = sheet.dimensions
    return warnings


def _cell(sheet: Worksheet, row: int, column: int) -> Cell:
    cell = sheet.cell(row + 1, column + 1)
    assert isinstance(cell, Cell)  # never a merged one: nothing is merged here
    return cell


def _put(cell: Cell, column: Column, value: CellValue) -> str:
    """Set a cell and return what could not be written as it was, or nothing."""
    match value:
        case None:
            if column.kind not in _NUMERIC:
                cell.number_format = "@"  # what is typed here later stays as it is typed
        case Decimal() if len(value.normalize().as_tuple().digits) > MOST_DIGITS:
            _put_text(cell, plain_text(value))
            return f"{plain_text(value)} has more digits than Excel keeps; written as text"
        case Decimal():
            cell.value = value
            places = max(0, -int(value.as_tuple().exponent))
            decimals = "." + "0" * places if places else ""
            unit = '"%"' if column.kind == "percent" else ""
            cell.number_format = f"#,##0{decimals}{unit}"
        case date() if value >= FIRST_DAY:
            cell.value = value
            cell.number_format = "yyyy/mm/dd"
        case int():
            cell.value = value
        case _:
            text = _LABELS.get(type(value), {}).get(str(value), plain_text(value))
            text, removed = without_control(text)
            _put_text(cell, text[:LONGEST_TEXT])
            if len(text) > LONGEST_TEXT:
                return f"cut to the {LONGEST_TEXT} characters that a cell can hold"
            return f"control characters removed: {removed!a}" if removed else ""
    return ""


def _put_text(cell: Cell, text: str) -> None:
    if not text:
        return
    cell.value = text
    cell.data_type = "s"  # openpyxl makes a formula of "=…" and an error of "#N/A"
    cell.number_format = "@"
    cell.quotePrefix = looks_like_formula(text)
    cell.alignment = Alignment(vertical="top", wrap_text="\n" in text or _width(text) > WIDEST)


def _width(text: str) -> int:
    """Columns that the longest line of a text takes; a full-width character takes two."""
    return max(
        (sum(1 + (unicodedata.east_asian_width(c) in "WFA") for c in line))
        for line in (text.splitlines() or [""])
    )
