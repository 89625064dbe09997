import hashlib
import io
import json
import shutil
import subprocess
import sys

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from ocr_pipeline.errors import UsageError
from synth import make_sheet
from synth.files import Container, draw_container, file_bytes, long_truth, short_truth, to_json
from synth.making import Job, make


def sheet(severity=2, **settings):
    return make_sheet(4, severity=severity, lines=(3, 4), **settings)


@pytest.mark.parametrize("severity", [0, 2, 4])
@pytest.mark.parametrize("form", ["tif", "png"])
def test_pillow_opens_what_is_written(severity, form):
    made = sheet(severity)
    data = file_bytes(made.pages, draw_container(form, 1))
    with Image.open(io.BytesIO(data)) as file:
        np.testing.assert_array_equal(np.asarray(file.convert("L")), made.pages[0].image)
        x, y = (float(v) for v in file.info["dpi"])
        assert (x, y) == pytest.approx(made.pages[0].dpi, rel=1e-3)


@pytest.mark.parametrize("severity", [0, 4])
def test_pdfs_hold_the_same_pixels(severity):
    made = make_sheet(3, severity=severity, layout="large_type", lines=(14, 14))
    assert len(made.pages) > 1
    document = pypdfium2.PdfDocument(file_bytes(made.pages, Container("pdf")))
    assert len(document) == len(made.pages)
    for page, plate in zip(document, made.pages, strict=True):
        (picture,) = page.get_objects()
        image = np.asarray(picture.get_bitmap().to_pil().convert("L"))
        np.testing.assert_array_equal(image, plate.image)
        width, height = page.get_size()
        assert width == pytest.approx(plate.image.shape[1] / plate.dpi[0] * 72, abs=0.01)
        assert height == pytest.approx(plate.image.shape[0] / plate.dpi[1] * 72, abs=0.01)
    document.close()


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="poppler is not installed")
@pytest.mark.parametrize("severity", [0, 3])
def test_poppler_opens_pdfs_without_complaint(severity, tmp_path):
    made = sheet(severity)
    (tmp_path / "a.pdf").write_bytes(file_bytes(made.pages, Container("pdf")))
    done = subprocess.run(
        ["pdftoppm", "-r", "60", "-gray", "-png", "a.pdf", "a"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    (picture,) = tmp_path.glob("*.png")
    with Image.open(picture) as page:
        small = np.asarray(page)
    assert small.mean() == pytest.approx(made.pages[0].image.mean(), abs=6)


def test_a_png_holds_one_page():
    made = make_sheet(3, severity=0, layout="large_type", lines=(14, 14))
    with pytest.raises(UsageError):
        file_bytes(made.pages, Container("png"))
    assert make(Job("a", 3, 1, "png", "large_type", lines=(14, 14))).name == "a.pdf"
    with pytest.raises(UsageError):
        Container("gif")


def test_all_variants_of_tiff_occur():
    drawn = [draw_container("tif", seed) for seed in range(60)]
    assert {c.coding for c in drawn} == {"MH", "MR", "MMR"}
    assert {c.low_bit_first for c in drawn} == {True, False}
    assert {c.min_is_white for c in drawn} == {True, False}


def test_truth_on_disk():
    made = make_sheet(5, severity=2, layout="boxed_header", lines=(4, 4))
    short = json.loads(to_json(short_truth(made)))
    assert list(short) == ["severity", "fields", "rows"]
    assert set(short["fields"]) == {
        *("order_no", "order_date", "due_date", "buyer", "supplier", "tel", "fax", "person"),
        *("delivery_place", "payment_terms", "subtotal", "tax", "total", "remarks"),
    }
    assert len(short["rows"]) == 4
    assert isinstance(short["fields"]["total"], int)
    assert set(short["rows"][0]) <= {
        *("no", "item", "spec", "quantity", "unit", "unit_price", "amount", "remarks"),
    }
    long = json.loads(to_json(long_truth(made, "a.tif", Container())))
    assert {n: v["value"] for n, v in long["fields"].items()} == short["fields"]
    for row, cells in zip(short["rows"], long["rows"], strict=True):
        printed = {n: c["value"] for n, c in cells.items() if not c.get("blank")}
        assert printed == row
        assert all(c["prints"] == [] for c in cells.values() if c.get("blank"))
    assert long["names"]["buyer"]["kind"]
    assert long["chain"][0]["step"] == "print"
    for value in long["fields"].values():
        for found in value["prints"]:
            assert 0 <= found["ink"] <= 1
            assert len(found["quad"]) == 4


_SCRIPT = """
import hashlib
from synth.making import Job, make
digest = hashlib.sha256()
for severity in (1, 5):
    made = make(Job("a", 99, severity, "tif", extras=("preview",)))
    for path in sorted(made.files):
        digest.update(path.encode() + made.files[path])
print(digest.hexdigest())
"""


def test_one_seed_gives_identical_bytes_in_two_processes():
    runs = [
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].strip()) == len(hashlib.sha256().hexdigest())
