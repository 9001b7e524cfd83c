"""The template of the future: every step and column that predict needs, and no value it does not know."""

import io
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.future import extend, join_future
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.data.template import FutureTemplate
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


def template_of(panel: Panel, horizon: int, **options: object) -> FutureTemplate:
    return FutureTemplate.of(panel, horizon, DataConfig(**options), Zone(), panel.categories)  # type: ignore[arg-type]


@pytest.fixture
def panel(as_panel: AsPanel, two_series: pd.DataFrame) -> Panel:
    """Two series that know `ahead` and the category `plan` for three days, and not `later`, which is needed for one."""
    known = two_series["target"].notna()
    frame = two_series.assign(later=np.where(known, 1.0, np.nan), plan=np.where(known, "none", "half"))
    return as_panel(
        frame, future_covariates=("ahead", "later:1", "plan"), categorical=("plan",), static_covariates=("size",)
    )


def test_steps_columns_and_what_is_known(panel: Panel) -> None:
    template = template_of(panel, 4)
    assert template.csv.splitlines() == [
        "item_id,date,ahead,later,plan",
        *("a,2024-01-31,300.0,,half", "a,2024-02-01,310.0,,half", "a,2024-02-02,320.0,,half", "a,2024-02-03,,,"),
        *("b,2024-01-21,200.0,,half", "b,2024-01-22,210.0,,half", "b,2024-01-23,220.0,,half", "b,2024-01-24,,,"),
    ]
    assert template.to_fill == {"ahead": 2, "later": 2, "plan": 2}
    assert not template.is_needless


def test_a_filled_template_is_what_a_forecast_needs(panel: Panel) -> None:
    written = pd.read_csv(io.StringIO(template_of(panel, 4).csv))
    with pytest.raises(DataError, match="has no 'ahead', 'later', 'plan' for 2 of the 4 steps to forecast of series"):
        join_future(panel, written, 4, "future.csv")
    first = written["date"].isin(["2024-01-31", "2024-01-21"])
    filled = written.assign(ahead=written["ahead"].fillna(5), later=np.where(first, 6.0, np.nan))
    filled = filled.assign(plan=filled["plan"].fillna("none"))
    longer = join_future(panel, filled, 4, "future.csv")
    expected = [[300, 6], [310, np.nan], [320, np.nan], [5, np.nan]]
    np.testing.assert_array_equal(longer.future_covariates[longer.ends[0] : longer.starts[1]], expected)


def test_nothing_to_fill_means_that_no_file_is_needed(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    known = as_panel(two_series, static_covariates=("size",))
    assert template_of(known, 3).to_fill == {}
    assert not template_of(known, 3).is_needless
    extend(known, 3)
    assert template_of(known, 4).to_fill == {"ahead": 2}


def test_without_future_covariates_it_is_needless(as_panel: AsPanel) -> None:
    template = template_of(as_panel(pd.DataFrame({"step": np.arange(5), "y": np.arange(5.0)})), 2)
    assert (template.is_needless, template.csv) == (True, "step\n5\n6\n")


def test_month_ends(as_panel: AsPanel) -> None:
    months = pd.date_range("2023-10-31", periods=4, freq="ME")
    panel = as_panel(pd.DataFrame({"date": months, "y": 1.0, "x": 2.0}), future_covariates=("x",))
    assert template_of(panel, 2).csv == "date,x\n2024-02-29,\n2024-03-31,\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"delimiter": ";"}, "2024-02-01;2.5"),
        ({"delimiter": "tab"}, "2024-02-01\t2.5"),
        ({"delimiter": "blanks"}, "2024-02-01,2.5"),
        ({"decimal": ","}, "2024-02-01;2,5"),
        ({"date_format": "%d.%m.%Y"}, "01.02.2024,2.5"),
        ({"date_format": "excel"}, "45323,2.5"),
    ],
)
def test_written_as_the_run_reads(as_panel: AsPanel, options: dict[str, str], line: str) -> None:
    days = pd.date_range("2024-01-28", periods=5)
    frame = pd.DataFrame({"date": days, "y": [1.0, 2.0, 3.0, 4.0, np.nan], "x": [1.0, 1.0, 1.0, 1.0, 2.5]})
    assert template_of(as_panel(frame, future_covariates=("x",)), 1, **options).csv.splitlines()[1] == line


@pytest.mark.parametrize(
    ("zone", "change"),
    [
        *(("Europe/Berlin", "2024-03-30 20:00"), ("Europe/Berlin", "2024-10-26 20:00")),
        *(("America/New_York", "2024-03-09 20:00"), ("America/New_York", "2024-11-02 20:00")),
    ],
)
def test_hours_across_a_change_of_the_clock_are_written_and_read_back(
    as_panel: AsPanel, change: str, zone: str
) -> None:
    hours = pd.date_range(change, periods=16, freq="h", tz=zone)
    frame = pd.DataFrame({"date": hours[:4].strftime("%Y-%m-%d %H:%M"), "y": 1.0, "x": 0.0})
    panel = as_panel(frame, future_covariates=("x",), tz=zone)
    template = FutureTemplate.of(panel, 12, DataConfig(tz=zone), panel.zone, {})
    written = pd.read_csv(io.StringIO(template.csv))
    assert [pd.Timestamp(text) for text in written["date"]] == list(hours[4:])
    assert template.table["date"].tolist() == list(hours[4:])
    for future in (written.assign(x=np.arange(12.0)), template.table.assign(x=np.arange(12.0))):
        longer = join_future(panel, future, 12, "future.csv")
        assert longer.future_covariates[4:, 0].tolist() == list(range(12))
        assert longer.zone.column(longer.timestamps[4:]).tolist() == list(hours[4:])
    local = hours[4:].strftime("%Y-%m-%d %H:%M")  # as a person writes them, the hour that comes twice in order
    longer = join_future(panel, pd.DataFrame({"date": local, "x": np.arange(12.0)}), 12, "future.csv")
    assert longer.future_covariates[4:, 0].tolist() == list(range(12))


def test_the_format_of_dates_goes_both_ways(as_panel: AsPanel) -> None:
    """03/02/2024 is the third of February here, which nothing in the file of the future could tell."""
    days = pd.date_range("2024-01-25", periods=12)
    frame = pd.DataFrame({"date": days[:9].strftime("%d/%m/%Y"), "y": 1.0, "x": 0.0})
    config = DataConfig(future_covariates=("x",), date_format="%d/%m/%Y")
    panel = build_panel(frame, resolve_roles(frame, config, "data.csv"), config, source="data.csv")
    written = pd.read_csv(io.StringIO(FutureTemplate.of(panel, 3, config, panel.zone, {}).csv))
    assert written["date"].tolist() == ["03/02/2024", "04/02/2024", "05/02/2024"]
    longer = join_future(panel, written.assign(x=[1.0, 2, 3]), 3, "future.csv", options=config)
    assert longer.future_covariates[9:, 0].tolist() == [1, 2, 3]
