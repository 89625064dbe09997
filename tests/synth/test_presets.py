from synth.presets import article_content, make_article


def test_the_article_has_twenty_scored_items():
    sheet = make_article(3, severity=1)
    assert len(sheet.scored) == 20
    assert len({ref for ref, _ in sheet.scored}) == 20
    texts = [t for _, t in sheet.scored]
    for text in ("発注書", "検収", "ステンレス鋼板 SUS304", "アルミ角材A6063", "50", "3,200"):
        assert text in texts
    assert any("大田区蒲田" in t for t in texts)
    assert sum("六角" in line.item for line in sheet.content.lines) >= 2
    assert sum("防錆" in line.item for line in sheet.content.lines) >= 2
    header = next(x for x in sheet.truth.markdown[0].splitlines() if x.startswith("|"))
    assert header == "| No | 品名 | 数量 | 単価 | 金額 |"


def test_only_the_company_depends_on_the_seed():
    one, two = article_content(1), article_content(2)
    assert one.buyer != two.buyer
    assert one.lines == two.lines
    assert one.total == two.total
    assert one.buyer.legal == "株式会社"
