"""Calendars of their own: business days with holidays, opening hours, nights and closed weekdays."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dateutil.easter import easter
from pandas.tseries.holiday import USFederalHolidayCalendar
from pandas.tseries.offsets import CustomBusinessDay, CustomBusinessHour

from forecast_attn.config.options import DataConfig
from forecast_attn.data.closures import _easter, calendar_by_evidence, opened_by, with_closures_of
from forecast_attn.data.findings import Finding
from forecast_attn.data.frequency import parse_frequency, season_steps, step_name
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError

HOLIDAYS = USFederalHolidayCalendar().holidays("2012-01-01", "2021-12-31")
EXCHANGE = pd.date_range("2012-01-03", "2018-12-31", freq=CustomBusinessDay(holidays=list(HOLIDAYS)))


def stamps_of(index: pd.DatetimeIndex) -> np.ndarray:
    return index.to_numpy().astype("datetime64[ns]")


DAYS = pd.date_range("2024-01-01", periods=100)
HOURS = pd.date_range("2024-01-01", periods=24 * 40, freq="h")


def trading(first: str = "2023-01-02", last: str = "2023-06-30") -> pd.DatetimeIndex:
    index = pd.date_range(first, last, freq="30min")
    return index[(index.day_of_week < 5) & (index.hour * 60 + index.minute >= 570) & (index.hour < 16)]


def test_business_days_with_holidays_are_those_of_pandas() -> None:
    frequency = parse_frequency(f"B(closed {' '.join(str(day.date()) for day in HOLIDAYS)})")
    stamps = stamps_of(EXCHANGE)
    assert (frequency.steps_between(stamps[:-1], stamps[1:]) == 1).all()
    for steps in (1, 7, 300):
        np.testing.assert_array_equal(frequency.shift(stamps[:-steps], steps), stamps[steps:])
        np.testing.assert_array_equal(frequency.shift(stamps[steps:], -steps), stamps[:-steps])
    days = stamps_of(pd.date_range("2012-12-20", "2013-01-06"))  # from a day without a step to the next one, and back
    offset = CustomBusinessDay(holidays=list(HOLIDAYS))
    np.testing.assert_array_equal(frequency.shift(days, 1), stamps_of(pd.DatetimeIndex([d + offset for d in days])))
    np.testing.assert_array_equal(frequency.shift(days, -1), stamps_of(pd.DatetimeIndex([d - offset for d in days])))
    assert (frequency.steps_between(days[:1], days[-1:]) % 1).item() == 0.5  # a Sunday is no step


def test_opening_hours_are_those_of_pandas() -> None:
    alias = "h(Mon-Fri 09:00-16:00; closed 2024-12-25)"
    frequency = parse_frequency(alias)
    hours = pd.date_range("2024-12-20 09:00", periods=60, freq=CustomBusinessHour(holidays=["2024-12-25"]))
    np.testing.assert_array_equal(frequency.stamps_after(stamps_of(hours)[0], 59), stamps_of(hours)[1:])
    assert (frequency.season, frequency.default_horizon, frequency.default_lookback) == (8, 8, 40)
    assert (season_steps(alias, "day"), season_steps(alias, "week"), season_steps(alias, "year")) == (8, 40, 0)
    assert step_name(alias) == "1 hour (Mon-Fri 09:00-16:00, 1 day closed)"


@pytest.mark.parametrize(
    "alias",
    [
        "B(closed 2024-12-25 2025-01-01)",
        "D(Mon-Sat)",
        "D(Mon-Thu; Sun)",
        "15min(Mon-Fri 09:00-11:15 12:30-14:45)",
        "h(Mon-Thu 00:00-16:00 18:00-23:00; Fri 00:00-16:00; Sun 18:00-23:00)",
        "30s(Mon-Sun 08:00:30-19:00)",
    ],
)
def test_an_alias_is_read_as_it_is_written(alias: str) -> None:
    assert parse_frequency(alias).alias == alias
    assert parse_frequency(alias).base == alias.partition("(")[0]


@pytest.mark.parametrize(
    "alias",
    [
        *("B()", "B(", "B(closed x)", "B(closed 9999-01-01)", "B(Mon-Tue)", "D(Fri-Mon)", "D(Mon 09:00-10:00)"),
        *("h(Mon)", "h(Mon 10:00-09:00)", "h(Mon 09:00-09:30)", "h(Mon 25:00-26:00)"),
        "h(Mon 09:00-10:00; Mon 10:00-11:00)",
        *("W(Mon)", "MS(closed 2024-01-01)", "2D(Mon)", "99999D(Mon)", "12(Mon)", "h(Mon-Fri 09:00-10:00) x"),
    ],
)
def test_what_is_no_calendar_is_refused(alias: str) -> None:
    with pytest.raises(ConfigError):
        parse_frequency(alias)


def test_easter_is_that_of_dateutil() -> None:
    assert [_easter(year) for year in range(1900, 2200)] == [easter(year) for year in range(1900, 2200)]


# --------------------------------------------------------------------------- by evidence


def test_holidays_of_an_exchange_are_closed_days_and_come_again() -> None:
    alias = calendar_by_evidence(stamps_of(EXCHANGE), "B")
    assert alias is not None
    closed = pd.DatetimeIndex(parse_frequency(alias).sessions.closed)
    weekdays = HOLIDAYS[(HOLIDAYS.day_of_week < 5) & (EXCHANGE[0] < HOLIDAYS)]
    assert list(closed[closed <= EXCHANGE[-1]]) == list(weekdays[weekdays <= EXCHANGE[-1]])
    later = weekdays[(weekdays > EXCHANGE[-1]) & (weekdays != "2021-06-18")]  # Juneteenth is a holiday since then
    assert list(closed[closed > EXCHANGE[-1]]) == list(later)


@pytest.mark.parametrize(
    ("index", "step", "expected"),
    [
        (trading(), "30min", "30min(Mon-Fri 09:30-15:30)"),
        (trading()[trading().date != pd.Timestamp("2023-02-20").date()], "30min", "…; closed 2023-02-20)"),
        (DAYS[DAYS.day_of_week != 6], "D", "D(Mon-Sat)"),
        (DAYS[~DAYS.day_of_week.isin((4, 5))], "D", "D(Mon-Thu; Sun)"),
        (HOURS[HOURS.hour >= 8], "h", "h(Mon-Sun 08:00-23:00)"),
        (HOURS, "h", None),  # without breaks
        (pd.bdate_range("2024-01-01", periods=200), "B", None),
        (pd.bdate_range("2024-01-01", periods=400).delete(slice(100, 140)), "B", None),  # eight weeks are a gap
        (EXCHANGE.delete(slice(0, None, 9)), "B", None),  # a day in nine is lost by chance
        (pd.date_range("2024-01-01", periods=300).delete([50, 90, 200]), "D", None),
    ],
)
def test_what_the_rows_show(index: pd.DatetimeIndex, step: str, expected: str | None) -> None:
    alias = calendar_by_evidence(stamps_of(index), step)
    assert alias == expected or (expected and expected[0] == "…" and alias and alias.endswith(expected[1:]))


def test_days_lost_by_chance_are_no_holidays() -> None:
    days = pd.bdate_range("2014-01-01", "2019-12-31")
    lost = np.random.default_rng(0).choice(len(days), 60, replace=False)
    assert calendar_by_evidence(stamps_of(days.delete(lost)), "B") is None


def test_a_table_with_a_calendar_has_no_gaps_and_says_so() -> None:
    index = trading()
    frame = pd.DataFrame({"time": index, "price": np.arange(len(index)) % 7.0})
    notes: list[Finding] = []
    config = DataConfig()
    panel = build_panel(frame, resolve_roles(frame, config, "t"), config, source="t", report=notes.append)
    assert (panel.num_rows, panel.repairs) == (len(index), ())
    assert [note.code for note in notes] == ["FA215"]
    assert "Mon-Fri 09:30-15:30" in notes[0].message
    strict = DataConfig(freq="30min", missing="error")
    build_panel(frame, resolve_roles(frame, strict, "t"), strict, source="t", report=notes.append)
    assert {note.code for note in notes[1:]} == {"FA204"}  # a step that is given is kept


@pytest.mark.parametrize(
    ("write", "options"),
    [
        (lambda index: index, {}),
        (lambda index: index, {"freq": "30min(Mon-Fri 09:30-15:30)"}),
        (lambda index: index.astype(str), {"tz": "America/New_York"}),
        (lambda index: index.tz_convert("UTC").strftime("%Y-%m-%dT%H:%MZ"), {"tz": "America/New_York"}),
        (lambda index: index.tz_localize(None), {"tz": "America/New_York"}),
    ],
)
@pytest.mark.parametrize("last", ["2023-03-10", "2023-06-30"])  # the clock is put forward on 12 March
def test_opening_hours_are_those_of_the_wall_clock(
    as_panel: Callable, write: Callable, options: dict[str, str], last: str
) -> None:
    index = trading(last=last)
    panel = as_panel(pd.DataFrame({"time": write(index.tz_localize("America/New_York")), "y": 1.0}), **options)
    assert panel.frequency.alias == "30min(Mon-Fri 09:30-15:30)"
    assert panel.zone == Zone("America/New_York", "local")
    np.testing.assert_array_equal(panel.timestamps, stamps_of(index))


@pytest.mark.parametrize(("closed_at", "axis"), [((2,), "local"), ((1, 2, 3), "local"), ((4, 5), "utc"), ((), "utc")])
def test_hours_that_a_clock_skips_stay_in_utc_unless_closed(
    as_panel: Callable, closed_at: tuple[int, ...], axis: str
) -> None:
    hours = pd.date_range("2023-01-02", "2023-03-01", freq="h", tz="Europe/Berlin")
    panel = as_panel(pd.DataFrame({"time": hours[~hours.hour.isin(closed_at)], "y": 1.0}))
    assert panel.zone == Zone("Europe/Berlin", axis)


def test_opening_hours_in_utc_keep_their_offset(as_panel: Callable) -> None:
    panel = as_panel(pd.DataFrame({"time": trading(last="2023-06-30").tz_localize("UTC"), "y": 1.0}))
    assert (panel.frequency.alias, panel.zone) == ("30min(Mon-Fri 09:30-15:30)", Zone("UTC", "utc"))


def test_later_tables_open_and_close_days() -> None:
    frequency = parse_frequency("B(closed 2024-12-25)")
    days = pd.bdate_range("2024-11-01", "2025-01-31")
    assert with_closures_of(frequency, stamps_of(days)).sessions is None  # open at Christmas
    mourning = days[(days != "2024-12-25") & (days != "2025-01-09")]
    again = with_closures_of(frequency, stamps_of(mourning))
    assert again.alias == "B(closed 2024-12-25 2025-01-09)"
    assert with_closures_of(again, stamps_of(mourning)) is again
    assert opened_by(again, stamps_of(days[-20:])).alias == "B(closed 2024-12-25)"


@pytest.mark.slow
def test_a_forecast_falls_on_the_days_of_the_exchange(
    forecast: Callable, small: tuple[str, ...], tmp_path: Path
) -> None:
    rows = pd.DataFrame({"date": EXCHANGE, "close": np.sin(np.arange(len(EXCHANGE)) / 9) + 5})
    until = EXCHANGE.get_loc("2018-10-04")
    rows[: until + 1].to_csv(tmp_path / "a.csv", index=False)
    rows.to_csv(tmp_path / "b.csv", index=False)
    run = str(tmp_path / "run")
    few = ("--epoch-windows", "64", "--validation-windows", "32", "--max-epochs", "1")
    assert forecast("train", str(tmp_path / "a.csv"), "--out", run, *small, *few).code == 0
    assert forecast("predict", run).code == 0
    predicted = pd.read_csv(tmp_path / "run" / "predictions.csv", parse_dates=["timestamp"])["timestamp"]
    assert list(predicted) == list(EXCHANGE[until + 1 : until + 1 + len(predicted)])  # Columbus Day is left out
    out = str(tmp_path / "later.csv")
    assert forecast("predict", run, "--data", str(tmp_path / "b.csv"), "--out", out).code == 0
    assert pd.read_csv(out)["timestamp"][0] == "2019-01-02"
