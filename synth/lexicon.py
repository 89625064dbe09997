"""The words that orders are made of, from the CSV files beside this module."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Goods:
    """Something that can be ordered.

    Attributes:
        trade: the line of business it belongs to.
        item: its name.
        specs: alternative specifications.
        unit: what it is counted in.
        low: lowest plausible unit price, yen.
        high: highest plausible unit price, yen.
        tax: consumption tax rate, percent.
    """

    trade: str
    item: str
    specs: tuple[str, ...]
    unit: str
    low: int
    high: int
    tax: int


@dataclass(frozen=True, slots=True)
class Place:
    """A city with the area code and the first half of the postal code that belong to it."""

    area_code: str
    postal: str
    city: str
    towns: tuple[str, ...]


def _read(name: str) -> list[dict[str, str]]:
    text = (files("synth") / "lexicons" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def goods() -> tuple[Goods, ...]:
    """Everything that can be ordered, in file order."""
    return tuple(
        Goods(
            r["trade"],
            r["item"],
            tuple(r["specs"].split("|")),
            r["units"],
            int(r["low"]),
            int(r["high"]),
            int(r["tax"]),
        )
        for r in _read("items.csv")
    )


@cache
def trades() -> dict[str, tuple[Goods, ...]]:
    """The goods of each trade."""
    return {
        t: tuple(g for g in goods() if g.trade == t)
        for t in dict.fromkeys(g.trade for g in goods())
    }


@cache
def places() -> tuple[Place, ...]:
    """Where companies are."""
    return tuple(
        Place(r["area_code"], r["postal"], r["city"], tuple(r["towns"].split("|")))
        for r in _read("places.csv")
    )


@cache
def phrases(kind: str) -> tuple[str, ...]:
    """All phrases of one kind, e.g. `surname`, `payment`, `remark`.

    Raises:
        KeyError: no such kind.
    """
    found = tuple(r["text"] for r in _read("phrases.csv") if r["kind"] == kind)
    if not found:
        raise KeyError(kind)
    return found


@cache
def alphabet() -> str:
    """Every character of the lexicons, sorted: what a reader of these sheets must know."""
    texts = [g.item + "".join(g.specs) + g.unit for g in goods()]
    texts += [p.city + "".join(p.towns) for p in places()]
    texts += [r["text"] for r in _read("phrases.csv")]
    return "".join(sorted(set("".join(texts))))
