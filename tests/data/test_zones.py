"""Time zones against pandas', the repeated and the absent hour, and nothing guessed about them."""

from collections.abc import Callable
from random import Random
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding, stop_at_errors
from forecast_attn.data.future import join_future
from forecast_attn.data.localise import axis_stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.timestamps import read_stamps
from forecast_attn.data.zone_names import OFFSETS
from forecast_attn.data.zones import Zone, checked_zone, in_zone
from forecast_attn.errors import ConfigError, DataError

AsPanel = Callable[..., Panel]

# Two of the northern hemisphere, half an hour of summer time, changes at midnight, summer time that ends for Ramadan,
# none at all with half an hour, and a day that never was.
ZONES = [
    *("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Casablanca"),
    *("Asia/Kolkata", "Pacific/Apia", "UTC"),
]


def local_hours(tz: str, start: str, periods: int, freq: str = "h") -> pd.DatetimeIndex:
    """Stamps with a zone, one step of elapsed time apart."""
    return pd.date_range(pd.Timestamp(start, tz=tz), periods=periods, freq=freq)


def naive(stamps: pd.DatetimeIndex) -> pd.DatetimeIndex:
    return stamps.tz_localize(None)


def in_utc(stamps: pd.DatetimeIndex) -> np.ndarray:
    return stamps.tz_convert("UTC").tz_localize(None).to_numpy().astype("datetime64[ns]")


def table(stamps: object, **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame({"time": stamps})
    return frame.assign(y=np.arange(float(len(frame))), **columns)


# --------------------------------------------------------------------------- the arithmetic


@pytest.mark.slow
@settings(max_examples=40)
@given(st.sampled_from(ZONES), st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=30))
def test_local_time_is_pandas_own(name: str, moments: list[int]) -> None:
    stamps = (np.array(moments) // 10**9 * 10**9).astype("datetime64[ns]")
    expected = pd.DatetimeIndex(stamps).tz_localize("UTC").tz_convert(ZoneInfo(name)).tz_localize(None)
    np.testing.assert_array_equal(Zone(name, "utc").local(stamps), expected.to_numpy().astype("datetime64[ns]"))


@pytest.mark.parametrize("name", ZONES)
def test_both_readings_of_a_wall_clock_are_pandas_own(name: str) -> None:
    wall = pd.date_range("2023-12-25", "2025-01-05", freq="15min")
    first, second = Zone(name, "utc").instants(wall.to_numpy())
    for instants, is_summer in ((first, True), (second, False)):
        expected = wall.tz_localize(name, ambiguous=np.full(len(wall), is_summer), nonexistent="NaT")
        exists = ~expected.isna()
        np.testing.assert_array_equal(instants[exists], in_utc(expected[exists]))
        np.testing.assert_array_equal(first > second, ~exists)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.sampled_from(ZONES), st.lists(st.integers(0, 3 * 10**9), min_size=1, max_size=20))
def test_axis_to_text_to_axis(name: str, seconds: list[int]) -> None:
    stamps = np.array(seconds, "datetime64[s]").astype("datetime64[ns]")
    zone = Zone(name, "utc")
    read = read_stamps(pd.Series(zone.text(stamps)))
    np.testing.assert_array_equal(read.stamps, stamps)
    np.testing.assert_array_equal(zone.local(stamps), stamps + read.offsets.astype("timedelta64[s]"))
    assert read_stamps(zone.column(stamps)).zone == name


@pytest.mark.slow
@settings(max_examples=20)
@given(st.sampled_from(ZONES[:5]), st.integers(0, 20_000))
def test_local_text_to_axis(name: str, days: int) -> None:
    """A sorted file of naive local half hours names its instants, through every change of the clock."""
    start = pd.Timestamp("1980-01-01", tz="UTC") + pd.Timedelta(days=days)
    stamps = pd.date_range(start, periods=24 * 2 * 200, freq="30min")
    wall = stamps.tz_convert(name).tz_localize(None)
    findings: list[Finding] = []
    column = pd.Series(wall, name="time")
    series = np.zeros(len(wall), np.int64)
    axis, bad = axis_stamps(column, Zone(name, "utc"), findings.append, series=series, item_ids=("a",))
    assert not bad.any()
    if findings:  # the file begins or ends inside the hour that comes twice
        assert {finding.code for finding in findings} == {"FA211"}
        first, second = Zone(name, "utc").instants(wall[[0, -1]].to_numpy())
        assert (first != second).any()
        return
    np.testing.assert_array_equal(axis, in_utc(stamps))


@pytest.mark.slow
def test_texts_of_every_kind() -> None:
    berlin = Zone("Europe/Berlin", "utc")
    stamps = np.array(["2024-03-31T00:30", "2024-03-31T01:30"], "datetime64[ns]")
    assert Zone("Europe/Berlin", "utc").text(stamps).tolist() == [
        "2024-03-31 01:30:00+01:00",
        "2024-03-31 03:30:00+02:00",
    ]
    assert Zone("+05:30", "utc").text(stamps)[0] == "2024-03-31 06:00:00+05:30"
    assert Zone("UTC", "utc").text(stamps[:1].astype("datetime64[D]"))[0] == "2024-03-31 00:00:00+00:00"
    assert Zone("Europe/Berlin").text(stamps)[0] == "2024-03-31 00:30:00"
    assert Zone().text(stamps.astype("datetime64[D]"))[0] == "2024-03-31"
    assert Zone().text(np.array([3, 4])).tolist() == ["3", "4"]
    assert Zone("Asia/Kolkata", "utc").stamp_text(np.datetime64("1890-01-01", "ns")).endswith("+05:21:10")
    assert berlin.stamp_text(stamps[1]) == "2024-03-31 03:30+02:00"
    assert Zone().stamp_text(np.int64(7)) == "7"


@pytest.mark.parametrize("zone", [Zone(), Zone("Europe/Berlin"), Zone("Europe/Berlin", "utc"), Zone("+01:00", "utc")])
def test_a_zone_survives_its_dictionary(zone: Zone) -> None:
    assert Zone.from_dict(zone.to_dict()) == zone


@pytest.mark.parametrize(
    "content", [{"name": None, "axis": "utc"}, {"name": "x/y", "axis": "utc"}, {"name": None, "axis": "?"}]
)
def test_a_damaged_dictionary_is_no_zone(content: dict[str, str | None]) -> None:
    with pytest.raises(ValueError, match="zone"):
        Zone.from_dict(content)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Berlin", "'Europe/Berlin'"),
        ("europe/berlin", "'Europe/Berlin'"),
        ("new york", "'America/New_York'"),
        ("Europe/Belrin", "'Europe/Berlin'"),
        ("Berln", "'Europe/Berlin'"),
        ("+01:00", "Europe/Berlin, or UTC"),
        ("../etc", "Europe/Berlin, or UTC"),
    ],
)
def test_an_unknown_zone_names_a_known_one(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="there is no time zone") as error:
        checked_zone(name)
    assert hint in str(error.value.hint)


def test_a_table_of_results_carries_the_zone() -> None:
    frame = pd.DataFrame({"cutoff": [0, 1], "timestamp": [1, 2]}, index=[5, 6])
    pd.testing.assert_frame_equal(in_zone(frame, Zone()), frame)
    dates = frame.astype("datetime64[ns]")
    shown = in_zone(dates, Zone("Europe/Berlin", "utc"))
    assert str(shown["cutoff"].dtype) == "datetime64[ns, Europe/Berlin]"
    assert (shown["cutoff"].dt.tz_convert("UTC").dt.tz_localize(None) == dates["cutoff"]).all()


# --------------------------------------------------------------------------- which zone an axis has


@pytest.mark.parametrize(
    ("stamps", "tz", "zone"),
    [
        (pd.date_range("2024-01-01", periods=50, freq="h"), None, Zone()),
        (pd.date_range("2024-01-01", periods=50, freq="h"), "Europe/Berlin", Zone("Europe/Berlin", "utc")),
        (pd.date_range("2024-01-01", periods=50), "Europe/Berlin", Zone("Europe/Berlin", "local")),
        (pd.date_range("2024-01-01", periods=50, freq="MS"), "Europe/Berlin", Zone("Europe/Berlin", "local")),
        (local_hours("Europe/Berlin", "2024-01-01", 50), None, Zone("Europe/Berlin", "utc")),
        (local_hours("Europe/Berlin", "2024-01-01", 50), "Asia/Tokyo", Zone("Asia/Tokyo", "utc")),
        (local_hours("Europe/Berlin", "2024-01-01", 50).map(str), None, Zone("+01:00", "utc")),
        (local_hours("UTC", "2024-01-01", 50).strftime("%Y-%m-%dT%H:%MZ"), None, Zone("+00:00", "utc")),
        (local_hours("Europe/Berlin", "2024-03-30", 50).map(str), None, Zone("+00:00", "utc")),
        (local_hours("Europe/Berlin", "2024-03-30", 50).map(str), "Europe/Berlin", Zone("Europe/Berlin", "utc")),
        (
            pd.date_range("2024-01-01", periods=50, freq="h", tz="dateutil/Europe/Berlin"),
            None,
            Zone("Europe/Berlin", "utc"),
        ),
        (np.arange(50), None, Zone()),
    ],
)
def test_the_zone_of_an_axis(as_panel: AsPanel, stamps: object, tz: str | None, zone: Zone) -> None:
    assert as_panel(table(stamps), tz=tz).zone == zone


def test_a_zone_for_whole_numbers_is_refused(as_panel: AsPanel) -> None:
    with pytest.raises(DataError, match="--tz Europe/Berlin does not fit a time column of whole numbers"):
        as_panel(table(np.arange(9)), tz="Europe/Berlin")


@pytest.mark.parametrize(
    ("zone", "offsets"),
    [
        ("Europe/Berlin", "+01:00, +02:00"),
        ("America/Los_Angeles", "-08:00, -07:00"),
        ("Australia/Sydney", "+10:00, +11:00"),
    ],
)
def test_different_offsets_are_told_with_a_zone_that_has_them(as_panel: AsPanel, zone: str, offsets: str) -> None:
    from forecast_attn.data.panel_building import build_panel
    from forecast_attn.data.roles import resolve_roles

    frame = table(local_hours(zone, "2024-01-01", 366 * 24).map(str))
    findings: list[Finding] = []
    config = DataConfig()
    build_panel(frame, resolve_roles(frame, config, "t"), config, source="t", report=findings.append)
    assert [(finding.code, finding.severity) for finding in findings] == [("FA209", "note")]
    assert offsets in findings[0].message
    assert f"--tz {zone}" in str(findings[0].hint)


@pytest.mark.parametrize("tz", [None, "Europe/Berlin"])
def test_local_midnights_with_offsets_are_days(as_panel: AsPanel, tz: str | None) -> None:
    days = pd.date_range("2024-03-01", "2024-11-30", tz="Europe/Berlin")
    panel = as_panel(table(days.map(lambda day: day.isoformat())), tz=tz)
    assert panel.frequency.alias == "D"
    np.testing.assert_array_equal(panel.timestamps, days.tz_localize(None).to_numpy().astype("datetime64[ns]"))


def test_days_that_begin_at_one_are_days(as_panel: AsPanel) -> None:
    """Chile puts its clock forward at midnight: the day of the change begins at 1:00."""
    days = pd.date_range("2024-08-01", "2024-10-30").tz_localize("America/Santiago", nonexistent="shift_forward")
    assert (days.hour == 1).sum() == 1
    panel = as_panel(table(days))
    assert panel.frequency.alias == "D"
    assert panel.zone == Zone("America/Santiago", "local")
    assert (panel.timestamps == panel.timestamps.astype("datetime64[D]")).all()


@pytest.mark.parametrize(
    ("write", "tz"),
    [
        (lambda hours: hours, None),
        (lambda hours: hours.tz_convert("UTC").astype(str), "Europe/Berlin"),
        (naive, "Europe/Berlin"),
    ],
)
@pytest.mark.parametrize("step", ["D", "MS"])
def test_hours_make_the_days_of_the_wall_clock(as_panel: AsPanel, write: Callable, tz: str | None, step: str) -> None:
    """Half hours are sorted all the same, though two of a Sunday in October come twice."""
    from forecast_attn.checking import check_table

    hours = local_hours("Europe/Berlin", "2024-10-01", 92 * 48 + 2, "30min")
    frame, options = table(write(hours)), {"tz": tz, "resample": step, "aggregate": "sum"}
    findings = check_table(frame, DataConfig(lookback=3, horizon=1, **options)).findings
    expected_codes = ["FA207"] if write is naive else []  # no offsets tell the hours apart
    assert [finding.code for finding in findings if finding.code.startswith("FA2")] == expected_codes
    panel = as_panel(frame, **options)
    expected = pd.Series(np.arange(float(len(hours))), naive(hours)).resample(step).sum()
    np.testing.assert_array_equal(panel.timestamps, expected.index.to_numpy())
    np.testing.assert_array_equal(panel.target, expected)


@pytest.mark.parametrize(
    ("zone", "step", "minutes"),
    [
        ("Asia/Kolkata", "h", {0}),
        ("Asia/Kathmandu", "30min", {0, 30}),
        ("Europe/Berlin", "h", {0}),
        ("Australia/Lord_Howe", "h", {0, 30}),  # hours of the half year on its clock would not be equally long
    ],
)
def test_hours_begin_on_the_clock_of_the_zone(as_panel: AsPanel, zone: str, step: str, minutes: set[int]) -> None:
    stamps = local_hours(zone, "2024-03-30", 14 * 96, "15min")
    frame = table(stamps, x=np.arange(14.0 * 96))
    options = {"resample": step, "future_covariates": ("x",)}
    panel = as_panel(frame.assign(y=frame["y"].where(frame.index < 13 * 96)), **options)
    shown = pd.DatetimeIndex(panel.timestamps, tz="UTC").tz_convert(zone)
    assert set(shown.minute) == minutes
    later = join_future(panel, frame[["time", "x"]], 4, "later.csv", options=DataConfig(**options))
    np.testing.assert_array_equal(later.future_covariates[-4:], panel.future_covariates[panel.num_known[0] :][:4])


def test_hours_of_varying_offsets_make_days_once_their_zone_is_given(as_panel: AsPanel) -> None:
    frame = table(local_hours("Europe/Berlin", "2024-03-25", 14 * 24).map(str))
    assert as_panel(frame, resample="D").zone == Zone("+00:00", "utc")
    assert as_panel(frame, resample="D", tz="Europe/Berlin").zone == Zone("Europe/Berlin", "local")


# --------------------------------------------------------------------------- names of zones


@pytest.mark.slow
def test_a_name_means_one_offset_wherever_it_is_used() -> None:
    """By the IANA database since 2000; RFC 2822 decides on CST, CDT and PST, which China, Cuba and Manila share."""
    offsets: dict[str, set[str]] = {}
    days = pd.date_range("2000-01-01", "2026-01-01", freq="14D", tz="UTC").to_pydatetime()
    for zone in sorted(available_timezones()):
        for stamp in days:
            local = stamp.astimezone(ZoneInfo(zone))
            offsets.setdefault(str(local.tzname()), set()).add(local.isoformat()[19:])
    others = {"CST": {"-05:00", "+08:00"}, "CDT": {"-04:00"}, "PST": {"+08:00"}, "MSK": {"+04:00"}, "KST": {"+08:30"}}
    for name in set(OFFSETS) - {"MEZ", "MESZ", "UT"}:
        assert offsets[name] - others.get(name, set()) == {OFFSETS[name]}, name


@pytest.mark.parametrize("date_format", ["%Y-%m-%d %H:%M %Z", "%b %d, %Y %I:%M:%S %p %Z", "%a, %d %b %Y %H:%M:%S %Z"])
@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Europe/Berlin", "Europe/Helsinki", "Pacific/Auckland"])
@pytest.mark.parametrize("is_given", [False, True])
@pytest.mark.slow
def test_a_year_with_names_of_zones(as_panel: AsPanel, zone: str, date_format: str, is_given: bool) -> None:
    stamps = local_hours(zone, "2024-01-01", 366 * 24)
    frame = table(stamps.strftime(date_format))
    panel = as_panel(frame, tz=zone, date_format=date_format if is_given else None)
    np.testing.assert_array_equal(panel.timestamps, in_utc(stamps))
    assert panel.zone == Zone(zone, "utc")
    one_name = frame.iloc[: 24 * 30]
    offset = stamps[0].isoformat()[19:]
    assert as_panel(one_name).zone == Zone(offset, "utc")


def test_days_with_names_of_zones_are_days(as_panel: AsPanel) -> None:
    days = pd.date_range("2024-01-01", "2024-12-31", tz="America/Los_Angeles")
    panel = as_panel(table(days.strftime("%Y-%m-%d %H:%M:%S %Z")))
    assert panel.frequency.alias == "D"
    np.testing.assert_array_equal(panel.timestamps, naive(days).to_numpy().astype("datetime64[ns]"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("BST", "--date-format '%Y-%m-%d %H:%M:%S BST' --tz Europe/London"),
        ("IST", "--date-format '%Y-%m-%d %H:%M:%S IST' --tz Asia/Kolkata"),
        ("ET", "--date-format '%Y-%m-%d %H:%M:%S ET' --tz America/New_York"),
    ],
)
def test_a_name_that_means_several_offsets_is_refused(as_panel: AsPanel, name: str, hint: str) -> None:
    hours = pd.date_range("2024-06-01", periods=50, freq="h")
    frame = table(hours.astype(str) + f" {name}")
    with pytest.raises(DataError, match=f"end in '{name}'") as error:
        as_panel(frame)
    assert hint in str(error.value.hint)
    panel = as_panel(frame, date_format=f"%Y-%m-%d %H:%M:%S {name}", tz=hint.split()[-1])  # as the hint says
    expected = hours.tz_localize(hint.split()[-1])
    np.testing.assert_array_equal(panel.timestamps, in_utc(expected))


def test_a_name_is_never_dropped(as_panel: AsPanel) -> None:
    """Neither one among others that are read, nor Moscow's of the years in which it meant another offset."""
    hours = pd.date_range("2024-03-30", periods=50, freq="h").astype(str)
    for cells in (hours[:30] + " GMT").append(hours[30:] + " BST"), hours.str.replace("2024", "2012") + " MSK":
        with pytest.raises(DataError, match=r"BST|MSK"):
            as_panel(table(cells))


# --------------------------------------------------------------------------- changes of the clock


@pytest.mark.parametrize(
    ("tz", "start", "freq"),
    [
        ("Europe/Berlin", "2024-01-01", "h"),
        ("Europe/Berlin", "2024-01-01", "15min"),
        ("America/New_York", "2024-01-01", "h"),
        ("Australia/Lord_Howe", "2024-01-01", "30min"),
        ("America/Santiago", "2024-01-01", "h"),
    ],
)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.slow
def test_a_year_of_local_stamps(as_panel: AsPanel, tz: str, start: str, freq: str, backward: bool) -> None:
    stamps = local_hours(tz, start, 366 * (24 if freq == "h" else 48 if freq == "30min" else 96), freq)
    frame = table(naive(stamps))
    panel = as_panel(frame[::-1] if backward else frame, tz=tz)
    np.testing.assert_array_equal(panel.timestamps, in_utc(stamps))
    np.testing.assert_array_equal(panel.target, frame["y"])
    days = pd.Series(1, stamps).groupby(stamps.date).sum()
    assert sorted(days.unique()) != [days.mode()[0]]  # the year has its short and its long day


def test_the_hours_of_the_two_days(as_panel: AsPanel) -> None:
    spring = as_panel(table(naive(local_hours("Europe/Berlin", "2024-03-31", 23))), tz="Europe/Berlin")
    assert spring.num_rows == 23
    assert spring.frequency.evidence == "22 of 22 steps are 1 hour"
    autumn = as_panel(table(naive(local_hours("Europe/Berlin", "2024-10-27", 25))), tz="Europe/Berlin")
    assert autumn.zone.text(autumn.timestamps)[2:4].tolist() == [
        "2024-10-27 02:00:00+02:00",
        "2024-10-27 02:00:00+01:00",
    ]


def test_two_series_each_by_its_own_order(as_panel: AsPanel) -> None:
    stamps = local_hours("Europe/Berlin", "2024-10-26", 60)
    frames = [table(naive(stamps), id=name) for name in "ab"]
    forward_and_backward = pd.concat([frames[0], frames[1][::-1]], ignore_index=True)
    panel = as_panel(forward_and_backward, tz="Europe/Berlin")
    np.testing.assert_array_equal(panel.target, np.tile(np.arange(60.0), 2))


@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.sampled_from(["2024-10-26", "2024-06-01", "2024-03-30"]))
def test_shuffled_rows_are_read_alike_or_refused(shuffled: Random, start: str) -> None:
    stamps = local_hours("Europe/Berlin", start, 60)
    order = list(range(60))
    shuffled.shuffle(order)
    findings: list[Finding] = []
    column = pd.Series(naive(stamps)[order], name="time")
    axis, _ = axis_stamps(
        column, Zone("Europe/Berlin", "utc"), findings.append, series=np.zeros(60, np.int64), item_ids=("a",)
    )
    if start == "2024-10-26" and column.is_monotonic_increasing:
        assert not findings
        np.testing.assert_array_equal(axis, in_utc(stamps))
    elif start == "2024-10-26" and not column.is_monotonic_decreasing:
        assert [finding.code for finding in findings] == ["FA211", "FA211"]
    elif start != "2024-10-26":
        assert not findings
        np.testing.assert_array_equal(axis, in_utc(stamps)[order])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda rows: rows.drop(27), "the series has it once"),
        (lambda rows: pd.concat([rows, rows.loc[[26, 27]]]).sort_values("time"), "it stands 4 times in the series"),
        (lambda rows: rows.sample(frac=1, random_state=0), "the series is not sorted in time there"),
    ],
)
def test_a_repeated_hour_that_cannot_be_told(as_panel: AsPanel, rows: Callable, message: str) -> None:
    frame = rows(table(naive(local_hours("Europe/Berlin", "2024-10-26", 60))))
    with pytest.raises(DataError, match=f"2024-10-27 02:00 at row .*comes twice in Europe/Berlin.*{message}") as error:
        as_panel(frame.reset_index(drop=True), tz="Europe/Berlin")
    assert "2024-10-27 02:00+02:00 or 2024-10-27 02:00+01:00" in str(error.value.hint)
    assert error.value.code == "FA211"
    assert frame["time"].iloc[error.value.row - 1] == pd.Timestamp("2024-10-27 02:00")


def test_quarter_hours_sorted_by_their_text_cannot_be_told(as_panel: AsPanel) -> None:
    frame = table(naive(local_hours("Europe/Berlin", "2024-10-26", 200, "15min"))).sort_values("time", kind="stable")
    with pytest.raises(DataError, match="not sorted in time there"):
        as_panel(frame, tz="Europe/Berlin")


def test_an_hour_that_does_not_exist(as_panel: AsPanel) -> None:
    frame = table(pd.date_range("2024-03-30", periods=60, freq="h"))
    with pytest.raises(DataError, match=r"2024-03-31 02:00 at row 27.*does not exist in Europe/Berlin") as error:
        as_panel(frame, tz="Europe/Berlin")
    assert (error.value.code, error.value.row) == ("FA210", 27)
    assert as_panel(frame).zone == Zone()


def test_steps_on_the_wall_clock_are_no_steps_in_time(as_panel: AsPanel) -> None:
    frame = table(pd.date_range("2024-03-29", periods=40, freq="6h"))
    with pytest.raises(DataError, match=r"jumps from 2024-03-31 00:00\+01:00 to 2024-03-31 06:00\+02:00") as error:
        as_panel(frame, tz="Europe/Berlin")
    assert "leave --tz out" in str(error.value.hint)


def test_sorted_local_rows_are_sorted(as_panel: AsPanel) -> None:
    """The clock goes back an hour, the rows do not."""
    from forecast_attn.checking import check_table

    frame = table(naive(local_hours("Europe/Berlin", "2024-10-20", 400)).astype(str))
    config = DataConfig(tz="Europe/Berlin", lookback=24, horizon=6)
    report = check_table(frame, config)
    assert [finding.code for finding in report.findings if finding.code.startswith("FA2")] == []
    assert report.series[0].duplicates == 0


# --------------------------------------------------------------------------- another table of a run


def read_on(zone: Zone, *cells: str) -> np.ndarray:
    column = pd.Series(cells, name="time")
    series = np.zeros(len(cells), np.int64)
    return axis_stamps(column, zone, stop_at_errors, series=series, item_ids=("a",))[0]


def test_another_table_may_write_its_offsets_or_not() -> None:
    berlin = Zone("Europe/Berlin", "utc")
    plain = read_on(berlin, "2024-06-01 10:00", "2024-06-01 11:00")
    np.testing.assert_array_equal(plain, read_on(berlin, "2024-06-01T08:00Z", "2024-06-01T11:00+02:00"))
    days = read_on(Zone("Europe/Berlin"), "2024-06-01", "2024-06-02")
    np.testing.assert_array_equal(days, read_on(Zone("Europe/Berlin"), "2024-06-01T00:00+02:00", "2024-06-01T22:00Z"))


def test_dates_of_a_run_may_have_a_zone_in_another_table() -> None:
    """Also across a change of the clock, where they are no days in UTC."""
    days = pd.date_range("2024-03-28", periods=8, tz="Europe/Berlin")
    column, series = pd.Series(days, name="time"), np.zeros(8, np.int64)
    for cells in (column, column.map(str)):
        stamps = axis_stamps(cells, Zone(), stop_at_errors, series=series, item_ids=("a",))[0]
        np.testing.assert_array_equal(stamps, naive(days).to_numpy().astype("datetime64[ns]"))


def test_another_table_must_say_its_zone_where_training_did() -> None:
    with pytest.raises(DataError, match=r"column '\w+' have no offset.*: row 1 is '2024-06-01 10:00'"):
        read_on(Zone("+01:00", "utc"), "2024-06-01 10:00", "2024-06-01 11:00")
    with pytest.raises(DataError, match="those of training have none"):
        read_on(Zone(), "2024-06-01T10:00Z", "2024-06-01T11:00Z")


def test_rows_of_other_series_are_no_stamps() -> None:
    column = pd.Series(["2024-06-01 10:00", "2024-10-27 02:00", "?"], name="time")
    stamps, bad = axis_stamps(
        column, Zone("Europe/Berlin", "utc"), stop_at_errors, series=np.array([0, -1, -1]), item_ids=("a",)
    )
    assert bad.tolist() == [False, False, True]
    assert np.isnat(stamps).tolist() == [False, True, True]
    none_of_interest = axis_stamps(
        column, Zone("+01:00", "utc"), stop_at_errors, series=np.full(3, -1), item_ids=("a",)
    )
    assert np.isnat(none_of_interest[0]).all()
