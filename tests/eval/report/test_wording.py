import pytest

from eval.report.figures import Share
from eval.report.wording import between, count, heat, percent, points, quantity, spoken


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50.0 %"),
        (0.9996, "99.96 %"),
        (0.99996, "99.996 %"),
        (0.9999999, "over 99.999 %"),
        (0.0004, "0.04 %"),
        (0.0000001, "under 0.001 %"),
    ],
)
def test_only_nothing_is_0_percent_and_only_all_is_100(value, text):
    assert percent(value).replace("\u00a0", " ") == text


def test_a_difference_has_its_sign():
    assert [points(v) for v in (0.012, -0.012, 0.0, 0.0001, None)] == [
        *("+1.2", "−1.2", "0", "+0.01", "–"),
    ]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Share(0.0, 0.0, 0.025, 120), "at most 2.5 %"),
        (Share(1.0, 0.975, 1.0, 120), "at least 97.5 %"),
        (Share(0.9, 0.85, 0.94, 120), "85.0 to 94.0 %"),
        (Share(1.0, 0.0, 1.0, 2), "too few to say"),
        (Share(0.5, None, None, 1), ""),
        (Share(1.0, 1.0, 1.0, 9), ""),
    ],
)
def test_intervals_in_words(share, text):
    assert between(share).replace("\u00a0", " ") == text


def test_small_things():
    assert count(12345) == "12\u202f345"
    assert quantity(None) == "–"
    assert quantity(0.12345) == "0.123"
    assert [heat(v) for v in (1.0, 0.995, 0.98, 0.9499, 0.0)] == ["h5", "h5", "h4", "h2", "h0"]
    assert spoken("missing_row") == "missing row"
