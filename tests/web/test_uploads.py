"""What comes in is counted before it is decoded."""

import io
import zlib

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image

from ocr_pipeline.errors import InputError, OcrPipelineError
from ocr_pipeline.web.errors import status_of
from ocr_pipeline.web.settings import Limits
from ocr_pipeline.web.uploads import inspect

LIMITS = Limits(pages=3, page_pixels=1_000_000)


def saved(tmp_path, image, kind, **more):
    path = tmp_path / "scan"
    image.save(path, kind, **more)
    return path


def refusal(path, limits=LIMITS):
    with pytest.raises(OcrPipelineError) as refused:
        inspect(path, limits)
    assert refused.value.remedy
    return status_of(refused.value)


@pytest.mark.parametrize("kind", ["TIFF", "PNG", "JPEG", "BMP", "WEBP"])
def test_images(tmp_path, kind):
    assert inspect(saved(tmp_path, Image.new("L", (300, 200), 255), kind), LIMITS) == 1


def test_many_pages(tmp_path):
    page = Image.new("1", (300, 200), 1)
    assert (
        inspect(saved(tmp_path, page, "TIFF", save_all=True, append_images=[page] * 2), LIMITS) == 3
    )


def test_too_many_pages(tmp_path):
    page = Image.new("1", (30, 20), 1)
    path = saved(tmp_path, page, "TIFF", save_all=True, append_images=[page] * 3)
    assert refusal(path) == 413


def test_a_pdf_of_five_thousand_pages(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(_pdf(5000))
    assert refusal(path) == 413


def test_a_pdf(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(_pdf(2))
    assert inspect(path, LIMITS) == 2


def test_a_pdf_with_a_huge_image(tmp_path):
    path = saved(tmp_path, Image.new("1", (1200, 1000), 1), "PDF")
    assert refusal(path) == 413


def test_a_pdf_that_is_broken(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(b"%PDF-1.7\nand nothing more")
    assert refusal(path) == 422


def test_a_bomb(tmp_path):
    # 144 million white pixels in 18 kB.
    path = saved(tmp_path, Image.new("1", (12_000, 12_000), 1), "PNG")
    assert path.stat().st_size < 100_000
    assert refusal(path, Limits()) == 413


def test_a_bomb_hidden_behind_a_small_page(tmp_path):
    path = tmp_path / "scan"
    first, second = Image.new("1", (300, 200), 1), Image.new("1", (8000, 8000), 1)
    first.save(path, "TIFF", save_all=True, append_images=[second], compression="group4")
    assert refusal(path, Limits()) == 413


def test_a_header_that_lies(tmp_path):
    out = io.BytesIO()
    Image.new("L", (10, 10)).save(out, "PNG")
    data = bytearray(out.getvalue())
    data[16:24] = (2**31 - 1).to_bytes(4, "big") * 2
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    path = tmp_path / "scan"
    path.write_bytes(data)
    assert refusal(path) == 413


@pytest.mark.parametrize(
    "content", [b"just some text", b"PK\x03\x04 a zip", b"\x00" * 500, b"GIF89a"]
)
def test_something_else(tmp_path, content):
    path = tmp_path / "scan.tif"
    path.write_bytes(content)
    assert refusal(path) == 415


def test_nothing(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(b"")
    assert refusal(path) == 422


def test_a_tiff_without_a_page(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(b"II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")
    assert refusal(path) in (415, 422)


def test_input_errors_are_the_visitors():
    assert status_of(InputError("x")) == 422
    assert status_of(OcrPipelineError("x")) == 500


def _pdf(pages: int) -> bytes:
    document = pdfium.PdfDocument.new()
    for _ in range(pages):
        document.new_page(200, 200)
    out = io.BytesIO()
    document.save(out)
    document.close()
    return out.getvalue()


def test_noise(tmp_path):
    path = tmp_path / "scan"
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    assert refusal(path) == 415
