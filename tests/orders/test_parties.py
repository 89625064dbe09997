from __future__ import annotations

import pytest

from ocr_pipeline.orders.parties import addressee, crowded, sender
from ocr_pipeline.orders.text import plain
from ocr_pipeline.tables.transcript import Cell


def cells(*texts: str) -> list[Cell]:
    return [Cell(t) for t in texts]


def text(cell: Cell | None) -> str | None:
    return None if cell is None else cell.text


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["発注書", "株式会社大塚商事 御中"], "株式会社大塚商事"),
        (["発注書", "株式会社大塚商事御中"], "株式会社大塚商事"),
        (["発注書", "大塚商事 御 中 "], "大塚商事"),
        (["発注書", "大塚商事", "御中"], "大塚商事"),
        (["発注書", "大塚商事", " 御　中 "], "大塚商事"),
        (["山田太郎様"], "山田太郎"),
        (["山田商店 殿"], "山田商店"),
        (["大塚商事 御中", "山田様"], "大塚商事"),
        (["御中"], None),
        (["発注書", "山田様のご注文"], None),
        ([], None),
    ],
)
def test_the_addressee(lines: list[str], name: str | None) -> None:
    assert text(addressee(cells(*lines))) == name


def test_the_name_keeps_its_place(forms) -> None:
    cell = forms.cell("大塚商事", 100, 300)
    assert addressee([cell, forms.cell("御中", 400, 300)]) is cell


def test_the_sender_signs_with_address_and_telephone() -> None:
    lines = cells(
        "株式会社見本商事",
        "下記の通り発注します",
        *("平素より", "お世話に", "なって", "おります"),
        "株式会社大塚製作所",
        "〒144-0052 東京都大田区蒲田5-11-13",
        "TEL 03-1234-5678",
    )
    assert text(sender(lines, lines, None)) == "株式会社大塚製作所"


def test_the_addressee_is_never_the_sender() -> None:
    lines = cells("株式会社大塚商事", "御中", "TEL 03-1234-5678", "三栄化成", "TEL 03-1111-2222")
    assert text(sender(lines, lines, lines[0])) == "三栄化成"
    alone = cells("株式会社大塚商事 御中", "TEL 03-1234-5678")
    assert sender(alone, alone, alone[0].slice(0, 8)) is None


def test_nobody_signs() -> None:
    lines = cells("発注書", "納期 2026/3/3", "ボルト")
    assert sender(lines, lines, None) is None
    assert sender([], [], None) is None


@pytest.mark.parametrize(
    "name",
    ["㈱大塚", "(有)永田", "大塚商店", "三洋工業", "永田鉄工所", "合同会社ソンリ", "大塚電機部"],
)
def test_words_that_say_company(name: str) -> None:
    lines = cells("発注書", name, "東京都大田区蒲田5-11-13")
    assert text(sender(lines, lines, None)) == name


def test_a_name_without_a_word_for_company_stands_above_its_address(forms) -> None:
    name = forms.cell("ソンリメテック", 1100, 300)
    other = forms.cell("下記の通り", 100, 300)
    address = forms.cell("大阪府八尾市光町2-1-5", 1100, 340)
    lines = [other, name, address]
    assert sender([other, name], lines, None) is name


def test_above_the_telephone_when_there_is_no_address(forms) -> None:
    name = forms.cell("ソンリメテック", 1100, 300)
    lines = [name, forms.cell("TEL 06-1234-5678", 1100, 340)]
    assert sender([name], lines, None) is name


def test_of_two_companies_the_one_above_its_telephone(forms) -> None:
    delivery = forms.cell("株式会社見本倉庫", 100, 300)
    buyer = forms.cell("株式会社大塚製作所", 1100, 300)
    lines = [delivery, buyer, forms.cell("TEL 03-1234-5678", 1100, 340)]
    assert sender([delivery, buyer], lines, None) is buyer


def test_a_telephone_says_more_than_an_address_where_goods_go() -> None:
    delivery = ("株式会社見本倉庫", "大阪府八尾市光町", "", "", "", "")
    lines = cells(*delivery, "株式会社大塚製作所", "電話 03(1234)5678")
    assert text(sender(lines, lines, None)) == "株式会社大塚製作所"


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("株式会社大塚製作所 2026年2月9日", "株式会社大塚製作所"),
        ("株式会社大塚製作所  発行日2026/2/9", "株式会社大塚製作所"),
        ("有限会社永田発注日", "有限会社永田発注日"),
        ("永田有限会社発注日", "永田有限会社"),
        ("永田有限会社本店", "永田有限会社本店"),
    ],
)
def test_what_was_printed_into_the_name_is_cut_off(printed: str, name: str) -> None:
    lines = cells(printed, "TEL 03-1234-5678")
    assert text(sender(lines, lines, None, {plain("発注日")})) == name


def test_a_name_that_shares_its_line_with_a_label() -> None:
    lines = cells("株式会社大塚製作所 発注番号: A-1", "TEL 03-1234-5678")
    free = [lines[0].slice(0, 9)]
    assert text(sender(free, lines, None)) == "株式会社大塚製作所"


@pytest.mark.parametrize(
    ("other", "is_crowded"),
    [
        (("2026/2/9", 420, 300), True),
        (("2026/2/9", 395, 318), True),
        (("2026/2/9", 700, 300), False),
        (("2026/2/9", 420, 340), False),
        (("2026/2/9", 100, 340), False),
    ],
)
def test_print_that_touches_a_name(forms, other, is_crowded: bool) -> None:
    name = forms.cell("株式会社大塚製作所"[:10], 130, 300)
    assert name.quad is not None
    assert name.quad[1][0] == 400
    assert crowded(name, [name, forms.cell(*other)]) is is_crowded


def test_a_name_without_a_place_is_not_crowded() -> None:
    assert not crowded(Cell("株式会社大塚"), cells("株式会社大塚", "2026/2/9"))


def test_a_sentence_is_no_company() -> None:
    lines = cells("株式会社大塚製作所の契約に定める条件により" * 2)
    assert len(lines[0].text) > 40
    assert sender(lines, lines, None) is None
