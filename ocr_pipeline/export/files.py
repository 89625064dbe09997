"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

from ocr_pipeline.errors import OutputError


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file through a temporary one beside it; a reader never sees half of it.

    Missing parent folders are made. The bytes are on the disk before the name is: what a ledger
    calls done survives a power cut.

    Raises:
        OutputError: the file cannot be written, for example because Excel has it open.
    """
    temporary = path.parent / f".{uuid.uuid4().hex}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except PermissionError as error:
        # Windows refuses to replace a file that another program holds open.
        raise OutputError(
            f"{path} cannot be written: it is open in another program, or it may not be changed",
            remedy="close it in Excel, check that you may write there, and run the same command "
            "again; documents that are done are not read twice",
        ) from error
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror or error}",
            remedy="check the disk space and the folder, and run the same command again; "
            "documents that are done are not read twice",
        ) from error
    finally:
        with suppress(OSError):  # it was renamed, or never made
            temporary.unlink()
