"""What a form looks like: read from YAML, so that another form is a file and not code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ocr_pipeline.errors import SchemaError
from ocr_pipeline.orders import text
from ocr_pipeline.orders.kinds import Kind


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldSpec(_Strict):
    """A header field or a column of the item table.

    Attributes:
        name: machine name, the key in the YAML file.
        label: what the clerk sees.
        kind: how its text becomes a value.
        aliases: labels as they are printed.
        required: a form without it must be looked at.
        role: addressee or sender, found by 御中 and by the signature rather than by a label.
        total: which of the closing sums it is.
        many: the value may run over several lines.
        drop: pattern of what is printed with the value and is no part of it (a department).
        known: the values that are usual; another one is flagged. Empty: any value is.
        joined: the column it shares a cell with when it has none of its own.
    """

    name: str = ""
    label: str
    kind: Kind
    aliases: tuple[str, ...] = ()
    required: bool = False
    role: Literal["addressee", "sender"] | None = None
    total: Literal["subtotal", "tax", "total"] | None = None
    many: bool = False
    drop: str | None = None
    known: tuple[str, ...] = ()
    joined: str | None = None


class Product(_Strict):
    """The product of some columns equals another, row by row."""

    rule: Literal["product"]
    of: tuple[str, str]
    equals: str


class Sum(_Strict):
    """A column adds up to a field."""

    rule: Literal["sum"]
    of: str
    equals: str


class TaxRule(_Strict):
    """A field is the tax on another, at one of some rates (percent), rounded once."""

    rule: Literal["tax"]
    base: str
    equals: str
    rates: tuple[int, ...]


class Total(_Strict):
    """Some fields add up to another."""

    rule: Literal["total"]
    of: tuple[str, ...]
    equals: str


class Closing(_Strict):
    """Where no subtotal is printed, a column and the tax on it add up to a field."""

    rule: Literal["closing"]
    of: str
    subtotal: str
    tax: str
    equals: str
    rates: tuple[int, ...]


class PrintedTwice(_Strict):
    """A field that the form prints in two places says the same in both."""

    rule: Literal["printed_twice"]
    of: str


class DateOrder(_Strict):
    """Dates do not run backwards."""

    rule: Literal["date_order"]
    of: tuple[str, str]


class DateNear(_Strict):
    """Dates lie within so many days of one another: a wrong year shows."""

    rule: Literal["date_near"]
    of: tuple[str, str]
    days: int


Check = Annotated[
    Product | Sum | TaxRule | Total | Closing | PrintedTwice | DateOrder | DateNear,
    Field(discriminator="rule"),
]


class Schema(_Strict):
    """A form: its titles, fields, columns and checks."""

    name: str
    title: str
    titles: tuple[str, ...]
    other_titles: tuple[str, ...] = ()
    fields: tuple[FieldSpec, ...]
    rows: tuple[FieldSpec, ...]
    closing: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    @model_validator(mode="after")
    def _patterns_compile(self) -> Schema:
        for spec in (*self.fields, *self.rows):
            try:
                re.compile(spec.drop or "")
            except re.error as e:
                raise ValueError(f"{spec.name}: drop is no regular expression: {e}") from e
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Schema:
        fields = {f.name for f in self.fields}
        rows = {r.name for r in self.rows}
        for check in self.checks:
            wanted_rows: set[str] = set()
            wanted_fields: set[str] = set()
            match check:
                case Product():
                    wanted_rows = {*check.of, check.equals}
                case Sum():
                    wanted_rows, wanted_fields = {check.of}, {check.equals}
                case TaxRule():
                    wanted_fields = {check.base, check.equals}
                case Total():
                    wanted_fields = {*check.of, check.equals}
                case Closing():
                    wanted_rows = {check.of}
                    wanted_fields = {check.subtotal, check.tax, check.equals}
                case PrintedTwice():
                    wanted_fields = {check.of}
                case DateOrder() | DateNear():
                    wanted_fields = set(check.of)
            missing = (wanted_rows - rows) | (wanted_fields - fields)
            if missing:
                raise ValueError(f"check {check.rule!r} names unknown {', '.join(sorted(missing))}")
        for row in self.rows:
            if row.joined is not None and row.joined not in rows:
                raise ValueError(f"column {row.name!r} is joined to unknown {row.joined!r}")
        return self

    @cached_property
    def column_titles(self) -> frozenset[str]:
        """All printed column titles, folded with `text.label`: what table finding looks for."""
        return frozenset(text.label(a) for row in self.rows for a in (row.label, *row.aliases)) - {
            ""
        }

    @cached_property
    def own_titles(self) -> frozenset[str]:
        """The titles of this form, folded with `text.label`."""
        return frozenset(map(text.label, self.titles))

    @cached_property
    def closing_words(self) -> frozenset[str]:
        """What `closing` says, folded with `text.label`."""
        return frozenset(map(text.label, self.closing))

    def field(self, name: str) -> FieldSpec:
        """The header field of that name.

        Raises:
            KeyError: there is none.
        """
        for spec in self.fields:
            if spec.name == name:
                return spec
        raise KeyError(name)


def load_schema(name_or_path: str) -> Schema:
    """Load a schema that ships with the package (by name) or a YAML file (by path).

    Raises:
        SchemaError: there is no such schema, or the file is wrong; the message says where.
    """
    shipped = resources.files("ocr_pipeline.orders") / "schemas" / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if shipped.is_file():
        content = shipped.read_text(encoding="utf-8")
    elif path.is_file():
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise SchemaError(
                f"the schema {path} cannot be read: {e}", remedy="save it as UTF-8 text"
            ) from e
    else:
        raise SchemaError(
            f"there is no schema {name_or_path!r}",
            remedy=f"give one of {', '.join(shipped_schemas())}, or the path of a YAML file",
        )
    try:
        return Schema.model_validate(_named(yaml.safe_load(content)))
    except yaml.YAMLError as e:
        raise SchemaError(
            f"the schema {name_or_path} is not valid YAML: {e}",
            remedy="compare it with ocr_pipeline/orders/schemas/purchase_order.yaml",
        ) from e
    except (ValidationError, TypeError) as e:
        raise SchemaError(
            f"the schema {name_or_path} is wrong: {e}",
            remedy="compare it with ocr_pipeline/orders/schemas/purchase_order.yaml",
        ) from e


def shipped_schemas() -> list[str]:
    """Names of the schemas that come with the package."""
    folder = resources.files("ocr_pipeline.orders") / "schemas"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


def _named(data: object) -> object:
    """Turn `fields: {order_no: {…}}` into a list that carries the names."""
    if not isinstance(data, Mapping):
        raise TypeError("the top level must be a mapping")
    out = dict(data)
    for part in ("fields", "rows"):
        value = out.get(part)
        if not isinstance(value, Mapping):
            raise TypeError(f"{part!r} must be a mapping of name to description")
        unquoted = [k for k in value if not isinstance(k, str)]
        if unquoted:
            raise TypeError(f'{part}: quote names that YAML takes for {unquoted[0]} ("no", "on" …)')
        wrong = [k for k, v in value.items() if not isinstance(v, Mapping)]
        if wrong:
            raise TypeError(f"{part}: {wrong[0]} must be a mapping, e.g. {{label: …, kind: …}}")
        out[part] = [{**v, "name": k} for k, v in value.items()]
    return out
