"""Lines above the rows and drawn around them: titles, comments, settings and units, which are left out."""

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
from forecast_attn.data.reading import read_table

from ..made_columns import NUMBERS, RNG, ROWS, SIXTY_VALUES, comma, date_column, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def settings_above_the_rows() -> pd.DataFrame:
    """As glucose meters write them: who wears it, in rows without a time."""
    stamps = pd.date_range("2024-01-01", periods=600, freq="5min").strftime("%Y-%m-%dT%H:%M:%S")
    settings = pd.DataFrame({"Timestamp": [None] * 3, "Event": ["FirstName", "LastName", "Device"]})
    return pd.concat([settings, pd.DataFrame({"Timestamp": stamps, "Event": "EGV", "Glucose": values(600)})])


def numbers_as_stata_writes_them() -> pd.DataFrame:
    """Numbers below one have no zero before the point, and a row of them is neither a title nor a name of columns."""
    frame = pd.DataFrame({name: 1.5 + np.abs(RNG.normal(0, 0.3, 90).cumsum()) for name in ("f1", "f2", "f1b")})
    frame.loc[[6, 40]] = [[0.073, 0.313, -0.009], [0.158, 0.183, 0.211]]
    return frame.map(lambda number: f"{number:.4f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.4f}")


def rainfall_below_a_title() -> str:
    """One column of numbers, below a title with commas and a source."""
    title = ["Total annual rainfall in inches, London, England, 1813-1912", "#Source: Hipel and McLeod (1994)"]
    return "\n".join([*title, *(f"{number:.2f}" for number in noise(100) * 2)])


def discharge_below_its_station() -> str:
    """Above rows without names stand the station's properties, two of them a table of their own."""
    station = [
        "Messstelle:;Steeg",
        "Pegelnullpunkt:",
        " gültig seit:;Höhe:;Höhensystem:",
        " 01.01.1971;1109,33;Adria",
        "Koordinaten (Bessel 1841):",
        "Einheit:;m³/s",
        "Exportzeitraum:;01.01.1998 00:00:00;31.12.1998 00:00:00",
        "Werte:",
    ]
    days = pd.date_range("1998-01-01", periods=365)
    rows = [
        f"{day:%d.%m.%Y %H:%M:%S} ;  {number:.2f};".replace(".", ",", 0)
        for day, number in zip(days, noise(365), strict=True)
    ]
    return "\n".join([*station, *(row[:20] + row[20:].replace(".", ",") for row in rows)])


def of_a_weather_office() -> str:
    """As the Met Office: lines about the station, names, units, columns of numbers, estimates with a star."""
    rows = [
        f" {2000 + at // 12}  {at % 12 + 1:2d}  {value:6.1f}{'*' if at > 90 else ''}"
        for at, value in enumerate(values(96))
    ]
    return "\n".join(["The Town (Airport)", "Lat 51.5 Lon 0.4", " yyyy  mm   tmax", "              degC", *rows])


def of_a_data_base() -> str:
    """As InfluxDB: types above the names, each line as wide as the rows."""
    hours = pd.date_range("2022-01-01", periods=300, freq="h").strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [f",,0,{stamp},{value}" for stamp, value in zip(hours, values(300), strict=True)]
    return "\n".join(["#datatype,string,long,dateTime,double", "#default,mean,,,", ",result,table,_time,_value", *rows])


def of_a_watch() -> str:
    """As Actiware exports it: a hundred lines about the person, a delimiter behind the last cell of rows alone."""
    above = [f'"Property {at}:","{at}"' for at in range(100)]
    minutes = pd.date_range("2015-07-14 09:45", periods=400, freq="min")
    rows = [f'"{at:%d/%m/%Y}";"{at:%H:%M:%S}";"{v}";' for at, v in zip(minutes, values(400), strict=True)]
    return "\n".join([*(line.replace(",", ";") for line in above), '"Date";"Time";"Activity"', *rows])


def of_a_central_bank() -> str:
    """As the Bundesbank's older files: what the column is stands between its code and its rows."""
    head = [";BBK01.WT5511;FLAGS", ";Preis des Goldes;", ";Kein Wert vorhanden;", "Einheit;USD;", "Dimension;Eins;"]
    days = pd.bdate_range("2021-01-04", periods=200)
    rows = [f"{day:%Y-%m-%d};{comma(value)};" for day, value in zip(days, hourly_wave(200, 1800.0), strict=True)]
    return "\n".join([*head, "Stand vom;02.05.2023 12:00:00 Uhr;", *rows]) + "\n"


def of_a_statistical_office() -> str:
    """As INSEE's: lines of two fields above rows of three."""
    head = ['"Libellé";"Indice"', '"idBank";"001759970"', '"Période";""']
    months = pd.date_range("2005-01-01", periods=120, freq="MS")
    rows = [f'"{month:%Y-%m}";"{value}";"A"' for month, value in zip(months, hourly_wave(120), strict=True)]
    return "\n".join([*head, *rows[::-1]]) + "\n"


def of_a_spreadsheet() -> str:
    """Titles as wide as the rows, marks of thousands, and sums below the rows."""
    days = pd.date_range("2021-01-01", periods=200)
    rows = [f'{day:%d.%m.%Y},"{1200 + at % 50:,}","{2400 + at % 30:,}"' for at, day in enumerate(days)]
    return "\n".join(["Sales report,,", ",,", "Date,Store A,Store B", *rows, 'Total,"300,000","1,000,000"']) + "\n"


def of_an_ocean_index() -> str:
    """A title as wide as the rows, of which the first one has a whole year."""
    months = pd.date_range("1951-01-01", periods=120, freq="MS")
    rows = [
        f"{m:%Y%m},{m.year + (m.month - 1) / 12:.6g},{v}" for m, v in zip(months, hourly_wave(120, 0.0), strict=True)
    ]
    return "\n".join(["Ocean Index (OI),,", "Date,Year,Value", *rows]) + "\n"


def of_a_solar_portal() -> str:
    """The delimiter is named first, and lines without it follow."""
    days = pd.date_range("2021-01-01", periods=100)
    rows = [f"{day:%d.%m.%Y};{comma(value, 3)}" for day, value in zip(days, hourly_wave(100), strict=True)]
    return "\n".join(["sep=;", "Version CSV|Tool PORTAL|Delimiter semicolon", "", "Period;Yield [kWh]", *rows]) + "\n"


def of_an_exchange_rate_service() -> str:
    """A title and a source around columns between blanks, one of them the number of the day."""
    days = pd.bdate_range("1997-01-02", periods=120)
    rows = [f"{int(d.to_julian_date())} {d:%Y/%m/%d} {d:%a} {v}" for d, v in zip(days, hourly_wave(120), strict=True)]
    return (
        "\n".join(["PACIFIC Exchange Rate Service", "Jul.Day YYYY/MM/DD Wdy GBP/USD", *rows, "(C) 2015 by a professor"])
        + "\n"
    )


def of_a_wristband() -> str:
    """Settings as wide as the rows stand above them, among them the names of their columns."""
    seconds = pd.date_range("2000-01-27 19:00", periods=200, freq="s")
    rows = [
        f"{second},{value},5{at % 3}" for at, (second, value) in enumerate(zip(seconds, hourly_wave(200), strict=True))
    ]
    head = ["Start: 2000-01-27 19:00:00", "", "Serial number:,my,my", "Name:,Acceleration,Light", "Group:,0,1"]
    head += ["Type:,0+1,3", "Sample rate:,10,10", "Store rate:,1,1", "Binning mode:,Sum,Average", "Bins:,0,0", ""]
    return "\n".join([*head, *rows]) + "\n"


def of_a_resource_plan() -> str:
    """A title above lines that are drawn with dashes alone, and bars at both ends of the rows."""
    months = pd.date_range("2018-01-01", periods=40, freq="MS")
    rows = [f"|{name}|{m:%m.%Y}| 1.{500 + 9 * m.month:03d},000|" for m in months for name in ("100-200", "100-300")]
    rule = "-" * 30
    return "\n".join(["Consumption", "", rule, "|Material|Month|Quantity|", rule, *rows, rule]) + "\n"


def of_a_swedish_station() -> str:
    """As SMHI's: tables of a row each above the names, of which one is empty, and remarks behind the first rows."""
    hours = pd.date_range("2023-01-01", periods=400, freq="h")
    rows = [f"{hour:%Y-%m-%d;%H:%M:%S};{value};G;;" for hour, value in zip(hours, hourly_wave(400), strict=True)]
    rows[:3] = [row + remark for row, remark in zip(rows, ("Kontrollerade data", "Tid = UTC", "Timme"), strict=False)]
    above = [
        *("Stationsnamn;Stationsnummer;Nät;Höjd", "Stockholm;98230;SMHI;2.0", ""),
        *("Parameternamn;Beskrivning;Enhet", "Lufttemperatur;momentan;celsius", ""),
        *("Tid (fr.o.m);Tid (t.o.m);Latitud", "1996-10-01 00:00:00;2025-12-01 06:00:00;59.34", ""),
    ]
    return "\n".join([*above, "Datum;Tid (UTC);Lufttemperatur;Kvalitet;;Tidsutsnitt:", *rows]) + "\n"


def of_an_actigraph() -> str:
    """Settings in two cells far above the names, a delimiter behind each row, and no score in the first minutes."""
    times = pd.date_range("2015-07-24 09:45", periods=300, freq="30s")
    settings = [f'"Setting {at}:","{at * 7}"' for at in range(30)]
    names = '"Line","Date","Time","Activity","Sleep","Interval",'
    rows = [
        f'"{at}","{time:%d/%m/%Y}","{time:%H:%M:%S}","{value}","{"NaN" if at < 6 else at % 2}","ACTIVE",'
        for at, (time, value) in enumerate(zip(times, hourly_wave(300), strict=True), 1)
    ]
    return "\n".join([*settings, "", names, "", *rows]) + "\n"


def of_sea_ice() -> str:
    """As the NSIDC's: units of year, month and day below their names."""
    days = pd.date_range("2020-01-01", periods=400)
    rows = [
        f"{day:%Y,    %m,  %d},     {value:.3f},  0.000" for day, value in zip(days, hourly_wave(400, 14), strict=False)
    ]
    return "\n".join(["Year, Month, Day, Extent, Missing", "YYYY, MM, DD, 10^6 sq km, 10^6 sq km", *rows]) + "\n"


def of_turbulence() -> str:
    """As EddyPro's: groups above the names and units below them; names of files begin with a date."""
    stamps = pd.date_range("2023-07-01 00:30", periods=200, freq="30min")
    rows = [
        f"{'not_enough_data' if at < 3 else f'{stamp:%Y-%m-%dT%H%M%S}_AIU-1.ghg'},{stamp:%Y-%m-%d,%H:%M},{value},0"
        for at, (stamp, value) in enumerate(zip(stamps, hourly_wave(200), strict=False))
    ]
    return (
        "\n".join(["file_info,,,fluxes,", "filename,date,time,H,qc_H", ",[yyyy-mm-dd],[HH:MM],[W+1m-2],[#]", *rows])
        + "\n"
    )


def rates_of_a_reserve_bank() -> str:
    """Lines that tell of each column stand above the names, and a first row without values below them."""
    head = ["Series Description,AUSTRALIA -- RATE,EURO AREA", "Unit:,Currency:_Per_AUD,Currency:_Per_EUR"]
    head += [
        "Multiplier:,1,1",
        "Currency:,USD,USD",
        "Unique Identifier: ,H10/H10/RXI,H10/H10/RXU",
        "Time Period,RXI,RXU",
    ]
    days = pd.bdate_range("2019-01-02", periods=80)
    rows = [f"{day:%Y-%m-%d},{one},{two}" for day, one, two in zip(days, noise(80), noise(80), strict=True)]
    rows[40] = f"{days[40]:%Y-%m-%d},ND,ND"
    return "\n".join([*head, "2019-01-01,ND,ND", *rows])


def boxes_of_ports_in_chinese() -> str:
    """Lines that tell of each column stand below the names, among them the day on which it was updated."""
    head = [
        "指标名称,港口:上海,港口:深圳",
        "频率,月,月",
        "单位,万TEU,万TEU",
        "指标ID,S56001,S56002",
        "来源,交通部,交通部",
    ]
    months = pd.date_range("2015-01-31", periods=90, freq="ME")
    rows = [f"{day:%Y-%m-%d},{one},{two}" for day, one, two in zip(months, noise(90), noise(90), strict=True)]
    return "\n".join([*head, "更新时间,2025-01-24,2025-01-24", *rows])


def few_rows_between_many_notes() -> str:
    """Months across, as Singapore's office writes them: the notes are more than the rows."""
    months = [f"{month:%Y %b} " for month in pd.date_range("2020-01-01", periods=36, freq="MS")[::-1]]
    rows = [",".join([name, *(f"{value:.1f}" for value in noise(36))]) for name in ("Arrivals", "Cargo", "Containers")]
    above = ["Theme: Industry", "Subject: Transport", "Topic: Sea Cargo", "", "Source: PORT AUTHORITY", ""]
    below = ["", "Footnotes:", "Data are preliminary.", "", "Legend:", "na: not available", "Generated: 07/02/2024"]
    return "\n".join([*above, ",".join(["Data Series", *months]), *rows, *below]) + "\n"


CASES = (
    FirstCommand("notes", few_rows_between_many_notes, {"skip_rows": 6, "layout": "rows"}, num_series=3, step="MS"),
    FirstCommand(
        "settings", settings_above_the_rows, {}, "'Glucose', 96 steps of 5 minutes ahead", no_others=True, trains=True
    ),
    FirstCommand(
        "settings above one column",
        "\n".join(["$title", "NINO3 SST", "$units", "t0", "1871.0", "$t_units", "years", "data", *NUMBERS]),
        {"skip_rows": 7, "time": "row-number"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "a short line above rows",
        "HDR,ROLLING\n"
        + "\n".join(f"VD,{day.replace('-', '')},{at % 7}" for at, day in enumerate(date_column(1100)))
        + "\nF,60",
        {"skip_rows": 1, "header": False, "skip_footer": 1, "time": "column_2"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand("stata", numbers_as_stata_writes_them, {"time": "row-number", "skip_footer": None, "skip_rows": None}),
    FirstCommand(
        "bank",
        '"Source","Indicators",\n\n"Updated","2024",\n\n"Country","Indicator",'
        + ",".join(f'"{year}"' for year in range(1960, 2000))
        + ",\n"
        + "".join(f'"{name}","Population, total",' + ",".join(map(str, SIXTY_VALUES[:40])) + ",\n" for name in "ABC"),
        {"skip_rows": 4, "layout": "rows"},
        step="YS-JAN",
        no_others=True,
    ),
    FirstCommand(
        "rainfall", rainfall_below_a_title, {"skip_rows": 2, "header": False, "time": "row-number"}, quick=True
    ),
    FirstCommand(
        "discharge",
        discharge_below_its_station,
        {"skip_rows": 8, "header": False},
        mentions="7 steps of 1 day",
        quick=True,
    ),
    FirstCommand(
        "a weather office",
        of_a_weather_office,
        {"delimiter": "blanks", "comment": "degC", "skip_rows": 2, "time": "yyyy,mm"},
        "'tmax', 12 steps of 1 month ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a data base",
        of_a_data_base,
        {"comment": "#", "target": "_value"},
        "'_value', 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a watch",
        of_a_watch,
        {"skip_rows": 100, "time": "Date,Time"},
        "'Activity', 60 steps of 1 minute ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a central bank",
        of_a_central_bank,
        {"skip_rows": 6, "header": False, "delimiter": "semicolon"},
        "'column_2', 5 steps of 1 business day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a statistical office",
        of_a_statistical_office,
        {"skip_rows": 3, "header": False},
        "'column_2', 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "a spreadsheet",
        of_a_spreadsheet,
        {"skip_rows": 2, "decimal": ".", "skip_footer": 1, "wide": True},
        "2 columns as one series each ('Store A', 'Store B'), 7 steps of 1 day ahead, with '.' before decimals",
        no_others=True,
    ),
    FirstCommand(
        "an ocean index",
        of_an_ocean_index,
        {"skip_rows": 1, "date_format": "%Y%m"},
        "'Value', 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "a solar portal",
        of_a_solar_portal,
        {"skip_rows": 2, "decimal": ","},
        "'Yield [kWh]', 7 steps of 1 day ahead, with ',' before decimals",
        no_others=True,
    ),
    FirstCommand(
        "an exchange rate service",
        of_an_exchange_rate_service,
        {"delimiter": "blanks", "skip_rows": 1, "skip_footer": 1, "target": "GBP/USD"},
        "'GBP/USD', 5 steps of 1 business day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a wristband",
        of_a_wristband,
        {"skip_rows": 3, "undated_rows": "drop", "target": "Acceleration"},
        "'Acceleration', 47 steps of 1 second ahead, without the rows that have no time",
        no_others=True,
    ),
    FirstCommand(
        "a resource plan",
        of_a_resource_plan,
        {"skip_rows": 3, "comment": "--", "decimal": ",", "item_id": "Material"},
        "'Quantity' of 2 series told apart by 'Material', 12 steps of 1 month ahead, with ',' before decimals",
        no_others=True,
    ),
    FirstCommand(
        "a swedish station",
        of_a_swedish_station,
        {"skip_rows": 9, "time": "Datum,Tid (UTC)"},
        "'Lufttemperatur', 24 steps of 1 hour ahead",
        no_others=True,
    ),
    FirstCommand(
        "an actigraph",
        of_an_actigraph,
        {"skip_rows": 31, "time": "Date,Time", "target": "Activity"},
        "'Activity', 12 steps of 30 seconds ahead",
        no_others=True,
    ),
    FirstCommand(
        "sea ice",
        of_sea_ice,
        {"undated_rows": "drop", "time": "Year,Month,Day", "target": "Extent"},
        "'Extent', 7 steps of 1 day ahead, without the rows that have no time",
        no_others=True,
    ),
    FirstCommand(
        "turbulence",
        of_turbulence,
        {"skip_rows": 1, "undated_rows": "drop", "time": "date,time", "target": "H"},
        "'H', 48 steps of 30 minutes ahead, without the rows that have no time",
        no_others=True,
    ),
    FirstCommand("rates", rates_of_a_reserve_bank, {"skip_rows": 5, "na": ("ND",)}),
    FirstCommand("ports", boxes_of_ports_in_chinese, {"undated_rows": "drop", "header": None}),
)


@each_case(CASES)
def test_the_first_command_leaves_out_lines_above_rows(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.parametrize(
    ("rule", "below", "options"),
    [
        ("+------------+------+", "60 rows in set", {"comment": "+-", "skip_footer": 1}),
        ("|-------------------|", "", {"comment": "|-"}),
    ],
)
def test_a_table_with_lines_drawn_around_it_is_read_to_its_last_row(
    tmp_path: Path, rule: str, below: str, options: dict[str, object]
) -> None:
    """As database shells and SAP print tables."""
    rows = [f"| {day} | {value} |" for day, value in zip(date_column(60), values(60), strict=True)]
    path = tmp_path / "table.txt"
    path.write_text("\n".join([rule, "| day        | sold |", rule, *rows, rule, below]))
    (proposal,) = find_proposals(path, DataConfig())
    assert (proposal.options, proposal.target) == (options, "sold")
    assert len(read_table(path, DataConfig(**proposal.options))) == 60


TITLES = "Sales of the shop\n\nprinted on 1 May\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "options", "target"),
    [
        pytest.param(f"{TITLES}date,y\n{ROWS}\n", {"skip_rows": 3}, "y", id="titles"),
        pytest.param(f"# made by a logger\n# 1 Hz\ndate,y\n{ROWS}\n# end\n", {"comment": "#"}, "y", id="comments"),
        pytest.param(
            "date,y\n" + ROWS.replace("\n", "\n# moved\n", 1), {"comment": "#"}, "y", id="a comment between rows"
        ),
        pytest.param(f"# a logger\n% 1 Hz\ndate,y\n{ROWS}\n", {"skip_rows": 2}, "y", id="comments of two kinds"),
        pytest.param(f"{ROWS}\n", {"header": False}, "column_2", id="no header"),
        pytest.param(f"date,y\n{ROWS}\nTotal,99\nSource: the shop\n", {"skip_footer": 2}, "y", id="sums and sources"),
        pytest.param(f"date,y\n{ROWS}\n,\n,99\n", {"skip_footer": 2}, "y", id="rows without a date"),
        pytest.param(f"{TITLES}date,y\n{ROWS}\nSource\n", {"skip_rows": 3, "skip_footer": 1}, "y", id="on both sides"),
        pytest.param(f"# a,b\n{ROWS}", {"comment": "#", "header": False}, "column_2", id="no header under a comment"),
        pytest.param(f"0,Burlington\ndate,y\n{ROWS}\n", {"skip_rows": 1}, "y", id="a title as wide as the rows"),
        pytest.param("Shop,\n" * 4 + f"date,y\n{ROWS}\n", {"skip_rows": 4}, "y", id="titles as wide as the rows"),
    ],
)
def test_what_stands_above_the_rows_is_left_out(
    forecast: Callable, tmp_path: Path, text: str, options: dict[str, object], target: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    report = examine(path, DataConfig(**options))
    assert not report.has_errors
    assert report.panel is not None
    assert (report.panel.num_rows, report.panel.roles.target) == (90, target)
    if len(options) == 1 or "skip_footer" in options:
        proposal = find_proposals(path, DataConfig())[0]
        assert dict(proposal.options) == options
    words = shlex.split(command_text(str(path), {}, options))
    fixed = forecast("check", *words[2:], "--fix", "--out", "-")
    assert fixed.code == 0
    assert fixed.out.splitlines()[0].split(",") == (["date", "y"] if target == "y" else ["column_1", "column_2"])
    assert len(fixed.out.splitlines()) == 91


def test_rows_above_others_are_no_title_where_no_names_follow(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("year,rate\n" + "\n".join(f"{1948 + at},{at},{at % 5}" for at in range(40)) + "\n")
    assert all("skip_rows" not in proposal.options for proposal in find_proposals(path, DataConfig()))


def test_of_years_quarters_and_months_below_each_other_the_months_are_kept(tmp_path: Path) -> None:
    """As the Office for National Statistics publishes a series."""
    months = [
        f"{year} {month}"
        for year in range(1990, 2010)
        for month in ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    ]
    quarters = [f"{year} Q{quarter}" for year in range(1990, 2010) for quarter in range(1, 5)]
    stamps = [*map(str, range(1990, 2010)), *quarters, *months]
    above = ['"Title","CPI INDEX"', '"CDID","D7BT"', '"Unit","2015=100"', '"Important notes",']
    rows = [f'"{stamp}","{value}"' for stamp, value in zip(stamps, values(len(stamps)), strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([*above, *rows]))
    proposal, *_ = find_proposals(tmp_path / "table.csv", DataConfig())
    assert proposal.options == {"skip_rows": 4 + 20 + 80, "header": False}
    assert proposal.forecasts == "'column_2', 12 steps of 1 month ahead"


def of_a_weather_agency() -> str:
    days, numbers = pd.date_range("2023-01-01", periods=200), hourly_wave(200)
    rows = [f"{day.year}/{day.month}/{day.day},{number},8,1" for day, number in zip(days, numbers, strict=True)]
    titles = ["ダウンロードした時刻：2025/02/03 10:12:44", "", ",東京,東京,東京"]
    return "\r\n".join([*titles, "年月日,平均気温(℃),平均気温(℃),平均気温(℃)", ",,品質情報,均質番号", *rows])


def of_an_exchange_in_taiwan() -> str:
    days, numbers = pd.bdate_range("2024-01-02", periods=200), hourly_wave(200)
    rows = [
        f'"{day.year - 1911}/{day:%m/%d}","26,{at:03d},273","{numbers[at]:.2f}","+{at}.00",'
        for at, day in enumerate(days)
    ]
    notes = [
        '"說明:"',
        '"符號說明:+/-/X表示漲/跌/不比價"',
        '"當日統計資訊含一般、零股、盤後定價、鉅額交易，不含拍賣、標購。"',
    ]
    titles = ['"113年01月 2330 台積電           各日成交資訊"', '"日期","成交股數","收盤價","漲跌價差",']
    return "\r\n".join([*titles, *rows, *notes])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "encoding", "options"),
    [
        (of_a_weather_agency, "cp932", {"skip_rows": 2, "header_rows": 3, "target": "東京 平均気温(℃)"}),
        (of_an_exchange_in_taiwan, "cp950", {"skip_rows": 1, "skip_footer": 3, "decimal": ".", "target": "收盤價"}),
    ],
    ids=["cp932", "cp950"],
)
def test_an_export_in_an_encoding_of_east_asia_is_read_as_in_utf_8(
    tmp_path: Path, make: Callable[[], str], encoding: str, options: dict[str, object]
) -> None:
    path = tmp_path / "table.csv"
    for each in ("utf-8", encoding):
        path.write_bytes((make() + "\r\n").encode(each))
        proposal = find_proposals(path, DataConfig())[0]
        assert dict(proposal.options) == options, each
    assert proposal.forecasts.startswith(f"'{options['target']}'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["Settings", "", "Date,Line,y", "", *(f"2015-07-0{at},{at},NaN" for at in range(1, 7))], {"skip_rows": 2}),
        (["Sensitivity is 1.5", "", "Date; Line; y"], {"skip_rows": 2}),
        (["Date,Line,y"], {}),
    ],
)
def test_rows_are_no_lines_around_them(tmp_path: Path, lines: list[str], options: dict[str, object]) -> None:
    """Neither first rows without a value below a blank line, nor rows between blanks, nor last dates without values."""
    mark, days = ("; " if "; " in lines[-1] else ","), pd.date_range("2015-07-07", periods=62)
    cells = [*zip(range(7, 67), hourly_wave(60), strict=True), ("", ""), ("", "")]
    rows = [mark.join((f"{day:%Y-%m-%d}", *map(str, row))) for day, row in zip(days, cells, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([*lines, *rows]) + "\n")
    around = ("skip_rows", "skip_footer", "header", "delimiter")
    proposed = find_proposals(path, DataConfig())[0].options
    assert {name: proposed[name] for name in around if name in proposed} == options
