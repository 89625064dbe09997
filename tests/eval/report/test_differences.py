from hypothesis import given, settings
from hypothesis import strategies as st

from eval.report.differences import Span, differences

texts = st.text("カガーミ三12-", max_size=8)


@settings(deadline=None, max_examples=80)
@given(texts, texts)
def test_the_pieces_are_what_was_read_and_what_is_not_lost_is_there(truth, read):
    spans = differences(truth, read)
    assert "".join(s.text for s in spans if s.kind != "lost") == read
    same = "".join(s.text for s in spans if s.kind == "same")
    assert len(same) <= min(len(truth), len(read))
    assert (truth == read) == all(s.kind == "same" for s in spans)


def test_each_kind():
    assert differences("カガミ", "カ力ミ") == (
        Span("カ", "same"),
        Span("力", "other"),
        Span("ミ", "same"),
    )
    assert differences("ーミ", "ミ") == (Span("ー", "lost"), Span("ミ", "same"))
    assert differences("12", "1.2") == (Span("1", "same"), Span(".", "more"), Span("2", "same"))
    assert differences("", "") == ()
