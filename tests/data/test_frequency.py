"""Steps of time axes against pandas' own calendar arithmetic."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forecast_attn.config.options import MOST_STEPS
from forecast_attn.data.frequency import guess_alias, parse_frequency, step_name, with_season, with_sizes_of_years
from forecast_attn.errors import ConfigError

ALIASES = [
    *(
        "s",
        "30s",
        "min",
        "5min",
        "15min",
        "30min",
        "h",
        "2h",
        "6h",
        "D",
        "2D",
        "B",
        "W-SUN",
        "W-MON",
        "W-WED",
        "2W-FRI",
    ),
    *(
        "100ms",
        "500us",
        "BMS",
        "BME",
        "MS",
        "ME",
        "2MS",
        "6ME",
        "QS-JAN",
        "QS-FEB",
        "QE-DEC",
        "QE-OCT",
        "YS-JAN",
        "YS-JUL",
        "YE-DEC",
        "YE-JUN",
    ),
]


@pytest.mark.parametrize("alias", ALIASES)
def test_a_regular_axis_is_recognised(alias: str) -> None:
    stamps = pd.date_range("2023-11-05", periods=40, freq=alias).to_numpy().astype("datetime64[ns]")
    guessed = guess_alias(stamps)
    assert guessed is not None
    # Three of pandas' names may mean the same quarters, and 14 days are two weeks.
    again = pd.date_range(stamps[0], periods=40, freq=guessed).to_numpy().astype("datetime64[ns]")
    np.testing.assert_array_equal(again, stamps)
    if not alias.startswith("2W"):
        assert guessed == alias


@pytest.mark.parametrize("alias", ALIASES)
def test_steps_forward_and_back_are_pandas_own(alias: str) -> None:
    stamps = pd.date_range("2023-11-05", periods=30, freq=alias).to_numpy().astype("datetime64[ns]")
    frequency = parse_frequency(alias)
    np.testing.assert_array_equal(frequency.stamps_after(stamps[9], 20), stamps[10:])
    np.testing.assert_array_equal(frequency.shift(stamps[20:], -20), stamps[:10])
    np.testing.assert_array_equal(frequency.steps_between(stamps[:1].repeat(30), stamps), np.arange(30))


@pytest.mark.parametrize("alias", [*ALIASES, "3"])
def test_each_stamp_by_its_own_number_of_steps(alias: str) -> None:
    frequency = parse_frequency(alias)
    origin = np.int64(3) if alias == "3" else pd.date_range("2023-11-05", periods=1, freq=alias).to_numpy()[0]
    stamps = frequency.stamps_after(origin, 12)
    numbers = np.array([0, 3, -2, 3, 5])
    np.testing.assert_array_equal(frequency.shift(stamps[[2, 2, 2, 4, 5]], numbers), stamps[[2, 5, 0, 7, 10]])


@pytest.mark.parametrize("alias", ["h", "B", "ME", "QS-JAN", "7"])
def test_no_steps_are_no_stamps(alias: str) -> None:
    origin = np.int64(3) if alias == "7" else np.datetime64("2024-03-31", "ns")
    assert parse_frequency(alias).stamps_after(origin, 0).shape == (0,)


@pytest.mark.parametrize(
    ("alias", "later"),
    [
        ("D", "2024-01-02T12:00"),
        ("B", "2024-01-06"),
        ("MS", "2024-02-15"),
        ("ME", "2024-02-28"),
        ("QS-JAN", "2024-03-01"),
        ("YE-DEC", "2024-06-30"),
        ("W-MON", "2024-01-09"),
    ],
)
def test_stamps_off_the_grid_are_no_whole_number_of_steps_away(alias: str, later: str) -> None:
    first = {"ME": "2024-01-31", "YE-DEC": "2023-12-31"}.get(alias, "2024-01-01")
    steps = parse_frequency(alias).steps_between(
        np.array([first], "datetime64[ns]"), np.array([later], "datetime64[ns]")
    )
    assert steps[0] % 1 != 0


@pytest.mark.parametrize(
    ("alias", "sizes"),
    [
        ("h", (24, 24, 168)),
        ("30min", (48, 48, 336)),
        ("15min", (96, 96, 672)),
        ("5min", (288, 288, 2016)),
        ("min", (60, 60, 240)),
        ("s", (60, 60, 240)),
        ("D", (7, 7, 28)),
        ("B", (5, 5, 20)),
        ("W-SUN", (52, 13, 104)),
        ("MS", (12, 12, 36)),
        ("QE-DEC", (4, 4, 12)),
        ("YS-JAN", (1, 3, 9)),
        ("1", (1, 12, 48)),
    ],
)
def test_season_and_default_sizes(alias: str, sizes: tuple[int, int, int]) -> None:
    frequency = parse_frequency(alias)
    assert (frequency.season, frequency.default_horizon, frequency.default_lookback) == sizes


@pytest.mark.parametrize(
    ("alias", "within"), [("23h", True), ("24h", False), ("1440min", False), ("ms", True), ("B", False), ("5", False)]
)
def test_steps_shorter_than_a_day(alias: str, within: bool) -> None:
    assert parse_frequency(alias).is_within_day is within


@given(
    st.sampled_from(["s", "ms", "BME", "min", "h", "D", "B", "W-SUN", "MS", "ME", "QS-JAN", "YE-DEC", ""]),
    st.integers(1, 99),
)
@example("YE-DEC", 99)
def test_every_frequency_has_usable_sizes(unit: str, number: int) -> None:
    frequency = parse_frequency(f"{number}{unit}")
    assert frequency.season >= 1
    assert frequency.default_horizon >= 1
    assert frequency.default_lookback >= frequency.default_horizon
    assert parse_frequency(frequency.alias) == frequency


@pytest.mark.parametrize(("longest", "longer"), [("100YE-DEC", "101YE-DEC"), ("400QS", "401QS"), ("36500D", "36501D")])
def test_a_step_of_a_century_is_the_longest(longest: str, longer: str) -> None:
    assert parse_frequency(longest).years == 100
    with pytest.raises(ConfigError, match="100 years are the longest"):
        parse_frequency(longer)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(("H", "h"), ("T", "min"), ("15T", "15min"), ("S", "s"), ("M", "ME"), ("Q", "QE-DEC"), ("A", "YE-DEC")),
        *(
            ("W", "W-SUN"),
            ("AS", "YS-JAN"),
            ("q-mar", "QE-MAR"),
            ("d", "D"),
            ("QS", "QS-JAN"),
            (" 1h ", "h"),
            ("7", "7"),
            *(("L", "ms"), ("U", "us"), ("BM", "BME"), ("bms", "BMS"), ("Y", "YE-DEC"), ("A-JUN", "YE-JUN")),
            *(
                ("AS-APR", "YS-APR"),
                ("30S", "30s"),
                ("60MIN", "60min"),
                ("ME", "ME"),
                ("QE", "QE-DEC"),
                ("YS", "YS-JAN"),
            ),
            *(
                ("W-MON", "W-MON"),
                ("w-fri", "W-FRI"),
                ("10D", "10D"),
                ("2H", "2h"),
                ("4h", "4h"),
                ("B", "B"),
                ("b", "B"),
            ),
        ),
    ],
)
def test_old_and_new_names(old: str, new: str) -> None:
    assert parse_frequency(old).alias == new


@pytest.mark.parametrize("alias", ["", "x", "m", "hourly", "0h", "W-XYZ", "MS-JAN", "-1h", "1.5h", "h-MON"])
def test_unknown_names(alias: str) -> None:
    with pytest.raises(ConfigError, match="there is no frequency"):
        parse_frequency(alias)


def test_month_ends_are_not_days() -> None:
    stamps = np.array(["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"], "datetime64[ns]")
    assert guess_alias(stamps) == "ME"


def test_two_months_of_31_days_are_months() -> None:
    assert guess_alias(np.array(["2024-07-01", "2024-08-01", "2024-09-01"], "datetime64[ns]")) == "MS"


def test_weekdays_with_weekends_are_days() -> None:
    stamps = pd.date_range("2024-01-01", periods=20, freq="D").to_numpy().astype("datetime64[ns]")
    assert guess_alias(stamps) == "D"


def test_most_steps_decide() -> None:
    stamps = np.delete(
        pd.date_range("2024-01-01", periods=50, freq="h").to_numpy().astype("datetime64[ns]"), [7, 20, 21]
    )
    assert guess_alias(stamps) == "h"


def test_no_rule_no_alias() -> None:
    assert guess_alias(np.array(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-16"], "datetime64[ns]")) is None
    assert guess_alias(np.array([1, 2])) is None


def test_whole_numbers_step_by_their_increment() -> None:
    assert guess_alias(np.array([10, 15, 20, 25])) == "5"
    assert parse_frequency("5").stamps_after(np.int64(25), 2).tolist() == [30, 35]


@pytest.mark.parametrize(
    ("alias", "words"),
    [("h", "1 hour"), ("15min", "15 minutes"), ("W-SUN", "1 week (Sun)"), ("MS", "1 month (at its start)")],
)
def test_steps_in_words(alias: str, words: str) -> None:
    assert step_name(alias) == words


@pytest.mark.parametrize(
    ("alias", "season", "steps"),
    [
        ("h", "48", 48),
        ("h", "day", 24),
        ("h", "Week", 168),
        ("5min", "hour", 12),
        ("5min", "day", 288),
        ("D", "year", 365),
        ("B", "week", 5),
        ("W-SUN", "year", 52),
        ("MS", "quarter", 3),
        ("QS-JAN", "year", 4),
    ],
)
def test_a_season_is_given_in_steps_or_by_name(alias: str, season: str, steps: int) -> None:
    frequency = with_season(parse_frequency(alias), season)
    assert frequency.season == steps
    assert frequency.default_lookback >= steps
    assert frequency.default_horizon == parse_frequency(alias).default_horizon


def test_of_several_seasons_the_first_counts_and_the_lookback_covers_all() -> None:
    frequency = with_season(parse_frequency("h"), "day, 336")
    assert (frequency.season, frequency.default_lookback) == (24, 336)
    assert with_season(parse_frequency("h"), "day,").season == 24
    with pytest.raises(ConfigError):
        with_season(parse_frequency("h"), "24,,48")
    with pytest.raises(ConfigError) as misspelt:
        with_season(parse_frequency("h"), "dya")
    assert str(misspelt.value.hint).startswith("did you mean 'day'? ")


@pytest.mark.parametrize(
    ("alias", "season"), [("h", "0"), ("h", "minute"), ("7h", "day"), ("D", "month"), ("1", "year"), ("YS-JAN", "week")]
)
def test_a_season_of_no_whole_number_of_steps_is_refused(alias: str, season: str) -> None:
    with pytest.raises(ConfigError, match=f"--season {season} is not a whole number of steps"):
        with_season(parse_frequency(alias), season)


@pytest.mark.parametrize("season", ["10000001", "9" * 19, "9" * 5000])
def test_a_season_of_too_many_steps_is_refused(season: str) -> None:
    with pytest.raises(ConfigError, match="is more than 10,000,000 steps"):
        with_season(parse_frequency("D"), season)


def test_a_long_season_asks_for_no_lookback_that_cannot_be() -> None:
    weekly = with_season(parse_frequency("s"), "week")
    assert (weekly.season, weekly.default_lookback) == (604_800, MOST_STEPS)


def test_whole_numbers_that_are_years_have_the_sizes_of_years() -> None:
    years = with_sizes_of_years(parse_frequency("1"), np.arange(1871, 1971))
    assert (years.season, years.default_horizon, years.default_lookback) == (1, 3, 9)
    assert with_sizes_of_years(parse_frequency("1"), np.arange(100)) == parse_frequency("1")
    assert with_sizes_of_years(parse_frequency("2"), np.arange(1871, 1971, 2)) == parse_frequency("2")
