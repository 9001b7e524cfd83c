"""Which stamps are forecast from: strides on the clock and off it, dates in the user's zone, the end of the data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.backtest.cutoffs import Schedule
from forecast_attn.config.options import RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.runs.training_table import read_panel


def panel_of(stamps: object, **options: object) -> Panel:
    table = pd.DataFrame({"time": stamps, "y": np.arange(len(stamps), dtype=float) % 7})  # type: ignore[arg-type]
    return read_panel(table, RunConfig.from_options({"target": "y", **options}))[0]


def firsts(panel: Panel, schedule: Schedule, horizon: int = 24) -> list[str]:
    """The first stamps that are forecast, as the user sees them: a step after each cut-off."""
    cutoffs = schedule.cutoff_stamps(panel, horizon)
    return [panel.zone.stamp_text(stamp) for stamp in panel.frequency.shift(cutoffs, 1)]


BERLIN = pd.date_range("2024-01-01", "2024-12-31 23:00", freq="h", tz="Europe/Berlin")
HOURS = panel_of(BERLIN)
NAIVE = panel_of(pd.date_range("2024-01-01", "2024-12-31 23:00", freq="h"))


@pytest.mark.parametrize(("start", "days"), [("2024-03-29", 5), ("2024-10-25", 5)])
def test_days_keep_midnight_over_a_change_of_the_clock(start: str, days: int) -> None:
    end = pd.Timestamp(start) + pd.Timedelta(days=days - 1)
    cutoffs = firsts(HOURS, Schedule(start=start, end=str(end.date()), stride="1D"))
    assert [text[11:16] for text in cutoffs] == ["00:00"] * days
    assert len({text[16:] for text in cutoffs}) == 2  # both offsets
    assert [text[:10] for text in cutoffs] == [str(day.date()) for day in pd.date_range(start, periods=days)]


def test_hours_are_exact_over_a_change_of_the_clock() -> None:
    spring = firsts(HOURS, Schedule(start="2024-03-30", end="2024-04-01", stride="24h"))
    assert spring == ["2024-03-30 00:00+01:00", "2024-03-31 00:00+01:00", "2024-04-01 01:00+02:00"]
    autumn = firsts(HOURS, Schedule(start="2024-10-26", end="2024-10-27", stride="24h"))
    assert autumn == ["2024-10-26 00:00+02:00", "2024-10-27 00:00+02:00", "2024-10-27 23:00+01:00"]
    assert firsts(HOURS, Schedule(start="2024-10-26", end="2024-10-27", stride=24)) == autumn
    assert firsts(HOURS, Schedule(start="2024-10-26", end="2024-10-27")) == autumn  # the horizon


def test_an_hour_that_does_not_exist_or_comes_twice_is_forecast_once() -> None:
    spring = firsts(HOURS, Schedule(start="2024-03-30 02:00", end="2024-04-01 12:00", stride="1D"))
    assert spring == ["2024-03-30 02:00+01:00", "2024-03-31 03:00+02:00", "2024-04-01 02:00+02:00"]
    autumn = firsts(HOURS, Schedule(start="2024-10-26 02:00", end="2024-10-28 12:00", stride="1D"))
    assert autumn == ["2024-10-26 02:00+02:00", "2024-10-27 02:00+02:00", "2024-10-28 02:00+01:00"]


def test_months_keep_the_day_or_its_month_end() -> None:
    cutoffs = firsts(HOURS, Schedule(start="2024-01-31", stride="1MS", end="2024-05-31"))
    assert [text[:10] for text in cutoffs] == ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"]


def test_the_last_cutoffs_end_with_the_data() -> None:
    cutoffs = Schedule(cutoffs=3, stride="1D").cutoff_stamps(NAIVE, 24)
    assert [str(stamp)[:13] for stamp in cutoffs] == ["2024-12-28T23", "2024-12-29T23", "2024-12-30T23"]
    closer = Schedule(cutoffs=3, stride=2).cutoff_stamps(NAIVE, 5)
    assert [str(stamp)[:13] for stamp in closer] == ["2024-12-31T14", "2024-12-31T16", "2024-12-31T18"]


@pytest.mark.parametrize("stride", ["1D", "12h", "24h", 1])
def test_strides_of_one_cutoff_count_once(stride: str | int) -> None:
    """A Saturday, a Sunday and a Monday have the Friday before them."""
    days = panel_of(pd.bdate_range("2024-01-01", "2024-03-29"), freq="B")
    assert firsts(days, Schedule(cutoffs=4, stride=stride), horizon=3) == [
        "2024-03-22",
        "2024-03-25",
        "2024-03-26",
        "2024-03-27",
    ]
    assert len(firsts(days, Schedule(cutoffs=62, stride=stride), horizon=3)) == 62
    with pytest.raises(DataError, match="has 62 cut-offs of that stride; --cutoffs asks for 100,000,000,000") as error:
        firsts(days, Schedule(cutoffs=10**11, stride=stride), horizon=3)
    assert error.value.hint == "--cutoffs 62, or a smaller --stride"


def test_the_end_is_the_last_stamp_a_forecast_may_begin_with() -> None:
    assert firsts(NAIVE, Schedule(start="2024-06-01", end="2024-06-01", stride="12h")) == [
        "2024-06-01",
        "2024-06-01 12:00",
    ]
    assert firsts(NAIVE, Schedule(start="2024-06-01", end="2024-06-01 00:00", stride="12h")) == ["2024-06-01"]
    for end in ("2024-06-01T02", "2024-06-01 02", "2024-06-01T02:00"):
        assert firsts(NAIVE, Schedule(start="2024-06-01", end=end, stride=1))[-1] == "2024-06-01 02:00"
    assert firsts(NAIVE, Schedule(start="2024-06-01", end="2024-06-01T00", stride=1)) == ["2024-06-01"]
    last = firsts(NAIVE, Schedule(start="2024-12-29", end="2025-06-01", stride="1D"))
    assert last == ["2024-12-29", "2024-12-30", "2024-12-31"]  # whose horizon ends with the data


def test_the_cutoff_is_the_last_row_before_a_start_that_is_no_row() -> None:
    days = panel_of(pd.bdate_range("2024-01-01", "2024-03-29"), freq="B")
    schedule = Schedule(start="2024-02-03", end="2024-02-06", stride="1D")  # Saturday to Tuesday
    assert firsts(days, schedule, horizon=3) == ["2024-02-05", "2024-02-06"]
    assert firsts(NAIVE, Schedule(start="2024-02-03 00:30", end="2024-02-03 02:00", stride=1)) == [
        "2024-02-03 01:00",
        "2024-02-03 02:00",
    ]


def test_axes_of_whole_numbers_and_of_months() -> None:
    steps = panel_of(np.arange(100, 160))
    assert firsts(steps, Schedule(start="120", end="132", stride=6), horizon=3) == ["120", "126", "132"]
    with pytest.raises(ConfigError, match="the time axis counts steps"):
        firsts(steps, Schedule(start="2024-01-01", stride=6))
    with pytest.raises(ConfigError, match="--stride is a time"):
        firsts(steps, Schedule(start="120", stride="6h"))
    months = panel_of(pd.date_range("2018-01-31", periods=60, freq="ME"))
    cutoffs = firsts(months, Schedule(start="2021-01-31", end="2021-12-31", stride=3), horizon=3)
    assert cutoffs == ["2021-01-31", "2021-04-30", "2021-07-31", "2021-10-31"]


@pytest.mark.parametrize(
    ("stride", "last"), [(200, "2006-09-01"), ("10YS", "2010-01-01"), ("200YS", "1990-01-01"), (10**17, "1990-01-01")]
)
def test_strides_of_decades_are_not_followed_beyond_the_end_of_time(stride: int | str, last: str) -> None:
    months = panel_of(pd.date_range("1950-01-01", periods=800, freq="MS"))
    assert firsts(months, Schedule(start="1990-01-01", stride=stride), horizon=12)[-1] == last
    assert len(firsts(months, Schedule(cutoffs=1, stride=stride), horizon=12)) == 1


@pytest.mark.parametrize("stride", [1, 7, "1D", "36h", "1W", "1MS"])
@pytest.mark.parametrize("start", ["2024-01-09 01:00", "2024-03-30 02:00", "2024-10-26 02:00"])
def test_all_strides_up_to_the_end_are_there(start: str, stride: int | str) -> None:
    schedule = Schedule(start=start, stride=stride, end="2024-11-30")
    cutoffs = firsts(HOURS, schedule)
    more = firsts(HOURS, Schedule(start=start, stride=stride, end="2024-12-29"))
    assert cutoffs == [stamp for stamp in more if stamp[:10] <= "2024-11-30"]


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (Schedule(start="2024-05-01", stride="90min"), "not a multiple of a step, 1 hour"),
        (Schedule(start="2024-05-01T00:00+02:00"), "--start '2024-05-01T00:00+02:00'"),
        (Schedule(start="05/04/2024"), "--start '05/04/2024'"),
        (Schedule(), "there is no cut-off to begin with"),
        (Schedule(start="2024-05-04", end="2024-05-03"), "--end 2024-05-03 is before the first forecast, 2024-05-04"),
    ],
)
def test_schedules_that_do_not_fit_are_refused(schedule: Schedule, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        schedule.cutoff_stamps(NAIVE, 24)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_date_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--start '2024-03-31 02:30': .*does not exist in Europe/Berlin"):
        Schedule(start="2024-03-31 02:30").cutoff_stamps(HOURS, 24)


def test_dates_are_read_on_the_clock_of_the_data() -> None:
    """Offsets of the table are one clock; a form of three numbers is the table's."""
    fixed = panel_of([f"{stamp:%Y-%m-%d %H:%M}+02:00" for stamp in pd.date_range("2024-05-01", periods=96, freq="h")])
    assert firsts(fixed, Schedule(start="2024-05-03", end="2024-05-03"), 24) == ["2024-05-03 00:00+02:00"]
    assert firsts(fixed, Schedule(start="2024-05-03T00:00Z", end="2024-05-03"), 22) == ["2024-05-03 02:00+02:00"]
    german = panel_of([f"{stamp:%d.%m.%Y %H:%M}" for stamp in pd.date_range("2024-05-01", periods=960, freq="h")])
    for start in ("03.06.2024", "2024-06-03"):
        assert firsts(german, Schedule(start=start, end=start)) == ["2024-06-03"]


@pytest.mark.parametrize(
    "text", ["", "x", "-3", "0", "0D", "1.5h", "3 parsecs", "5m", "9" * 5000, "99999999999D", "9999999999h", "201YS"]
)
def test_strides_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--stride") as error:
        Schedule(stride=text)
    assert error.value.hint


@pytest.mark.slow
@settings(max_examples=40)
@given(
    first=st.integers(0, 300),
    stride=st.sampled_from([("1D", "D"), ("2D", "2D"), ("1W", "7D"), ("36h", "36h"), (7, "7h")]),
    horizon=st.integers(1, 60),
)
def test_it_agrees_with_pandas(first: int, stride: tuple[str | int, str], horizon: int) -> None:
    """Days on the wall clock of Berlin, hours in UTC, as pandas counts them."""
    start = pd.Timestamp("2024-01-02") + pd.Timedelta(days=first)
    stride_text, alias = stride
    last = BERLIN[len(BERLIN) - horizon]
    begin = start.tz_localize("Europe/Berlin")
    if alias.endswith("h"):
        expected = pd.date_range(begin.tz_convert("UTC"), last.tz_convert("UTC"), freq=alias)
    else:
        step = pd.Timedelta(alias if alias != "D" else "1D").days
        walls = pd.date_range(start, last.tz_localize(None), freq=f"{step}D")
        expected = walls.tz_localize("Europe/Berlin").tz_convert("UTC")
        expected = expected[expected <= last]
    try:
        cutoffs = Schedule(start=str(start.date()), stride=stride_text).cutoff_stamps(HOURS, horizon)
    except DataError:
        assert not len(expected)
        return
    assert (pd.DatetimeIndex(cutoffs) + pd.Timedelta("1h")).tolist() == expected.tz_localize(None).tolist()
