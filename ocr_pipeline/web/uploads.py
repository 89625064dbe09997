"""What comes in: bounded in bytes and time, known by its content, counted before it is decoded."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

from PIL import Image
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ocr_pipeline.errors import InputError
from ocr_pipeline.pages.pdf import pdf_extent
from ocr_pipeline.web.errors import BodyRefused, Refused
from ocr_pipeline.web.settings import MEBI, Limits

FORMATS = ("TIFF", "PNG", "JPEG", "BMP", "WEBP")
_KINDS = "TIFF, PDF, PNG, JPEG"
_SEND_AGAIN = "the file is truncated or broken; ask for it to be sent again"


class BodyLimit:
    """Middleware: a request body ends in time and in size, or the request does.

    A length that is stated is refused before anything of the body is read; one that is not, or that
    is a lie, when the limit is passed. A body that trickles in is cut off.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a counted `receive`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, seconds = self._limits.upload_bytes, self._limits.upload_seconds
        stated = dict(scope["headers"]).get(b"content-length", b"")
        deadline = asyncio.get_running_loop().time() + seconds
        seen, ended = 0, False

        async def counted() -> Message:
            nonlocal seen, ended
            if ended:  # all that can still come is the client's leaving
                return await receive()
            if stated.isdigit() and int(stated) > most:
                raise _too_large(most)
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the upload took longer than {seconds:g} s") from None
            ended = message["type"] != "http.request" or not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > most:
                raise _too_large(most)
            return message

        await self._app(scope, counted, send)


def _too_large(most: int) -> HTTPException:
    size = f"{most / MEBI:.3g} MB"
    return BodyRefused(
        413,
        f"the file is larger than {size}",
        remedy=f"send at most {size}: split it, or scan it in black and white at 200 to 400 dpi",
    )


def inspect(path: Path, limits: Limits) -> int:
    """Look at a file's head and directory; nothing is decoded.

    Returns:
        The number of its pages.

    Raises:
        Refused: not a kind of file that is read (415), too many pages or pixels (413).
        InputError: empty, encrypted or broken.
    """
    with path.open("rb") as stream:
        head = stream.read(1024)
    if not head:
        raise Refused(422, "the file is empty", remedy=_SEND_AGAIN)
    if b"%PDF-" in head:
        pages, pixels = pdf_extent(path, pages=limits.pages)
    else:
        pages, pixels = _image_extent(path, limits)
    if pages > limits.pages:
        raise Refused(
            413,
            f"the file has more than {limits.pages} pages",
            remedy="split it, or read it with the command line",
        )
    if pixels > limits.page_pixels:
        raise Refused(
            413,
            f"a page has {pixels / 1e6:.0f} million pixels, more than any fax page can have",
            remedy=f"scan it at 200 to 400 dpi (at most {limits.page_pixels / 1e6:.0f} million)",
        )
    if pages == 0:
        raise Refused(422, "the file has no pages", remedy=_SEND_AGAIN)
    return pages


def _image_extent(path: Path, limits: Limits) -> tuple[int, int]:
    """Pages (counted to one beyond the limit) and pixels of the largest, from the headers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd tags and sizes; sizes are checked here
            image = Image.open(path, formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise Refused(
            413, "the image is far larger than any fax page", remedy="scan it at 200 to 400 dpi"
        ) from error
    except Exception as error:
        raise Refused(
            415, "this is no file of a kind that is read", remedy=f"send one of: {_KINDS}"
        ) from error
    pages, largest = 0, 0
    with image:
        while pages <= limits.pages:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    image.seek(pages)
            except EOFError:
                break
            except Exception:  # a broken directory: what comes before it can still be read
                break
            pages += 1
            largest = max(largest, image.width * image.height)
    if not pages:
        raise InputError("the image cannot be opened", remedy=_SEND_AGAIN)
    return pages, largest
