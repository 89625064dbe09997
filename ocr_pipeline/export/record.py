"""The record of one document, and its JSON: the contract that everything downstream reads.

`to_json` and `from_json` are each other's inverse, but for the per-character details (`chars`) of
readings, which are left out to keep the files small. JSON has no dates and its numbers are usually
read as floats; so every value has its `type` beside it, money is written digit for digit (12.50
stays 12.50) and comes back as `Decimal`, and a date comes back as `date`.

`python -m ocr_pipeline.export.record` prints the JSON schema, `docs/record.schema.json`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from itertools import chain
from typing import Any, Literal

import simplejson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ocr_pipeline.engines.base import Reading, Word
from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.orders.model import Candidate, FieldValue, Order, Value
from ocr_pipeline.orders.transmission import Transmission
from ocr_pipeline.pages.page import Ink, Page


class DocumentStatus(StrEnum):
    """How reading a document ended; the worst thing that happened to one of its pages."""

    OK = "ok"  # at least one order was found
    BLANK = "blank"  # no page has ink
    NOT_AN_ORDER = "not_an_order"  # there is text, but no purchase order
    INCOMPLETE = "incomplete"  # a reply was cut off or looped, so something may be missing
    DAMAGED = "damaged"  # a page is too damaged to be read
    FAILED = "failed"  # the file, the engine or the worker broke; `error` says how


@dataclass(frozen=True, slots=True)
class PageFlag:
    """What a person should know about a page as a whole.

    Attributes:
        code: stable machine name, e.g. `orientation_unsure`.
        message: the sentence for a person.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What was found out about one page before it was read.

    Attributes:
        number: 1-based page number in the file.
        stored_size: width and height in pixels, as stored in the file; quads are in these pixels.
        dpi: dots per inch along x and y, as stored; the two differ on a fax.
        rotation: degrees the stored page was turned clockwise to stand upright: 0, 90, 180, 270.
        rotation_confidence: 0..1.
        skew: degrees that were taken out; positive when the stored lines fell to the right.
        inverted: whether the stored page was white on black.
        ink: whether there was anything to read.
        flags: what a person should know about the page as a whole.
        status: how reading this page ended.
    """

    number: int
    stored_size: tuple[int, int] = (0, 0)
    dpi: tuple[float, float] = (200.0, 200.0)
    rotation: int = 0
    rotation_confidence: float = 1.0
    skew: float = 0.0
    inverted: bool = False
    ink: Ink = Ink.OK
    flags: tuple[PageFlag, ...] = ()
    status: DocumentStatus = DocumentStatus.OK

    @classmethod
    def of(cls, page: Page, status: DocumentStatus) -> PageRecord:
        """What is kept of a `Page` once its image is gone."""
        return cls(
            number=page.number,
            stored_size=page.stored_size,
            dpi=(page.dpi.x, page.dpi.y),
            rotation=page.rotation,
            rotation_confidence=page.rotation_confidence,
            skew=page.skew,
            inverted=page.inverted,
            ink=page.ink,
            flags=tuple(PageFlag(code, message) for code, message in page.flags),
            status=status,
        )


@dataclass(frozen=True, slots=True)
class Record:
    """Everything known about one document.

    Attributes:
        source: path of the file, relative to the folder that was read.
        status: how it ended.
        error: what failed, in the document or in some of its runs, and what to do.
        pages: the pages in file order; empty when the file could not be opened.
        orders: the purchase orders found: none, one or several.
        readings: what each engine run saw on each page.
        transmission: the fax header lines, one a page that has one.
        markdown: the transcription.
        stats: seconds and other measures of the work.
        version: of this contract.
    """

    source: str
    status: DocumentStatus
    error: str = ""
    pages: tuple[PageRecord, ...] = ()
    orders: tuple[Order, ...] = ()
    readings: tuple[Reading, ...] = ()
    transmission: tuple[Transmission, ...] = ()
    markdown: str = ""
    stats: Mapping[str, float] = field(default_factory=dict)
    version: Literal[1] = 1


def order_values(order: Order) -> Iterator[FieldValue]:
    """All field values of an order: fields and their echoes, rows, taxes."""
    yield from order.fields.values()
    for echoes in order.echoes.values():
        yield from echoes
    for row in order.rows:
        yield from row.values()
    for tax in order.taxes:
        yield from (tax.rate, tax.base, tax.amount)


def flag_count(record: Record) -> int:
    """How many things of a document a person must look at: fields, whole orders, whole pages."""
    return sum(len(page.flags) for page in record.pages) + sum(
        len(order.flags) + sum(bool(value.flags) for value in order_values(order))
        for order in record.orders
    )


_ADAPTER = TypeAdapter(Record)
_LEFT_OUT: Any = {"readings": {"__all__": {"chars": True, "words": {"__all__": {"chars"}}}}}

_FROM_JSON: dict[str | None, Callable[[Any], Value]] = {
    "text": str,
    "number": Decimal,
    "date": date.fromisoformat,
    None: lambda _: None,
}


def _type_of(value: Value) -> str | None:
    match value:
        case None:
            return None
        case Decimal():
            return "number"
        case date():
            return "date"
        case _:
            return "text"


def _typed_items(record: Any) -> Iterator[dict[str, Any]]:
    """The parts of a plain record that hold a typed value: field values and their candidates."""
    for order in record["orders"]:
        groups = [group.values() for group in (order["fields"], *order["rows"], *order["taxes"])]
        for item in chain(*groups, *order["echoes"].values()):
            yield item
            yield from item["candidates"]


def to_json(record: Record) -> str:
    """The record as JSON text.

    Raises:
        ValueError: a number is not finite.
    """
    plain = _ADAPTER.dump_python(record, exclude=_LEFT_OUT)
    for item in _typed_items(plain):
        item["type"] = _type_of(item["value"])
    text = simplejson.dumps(
        plain,
        ensure_ascii=False,
        allow_nan=False,
        use_decimal=True,
        namedtuple_as_object=False,
        default=date.isoformat,
    )
    # A lone surrogate cannot be written as UTF-8, but as a JSON escape it can.
    return text.encode("utf-8", "backslashreplace").decode()


def from_json(text: str) -> Record:
    """Read back what `to_json` wrote, with all types.

    Raises:
        UnreadableFileError: the text is not a record of this version.
    """
    try:
        plain = simplejson.loads(text, use_decimal=True)
        for item in _typed_items(plain):
            item["value"] = _FROM_JSON[item.pop("type")](item["value"])
        return _ADAPTER.validate_python(plain)
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableFileError(
            f"this is not a document record: {error}",
            remedy="read the document again with --fresh",
        ) from error


def _described(cls: type) -> tuple[str, dict[str, str]]:
    """A Google-style docstring as its text and its attributes' descriptions."""
    text, _, attributes = (inspect.getdoc(cls) or "").partition("\n\nAttributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n     +.*)*)", attributes, re.MULTILINE)
    return text, {name: re.sub(r"\s+", " ", body) for name, body in entries}


class Contract(GenerateJsonSchema):
    """The schema of what `to_json` writes: closed objects, every property present."""

    def field_is_required(self, *_: Any, **__: Any) -> bool:
        """Every property is always there."""
        return True

    def field_title_should_be_set(self, *_: Any, **__: Any) -> bool:
        """Names say enough; titles would repeat them."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A default is no matter of what is written."""
        return self.generate_inner(schema["schema"])

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Decimals are written as numbers."""
        return {"type": "number"}

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        """An object without further properties."""
        cls, made = schema["cls"], super().dataclass_schema(schema)
        properties = made["properties"]
        if cls in (Reading, Word):
            del properties["chars"]
        made["description"], descriptions = _described(cls)
        for name, description in descriptions.items():
            if name in properties:
                properties[name] = {"description": description} | properties[name]
        if cls in (FieldValue, Candidate):
            properties["type"] = {
                "description": "what `value` is: a date is an ISO string, a number is exact",
                "enum": list(_FROM_JSON),
            }
        return made | {"required": list(properties), "additionalProperties": False}


def json_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of a record, generated from the dataclasses."""
    schema = _ADAPTER.json_schema(schema_generator=Contract, mode="serialization")
    return {"$schema": Contract.schema_dialect} | schema


if __name__ == "__main__":
    print(simplejson.dumps(json_schema(), ensure_ascii=False, indent=2))
