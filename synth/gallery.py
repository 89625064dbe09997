"""An HTML page to look at sheets: the picture, the boxes of the truth, the chain."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from ocr_pipeline.pages.page import Gray
from synth.chain import Plate
from synth.files import png

_CSS = """
body{font:14px/1.5 sans-serif;margin:2em;background:#f4f4f1;color:#222}
figure{display:inline-block;vertical-align:top;margin:0 1.5em 2em 0;width:560px}
.page{position:relative;background:#fff;box-shadow:0 1px 5px #0003}
.page img{width:100%;display:block}
.page svg{position:absolute;inset:0;width:100%;height:100%}
polygon{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}
polygon:hover{fill:#ff02}
.hide svg{display:none}
pre{white-space:pre-wrap;font-size:12px;background:#fff;padding:.8em}
"""


def square_png(plate: Plate, width: int) -> bytes:
    """The page with square pixels, `width` wide, as a grey PNG."""
    dpi = width / (plate.image.shape[1] / plate.scale[0]) * 25.4
    return png(square(plate, width), (dpi, dpi))


def square(plate: Plate, width: int) -> Gray:
    """The page with square pixels."""
    height = round(
        plate.image.shape[0] / plate.scale[1] / (plate.image.shape[1] / plate.scale[0]) * width
    )
    # INTER_AREA averages when it shrinks and repeats when it enlarges: no new shades of ink.
    small = cv2.resize(plate.image, (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8)


def _colour(ink: float) -> str:
    """Green where the ink is whole, red where it is gone."""
    return f"hsl({round(120 * max(0.0, min(1.0, (ink - 0.4) / 0.6)))} 90% 40%)"


def _boxes(truth: dict[str, Any], page: dict[str, Any]) -> str:
    shapes = []
    named = [(n, v) for n, v in truth["fields"].items()]
    named += [(f"{i + 1}.{n}", v) for i, row in enumerate(truth["rows"]) for n, v in row.items()]
    for name, value in named:
        for found in value["prints"]:
            if found["page"] == page["number"]:
                points = " ".join(f"{x},{y}" for x, y in found["quad"])
                title = html.escape(
                    f"{name} = {value['value']}\nink {found['ink']}, clutter {found['clutter']}"
                )
                shapes.append(
                    f'<polygon points="{points}" stroke="{_colour(found["ink"])}">'
                    f"<title>{title}</title></polygon>"
                )
    width, height = page["size"]
    return f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none">{"".join(shapes)}</svg>'


def _steps(truth: dict[str, Any]) -> str:
    lines = []
    for step in truth["chain"]:
        values = ", ".join(
            f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}"
            for k, v in step.items()
            if k != "step"
        )
        lines.append(f"{step['step']}: {values}")
    return html.escape("\n".join(lines))


def gallery(truths: Sequence[dict[str, Any]], images: Sequence[Sequence[str]]) -> str:
    """The page.

    Args:
        truths: of `files.long_truth`, one a sheet.
        images: for each sheet the addresses of its pages' pictures.
    """
    figures = []
    for truth, names in zip(truths, images, strict=True):
        pages = "".join(
            f'<div class="page"><img src="{name}" loading="lazy" alt="">{_boxes(truth, page)}</div>'
            for name, page in zip(names, truth["pages"], strict=True)
        )
        caption = html.escape(
            f"{truth['file']} · severity {truth['severity']} · {truth['layout']} · {truth['font']}"
        )
        figures.append(
            f"<figure><figcaption>{caption}</figcaption>{pages}"
            f"<details><summary>chain</summary><pre>{_steps(truth)}</pre></details></figure>"
        )
    return (
        f'<!doctype html><html lang="ja"><meta charset="utf-8"><title>sheets</title>'
        f"<style>{_CSS}</style><p>Boxes: green where the ink is whole, red where it is gone; "
        f"point at one for its value. <label><input type=checkbox checked "
        f"onchange=\"document.body.classList.toggle('hide')\"> boxes</label></p>"
        f"{''.join(figures)}</html>\n"
    )


def contact_sheet(plates: Sequence[Plate], width: int = 520) -> bytes:
    """First pages side by side, three in a row, as PNG: one order across the severities."""
    small = [square(p, width) for p in plates]
    height = max(s.shape[0] for s in small)
    cells = [
        cv2.copyMakeBorder(s, 6, 6 + height - s.shape[0], 6, 6, cv2.BORDER_CONSTANT, value=190)
        for s in small
    ]
    while len(cells) % 3:
        cells.append(np.full_like(cells[0], 190))
    rows = [np.hstack(cells[i : i + 3]) for i in range(0, len(cells), 3)]
    return png(np.vstack(rows), (100.0, 100.0))
