"""From a table to a panel: what is accepted, what is refused and where, and what must not matter."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel import ARRAYS, Panel, panel_to_frame, ranges, tail
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import resolve_roles
from forecast_attn.errors import ConfigError, DataError

AsPanel = Callable[..., Panel]


def assert_same_bytes(one: Panel, other: Panel) -> None:
    assert one.item_ids == other.item_ids
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype, name
        assert first.shape == second.shape, name
        assert first.tobytes() == second.tobytes(), name


def test_series_one_after_the_other(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    panel = as_panel(two_series, static_covariates=("size",))
    assert panel.item_ids == ("a", "b")
    assert panel.starts.tolist() == [0, 33, 56]
    assert panel.num_known.tolist() == [30, 20]
    assert panel.ends.tolist() == [30, 53]
    assert panel.roles.future_covariates == ("ahead",)
    assert panel.target[[0, 29, 33, 52]].tolist() == [0, 29, 100, 119]
    assert np.isnan(panel.target[30:33]).all()
    assert panel.future_covariates[32, 0] == 320
    assert panel.static_covariates.tolist() == [[1], [5]]
    assert panel.frequency.alias == "D"
    assert panel.frequency.evidence == "54 of 54 steps are 1 day"


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.randoms(use_true_random=False), columns=st.permutations(range(6)))
def test_order_of_rows_and_columns_changes_no_byte(
    as_panel: AsPanel, two_series: pd.DataFrame, rows: object, columns: list[int]
) -> None:
    order = list(range(len(two_series)))
    rows.shuffle(order)  # type: ignore[attr-defined]
    mixed = two_series.iloc[order, columns]
    declared = {"static_covariates": ("size",)}
    assert_same_bytes(as_panel(mixed, **declared), as_panel(two_series, **declared))


def test_a_shuffled_file_changes_no_byte(as_panel: AsPanel, two_series: pd.DataFrame, tmp_path: Path) -> None:
    def written(frame: pd.DataFrame) -> Panel:
        frame.to_csv(tmp_path / "table.csv", index=False)
        return as_panel(read_table(tmp_path / "table.csv", DataConfig()))

    noisy = two_series.assign(ahead=np.random.default_rng(0).standard_normal(len(two_series)))
    assert_same_bytes(written(noisy.sample(frac=1, random_state=1)[sorted(noisy.columns)]), written(noisy))


def test_holidays_among_business_days_are_gaps(as_panel: AsPanel) -> None:
    days = pd.date_range("2024-01-01", periods=30, freq="B").delete(9)
    with pytest.raises(DataError, match=r"gap of 1 row: after 2024-01-11 comes 2024-01-15 at row 10") as error:
        as_panel(pd.DataFrame({"date": days, "y": np.arange(29.0)}))
    assert "number the days" in str(error.value.hint)


@pytest.mark.parametrize("width", [np.float32, np.int16, np.int64])
def test_width_of_numbers_changes_no_byte(as_panel: AsPanel, width: type) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=9), "y": np.arange(9.0)})
    assert_same_bytes(as_panel(frame.astype({"y": width})), as_panel(frame))


def test_numbers_as_identifiers_are_text_sorted_as_text(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"id": np.repeat([10, 9, 100], 4), "date": [*pd.date_range("2024-01-01", periods=4)] * 3})
    frame["y"] = np.arange(12.0)
    assert as_panel(frame).item_ids == ("10", "100", "9")
    assert_same_bytes(as_panel(frame.astype({"id": str})), as_panel(frame))


def test_a_frame_that_nobody_else_reads_is_emptied(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    panel, lent = as_panel(two_series), two_series.copy(deep=False)
    assert_same_bytes(build_panel(lent, panel.roles, DataConfig(), source="table.csv", emptied=True), panel)
    assert not len(lent.columns)
    assert len(two_series.columns)


def test_minus_zero_is_zero(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=3), "y": [1.0, 0.0, 2.0]})
    assert_same_bytes(as_panel(frame.assign(y=[1.0, -0.0, 2.0])), as_panel(frame))


def test_booleans_are_zero_and_one(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=3), "y": [1, 2, 3], "x": [True, False, True]})
    assert as_panel(frame).past_covariates.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_tail_reads_back_bit_equal(as_panel: AsPanel, two_series: pd.DataFrame, rows: int) -> None:
    panel = as_panel(two_series, static_covariates=("size",))
    (end,) = tail(panel, rows, 1000)
    again = build_panel(end, panel.roles, DataConfig(freq=panel.frequency.alias), source="tail")
    assert again.num_known.tolist() == [min(30, rows), min(20, rows)]
    (shorter,) = tail(again, rows, 1000)
    assert_same_bytes(build_panel(shorter, panel.roles, DataConfig(freq="D"), source="tail"), again)
    for index in range(2):
        last_rows = slice(panel.ends[index] - again.num_known[index], panel.starts[index + 1])
        part = slice(again.starts[index], again.starts[index + 1])
        for name in ("timestamps", "target", "past_covariates", "future_covariates"):
            assert getattr(again, name)[part].tobytes() == getattr(panel, name)[last_rows].tobytes()


def test_tail_survives_parquet(as_panel: AsPanel, two_series: pd.DataFrame, tmp_path: Path) -> None:
    panel = as_panel(two_series)
    panel_to_frame(panel).to_parquet(tmp_path / "tail.parquet")
    assert_same_bytes(
        build_panel(pd.read_parquet(tmp_path / "tail.parquet"), panel.roles, DataConfig(freq="D"), source="tail"), panel
    )


def test_integer_axis_survives_too(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"step": [10, 12, 14, 16], "y": [1.0, 2.0, 3.0, 4.0]}))
    assert panel.frequency.alias == "2"
    assert_same_bytes(build_panel(panel_to_frame(panel), panel.roles, DataConfig(freq="2"), source="tail"), panel)


def test_decimal_times_are_read_back(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"time": np.arange(30) * 0.02, "y": np.arange(30.0)}), date_format="0.02")
    again = build_panel(panel_to_frame(panel), panel.roles, DataConfig(date_format="0.02"), source="tail")
    assert_same_bytes(again, panel)


def test_one_series_is_called_by_its_target(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=3), "passengers": [1, 2, 3]})
    assert as_panel(frame).item_ids == ("passengers",)


def test_the_file_may_hold_several_frequencies_apart_from_each_other_only(as_panel: AsPanel) -> None:
    frames = [
        pd.DataFrame({"id": name, "date": pd.date_range("2024-01-01", periods=9, freq=freq), "y": 1.0})
        for name, freq in (("a", "D"), ("b", "h"))
    ]
    with pytest.raises(DataError, match="series 'b' steps by 1 hour, series 'a' by 1 day"):
        as_panel(pd.concat(frames))


@pytest.mark.parametrize(("freq", "kind"), [("h", "whole numbers"), ("1", "dates")])
def test_a_given_frequency_must_fit_the_kind_of_axis(as_panel: AsPanel, freq: str, kind: str) -> None:
    time = [1, 2, 3] if freq == "h" else ["2024-01-01", "2024-01-02", "2024-01-03"]
    with pytest.raises(DataError, match=f"--freq {freq} does not fit a time column of {kind}"):
        as_panel(pd.DataFrame({"time": time, "y": [1, 2, 3]}), freq=freq)


def test_a_given_frequency_is_checked(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=5), "y": np.arange(5)})
    assert as_panel(frame.head(2), freq="d").frequency.alias == "D"
    with pytest.raises(DataError, match="jumps from 2024-01-01 to 2024-01-02"):
        as_panel(frame, freq="2D")
    with pytest.raises(ConfigError, match="there is no frequency 'daily'"):
        as_panel(frame, freq="daily")


def test_roles_of_training_read_another_table(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    roles = resolve_roles(two_series, DataConfig(), "table.csv")
    again = build_panel(two_series.drop(columns="size").assign(size=1.0), roles, DataConfig(), source="table.csv")
    assert again.roles is roles


def test_a_table_that_lacks_a_column_of_its_roles(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    roles = as_panel(two_series).roles
    for name in ("item_id", "date", "target", "past", "ahead"):
        with pytest.raises(DataError, match=f"'new.csv' has no column '{name}'; its columns are"):
            build_panel(two_series.drop(columns=name), roles, DataConfig(), source="new.csv")


def test_the_same_day_of_every_month_is_no_step(as_panel: AsPanel) -> None:
    frame = pd.DataFrame({"date": [f"2024-{month:02d}-15" for month in range(1, 13)], "y": range(12)})
    with pytest.raises(DataError, match="expected 2024-03-17") as error:
        as_panel(frame)
    assert error.value.hint == "write months, quarters and years as their first day (YYYY-MM-01)"


def test_ranges() -> None:
    assert ranges(np.array([3, 10, 20]), np.array([2, 0, 3])).tolist() == [3, 4, 20, 21, 22]
    assert ranges(np.array([3]), np.array([-2])).tolist() == []


@pytest.mark.parametrize(("most", "parts"), [(1000, 1), (30, 2), (1, 2)])
def test_parts_of_a_tail_are_the_tail(as_panel: AsPanel, two_series: pd.DataFrame, most: int, parts: int) -> None:
    panel = as_panel(two_series, static_covariates=("size",))
    (whole,) = tail(panel, 12, 1000)
    tails = list(tail(panel, 12, most))
    assert len(tails) == parts
    pd.testing.assert_frame_equal(pd.concat(tails, ignore_index=True), whole)
