import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from eval.report import write_report
from eval.report.text import escaped
from eval.tidy import DOCUMENTS, VALUES, Scores, frame
from ocr_pipeline.errors import OutputError

HOSTILE = "<img src=x onerror=alert(1)>.tif"
FILES = ("report.html", "report.md", "results.json")


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.values, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def image():
    noise = np.random.default_rng(0).integers(0, 2, (2290, 1728), np.uint8)
    return noise * np.uint8(255)


def hostile(scores):
    """Every text that comes from outside is markup."""
    names = {name: f"{name[:4]}{HOSTILE}" for name in set(scores.documents["document"])}
    values = scores.values.assign(
        document=scores.values["document"].map(names),
        raw=scores.values["raw"] + "<script>alert(1)</script>",
        read=scores.values["read"] + '"><b onclick=x>',
        truth=scores.values["truth"] + "</style><script>",
    )
    values.loc[:, ["right", "flagged"]] = False
    return dataclasses.replace(
        scores,
        values=values,
        documents=scores.documents.assign(document=scores.documents["document"].map(names)),
        checklist=scores.checklist.assign(item="<script>", document=HOSTILE),
        about={"engine": "<script>", "command": "a 'b' \"c\" <d>", "options": {"x": [1, "</dd>"]}},
    )


@pytest.fixture
def written(tmp_path, scores_of, image):
    """The three texts of a report on hostile names."""
    path = write_report(
        hostile(scores_of(6, runs=3, accuracy=0.7)),
        tmp_path,
        title="発注書 </title><script>x</script>",
        images=lambda *_: image,
    )
    assert path == tmp_path / "report.html"
    return {name: (tmp_path / name).read_text(encoding="utf-8") for name in FILES}


def test_no_text_becomes_markup_and_the_page_needs_nothing_beside_itself(written):
    page = Tags(written["report.html"])
    assert not {"script", "b", "iframe", "link", "object"} & set(page.tags)
    assert not [v for v in page.values if v[1].startswith("on")]
    images = [value for tag, name, value in page.values if (tag, name) == ("img", "src")]
    assert images
    assert all(value.startswith("data:image/png;base64,") for value in images)
    links = [value for _, name, value in page.values if name in ("href", "xlink:href")]
    assert links
    assert all(value.startswith("#") for value in links)
    ids = [value for _, name, value in page.values if name == "id"]
    assert len(ids) == len(set(ids))
    assert {v[1:] for v in links} <= set(ids)
    assert not re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?:https?:|//)", written["report.html"])
    # All the same the names can be read.
    text = "".join(page.texts)
    assert HOSTILE in text
    assert "発注書 </title>" in text
    assert "カ" in text


def test_in_markdown_neither_names_nor_texts_break_out(written):
    lines = written["report.md"].splitlines()
    assert not re.search(r"(?<!\\)<", written["report.md"])
    widths: list[int] = []
    for line in lines:
        if not line.startswith("|"):
            widths = []
            continue
        widths.append(len(re.split(r"(?<!\\)\|", line)))
        assert widths[-1] == widths[0], line


@pytest.mark.parametrize("text", ["a|b", "<b>", "a\nb", "`x`", "# *x*", "[x](y)"])
def test_escaped_text_is_on_one_line_and_without_markup(text):
    found = escaped(text)
    assert "\n" not in found
    assert not re.search(r"(?<!\\)[|`*<>\[\]]", found)


def test_same_scores_same_bytes(scores_of, tmp_path, image):
    texts = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        write_report(scores_of(2, runs=1, accuracy=0.6), folder, title="t", images=lambda *_: image)
        texts.append({name: (folder / name).read_bytes() for name in FILES})
    assert texts[0] == texts[1]


def test_scans_that_are_gone_are_no_obstacle(scores_of, tmp_path):
    page = write_report(scores_of(4, accuracy=0.6), tmp_path, title="t").read_text("utf-8")
    assert "no picture" in page
    assert "data:image" not in page


def test_nothing_scored_is_a_page_all_the_same(tmp_path):
    empty = Scores(frame([], VALUES), frame([], DOCUMENTS))
    page = write_report(empty, tmp_path, title="t").read_text("utf-8")
    assert "No value was scored." in page
    assert "The article test" not in page


def test_everything_right_has_no_worst_values(a_value, a_document, tmp_path):
    scores = Scores(
        frame((a_value(run=k) for k in (0, -1)), VALUES),
        frame((a_document(run=k) for k in (0, -1)), DOCUMENTS),
    )
    page = write_report(scores, tmp_path, title="t").read_text("utf-8")
    assert "Every value is right." in page


def test_a_broken_reply_can_be_written(a_value, a_document, tmp_path):
    wrong = {"right": False, "error": "wrong", "read": "\ud800", "raw": "\ud800"}
    scores = Scores(
        frame((a_value(run=k, **wrong) for k in (0, -1)), VALUES),
        frame((a_document(run=k) for k in (0, -1)), DOCUMENTS),
    )
    write_report(scores, tmp_path, title="t")


def test_a_folder_that_cannot_be_written_is_a_clear_error(scores_of, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_report(scores_of(2, runs=1), tmp_path / "file" / "sub", title="t")
