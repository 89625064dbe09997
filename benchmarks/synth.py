"""Speed of the fax chain beside Augraphy's Faxify, on the same clean pages in the same run.

    python -m benchmarks.synth --sheets 12

Augraphy is no dependency of this project: its wheel asks for `opencv-python`, which breaks
the `opencv-python-headless` that rapidocr needs. To see its row, install it without that:

    pip install --no-deps augraphy
    pip install numba scikit-image scikit-learn matplotlib requests

Without it only our own rows are printed. One process, one thread of OpenCV: a core's speed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable

import cv2
import numpy as np

from synth import degrade, draw_chain, make_sheet
from synth.severity import WORST

Page = np.ndarray
DPI = 304.8


def clean_pages(count: int) -> list[Page]:
    """Orders as drawn, before any damage."""
    pages: list[Page] = []
    for seed in range(count):
        pages += make_sheet(seed, severity=1, layout="full_grid").clean
    return pages


def timed(work: Callable[[int, Page], Page], pages: list[Page]) -> tuple[float, bool]:
    """Pages a second, and whether the first page comes out the same when it is made again."""
    first = work(0, pages[0])
    start = time.perf_counter()
    for number, page in enumerate(pages):
        work(number, page)
    seconds = time.perf_counter() - start
    again = work(0, pages[0])
    return len(pages) / seconds, first.shape == again.shape and bool((first == again).all())


def faxify() -> Callable[[int, Page], Page] | None:
    """Augraphy's Faxify with its own defaults, seeded as far as it can be."""
    try:
        from augraphy import Faxify  # noqa: PLC0415
    except ImportError as error:
        print(f"augraphy cannot be imported ({error}); see the head of this file", file=sys.stderr)
        return None

    def work(number: int, page: Page) -> Page:
        random.seed(number)
        np.random.seed(number)  # Augraphy draws from the global generators
        return np.asarray(Faxify()(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR)))

    return work


def report(name: str, what: str, work: Callable[[int, Page], Page], pages: list[Page]) -> None:
    """One row of the table."""
    rate, same = timed(work, pages)
    print(f"| {name} | {what} | {rate:.2f} | {'yes' if same else 'no'} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sheets", type=int, default=12)
    pages = clean_pages(parser.parse_args().sheets)
    cv2.setNumThreads(1)
    print(f"{len(pages)} pages of {pages[0].shape[1]}×{pages[0].shape[0]} pixels\n")
    print("| maker | what | pages a second and core | same seed, same pixels |")
    print("| --- | --- | --- | --- |")
    for severity in range(WORST + 1):
        report(
            f"synth, severity {severity}",
            "chain only",
            lambda n, page, s=severity: degrade(page, draw_chain(s, n), n, dpi=DPI).image,
            pages,
        )
    for severity in (2, WORST):
        report(
            f"synth, severity {severity}",
            "order, drawing, chain and truth",
            lambda n, _, s=severity: make_sheet(n, severity=s, layout="full_grid").pages[0].image,
            pages,
        )
    other = faxify()
    if other is not None:
        report("Augraphy Faxify", "scaling and halftone only", other, pages)


if __name__ == "__main__":
    main()
