"""The results as Markdown, for a terminal, a pull request, or a diff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from eval.report.about import about_lines, byline
from eval.report.figures import Count, ErrorCount, Seen, Share
from eval.report.gather import ALL
from eval.report.results import Results
from eval.report.wording import DASH, between, count, glyph, percent, quantity, spoken

Lines = Iterator[str]


def text(results: Results) -> str:
    """The whole report without its pictures. Names and texts are escaped."""
    return "\n".join(_lines(results)) + "\n"


def escaped(value: str) -> str:
    """A text that Markdown and HTML leave alone, on one line."""
    one_line = " ".join(value.split())
    entities = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", entities)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """A table; its first column is text, the others are numbers. Cells are taken as they are."""
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _lines(r: Results) -> Lines:
    yield from (f"# {escaped(r.title)}", "", escaped(byline(r)), "")
    yield from (f"- {sentence}" for sentence in r.summary if sentence)
    yield from ("", "## By severity", "")
    yield from table(
        ("severity", "faxes", "values", "right", "to look at", "wrong, nobody told", "one run"),
        (
            (
                _level(h.severity),
                count(h.documents),
                count(h.values),
                *map(_share, (h.right, h.flagged, h.silent, h.single)),
            )
            for h in r.headline
        ),
    )
    yield from _accuracy(r)
    yield from _repeats(r)
    yield from _trust(r)
    yield from _errors(r)
    yield from _characters(r)
    yield from _checked(r)
    yield from _worst(r)
    yield from ("## Where this comes from", "")
    yield from (f"- {escaped(name)}: {escaped(value)}" for name, value in about_lines(r.about))


def _level(severity: int | None) -> str:
    return "all" if severity is None else str(severity)


def _share(share: Share) -> str:
    words = between(share)
    return f"{percent(share.value)} ({words})" if words else percent(share.value)


def _grid(
    head: str, cells: dict[tuple[str, int | None], str], levels: Sequence[int | None]
) -> Lines:
    names = dict.fromkeys(name for name, _ in cells)
    yield from table(
        (head, *("all" if s is None else f"severity {s}" for s in levels)),
        ((escaped(n), *(cells.get((n, s), DASH) for s in levels)) for n in names),
    )


def _accuracy(r: Results) -> Lines:
    levels = [h.severity for h in r.headline]
    yield from ("## Right, by field", "")
    cells = {(f.field, f.severity): percent(f.right.value) for f in r.fields if f.field != ALL}
    yield from _grid("field", cells, levels)


def _repeats(r: Results) -> Lines:
    yield from ("## Repeated runs", "")
    yield from table(
        (
            "severity",
            "one run",
            "right in all",
            "right in any",
            "differ",
            "unstable",
            "same, wrong",
        ),
        (
            (
                _level(f.severity),
                *(
                    percent(s.value)
                    for s in (
                        *(f.accuracy, f.all_right, f.any_right),
                        *(f.flip, f.unstable, f.unanimous_wrong),
                    )
                ),
            )
            for f in r.fields
            if f.field == ALL
        ),
    )
    if r.consensus:
        yield from table(
            ("runs that vote", "right", "to look at", "wrong, nobody told", "seconds", "tokens"),
            (
                (
                    str(p.k),
                    *map(_share, (p.right, p.flagged, p.silent)),
                    quantity(p.seconds.value),
                    quantity(p.tokens.value),
                )
                for p in r.consensus
                if p.severity is None
            ),
        )
    if r.components:
        yield from ("Variance of the accuracy of single runs:", "")
        yield from table(
            ("source", "severity", "number", "standard deviation, points", "share"),
            (
                (
                    c.source,
                    str(c.severity),
                    count(c.count),
                    DASH if c.variance is None else f"{100 * c.variance**0.5:.1f}",
                    percent(c.share),
                )
                for c in r.components
            ),
        )


def _trust(r: Results) -> Lines:
    yield from ("## What can be trusted", "")
    yield from table(
        ("", "number", "right, trusted", "right, flagged", "wrong, flagged", "wrong, nobody told"),
        (
            (
                {"field": "values", "row": "lines", "order": "orders"}[c.level],
                count(c.count),
                *map(_share, (c.trusted, c.needless, c.caught, c.silent)),
            )
            for c in r.cases
        ),
    )
    if r.review:
        yield from table(
            ("trust is taken from", "silent errors wanted", "to look at", "silent errors then"),
            (
                (escaped(x.signal), percent(x.target), _share(x.review), _share(x.silent))
                for x in r.review
            ),
        )
    if r.flags:
        yield from table(
            ("flag", "values", "wrong", "of those", "of all wrong", "no other flag"),
            (
                (
                    escaped(f.code),
                    *(count(f.values), count(f.wrong)),
                    *(percent(f.precision), percent(f.recall), count(f.only)),
                )
                for f in r.flags
            ),
        )


def _errors(r: Results) -> Lines:
    yield from ("## How things go wrong", "")
    for head, items in (
        ("error of a value", r.errors),
        ("run of a document", r.outcomes),
        ("reply, as it was parsed", r.repairs),
    ):
        if items:
            yield from _counts(head, items)


def _counts(head: str, items: Sequence[Count] | Sequence[ErrorCount]) -> Lines:
    cells: dict[tuple[str, int | None], str] = {}
    for item in items:
        name = item.error if isinstance(item, ErrorCount) else item.name
        cells[spoken(name), item.severity] = f"{count(item.count)} of {count(item.of)}"
    yield from _grid(head, cells, sorted({i.severity for i in items}))


def _characters(r: Results) -> Lines:
    levels = [h.severity for h in r.headline]
    yield from ("## Characters and names", "")
    cells = {(spoken(c.char_class), c.severity): percent(c.right.value) for c in r.characters}
    if cells:
        yield from _grid("characters", cells, levels)
    cells = {(spoken(n.name_kind), n.severity): percent(n.single.value) for n in r.names}
    if cells:
        yield from _grid("company names, right in one run", cells, levels)
    if r.mistakes:
        yield from _counts("mistake", r.mistakes)
    if r.confusions:
        yield from table(
            ("printed → read", "kind", "times", "sheets"),
            (
                (
                    f"{escaped(glyph(c.true))} → {escaped(glyph(c.read))}",
                    *(spoken(c.mistake), count(c.count), count(c.sheets)),
                )
                for c in r.confusions
            ),
        )


def _checked(r: Results) -> Lines:
    if not r.checked_runs:
        return
    yield from ("## The article test", "")
    yield from table(
        ("sheet", "severity", "run", "right"),
        (
            (
                escaped(c.document),
                str(c.severity),
                "together" if c.run < 0 else str(c.run + 1),
                f"{c.right}/{c.of}",
            )
            for c in r.checked_runs
        ),
    )
    yield from table(
        ("item", "printed", "severity", "right", "sheets on which it flips"),
        (
            (escaped(i.item), escaped(i.truth), str(i.severity), f"{i.right}/{i.of}", str(i.flips))
            for i in r.checked_items
            if i.right < i.of
        ),
    )


def _worst(r: Results) -> Lines:
    yield from ("## The worst values", "")
    yield from table(
        ("value", "severity", "printed", "together", "told", "runs"),
        (
            (
                escaped(f"{w.document} {w.field}" + ("" if w.row is None else f" {w.row + 1}")),
                str(w.severity),
                escaped(w.truth),
                _seen(w.consensus),
                escaped(", ".join(w.consensus.codes)) or ("yes" if w.consensus.flagged else "no"),
                " / ".join(map(_seen, w.runs)),
            )
            for w in r.worst
        ),
    )


def _seen(seen: Seen) -> str:
    return escaped(seen.read) or f"({escaped(spoken(seen.error) or seen.state)})"
