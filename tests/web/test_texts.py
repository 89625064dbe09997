"""Both languages, and every text that is asked for."""

import re
import string
from pathlib import Path

import pytest

import ocr_pipeline.web
from ocr_pipeline.export.record import DocumentStatus
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.web.texts import TEXTS, language_of, translate

ROOT = Path(ocr_pipeline.web.__file__).parent
TEMPLATES = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("templates/*.html"))
SCRIPTS = "\n".join(p.read_text(encoding="utf-8") for p in ROOT.glob("static/*.js"))


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def asked():
    yield from re.findall(r"""\bt\("(\w+)"(?=[,)])""", TEMPLATES + SCRIPTS)
    yield from re.findall(r"""\bdata-t(?:-label)?="(\w+)\"""", TEMPLATES)
    yield from re.findall(r"""\bsay\("(\w+)"(?=[,)])""", SCRIPTS)
    yield from (s for s in DocumentStatus)
    yield from (f"state_{s}" for s in FieldState if s is not FieldState.READ)
    yield from ("scan_gone", "scan_changed", "scan_broken")
    yield from (f"ended_{o}" for o in ("stopped", "failed", "out_of_time", "client_too_slow"))


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_both_languages_say_the_same(key):
    text = TEXTS[key]
    assert text.ja.strip()
    assert text.en.strip()
    assert fields(text.ja) == fields(text.en)


def test_every_text_that_is_asked_for_is_there():
    assert sorted(set(asked()) - set(TEXTS)) == []


def test_no_text_is_left_over():
    words = set(re.findall(r"[\w]+", TEMPLATES + SCRIPTS)) | set(asked())
    assert sorted(set(TEXTS) - words) == []


@pytest.mark.parametrize(
    ("cookie", "accepted", "language"),
    [
        (None, None, "ja"),
        ("en", "ja", "en"),
        ("ja", "en", "ja"),
        ("xx", "en-US,en;q=0.9", "en"),
        (None, "fr-FR, en;q=0.5", "en"),
        (None, "ja;q=0.9", "ja"),
        (None, "fr", "ja"),
        (None, ",;;", "ja"),
    ],
)
def test_the_language_of_a_visitor(cookie, accepted, language):
    assert language_of(cookie, accepted) == language


def test_placeholders():
    assert translate("en", "page_of", n=1, of=3) == "page 1 of 3"
