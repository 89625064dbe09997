"""The results as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from eval.confusions import Place
from eval.report import drawings, wording
from eval.report.about import about_lines, byline
from eval.report.crops import Images, crop, remembered
from eval.report.figures import CheckedRun, Seen, WorstValue
from eval.report.gather import ALL
from eval.report.results import Results
from eval.report.templating import render
from ocr_pipeline.geometry import slice_quad

AROUND = 2
"""Characters that are shown to the left and the right of a mistake."""

SECTIONS = {
    "accuracy": "Accuracy",
    "repeats": "Repeated runs",
    "trust": "What can be trusted",
    "errors": "How things go wrong",
    "characters": "Characters and names",
    "worst": "The worst values",
    "article": "The article test",
    "provenance": "Where this comes from",
}
"""Name of the template → heading."""


def page(results: Results, images: Images) -> str:
    """The whole page. All names and texts in it are escaped.

    Args:
        results: what to show.
        images: where the pages for the crops come from.
    """
    near = remembered(images)
    fields_each = [f for f in results.fields if f.field != ALL]
    return render(
        "report.html.j2",
        r=results,
        byline=byline(results),
        sections=[(n, t) for n, t in SECTIONS.items() if n != "article" or results.checked_runs],
        plots=drawings.drawings(results),
        severities=[h.severity for h in results.headline],
        fields=list(dict.fromkeys(f.field for f in fields_each)),
        field_cells={(f.field, f.severity): (f.right.value, f.right.of) for f in fields_each},
        fields_all=[f for f in results.fields if f.field == ALL],
        fields_each=fields_each,
        classes=list(dict.fromkeys(c.char_class for c in results.characters)),
        class_cells={
            (c.char_class, c.severity): (c.right.value, c.right.of) for c in results.characters
        },
        pairs=[(c, c.places[0], _character(near, c.places[0])) for c in results.confusions],
        worst=[(w, _value(near, w), list(reads(w))) for w in results.worst],
        name_kinds=list(dict.fromkeys(n.name_kind for n in results.names)),
        name_cells={
            (n.name_kind, n.severity): (n.single.value, n.single.of) for n in results.names
        },
        spread=_grouped(results.components, "severity"),
        review=_grouped(results.review, "signal"),
        targets=list(dict.fromkeys(x.target for x in results.review)),
        about=list(about_lines(results.about)),
        **_checked(results),
    )


def reads(value: WorstValue) -> Iterator[tuple[str, Seen, str]]:
    """What was made of a value: who says so, what, and how sure; runs that agree are one."""
    yield "together", value.consensus, _sure([value.consensus])
    alike: dict[tuple[str, ...], list[Seen]] = defaultdict(list)
    for seen in value.runs:
        alike[seen.read, seen.read or seen.raw, seen.state, seen.error].append(seen)
    for group in alike.values():
        yield wording.numbered(s.run for s in group), group[0], _sure(group)


def _sure(group: Iterable[Seen]) -> str:
    known = [s.confidence for s in group if s.read and s.confidence is not None]
    ends = dict.fromkeys(wording.quantity(v, 2) for v in (min(known), max(known))) if known else ()
    return "–".join(ends)


def _value(images: Images, value: WorstValue) -> str:
    return crop(images, value.document, value.page, value.quad)


def _character(images: Images, place: Place) -> str:
    """A mistaken character and its neighbours: characters are taken to be of equal width."""
    page_number, quad = place.true_page, place.true_quad
    if quad is None or not place.length:
        return crop(images, place.document, place.page, place.quad)
    start = max(0, place.position - AROUND) / place.length
    end = min(place.length, place.position + 1 + AROUND) / place.length
    return crop(images, place.document, page_number, slice_quad(quad, start, end))


def _grouped(items: Iterable[Any], name: str) -> list[tuple[Any, list[Any]]]:
    """Items by an attribute, in the order of its first occurrence."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for item in items:
        groups[getattr(item, name)].append(item)
    return list(groups.items())


def _checked(results: Results) -> dict[str, Any]:
    """The article test: sheets × runs, and the items that are not always right."""
    runs: dict[tuple[str, int], dict[int, CheckedRun]] = defaultdict(dict)
    for found in results.checked_runs:
        runs[found.document, found.severity][found.run] = found
    numbers = sorted({c.run for c in results.checked_runs}, key=lambda k: (k < 0, k))
    trouble = [i for i in results.checked_items if i.right < i.of]
    trouble.sort(key=lambda i: (-i.flips, i.right / i.of, i.severity, i.item))
    return {
        "checked": list(runs.items()),
        "checked_numbers": numbers,
        "checked_trouble": trouble,
    }
