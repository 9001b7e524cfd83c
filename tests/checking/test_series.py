"""Which columns tell series apart, by their names and by how their rows stand."""

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

from ..made_columns import RNG, date_column, noise, values
from .first_commands import QUICK, FirstCommand, check_first_command, each_case, first_of


def states_and_regions() -> pd.DataFrame:
    """Trips by state, region and purpose; a remark that differs in every row tells no series apart."""
    months = pd.date_range("2000-01-01", periods=40, freq="MS").strftime("%Y-%m-%d")
    rows = [
        (month, state, region, f"remark {at % 3}", at)
        for state, region in (("N", "a"), ("N", "b"), ("S", "a"), ("S", "b"))
        for at, month in enumerate(months)
    ]
    return pd.DataFrame(rows, columns=["Month", "State", "Region", "Remark", "Trips"]).sample(frac=1, random_state=1)


def codes_beside_properties() -> pd.DataFrame:
    series = [pd.DataFrame({"date": date_column(60), "population": 10_000 - at, "zipcode": at}) for at in range(20)]
    return pd.concat(series).assign(orders=values(1200)).sort_values("date", kind="stable")


def a_switch_called_id() -> pd.DataFrame:
    """As votes in elections: who governs, -1 or 1, in the column Id."""
    return pd.DataFrame({"year": range(1916, 1996, 4), "vote": values(20), "Id": np.where(np.arange(20) % 3, 1, -1)})


def clubs_of_divisions() -> pd.DataFrame:
    """As the teams of Lahman: most clubs played for two years, and most rows are of those that played for long."""
    lives = [(f"F{at}", 40 if at < 8 else 2) for at in range(24)]
    rows = [
        (1900 + year, club, "WE"[year % 2 if at % 2 else 0])
        for at, (club, life) in enumerate(lives)
        for year in range(life)
    ]
    return pd.DataFrame(rows, columns=["yearID", "franchID", "divID"]).assign(W=values(len(rows)))


def ages_and_sexes() -> pd.DataFrame:
    """15-19 is an age, and no hour of a day."""
    rows = [(age, sex, year) for age in ("15-19", "20-24", "25-29") for sex in "FM" for year in range(2000, 2022)]
    return pd.DataFrame(rows, columns=["age", "sex", "time"]).assign(divorces=values(132))


def twelve_firms() -> pd.DataFrame:
    """Their numbers go up while the years stay, and the years begin again: no months."""
    years = [*range(2005, 2025)] * 12
    return pd.DataFrame({"year": years, "unit": np.repeat(np.arange(1, 13), 20), "y": values(240)})


def firms_of_each_year() -> pd.DataFrame:
    frame = twelve_firms()
    return frame.sort_values(["year", "unit"])


def ranks_of_each_day() -> pd.DataFrame:
    """From 1 to 20, as in charts: no hours."""
    return pd.DataFrame({"date": date_column(60).repeat(20), "rank": [*range(1, 21)] * 60, "plays": values(1200)})


def players_by_rank() -> pd.DataFrame:
    """Another player is first each week; all have numbers."""
    weeks = pd.date_range("2020-01-06", periods=60, freq="W-MON").strftime("%Y%m%d").astype(int)
    players = np.concatenate([RNG.permutation(np.arange(103000, 103024))[:20] for _ in weeks])
    frame = pd.DataFrame({"ranking_date": np.repeat(weeks, 20), "rank": [*range(1, 21)] * 60, "player": players})
    return frame.assign(points=np.tile(np.arange(9000, 5000, -200), 60) + RNG.integers(0, 90, 1200))


def counters_by_doors() -> pd.DataFrame:
    """The codes of few doors could be dates: 01-03-02, and not 02-00-00."""
    hours = pd.date_range("2019-03-23", periods=60, freq="4h")
    doors = ["01-03-02", "02-00-00", "02-00-01", "00-00-02"]
    rows = [(f"{hour:%m/%d/%Y}", f"{hour:%H:%M:%S}", door) for hour in hours for door in doors]
    return pd.DataFrame(rows, columns=["DATE", "TIME", "SCP"]).assign(ENTRIES=values(240))


def receipts_of_a_shop() -> pd.DataFrame:
    """Two receipts of a minute were paid in one way as often as any two."""
    minutes = np.sort(RNG.integers(0, 60 * 24 * 40, 4200))
    stamps = (pd.Timestamp("2024-02-01") + pd.to_timedelta(minutes, "min")).strftime("%Y-%m-%d %H:%M")
    return pd.DataFrame({"Date": stamps, "Paid by": RNG.choice(["cash", "card"], 4200), "Net sales": noise(4200)})


def sensors_of_a_receiver() -> pd.DataFrame:
    """Three models send every ten minutes, each at seconds of its own; a car passes now and then."""
    tens = pd.Series(pd.date_range("2021-02-01", periods=300, freq="10min"))
    models = ((model, 5 + 120 * at, 20 * at) for at, model in enumerate(("tower", "cellar", "pond")))
    sent = [
        pd.DataFrame({"time": tens + pd.Timedelta(s, "s"), "model": m, "temp": t + noise(300)}) for m, s, t in models
    ]
    cars = pd.DataFrame({"time": tens.sample(20, random_state=1) + pd.Timedelta(77, "s"), "model": "tyre"})
    return pd.concat([*sent, cars.iloc[:9]]).sort_values("time").assign(time=lambda table: table["time"].astype(str))


def wells_called_as_weeks() -> pd.DataFrame:
    """W1 to W9 at each date: no weeks."""
    rows = [(date, f"W{well}") for date in date_column(40) for well in range(1, 10)]
    return pd.DataFrame(rows, columns=["date", "well"]).assign(level=values(360))


def harvests_of_farms() -> pd.DataFrame:
    """The seasons of each farm stand in their order, and no column counts them."""
    return pd.DataFrame({"id": np.repeat(np.arange(101, 161), 8), "output": noise(480), "labour": noise(480)})


def bakers_of_seasons() -> pd.DataFrame:
    """Fewer of them take part in each episode, and their names come again in other seasons."""
    rows = [
        (season, baker, episode)
        for season in range(1, 7)
        for episode in range(1, 9)
        for baker in [*"abcdefghij"][: 11 - episode]
    ]
    frame = pd.DataFrame(rows, columns=["series", "baker", "episode"]).sort_values(["series", "baker", "episode"])
    return frame.assign(technical=RNG.integers(1, 11, len(frame)))


def careers_of_players() -> pd.DataFrame:
    """Players come and go: each has a row in every year of his career, an eighth of all years."""
    starts = np.repeat(np.sort(RNG.integers(1900, 2012, 60)), 14)
    frame = pd.DataFrame({"player": np.repeat(np.arange(60), 14).astype(str), "year": starts + np.tile(range(14), 60)})
    frame["player"] = "p" + frame["player"]
    return frame.assign(games=RNG.integers(3, 99, 840)).sort_values(["year", "player"])


def tracks_of_storms() -> pd.DataFrame:
    """Names come again after six years; several storms blow at a time."""
    starts = [pd.Timestamp(f"{year}-08-{day:02d}") for year in range(2000, 2012) for day in (1, 3, 5)]
    stamps = pd.DatetimeIndex(np.concatenate([pd.date_range(each, periods=20, freq="6h") for each in starts]))
    parts = {name: getattr(stamps, name) for name in ("year", "month", "day", "hour")}
    names = np.repeat([f"s{at % 18}" for at in range(36)], 20)
    return pd.DataFrame({"name": names, **parts, "wind": noise(720), "pressure": noise(720)})


def periods_of_two_years() -> pd.DataFrame:
    """A switch says the same as the year, and stands before it."""
    frame = pd.DataFrame({"late": np.repeat([0, 1], 26), "period": np.tile(np.arange(1, 27), 2), "share": noise(52)})
    return frame.assign(year=np.repeat([1998, 2000], 26))


def entries_by_doors() -> pd.DataFrame:
    """The codes of doors look like dates, but there is no day 00."""
    hours = pd.date_range("2021-04-03", periods=100, freq="4h")
    doors = np.repeat(["02-00-00", "02-00-01", "02-03-00"], 100)
    frame = pd.DataFrame({"door": doors, "time": np.tile(hours.strftime("%Y-%m-%d %H:%M"), 3)})
    return frame.assign(entries=RNG.integers(0, 400, 300))


def claims_of_cities() -> pd.DataFrame:
    """The number of the city stands behind a switch for each year."""
    years = np.tile(np.arange(1980, 1990), 12)
    switches = {f"d{year}": (years == year).astype(int) for year in range(1980, 1990)}
    return pd.DataFrame({"year": years, "claims": noise(120), **switches, "city": np.repeat(np.arange(12), 10)})


def buoys_one_below_the_other() -> pd.DataFrame:
    """Samples of a water, as a file of all buoys has them: the year is the only time, and many rows have it."""
    buoys = pd.DataFrame(itertools.product([1993, 1997], [0, -2, -5], [-110, -95]), columns=["Year", "Lat", "Lon"])
    rows = buoys.loc[buoys.index.repeat(40)].reset_index(drop=True)
    return rows.assign(sea=noise(480), air=noise(480), wind=noise(480) - 10)


def samples_of_two_points() -> pd.DataFrame:
    """Only the name of a column says that the samples are not of one river."""
    days = pd.to_timedelta(np.sort(RNG.choice(3000, 160, replace=False)), "D")
    frame = pd.DataFrame({"sampled": pd.Timestamp("2015-01-01") + days, "Sampling point": "inlet"})
    frame.loc[RNG.permutation(160)[:80], "Sampling point"] = "outlet"
    return frame.assign(nitrate=noise(160))


def machine_at_uneven_times() -> pd.DataFrame:
    """A set point is no point where something was measured."""
    frame = samples_of_two_points().drop(columns="Sampling point")
    return frame.assign(**{"set point": RNG.integers(60, 63, 160)})


def flights_on_some_days() -> pd.DataFrame:
    """Each is a row a second for some minutes; the next one is days away."""
    starts = 90_000 * np.array([0, 4, 5, 9])
    seconds = (starts[:, None] + np.arange(300)).ravel()
    stamps = pd.Timestamp("2024-03-01") + pd.to_timedelta(seconds, "s")
    return pd.DataFrame({"time": stamps, "callsign": np.repeat([*"ABCD"], 300), "altitude": noise(1200).cumsum()})


def scans_of_a_brain() -> pd.DataFrame:
    """Each of several regions is seen at the same points of time, in any order of rows."""
    keys = [(subject, event, region) for subject in ("s1", "s2", "s3") for event in ("cue", "stim") for region in "fp"]
    rows = [(*key, point) for key in keys for point in range(19)]
    frame = pd.DataFrame(rows, columns=["subject", "event", "region", "timepoint"]).sample(frac=1, random_state=1)
    return frame[["subject", "timepoint", "event", "region"]].assign(signal=noise(len(frame)))


def shops_week_by_week() -> pd.DataFrame:
    """The shops of a week stand below those of the week before, and no column says which week it is."""
    return pd.DataFrame({"shop": [f"shop of {name}" for name in "abcdefghi"] * 60, "volume": noise(540) * 50})


def parks_of_teams() -> pd.DataFrame:
    """A team plays in several parks, in most of which but once or twice."""
    parks = [(f"team {team}", f"park {park}", 30 if park == 0 else 2) for team in "abcdefg" for park in range(4)]
    rows = [(team, park, year, year) for team, park, count in parks for year in range(1990, 1990 + count)]
    frame = pd.DataFrame(rows, columns=["team", "park", "year", "seen"]).sort_values("year", kind="stable")
    return frame.assign(seen=noise(len(frame)) * 900)


def batches_of_a_process() -> pd.DataFrame:
    """Batches stand one below the other, as many rows each as they took."""
    lengths = RNG.integers(50, 70, 12)
    return pd.DataFrame({"batch_id": np.repeat(np.arange(12) + 1, lengths), "heat": noise(lengths.sum())})


def persons_asked(years_apart: bool) -> pd.DataFrame:
    """A survey numbers whom it asks from 1 on, others each year; a panel asks the same persons again."""
    years, persons = np.repeat(np.arange(1990, 2010), 40), np.tile(np.arange(1, 41), 20)
    of_person = noise(800) if years_apart else noise(40)[persons - 1] + noise(800) / 10
    return pd.DataFrame(
        {"id": persons, "year": years, "income": of_person, "hours": of_person[::-1], "sex": RNG.choice([*"fm"], 800)}
    )


def birds_by_all_their_words() -> pd.DataFrame:
    """Most rows are those of short series, which are forecast, too, if one is long enough for more."""
    long = pd.DataFrame({"week": np.arange(1, 31), "nest": "a", "phase": "early", "count": noise(30)})
    rest = [pd.DataFrame({"week": [at, at + 1, at + 2], "nest": f"n{at}", "phase": "late"}) for at in range(1, 19)]
    return pd.concat([long, *(each.assign(count=noise(3)) for each in rest)])


def of_prisons() -> str:
    """Four columns tell the series apart, and small counts are no name beside them."""
    names = itertools.product("VQ", ("Female", "Male"), ("Remanded", "Sentenced"), ("ATSI", "Other"))
    quarters = [f"{2010 + at // 4} Q{at % 4 + 1}" for at in range(24)]
    rows = [f"{quarter},{','.join(name)},{RNG.integers(0, 9)}" for name in names for quarter in quarters]
    return "\n".join(["Quarter,State,Gender,Legal,Indigenous,Count", *rows])


def of_a_trial() -> str:
    """As R writes a frame: the number of the row, then periods of each subject."""
    rows = [f'"{at + 1}",{at // 4 + 1},{at % 4 + 1},{v}' for at, v in enumerate(values(240))]
    return "\n".join(['"","subject","period","y"', *rows])


def of_stores() -> str:
    """As Rossmann's: the kinds of holidays are words among zeros."""
    days = pd.date_range("2014-07-31", "2013-10-01", freq="-1D")
    kinds = {1: "a", 11: "b", 25: "c"}
    rows = [
        f"{store},{day:%Y-%m-%d},{100 * store + day.day},{kinds.get(day.day, '0')}" for day in days for store in (1, 2)
    ]
    return "\n".join(["Store,Date,Sales,StateHoliday", *rows]) + "\n"


def crops_of_districts() -> pd.DataFrame:
    """Rice is grown in two seasons of a year, so that district and crop have two rows in it."""
    keys = [("Kharif", "Rice"), ("Kharif", "Maize"), ("Rabi", "Rice"), ("Rabi", "Wheat"), ("Whole Year", "Banana")]
    rows = [(name, year, *key) for name in ("Ajmer", "Alwar") for year in range(1997, 2015) for key in keys]
    frame = pd.DataFrame(rows, columns=["District", "Crop_Year", "Season", "Crop"])
    return frame.assign(Area=noise(180) * 90, Production=noise(180) * 200)


def traffic_of_streets() -> pd.DataFrame:
    """Each direction of a street is counted at a place of its own, which a column of geometry says, too."""
    ways = [("Mill Road", "EB", 1011.5), ("Mill Road", "WB", 1012.25), ("Quay", "EB", 996.5), ("Quay", "WB", 997.75)]
    rows = [
        (hour, f"POINT ({x} {x / 5})", street, direction)
        for hour in pd.date_range("2019-10-07", periods=100, freq="h")
        for street, direction, x in ways
    ]
    frame = pd.DataFrame(rows, columns=["time", "geometry", "street", "direction"])
    return frame.assign(volume=RNG.poisson(90, 400))


CASES = (
    FirstCommand(
        "state and region",
        states_and_regions,
        {"item_id": "State,Region"},
        "'Trips' of 4 series told apart by 'State,Region', 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "codes",
        codes_beside_properties,
        {"item_id": "zipcode", "target": "orders"},
        "'orders' of 20 series told apart by 'zipcode', 7 steps of 1 day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "a switch called Id",
        a_switch_called_id,
        {"ignore": ("Id",)},
        "'vote', 5 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "clubs",
        clubs_of_divisions,
        {"time": "yearID", "item_id": "franchID"},
        "'W' of 8 series told apart by 'franchID', 3 steps of 1 row ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand("ages and sexes", ages_and_sexes, {"item_id": "age,sex"}),
    FirstCommand("twelve firms", twelve_firms, {"item_id": "unit"}),
    FirstCommand("firms of each year", firms_of_each_year, {"item_id": "unit"}),
    FirstCommand("ranks of each day", ranks_of_each_day, {"item_id": "rank"}),
    FirstCommand("harvests", harvests_of_farms, {"time": "row-number", "item_id": "id", "target": "output"}),
    FirstCommand("bakers", bakers_of_seasons, {"time": "episode", "item_id": "baker,series", "target": None}),
    FirstCommand("careers", careers_of_players, {"item_id": "player", "freq": None}),
    FirstCommand("storms", tracks_of_storms, {"time": "year,month,day,hour", "item_id": "name,year", "target": "wind"}),
    FirstCommand("periods", periods_of_two_years, {"time": "period", "item_id": "year", "target": "share"}),
    FirstCommand("doors", entries_by_doors, {"item_id": "door"}),
    FirstCommand("claims", claims_of_cities, {"item_id": "city", "target": "claims"}),
    FirstCommand("buoys", buoys_one_below_the_other, {"time": "row-number", "item_id": "Lat,Lon", "target": "sea"}),
    FirstCommand("points", samples_of_two_points, {"item_id": "Sampling point"}),
    FirstCommand(
        "no points", lambda: samples_of_two_points().rename(columns={"Sampling point": "mood"}), {"item_id": None}
    ),
    FirstCommand("settings", machine_at_uneven_times, {"item_id": None}),
    FirstCommand("flights", flights_on_some_days, {"item_id": "callsign", "resample": None}),
    FirstCommand("scans", scans_of_a_brain, {"time": "timepoint", "item_id": "subject,event,region"}),
    FirstCommand("shops in turn", shops_week_by_week, {"time": "row-number", "item_id": "shop"}),
    FirstCommand("parks", parks_of_teams, {"item_id": "team,park"}),
    FirstCommand("batches", batches_of_a_process, {"time": "row-number", "item_id": "batch_id"}),
    FirstCommand("survey", lambda: persons_asked(years_apart=True), {"item_id": None, "ignore": ("id",)}),
    FirstCommand("panel", lambda: persons_asked(years_apart=False), {"ignore": None, "target": "income"}),
    FirstCommand("birds of nests", birds_by_all_their_words, {"item_id": "nest", "lookback": 2, "horizon": 2}),
    FirstCommand(
        "prisons",
        of_prisons,
        {"item_id": "State,Gender,Legal,Indigenous"},
        "'Count' of 16 series told apart by 'State,Gender,Legal,Indigenous', 4 steps of 1 quarter ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a trial",
        of_a_trial,
        {"time": "period", "item_id": "subject"},
        "'y' of 60 series told apart by 'subject', 1 step of 1 row ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "stores",
        of_stores,
        {"item_id": "Store", "categorical": ("StateHoliday",)},
        "'Sales' of 2 series told apart by 'Store', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "seasons of crops",
        crops_of_districts,
        {"time": "Crop_Year", "item_id": "District,Crop,Season", "target": "Production"},
        num_series=10,
    ),
    FirstCommand("players", players_by_rank, {"time": "ranking_date", "item_id": "player"}),
    FirstCommand("doors by codes", counters_by_doors, {"time": "DATE,TIME", "item_id": "SCP"}),
    FirstCommand("receipts", receipts_of_a_shop, {"item_id": None, "target": None}),
    FirstCommand("sensors", sensors_of_a_receiver, {"item_id": "model"}),
    FirstCommand("wells", wells_called_as_weeks, {"item_id": "well"}, num_series=9),
    FirstCommand("streets", traffic_of_streets, {"item_id": "street,direction"}, num_series=4),
)


@each_case(CASES)
def test_the_first_command_tells_series_apart(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def firms_without_names(rows: int = 20) -> pd.DataFrame:
    years = np.tile(np.arange(1990, 1990 + rows), 6)
    return pd.DataFrame({"year": years, "sales": values(6 * rows)})


@pytest.mark.slow
def test_series_without_names_are_told_apart_by_where_the_time_starts_again(forecast: Callable, tmp_path: Path) -> None:
    path, out = tmp_path / "firms.csv", tmp_path / "run"
    firms_without_names().to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"time": "year", "item_id": "block-number"}
    words = shlex.split(command_text(str(path), {}, proposal.options))[1:]
    assert forecast(*words, *QUICK, "--out", str(out)).code == 0
    ahead = forecast("predict", str(out), "--data", str(path), "--out", str(tmp_path / "ahead.csv"))
    assert ahead.code == 0, ahead.err
    panel = examine(path, DataConfig(**proposal.options)).panel
    assert panel is not None
    assert panel.item_ids == tuple("123456")
    assert panel.num_known.tolist() == [20] * 6


def test_blocks_of_other_years_or_of_copied_rows_are_no_evidence(tmp_path: Path) -> None:
    frame = firms_without_names()
    whole = pd.concat([frame.iloc[:20]] * 2)
    for at, table in enumerate((frame.drop(index=[25, 119]), whole)):
        path = tmp_path / f"{at}.csv"
        table.to_csv(path, index=False)
        assert not any("item_id" in proposal.options for proposal in find_proposals(path, DataConfig()))


def test_series_of_a_few_rows_each_get_the_command_with_the_smallest_sizes(tmp_path: Path) -> None:
    """As the visits to herds: fifteen of them, four periods."""
    herds = [(herd, period, values(1)[0]) for herd in range(15) for period in range(1, 5)]
    first = first_of(tmp_path, pd.DataFrame(herds, columns=["herd", "period", "cases"]))
    assert {**first, "time": "period", "item_id": "herd", "lookback": 2, "horizon": 1} == first


@pytest.mark.slow
def test_a_column_that_leaves_stamps_twice_is_no_identifier(tmp_path: Path) -> None:
    """A mean over directions of the wind would be another series."""
    path = tmp_path / "table.csv"
    wind = np.array(["N", "S", "W"])[RNG.integers(0, 3, 240)]
    pd.DataFrame({"date": np.repeat(date_column(80).to_numpy(), 3), "wind": wind, "y": values(240)}).to_csv(
        path, index=False
    )
    for proposal in find_proposals(path, DataConfig()):
        assert "item_id" not in proposal.options
        assert "duplicates" not in proposal.options


def test_provinces_that_some_countries_have_tell_series_apart(tmp_path: Path) -> None:
    names = [("Germany", None), ("France", None), ("China", "Hubei"), ("China", "Beijing")]
    rows = [(day, *name, value) for day in date_column(60) for name, value in zip(names, values(4), strict=True)]
    frame = pd.DataFrame(rows, columns=["date", "country", "province", "cases"])
    assert first_of(tmp_path, frame)["item_id"] == "country,province"


@pytest.mark.slow
def test_many_series_of_four_years_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    route, year = np.repeat([f"route {at}" for at in range(40)], 4), np.tile(np.arange(1997, 2001), 40)
    pd.DataFrame({"route": route, "year": year, "fare": values(160)}).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.item_id, proposal.num_series, proposal.horizon) == ("route", 40, 1)
    path.write_text("\n".join(path.read_text().splitlines()[:9]))  # two routes
    assert find_proposals(path, DataConfig())[0].options == {"item_id": "route", "lookback": 2, "horizon": 1}


def test_subjects_need_no_treatment_beside_their_number(tmp_path: Path) -> None:
    """The number of a subject tells the series apart by itself, whatever else each of them has."""
    lines = [
        f"{subject},{period},{'placebo' if subject % 2 else 'drug'},{number:.1f}"
        for subject in range(1, 60)
        for period, number in zip(range(1, 16), noise(15), strict=True)
    ]
    (tmp_path / "table.csv").write_text("\n".join(["subject,period,treatment,seizure_rate", *lines]))
    assert find_proposals(tmp_path / "table.csv", DataConfig())[0].item_id == "subject"
