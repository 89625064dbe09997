"""The layouts by name. A new one is an entry here, and a new part a function beside the others."""

from __future__ import annotations

from types import MappingProxyType

from synth.layouts import headers, totals
from synth.layouts.layout import Layout

_USUAL = (
    ("no", 5.5), ("item", 27), ("spec", 25), ("quantity", 10), ("unit", 7),
    ("unit_price", 13), ("amount", 16),
)  # fmt: skip
_COMBINED = (
    ("no", 5.5), ("item_spec", 48), ("quantity", 10), ("unit", 7), ("unit_price", 13),
    ("amount", 16),
)  # fmt: skip
_REMARKED = (
    ("no", 5), ("item", 24), ("spec", 24), ("quantity", 9), ("unit", 6), ("unit_price", 12),
    ("amount", 15), ("remarks", 13),
)  # fmt: skip
_RATED = (
    ("no", 5), ("item", 30), ("spec", 34), ("quantity", 11), ("unit", 7), ("unit_price", 14),
    ("amount", 17), ("tax_rate", 8), ("remarks", 20),
)  # fmt: skip
_WIDE_SPEC = (
    ("item", 22), ("spec", 44), ("quantity", 10), ("unit", 7), ("unit_price", 13), ("amount", 16),
)  # fmt: skip
_FEW = (("item", 30), ("quantity", 11), ("unit_price", 15), ("amount", 18))
_FIVE = (("no", 6), ("item", 46), ("quantity", 12), ("unit_price", 15), ("amount", 18))

_ALL = (
    Layout("full_grid", headers.classic, totals.in_table, _USUAL),
    Layout("horizontal_rules", headers.classic, totals.stacked, _USUAL, rules="rows", grand=True),
    Layout("no_rules", headers.letterhead, totals.plain, _USUAL, rules="none", row=7),
    Layout("boxed_header", headers.boxed, totals.in_table, _REMARKED, filled=10, points=10),
    Layout("two_column", headers.two_column, totals.strip, _USUAL, points=10, heading=0.12),
    Layout(
        "vertical_totals", headers.classic, totals.stacked, _USUAL, style="mincho", filled=8,
        grand=True,
    ),
    Layout("combined", headers.boxed, totals.in_table, _COMBINED, points=10.5, style="gothic"),
    Layout("wide_spec", headers.letterhead, totals.stacked, _WIDE_SPEC, row=9, style="mincho"),
    Layout(
        "dense", headers.compact, totals.strip, _REMARKED, points=8, row=4.9, margin=12, filled=40,
        rule=0.16,
    ),
    Layout(
        "large_type", headers.classic, totals.in_table, _FEW, points=14, row=11, rule=0.35,
        optional=("person",),
    ),
    Layout(
        "landscape", headers.wide, totals.in_table, _RATED, width=297, height=210, points=9.5,
        row=7, filled=6, grand=True,
    ),
    Layout(
        "dot_matrix", headers.two_column, totals.in_table, _COMBINED, points=12, row=8.5,
        style="gothic", filled=12, printer="dots",
    ),
    Layout(
        "shaded", headers.letterhead, totals.strip, _REMARKED, rules="rows", heading=0.25,
        points=9.5, style="gothic", grand=True,
    ),
    Layout(
        "article", headers.article, totals.in_table, _FIVE, points=11, style="gothic", optional=(),
    ),
)  # fmt: skip

LAYOUTS = MappingProxyType({layout.name: layout for layout in _ALL})
"""Name → layout. `article` belongs to the preset of that name."""

ANY = tuple(name for name in LAYOUTS if name != "article")
"""The layouts that `any` chooses from."""
