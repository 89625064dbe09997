"""Sheets of bench sets that `synth` alone does not make: twins, re-transmissions, blank pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ocr_pipeline.errors import UsageError
from synth import files
from synth.chain import plate_of, run
from synth.drawing import Ref
from synth.files import Container
from synth.names import NameKind
from synth.scanner import Scan
from synth.severity import draw_chain
from synth.sheet import SCALE, Sheet, build, degrade
from synth.truth import Print, measure


@dataclass(frozen=True, eq=False, slots=True)
class Written:
    """A sheet as files.

    Attributes:
        name: of the scan.
        files: path below the folder → content, the scan and its truth among them.
        truth: its entry in `truth.json`.
    """

    name: str
    files: dict[str, bytes]
    truth: dict[str, Any]


def twin_of(sheet: Sheet) -> Sheet:
    """The same order of a company whose name differs by one look-alike character.

    Raises:
        UsageError: the sender's name has no twin.
    """
    buyer = sheet.content.buyer
    if buyer.kind is not NameKind.MINIMAL_PAIR:
        raise UsageError(
            f"a name of the kind {buyer.kind} has no twin", remedy="set names: minimal_pair"
        )
    content = replace(sheet.content, buyer=replace(buyer, stem=buyer.twin, twin=buyer.stem))
    return build(
        sheet.seed,
        content,
        sheet.wording,
        sheet.layout,
        sheet.face,
        severity=sheet.severity or 0,
        marks=bool(sheet.marks),
    )


def sent_again(sheet: Sheet, number: int) -> Sheet:
    """The same paper through the same machine once more.

    What happened to the paper stays: print, seals, pen, copies. It is fed anew, with another skew
    and slip, and noise, dust and the errors of the line fall elsewhere.

    Args:
        sheet: the sheet as it was sent the first time.
        number: of the transmission; the first one is 0.
    """
    if number == 0:
        return sheet
    at = next(i for i, step in enumerate(sheet.chain) if isinstance(step, Scan))
    paper, machine = sheet.chain[:at], sheet.chain[at:]
    seed = int(np.random.SeedSequence((sheet.seed, number)).generate_state(1)[0])
    first = machine[0]
    assert isinstance(first, Scan)
    fresh = draw_chain(sheet.severity or 0, seed, turn=first.turn, length_mm=_length(sheet))
    fed = next(step for step in fresh if isinstance(step, Scan))
    plates = tuple(
        run(
            (fed, *machine[1:]),
            run(
                paper,
                plate_of(np.bitwise_not(d.ink), d.scale, number=i, pages=len(sheet.drawings)),
                sheet.seed,
            ),
            seed,
        )
        for i, d in enumerate(sheet.drawings, start=1)
    )
    prints: dict[Ref, list[Print]] = {}
    for drawing, plate in zip(sheet.drawings, plates, strict=True):
        for drawn, found in measure(drawing, plate):
            if drawn.ref is not None:
                prints.setdefault(drawn.ref, []).append(found)
    truth = replace(sheet.truth, prints={ref: tuple(p) for ref, p in prints.items()})
    return replace(sheet, chain=(*paper, fed, *machine[1:]), pages=plates, truth=truth)


def _length(sheet: Sheet) -> float:
    """Millimetres along the feed; a landscape sheet goes through on its side."""
    layout = sheet.layout
    return max(layout.width, layout.height)


def written_sheet(sheet: Sheet, name: str, form: str, *, of: str = "", number: int = 0) -> Written:
    """A sheet as files.

    Args:
        sheet: the sheet.
        name: of the file, without extension.
        form: `tif`, `pdf` or `png`.
        of: name of the sheet that this is a transmission of; empty when there is only one.
        number: 0-based, of the transmission.
    """
    container = files.draw_container(form, sheet.seed)
    file = f"{name}.{form}"
    long = files.long_truth(sheet, file, container)
    truth = files.short_truth(sheet)
    if of:
        truth |= {"sheet": of, "transmission": number}
    content = {
        file: files.file_bytes(sheet.pages, container),
        f"truth/{file}.json": files.to_json(long).encode(),
        f"{file}.md": "\n".join(sheet.truth.markdown).encode(),
    }
    return Written(file, content, truth)


def written_blank(name: str, form: str, severity: int, seed: int) -> Written:
    """An empty A4 sheet that went through a fax: dust, streaks and noise, and nothing to read."""
    paper = np.full((round(297 * SCALE), round(210 * SCALE)), 255, np.uint8)
    plate = degrade(paper, draw_chain(severity, seed), seed, dpi=SCALE * 25.4)
    file = f"{name}.{form}"
    content = files.file_bytes([plate], Container(form))
    return Written(file, {file: content}, {"severity": severity, "fields": {}, "rows": []})
