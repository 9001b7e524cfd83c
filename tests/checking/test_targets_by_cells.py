"""The column that is forecast by what its cells hold, and columns that are none: axes, codes, lags, counters."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, csv_rows, date_column, days, months, noise, values
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def load_with_its_forecast() -> pd.DataFrame:
    """The forecast goes on for a day that nobody has measured."""
    frame = pd.DataFrame({"Time": pd.date_range("2022-01-01", periods=480, freq="h"), "Load Forecast": values(480)})
    return frame.assign(**{"Actual Load": frame["Load Forecast"].where(frame.index < 456)})


def of_a_health_office() -> str:
    """The spending of the last year is known of one country only: of the others nothing is known ahead."""
    rows = [
        f"{name},{year},{v if year < 2015 or name == 'AF' else ''},{v + at}"
        for at, name in enumerate(("AF", "BE", "CH", "DE"))
        for year, v in zip(range(1990, 2016), values(26), strict=True)
    ]
    return "\n".join(["country,year,total spending,deaths", *rows])


def a_column_of_few_rows() -> pd.DataFrame:
    """Sales of discs are known of a third of the weeks."""
    discs = np.where(np.arange(90) % 3, np.nan, noise(90))
    week = pd.date_range("2020-01-06", periods=90, freq="W-MON").strftime("%Y-%m-%d")
    return pd.DataFrame({"week": week, "discs": discs, "tickets": noise(90), "staff": noise(90)})


def cases_known_in_some_years() -> pd.DataFrame:
    """Cases are known of half of the years; of the last one some countries have told these, all have told relapses."""
    frame = pd.DataFrame(
        itertools.product([f"land {at}" for at in range(20)], range(1980, 2014)), columns=["land", "year"]
    )
    is_told = (frame["year"] > 1996) & ((frame["year"] < 2013) | (frame["land"] < "land 13"))
    cases, relapses = frame["year"] * 2.0 + noise(len(frame)), noise(len(frame))
    return frame.assign(cases=cases.where(is_told), relapses=pd.Series(relapses).where(frame["year"] == 2013))


def prices_without_names() -> pd.DataFrame:
    """As gnuplot's example: the day, the first, highest, lowest and last price, and how many shares were sold."""
    first, last = noise(90), noise(90)
    prices = {"high": np.maximum(first, last) + 1, "low": np.minimum(first, last) - 1, "last": last}
    frame = pd.DataFrame({"day": days(90), "first": first, **prices, "volume": RNG.integers(1e6, 9e6, 90)})
    return frame.T.reset_index(drop=True).T.set_axis([f"column_{at}" for at in range(1, 7)], axis=1)


def orders_in_several_lines() -> pd.DataFrame:
    """The first line of an order has its number and its total, and two dates; the others repeat one of these."""
    lines = np.tile([True, False, True], 400)
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(RNG.integers(1, 600, 1200) * lines), "min")
    frame = pd.DataFrame(
        {"Paid at": stamps.strftime("%Y-%m-%d %H:%M"), "Created at": stamps.strftime("%Y-%m-%d %H:%M")}
    )
    frame["Paid at"] = frame["Paid at"].where(lines)
    parts = {name: np.where(lines, noise(1200), np.nan) for name in ("Subtotal", "Taxes", "Shipping", "Total")}
    return frame.assign(**parts, Price=noise(1200), Id=np.where(lines, 5 * 10**9 + np.arange(1200), np.nan))


def inverter_with_two_strings() -> str:
    """The newest row stands first; the meter never falls, and the power of each string is a part."""
    times = pd.date_range("2023-05-01", periods=600, freq="5min")
    parts = noise(600) * 90, noise(600) * 80
    lines = [
        f"{time:%Y-%m-%d %H:%M:%S},{one:.1f},{two:.1f},{one + two:.1f},{total:.1f}"
        for time, one, two, total in zip(times, *parts, (sum(parts) / 12000).cumsum() + 900, strict=True)
    ]
    return "\n".join(["Time,Ppv1(W),Ppv2(W),Ppv(W),EacTotal(kWh)", *reversed(lines)])


def appliances_in_tens() -> str:
    """Watt-hours in tens lie on one side of a circle, mostly."""
    times = pd.date_range("2016-01-11 17:00", periods=1500, freq="10min")
    used = (np.clip(RNG.gamma(2, 5, 1500), 1, 36).round() * 10).astype(int)
    lines = [
        f"{time:%Y-%m-%d %H:%M:%S},{use},{heat:.3f}" for time, use, heat in zip(times, used, noise(1500), strict=True)
    ]
    return "\n".join(["date,Appliances,T1", *lines])


def cases_so_far() -> pd.DataFrame:
    """All cases, and those of a day."""
    new = RNG.poisson(4000, 200)
    return pd.DataFrame({"date": days(200), "all_cases": new.cumsum(), "confirmed": new, "tests": noise(200) * 900})


def ages_of_persons() -> pd.DataFrame:
    """As a panel of wages: what goes up by one each year of each person is no target."""
    person, year = np.repeat(np.arange(10), 9), np.tile(np.arange(1980, 1989), 10)
    return pd.DataFrame({"nr": person, "year": year, "age": person + year - 1950, "wage": values(90)})


def months_with_switches() -> pd.DataFrame:
    """As ezanders: a column per month that says whether the row is of that month."""
    years, months = np.repeat(np.arange(1980, 1990), 12), np.tile(np.arange(1, 13), 10)
    frame = pd.DataFrame({"year": years, "month": months, "claims": values(120)})
    names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    return frame.assign(**{name: (months == at).astype(int) for at, name in enumerate(names, 1)})


def speed_limits() -> pd.DataFrame:
    """What stands still or is a switch comes after what moves."""
    years = np.tile(np.arange(1970, 2000), 3)
    limit = np.where(years < 1985, 0.0, np.where(years == 1985, 0.5, 1.0))
    return pd.DataFrame({"year": years, "state": np.repeat([1, 2, 3], 30), "sl55": limit, "deaths": values(90)})


def visits_of_patients() -> pd.DataFrame:
    """Each was asked in several years, and is older than the others in all of them."""
    visits = pd.DataFrame({"id": np.repeat(np.arange(40), 5), "year": np.tile(np.arange(1984, 1989), 40)})
    return visits.assign(age=visits["year"] - 1920 - visits["id"], docvis=RNG.poisson(3, 200))


def quarters_written_twice() -> pd.DataFrame:
    """As gretl writes them: 1964Q1, and once more as a number that goes up by 0.1, or by 0.7 to the next year."""
    years, quarters = np.repeat(np.arange(1964, 1984), 4), np.tile(np.arange(1, 5), 20)
    obs = [f"{year}Q{quarter}" for year, quarter in zip(years, quarters, strict=True)]
    return pd.DataFrame({"obs": obs, "period": years + quarters / 10, "rate": noise(80), "money": noise(80)})


def scenes_of_a_satellite() -> pd.DataFrame:
    """The date stands in one column and in three: `Y` is a year, and no target."""
    stamps = pd.Timestamp("1984-03-27") + pd.to_timedelta(16 * np.arange(200), unit="D")
    parts = {"Y": stamps.year, "M": stamps.month, "D": stamps.day}
    return pd.DataFrame({"rdate": stamps.strftime("%m/%d/%Y"), **parts, "ndvi": noise(200), "blue": noise(200) * 90})


def velocities_of_a_star() -> pd.DataFrame:
    """Nights of two telescopes, one below the other, by the day of astronomers; the error is not forecast."""
    nights = np.tile(2458378.5 + np.cumsum(RNG.uniform(0.1, 9, 60)).round(4), 2)
    return pd.DataFrame({"bjd": nights, "rv_err": noise(120), "rv": noise(120), "site": np.repeat([*"ab"], 60)})


def winners_of_a_prize() -> pd.DataFrame:
    """When a winner was born is no target, nor the year of the film."""
    years = np.repeat(np.arange(1930, 2020), 2)
    born = {f"birth_{part}": RNG.integers(1, 12, 180) for part in ("mo", "d")}
    return pd.DataFrame({"year": years, "prize": [*"ab"] * 90, **born, "yearMade": years - 1, "votes": noise(180) * 90})


def an_economy_and_its_past() -> pd.DataFrame:
    """Changes and lags of columns are no series of their own."""
    frame = pd.DataFrame({"inf": noise(50) + 9, "unem": noise(50) / 2}, index=range(1948, 1998))
    changes = {f"c{name}": frame[name].diff() for name in frame}
    past = {f"{name}_1": frame[name].shift() for name in frame}
    return frame.assign(**changes, **past).rename_axis("year").reset_index()


def crash_of_a_motorcycle() -> pd.DataFrame:
    """Several rows have the same time after the crash, which is no target."""
    times = np.sort(RNG.integers(0, 50, 120)) / 5
    return pd.DataFrame({"times": times, "head": np.cumsum(RNG.normal(0, 1, 120)).round(2)})


def grid_of_a_satellite() -> pd.DataFrame:
    """`y` is the place of a cell beside its latitude."""
    cells = pd.DataFrame({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "lat": [1.0, 2, 1, 2], "long": [5.0, 5, 6, 6]})
    frame = pd.concat([cells.assign(id=[f"{x}-{y}" for x, y in zip(cells.x, cells.y, strict=True)])] * 60)
    return frame.assign(date=np.repeat(months(60), 4), ozone=noise(240))


def path_of_a_glider() -> pd.DataFrame:
    """The direction of a course is a number of degrees, and no target."""
    stamps = pd.date_range("2021-06-01", periods=200, freq="min").strftime("%Y-%m-%d %H:%M")
    return pd.DataFrame({"stamp": stamps, "track": noise(200).cumsum() % 360, "altitude": noise(200).cumsum()})


def hours_of_a_magnetometer() -> str:
    """Hours with a fraction, and their middle, beside the days since 1932."""
    lines = []
    for at in range(800):
        day, hour = pd.Timestamp("2021-01-01") + pd.Timedelta(at // 8, "D"), at % 8 * 3.0
        days_since = 32508 + at / 8
        lines.append(f"{day:%Y %m %d} {hour:04.1f} {hour + 1.5:05.2f} {days_since:.5f} {RNG.integers(0, 27) / 3:.3f}")
    return "\n".join(["YYY MM DD hh.h hh._m days Kp", *lines])


def cases_beside_numbered_weeks() -> str:
    weeks = [pd.Timestamp("2019-12-29") + pd.Timedelta(7 * at, "D") for at in range(150)]
    lines = [
        f"{day:%Y-%m-%d},{(day + pd.Timedelta(3, 'D')):%G%V},{cases:.0f},{27 + warm:.2f}"
        for day, cases, warm in zip(weeks, RNG.gamma(2, 40, 150), noise(150), strict=True)
    ]
    return "\n".join(["data_iniSE,SE,casos,tempmed", *reversed(lines)])


def weighted_answers_of_a_year() -> pd.DataFrame:
    """What stands for whom in a survey says nothing of the years."""
    years = np.repeat(np.arange(1990, 2020), 20)
    weights = {"pspwght": noise(600), "dweight": noise(600).cumsum()}
    return pd.DataFrame({"year": years, **weights, "trust": noise(600)})


def forecasts_by_quarters() -> pd.DataFrame:
    """The counter of the rows ends before the forecasts do."""
    quarters = pd.MultiIndex.from_product([range(1960, 2010), range(1, 5)], names=["year", "quarter"])
    series = {name: noise(200).cumsum().round(2) for name in ("fc", "fcdyn", "fcdyn2", "fcdyn3", "fcdyn4")}
    counter = pd.Series(range(200), dtype="Int64").where(pd.Series(range(200)) < 180)
    return quarters.to_frame(index=False).assign(**series, orig_index=counter)


def past_of_a_series() -> pd.DataFrame:
    """As `series_to_supervised` writes it."""
    y, x = noise(120).cumsum().round(2), noise(120).cumsum().round(2)
    frame = pd.DataFrame({"time": np.arange(120) * 0.05, "V1": y, "V3": x}).round(2)
    shifted = {f"{name}(t-{lag})": frame[name].shift(lag).round(2) for lag in (3, 6) for name in ("V1", "V3")}
    return frame.assign(**shifted).iloc[6:]


def newest_day_of_a_share_first() -> pd.DataFrame:
    """What is called the first price of a day is the last one of the day before."""
    last = (1300 + 9 * noise(121).cumsum()).round()
    prices = {"<FIRST>": last[:-1], "<HIGH>": last[1:] + 30, "<LOW>": last[1:] - 30, "<CLOSE>": last[1:]}
    frame = pd.DataFrame({"<DTYYYYMMDD>": pd.date_range("2022-01-01", periods=120).strftime("%Y%m%d"), **prices})
    return frame.assign(**{"<VOL>": RNG.integers(9999, 99999, 120)}).iloc[::-1]


def cases_of_regions() -> pd.DataFrame:
    """For each day the regions stand one below the other, and all cases so far rise in each of them."""
    new = RNG.poisson([4000, 9000, 2500], (100, 3))
    counts = {"cases_new": new.ravel(), "cases_total": new.cumsum(axis=0).ravel()}
    return pd.DataFrame({"date": np.repeat(days(100), 3), "region": ["London", "North", "Wales"] * 100, **counts})


def deaths_of_regions() -> pd.DataFrame:
    """Few die each day, so that most numbers of the new ones come again."""
    new = RNG.poisson([1, 3, 2], (150, 3))
    counts = {"deaths_total": new.cumsum(axis=0).ravel(), "deaths_new": new.ravel()}
    return pd.DataFrame({"date": np.repeat(days(150), 3), "region": ["London", "North", "Wales"] * 150, **counts})


def cases_so_far_this_year() -> pd.DataFrame:
    """Weeks of a city, the newest first; the number of the year so far begins anew with each year."""
    weeks = pd.date_range("2015-01-04", periods=300, freq="W")
    cases = pd.Series(RNG.poisson(200, 300))
    frame = pd.DataFrame({"week_start": weeks.strftime("%Y-%m-%d"), "casos": cases, "receptivity": noise(300)})
    return frame.assign(accum_year=cases.groupby(weeks.year).cumsum()).iloc[::-1]


CASES = (
    FirstCommand("deaths", deaths_of_regions, {"item_id": "region", "target": "deaths_new"}),
    FirstCommand("cases of the year", cases_so_far_this_year, {"target": "casos"}),
    FirstCommand("load with its forecast", load_with_its_forecast, {"target": "Actual Load"}),
    FirstCommand(
        "a health office",
        of_a_health_office,
        {"item_id": "country", "target": "deaths"},
        "'deaths' of 4 series told apart by 'country', 3 steps of 1 row ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand("few rows", a_column_of_few_rows, {"target": "tickets"}),
    FirstCommand(
        "half known",
        cases_known_in_some_years,
        {"item_id": "land", "target": "cases", "past_covariates": ("relapses",)},
    ),
    FirstCommand("prices without names", prices_without_names, {"target": "column_5"}),
    FirstCommand("orders", orders_in_several_lines, {"time": "Created at", "ignore": ("Id",), "target": "Total"}),
    FirstCommand("inverter", inverter_with_two_strings, {"target": "Ppv(W)"}, quick=True),
    FirstCommand("appliances", appliances_in_tens, {"target": "Appliances"}, quick=True),
    FirstCommand("cases", cases_so_far, {"target": "confirmed"}),
    FirstCommand(
        "ages",
        ages_of_persons,
        {"item_id": "nr", "target": "wage"},
        "'wage' of 10 series told apart by 'nr', 3 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "switches of months",
        months_with_switches,
        {"time": "year,month", "target": "claims"},
        "'claims', 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "what moves",
        speed_limits,
        {"item_id": "state", "target": "deaths"},
        "'deaths' of 3 series told apart by 'state', 3 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "visits of patients", visits_of_patients, {}, "'docvis' of 40 series told apart by 'id', 1 step of 1 row ahead"
    ),
    FirstCommand(
        "two numbers of the row, one of them named by pandas",
        ",Unnamed: 0,date,y\n"
        + csv_rows(lambda day, value: f"{day.day_of_year},{day.day_of_year},{day:%Y-%m-%d},{value}"),
        {},
        step="D",
        no_others=True,
    ),
    FirstCommand("quarters written twice", quarters_written_twice, {"time": None, "target": "money"}),
    FirstCommand("scenes", scenes_of_a_satellite, {"time": None, "target": "ndvi"}),
    FirstCommand("a star", velocities_of_a_star, {"target": "rv"}),
    FirstCommand("prizes", winners_of_a_prize, {"item_id": "prize", "target": "votes"}),
    FirstCommand("changes", an_economy_and_its_past, {"target": "inf", "wide": None}),
    FirstCommand("a crash", crash_of_a_motorcycle, {"time": "row-number", "target": "head"}),
    FirstCommand("a grid", grid_of_a_satellite, {"target": "ozone"}),
    FirstCommand("a glider", path_of_a_glider, {"target": "altitude"}),
    FirstCommand("magnetometer", hours_of_a_magnetometer, {"target": "Kp"}, quick=True),
    FirstCommand("weeks", cases_beside_numbered_weeks, {"target": "casos"}, quick=True),
    FirstCommand("weighted answers", weighted_answers_of_a_year, {"target": "trust"}),
    FirstCommand(
        "forecasts by quarters", forecasts_by_quarters, {"time": "year,quarter", "target": "fc", "wide": None}
    ),
    FirstCommand("lags", past_of_a_series, {"target": "V1", "wide": None}),
    FirstCommand("newest first", newest_day_of_a_share_first, {"target": "<CLOSE>"}),
    FirstCommand("regions", cases_of_regions, {"item_id": "region", "target": "cases_new"}),
)


@each_case(CASES)
def test_the_first_command_forecasts_a_column_by_its_cells(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["id", "customer_id", "storeId"])
def test_an_identifier_is_neither_time_nor_target(tmp_path: Path, name: str) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({name: np.arange(90) + 1, "y": values(90), "z": values(90)}).to_csv(path, index=False)
    proposals = find_proposals(path, DataConfig())
    assert proposals
    assert name not in {proposal.target for proposal in proposals}
    assert name == "id" or {proposal.time for proposal in proposals} == {"row-number"}


@pytest.mark.slow
def test_what_never_changes_within_a_series_is_no_target(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    country, year = np.repeat(["A", "B", "C"], 30), np.tile(np.arange(1960, 1990), 3)
    frame = pd.DataFrame({"country": country, "number": np.repeat([4, 8, 12], 30), "year": year, "rate": values(90)})
    frame.to_csv(path, index=False)
    assert {proposal.target for proposal in find_proposals(path, DataConfig())} == {"rate"}


@pytest.mark.parametrize(("counts", "target"), [((84, 5, 5, 5), "signal"), ((84, 10, 4, 2), "events")])
def test_codes_of_events_are_no_target_and_amounts_are(tmp_path: Path, counts: tuple[int, ...], target: str) -> None:
    """Codes are each as frequent as the others; of demand that is mostly zero, small amounts are the frequent ones."""
    events = RNG.permutation(np.repeat(np.arange(4), 3 * np.array(counts)))
    frame = pd.DataFrame({"events": events, "signal": RNG.normal(size=len(events)).cumsum().round(3)})
    assert first_of(tmp_path, frame)["target"] == target


def test_numbers_of_rows_are_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame({"rownames": RNG.permutation(60), "month": date_column(60), "kind": "a"})
    assert "rownames" not in first_of(tmp_path, frame).values()


def test_a_coordinate_called_y_is_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"Electrode": np.repeat([*"abc"], 40), "Time": np.tile(np.arange(40), 3), "volts": values(120)}
    )
    frame = frame.assign(x=np.repeat([1, 2, 3], 40), y=np.repeat([5, 3, 4], 40))
    assert first_of(tmp_path, frame)["target"] == "volts"


def test_ages_that_rise_with_every_row_are_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"Depth [m]": values(60), "Gas age [kyr]": np.cumsum(RNG.exponential(1, 60)), "CO2": values(60)}
    )
    frame["Depth [m]"] = np.cumsum(RNG.exponential(2, 60))
    assert first_of(tmp_path, frame)["target"] == "CO2"


def test_years_since_an_event_that_is_the_same_for_all_series_are_no_target(tmp_path: Path) -> None:
    path, years = tmp_path / "table.csv", np.arange(1990, 2020)
    frame = pd.DataFrame({"firm": np.repeat(["a", "b", "c"], 30), "year": np.tile(years, 3)})
    frame["after"] = (frame["year"] - 2000).clip(lower=0)
    frame["profit"] = values(90)
    frame.to_csv(path, index=False)
    assert find_proposals(path, DataConfig(), most=1)[0].target == "profit"


def test_numbers_of_telephones_are_no_target(tmp_path: Path) -> None:
    """Ten digits in any order, of another caller in nearly each row."""
    called = pd.Timestamp("2023-01-02") + pd.to_timedelta(np.sort(RNG.integers(0, 120 * 1440, 600)), "min")
    numbers = {"ANI": RNG.integers(2 * 10**9, 10**10, 600), "COST": RNG.gamma(2, 0.1, 600).round(4)}
    pd.DataFrame({"TIMESTAMP": called, **numbers}).to_csv(tmp_path / "calls.csv", index=False)
    targets = [proposal.target for proposal in find_proposals(tmp_path / "calls.csv", DataConfig())]
    assert targets[0] == "COST"
    assert "ANI" not in targets
