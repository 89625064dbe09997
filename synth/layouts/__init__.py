"""How orders look: a layout is a value, its parts are functions, `compose` draws the pages."""

from synth.layouts.catalogue import ANY, LAYOUTS
from synth.layouts.compose import compose
from synth.layouts.layout import Layout

__all__ = ["ANY", "LAYOUTS", "Layout", "compose"]
