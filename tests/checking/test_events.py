"""Rows that are events and are counted: registers, bookings, patients, and their conditions."""

import itertools
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.proposal import command_text
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, csv_rows, months, noise, uneven_days, values
from .first_commands import QUICK, SUMS, FirstCommand, check_first_command, each_case, first_of


def persons_who_fell_ill() -> pd.DataFrame:
    """One row for each, with an age: their number is what is forecast."""
    weeks = np.sort(RNG.integers(1, 53, 900))
    return pd.DataFrame(
        {"ano": np.repeat([2020, 2021], 450), "semana": [*weeks[::2], *weeks[1::2]], "edad": RNG.integers(1, 90, 900)}
    )


def shots_of_a_game() -> pd.DataFrame:
    """`y` is how far from the side a shot was taken."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 90, 900)), "D")
    shots = {"x": RNG.integers(0, 50, 900), "y": RNG.integers(0, 90, 900)}
    return pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), "player": RNG.choice([*"abcd"], 900), **shots})


def incidents_in_words() -> pd.DataFrame:
    """What was hit, where and how is said in words; a few were reported long before the others."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 900, 3000), "D")
    stamps = stamps.where(np.arange(3000) % 500 > 0, stamps - pd.Timedelta("4000D"))
    words = {name: RNG.choice([*"abcd"], 3000) for name in ("operator", "phase", "sky", "species")}
    return pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), **words, "height": RNG.integers(0, 9000, 3000)})


def clicks_of_visitors() -> pd.DataFrame:
    """Each visitor comes on a few days, so that the clicks of all are counted together."""
    days = np.sort(RNG.integers(0, 300, (300, 9)), axis=1).ravel()
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(days * 86_400 + np.arange(2700) % 9, "s")
    frame = pd.DataFrame({"visitor": np.repeat(np.arange(300), 9), "event": RNG.choice([*"abc"], 2700)})
    frame["julian.date"] = 2_460_311 + days  # of which no sum is wanted
    return frame.assign(timestamp=stamps.strftime("%Y-%m-%d %H:%M:%S"))


def fires_of_some_years() -> pd.DataFrame:
    """Numbers of fires begin again each year; of some it is not known when they began, and all ended."""
    starts = pd.Timestamp("2010-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 5_000_000, 4000)), "min")
    names = "F" + pd.Series(starts.year).groupby(starts.year).cumcount().astype(str)
    frame = pd.DataFrame({"year": starts.year, "fire": names, "start": starts.strftime("%Y-%m-%d %H:%M")})
    ends = (starts + pd.to_timedelta(RNG.integers(60, 6000, 4000), "min")).strftime("%Y-%m-%d %H:%M")
    return frame.assign(
        start=frame["start"].mask(frame.index % 50 == 7), end=ends, size=RNG.integers(1, 900, 4000) / 10
    )


def purchases_of_customers() -> pd.DataFrame:
    """Nothing but a day and a customer, most of whom came twice or three times."""
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 4000)), "D")
    return pd.DataFrame({"date": dates.strftime("%Y-%m-%d"), "id": RNG.integers(0, 1500, 4000)})


def survey_of_some_years() -> pd.DataFrame:
    """Each year of a survey has many rows; in a year without one nobody was asked."""
    years = np.setdiff1d(np.arange(1972, 2008), [1979, 1981, 1992, 1995])
    stamps = np.repeat(years, RNG.integers(60, 90, len(years)))
    return pd.DataFrame({"year": stamps, "degree": RNG.choice([*"abc"], len(stamps))})


def patients_of_a_wave() -> pd.DataFrame:
    """Few of the patients have an order of infection, which is no reason to forecast its mean."""
    order = np.where(np.arange(900) % 20, np.nan, np.arange(900) % 6 + 1.0)
    stamps = pd.Timestamp("2020-02-01") + pd.to_timedelta(np.sort(RNG.integers(0, 60, 900)), "D")
    return pd.DataFrame({"confirmed": stamps.strftime("%Y-%m-%d"), "infection_order": order})


def cases_with_their_places() -> str:
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 900)), "D")
    rows = [f"{day:%Y/%m/%d},{x},{y}" for day, x, y in zip(days, noise(900), noise(900), strict=True)]
    return "\n".join(["Onset,CentreX,CentreY", *rows])


def tickets_with_their_numbers() -> str:
    stamps = pd.Timestamp("2024-02-01") + pd.to_timedelta(np.sort(RNG.integers(0, 90 * 1440, 800)), "min")
    rows = [f"INC{1000 + at},{stamp:%Y-%m-%d %H:%M},{RNG.poisson(1)}" for at, stamp in enumerate(stamps)]
    return "\n".join(["number,opened_at,reassignment_count", *rows])


def trips_of_trucks() -> str:
    """Some trips of each truck a day, and how far each went."""
    lines = []
    for truck in ("TRK-100", "TRK-101", "VAN-7"):
        odometer = 100_000.0
        for day in pd.date_range("2023-09-01", periods=90):
            starts = np.sort(RNG.integers(6 * 60, 18 * 60, RNG.integers(2, 6)))
            for start, way in zip(starts, RNG.lognormal(3, 0.7, len(starts)), strict=True):
                odometer += way
                lines.append(f"{truck},{day + pd.Timedelta(int(start), 'min')},{way:.2f},{odometer:.1f}")
    return "\n".join(["Device,Start Date,Distance (km),Odometer (km)", *lines])


def prices_of_materials() -> str:
    """No date but that of the last change of a row."""
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 3000, 400), "D")
    lines = [
        f"{1000 + at};Part {at};{day:%d.%m.%Y};{number:.2f}"
        for at, (day, number) in enumerate(zip(days, noise(400), strict=True))
    ]
    return "\n".join(["Material;Description;Last Change;Price", *lines])


def deaths_on_all_days_of_the_week() -> str:
    """Days without any are too many, and without weekends there would be few."""
    days = pd.date_range("2020-03-21", periods=600)[RNG.random(600) < 0.77]
    days = days.repeat(1 + RNG.poisson(3, len(days)))
    lines = (
        f"{day:%Y%m%d},{age},{district}"
        for day, age, district in zip(
            days, RNG.integers(20, 99, len(days)), RNG.integers(0, 24, len(days)), strict=True
        )
    )
    return "\n".join(["FECHA_FALLECIMIENTO,EDAD,UBIGEO", *lines])


def customers_by_their_first_day() -> str:
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 700, 2500)), "D")
    lines = (
        f"C{at:05d},{day:%Y-%m-%d},{spent:.2f}" for at, (day, spent) in enumerate(zip(days, noise(2500), strict=True))
    )
    return "\n".join(["customer_id,signup_date,revenue_12m", *lines])


def patients_of_a_trial() -> pd.DataFrame:
    """Each patient joins on a day of their own."""
    sizes = {"height": noise(200).cumsum().round(1), "weight": noise(200).cumsum().round(1)}
    persons = {"age": RNG.integers(5, 60, 200), "sex": RNG.choice(["female", "male"], 200)}
    return pd.DataFrame({"random": uneven_days(200, 4), **sizes, **persons})


def letters_of_few_weeks() -> pd.DataFrame:
    """Thirteen weeks are enough to count, where a copied reader is no amount."""
    stamps = pd.Timestamp("2012-01-02") + pd.to_timedelta(np.sort(RNG.integers(0, 13 * 7 * 24 * 60, 60)), "min")
    copied = RNG.choice([0, 0, 0, 1, 2, 3, 7], 60)
    return pd.DataFrame({"time": stamps.strftime("%Y-%m-%dT%H:%M:00Z"), "cc": copied, "size": RNG.choice([*"ab"], 60)})


def lawsuits_by_status() -> pd.DataFrame:
    """The status of a case is a property, be it that no day has two of one status."""
    dates = np.unique(uneven_days(300, 6))
    frame = pd.DataFrame({"filed": np.repeat(dates, 2), "status": np.tile([1, 2], len(dates))})
    return frame.assign(nature=RNG.choice([190, 440, 443, 710, 895], len(frame)))


def orders_of_a_resource_plan() -> pd.DataFrame:
    """Numbers of orders go up, and those of devices come again."""
    dates = sorted(uneven_days(300, 3))
    numbers = 4001880 + RNG.integers(1, 9, 300).cumsum()
    devices = RNG.choice([10005120, 10004711, 10005244], 300)
    return pd.DataFrame({"Auftrag": numbers, "Equipment": devices, "Eckstart": dates, "Ort": RNG.choice([*"ab"], 300)})


def bookings_of_hotels() -> pd.DataFrame:
    """The day of the last change of a booking is of no guest."""
    arrivals = pd.Timestamp("2015-07-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 2000)), "D")
    parts = {
        "arrival_date_year": arrivals.year,
        "arrival_date_month": arrivals.month_name(),
        "arrival_date_day_of_month": arrivals.day,
    }
    changed = arrivals + pd.to_timedelta(RNG.integers(-90, 9, 2000), "D")
    return pd.DataFrame(
        {"hotel": RNG.choice([*"ab"], 2000), **parts, "reservation_status_date": changed.strftime("%Y-%m-%d")}
    )


def of_a_police_station() -> str:
    """As Chicago's: the only numbers are districts, written `012`."""
    at = pd.Timestamp("2023-01-01") + pd.to_timedelta(RNG.uniform(0, 300 * 1440, 1500).cumsum() % (300 * 1440), "min")
    rows = [f"HZ{n},{t:%Y-%m-%d %H:%M},{RNG.integers(1, 25):03d}" for n, t in enumerate(sorted(at))]
    return "\n".join(["case,date,district", *rows])


def of_earthquakes() -> str:
    """As the USGS: places that jump, and measurements of each event with two decimals, which are no cents."""
    at = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(RNG.uniform(0, 300 * 1440, 1500)), "min")
    rows = [f"{t:%Y-%m-%dT%H:%M:%S},{RNG.uniform(-60, 60):.4f},{RNG.uniform(1, 300):.2f}" for t in at]
    return "\n".join(["time,latitude,depth", *rows])


def of_bicycles() -> str:
    """Trips of bicycles between stations, each with a number and its place."""
    at = pd.Timestamp("2018-01-01") + pd.to_timedelta(np.sort(RNG.uniform(0, 250 * 1440, 900)), "min")
    stations = RNG.integers(0, 40, 900)
    rows = [f"{t:%Y-%m-%d %H:%M:%S},{3000 + n},{40 + n % 7 / 9:.4f}" for t, n in zip(at, stations, strict=True)]
    return "\n".join(["start_time,start_station,start_lat", *rows])


def admissions_of_a_hospital() -> pd.DataFrame:
    """The glucose is that of a patient, and no series."""
    dates = pd.Series(uneven_days(900, 1)).sort_values()
    persons = {"AGE": RNG.integers(20, 90, 900), "GENDER": RNG.choice(["M", "F"], 900)}
    return pd.DataFrame({"D.O.A": dates, **persons, "HB": noise(900), "GLUCOSE": 12 * noise(900)})


def companies_by_the_day_they_joined() -> pd.DataFrame:
    """The year in which each was founded is a property of it, as close as it is to the day."""
    joined = pd.Timestamp("2011-01-01") + pd.to_timedelta(RNG.integers(0, 4000, 400), "D")
    names = RNG.choice([f"firm {at}" for at in range(90)], 400)
    founded = joined.year - RNG.integers(1, 9, 400)
    return pd.DataFrame({"Company": names, "Date Joined": joined, "Year Founded": founded})


def crimes_at_unknown_hours() -> pd.DataFrame:
    """Of offences against persons, the hour is not told; rows are sorted by what happened."""
    stamps = pd.Timestamp("2003-01-01") + pd.to_timedelta(RNG.integers(0, 525_600, 3000), "min")
    frame = pd.DataFrame({"TYPE": np.repeat(["Offence", "Mischief", "Theft"], [500, 1000, 1500])})
    parts = {part.upper(): getattr(stamps, part) for part in ("year", "month", "day", "hour", "minute")}
    frame = frame.assign(**parts, NEIGHBOURHOOD=RNG.choice(["Fairview", "Kitsilano"], 3000))
    return frame.astype({"HOUR": "Int64", "MINUTE": "Int64"}).mask(
        frame["TYPE"].eq("Offence").to_numpy()[:, None] & [name in ("HOUR", "MINUTE") for name in frame.columns]
    )


def birds_that_were_recognised() -> pd.DataFrame:
    """How sure a recognition is belongs to it; birds sing, or not."""
    seconds = np.sort(RNG.integers(0, 40 * 86_400, 3000))
    stamps = (pd.Timestamp("2024-04-01") + pd.to_timedelta(seconds, "s")).strftime("%Y-%m-%d %H:%M:%S")
    names = RNG.choice(["Blackbird", "Great Tit", "Robin"], 3000)
    return pd.DataFrame({"Date": stamps, "Com_Name": names, "Confidence": RNG.uniform(0.7, 1, 3000).round(4)})


CASES = (
    FirstCommand("birds", birds_that_were_recognised, {"target": "row-count"}),
    FirstCommand("crimes at unknown hours", crimes_at_unknown_hours, {"time": "YEAR,MONTH,DAY", "target": "row-count"}),
    FirstCommand(
        "persons who fell ill", persons_who_fell_ill, {"time": "ano,semana", "target": "row-count", "resample": "W-MON"}
    ),
    FirstCommand(
        "answers in words and numbers",
        "stamp,height\n"
        + csv_rows(
            lambda stamp, value: (
                (f"{stamp:%Y-%m-%d %H:%M},{value}\n" * (1 + stamp.day % 2)).rstrip()
                + f"\n{stamp:%Y-%m-%d %H:%M},about {value}' {stamp.day}"
            ),
            pd.date_range("2021-01-01", periods=300, freq="D"),
        ),
        {"target": "row-count", "resample": "D", "aggregate": "sum", "missing": "zero", "ignore": ("height",)},
        step="D",
        no_others=True,
    ),
    FirstCommand("shots", shots_of_a_game, {"target": "row-count"}),
    FirstCommand("incidents", incidents_in_words, {"item_id": None, "target": "row-count", "resample": "D"}),
    FirstCommand("clicks", clicks_of_visitors, {"item_id": None, "target": "row-count"}),
    FirstCommand("fires", fires_of_some_years, {"time": "start", "target": "row-count", "undated_rows": "drop"}),
    FirstCommand(
        "purchases of customers", purchases_of_customers, {"ignore": ("id",), "target": "row-count", "resample": "D"}
    ),
    FirstCommand("some years", survey_of_some_years, {"target": "row-count", "resample": "1", "missing": "mask"}),
    FirstCommand("a wave", patients_of_a_wave, {"target": "row-count"}),
    FirstCommand("cases", cases_with_their_places, {"target": "row-count"}),
    FirstCommand("tickets", tickets_with_their_numbers, {"target": "row-count"}),
    FirstCommand("trips", trips_of_trucks, {"target": "row-count", "resample": "D"}, quick=True),
    FirstCommand("materials", prices_of_materials, {}, mentions="if 'Last Change' tells when it was", quick=True),
    FirstCommand("deaths", deaths_on_all_days_of_the_week, {"target": "row-count", "resample": "D"}, quick=True),
    FirstCommand("customers by their first day", customers_by_their_first_day, {"target": "row-count"}, quick=True),
    FirstCommand("patients", patients_of_a_trial, {"target": "row-count"}),
    FirstCommand("letters", letters_of_few_weeks, {"target": "row-count", "resample": "W-MON"}),
    FirstCommand("lawsuits", lawsuits_by_status, {"target": "row-count", "item_id": None}),
    FirstCommand("orders", orders_of_a_resource_plan, {"target": "row-count"}),
    FirstCommand(
        "hotels",
        bookings_of_hotels,
        {"time": "arrival_date_year,arrival_date_month,arrival_date_day_of_month", "target": "row-count"},
    ),
    FirstCommand(
        "a police station",
        of_a_police_station,
        {"target": "row-count", "resample": "D", **SUMS},
        "the number of rows of each 1 day, 7 steps of 1 day ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "earthquakes",
        of_earthquakes,
        {"target": "row-count", "resample": "D", **SUMS},
        "the number of rows of each 1 day, 7 steps of 1 day ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "bicycles",
        of_bicycles,
        {"target": "row-count", "resample": "D", **SUMS},
        "the number of rows of each 1 day, 7 steps of 1 day ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand("companies", companies_by_the_day_they_joined, {"time": None, "target": "row-count"}),
    FirstCommand("a hospital", admissions_of_a_hospital, {"target": "row-count", "resample": "D"}),
)


@each_case(CASES)
def test_the_first_command_counts_events(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["opened"], ["opened", "kind"]])
def test_events_without_a_number_are_counted(forecast: Callable, tmp_path: Path, columns: list[str]) -> None:
    """Twenty a day, at any second of it; none at all on one day."""
    seconds = np.sort(RNG.integers(0, 300 * 86400, 6000))
    seconds = seconds[seconds // 86400 != 150]
    opened = pd.Timestamp("2022-01-01") + pd.to_timedelta(seconds, unit="s")
    frame = pd.DataFrame({"opened": opened.strftime("%Y-%m-%d %H:%M:%S"), "kind": "bug"})[columns]
    path, out = tmp_path / "tickets.csv", tmp_path / "run"
    frame.to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert proposal.forecasts == "the number of rows of each 1 day, 7 steps of 1 day ahead"
    words = shlex.split(command_text(str(path), {}, proposal.options))[1:]
    assert forecast(*words, *QUICK, "--out", str(out)).code == 0
    panel = examine(path, DataConfig(**proposal.options)).panel
    assert panel is not None
    np.testing.assert_array_equal(panel.target, np.bincount(seconds // 86400))
    ahead = forecast("predict", str(out), "--data", str(path), "--out", str(tmp_path / "ahead.csv"))
    assert ahead.code == 0, ahead.err


def test_events_with_nothing_but_ages_are_counted_first(tmp_path: Path) -> None:
    date = pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 500, 900)), "D"))
    frame = pd.DataFrame({"date": date.dt.strftime("%Y-%m-%d"), "age": RNG.integers(10, 90, 900)})
    assert first_of(tmp_path, frame.assign(lat=RNG.normal(size=900).round(3)))["target"] == "row-count"


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        pytest.param(
            lambda: {"priority": RNG.integers(1, 5, 2000), "agent": RNG.choice([*"abc"], 2000)}, None, id="tickets"
        ),
        pytest.param(
            lambda: {"tripduration": RNG.integers(60, 3000, 2000), "bike": RNG.permutation(2000)}, None, id="trips"
        ),
        pytest.param(
            lambda: {"title": [f"on the theory of case {at}" for at in range(2000)]}, None, id="records with titles"
        ),
        pytest.param(
            lambda: {"interest_rate": values(2000), "amount": RNG.lognormal(8, 1, 2000).round(2)}, "amount", id="loans"
        ),
    ],
)
def test_events_are_counted_unless_something_of_them_is_an_amount(
    tmp_path: Path, columns: Callable[[], dict[str, np.ndarray]], target: str | None
) -> None:
    seconds = np.sort(np.random.default_rng(6).integers(0, 120 * 86_400, 2000))
    stamps = (pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")).strftime("%Y-%m-%d %H:%M:%S")
    frame = pd.DataFrame({"created": stamps, **columns()})
    if "title" in frame:
        frame["page"] = RNG.normal(300, 90, 2000).round(1)
    assert first_of(tmp_path, frame)["target"] == (target or "row-count")


def test_the_cells_of_a_cube_of_five_names_are_not_counted(tmp_path: Path) -> None:
    """Statistical offices give each number a row of names, as records have them."""
    names = ["Nationality", "Applicant", "Stage", "Duration", "Sex"]
    answers = [["Chad", "Mali"], ["new", "repeat"], ["first", "appeal"], ["short", "long"], ["men", "women"]]
    cells = pd.DataFrame(itertools.product(months(80), *answers), columns=["Date", *names])
    frame = pd.concat([cells, cells.sample(frac=0.4, random_state=1)]).sort_values("Date")  # some in two rows
    path = tmp_path / "decisions.csv"
    frame.assign(Applications=RNG.integers(0, 90, len(frame))).to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].target == "Applications"


def test_a_date_on_which_rows_were_written_is_a_condition(tmp_path: Path) -> None:
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 700, 200), "D")
    lines = [f"{day:%Y-%m-%d},2021-01-01,{price}" for day, price in zip(days, RNG.integers(10, 99, 200), strict=True)]
    (tmp_path / "articles.csv").write_text("\n".join(["changed,added,price", *lines]), encoding="utf-8")
    forecasts = find_proposals(tmp_path / "articles.csv", DataConfig())[0].forecasts
    assert forecasts.endswith("if 'changed' tells when it was, rather than when its row was written")


def test_how_far_trucks_went_is_summed(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(trips_of_trucks())
    proposal = find_proposals(tmp_path / "table.csv", DataConfig(target="Distance (km)"))[0]
    expected = {"item_id": "Device", "resample": "D", "aggregate": "sum", "missing": "zero"}
    assert {**dict(proposal.options), "item_id": proposal.item_id} == expected


def test_the_dates_of_a_register_are_read_by_the_order_that_is_given(tmp_path: Path) -> None:
    """Day or month first, no value decides; the condition on such dates needs them, too."""
    dates = [f"{RNG.integers(1, 13)}/{RNG.integers(1, 13)}/20{RNG.integers(15, 24)}" for _ in range(400)]
    lines = [f"{date},Part {at},{number:.2f}" for at, (date, number) in enumerate(zip(dates, noise(400), strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(["Last Change,Description,Price", *lines]))
    proposal = find_proposals(tmp_path / "table.csv", DataConfig(date_format="day-first"))[0]
    assert "if 'Last Change' tells when it was" in proposal.forecasts


def test_coordinates_are_no_targets_where_something_was_measured(tmp_path: Path) -> None:
    """Turbines by the day on which a satellite saw them."""
    seen = pd.Timestamp("2012-01-01") + pd.to_timedelta(RNG.integers(0, 900, 400), "D")
    coordinates = {"xlong": RNG.normal(-98, 3, 400).round(4), "ylat": RNG.normal(42, 3, 400).round(4)}
    path = tmp_path / "turbines.csv"
    pd.DataFrame({"image_date": seen, **coordinates, "height": noise(400)}).to_csv(path, index=False)
    proposals = find_proposals(path, DataConfig())
    assert [proposal.target for proposal in proposals] == ["row-count", "height"]
