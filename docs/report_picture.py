"""Photograph the top of a report for the README: `python docs/report_picture.py PAGE`.

PAGE is report/ppocr/report.html if none is given. Needs Chromium (apt-get install chromium).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

OUT = Path(__file__).parent / "images" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = (1100, 1330)


def main() -> None:
    """Write docs/images/report.png."""
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "report/ppocr/report.html").resolve()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit("error: there is no Chromium\n  → apt-get install chromium")
    if not page.is_file():
        sys.exit(f"error: there is no {page}\n  → make eval")
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *(f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={shot}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )
        # The page has few colours, and small letters of a few greys.
        Image.open(shot).convert("RGB").quantize(64).save(OUT, optimize=True)


if __name__ == "__main__":
    main()
