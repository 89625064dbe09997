"""Draw the pictures of the README from the results of `make demo`: `make pictures`."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import cv2
from PIL import Image, ImageDraw, ImageFont

from ocr_pipeline.export.record import Record, from_json, order_values
from ocr_pipeline.pages.load import read_scans
from synth.fonts import packaged
from synth.gallery import contact_sheet
from synth.sheet import make_sheet

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PAGE = "015_s3.tif"
LISTED = ("005_s1.tif", "010_s2.tif", "015_s3.tif")
TRUSTED, DOUBTED, INK = (20, 140, 60), (225, 110, 0), (35, 35, 35)
HEAD, FILL, LINE = (217, 225, 242), (255, 255, 255), (190, 190, 190)
COLUMNS = {
    "source": ("ファイル", 105),
    "row": ("行", 34),
    "label": ("項目", 80),
    "reason": ("理由", 400),
    "raw": ("読み取った文字", 215),
    "candidates": ("候補", 255),
    "correction": ("訂正値", 90),
}


def main() -> None:
    """Write `order.png`, `review.png` and `severities.png` into docs/images."""
    out = ROOT / "out"
    record = from_json((out / "documents" / f"{PAGE}.json").read_text(encoding="utf-8"))
    _save(boxed(record, ROOT / "datasets" / "samples" / PAGE, 1000), "order.png")
    with (out / "review.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["source"] in LISTED]
    _save(table(rows[:12]), "review.png")
    plates = [make_sheet(7, severity=s, layout="full_grid").pages[0] for s in range(6)]
    (IMAGES / "severities.png").write_bytes(contact_sheet(plates, width=400))


def boxed(record: Record, scan: Path, width: int) -> Image.Image:
    """The first page down to its last value, with a box around every value that was read."""
    stored = next(iter(read_scans(scan)))
    height, stored_width = stored.image.shape
    x = width / stored_width
    y = x * stored.dpi.x / stored.dpi.y  # fax pixels are not square; a picture's are
    small = cv2.resize(stored.image, (width, round(height * y)), interpolation=cv2.INTER_AREA)
    picture = Image.fromarray(small).convert("RGB")
    draw = ImageDraw.Draw(picture)
    values = [v for order in record.orders for v in order_values(order)]
    end = 0.0
    # Doubtful values last: their boxes stay on top of those of the same place without a flag.
    for value in sorted(values, key=lambda v: bool(v.flags)):
        if value.quad is not None and value.page == 1:
            points = [(px * x, py * y) for px, py in value.quad]
            draw.polygon(points, outline=DOUBTED if value.flags else TRUSTED, width=3)
            end = max(end, *(py for _, py in points))
    return picture.crop((0, 0, width, min(picture.height, round(end) + 90)))


def table(rows: list[dict[str, str]]) -> Image.Image:
    """Rows of the review list as a spreadsheet shows them."""
    font = ImageFont.truetype(packaged()[0].path, 15)
    heads = {name: label for name, (label, _) in COLUMNS.items()}
    lines = [{n: list(_wrapped(r[n], w - 12, font)) for n, (_, w) in COLUMNS.items()}
             for r in (heads, *rows)]  # fmt: skip
    heights = [max(len(cell) for cell in line.values()) * 21 + 9 for line in lines]
    picture = Image.new("RGB", (sum(w for _, w in COLUMNS.values()) + 1, sum(heights) + 1), FILL)
    draw = ImageDraw.Draw(picture)
    top = 0
    for number, (line, height) in enumerate(zip(lines, heights, strict=True)):
        left = 0
        for name, (_, width) in COLUMNS.items():
            box = (left, top, left + width, top + height)
            draw.rectangle(box, fill=FILL if number else HEAD, outline=LINE)
            for i, text in enumerate(line[name]):
                draw.text((left + 6, top + 3 + 21 * i), text, font=font, fill=INK)
            left += width
        top += height
    return picture


def _wrapped(text: str, width: int, font: ImageFont.FreeTypeFont) -> Iterator[str]:
    """Lines of a text that are no wider than `width` pixels; Japanese breaks anywhere."""
    line = ""
    for char in text:
        if font.getlength(line + char) > width:
            yield line
            line = ""
        line += char
    yield line


def _save(picture: Image.Image, name: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    # A few colours are enough for ink, boxes and paper, and keep the files small.
    picture.quantize(32).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main()
