"""Round places on axes, on the user's clock."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.data.zones import Zone
from forecast_attn.plotting.ticks import number_text, number_ticks, round_number, time_ticks

BERLIN = Zone("Europe/Berlin", "utc")


def stamps(first, last):
    return np.array([first, last], "datetime64[ns]")


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (-1, 1, 4, [-1, -0.5, 0, 0.5, 1]),
        (98, 153, 4, [100, 120, 140]),
        (0.0013, 0.0021, 4, [0.0014, 0.0016, 0.0018, 0.002]),
        (5, 5, 3, [5]),
    ],
)
def test_numbers_are_round(low, high, most, expected):
    assert number_ticks(low, high, most) == pytest.approx(expected)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1, 20),
)
def test_ticks_of_any_span_are_finite_and_few(first, second, most):
    low, high = sorted((first, second))
    ticks = number_ticks(low, high, most)
    assert len(ticks) <= 10 * most + 2
    assert all(np.isfinite(tick) for tick in ticks)
    assert ticks == sorted(ticks)
    assert all(isinstance(number_text(tick, round_number(high / 2 - low / 2)), str) for tick in ticks)


def test_neighbouring_ticks_read_differently():
    assert [number_text(value, 500) for value in (12_500, 13_000)] == ["12,500", "13,000"]
    assert [number_text(value, 0.05) for value in (-0.05, 0.1)] == ["-0.05", "0.10"]
    assert [number_text(value, 1) for value in (20_000_001.0, 20_000_002.0)] == ["20000001", "20000002"]
    assert [number_text(value, 1e9) for value in (0.0, 3e9)] == ["0", "3e+09"]


@given(st.floats(1e-300, 1e300))
def test_a_round_number_is_one_two_or_five_times_a_power_of_ten(value):
    number = round_number(value)
    assert value * (1 - 1e-9) <= number <= value * 2.5 * (1 + 1e-9)
    assert f"{number:.0e}"[0] in "125"


@pytest.mark.parametrize(
    ("first", "last", "most", "texts"),
    [
        ("2024-06-27T05", "2024-07-01T23", 5, ["Jun 28", "Jun 29", "Jun 30", "Jul 1"]),
        ("2024-06-30T21", "2024-07-01T09", 5, ["21:00", "Jul 1", "03:00", "06:00", "09:00"]),
        ("2023-11-15", "2024-03-02", 5, ["Dec", "2024", "Feb", "Mar"]),
        ("2019-05-01", "2024-03-02", 6, ["2020", "2021", "2022", "2023", "2024"]),
        ("2024-01-01T00:00:01", "2024-01-01T00:00:11", 3, ["00:00:05", "00:00:10"]),
        ("2024-01-01T00:00:00.2", "2024-01-01T00:00:01.4", 3, ["00:00:00.5", "00:00:01"]),
        ("2024-06-27T05:17", "2024-06-27T05:17", 5, ["05:17:00"]),
    ],
)
def test_times_are_round(first, last, most, texts):
    ticks = time_ticks(stamps(first, last), Zone(), most)
    assert [tick.text for tick in ticks] == texts
    assert all(np.datetime64(first) <= tick.stamp <= np.datetime64(last) for tick in ticks)


@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_times_are_round_on_the_users_clock_when_it_is_changed(day):
    hours = pd.date_range(f"{day} 00:00", periods=30, freq="h", tz="Europe/Berlin")
    axis = hours.tz_convert("UTC").tz_localize(None).to_numpy()
    for tick in time_ticks(axis, BERLIN, 12):
        wall = pd.Timestamp(tick.stamp, tz="UTC").tz_convert("Europe/Berlin")
        assert tick.text == (f"{wall:%b} {wall.day}" if wall == wall.normalize() else f"{wall:%H:%M}")
        assert wall.minute == 0


def test_steps_of_a_whole_number_axis_are_whole():
    ticks = time_ticks(np.array([100, 103]), Zone(), 8)
    assert [(tick.stamp, tick.text) for tick in ticks] == [(100, "100"), (101, "101"), (102, "102"), (103, "103")]


@given(
    st.datetimes(pd.Timestamp("1700-01-01").to_pydatetime(), pd.Timestamp("2228-01-01").to_pydatetime()),
    st.integers(0, 10**18),
    st.integers(1, 12),
)
def test_any_span_of_time_has_ticks_within(first, length, most):
    low = np.datetime64(first, "ns")
    axis = np.array([low, low + np.timedelta64(length, "ns")])
    ticks = time_ticks(axis, Zone(), most)
    assert 1 <= len(ticks) <= 3 * most + 2
    assert all(axis[0] <= tick.stamp <= axis[1] for tick in ticks)
