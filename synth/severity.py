"""Severity 0 to 5: for every physical parameter the range it is drawn from.

All draws of one seed use the same position within the ranges, whatever the severity, so the same
sheet at severity 3 is the sheet at severity 2 made worse, not another accident.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from ocr_pipeline.errors import UsageError
from synth.chain import Chain, Step
from synth.header_line import HeaderLine
from synth.line_noise import Line
from synth.paper import Copy, Print
from synth.scanner import FINE, STANDARD, Dither, Glass, Noise, Scan, Shading, Threshold
from synth.seeds import chance, pick, stream

Range = tuple[float, float]

CLEAN_DPI = (200.0, 200.0)
WORST = 5


def _range(text: str) -> Range:
    low, _, high = text.partition("..")
    return float(low), float(high or low)


def _table() -> dict[str, tuple[str, tuple[Range, ...]]]:
    rows = csv.DictReader(
        (files("synth") / "lexicons" / "severity.csv").read_text(encoding="utf-8").splitlines()
    )
    return {
        r["parameter"]: (r["unit"], tuple(_range(r[str(s)]) for s in range(WORST + 1)))
        for r in rows
    }


TABLE: Mapping[str, tuple[str, tuple[Range, ...]]] = MappingProxyType(_table())
"""Parameter → (unit, range at each severity). `±`: the sign is drawn as well."""


class _Dice:
    """Positions within the ranges of one severity; one position for each parameter and seed."""

    def __init__(self, seed: int, severity: int) -> None:
        self.seed, self.severity = seed, severity

    def __call__(self, parameter: str, *which: str | int) -> float:
        unit, ranges = TABLE[parameter]
        low, high = ranges[self.severity]
        rng = stream(self.seed, "chain", parameter, *which)
        value = low + (high - low) * float(rng.random())
        return -value if "±" in unit and rng.random() < 0.5 else value

    def copy(self, number: int) -> Copy:
        return Copy(
            dot_gain_mm=self("copy.dot_gain", number),
            blur_mm=self("copy.blur", number),
            background=abs(self("copy.background", number)),
            dirt_per_cm2=self("copy.dirt", number),
            skew_deg=self("copy.skew", number),
            scale=1 + self("copy.scale", number) / 1000,
            shift_mm=(
                self("scan.shift", "copy", number) / 3,
                self("scan.shift", "copy-y", number) / 3,
            ),
        )

    def scan(self, turn: int, length_mm: float) -> Scan:
        clean = self.severity == 0
        place = stream(self.seed, "chain", "slip places")
        slips = tuple(
            (float(place.uniform(20, length_mm - 20)), self("scan.slip", i))
            for i in range(int(self("scan.slips")))
        )
        return Scan(
            dpi=CLEAN_DPI if clean else STANDARD if self.severity >= 4 else FINE,
            line_px=0 if clean else 1728,
            turn=turn,
            skew_deg=self("scan.skew"),
            shift_mm=(self("scan.shift", "x"), abs(self("scan.shift", "y"))),
            stretch_percent=self("scan.stretch"),
            wander_percent=self("scan.wander"),
            slips=slips,
            blur_mm=self("scan.blur"),
        )

    def glass(self) -> Glass:
        place = stream(self.seed, "chain", "streak places")
        streaks = []
        for i in range(int(self("glass.streaks"))):
            x, start, end, dark = (float(v) for v in place.random(4))
            whole = place.random() < 0.6
            streaks.append(
                (
                    8 + 196 * x,
                    self("glass.streak", i),
                    0.55 + 0.45 * dark,
                    0.0 if whole else 0.5 * start,
                    1.0 if whole else 0.55 + 0.45 * end,
                )
            )
        return Glass(tuple(streaks), self("glass.dust"))


def draw_chain(
    severity: int,
    seed: int,
    *,
    turn: int = 0,
    length_mm: float = 297.0,
    header: tuple[str, str, str] | None = None,
    needles_per_mm: float = 0.0,
) -> Chain:
    """The chain of one sheet.

    Args:
        severity: 0 (a clean grey scan) to 5.
        seed: the sheet's.
        turn: how the sheet is fed, degrees clockwise.
        length_mm: of the sheet along the feed.
        header: the sender's header line; severity 0 is no fax and has none.
        needles_per_mm: pitch of an impact printer, 0 for a laser.

    Raises:
        UsageError: no such severity.
    """
    if not 0 <= severity <= WORST:
        raise UsageError(f"severity {severity} does not exist", remedy=f"use 0 to {WORST}")
    dice = _Dice(seed, severity)
    steps: list[Step] = [
        Print(
            dice("print.dot_gain"),
            dice("print.toner"),
            dice("print.patchiness"),
            needles_per_mm,
        )
    ]
    steps += [dice.copy(i) for i in range(int(dice("copy.count")))]
    steps += [
        dice.scan(turn, length_mm),
        Shading(dice("shading.falloff"), dice("shading.smudges"), dice("shading.edge")),
        dice.glass(),
        Noise(dice("noise.sigma")),
    ]
    if severity == 0:
        return tuple(steps)
    choice = stream(seed, "chain", "ways")
    photo, way, coding, above = (
        choice.random(),
        pick(choice, ("diffusion", "ordered")),
        choice.random(),
        chance(choice, 0.6),
    )
    if photo < dice("dither.chance"):
        steps.append(Dither(way))
    else:
        steps.append(Threshold(dice("threshold.level")))
    if header is not None:
        steps.append(HeaderLine(header, above=above))
    steps.append(
        Line("MH" if coding < 0.5 else "MR", dice("line.errors") * 1e-6, dice("line.burst"))
    )
    return tuple(steps)
