import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Reading, ReadingStatus, Word
from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.export.record import (
    DocumentStatus,
    PageFlag,
    PageRecord,
    Record,
    Transmission,
    flag_count,
    from_json,
    json_schema,
    order_values,
    to_json,
)
from ocr_pipeline.orders.model import (
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Repair,
    Tax,
)
from ocr_pipeline.pages.page import Ink, Page, Resolution

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(json_schema())

TEXT = st.text(max_size=6)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
QUAD = st.tuples(*[st.tuples(NUMBER, NUMBER)] * 4)
VALUE = st.one_of(
    st.none(),
    TEXT,
    st.just("2024-01-15"),
    st.just("12"),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
)


def some(strategy):
    return st.lists(strategy, max_size=2).map(tuple)


FLAG = st.builds(Flag, TEXT, TEXT, TEXT)
FIELD = st.builds(
    FieldValue,
    st.sampled_from(FieldState),
    TEXT,
    VALUE,
    NUMBER,
    some(st.builds(Candidate, VALUE, st.integers(1, 9))),
    some(st.builds(Repair, TEXT, TEXT, TEXT)),
    some(FLAG),
    st.none() | st.integers(1, 9),
    st.none() | QUAD,
)
# A form may call a field anything, even by the names that the contract uses itself.
FIELDS = st.dictionaries(TEXT | st.sampled_from(["value", "type", "candidates"]), FIELD, max_size=2)
ORDER = st.builds(
    Order,
    fields=FIELDS,
    rows=some(FIELDS),
    taxes=some(st.builds(Tax, FIELD, FIELD, FIELD)),
    echoes=st.dictionaries(TEXT, some(FIELD), max_size=2),
    flags=some(FLAG),
    pages=some(st.integers(1, 9)),
)
PAGE = st.builds(
    PageRecord,
    st.integers(1, 9),
    st.tuples(st.integers(0, 9999), st.integers(0, 9999)),
    st.tuples(NUMBER, NUMBER),
    st.sampled_from([0, 90, 180, 270]),
    NUMBER,
    NUMBER,
    st.booleans(),
    st.sampled_from(Ink),
    some(st.builds(PageFlag, TEXT, TEXT)),
    st.sampled_from(DocumentStatus),
)
READING = st.builds(
    Reading,
    engine=TEXT,
    run=st.integers(0, 9),
    seed=st.integers(0, 2**64),
    page=st.integers(1, 9),
    raw=TEXT,
    words=some(st.builds(Word, TEXT, NUMBER, QUAD, some(st.tuples(TEXT, NUMBER)))),
    status=st.sampled_from(ReadingStatus),
    error=TEXT,
    stats=st.dictionaries(TEXT, NUMBER, max_size=2),
)
RECORD = st.builds(
    Record,
    TEXT,
    st.sampled_from(DocumentStatus),
    TEXT,
    some(PAGE),
    some(ORDER),
    some(READING),
    some(st.builds(Transmission, st.integers(1, 9), TEXT, TEXT, TEXT, TEXT)),
    TEXT,
    st.dictionaries(TEXT, NUMBER, max_size=2),
)


def types(record):
    return [
        [type(v.value), *(type(c.value) for c in v.candidates)]
        for order in record.orders
        for v in order_values(order)
    ]


@given(RECORD)
@settings(deadline=None, max_examples=80)
def test_every_record_survives_json_with_its_types_and_fits_the_schema(record):
    text = to_json(record)
    again = from_json(text)
    assert again == record
    assert types(again) == types(record)
    VALIDATOR.validate(json.loads(text))


def test_numbers_are_written_digit_for_digit(record):
    text = to_json(record)
    assert '"value": 12.50, ' in text
    assert '"value": 1200, ' in text
    assert '"value": "2024-03-05"' in text
    long = Decimal("123456789012345678901234567890.0100")
    field = FieldValue(FieldState.READ, "x", long)
    made = from_json(to_json(replace(record, orders=(Order({"total": field}),))))
    assert str(made.orders[0].fields["total"].value) == str(long)


def test_characters_are_left_out_and_nothing_else_is(record):
    reading = record.readings[0]
    bare = replace(reading, words=(replace(reading.words[0], chars=()),))
    assert from_json(to_json(record)) == replace(record, readings=(bare,))
    plain = json.loads(to_json(record))
    assert "chars" not in plain["readings"][0]
    assert set(plain["readings"][0]["words"][0]) == {"text", "confidence", "quad", "alternatives"}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Inf")])
def test_a_number_that_is_none_is_refused(number):
    order = Order({"total": FieldValue(FieldState.READ, value=Decimal(1), confidence=0.5)})
    where = {"value": number} if isinstance(number, Decimal) else {"confidence": number}
    order = Order({"total": replace(order.fields["total"], **where)})
    with pytest.raises(ValueError, match="Out of range"):
        to_json(Record("a.tif", DocumentStatus.OK, orders=(order,)))


def test_a_name_that_is_not_unicode_can_be_written():
    record = Record("注文\udc82.tif", DocumentStatus.OK)
    assert from_json(to_json(record).encode().decode()) == record


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"orders": [3]}', '{"orders": [], "source": "a"}', '{"orders": {}}'],
)
def test_what_is_no_record_is_an_error_with_a_remedy(text):
    with pytest.raises(UnreadableFileError, match="--fresh"):
        from_json(text)


def test_a_record_of_another_version_is_refused(record):
    with pytest.raises(UnreadableFileError, match="version"):
        from_json(to_json(record).replace('"version": 1', '"version": 2'))


def test_a_value_of_the_wrong_type_is_refused(record):
    with pytest.raises(UnreadableFileError):
        from_json(to_json(record).replace('"2024-03-05"', '"2024-02-31"'))


def test_the_schema_is_closed_and_wants_everything(record):
    plain = json.loads(to_json(record))
    for broken in (
        {k: v for k, v in plain.items() if k != "stats"},
        plain | {"more": 1},
        plain | {"status": "fine"},
        plain | {"source": None},
    ):
        assert not VALIDATOR.is_valid(broken)
    del plain["orders"][0]["fields"]["total"]["type"]
    assert not VALIDATOR.is_valid(plain)


def test_the_stored_schema_is_current_and_its_command_prints_it():
    stored = (ROOT / "docs" / "record.schema.json").read_text(encoding="utf-8")
    assert json.loads(stored) == json_schema(), (
        "run: python -m ocr_pipeline.export.record > docs/record.schema.json"
    )
    command = [sys.executable, "-W", "error", "-m", "ocr_pipeline.export.record"]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    assert done.stdout == stored
    jsonschema.Draft202012Validator.check_schema(json.loads(stored))


def test_the_schema_explains_every_property_of_the_record():
    properties = json_schema()["properties"]
    assert all(p.get("description") for p in properties.values())


def test_the_example_in_the_docs_is_a_record():
    text = (ROOT / "docs" / "record.md").read_text(encoding="utf-8")
    example = text.partition("```json\n")[2].partition("```")[0]
    VALIDATOR.validate(json.loads(example))
    assert from_json(example).orders[0].fields["total"].value == Decimal("13200.50")
    assert from_json(example).orders[0].fields["order_date"].value == date(2024, 3, 5)


def test_a_page_record_keeps_what_the_page_knew():
    page = Page(
        np.zeros((4, 4), np.uint8),
        "a.tif",
        number=3,
        stored_size=(1728, 1147),
        dpi=Resolution(204, 98),
        rotation=180,
        skew=1.5,
        inverted=True,
        ink=Ink.DAMAGED,
        flags=(("streaks", "筋があります"),),
    )
    assert PageRecord.of(page, DocumentStatus.DAMAGED) == PageRecord(
        3,
        (1728, 1147),
        (204.0, 98.0),
        180,
        1.0,
        1.5,
        True,
        Ink.DAMAGED,
        (PageFlag("streaks", "筋があります"),),
        DocumentStatus.DAMAGED,
    )


def test_flags_are_counted_by_what_must_be_looked_at(record):
    # one page, one whole order, two fields, one echo and one tax
    assert flag_count(record) == 6
    assert flag_count(Record("a.tif", DocumentStatus.BLANK)) == 0
