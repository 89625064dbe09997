"""A sheet from a seed: content, words, layout, drawing, marks, chain, truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocr_pipeline.errors import UsageError
from ocr_pipeline.pages.page import Gray
from synth import fonts
from synth.chain import Chain, Plate, plate_of, run
from synth.content import Content, draw_content
from synth.drawing import Drawing, Ref
from synth.fonts import Face
from synth.layouts import ANY, LAYOUTS, Layout, compose
from synth.mark_plan import plan_marks
from synth.marks import Mark, Marks
from synth.names import NameKind
from synth.scanner import Scan
from synth.seeds import chance, pick, stream
from synth.sender_errors import plant_error
from synth.severity import draw_chain
from synth.transcription import page_markdown
from synth.truth import Truth, tell
from synth.wording import Wording, draw_wording

SCALE = 12.0
"""Pixels a millimetre of the drawing (305 dpi): 1.5 times a fax line's."""
FINE_SCALE = 16.0
"""The same for scans finer than 204 dpi."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """An order as it comes out of the machine, with everything known about it.

    Attributes:
        seed: what it was made from.
        severity: 0..5, None when the chain was given.
        content: what the order says.
        wording: how it says it.
        layout: how it looks.
        face: its typeface.
        marks: what was added by hand.
        chain: the steps every page went through.
        pages: the pages as stored.
        drawings: the same pages before print, with what stands where.
        truth: values and where they stand.
        scored: the values that a preset scores; all when empty.
    """

    seed: int
    severity: int | None
    content: Content
    wording: Wording
    layout: Layout
    face: Face
    marks: tuple[Mark, ...]
    chain: Chain
    pages: tuple[Plate, ...]
    drawings: tuple[Drawing, ...]
    truth: Truth
    scored: tuple[tuple[Ref, str], ...] = ()

    @property
    def clean(self) -> tuple[Gray, ...]:
        """The undamaged twins: dark on light, square pixels at `scale` a millimetre."""
        return tuple(np.asarray(np.bitwise_not(d.ink)) for d in self.drawings)

    @property
    def scale(self) -> float:
        """Pixels a millimetre of the drawings."""
        return self.drawings[0].scale


def _layout(name: str | Layout, seed: int) -> Layout:
    if isinstance(name, Layout):
        return name
    if name == "any":
        return LAYOUTS[pick(stream(seed, "layout"), ANY)]
    if name not in LAYOUTS:
        raise UsageError(
            f"no layout is called {name!r}", remedy="use any or one of: " + ", ".join(LAYOUTS)
        )
    return LAYOUTS[name]


def _face(layout: Layout, pool: str, text: str, seed: int) -> Face:
    able = fonts.able(fonts.faces(pool), text)
    styled = tuple(f for f in able if layout.style in ("any", f.style))
    return pick(stream(seed, "face"), styled or able)


def _text(content: Content, wording: Wording) -> str:
    """Every character that may be printed."""
    parts = ["0123456789０１２３４５６７８９,.-/:；（）()¥円％%▲△頁計続き対象税込〃一年月日令和R"]
    parts += list(wording.labels.values())
    parts += [wording.name(content.buyer), wording.name(content.supplier)]
    parts += [content.order_no, content.address, content.person, content.department]
    parts += [content.delivery_place, content.payment_terms, content.remarks]
    parts += [x.item + x.spec + x.unit + x.remarks for x in content.lines]
    return "".join(parts)


def header_texts(content: Content, seed: int) -> tuple[str, str, str]:
    """The sender's header line: when, who, which page."""
    rng = stream(seed, "header")
    when, hour, minute = content.order_date, int(rng.integers(8, 19)), int(rng.integers(0, 60))
    number = int(rng.integers(1000, 10000))
    ways = (
        (
            f"{when.year}年{when.month}月{when.day}日 {hour}時{minute:02d}分",
            content.buyer.short,
            f"No.{number} P. {{page}}/{{pages}}",
        ),
        (f"{when:%Y-%m-%d} {hour:02d}:{minute:02d}", f"FROM:{content.fax}", "P.{page}/{pages}"),
        (
            f"{when:%y.%m.%d} {hour:02d}:{minute:02d}",
            f"{content.buyer.short}  {content.fax}",
            "#{page}",
        ),
    )
    return pick(rng, ways)


def _chain(layout: Layout, severity: int, seed: int, header: tuple[str, str, str]) -> Chain:
    """A landscape sheet goes through a fax on its side; a flatbed takes it as it is."""
    sideways = layout.width > layout.height and severity > 0
    turn = pick(stream(seed, "turn"), (90, 270)) if sideways else 0
    return draw_chain(
        severity,
        seed,
        turn=turn,
        length_mm=layout.width if sideways else layout.height,
        header=header,
        needles_per_mm=4.0 if layout.printer == "dots" else 0.0,
    )


def with_marks(chain: Chain, marks: tuple[Mark, ...]) -> Chain:
    """The chain with the marks of a sheet between print and everything else."""
    if not marks:
        return chain
    after = next((i + 1 for i, s in enumerate(chain) if s.name == "print"), 0)
    return (*chain[:after], Marks(marks), *chain[after:])


def make_sheet(
    seed: int,
    *,
    severity: int = 2,
    layout: str | Layout = "any",
    chain: Chain | None = None,
    marks: bool = True,
    pool: str = "packaged",
    lines: tuple[int, int] = (3, 12),
    name_kinds: tuple[NameKind, ...] = tuple(NameKind),
    sender_error_rate: float = 0.0,
) -> Sheet:
    """Make one sheet. The same seed gives the same order at every severity.

    Args:
        seed: decides everything.
        severity: 0 (a clean grey scan) to 5.
        layout: a layout, a name of `LAYOUTS`, or `any`.
        chain: goes instead of the one that severity would draw.
        marks: seals, stamps and pen.
        pool: `packaged` fonts (the same everywhere) or `any`.
        lines: fewest and most lines of the order.
        name_kinds: kinds of company names.
        sender_error_rate: chance that the sender made a mistake, which the truth then marks.

    Raises:
        UsageError: no such layout, severity or font pool.
    """
    form = _layout(layout, seed)
    content = draw_content(stream(seed, "content"), lines=lines, name_kinds=name_kinds)
    if chance(stream(seed, "sender error"), sender_error_rate):
        content = plant_error(content, stream(seed, "which error"))
    weekday = any(e.kind == "weekday" for e in content.errors)
    wording = draw_wording(stream(seed, "wording"), wrong_weekday=weekday)
    face = _face(form, pool, _text(content, wording), seed)
    return build(seed, content, wording, form, face, severity=severity, chain=chain, marks=marks)


def build(
    seed: int,
    content: Content,
    wording: Wording,
    layout: Layout,
    face: Face,
    *,
    severity: int = 2,
    chain: Chain | None = None,
    marks: bool = True,
) -> Sheet:
    """A sheet of a given order: draw it, mark it, send it through the chain, tell the truth."""
    steps = (
        chain if chain is not None else _chain(layout, severity, seed, header_texts(content, seed))
    )
    fine = any(isinstance(s, Scan) and max(s.dpi) > 205 for s in steps)
    scale = FINE_SCALE if fine else SCALE
    drawings = compose(content, wording, layout, face, scale)
    planned = plan_marks(content, drawings, stream(seed, "marks")) if marks else ()
    steps = with_marks(steps, planned)
    plates = tuple(
        run(steps, plate_of(np.bitwise_not(d.ink), scale, number=i, pages=len(drawings)), seed)
        for i, d in enumerate(drawings, start=1)
    )
    corrected = {m.ref: m.text for m in planned if m.ref is not None}
    truth = tell(
        content,
        drawings,
        plates,
        columns=_columns(layout),
        marks=planned,
        written=_written(content, wording),
        markdown=tuple(page_markdown(d, corrected) for d in drawings),
    )
    return Sheet(
        seed,
        severity if chain is None else None,
        content,
        wording,
        layout,
        face,
        planned,
        steps,
        plates,
        drawings,
        truth,
    )


def _columns(layout: Layout) -> tuple[str, ...]:
    names = []
    for name, _ in layout.columns:
        names += ["item", "spec"] if name == "item_spec" else [name]
    return tuple(names)


def _written(content: Content, wording: Wording) -> dict[Ref, Any]:
    """Company names are true in the form in which the sheet writes them."""
    return {Ref(n): wording.name(getattr(content, n)) for n in ("buyer", "supplier")}


def degrade(image: Gray, chain: Chain, seed: int, *, dpi: float = 300.0) -> Plate:
    """Send anybody's clean page through a chain.

    Args:
        image: H×W uint8, square pixels, dark on light.
        chain: the steps, e.g. of `draw_chain`.
        seed: of everything that is left to chance.
        dpi: dots per inch of `image`.

    Returns:
        The page as it comes out; its `geometry` maps millimetres of the clean page to pixels.

    Raises:
        UsageError: the image is not two-dimensional uint8.
    """
    if image.ndim != 2 or image.dtype != np.uint8 or image.size == 0:
        raise UsageError(
            f"a page must be H×W uint8, not {image.shape} {image.dtype}",
            remedy="convert it to grey first",
        )
    return run(chain, plate_of(image, dpi / 25.4), seed)


def rechained(sheet: Sheet, chain: Chain) -> Sheet:
    """The same order, with the same marks, through another chain: a factor swept alone."""
    bare = tuple(s for s in chain if not isinstance(s, Marks))
    again = build(
        sheet.seed,
        sheet.content,
        sheet.wording,
        sheet.layout,
        sheet.face,
        chain=bare,
        marks=bool(sheet.marks),
    )
    return replace(again, severity=sheet.severity, scored=sheet.scored)


def scored(sheet: Sheet, items: tuple[tuple[Ref, str], ...]) -> Sheet:
    """The sheet with the list of what a preset scores."""
    return replace(sheet, scored=items)
