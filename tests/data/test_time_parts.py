"""Columns that hold parts of a time: hours, periods and seconds of days, and time since a start."""

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading.clocks import are_seconds_of_day, elapsed_seconds, go_on_all_day
from forecast_attn.data.reading.joined import with_joined


@pytest.mark.slow
def test_half_hours_of_a_day_in_march_leave_the_skipped_hour_out() -> None:
    day = ["2023-03-26"] * 46 + ["2023-03-27"] * 48
    frame = pd.DataFrame({"date": day, "period": [*range(1, 47), *range(1, 49)], "y": 1.0})
    joined = with_joined(frame, DataConfig(time="date,period"), "")["date,period"]
    assert joined.iloc[[1, 2, 45, 46, 48]].tolist() == [
        *("2023-03-26 00:30", "2023-03-26 02:00", "2023-03-26 23:30", "2023-03-27 00:00", "2023-03-27 01:00")
    ]


@pytest.mark.slow
def test_the_first_period_of_a_day_begins_at_midnight_beside_year_month_and_day() -> None:
    frame = pd.DataFrame({"Year": 2024, "Month": 3, "Day": [4] * 24 + [5] * 24, "Period": [*range(1, 25)] * 2})
    joined = with_joined(frame, DataConfig(time="Year,Month,Day,Period"), "")["Year,Month,Day,Period"]
    assert joined.iloc[[0, 23, 24]].tolist() == ["2024-03-04 00:00", "2024-03-04 23:00", "2024-03-05 00:00"]


@pytest.mark.parametrize(
    ("numbers", "are_seconds", "all_day"),
    [
        (range(0, 86400, 300), True, True),
        (range(0, 86400, 3600), True, True),
        (range(7200, 36000, 300), True, False),  # of a table of the morning, which goes on from another one
        (range(24), False, None),
        (range(1, 1441), False, None),
        ([0, 30, 100, 130, 2300, 2330], False, None),
        (range(0, 2400, 300), False, None),  # every three hours
        (range(0, 86400, 30), False, None),
    ],
)
def test_numbers_count_seconds_of_days_by_whole_minutes(numbers, are_seconds, all_day) -> None:
    column = pd.Series(np.tile(np.array(numbers), 3))
    assert are_seconds_of_day(column) == are_seconds
    assert all_day is None or go_on_all_day(column) == all_day


def test_a_day_and_its_seconds_are_a_stamp() -> None:
    frame = pd.DataFrame({"day": ["2017-05-04"] * 288, "interval": range(0, 86400, 300), "y": 1.0})
    joined = with_joined(frame, DataConfig(time="day,interval"), "")["day,interval"]
    assert joined.iloc[[0, 1, 287]].tolist() == ["2017-05-04 00:00", "2017-05-04 00:05", "2017-05-04 23:55"]


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["0 days 23:00:00", "1 days 00:30:00"], [82800, 88200]),
        (["23:00:00", "1 day, 0:30:00"], [82800, 88200]),
        (["-1 days 23:00:00", "0 days 00:00:00"], [-3600, 0]),
        (["23:00:00", "23:30:00"], None),
        (["1 day", "a day"], None),
    ],
)
def test_times_since_a_start(cells: list[str], seconds: list[float] | None) -> None:
    read = elapsed_seconds(pd.Series(pd.Categorical(cells)))
    assert read is None if seconds is None else [*read] == seconds
