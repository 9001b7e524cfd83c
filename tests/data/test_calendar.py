"""Calendar features vary where they should, and nowhere else."""

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.calendar import calendar_features, calendar_names
from forecast_attn.data.frequency import parse_frequency

ALIASES = ["s", "15min", "h", "D", "B", "W-SUN", "MS", "ME", "QS-JAN", "YS-JAN", "5"]


def features(alias: str, start: str, periods: int) -> np.ndarray:
    stamps = pd.date_range(start, periods=periods, freq=alias).to_numpy()
    return calendar_features(stamps.astype("datetime64[ns]"), parse_frequency(alias))


@pytest.mark.parametrize(
    ("alias", "names"),
    [
        ("h", ["sin_day", "cos_day", "sin_week", "cos_week", "sin_year", "cos_year", "weekend"]),
        ("D", ["sin_week", "cos_week", "sin_year", "cos_year", "weekend"]),
        ("B", ["sin_week", "cos_week", "sin_year", "cos_year"]),
        ("W-SUN", ["sin_year", "cos_year"]),
        ("MS", ["sin_month_of_year", "cos_month_of_year"]),
        ("YS-JAN", []),
        ("5", []),
    ],
)
def test_names(alias: str, names: list[str]) -> None:
    assert list(calendar_names(parse_frequency(alias))) == names


@pytest.mark.parametrize("alias", ALIASES[:-1])
def test_shape_range_and_that_every_feature_varies(alias: str) -> None:
    periods = {"s": 400, "15min": 36_000, "h": 9_000, "YS-JAN": 40}.get(alias, 400)
    values = features(alias, "2023-01-01", periods)
    assert values.shape == (periods, len(calendar_names(parse_frequency(alias))))
    assert values.dtype == np.float32
    assert np.abs(values).max(initial=0) <= 1
    if alias != "s":  # 400 seconds see no other day
        assert (np.ptp(values, axis=0) > 0.9).all()


def test_integer_axes_have_no_calendar() -> None:
    assert calendar_features(np.arange(4), parse_frequency("1")).shape == (4, 0)


def test_midnight_noon_and_the_weekend() -> None:
    values = features("h", "2024-01-05", 48)  # a Friday and a Saturday
    np.testing.assert_allclose(values[0, :2], [0, 1], atol=1e-6)
    np.testing.assert_allclose(values[12, :2], [0, -1], atol=1e-6)
    np.testing.assert_array_equal(values[:, -1], np.repeat([0, 1], 24))


def test_the_same_month_of_other_years_is_the_same() -> None:
    values = features("ME", "2020-01-31", 36)
    np.testing.assert_array_equal(values[:12], values[24:])


def test_days_before_1970() -> None:
    assert features("D", "1960-01-02", 1)[0, -1] == 1  # a Saturday
