"""The report of an evaluation: one HTML page, Markdown, and the numbers as JSON."""

from __future__ import annotations

from pathlib import Path

from eval.report.crops import Images, no_images
from eval.report.gather import results_of
from eval.report.page import page
from eval.report.results import to_json
from eval.report.text import text
from eval.report.writing import write_texts
from eval.tidy import Scores

__all__ = ["no_images", "write_report"]


def write_report(scores: Scores, out: Path, *, title: str, images: Images = no_images) -> Path:
    """Write `report.html`, `report.md` and `results.json`; same scores and scans, same bytes.

    Args:
        scores: what to report on.
        out: the folder; made when it is not there.
        title: of the report.
        images: (document, 1-based page) → the page in stored pixels, H×W uint8, for the pictures of
            values; None when it cannot be had.

    Returns:
        The path of `report.html`.

    Raises:
        OutputError: the files cannot be written.
    """
    results = results_of(scores, title=title)
    texts = {
        "results.json": to_json(results),
        "report.md": text(results),
        "report.html": page(results, images),
    }
    write_texts(out, texts, "report")
    return out / "report.html"
