"""What the app refuses, with the status it answers."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ocr_pipeline.errors import InputError, OcrPipelineError, UsageError


class Refused(OcrPipelineError):
    """A request that is not served.

    Attributes:
        status: HTTP status of the answer.
    """

    def __init__(self, status: int, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.status, self.message, self.remedy)


class BodyRefused(HTTPException):
    """A body that is not read to its end: FastAPI lets only its own kind of error out there.

    Attributes:
        remedy: what to do about it.
    """

    def __init__(self, status: int, message: str, *, remedy: str) -> None:
        super().__init__(status, message)
        self.remedy = remedy


def _rebuild(status: int, message: str, remedy: str) -> Refused:
    return Refused(status, message, remedy=remedy)


def status_of(error: OcrPipelineError) -> int:
    """The HTTP status for an error: the visitor's mistakes are 4xx, ours are 500."""
    match error:
        case Refused():
            return error.status
        case InputError() | UsageError():
            return 422
        case _:
            return 500


def answer(error: OcrPipelineError) -> dict[str, str]:
    """The body of an error answer."""
    return {"error": error.message, "remedy": error.remedy}
