"""Draw the picture of the browser for the README: `python docs/web_picture.py`.

Nothing in it is staged: the server reads a sheet with the checkpoint that the tests use, and the
picture is the moment at which the text is in full motion. Needs the extras `web` and
`gemma`, playwright, and a chromium.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from ocr_pipeline.web.app import create_app
from ocr_pipeline.web.serve import settings_of

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "web.png"
MODEL = ROOT / "tests" / "data" / "three_pages"
SHEETS = "sheets -n 1 --severity 0 --lines 2-3 --layout full_grid --seed 11 --out"
SIZE = {"width": 1280, "height": 800}
COLOURS = 96
RUNS = 2


def main() -> None:
    """Write docs/images/web.png."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("error: chromium is not installed\n  → apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, _served() as url, sync_playwright() as driver:
        command = [sys.executable, "-m", "ocr_pipeline.cli", *SHEETS.split(), folder]
        subprocess.run(command, check=True, capture_output=True)
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(base_url=url, viewport=SIZE, locale="en-US", color_scheme="light")
        page.goto("/")
        page.set_input_files("#file", Path(folder, "0000_s0.tif"))
        page.fill("#runs", str(RUNS))
        page.click("#start")
        page.wait_for_selector("#report .report", state="attached", timeout=600_000)
        _in_motion(page)
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1000:.0f} kB")


def _in_motion(page: Page) -> None:
    """Go to the moment with most characters still changing, others settled, some committed."""
    page.focus("#moment")
    moments = int(page.get_attribute("#moment", "max") or 0)
    most, found = 0, moments // 2
    for moment in range(moments):
        page.evaluate(
            """(k) => { const s = document.getElementById("moment"); s.value = k;
            s.dispatchEvent(new Event("input")); }""",
            moment,
        )
        draft, settled, committed = page.evaluate(
            """() => { const long = (s) => [...document.querySelectorAll(s)]
            .reduce((n, e) => n + e.textContent.length, 0);
            const draft = long(".draft");
            return [draft, draft - long(".draft .changed"), long(".committed")]; }"""
        )
        if committed and settled > 0.3 * draft and draft - settled > most:
            most, found = draft - settled, moment
    page.evaluate(
        """(k) => { const s = document.getElementById("moment"); s.value = k;
        s.dispatchEvent(new Event("input")); }""",
        found,
    )
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")


@contextmanager
def _served() -> Iterator[str]:
    torch.set_num_threads(1)  # the model is tiny: more threads only wait for each other
    settings = settings_of([f"diffusiongemma={MODEL}"], [], schema="purchase_order")
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


if __name__ == "__main__":
    main()
