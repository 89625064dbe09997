from __future__ import annotations

import pytest

from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.transmission import split_transmission
from ocr_pipeline.tables.transcript import Cell


def cells(*texts: str) -> tuple[Cell, ...]:
    return tuple(Cell(t) for t in texts)


def placed(text: str, left: float, top: float) -> Cell:
    return Cell(text, quad=quad_of_box((left, top, left + 20 * len(text), top + 24)))


def is_labelled(cell: Cell) -> bool:
    return cell.text.startswith(("発注", "納期"))


@pytest.mark.parametrize(
    "line",
    [
        "2026/02/09 10:15  FROM: 大塚商事  03-1234-5678",
        "2026年02月09日(月) 10時15分 大塚商事",
        "２０２６．０２．０９　１０：１５　大塚商事",
        "02/09 10:15 ﾌｧｸｽ P.1/1",
        "大塚商事 P.01/02",
        "FAX 03-1234-5678 PAGE 1/2",
        "大塚商事   1/2頁",
    ],
)
def test_a_header_line_is_taken_out(line: str) -> None:
    found, rest = split_transmission(cells(line, "発注書", "発注日: 2026/3/1"), 3)
    assert found is not None
    assert found.page == 3
    assert [c.text for c in rest] == ["発注書", "発注日: 2026/3/1"]


def test_what_the_header_line_says() -> None:
    line = "2026/02/09 10:15  P.1/3  FROM: 大塚商事 03-1234-5678"
    found, _ = split_transmission(cells(line), 1)
    assert found is not None
    assert found.sender == "大塚商事 03-1234-5678"
    assert found.time.strip() == "2026/02/09 10:15"
    assert found.page_text.strip() == "P.1/3"
    assert found.raw == line


def test_the_parts_have_no_spaces_around_them() -> None:
    found, _ = split_transmission(cells("2026/02/09 10:15  大塚商事  P.1/3"), 1)
    assert found is not None
    assert (found.time, found.page_text) == ("2026/02/09 10:15", "P.1/3")


def test_the_sender_ends_where_the_page_count_begins() -> None:
    found, _ = split_transmission(cells("2026/02/09 10:15  FROM: 大塚商事  P.1/3"), 1)
    assert found is not None
    assert found.sender == "大塚商事"


def test_pieces_at_one_height_are_one_line() -> None:
    head = (placed("2026/02/09 10:15", 100, 20), placed("FROM: 大塚商事", 700, 22))
    count = placed("P.1/1", 1500, 19)
    body = (placed("発注書", 700, 200), placed("発注日: 2026/3/1", 1200, 260))
    found, rest = split_transmission((*head, count, *body), 1)
    assert found is not None
    assert found.sender.startswith("大塚商事")
    assert found.time
    assert found.page_text
    assert rest == body


@pytest.mark.parametrize(
    "line", ["発注日: 2026/3/1", "納期 3月1日", "TEL 03-1234-5678", "P-12 ボルト", "M6×20", ""]
)
def test_a_date_or_a_code_alone_is_no_header_line(line: str) -> None:
    given = cells("発注書", line)
    assert split_transmission(given, 1) == (None, given)


def test_nothing_in_nothing_out() -> None:
    assert split_transmission((), 1) == (None, ())


def test_a_time_far_down_the_page_is_data() -> None:
    given = cells(*"abcdefghij", "納期: 2026/3/3 15:00")
    assert split_transmission(given, 1) == (None, given)


@pytest.mark.parametrize("line", ["納期: 2026/3/3 15:00 必着", "発注日時 2026年2月9日 10:15"])
def test_a_labelled_date_with_a_time_is_data(line: str) -> None:
    given = cells("発注書", line)
    assert split_transmission(given, 1, is_labelled) == (None, given)


def test_a_printed_page_count_takes_no_data_with_it() -> None:
    title = placed("発注書", 700, 100)
    number = placed("発注番号: 2602-305", 100, 200)
    _, rest = split_transmission((title, number, placed("1/2頁", 1500, 200)), 1, is_labelled)
    assert number in rest


def test_labelled_dates_with_a_time_in_a_whole_order(forms) -> None:
    text = forms.order_text.replace("発注日: 2026年2月9日(月)", "発注日: 2026年2月9日 10:15")
    (order,), transmissions = forms.read(text.replace("2026/3/3", "2026/3/3 15:00必着"))
    assert transmissions == ()
    assert str(order.fields["order_date"].value) == "2026-02-09"
    assert str(order.fields["due_date"].value) == "2026-03-03"


def test_the_header_line_is_never_the_order_date(forms) -> None:
    head = "2026/01/01 10:15  FROM: 大塚商事  P.1/1"
    order = forms.one(f"{head}\n\n{forms.order_text}")
    assert str(order.fields["order_date"].value) == "2026-02-09"
    bare = forms.order_text.replace("発注日: 2026年2月9日(月)\n\n", "")
    (order,), (transmission,) = forms.read(f"{head}\n\n{bare}")
    assert order.fields["order_date"].value is None
    assert transmission.time.startswith("2026/01/01")


def test_every_page_has_its_own(forms) -> None:
    pages = [f"02/09 10:15  P.{n}/2\n\n{forms.order_text}" for n in (1, 2)]
    _, transmissions = forms.read(*pages)
    assert [t.page for t in transmissions] == [1, 2]
