"""Templates → pages that need nothing beside themselves. All that is put into them is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from eval.report import wording
from eval.report.differences import differences


def render(template: str, **values: Any) -> str:
    """Fill in a template of this package, with the style sheet as `css`."""
    style = files("eval.report") / "templates" / "style.css"
    css = Markup(style.read_text(encoding="utf-8"))  # our own, and quotes must stay quotes
    return _environment().get_template(template).render(css=css, **values)


@cache
def _environment() -> Environment:
    templates = Environment(
        loader=PackageLoader("eval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "percent": wording.percent,
        "count": wording.count,
        "points": wording.points,
        "quantity": wording.quantity,
        "between": wording.between,
        "heat_class": wording.heat,
        "deviation": lambda variance: f"{100 * variance**0.5:.1f}",
        "glyph": wording.glyph,
        "numbered": wording.numbered,
        "spoken": wording.spoken,
        "width": lambda part: f"{100 * part:.2f}",
    }
    templates.globals["differences"] = differences
    return templates
