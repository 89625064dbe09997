import re
from pathlib import Path

import pytest

from synth.marks import DRAW
from synth.sheet import Sheet

DOCS = (Path(__file__).parents[2] / "docs" / "synth.md").read_text(encoding="utf-8")
BLOCKS = {
    block.split("##")[0]: re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", DOCS, re.DOTALL | re.MULTILINE)
}


@pytest.mark.parametrize(
    "title", ["In Python", "Adding a layout", "Adding a mark", "Adding a degradation"]
)
def test_the_examples_run_and_are_short(title, monkeypatch):
    monkeypatch.setattr("synth.marks.DRAW", dict(DRAW))
    (code,) = BLOCKS[title]
    assert code.count("\n") < 40
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(code, title, "exec"), names)
    sheet = names["sheet"]
    assert isinstance(sheet, Sheet)
    assert sheet.truth.fields["order_no"]
