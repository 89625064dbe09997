"""Synthetic fax purchase orders whose truth and damage are known."""

from synth.chain import Chain, Plate, Step, change, record
from synth.layouts import LAYOUTS
from synth.names import NameKind
from synth.severity import draw_chain
from synth.sheet import Sheet, degrade, make_sheet

__all__ = [
    "LAYOUTS",
    "Chain",
    "NameKind",
    "Plate",
    "Sheet",
    "Step",
    "change",
    "degrade",
    "draw_chain",
    "make_sheet",
    "record",
]
