"""The first and last step of sums: left out where the others show that the table has a part of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig, RunConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.errors import ConfigError

AsPanel = Callable[..., Panel]
SUMS: dict[str, Any] = {"aggregate": "sum", "missing": "zero", "time": "time", "target": "y"}


def sales(start: str, end: str, per_day: float = 30, seed: int = 0) -> pd.DataFrame:
    """Sold between eight and eight, fewer on Sundays, each day from `start` to the moment `end`."""
    rng = np.random.default_rng(seed)
    days = pd.date_range(pd.Timestamp(start).normalize(), end, freq="D")
    counts = rng.poisson(np.where(days.day_of_week == 6, per_day / 3, per_day))
    stamps = np.repeat(days, counts) + pd.to_timedelta(rng.integers(8 * 60, 20 * 60, counts.sum()), "min")
    stamps = stamps[(stamps >= start) & (stamps <= end)].sort_values()
    return pd.DataFrame({"time": stamps, "y": rng.integers(1, 9, len(stamps)).astype(float)})


def ends(panel: Panel) -> tuple[str, ...]:
    return tuple(str(panel.timestamps[at])[:16].replace("T", " ") for at in (0, -1))


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        ("2024-01-01", "2024-03-31 23:59", "D", ("2024-01-01", "2024-03-31")),
        ("2024-01-01", "2024-03-31 12:00", "D", ("2024-01-01", "2024-03-30")),
        ("2024-01-01 15:00", "2024-03-31 23:59", "D", ("2024-01-02", "2024-03-31")),
        ("2024-01-03", "2024-06-26 23:59", "W-MON", ("2024-01-08", "2024-06-17")),
        ("2022-01-01", "2024-02-29 23:59", "MS", ("2022-01-01", "2024-02-01")),
        ("2022-01-01", "2024-02-19 23:59", "MS", ("2022-01-01", "2024-01-01")),
        ("2022-01-20", "2024-02-29 23:59", "ME", ("2022-02-28", "2024-02-29")),
        ("2022-01-01", "2024-02-19 23:59", "ME", ("2022-01-31", "2024-01-31")),
        ("2024-01-01", "2024-02-20 15:20", "h", ("2024-01-01 08:00", "2024-02-20 14:00")),
    ],
)
def test_a_part_of_a_step_is_left_out(
    as_panel: AsPanel, start: str, end: str, step: str, expected: tuple[str, str]
) -> None:
    frame = sales(start, end, per_day=200 if step == "h" else 30)
    panel = as_panel(frame, resample=step, **SUMS)
    assert tuple(stamp[: len(text)] for stamp, text in zip(ends(panel), expected, strict=True)) == expected
    kept = as_panel(frame, resample=step, partial_steps="keep", **SUMS)
    sides: dict[str, Any] = {"closed": "left", "label": "left"} if step == "W-MON" else {}
    whole = frame.resample(step, on="time", **sides)["y"].sum()
    np.testing.assert_array_equal(kept.target, whole)
    np.testing.assert_array_equal(panel.target, whole[panel.timestamps[0] : panel.timestamps[-1]])


def test_a_note_says_what_is_left_out(as_panel: AsPanel) -> None:
    findings: list[Finding] = []
    frame, config = sales("2024-01-01", "2024-03-31 12:00"), DataConfig(resample="D", **SUMS)
    build_panel(frame, resolve_roles(frame, config, "t.csv"), config, source="t.csv", report=findings.append)
    [note] = [finding for finding in findings if finding.code == "FA218"]
    assert note.severity == "note"
    assert note.message.startswith("the last step, 2024-03-31, is left out: its rows end at 2024-03-31 ")
    assert note.hint == "--partial-steps keep takes it as it is"


@pytest.mark.slow
@pytest.mark.parametrize("per_day", [0.1, 0.5, 1.0, 3.0])
def test_days_of_few_rows_are_hardly_ever_left_out(as_panel: AsPanel, per_day: float) -> None:
    """Their last row is early by chance as often as that of another day."""
    left_out = 0
    for seed in range(60):
        frame = sales("2024-01-01", "2024-06-30 23:59", per_day, seed)
        panel = as_panel(frame, resample="D", **SUMS)
        left_out += ends(panel)[1][:10] != str(frame["time"].max())[:10]
    assert left_out <= 5


@pytest.mark.slow
@pytest.mark.parametrize("step", ["BMS", "BME", "MS", "ME", "QE-DEC", "YS-JAN"])
def test_a_long_month_of_one_row_is_whole(as_panel: AsPanel, step: str) -> None:
    """The first business days of months are 28 to 34 days apart."""
    for start in pd.date_range("2000-01-01", periods=60, freq="MS"):
        rows = pd.DataFrame({"time": pd.date_range(start, periods=12, freq=step), "y": np.arange(12.0)})
        assert as_panel(rows, resample=step, **SUMS).num_rows == 12


def test_steps_of_the_table_and_means_stay(as_panel: AsPanel) -> None:
    days = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=60), "y": np.arange(60.0)})
    assert as_panel(days, resample="D", **SUMS).num_rows == 60
    frame = sales("2024-01-01", "2024-03-31 12:00")
    assert ends(as_panel(frame, resample="D", **{**SUMS, "aggregate": "mean"}))[1] == "2024-03-31 00:00"
    with pytest.raises(ConfigError, match="--partial-steps keep needs sums"):
        RunConfig.from_options({"resample": "D", "partial_steps": "keep"})


def test_a_day_without_sales_before_it_is_over_and_zero(as_panel: AsPanel) -> None:
    frame = sales("2024-01-01", "2024-03-31 12:00", per_day=60)
    frame = frame[frame["time"].dt.normalize() != "2024-03-30"]
    panel = as_panel(frame, resample="D", **SUMS)
    assert ends(panel)[1] == "2024-03-30 00:00"
    assert panel.target[-1] == 0


def test_a_series_of_that_step_alone_is_left_out_with_it(as_panel: AsPanel) -> None:
    frame = sales("2024-01-01", "2024-03-31 12:00").assign(shop="old")
    new = frame[frame["time"] >= "2024-03-31"].assign(shop="new")
    panel = as_panel(pd.concat([frame, new]), item_id="shop", resample="D", **SUMS)
    assert panel.item_ids == ("old",)


def test_whole_numbers(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"time": np.arange(95), "y": np.arange(95.0)})
    assert as_panel(frame, resample="10", **SUMS).timestamps.tolist() == list(range(0, 90, 10))
