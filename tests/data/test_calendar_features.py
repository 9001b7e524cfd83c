"""Calendar features vary where they should, and nowhere else."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.config.values import CALENDAR_FEATURES
from forecast_attn.data.calendar_features import Calendar, calendar_of, varying_features
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.holidays import Holidays
from forecast_attn.errors import ConfigError, DataError

ALIASES = ["s", "15min", "h", "D", "B", "W-SUN", "MS", "ME", "QS-JAN", "YS-JAN", "5"]


def auto(alias: str) -> Calendar:
    return Calendar.build("auto", parse_frequency(alias))


def stamps_of(alias: str, start: str, periods: int) -> np.ndarray:
    return pd.date_range(start, periods=periods, freq=alias).to_numpy().astype("datetime64[ns]")


def features(alias: str, start: str, periods: int) -> np.ndarray:
    return auto(alias).features(stamps_of(alias, start, periods))


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
def test_names_by_frequency(alias: str, names: list[str]) -> None:
    assert list(auto(alias).names) == names


@pytest.mark.parametrize("alias", ALIASES[:-1])
def test_shape_range_and_that_every_feature_varies(alias: str) -> None:
    periods = {"s": 400, "15min": 36_000, "h": 9_000, "YS-JAN": 40}.get(alias, 400)
    values = features(alias, "2023-01-01", periods)
    assert values.shape == (periods, len(auto(alias).names))
    assert values.dtype == np.float32
    assert np.abs(values).max(initial=0) <= 1
    if alias != "s":  # 400 seconds see no other day
        assert (np.ptp(values, axis=0) > 0.9).all()


def test_integer_axes_have_no_calendar() -> None:
    assert auto("1").features(np.arange(4)).shape == (4, 0)
    assert Calendar.build("none", parse_frequency("h")).features(stamps_of("h", "2024", 3)).shape == (3, 0)


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


# --------------------------------------------------------------------------- a list of names


def phase_by_datetime(name: str, stamp: datetime.datetime) -> float:
    """The same phase by Python's own calendar."""
    month_length = ((stamp.replace(day=1) + datetime.timedelta(days=32)).replace(day=1) - stamp.replace(day=1)).days
    return {
        "second_of_minute": stamp.second / 60,
        "minute_of_hour": (stamp.minute + stamp.second / 60) / 60,
        "hour_of_day": (stamp.hour + (stamp.minute + stamp.second / 60) / 60) / 24,
        "day_of_week": stamp.weekday() / 7,
        "day_of_month": (stamp.day - 1) / month_length,
        "day_of_year": (stamp.timetuple().tm_yday - 1) / 365.2425,
        "week_of_year": (stamp.isocalendar().week - 1) * 7 / 365.2425,
        "month_of_year": (stamp.month - 1) / 12,
        "quarter": (stamp.month - 1) // 3 / 4,
    }[name]


@pytest.mark.slow
@given(
    st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2250, 1, 1)).map(lambda s: s.replace(microsecond=0))
)
def test_every_feature_against_pythons_calendar(stamp: datetime.datetime) -> None:
    calendar = Calendar.build(",".join(CALENDAR_FEATURES), parse_frequency("s"))
    (features,) = calendar.features(np.array([stamp], "datetime64[ns]"))
    column = 0
    for name in CALENDAR_FEATURES:
        if name == "weekend":
            assert features[column] == (stamp.weekday() >= 5)
            column += 1
            continue
        angle = 2 * np.pi * phase_by_datetime(name, stamp)
        np.testing.assert_allclose(features[column : column + 2], [np.sin(angle), np.cos(angle)], atol=1e-5)
        assert calendar.names[column : column + 2] == (f"sin_{name}", f"cos_{name}")
        column += 2
    assert column == len(calendar.names)


def test_the_order_of_names_does_not_matter() -> None:
    hourly = parse_frequency("h")
    assert Calendar.build("weekend, Hour-of-day,weekend", hourly) == Calendar.build("hour_of_day,weekend", hourly)


@pytest.mark.parametrize("alias", [alias for alias in ALIASES if alias != "5"] + ["90min", "36h", "2D", "7D", "5MS"])
def test_what_is_said_to_vary_varies_and_the_rest_is_refused(alias: str) -> None:
    frequency = parse_frequency(alias)
    varying = varying_features(frequency)
    periods = 40_000 if alias in ("s", "15min", "90min") else 20_000 if alias == "h" else 100
    stamps = stamps_of(alias, "2023-12-29", periods)
    for name in varying:
        if (alias, name) not in {("s", n) for n in CALENDAR_FEATURES[3:]}:  # 40,000 seconds see no other day
            assert np.ptp(Calendar.build(name, frequency).features(stamps), axis=0).max() > 0.1, name
    for name in set(CALENDAR_FEATURES) - set(varying):
        with pytest.raises(ConfigError, match=f"--calendar {name} does not vary at the step {alias}"):
            Calendar.build(name, frequency)


def test_a_refusal_names_what_varies() -> None:
    with pytest.raises(ConfigError) as error:
        Calendar.build("hour_of_day", parse_frequency("MS"))
    assert error.value.hint == "features that vary: month_of_year, quarter"


@pytest.mark.parametrize(
    ("choice", "message", "hint"),
    [
        ("day_of_wek", "--calendar has no feature 'day_of_wek'", "did you mean 'day_of_week'?"),
        ("auto,weekend", "--calendar auto stands alone; got 'auto,weekend'", "a list of names"),
        (" , ", "--calendar is empty", "auto, none, or a list"),
    ],
)
def test_names_are_checked_before_any_table_is_read(choice: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        RunConfig.from_options({"calendar": choice})
    assert error.value.message == message
    assert hint in str(error.value.hint)


@pytest.mark.parametrize("choice", ["auto", "none", "hour_of_day,weekend"])
@pytest.mark.parametrize("holidays", [None, Holidays(dates=("2024-01-02",))])
def test_written_and_read_back(choice: str, holidays: Holidays | None) -> None:
    calendar = Calendar.build(choice, parse_frequency("h"), holidays)
    assert Calendar.from_dict(calendar.to_dict(), calendar.frequency) == calendar


@pytest.mark.parametrize("content", [{}, {"features": ["hour"]}, {"features": ["moon"], "holidays": None}])
def test_a_damaged_calendar_is_refused(content: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError)):
        Calendar.from_dict(content, parse_frequency("h"))


def test_from_the_options(tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text("date,name\n2024-12-24,Christmas Eve\n")
    config = DataConfig(calendar="weekend", holiday_dates=str(tmp_path / "days.csv"))
    expected = Calendar(("weekend",), parse_frequency("D"), Holidays(dates=("2024-12-24",)))
    assert calendar_of(config, parse_frequency("D")) == expected
    with pytest.raises(DataError, match=r"there is no file '.*none\.csv'"):
        calendar_of(DataConfig(holiday_dates=str(tmp_path / "none.csv")), parse_frequency("D"))


@pytest.mark.parametrize("dates", ["2024-01-01\n2024-02-01\n2024-03-01", "date\n1/2/2024\n01/03/2024"])
def test_no_option_reads_the_dates_of_holidays(tmp_path: Path, dates: str) -> None:
    (tmp_path / "days.csv").write_text(dates)
    with pytest.raises(DataError, match=r"days\.csv.*(has no header|day)") as error:
        calendar_of(DataConfig(holiday_dates=str(tmp_path / "days.csv")), parse_frequency("D"))
    assert error.value.hint == "a line with the word date, and below it days as YYYY-MM-DD"


def test_holidays_are_columns_after_the_cycles() -> None:
    calendar = Calendar.build("weekend", parse_frequency("h"), Holidays(dates=("2024-01-02",)))
    assert calendar.names == ("weekend", "holiday_dates")
    values = calendar.features(stamps_of("h", "2024-01-01", 72))
    np.testing.assert_array_equal(values[:, 1], np.repeat([0, 1, 0], 24))
    with pytest.raises(ConfigError, match="--holidays needs a time axis of dates"):
        Calendar.build("auto", parse_frequency("1"), Holidays(dates=("2024-01-02",)))
