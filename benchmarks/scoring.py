"""Speed of scoring stored runs: page-runs a minute and core, and how time grows with their number.

    python -m benchmarks.scoring --documents 40

Three of the sample faxes are read twice by `ppocr`; what it said is stored again and again under
other names, so that the lines are as long as real ones. Timed is all that `eval score` does before
the report: read the lines, extract orders, let the runs vote, check, compare with the truth, write
the tables. CPU time of one process; the consensus curve over subsets of runs is timed apart.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from eval import consensus, tidy
from eval.cases import Case, load_cases
from eval.outcomes import Form
from eval.reader import page_runs
from eval.runs import ABOUT, RUNS, run_sets
from eval.scoring import RunSet, score
from eval.stored import PageRun, line_of
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.settings import Settings

SAMPLES = Path(__file__).parents[1] / "datasets" / "samples"
FORM = Form(load_schema("purchase_order"))
RUNS_EACH = 5


def read_samples(count: int) -> list[tuple[Case, list[PageRun]]]:
    """Some samples, read twice each."""
    engine = prepare_engine("ppocr")()
    found = []
    for case in list(load_cases(SAMPLES / "truth.json").values())[:count]:
        (page,) = load_pages(SAMPLES / case.source, case.source)
        found.append((case, page_runs(engine, page, range(2), Settings(FORM.schema), 1)))
    return found


def store(
    samples: list[tuple[Case, list[PageRun]]], documents: int, folder: Path
) -> dict[str, Case]:
    """A folder of runs on so many documents."""
    cases = {}
    with (folder / RUNS).open("w", encoding="utf-8") as file:
        for i in range(documents):
            case, pages = samples[i % len(samples)]
            name = f"{i:04d}_{case.source}"
            cases[name] = replace(case, source=name)
            for run in range(RUNS_EACH):
                page = pages[run % len(pages)]
                assert page.reading is not None
                reading = replace(page.reading, run=run)
                line = line_of(replace(page, document=name, run=run, reading=reading))
                file.write(f"{line}\n")
    (folder / ABOUT).write_text(json.dumps({"runs": RUNS_EACH}), encoding="utf-8")
    return cases


def timed(work: Callable[[], object]) -> float:
    """CPU seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--samples", type=int, default=3)
    given = parser.parse_args()
    samples = read_samples(given.samples)
    print("| page-runs | scored | a minute and core | consensus curve | both |")
    print("| --- | --- | --- | --- | --- |")
    times = []
    for documents in (given.documents, 2 * given.documents):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            cases = store(samples, documents, folder)
            sets: list[RunSet] = []

            def scoring(
                folder: Path = folder, cases: dict[str, Case] = cases, sets: list[RunSet] = sets
            ) -> None:
                sets += run_sets(folder, cases, FORM)
                tidy.save(score(sets, {}), folder)

            seconds = timed(scoring)
            curve = timed(lambda sets=sets: consensus.curve(sets))  # type: ignore[misc]
        count = documents * RUNS_EACH
        times.append(seconds)
        print(
            f"| {count} | {seconds:.1f} s | {60 * count / seconds:.0f} | {curve:.1f} s "
            f"| {60 * count / (seconds + curve):.0f} |",
            flush=True,
        )
    print(f"\ntime(2n) = {times[1] / times[0]:.2f} · time(n)")


if __name__ == "__main__":
    main()
