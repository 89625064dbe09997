"""The whole error hierarchy. Every message says what went wrong and what to do about it.

```
OcrPipelineError                    exit 1
├── UsageError                      exit 2   the call itself cannot work
├── InputError                      exit 3   one document cannot be read
│   ├── UnreadableFileError                  broken, truncated, empty, encrypted
│   └── UnsupportedFileError                 not a kind of file we read
├── SchemaError                     exit 4   a schema file is wrong
├── EngineError                     exit 5   an engine cannot start or failed
│   └── MissingExtraError                    a package of an extra is not installed
└── OutputError                     exit 6   the result cannot be written
```

A batch that ends with some documents failed exits with `EXIT_SOME_FAILED`.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_SOME_FAILED = 10
"""The batch ran to its end, but at least one document failed."""


class OcrPipelineError(Exception):
    """Base of all errors that are meant for the user.

    Attributes:
        exit_code: what the command line exits with.
        remedy: what the user can do.
    """

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.remedy}" if self.remedy else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling between worker processes.
        return _rebuild, (type(self), self.message, self.remedy)


def _rebuild(cls: type[OcrPipelineError], message: str, remedy: str) -> OcrPipelineError:
    return cls(message, remedy=remedy)


class UsageError(OcrPipelineError):
    """The command was called with something that cannot work."""

    exit_code = 2


class InputError(OcrPipelineError):
    """One document cannot be read; the others can."""

    exit_code = 3


class UnreadableFileError(InputError):
    """The file is empty, truncated, encrypted or broken."""


class UnsupportedFileError(InputError):
    """The file is none of the kinds that are read."""


class SchemaError(OcrPipelineError):
    """A schema file is missing or wrong."""

    exit_code = 4


class EngineError(OcrPipelineError):
    """An engine cannot start, or broke while reading."""

    exit_code = 5


class MissingExtraError(EngineError):
    """A package that belongs to an optional extra is not installed."""

    def __init__(self, message: str, *, remedy: str = "", extra: str = "") -> None:
        if extra and not remedy:
            remedy = f'install it: pip install "ocr-pipeline[{extra}]"'
        super().__init__(message, remedy=remedy)


class OutputError(OcrPipelineError):
    """A result cannot be written."""

    exit_code = 6
