"""Rows put on a coarser step, against pandas' own resampling."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import RunConfig
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.panel import Panel
from forecast_attn.data.resampling import floored
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError, DataError

AsPanel = Callable[..., Panel]


def events(rows: int = 3000, days: int = 700) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    stamps = pd.Timestamp("2022-02-03 04:05") + pd.to_timedelta(np.sort(rng.integers(0, days * 86_400, rows)), unit="s")
    return pd.DataFrame({"date": stamps, "y": rng.normal(size=rows).round(3)}).drop_duplicates("date")


@pytest.mark.parametrize("aggregate", ["mean", "sum", "last"])
@pytest.mark.parametrize("step", ["6h", "D", "MS", "QS-FEB", "YS-JAN"])
def test_as_pandas_resamples(as_panel: AsPanel, step: str, aggregate: str) -> None:
    frame = events()
    partial = {"partial_steps": "keep"} if aggregate == "sum" else {}
    panel = as_panel(frame, resample=step, aggregate=aggregate, missing="mask", **partial)
    expected = getattr(frame.set_index("date")["y"].resample(step), aggregate)()
    counts = frame.set_index("date")["y"].resample(step).count()
    expected = expected.where(counts > 0)
    assert panel.frequency.alias == step
    np.testing.assert_array_equal(panel.timestamps, expected.index.to_numpy())
    np.testing.assert_allclose(panel.target, expected.to_numpy(), rtol=1e-12, atol=1e-12)
    assert panel.repairs[0].kind == f"resample {step}: {aggregate} of rows"


@pytest.mark.parametrize("step", ["ME", "QE-DEC", "QE-FEB", "YE-JUN", "MS", "QS-MAR", "YS-APR", "W-WED", "W-SUN"])
def test_steps_are_anchored_as_pandas_periods_are(step: str) -> None:
    days = pd.date_range("2019-12-25", "2022-03-05", freq="D")
    actual = pd.DatetimeIndex(floored(days.to_numpy(), parse_frequency(step), Zone()))
    assert parse_frequency(step).steps_between(actual.to_numpy()[:-1], actual.to_numpy()[1:]).max() == 1
    offset = pd.tseries.frequencies.to_offset(step)
    expected = [offset.rollforward(day) if step.split("-")[0][-1] == "E" else offset.rollback(day) for day in days]
    assert list(actual) == expected


def test_whole_numbers_and_series_and_covariates(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"id": ["a"] * 8 + ["b"] * 8, "t": list(range(8)) * 2, "y": range(16), "x": range(16)})
    panel = as_panel(frame, time="t", target="y", resample="4", aggregate="sum")
    assert panel.timestamps.tolist() == [0, 4, 0, 4]
    assert panel.target.tolist() == [6, 22, 38, 54]
    assert panel.past_covariates[:, 0].tolist() == [1.5, 5.5, 9.5, 13.5]


def test_a_step_that_the_table_has_changes_nothing(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=30), "y": np.arange(30.0)})
    panel = as_panel(frame, resample="D", aggregate="sum")
    assert panel.target.tolist() == frame["y"].tolist()
    assert panel.repairs == ()


def test_a_step_that_is_none_is_refused(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=30), "y": np.arange(30.0)})
    with pytest.raises(DataError, match="--resample 7 does not fit a time column of dates"):
        as_panel(frame, resample="7")
    with pytest.raises(ConfigError, match="there is no frequency 'fortnight'"):
        as_panel(frame, resample="fortnight")
    with pytest.raises(ConfigError, match="--aggregate sum needs a step"):
        RunConfig.from_options({"aggregate": "sum"})


def two_shops(last: int) -> pd.DataFrame:
    """Each sells at noon on some days; that of the south for the last time on day `last` of sixty."""
    days = pd.Timestamp("2024-01-01 12:00") + pd.to_timedelta(np.arange(0, 60, 3), "D")
    south = days[days <= days[0] + pd.Timedelta(last, "D")]
    rows = {"shop": ["north"] * len(days) + ["south"] * len(south), "date": [*days, *south]}
    return pd.DataFrame({**rows, "y": np.arange(1.0, 1 + len(days) + len(south))})


def test_a_series_without_rows_is_zero_up_to_the_last_step_of_the_table(as_panel: AsPanel) -> None:
    frame, sums = two_shops(last=40), {"item_id": "shop", "resample": "D", "aggregate": "sum"}
    panel = as_panel(frame, missing="zero", **sums)
    assert np.diff(panel.starts).tolist() == panel.num_known.tolist() == [58, 58]
    expected = frame.assign(day=frame["date"].dt.normalize()).pivot_table("y", "day", "shop", aggfunc="sum")
    expected = expected.asfreq("D").fillna(0)
    np.testing.assert_array_equal(panel.target, expected.T.to_numpy().ravel())
    assert panel.filled.rows == {}  # what was not sold is known, and scored
    masked = as_panel(frame, missing="mask", **sums)
    assert masked.num_known.tolist() == [58, 40]
    means = as_panel(frame, missing="zero", **{**sums, "aggregate": "mean"})
    assert means.num_known.tolist() == [58, 40]
    assert list(means.filled.rows) == ["y"]


def test_a_series_that_ended_long_ago_does_not_make_a_table_endless(as_panel: AsPanel) -> None:
    frame = two_shops(last=40).assign(date=lambda table: table["date"].where(table["shop"] == "north"))
    frame["date"] = frame["date"].fillna(pd.Timestamp("1924-01-01"))
    frame = frame.drop_duplicates(["shop", "date"])
    panel = as_panel(frame, item_id="shop", resample="D", aggregate="sum", missing="zero")
    assert panel.num_known.tolist() == [58, 1]
