"""Scales are fitted on training rows, come back from JSON bit for bit, and never see the future."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import Scaler, fit_scaler
from forecast_attn.data.split import Split, split_panel
from forecast_attn.errors import DataError

from .slow_scales import slow_fit

AsPanel = Callable[..., Panel]


def test_mean_and_deviation_of_the_training_rows(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "standard")
    np.testing.assert_allclose(scaler.target.loc, [8.5, 108.5])
    np.testing.assert_allclose(scaler.target.scale, np.std(np.arange(18)))
    np.testing.assert_allclose(scaler.past.loc, [[17], [17]])
    np.testing.assert_allclose(scaler.future.scale, 10 * np.std(np.arange(18)))
    assert scaler.static.loc.tolist() == [3]
    assert scaler.static.scale.tolist() == [2]
    assert scaler.constant == ()


def test_missing_values_are_left_out(as_panel: AsPanel, two_series: pd.DataFrame, split: Split) -> None:
    panel = as_panel(two_series)
    holes = np.arange(panel.num_rows) % 3 == 1
    with_holes = replace(panel, target=np.where(holes, np.nan, panel.target))
    observed = np.arange(18)[np.arange(18) % 3 != 1]
    for method in ("standard", "robust", "mean-abs"):
        scaler = fit_scaler(with_holes, split, method)
        assert (scaler.target.loc[0], scaler.target.scale[0]) == pytest.approx(slow_fit(observed * 1.0, method))
        assert (scaler.target.loc[1], scaler.target.scale[1]) == pytest.approx(slow_fit(observed + 100.0, method))


def test_series_without_an_observed_value_get_the_average(panel: Panel, split: Split) -> None:
    empty = replace(panel, target=np.where(panel.series_of_rows == 1, np.nan, panel.target))
    scaler = fit_scaler(empty, split, "standard", "arcsinh")
    assert scaler.target.loc[1] == scaler.target.loc[0]
    assert scaler.target.scale[1] == scaler.target.scale[0]
    assert scaler.transform.unit.loc.tolist() == [8.5, 8.5]
    assert scaler.constant == ()


def test_none_leaves_values_alone(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "none")
    assert scaler.target.loc.tolist() == [0, 0]
    assert scaler.past.scale.tolist() == [[1], [1]]


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.integers(18, 32),
    value=st.floats(0, 1e12),
    method=st.sampled_from(["standard", "robust", "mean-abs"]),
    transform=st.sampled_from(["none", "arcsinh", "log"]),
)
def test_nothing_after_the_boundary_reaches_the_scaler(
    as_panel: AsPanel, two_series: pd.DataFrame, split: Split, row: int, value: float, method: str, transform: str
) -> None:
    changed = two_series.copy()
    changed.loc[row, "ahead"] = value
    if row < 30:
        changed.loc[row, ["target", "past"]] = value
    before = fit_scaler(as_panel(two_series), split, method, transform).to_dict()
    assert json.dumps(fit_scaler(as_panel(changed), split, method, transform).to_dict()) == json.dumps(before)


@pytest.mark.parametrize("transform", ["none", "arcsinh", "log"])
@pytest.mark.parametrize("method", ["standard", "robust", "mean-abs", "none"])
def test_json_brings_back_every_bit(panel: Panel, split: Split, method: str, transform: str) -> None:
    scaler = fit_scaler(panel, split, method, transform)
    again = Scaler.from_dict(json.loads(json.dumps(scaler.to_dict())))
    assert (again.method, again.item_ids, again.transform.kind) == (method, scaler.item_ids, transform)
    assert again.to_dict() == scaler.to_dict()
    assert again.transform.unit.scale.tobytes() == scaler.transform.unit.scale.tobytes()
    for name in ("target", "past", "future", "static"):
        for one, other in zip(getattr(again, name), getattr(scaler, name), strict=True):
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes()


def test_no_covariates_keep_their_shape_in_json(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"date": pd.date_range("2024-01-01", periods=20), "y": np.arange(20.0)}))
    scaler = fit_scaler(panel, split_panel(panel, validation=2, horizon=2, lookback=3), "standard")
    again = Scaler.from_dict(json.loads(json.dumps(scaler.to_dict())))
    assert again.past.loc.shape == (1, 0)
    assert again.static.loc.shape == (0,)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e15])
def test_constant_series_have_scale_one_and_are_named(as_panel: AsPanel, value: float) -> None:
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=20), "y": value, "x": 0.1})
    frame.loc[19, "y"] = value + 1  # after the boundary, so it does not count
    panel = as_panel(frame)
    scaler = fit_scaler(panel, split_panel(panel, validation=2, horizon=2, lookback=3), "standard")
    assert (scaler.target.loc.tolist(), scaler.target.scale.tolist()) == ([value], [1.0])
    assert (scaler.past.loc.tolist(), scaler.past.scale.tolist()) == ([[0.1]], [[1.0]])
    assert scaler.constant == ("y",)


def test_a_series_that_starts_after_the_boundary_gets_the_average(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    late = two_series[two_series["item_id"] == "b"].assign(item_id="c")
    late["date"] = pd.to_datetime(late["date"]) + pd.Timedelta(days=10)
    late = late[late["date"] > "2024-01-18"]
    panel = as_panel(pd.concat([two_series, late]))
    scaler = fit_scaler(panel, Split(np.datetime64("2024-01-18", "ns")), "standard")
    assert scaler.target.loc.tolist() == [8.5, 108.5, 58.5]


def test_series_are_chosen_by_name(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "standard").for_series(("b",))
    assert scaler.target.loc.tolist() == [108.5]
    assert scaler.past.loc.shape == (1, 1)
    with pytest.raises(DataError, match="not seen in training: series 'z'"):
        scaler.for_series(("b", "z"))


def test_targets_come_back_in_units(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "standard")
    scaled = np.array([[0.0, 1.0], [0.0, -1.0]], np.float32)
    expected = [[108.5, 108.5 + np.std(np.arange(18))], [8.5, 8.5 - np.std(np.arange(18))]]
    np.testing.assert_allclose(scaler.target_in_units(scaled, np.array([1, 0])), expected)
