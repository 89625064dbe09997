"""Events as JSON, and the recording of a run: one JSON object a line.

The first line is the header (`Header`); every further line is one event with the seconds since the
start; the last one says `{"t": …, "end": true}`. A recording that breaks off is good up to where it
ends. The same objects travel to a browser, one a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import simplejson
from pydantic import TypeAdapter, ValidationError

from ocr_pipeline.engines.event_data import data_of
from ocr_pipeline.engines.events import EVENT_VERSION, Event
from ocr_pipeline.errors import InputError, OutputError, UnreadableFileError, UnsupportedFileError

_EVENT = TypeAdapter(Event)
_NO_LOG = "give a file that --record wrote"


class Entry(NamedTuple):
    """An event and when it happened, in seconds since the start."""

    seconds: float
    event: Event


@dataclass(frozen=True, slots=True)
class Header:
    """What a recording is of.

    Attributes:
        source: name of the file that was read; empty when only a prompt was sent.
        settings: engine, model, options, runs, seed, page, prompt: plain values.
        program: version of the program that wrote it.
        version: `EVENT_VERSION` of the writer.
    """

    source: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""
    version: int = EVENT_VERSION


@dataclass(frozen=True, slots=True)
class Log:
    """A recording. `complete` is false when it breaks off before its end."""

    header: Header
    entries: tuple[Entry, ...]
    complete: bool


def to_json(event: Event) -> str:
    """One event on one line."""
    return _line(_plain(event))


def from_plain(plain: object) -> Event:
    """Make an event of what `json.loads` gave; what it carries is checked against `event_data`.

    Raises:
        InputError: it is no event, of another version, or lacks what its kind carries.
    """
    version = plain.get("version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version != EVENT_VERSION:
        raise _other_version(version)
    try:
        event = _EVENT.validate_python(plain)
        data_of(event)
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"this is no event: {where}: {first['msg']}", remedy=_NO_LOG) from e
    return event


class LogWriter:
    """Writes a recording as it happens.

    The lines go to `FILE.part`, each at once; `FILE` is there when the recording is closed, whole,
    and what had that name before is kept until then. If the program dies, the part remains and
    replays. An error before the first event leaves nothing.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Begin.

        Raises:
            OutputError: nothing can be written there.
        """
        self._path = path
        self._part = path.with_name(f"{path.name}.part")
        self._seconds, self._begun = 0.0, False
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is not a file", remedy="give --record another name")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("w", encoding="utf-8", newline="\n")
            self._write({"log": "ocr-pipeline", **asdict(header)})
        except OSError as e:
            raise self._error(e) from e

    def write(self, entry: Entry) -> None:
        """Add one event.

        Raises:
            OutputError: the disk is full, or the file is gone.
        """
        self._seconds = round(entry.seconds, 4)
        try:
            self._write({"t": self._seconds, **_plain(entry.event)})
            self._begun = True
        except OSError as e:
            raise self._error(e) from e

    def close(self) -> None:
        """End the recording and give it its name.

        Raises:
            OutputError: the name cannot be given; the part remains.
        """
        try:
            self._write({"t": self._seconds, "end": True})
            self._file.close()
            self._part.replace(self._path)
        except OSError as e:
            raise self._error(e) from e

    def _write(self, plain: dict[str, Any]) -> None:
        self._file.write(_line(plain) + "\n")
        self._file.flush()

    def _error(self, e: OSError) -> OutputError:
        return OutputError(
            f"the recording {self._path} cannot be written: {e.strerror or e}",
            remedy="check the folder and the disk space, or give --record another name",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or (self._begun and not isinstance(error, OutputError)):
            self.close()
            return
        with suppress(OSError):  # the disk may be full: what could be written stays in the part
            self._file.close()
            if not self._begun:
                self._part.unlink()


def read_log(path: Path) -> Log:
    """Read a recording.

    Raises:
        UnreadableFileError: it is missing, or a line before the last is broken.
        UnsupportedFileError: it is no recording.
        InputError: it is of another version.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as e:
        raise UnreadableFileError(
            f"{path} cannot be read: {e.strerror or e}", remedy=_NO_LOG
        ) from e
    header = _header(lines[0], path)
    entries: list[Entry] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            plain = json.loads(line)
            seconds = float(plain.pop("t"))
            if not 0 <= seconds < inf:
                raise ValueError(seconds)
            if plain.pop("end", False):
                return Log(header, tuple(entries), complete=True)
            entries.append(Entry(seconds, from_plain(plain)))
        except (ValueError, KeyError, TypeError, AttributeError, InputError) as e:
            if number == len(lines):  # what was being written when it broke off
                break
            raise UnreadableFileError(
                f"{path.name}, line {number} is broken: {e}",
                remedy="the lines before it are good: keep those only, and replay again",
            ) from e
    return Log(header, tuple(entries), complete=False)


def _header(line: bytes, path: Path) -> Header:
    try:
        plain = json.loads(line)
        if plain.pop("log") != "ocr-pipeline":
            raise ValueError(line)
        version = int(plain["version"])
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise UnsupportedFileError(f"{path.name} is no recording", remedy=_NO_LOG) from e
    if version != EVENT_VERSION:
        raise _other_version(version)
    try:
        return TypeAdapter(Header).validate_python(plain)
    except ValidationError as e:
        raise UnsupportedFileError(f"{path.name} has a broken header", remedy=_NO_LOG) from e


def _other_version(version: int) -> InputError:
    return InputError(
        f"this was recorded as version {version}, and version {EVENT_VERSION} is what can be read",
        remedy="replay it with the release of ocr-pipeline that recorded it, or record it again",
    )


def _plain(event: Event) -> dict[str, Any]:
    return {f.name: getattr(event, f.name) for f in fields(event)}


def _line(plain: dict[str, Any]) -> str:
    text: str = simplejson.dumps(plain, ensure_ascii=False, ignore_nan=True, separators=(",", ":"))
    # Half a surrogate pair cannot be encoded; as an escape it is good JSON.
    return text.encode("utf-8", "backslashreplace").decode()
