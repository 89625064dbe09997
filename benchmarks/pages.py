"""Seconds a page: one run beside several, detection and all.

python -m benchmarks.pages --engine diffusiongemma --model pocket
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import mean

from ocr_pipeline.engines.base import RunsEngine
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Page


def seconds(engine: RunsEngine, page: Page, runs: int) -> float:
    """What so many runs of a page take."""
    started = time.perf_counter()
    engine.read_runs(page, runs=range(runs), seeds=range(runs))
    return time.perf_counter() - started


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("scans", nargs="*", type=Path, help="default: the samples")
    parser.add_argument("--engine", default="diffusiongemma")
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    scans = given.scans or sorted(Path("datasets/samples").glob("*_s*"))
    try:
        engine = prepare_engine(given.engine, given.model)()
        pages = [page for scan in scans for page in load_pages(scan, scan.name)]
    except OcrPipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    if not isinstance(engine, RunsEngine):
        print(f"error: {given.engine} reads one run at a time", file=sys.stderr)
        return 2
    seconds(engine, pages[0], 1)  # what is loaded when it is first needed
    one = [seconds(engine, page, 1) for page in pages]
    many = [seconds(engine, page, given.runs) for page in pages]
    print(f"{len(pages)} pages, {given.engine} {given.model}")
    print(f"1 run   {mean(one):6.2f} s a page, at most {max(one):.2f}")
    print(
        f"{given.runs} runs  {mean(many):6.2f} s a page, {mean(many) / mean(one):.2f} times as long"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
