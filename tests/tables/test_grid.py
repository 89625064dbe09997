from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char, Reading, Word
from ocr_pipeline.geometry import (
    box_along,
    box_of,
    identity,
    quad_of_box,
    rotation,
    scaling,
    transform,
    translation,
    union,
)
from ocr_pipeline.pages.page import Page, Resolution
from ocr_pipeline.tables.grid import transcribe

EM = 30
LINE = 42
"""From one line of a wrapped cell to the next."""
ROW = 62
WIDTH, HEIGHT = 1500, 1150
COLUMNS = (("No", 80), ("品名", 480), ("数量", 160), ("単位", 110), ("単価", 180), ("金額", 220))
TITLES = frozenset(
    {"No", "品名", "品番", "数量", "単位", "単価", "金額", "税率", "備考", "小計", "納期"}
)
ITEMS = (
    ("1", "六角穴付ボルト M6×20", "1,200", "本", "12.50", "15,000"),
    ("2", "ステンレス丸棒", "8", "本", "4,300", "34,400"),
    ("3", "光ファイバセンサ FU-35FA", "2", "個", "18,900", "37,800"),
    ("4", "ケーブルグランド", "40", "個", "260", "10,400"),
)
WRAPPED = (
    ITEMS[0],
    ("2", "ステンレス丸棒\nSUS303 φ12", "8", "本", "4,300", "34,400"),
    ITEMS[2],
    ("4", "ケーブルグランド\n黒 防水型", "40", "個", "260", "10,400"),
)
TOTALS = (
    ("", "", "", "", "小計", "97,600"),
    ("", "", "", "", "消費税", "9,760"),
    ("", "", "", "", "合計", "107,360"),
)


def word(text, x, y):
    """The word whose first character stands at (x, y); full-width characters are square."""
    chars = []
    for c in text:
        wide = EM if unicodedata.east_asian_width(c) in "WFA" else EM // 2
        ink = quad_of_box((x + 1, y + 1, x + wide - 1, y + EM - 1))
        chars.append(Char(c) if c == " " else Char(c, 0.9, (), ink))
        x += wide
    return Word(text, 0.9, union([c.quad for c in chars if c.quad]), chars=tuple(chars))


def joined(*words):
    """Words as one, as a detector sees them that draws its box across them all."""
    text = "".join(w.text for w in words)
    quad = quad_of_box(box_of(p for w in words for p in w.quad))
    return Word(text, 0.9, quad, chars=tuple(c for w in words for c in w.chars))


def width_of(text):
    return box_of(word(text, 0, 0).quad)[2]


@dataclass(frozen=True)
class Sheet:
    """An upright page with a table, laid out by hand."""

    header: tuple[str, ...] = tuple(title for title, _ in COLUMNS)
    rows: tuple[tuple[str, ...], ...] = ITEMS
    rules: str = "grid"
    """`grid`, `open sides`, `rows` (every horizontal one), `frame rows` (three of them), `none`."""
    around: tuple[tuple[str, int, int], ...] = (
        ("御注文書", 620, 60),
        ("大塚製作所御中", 120, 150),
        ("注文番号:8506242", 900, 150),
        ("備考欄は使用しません", 120, 1060),
    )
    centred: bool = False
    """Cells stand in the middle of the height of their row, not at its top."""
    left: int = 120
    top: int = 300

    @property
    def xs(self):
        return [self.left, *(self.left + int(v) for v in np.cumsum([w for _, w in COLUMNS]))]

    @property
    def ys(self):
        heights = [
            ROW + LINE * max(c.count("\n") for c in row) for row in (self.header, *self.rows)
        ]
        return [self.top, *(self.top + int(v) for v in np.cumsum(heights))]

    def cells(self):
        """row → column → the words of the cell."""
        grid = []
        for texts, row_top in zip((self.header, *self.rows), self.ys, strict=False):
            grid.append([])
            longest = max(text.count("\n") for text in texts)
            for i, text in enumerate(texts):
                lines = []
                spare = LINE * (longest - text.count("\n"))
                top = row_top + (spare // 2 if self.centred else 0)
                for k, line in enumerate(text.split("\n") if text else ()):
                    left, right = self.xs[i] + 12, self.xs[i + 1] - 12 - width_of(line)
                    x = left if i == 1 else right if i in (2, 4, 5) else (left + right) // 2
                    lines.append(word(line, round(x), top + (ROW - EM) // 2 + LINE * k))
                grid[-1].append(lines)
        return grid

    def words(self):
        inside = [w for row in self.cells() for lines in row for w in lines]
        return [*inside, *(word(text, x, y) for text, x, y in self.around)]

    def image(self):
        image = np.full((HEIGHT, WIDTH), 255, np.uint8)
        left, right, top, bottom = self.xs[0], self.xs[-1], self.ys[0], self.ys[-1]
        level = {"frame rows": [top, self.ys[1], bottom], "none": []}.get(self.rules, self.ys)
        for y in level:
            image[y : y + 3, left : right + 3] = 0
        upright = {"grid": self.xs, "open sides": self.xs[1:-1]}.get(self.rules, [])
        for x in upright:
            image[top : bottom + 3, x : x + 3] = 0
        return image

    def read(self, *, words=None, image=None, matrix=None, dpi=204.0, fold=str.strip):
        """Transcribe; `matrix` leads from upright to stored pixels."""
        to_stored = identity() if matrix is None else matrix
        image = self.image() if image is None else image
        page = Page(image, "a.tif", matrix=to_stored, dpi=Resolution(dpi, dpi))
        words = self.words() if words is None else words
        stored = tuple(moved(w, to_stored) for w in words)
        return transcribe(Reading("ppocr", page=2, words=stored), page, TITLES, fold)

    @property
    def expected(self):
        return [list(self.header), *(list(row) for row in self.rows)]


def moved(w, matrix):
    chars = tuple(replace(c, quad=transform(c.quad, matrix)) if c.quad else c for c in w.chars)
    return replace(w, quad=transform(w.quad, matrix), chars=chars)


def texts(transcript):
    """The one table, header first."""
    (table,) = transcript.tables
    return [[c.text for c in row] for row in (table.header, *table.rows)]


def line_texts(transcript):
    return [c.text for c in transcript.lines]


RULES = ("grid", "open sides", "rows", "frame rows", "none")
AROUND = ["御注文書", "大塚製作所御中", "注文番号:8506242", "備考欄は使用しません"]


class TestTable:
    @pytest.mark.parametrize("rules", RULES)
    def test_however_it_is_ruled(self, rules):
        sheet = Sheet(rules=rules)
        transcript = sheet.read()
        assert texts(transcript) == sheet.expected
        assert line_texts(transcript) == AROUND
        assert transcript.page == 2
        assert transcript.strict

    @pytest.mark.parametrize("rules", RULES)
    def test_wrapped_cells(self, rules):
        sheet = Sheet(rules=rules, rows=WRAPPED)
        assert texts(sheet.read()) == sheet.expected

    @pytest.mark.parametrize("rules", ["grid", "open sides", "rows"])
    @pytest.mark.parametrize("lines", ["丸棒\nSUS303", "丸棒\nSUS303\n黒"])
    def test_figures_half_way_down_a_wrapped_row(self, rules, lines):
        """As a spreadsheet prints it: every cell is centred in the height of its row."""
        rows = (ITEMS[0], ("2", lines, "8", "本", "4,300", "34,400"), *ITEMS[2:])
        sheet = Sheet(rules=rules, rows=rows, centred=True)
        assert texts(sheet.read()) == sheet.expected

    @pytest.mark.parametrize("gap", [20, 30, 45])
    @pytest.mark.parametrize("rules", RULES)
    def test_titles_that_are_spaced_out(self, rules, gap):
        """品　名, 数　量: as most forms print them, for an engine that draws one box a title."""
        sheet = Sheet(rules=rules)
        words = [w for w in sheet.words() if w.text not in sheet.header[1:]]
        for i in range(1, 6):
            first, second = sheet.header[i]
            x = (sheet.xs[i] + sheet.xs[i + 1] - gap) // 2 - EM
            left, right = (
                word(c, v, sheet.top + 16) for c, v in ((first, x), (second, x + EM + gap))
            )
            words.append(joined(left, Word(" ", 1.0, left.quad, chars=(Char(" "),)), right))
        header, *rows = texts(sheet.read(words=words, fold=lambda t: t.replace(" ", "")))
        assert [t.replace(" ", "") for t in header] == list(sheet.header)
        assert rows == sheet.expected[1:]

    @pytest.mark.parametrize("rules", RULES)
    def test_totals_under_the_rows(self, rules):
        sheet = Sheet(rules=rules, rows=ITEMS + TOTALS)
        assert texts(sheet.read()) == sheet.expected

    def test_totals_in_a_box_of_their_own_width(self):
        whole = Sheet(rows=ITEMS + TOTALS)
        image = whole.image()
        image[whole.ys[5] + 3 :, : whole.xs[4]] = 255  # below the items only two columns are ruled
        assert texts(whole.read(image=image)) == whole.expected

    @pytest.mark.parametrize("rules", RULES)
    def test_empty_cells(self, rules):
        rows = tuple(tuple("" if i in (2, 3) else c for i, c in enumerate(row)) for row in ITEMS)
        sheet = Sheet(rules=rules, rows=rows)
        assert texts(sheet.read()) == sheet.expected

    @pytest.mark.parametrize("rules", RULES)
    def test_a_header_without_rows(self, rules):
        sheet = Sheet(rules=rules, rows=())
        assert texts(sheet.read()) == sheet.expected

    @pytest.mark.parametrize("rules", RULES)
    def test_the_order_of_the_words_does_not_matter(self, rules):
        sheet = Sheet(rules=rules, rows=WRAPPED)
        words = sheet.words()
        shuffled = [words[i] for i in np.random.default_rng(3).permutation(len(words))]
        assert sheet.read(words=shuffled) == sheet.read()

    def test_one_above_the_other(self):
        upper = Sheet(rows=ITEMS[:2])
        lower = Sheet(rows=ITEMS[2:], top=700, around=())
        image = np.minimum(upper.image(), lower.image())
        transcript = upper.read(words=upper.words() + lower.words(), image=image)
        assert [
            [c.text for c in row] for t in transcript.tables for row in (t.header, *t.rows)
        ] == (upper.expected + lower.expected)
        assert line_texts(transcript) == AROUND


class TestBoxes:
    def test_quads_lie_on_the_words_in_stored_pixels(self):
        sheet = Sheet(rows=WRAPPED)
        stored = translation(WIDTH, HEIGHT / 2) @ rotation(180) @ scaling(1.0, 0.5)
        (table,) = sheet.read(matrix=stored).tables
        for row, drawn in zip((table.header, *table.rows), sheet.cells(), strict=True):
            for cell, lines in zip(row, drawn, strict=True):
                ink = [transform(c.quad, stored) for w in lines for c in w.chars if c.quad]
                assert cell.page == 2
                assert box_of(cell.quad) == pytest.approx(box_of(p for q in ink for p in q))
                # The first point is the top left of the text: on this page, bottom right.
                assert cell.quad[0][0] > cell.quad[1][0]
                assert cell.quad[0][1] > cell.quad[3][1]

    def test_characters_of_a_cell_are_those_of_its_text(self):
        transcript = Sheet(rows=WRAPPED).read()
        (table,) = transcript.tables
        for cell in (*table.header, *(c for row in table.rows for c in row), *transcript.lines):
            assert "".join(c.text for c in cell.chars) == cell.text
            assert cell.confidence == 0.9

    def test_an_empty_cell_has_no_quad(self):
        (table,) = Sheet(rows=(("1", "", "", "", "", "500"),)).read().tables
        assert [c.quad is None for c in table.rows[0]] == [False, True, True, True, True, False]


class TestDamage:
    """What the fax, the glass and the detector do to a table."""

    @pytest.mark.parametrize("apart", [True, False])
    def test_words_drawn_across_a_border(self, apart):
        sheet = Sheet()
        cells = sheet.cells()
        words = sheet.words()
        for row in (2, 4):
            pair = cells[row][2][0], cells[row][3][0]  # 数量 and 単位
            words = [w for w in words if w not in pair]
            between = (Word(" ", 1.0, pair[0].quad, chars=(Char(" "),)),) if apart else ()
            words.append(joined(pair[0], *between, pair[1]))
        assert texts(sheet.read(words=words)) == sheet.expected

    def test_a_whole_row_drawn_as_one_word(self):
        sheet = Sheet()
        row = [w for lines in sheet.cells()[3] for w in lines]
        words = [w for w in sheet.words() if w not in row]
        assert texts(sheet.read(words=[*words, joined(*row)])) == sheet.expected

    def test_titles_drawn_as_one_word(self):
        sheet = Sheet()
        pair = sheet.cells()[0][4][0], sheet.cells()[0][5][0]
        space = Word(" ", 1.0, pair[0].quad, chars=(Char(" "),))
        words = [w for w in sheet.words() if w not in pair]
        words.append(joined(pair[0], space, pair[1]))
        assert texts(sheet.read(words=words)) == sheet.expected

    @pytest.mark.parametrize("rules", RULES)
    @pytest.mark.parametrize("x", [420, 640, 1200])
    def test_a_streak_down_the_page(self, rules, x):
        sheet = Sheet(rules=rules)
        image = sheet.image()
        image[:, x : x + 3] = 0
        assert texts(sheet.read(image=image)) == sheet.expected

    @pytest.mark.parametrize("rules", RULES)
    def test_titles_that_were_misread(self, rules):
        sheet = Sheet(header=("No", "品各", "数量", "単位", "車価", "金額"), rules=rules)
        assert texts(sheet.read()) == sheet.expected

    def test_titles_that_were_all_misread_in_a_grid(self):
        sheet = Sheet(header=("Na", "品各", "教星", "単仕", "車価", "金頷"))
        assert texts(sheet.read()) == sheet.expected

    def test_a_title_that_was_not_read(self):
        sheet = Sheet(header=("No", "品名", "数量", "", "単価", "金額"))
        assert texts(sheet.read()) == sheet.expected

    @pytest.mark.parametrize("lost", range(7))
    def test_a_border_that_the_fax_lost(self, lost):
        sheet = Sheet()
        image = sheet.image()
        x = sheet.xs[lost]
        for top, bottom in zip(sheet.ys, sheet.ys[1:], strict=False):
            image[top + 3 : bottom, x : x + 3] = 255
        assert texts(sheet.read(image=image)) == sheet.expected

    @pytest.mark.parametrize("lost", range(6))
    def test_a_row_rule_that_the_fax_lost(self, lost):
        sheet = Sheet()
        image = sheet.image()
        y = sheet.ys[lost]
        for left, right in zip(sheet.xs, sheet.xs[1:], strict=False):
            image[y : y + 3, left + 3 : right] = 255
        assert texts(sheet.read(image=image)) == sheet.expected

    @pytest.mark.parametrize("seed", range(4))
    def test_rules_in_pieces(self, seed):
        sheet = Sheet()
        image = sheet.image()
        rng = np.random.default_rng(seed)
        for y in sheet.ys:
            for x in range(sheet.xs[0] + 60, sheet.xs[-1] - 60, 140):
                image[y : y + 3, x : x + rng.integers(5, 60)] = 255
        assert texts(sheet.read(image=image)) == sheet.expected

    def test_words_that_jitter(self):
        rng = np.random.default_rng(8)
        for rules in RULES:
            sheet = Sheet(rules=rules)
            words = [moved(w, translation(*rng.uniform(-3, 3, 2))) for w in sheet.words()]
            assert texts(sheet.read(words=words)) == sheet.expected

    def test_words_without_characters(self):
        sheet = Sheet()
        words = [replace(w, chars=()) for w in sheet.words()]
        assert texts(sheet.read(words=words)) == sheet.expected


class TestLines:
    def test_nothing_was_read(self):
        transcript = Sheet().read(words=[])
        assert (transcript.lines, transcript.tables) == ((), ())

    def test_a_page_without_a_table(self):
        sheet = Sheet(rules="none")
        words = [word(text, x, y) for text, x, y in sheet.around]
        transcript = sheet.read(words=words)
        assert transcript.tables == ()
        assert line_texts(transcript) == AROUND

    def test_two_titles_are_no_header(self):
        words = [word("数量", 100, 100), word("単価", 400, 100), word("10", 100, 160)]
        transcript = Sheet(rules="none").read(words=words)
        assert transcript.tables == ()
        assert line_texts(transcript) == ["数量", "単価", "10"]

    def test_a_rule_between_two_words_parts_them(self):
        image = np.full((HEIGHT, WIDTH), 255, np.uint8)
        image[80:83, 90:510] = image[180:183, 90:510] = 0
        for x in (90, 175, 507):
            image[80:183, x : x + 3] = 0
        words = [word("電話", 105, 115), word("075", 190, 115)]
        assert line_texts(Sheet().read(words=words, image=image)) == ["電話", "075"]
        blank = np.full((HEIGHT, WIDTH), 255, np.uint8)
        assert line_texts(Sheet().read(words=words, image=blank)) == ["電話 075"]


def seen(sheet, motion, stored, *, dpi=204.0):
    """The transcript of a page that was moved by `motion` and stored through `stored`."""
    size = (round(WIDTH * dpi / 204) + 60, round(HEIGHT * dpi / 204) + 60)
    centred = translation(-0.5, -0.5) @ motion @ translation(0.5, 0.5)
    image = cv2.warpAffine(sheet.image(), centred[:2], size, borderValue=255)
    words = [moved(w, motion) for w in sheet.words()]
    return sheet.read(words=words, image=image, matrix=stored, dpi=dpi)


class TestInvariance:
    """The same words and rules somewhere else are the same transcript."""

    @pytest.mark.parametrize("rules", RULES)
    @settings(deadline=None, max_examples=4)
    @given(
        x=st.floats(0, 50),
        y=st.floats(0, 50),
        degrees=st.floats(-0.5, 0.5),
        dpi=st.sampled_from([204.0, 300.0]),
        turn=st.sampled_from([0, 90, 180, 270]),
        skew=st.floats(-5, 5),
        stretch=st.sampled_from([(1.0, 1.0), (1.0, 0.48), (1.0, 0.96)]),
    )
    def test_shifted_turned_and_scaled(self, rules, x, y, degrees, dpi, turn, skew, stretch):
        sheet = Sheet(rules=rules, rows=WRAPPED + TOTALS)
        centre = (WIDTH / 2, HEIGHT / 2)
        motion = translation(x, y) @ scaling(dpi / 204, dpi / 204) @ rotation(degrees, centre)
        stored = scaling(*stretch) @ rotation(turn + skew)
        transcript = seen(sheet, motion, stored, dpi=dpi)
        assert texts(transcript) == sheet.expected
        assert line_texts(transcript) == AROUND

    def test_stored_upside_down_on_oblong_pixels(self):
        sheet = Sheet(rows=WRAPPED)
        stored = scaling(1.0, 98 / 204) @ rotation(180, (WIDTH / 2, HEIGHT / 2))
        transcript = sheet.read(matrix=stored)
        assert texts(transcript) == sheet.expected
        frame = transform(quad_of_box((0, 0, WIDTH, HEIGHT)), stored)
        (table,) = transcript.tables
        lefts = [box_along(c.quad, frame)[0] for c in table.header]
        assert lefts == sorted(lefts)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    rules=st.sampled_from(RULES),
    count=st.integers(0, 30),
)
def test_no_character_is_lost_or_doubled(seed, rules, count):
    """Words anywhere, on rules and across them, over the table and beside it."""
    rng = np.random.default_rng(seed)
    sheet = Sheet(rules=rules)
    extra = [
        word("".join(rng.choice(list("あ漢1A-")) for _ in range(rng.integers(1, 14))), x, y)
        for x, y in zip(rng.integers(0, 1100, count), rng.integers(0, 1100, count), strict=True)
    ]
    words = sheet.words() + extra
    transcript = sheet.read(words=words)
    cells = [
        *transcript.lines,
        *(c for t in transcript.tables for row in (t.header, *t.rows) for c in row),
    ]
    found = Counter("".join(c.text for c in cells).replace(" ", "").replace("\n", ""))
    assert found == Counter("".join(w.text for w in words).replace(" ", ""))
