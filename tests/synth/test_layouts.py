from decimal import Decimal

import numpy as np
import pytest

from synth import fonts
from synth.content import draw_content
from synth.layouts import ANY, LAYOUTS, compose
from synth.seeds import stream
from synth.transcription import page_markdown
from synth.wording import Wording, draw_wording

SCALE = 6.0


def draw(name, seed=1, lines=(5, 5), wording=None):
    content = draw_content(stream(seed, "content"), lines=lines)
    words = wording or draw_wording(stream(seed, "wording"))
    return content, compose(content, words, LAYOUTS[name], fonts.packaged()[0], SCALE)


def test_there_are_enough_layouts():
    assert len(ANY) >= 12
    assert len({(v.header, v.totals, v.rules, v.columns, v.points) for v in LAYOUTS.values()}) >= 12


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_value_is_drawn_inside_the_sheet(name):
    content, pages = draw(name)
    refs = {r.ref for p in pages for r in p.runs if r.ref}
    assert {"order_no", "order_date", "buyer", "supplier", "subtotal", "tax", "total"} <= {
        r.name for r in refs
    }
    columns = {c for c, _ in LAYOUTS[name].columns}
    rows = {r.row for r in refs if r.row is not None}
    assert rows == set(range(len(content.lines)))
    if "item" in columns:
        assert sum(r.name == "item" for r in refs) == len(content.lines)
    for page in pages:
        for run in page.runs:
            left, top, right, bottom = run.box
            assert 0 <= left < right <= page.width
            assert 0 <= top < bottom <= page.height


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("lines", [3, 40])
def test_values_do_not_run_into_each_other(name, lines):
    _, pages = draw(name, seed=5, lines=(lines, lines))
    for page in pages:
        boxes = np.array([r.box for r in page.runs if r.ref])
        wide = np.minimum(boxes[:, None, 2], boxes[None, :, 2]) - np.maximum(
            boxes[:, None, 0], boxes[None, :, 0]
        )
        tall = np.minimum(boxes[:, None, 3], boxes[None, :, 3]) - np.maximum(
            boxes[:, None, 1], boxes[None, :, 1]
        )
        both = (wide > 0.3) & (tall > 0.3)
        np.fill_diagonal(both, False)
        assert not both.any(), [page.runs[i].text for i in np.argwhere(both).ravel()]


def test_long_orders_go_on_over_pages():
    content, pages = draw("large_type", lines=(40, 40))
    assert 2 <= len(pages) <= 4
    for number, page in enumerate(pages, start=1):
        text = page_markdown(page, {})
        assert f"{number}/{len(pages)}頁" in text
        assert ("頁計" in text) == (number < len(pages))
    seen = [r.ref.row for p in pages for r in p.runs if r.ref and r.ref.name == "quantity"]
    assert seen == list(range(len(content.lines)))
    numbers = [r for p in pages for r in p.runs if r.ref and r.ref.name == "order_no"]
    assert len(numbers) == len(pages)


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("lines", [3, 40])
def test_one_to_four_pages(name, lines):
    _, pages = draw(name, lines=(lines, lines))
    assert 1 <= len(pages) <= 4
    assert len(pages) == 1 or lines == 40


def test_forty_lines_fit_on_a_dense_page():
    for seed in range(12):
        _, pages = draw("dense", seed=seed, lines=(40, 40))
        assert len(pages) == 1


def test_the_transcription_holds_all_values():
    content, (page,) = draw("full_grid", wording=Wording())
    text = page_markdown(page, {})
    assert f"発注日：{content.order_date.year}年" in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert lines[0].startswith("| No | 品名 | 規格 |")
    assert set(lines[1]) == set("| -")
    widths = {line.count("|") for line in lines}
    assert len(widths) == 1
    for row, line in zip(content.lines, lines[2:], strict=False):
        assert row.item in line
        assert row.spec in line
    assert f"{content.total:,}" in lines[-1]


def test_two_tax_rates_are_shown_apart():
    seed = next(
        s for s in range(200) if len(draw_content(stream(s, "content"), lines=(5, 5)).taxes) == 2
    )
    content, pages = draw("full_grid", seed=seed, wording=Wording())
    text = page_markdown(pages[-1], {})
    for rate, (base, tax) in content.taxes.items():
        assert f"{rate}%対象 {base:,}" in text
        assert f"{Decimal(tax):,}" in text
