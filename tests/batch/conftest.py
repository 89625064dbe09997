from pathlib import Path

import pytest


@pytest.fixture
def fakes(monkeypatch):
    """The helper module, importable here and in the spawned workers, which get our `sys.path`."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import fake_workers

    return fake_workers


@pytest.fixture
def scans(tmp_path):
    """Makes files of these texts and gives their scans, in order."""
    from ocr_pipeline.batch.scans import Scan

    def make(**texts):
        folder = tmp_path / "scans"
        folder.mkdir(exist_ok=True)
        made = []
        for name, text in texts.items():
            path = folder / f"{name}.tif"
            path.write_text(text, encoding="utf-8")
            made.append(Scan(path, path.name))
        return made

    return make
