"""Which of several columns is the time."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, date_column, months, noise, values
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def half_hours_with_their_date() -> pd.DataFrame:
    """As vic_electricity: `Date` comes by name before the half-hourly `Time`."""
    time = pd.date_range("2014-01-01", periods=700, freq="30min")
    return pd.DataFrame(
        {"Time": time.strftime("%Y-%m-%d %H:%M"), "Demand": values(700), "Date": time.strftime("%Y-%m-%d")}
    )


def one_date_beside_days_of_the_year() -> pd.DataFrame:
    """As geoknife writes them: the date is that of the first row in every row."""
    return pd.DataFrame({"TIMESTEP": "1980-01-01", "time(day of year)": np.arange(365.0), "mean": values(365)})


def seasons_of_players() -> pd.DataFrame:
    """As the statistics of a league: the year in which a season began is not called one."""
    lives = [(player, 2000 + player % 5, 15) for player in range(10)]
    rows = [(900 + player, first + at) for player, first, life in lives for at in range(life)]
    return pd.DataFrame(rows, columns=["person_id", "season_start"]).assign(stat_goals=values(len(rows)))


def visits_by_day_of_a_pandemic() -> pd.DataFrame:
    """As the samples of a hospital: rows are numbered, and several stand at each day."""
    day = np.repeat(np.arange(4, 84), 1 + np.arange(80) % 5)
    clinic = np.where(np.arange(len(day)) % 3, "ward", "laboratory")
    return pd.DataFrame(
        {"rownames": np.arange(1, len(day) + 1), "pan_day": day, "clinic": clinic, "hours": values(len(day))}
    )


def trips_with_two_that_begin_together() -> pd.DataFrame:
    waits, lasts = np.random.default_rng(5).integers(20, 9_000, (2, 600))
    waits[300] = 0
    starts = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(waits), "s")
    ends = starts + pd.to_timedelta(300 + lasts, "s")
    return pd.DataFrame({"stop": ends, "start": starts, "bike": np.arange(600) % 90})


def regions_of_three_periods() -> pd.DataFrame:
    """The numbers of regions go up by one in each row, and are no time; three periods are too few."""
    growth = pd.DataFrame({"region": np.tile(np.arange(1, 22), 3), "y": noise(63)})
    return growth.assign(period=np.repeat(np.arange(1, 4), 21))


def years_beside_a_trend() -> pd.DataFrame:
    return pd.DataFrame({"obs": np.arange(1922, 1962), "trend": np.arange(1, 41), "q": noise(40), "p": noise(40)})


def visits_after_a_therapy() -> pd.DataFrame:
    """Days since something are a time, wherever the word stands in the name."""
    days = np.concatenate([np.cumsum(RNG.integers(20, 40, 12)) for _ in range(30)])
    return pd.DataFrame({"patient": np.repeat(np.arange(30), 12), "Days.after.start": days, "viruses": noise(360)})


def scores_of_some_seasons() -> pd.DataFrame:
    """Whole numbers beside years are no months where some are empty."""
    scores = np.where(np.arange(120) % 7, 1 + np.arange(120) % 12, np.nan)
    return pd.DataFrame({"season_start": 1900 + np.arange(120), "score": scores, "y": noise(120)})


def noise_by_an_index() -> pd.DataFrame:
    """pandas names an index so that has no name; rows that follow no others have their dates all the same."""
    return pd.DataFrame({"index": months(90), "a": noise(90), "b": noise(90)})


def fluxes_of_half_hours() -> pd.DataFrame:
    """The ends of intervals are digits, and no measurement."""
    stamps = pd.date_range("2020-01-01", periods=401, freq="30min").strftime("%Y%m%d%H%M").astype("int64")
    return pd.DataFrame({"TIMESTAMP_START": stamps[:-1], "TIMESTAMP_END": stamps[1:], "NEE": noise(400)})


def charges_of_cards() -> pd.DataFrame:
    """The newest comes first, in seconds since 1970; when a card ends is no time."""
    created = np.sort(RNG.integers(1_700_000_000, 1_730_000_000, 600))[::-1]
    ends = {"exp_month": RNG.integers(1, 13, 600), "exp_year": RNG.integers(2025, 2029, 600)}
    return pd.DataFrame({"id": range(600), "amount": RNG.integers(500, 9000, 600), "created": created, **ends})


def queues_of_a_call_centre() -> str:
    """Days stand before months, and waiting times beside dates are no clocks of them."""
    stamps = [stamp for stamp in pd.date_range("2024-03-01 08:00", "2024-05-31", freq="30min") if 8 <= stamp.hour < 18]
    half_an_hour = pd.Timedelta(30, "min")
    rows = (
        f'"{at:%d/%m/%y %H:%M}";"{at + half_an_hour:%d/%m/%y %H:%M}";"{queue}";"{number}";"00:{number:02}:{number}"'
        for at in stamps
        for queue in ("FR_SAV", "FR_Voix")
        for number in RNG.integers(10, 60, 1)
    )
    return "\n".join(['"Début d\'intervalle";"Fin d\'intervalle";"File";"Offerts";"Attente moy."', *rows])


def flux_of_three_hours() -> str:
    """A counter of rotations rises evenly in each of the series whose rows stand by turns."""
    rows = [
        f"{day:%Y%m%d}    at{hour}    {2239.227 + 0.0366 * at + 0.0015 * hour:.3f}    {number:.1f}"
        for at, (day, number) in enumerate(zip(pd.date_range("2021-01-01", periods=90), noise(90), strict=True))
        for hour in (18, 20, 22)
    ]
    return "\n".join(["fluxdate    fluxtime    carrington  obsflux", *rows])


def deals_by_their_close() -> str:
    """Rows are in the order of the date on which a deal was closed, and it began before."""
    closed = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.exponential(1.5, 400).cumsum().astype(int), "D")
    created = closed - pd.to_timedelta(RNG.integers(5, 120, 400), "D")
    rows = zip(closed, created, RNG.integers(20, 900, 400), strict=True)
    lines = [f"Deal {at},{start:%Y-%m-%d},{end:%Y-%m-%d},{sum_}00" for at, (end, start, sum_) in enumerate(rows)]
    return "\n".join(["Opportunity,Created Date,Close Date,Amount", *lines])


def weeks_of_seasons() -> str:
    """Each week has a number within its season, of which each begins on the same day of the year."""
    lines = []
    for year in range(1990, 1998):
        weeks = pd.date_range(f"{year}-04-30", periods=52, freq="7D")
        for week, start, number in zip(range(1, 53), weeks, RNG.integers(0, 90, 52), strict=True):
            lines.append(f"{year}/{year + 1},{week},{start:%Y-%m-%d},{number}")
    return "\n".join(["season,season_week,week_start_date,total_cases", *lines])


def demand_by_its_last_change() -> str:
    times = pd.date_range("2023-01-01 00:05", periods=600, freq="5min")
    lines = [
        f"{time:%Y/%m/%d %H:%M:%S},{region},{number:.2f},{time - pd.Timedelta(297, 's'):%Y/%m/%d %H:%M:%S}"
        for time in times
        for region, number in zip(["NSW1", "QLD1"], noise(2), strict=True)
    ]
    return "\n".join(["SETTLEMENTDATE,REGIONID,TOTALDEMAND,LASTCHANGED", *lines])


def hours_of_workers() -> pd.DataFrame:
    """The age of each worker goes up by one a year, as the year does, and has more values."""
    workers = pd.DataFrame({"id": np.repeat(np.arange(1, 31), 10), "year": np.tile(np.arange(1979, 1989), 30)})
    age = workers["year"] - 1979 + np.repeat(RNG.integers(22, 50, 30), 10)
    return pd.DataFrame({"lnhr": noise(300), "lnwg": noise(300), "ageh": age, **workers})


def claims_of_policies() -> pd.DataFrame:
    """Rows are in no order, and each policy began some years before the loss."""
    losses = pd.Timestamp("2001-01-01") + pd.to_timedelta(RNG.integers(0, 4000, 600), "D")
    policies = losses - pd.to_timedelta(RNG.integers(1, 5000, 600), "D")
    names = {"state": RNG.choice(["TX", "LA", "NJ"], 600), "claim": [f"c{at}" for at in range(600)]}
    return pd.DataFrame({"dateOfLoss": losses, "originalPolicyDate": policies, **names})


CASES = (
    FirstCommand(
        "the finer of two dates",
        half_hours_with_their_date,
        {},
        "'Demand', 48 steps of 30 minutes ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "one date",
        one_date_beside_days_of_the_year,
        {"time": "time(day of year)"},
        "'mean', 12 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "seasons of players",
        seasons_of_players,
        {"time": "season_start", "item_id": "person_id"},
        "'stat_goals' of 10 series told apart by 'person_id', 3 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "days of a pandemic",
        visits_by_day_of_a_pandemic,
        {"time": "pan_day", "resample": "1"},
        "'hours', mean of each 'pan_day', 12 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand("trips with two that begin together", trips_with_two_that_begin_together, {"time": "start"}),
    FirstCommand(
        "what has not come yet",
        "sent,came,state,cost\n"
        + "\n".join(
            f"{day},{'' if at > 54 else day},{'open' if at > 54 else 'done'},{at % 7}.5"
            for at, day in enumerate(date_column(60))
        ),
        {"time": "sent"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand("regions", regions_of_three_periods, {"time": "period", "item_id": "region"}),
    FirstCommand("a trend", years_beside_a_trend, {"time": "obs", "target": "q"}),
    FirstCommand("visits", visits_after_a_therapy, {"time": "Days.after.start", "item_id": "patient"}),
    FirstCommand("scores", scores_of_some_seasons, {"time": "season_start", "target": None}),
    FirstCommand("an index", noise_by_an_index, {"target": "a"}),
    FirstCommand(
        "a comma in a name", lambda: noise_by_an_index().rename(columns={"index": "Month, local"}), {"target": "a"}
    ),
    FirstCommand("intervals", fluxes_of_half_hours, {"time": "TIMESTAMP_START", "target": "NEE"}),
    FirstCommand(
        "charges", charges_of_cards, {"time": "created", "date_format": "s", "target": "amount", "resample": "D"}
    ),
    FirstCommand("queues", queues_of_a_call_centre, {"time": "Début d'intervalle", "item_id": "File"}),
    FirstCommand(
        "flux", flux_of_three_hours, {"time": "fluxdate", "item_id": "fluxtime", "target": "obsflux"}, num_series=3
    ),
    FirstCommand("deals", deals_by_their_close, {"time": "Close Date", "aggregate": "sum"}),
    FirstCommand(
        "seasons",
        weeks_of_seasons,
        {"time": "week_start_date", "item_id": None, "target": "total_cases"},
        mentions="13 steps of 1 week",
        quick=True,
    ),
    FirstCommand("changes", demand_by_its_last_change, {"time": "SETTLEMENTDATE"}, quick=True),
    FirstCommand(
        "ages of workers",
        hours_of_workers,
        {"time": None, "target": "lnhr"},
        "'lnhr' of 30 series told apart by 'id', 3 steps of 1 row ahead",
    ),
    FirstCommand("claims", claims_of_policies, {"time": "dateOfLoss", "target": "row-count"}),
)


@each_case(CASES)
def test_the_first_command_chooses_the_time(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.parametrize("spoil", ["gap", "off", "text", "ambiguous"])
@pytest.mark.slow
def test_a_time_with_a_fault_is_not_replaced_by_row_numbers(tmp_path: Path, spoil: str) -> None:
    frame = pd.DataFrame({"date": date_column(12), "y": values(12)})
    if spoil == "ambiguous":
        frame["date"] = [f"{at:02d}/{at:02d}/2024" for at in range(1, 13)]
    else:
        frame.loc[6, "date"] = {"gap": "2034-01-07", "off": "2024-01-07 05:00", "text": "soon"}[spoil]
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    assert all(proposal.time == "date" for proposal in find_proposals(path, DataConfig()))
    thousands = pd.DataFrame({"date": date_column(30), "y": [f"{at},{at + 100}" for at in range(1, 31)]})
    thousands.to_csv(path, index=False)
    both = [(proposal.options, proposal.forecasts) for proposal in find_proposals(path, DataConfig())]
    assert both == [({"decimal": mark}, f"'y', 7 steps of 1 day ahead, with '{mark}' before decimals") for mark in ".,"]


@pytest.mark.slow
def test_two_columns_of_dates_that_are_as_likely_are_both_proposed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"ordered": date_column(40), "delivered": date_column(40, "2024-01-03"), "y": values(40)}).to_csv(
        path, index=False
    )
    assert [dict(proposal.options) for proposal in find_proposals(path, DataConfig())] == [
        {"time": "ordered"},
        {"time": "delivered"},
    ]


def orders() -> pd.DataFrame:
    """Some orders a day, shipped up to a week later; weeks and customers' birthdays are beside them."""
    ordered = pd.Timestamp("2022-01-03") + pd.to_timedelta(np.sort(RNG.integers(0, 500, 3000)), unit="D")
    born = pd.Timestamp("1960-01-01") + pd.to_timedelta(RNG.integers(0, 15_000, 3000), unit="D")
    return pd.DataFrame(
        {
            "A shipped": ordered + pd.to_timedelta(RNG.integers(0, 8, 3000), unit="D"),
            "B born": born,
            "C week": ordered - pd.to_timedelta(ordered.day_of_week, unit="D"),
            "D ordered": ordered,
            "amount": RNG.lognormal(3, 1, 3000).round(2),
        }
    )


@pytest.mark.parametrize("without", [[], ["C week"], ["B born", "C week"]])
def test_of_two_dates_what_follows_soon_after_the_other_is_not_the_time(tmp_path: Path, without: list[str]) -> None:
    assert first_of(tmp_path, orders().drop(columns=without))["time"] == "D ordered"


def test_the_time_of_an_event_counts_rather_than_the_start_of_its_session(tmp_path: Path) -> None:
    """Sessions that stand one below the other are no series: each lasts for a few minutes."""
    start = pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 40 * 86_400, 600)), unit="s")
    rows = RNG.integers(2, 7, 600)
    time = start.repeat(rows) + pd.to_timedelta(RNG.integers(0, 3000, rows.sum()), unit="s")
    session = np.arange(600).repeat(rows)
    frame = pd.DataFrame({"session": [f"s{at}" for at in session], "begun": start.repeat(rows), "paid at": time})
    frame = frame.assign(amount=RNG.lognormal(3, 1, len(frame)).round(2)).sort_values(["session", "paid at"])
    options = first_of(tmp_path, frame)
    assert options["time"] == "paid at"
    assert "item_id" not in options
