from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from ocr_pipeline.errors import UnreadableFileError, UnsupportedFileError
from ocr_pipeline.pages.load import load_pages, read_scans
from ocr_pipeline.pages.page import Ink, Resolution


class Upright:
    """A witness for whom every page is fine; direction has tests of its own."""

    def upside_down(self, lines, *, sideways=False):
        return 0.0


def pages_of(path, **options):
    return list(load_pages(path, path.name, witness=Upright(), **options))


@pytest.fixture(scope="module")
def order(drawing):
    return drawing.order(4, height=2292)


def bilevel(image):
    return Image.fromarray(image).convert("1", dither=Image.Dither.NONE)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "group3"},
        {"compression": "group3", "tiffinfo": {292: 1}},  # T4Options: two-dimensional coding
        {"compression": "group3", "tiffinfo": {292: 4}},  # end-of-line codes on byte borders
        {"compression": "group4"},
        {"compression": "group4", "tiffinfo": {278: 10_000}},  # one strip
        {"compression": "group4", "tiffinfo": {262: 0}},  # MinIsWhite
        {"compression": "group3", "tiffinfo": {262: 1}},  # MinIsBlack
        {"compression": "group4", "tiffinfo": {266: 2}},  # FillOrder: lowest bit first
        {"compression": "packbits"},
        {"compression": "tiff_lzw"},
        {},
    ],
    ids=str,
)
def test_tiff_variants_give_the_same_pixels(tmp_path, order, options):
    path = tmp_path / "fax.tif"
    bilevel(order).save(path, dpi=(204, 196), **options)
    (scan,) = read_scans(path)
    assert np.array_equal(scan.image, order)
    assert scan.dpi == Resolution(204.0, 196.0)
    (page,) = pages_of(path)
    assert page.ink is Ink.OK
    assert page.stored_size == (1728, 2292)
    assert page.image.shape == (round(2292 * 204 / 196), 1728)
    assert (page.image[0] == 255).all()


@pytest.mark.parametrize(
    ("tags", "dpi"),
    [
        ({"resolution_unit": 3, "x_resolution": 80.31, "y_resolution": 77.17}, (204, 196)),
        ({"resolution_unit": 2, "x_resolution": 1.0, "y_resolution": 1.0}, (204, 196)),
        ({"resolution_unit": 2, "x_resolution": 72.0, "y_resolution": 72.0}, (204, 196)),
        ({"resolution_unit": 1, "x_resolution": 1.0, "y_resolution": 2.0}, (204, 196)),
        ({}, (204, 196)),
    ],
    ids=str,
)
def test_resolution_tags(tmp_path, order, tags, dpi):
    path = tmp_path / "fax.tif"
    bilevel(order).save(path, compression="group4", **tags)
    (scan,) = read_scans(path)
    assert scan.dpi == pytest.approx(dpi, abs=0.1)


def test_pages_of_a_multi_page_tiff_in_order(tmp_path, drawing):
    images = [drawing.order(i, height=1146, rows=2 + i) for i in range(3)]
    path = tmp_path / "fax.tif"
    first, *rest = map(bilevel, images)
    first.save(path, compression="group3", dpi=(204, 98), save_all=True, append_images=rest)
    pages = pages_of(path)
    assert [p.number for p in pages] == [1, 2, 3]
    assert {p.dpi for p in pages} == {Resolution(204.0, 98.0)}
    for scan, image in zip(read_scans(path), images, strict=True):
        assert np.array_equal(scan.image, image)


def test_a_broken_page_does_not_lose_the_others(tmp_path, drawing):
    images = [bilevel(drawing.order(i, height=1146)) for i in range(3)]
    path = tmp_path / "fax.tif"
    images[0].save(path, compression="tiff_lzw", save_all=True, append_images=images[1:])
    data = bytearray(path.read_bytes())
    with Image.open(path) as image:
        image.seek(1)
        start = image.tag_v2[273][0]
    data[start : start + 400] = bytes(400)
    path.write_bytes(data)
    pages = pages_of(path)
    assert [p.ink for p in pages] == [Ink.OK, Ink.DAMAGED, Ink.OK]
    assert pages[1].flags[0][0] == "page_damaged"
    assert pages[1].stored_size == (1728, 1146)
    assert pages[1].number == 2


def test_a_broken_first_page_comes_first(tmp_path, drawing):
    images = [bilevel(drawing.order(i, height=1146)) for i in range(2)]
    path = tmp_path / "fax.tif"
    images[0].save(path, compression="tiff_lzw", save_all=True, append_images=images[1:])
    data = bytearray(path.read_bytes())
    with Image.open(path) as image:
        start = image.tag_v2[273][0]
    data[start : start + 400] = bytes(400)
    path.write_bytes(data)
    assert [(p.number, p.ink) for p in pages_of(path)] == [(1, Ink.DAMAGED), (2, Ink.OK)]


def test_line_errors_are_counted_and_not_printed(tmp_path, order, capfd):
    path = tmp_path / "fax.tif"
    bilevel(order).save(path, compression="group3", dpi=(204, 196))
    data = bytearray(path.read_bytes())
    with Image.open(path) as image:
        start, length = image.tag_v2[273][1], image.tag_v2[279][1]
    damage = np.random.default_rng(0)
    for offset in damage.integers(start + 200, start + length, 60):
        data[offset] ^= 1 << int(damage.integers(8))
    path.write_bytes(data)
    (scan,) = read_scans(path)
    assert [code for code, _ in scan.flags] == ["line_errors"]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp", "webp"])
def test_other_images(tmp_path, order, suffix):
    path = tmp_path / f"scan.{suffix}"
    Image.fromarray(order).save(path, dpi=(204, 196))
    (page,) = pages_of(path)
    assert page.stored_size == (1728, 2292)
    assert page.ink is Ink.OK


def test_exif_orientation_is_applied_as_any_viewer_does(tmp_path, order):
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[274] = 6  # the camera was turned: show it a quarter clockwise
    sideways = Image.fromarray(np.rot90(order))
    sideways.save(path, dpi=(196, 204), exif=exif, quality=95)
    (scan,) = read_scans(path)
    assert scan.image.shape == order.shape
    assert scan.dpi == pytest.approx((204, 196), abs=1)
    assert ((scan.image < 128) == (order < 128)).mean() > 0.99


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB", "CMYK", "I;16"])
def test_colour_modes(tmp_path, order, mode):
    path = tmp_path / ("scan.tif" if mode == "CMYK" else "scan.png")
    image = Image.fromarray(order)
    if mode == "RGBA":  # black ink on clear film
        image = Image.merge(
            "RGBA", [Image.new("L", image.size)] * 3 + [Image.fromarray(255 - order)]
        )
    elif mode == "I;16":
        image = Image.fromarray(order.astype(np.uint16) * 257)
    else:
        image = image.convert(mode)
    image.save(path)
    (scan,) = read_scans(path)
    assert ((scan.image < 128) == (order < 128)).all()


def test_a_pdf_is_known_by_its_content(tmp_path, order):
    path = tmp_path / "fax.tif"
    bilevel(order).save(path, format="PDF", resolution=204)
    assert len(pages_of(path)) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.tif", b""),
        ("empty.pdf", b""),
        ("broken.tif", b"II*\x00" + bytes(100)),
        ("broken.png", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        ("broken.pdf", b"%PDF-1.7\n" + bytes(500)),
        ("text.tif", "注文書".encode()),
    ],
)
def test_broken_files_say_what_to_do(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError) as error:
        pages_of(path)
    assert error.value.remedy
    assert name in error.value.message


@pytest.mark.parametrize("suffix", ["tif", "png", "jpg"])
def test_truncated_files(tmp_path, order, suffix):
    path = tmp_path / f"cut.{suffix}"
    Image.fromarray(order).save(path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(UnreadableFileError):
        pages_of(path)


@pytest.mark.parametrize("name", ["missing.tif", "."])
def test_no_file(tmp_path, name):
    with pytest.raises(UnreadableFileError):
        pages_of(tmp_path / name)


@pytest.mark.parametrize("name", ["letter.docx", "letter.txt", "letter"])
def test_unsupported_kinds(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04 something else entirely")
    with pytest.raises(UnsupportedFileError) as error:
        pages_of(path)
    assert ".tif" in error.value.remedy


def test_giant_images_are_refused_before_they_are_decoded(tmp_path):
    path = tmp_path / "bomb.png"
    stream = io.BytesIO()
    Image.new("1", (8, 8)).save(stream, format="PNG")
    data = bytearray(stream.getvalue())
    data[16:24] = struct.pack(">II", 60_000, 60_000)  # the header alone claims it
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    path.write_bytes(data)
    with pytest.raises(UnreadableFileError) as error:
        pages_of(path)
    assert "200" in error.value.remedy or "pixels" in error.value.message


def test_pages_over_the_limit_are_refused(tmp_path, order):
    path = tmp_path / "scan.png"
    Image.fromarray(order).save(path)
    with pytest.raises(UnreadableFileError, match="pixels"):
        pages_of(path, max_pixels=1_000_000)
