"""The pieces of a report's results: small tables as values.

Their words are those of the modules that compute them: `eval.accuracy`, `eval.repeats` …
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.confusions import Place
from ocr_pipeline.geometry import Quad

Number = float | None


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval.

    Attributes:
        value: the share, or another mean; null when there is nothing to take it of.
        low: lower end of the 95 % interval; null when there are too few documents for one.
        high: upper end.
        of: how many there are to take the share of.
    """

    value: Number
    low: Number
    high: Number
    of: int


@dataclass(frozen=True, slots=True)
class Cases:
    """Right or wrong × flagged or not.

    Attributes:
        level: `field` (a value), `row` (a line) or `order`.
        severity: null: all together.
        count: how many there are.
        trusted: share that is right and not flagged; the four add up to 1.
        needless: right, and flagged.
        caught: wrong, and flagged.
        silent: wrong, and not flagged.
        flagged: share that a person must look at.
    """

    level: str
    severity: int | None
    count: int
    trusted: Share
    needless: Share
    caught: Share
    silent: Share
    flagged: Share


@dataclass(frozen=True, slots=True)
class Headline:
    """The first table: one severity, or all of them; what all runs together say.

    Attributes:
        severity: how badly the fax was damaged; null: all together.
        documents: how many documents.
        values: true values in them.
        single: share of values that are right (typed) in a run by itself.
        raw_right: share right to the letter.
        right: share right as typed values; the score.
        folded_right: share right when look-alike characters are one.
        flagged: share that a person must look at.
        needless: share that is flagged and right.
        silent: share that is wrong and not flagged.
        orders: the four cases for whole orders.
    """

    severity: int | None
    documents: int
    values: int
    single: Share
    raw_right: Share
    right: Share
    folded_right: Share
    flagged: Share
    needless: Share
    silent: Share
    orders: Cases


@dataclass(frozen=True, slots=True)
class FieldFigures:
    """One field at one severity.

    Attributes:
        field: name of the field, or of a column of the lines.
        severity: null: all together.
        values: true values.
        accuracy: mean over runs of the share that is right.
        all_right: share right in every run.
        any_right: share right in at least one.
        flip: chance that two runs of a value do not read the same.
        entropy: mean entropy of the votes, in bits.
        unanimous_wrong: share that all runs read alike and wrong: more runs cannot help.
        unstable: share that the runs do not read alike: more runs can help.
        right: share right in what all runs together say.
        flagged: share flagged there.
        silent: share wrong and not flagged there.
    """

    field: str
    severity: int | None
    values: int
    accuracy: Share
    all_right: Share
    any_right: Share
    flip: Share
    entropy: Share
    unanimous_wrong: Share
    unstable: Share
    right: Share
    flagged: Share
    silent: Share


@dataclass(frozen=True, slots=True)
class ConsensusPoint:
    """What k runs together say.

    Attributes:
        severity: null: all together.
        k: how many runs vote.
        right: share of values that are right.
        flagged: share that a person must look at.
        silent: share that is wrong and not flagged.
        seconds: engine time per document, mean; a null value when the engine does not tell.
        tokens: tokens per document, likewise.
    """

    severity: int | None
    k: int
    right: Share
    flagged: Share
    silent: Share
    seconds: Share
    tokens: Share


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """Characters of one class at one severity, in single runs.

    Attributes:
        char_class: digit, latin, katakana, kanji …
        severity: null: all together.
        right: share of the true characters that was read; those of a text that was not found count.
        right_seen: the same, only where the text was found.
    """

    char_class: str
    severity: int | None
    right: Share
    right_seen: Share


@dataclass(frozen=True, slots=True)
class Confusion:
    """One character read as another.

    Attributes:
        true: what is printed; empty: nothing.
        read: what was read; empty: nothing.
        mistake: its kind.
        count: how often, in single runs.
        sheets: on how many sheets.
        places: some of the values in which it happened.
    """

    true: str
    read: str
    mistake: str
    count: int
    sheets: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """How often something occurred at one severity.

    Attributes:
        name: what.
        severity: at which.
        count: how often.
        of: among how many.
    """

    name: str
    severity: int
    count: int
    of: int


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """Values with one kind of error, in what all runs together say.

    Attributes:
        error: the kind.
        severity: of the sheets.
        count: how many.
        flagged: of them, a person was told of.
        silent: of them, nobody was told of.
        of: true values at this severity; values too many are not among them.
    """

    error: str
    severity: int
    count: int
    flagged: int
    silent: int
    of: int


@dataclass(frozen=True, slots=True)
class NameFigures:
    """Company names of one kind at one severity.

    Attributes:
        name_kind: how the name was made; `dictionary` is the control.
        severity: null: all together.
        single: share right in a run by itself.
        cer: edits per true character of the name, in single runs.
        right: share right in what all runs together say.
        flagged: share flagged there.
        silent: share wrong and not flagged there.
    """

    name_kind: str
    severity: int | None
    single: Share
    cer: Share
    right: Share
    flagged: Share
    silent: Share


@dataclass(frozen=True, slots=True)
class FlagFigures:
    """What one flag is good for.

    Attributes:
        code: of the flag; `(order)`: one of the order as a whole.
        values: how many values carry it.
        wrong: how many of them are wrong.
        precision: share of them that is wrong.
        recall: share of all wrong values that carry it.
        only: wrong values that no other flag marks.
        risk: share that is wrong of the values without it.
        coverage: share of all values that these are.
    """

    code: str
    values: int
    wrong: int
    precision: Number
    recall: Number
    only: int
    risk: Number
    coverage: Number


@dataclass(frozen=True, slots=True)
class RiskCurve:
    """Risk against coverage when values are accepted from the most to the least trusted.

    Attributes:
        signal: what the trust is taken from.
        coverage: share of values that is accepted unseen.
        risk: share of those that is wrong.
    """

    signal: str
    coverage: tuple[float, ...]
    risk: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """How much a person must look at for a wanted silent-error rate.

    Attributes:
        signal: what the trust is taken from.
        target: the wanted silent-error rate.
        threshold: least trust that is accepted unseen, chosen on one half of the sheets; null: none
            is.
        review: share to be looked at, on the other half.
        silent: silent-error rate, on the other half.
    """

    signal: str
    target: float
    threshold: Number
    review: Share
    silent: Share


@dataclass(frozen=True, slots=True)
class Bin:
    """Values of about the same confidence.

    Attributes:
        low: least confidence.
        high: greatest.
        confidence: mean.
        accuracy: share of the values that is right.
    """

    low: float
    high: float
    confidence: float
    accuracy: Share


@dataclass(frozen=True, slots=True)
class InkBin:
    """Values of which about as much ink is left.

    Attributes:
        ink: upper edge of the bin; null: unknown.
        right: share that is right.
        abstained: share that is printed and was given no value.
        flagged: share that is flagged.
        silent: share wrong and not flagged.
    """

    ink: Number
    right: Share
    abstained: Share
    flagged: Share
    silent: Share


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the variance of the accuracy of single runs.

    Attributes:
        severity: of the sheets.
        source: `sheet`, `transmission` or `run`.
        variance: the component; null: it cannot be told, for nothing is repeated.
        low: lower end of its 95 % interval.
        high: upper end.
        share: of the known variance; null when that is 0.
        count: how many sheets, transmissions or runs there are.
    """

    severity: int
    source: str
    variance: Number
    low: Number
    high: Number
    share: Number
    count: int


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A sheet of the `article` test in one run.

    Attributes:
        document: name of the file.
        severity: of it.
        run: 0-based; -1: what all runs together say.
        right: how many items are right.
        of: of how many.
    """

    document: str
    severity: int
    run: int
    right: int
    of: int


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """One item of the `article` test at one severity.

    Attributes:
        item: its name.
        severity: of its sheets.
        truth: what is printed, of the first such sheet.
        right: in how many runs it is right.
        of: of how many.
        flips: on how many sheets it is right in one run and wrong in another.
    """

    item: str
    severity: int
    truth: str
    right: int
    of: int
    flips: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run, or all together, made of a value.

    Attributes:
        run: 0-based; -1: all together.
        raw: the text that was read.
        read: the typed value as text; empty when there is none.
        state: read, blank, unreadable or absent.
        right: whether the typed value is the true one.
        error: kind of error.
        flagged: whether a person was told.
        codes: of its flags.
        confidence: 0..1.
    """

    run: int
    raw: str
    read: str
    state: str
    right: bool
    error: str
    flagged: bool
    codes: tuple[str, ...]
    confidence: Number


@dataclass(frozen=True, slots=True)
class WorstValue:
    """A value that went wrong, with all its runs.

    Attributes:
        document: name of the file.
        severity: of the document.
        field: its name.
        row: 0-based line; null for a field of the order.
        truth: the true value.
        page: 1-based page where it stands; null when unknown.
        quad: there: four points in pixels of the page as stored, clockwise from the top left of the
            text; null when unknown.
        ink: share of its ink that is left; null when unknown.
        consensus: what all runs together say.
        runs: what each says.
    """

    document: str
    severity: int
    field: str
    row: int | None
    truth: str
    page: int | None
    quad: Quad | None
    ink: Number
    consensus: Seen
    runs: tuple[Seen, ...]
