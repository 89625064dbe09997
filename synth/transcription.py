"""The true Markdown of a sheet: what a perfect reader would write down, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.drawing import Drawing, Ref, Written

Corrected = Mapping[Ref, str]
"""Value → what was written by hand in its place."""


def _text(line: Written, corrected: Corrected) -> str:
    parts = (corrected.get(ref, text) if ref else text for text, ref in line.pieces)
    return "".join(parts).strip()


def _table(cells: Sequence[Written], corrected: Corrected) -> str:
    """A pipe table; lines of one cell are joined by `<br>`."""
    texts: dict[tuple[int, int], list[str]] = {}
    for line in cells:
        if line.cell:
            text = _text(line, corrected).replace("\\", "\\\\").replace("|", "\\|")
            texts.setdefault((line.cell[1], line.cell[2]), []).append(text)
    width = max(column for _, column in texts) + 1
    lines = [
        "| " + " | ".join("<br>".join(texts.get((row, c), [])) for c in range(width)) + " |"
        for row in sorted({row for row, _ in texts})
    ]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _paragraphs(lines: Sequence[Written], corrected: Corrected) -> list[tuple[float, str]]:
    """Lines outside tables as (height, text): what stands side by side becomes one line."""
    done: list[tuple[float, str]] = []
    rest = sorted(lines, key=lambda w: (w.y, w.x))
    while rest:
        first = rest[0]
        beside = [w for w in rest if abs(w.y - first.y) < 0.45 * min(w.size, first.size)]
        rest = [w for w in rest if w not in beside]
        beside.sort(key=lambda w: w.x)
        done.append((first.y, "　".join(_text(w, corrected) for w in beside)))
    return done


def page_markdown(page: Drawing, corrected: Corrected) -> str:
    """The transcription of one page, top to bottom: no seals, stamps or fax header line."""
    cells = [w for w in page.lines if w.cell is not None]
    blocks = _paragraphs([w for w in page.lines if w.cell is None], corrected)
    if cells:
        blocks.append((min(w.y for w in cells), _table(cells, corrected)))
    return "\n\n".join(text for _, text in sorted(blocks)) + "\n"
