"""Sheets as files: TIFF-F, PDF, PNG, and the truth beside them. Same sheet, same bytes."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image

from ocr_pipeline.errors import UsageError
from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.pages.page import Gray
from synth.chain import Plate, record
from synth.coding import CODINGS, TiffPage, encode, tiff
from synth.drawing import Ref
from synth.marks import Mark
from synth.seeds import chance, pick, stream
from synth.sheet import Sheet
from synth.truth import Print, plain

FORMATS = ("tif", "pdf", "png")


@dataclass(frozen=True, slots=True)
class Container:
    """How pages are stored.

    Attributes:
        form: `tif`, `pdf` or `png` (one page only; further pages get files of their own).
        coding: `MH`, `MR` or `MMR` for pages of two colours.
        low_bit_first: TIFF FillOrder 2.
        min_is_white: TIFF photometric; False stores the negative with MinIsBlack.
    """

    form: str = "tif"
    coding: str = "MMR"
    low_bit_first: bool = False
    min_is_white: bool = True

    def __post_init__(self) -> None:
        if self.form not in FORMATS:
            raise UsageError(f"{self.form!r} is no format", remedy="use tif, pdf or png")


def draw_container(form: str, seed: int) -> Container:
    """What some fax server would write: all variants of TIFF-F occur."""
    rng = stream(seed, "container")
    return Container(form, pick(rng, tuple(CODINGS)), chance(rng, 0.4), chance(rng, 0.8))


def file_bytes(plates: Sequence[Plate], container: Container) -> bytes:
    """One file with all pages.

    Raises:
        UsageError: several pages into one PNG.
    """
    if container.form == "pdf":
        return _pdf(plates)
    if container.form == "tif":
        pages = [_tiff_page(p, container) for p in plates]
        return tiff(
            pages, low_bit_first=container.low_bit_first, min_is_white=container.min_is_white
        )
    if len(plates) != 1:
        raise UsageError("a PNG holds one page", remedy="write several files, or use tif or pdf")
    return png(plates[0].image, plates[0].dpi, bilevel=plates[0].bilevel)


def png(image: Gray, dpi: tuple[float, float], *, bilevel: bool = False) -> bytes:
    """A PNG with its resolution."""
    buffer = io.BytesIO()
    picture = Image.fromarray(image)
    (picture.convert("1") if bilevel else picture).save(buffer, "PNG", dpi=dpi)
    return buffer.getvalue()


def _tiff_page(plate: Plate, container: Container) -> TiffPage:
    shape = (plate.image.shape[0], plate.image.shape[1])
    if not plate.bilevel:
        return TiffPage(plate.image.tobytes(), shape, plate.dpi, "grey")
    strip = encode(plate.image, container.coding, negative=not container.min_is_white)
    return TiffPage(strip, shape, plate.dpi, container.coding)


def _pdf(plates: Sequence[Plate]) -> bytes:
    """A PDF with one image a page: CCITT G4 for two colours, deflated grey otherwise."""
    objects: list[bytes] = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
    kids = []
    for plate in plates:
        height, width = plate.image.shape
        points = (width / plate.dpi[0] * 72, height / plate.dpi[1] * 72)
        if plate.bilevel:
            data, bits = encode(plate.image, "MMR"), 1
            parameters = b"<</K -1/Columns %d/Rows %d>>" % (width, height)
            coding = b"/Filter/CCITTFaxDecode/DecodeParms" + parameters
        else:
            data, bits = zlib.compress(plate.image.tobytes(), 6), 8
            coding = b"/Filter/FlateDecode"
        page = len(objects) + 1
        kids.append(b"%d 0 R" % page)
        draw = b"q %.3f 0 0 %.3f 0 0 cm /Im0 Do Q" % points
        resources = b"<</XObject<</Im0 %d 0 R>>>>" % (page + 1)
        picture = b"/Type/XObject/Subtype/Image/ColorSpace/DeviceGray/Width %d/Height %d" % (
            width,
            height,
        )
        objects += [
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %.3f %.3f]/Resources%s/Contents %d 0 R>>"
            % (*points, resources, page + 2),
            _stream(b"%s/BitsPerComponent %d%s" % (picture, bits, coding), data),
            _stream(b"", draw),
        ]
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids))
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % p for p in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(data), data)


def short_truth(sheet: Sheet) -> dict[str, Any]:
    """The entry of `truth.json`: severity, fields, rows."""
    return {
        "severity": sheet.severity,
        "fields": sheet.truth.fields,
        "rows": sheet.truth.rows,
    }


def _quad(quad: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[round(float(v), 2) for v in point] for point in quad]


def _print(found: Print) -> dict[str, Any]:
    return {
        "page": found.page,
        "text": found.text,
        "quad": _quad(found.quad),
        "chars": [[c, _quad(q)] for c, q in found.chars],
        "ink": round(found.ink, 4),
        "clutter": round(found.clutter, 4),
        "overlaps": found.overlaps,
    }


def _value(sheet: Sheet, ref: Ref) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "value": sheet.truth.values[ref],
        "prints": [_print(p) for p in sheet.truth.prints[ref]],
    }
    if ref in sheet.truth.struck:
        entry["struck"] = sheet.truth.struck[ref]
    return entry


def _mark(sheet: Sheet, mark: Mark) -> dict[str, Any]:
    """A mark with its places in stored pixels; `beside_quad` is where a new value is written."""
    geometry = sheet.pages[mark.page - 1].geometry
    entry = asdict(mark) | {"quad": _quad(geometry.quad(quad_of_box(mark.box)))}
    if mark.beside is not None:
        entry["beside_quad"] = _quad(geometry.quad(quad_of_box(mark.beside)))
    return entry


def long_truth(sheet: Sheet, name: str, container: Container) -> dict[str, Any]:
    """Everything that only the maker knows: quads, ink, marks, chain, name kinds."""
    content, truth = sheet.content, sheet.truth
    rows: list[dict[str, Any]] = [{} for _ in content.lines]
    for ref in truth.values:
        if ref.row is not None:
            rows[ref.row][ref.name] = _value(sheet, ref)
    for ref in truth.blank:
        if ref.row is not None:
            rows[ref.row][ref.name] = {"value": None, "blank": True, "prints": []}
    names = {}
    for role in ("buyer", "supplier"):
        company = getattr(content, role)
        names[role] = {"kind": str(company.kind), "stem": company.stem, "twin": company.twin}
    return {
        "file": name,
        "seed": sheet.seed,
        "severity": sheet.severity,
        "layout": sheet.layout.name,
        "font": sheet.face.name,
        "wording": {k: v for k, v in asdict_wording(sheet).items() if k != "labels"},
        "container": asdict(container),
        "pages": [
            {
                "number": p.number,
                "size": [p.image.shape[1], p.image.shape[0]],
                "dpi": [round(v, 3) for v in p.dpi],
                "facts": dict(p.facts),
            }
            for p in sheet.pages
        ],
        "fields": {r.name: _value(sheet, r) for r in truth.values if r.row is None},
        "rows": rows,
        "taxes": [
            {"rate": rate, "base": plain(base), "tax": plain(tax)}
            for rate, (base, tax) in content.taxes.items()
        ],
        "rounding": content.rounding,
        "names": names,
        "sender_errors": [asdict(e) for e in content.errors],
        "marks": [_mark(sheet, m) for m in sheet.marks],
        "chain": [s for s in record(sheet.chain) if s["step"] != "marks"],
        "scored": [{"name": r.name, "row": r.row, "text": t} for r, t in sheet.scored],
    }


def asdict_wording(sheet: Sheet) -> Mapping[str, Any]:
    """The choices of words as plain data."""
    words = sheet.wording
    names = ("dates", "yen", "negative", "company", "full_width", "ditto", "honorific")
    return {name: getattr(words, name) for name in names}


def to_json(value: object) -> str:
    """JSON as these files are written: UTF-8, indented, numbers of numpy as numbers."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=_number) + "\n"


def to_line(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=_number) + "\n"


def _number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")
