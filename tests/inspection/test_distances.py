"""Lags said as distances in time."""

import pytest

from forecast_attn.inspection.statistics import has_time_distances, time_distance


@pytest.mark.parametrize(
    ("frequency", "lag", "text"),
    [
        ("h", 0, "0h"),
        ("h", 23, "23h"),
        ("h", 30, "1d 6h"),
        ("2h", 13, "1d 2h"),
        ("15min", 3, "45min"),
        ("30s", 3, "1min 30s"),
        ("D", 28, "28d"),
        ("W-MON", 2, "14d"),
        ("MS", 0, "0mo"),
        ("ME", 11, "11mo"),
        ("MS", 26, "2y 2mo"),
        ("QE-DEC", 5, "1y 3mo"),
        ("YS", 3, "3y"),
        ("B", 5, "5 steps"),
        ("1", 5, "5 steps"),
    ],
)
def test_distance(frequency, lag, text):
    assert time_distance(frequency, lag) == text
    assert has_time_distances(frequency) == (not text.endswith("steps"))


def test_steps_finer_than_a_second() -> None:
    assert time_distance("100ms", 7) == "700ms"
    assert time_distance("us", 3) == "3us"
    assert time_distance("BME", 14) == "1y 2mo"
