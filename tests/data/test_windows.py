"""Windows over counted numbers, so that every expected array can be read."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn.data.calendar import calendar_features
from forecast_attn.data.cutoffs import forecast_cutoffs, training_cutoffs, validation_cutoffs
from forecast_attn.data.future import extend
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import fit_scaler
from forecast_attn.data.split import Split, split_panel
from forecast_attn.data.windows import WindowArrays
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]
LOOKBACK, HORIZON = 5, 3


@pytest.fixture
def panel(as_panel: AsPanel, two_series: pd.DataFrame) -> Panel:
    return as_panel(two_series, static_covariates=("size",))


@pytest.fixture
def split(panel: Panel) -> Split:
    return split_panel(panel, validation=12, horizon=HORIZON, lookback=LOOKBACK)


def arrays_of(panel: Panel, split: Split, scaling: str = "none", calendar: str = "auto") -> WindowArrays:
    return WindowArrays.build(panel, fit_scaler(panel, split, scaling), calendar, LOOKBACK, HORIZON)


def test_a_window_is_what_stands_around_its_cutoff(panel: Panel, split: Split) -> None:
    arrays = arrays_of(panel, split)
    window = arrays.gather(torch.tensor([10, 43]))
    assert window.past_target.tolist() == [[6, 7, 8, 9, 10], [106, 107, 108, 109, 110]]
    assert window.future_target.tolist() == [[11, 12, 13], [111, 112, 113]]
    assert window.past_covariates[1, :, :2].tolist() == [[12, 60], [14, 70], [16, 80], [18, 90], [20, 100]]
    assert window.future_covariates[0, :, 0].tolist() == [110, 120, 130]
    assert window.static_covariates.tolist() == [[1], [5]]
    calendar = calendar_features(panel.timestamps, panel.frequency)
    np.testing.assert_array_equal(window.past_covariates[0, :, 2:], calendar[6:11])
    np.testing.assert_array_equal(window.future_covariates[0, :, 1:], calendar[11:14])
    assert all(tensor.dtype == torch.float32 for tensor in window)
    assert (arrays.num_past_inputs, arrays.num_future_inputs, arrays.num_static) == (7, 6, 1)


def test_without_calendar(panel: Panel, split: Split) -> None:
    window = arrays_of(panel, split, calendar="none").gather(torch.tensor([10]))
    assert window.past_covariates.shape == (1, LOOKBACK, 2)
    assert window.future_covariates.shape == (1, HORIZON, 1)


def test_without_any_input(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"step": np.arange(30), "y": np.arange(30.0)}))
    split = split_panel(panel, validation=5, horizon=HORIZON, lookback=LOOKBACK)
    window = arrays_of(panel, split).gather(torch.tensor([9, 10]))
    shapes = [tuple(tensor.shape) for tensor in window]
    assert shapes == [(2, LOOKBACK), (2, LOOKBACK, 0), (2, HORIZON, 0), (2, 0), (2, HORIZON)]


def test_every_series_is_scaled_by_its_own(panel: Panel, split: Split) -> None:
    window = arrays_of(panel, split, "standard").gather(torch.tensor([10, 43]))
    torch.testing.assert_close(window.past_target[0], window.past_target[1])
    torch.testing.assert_close(window.past_target[0, -1].item(), (10 - 8.5) / np.std(np.arange(18)), rtol=1e-6, atol=0)


def test_training_ends_at_the_boundary(panel: Panel, split: Split) -> None:
    # January 1st to 18th: cut-offs from the fifth row to the one three before the last.
    assert training_cutoffs(panel, split, LOOKBACK, HORIZON).tolist() == [*range(4, 15), *range(37, 48)]


def test_validation_begins_there_and_ends_with_the_target(panel: Panel, split: Split) -> None:
    # b ends on the 20th, one row short of a horizon after the 18th.
    assert validation_cutoffs(panel, split, LOOKBACK, HORIZON).tolist() == list(range(17, 27))


def test_series_that_start_after_the_boundary_are_not_validated(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    late = two_series[two_series["item_id"] == "a"].assign(item_id="late").iloc[18:]
    panel = as_panel(pd.concat([two_series, late]), static_covariates=("size",))
    split = split_panel(panel, validation=12, horizon=HORIZON, lookback=LOOKBACK)
    assert [series.item_id for series in split.skipped] == ["late"]
    assert validation_cutoffs(panel, split, LOOKBACK, HORIZON).tolist() == list(range(17, 27))


def test_no_validation_horizon_touches_training(panel: Panel, split: Split) -> None:
    training = training_cutoffs(panel, split, LOOKBACK, HORIZON)
    validation = validation_cutoffs(panel, split, LOOKBACK, HORIZON)
    assert (panel.timestamps[training + HORIZON] <= split.boundary).all()
    assert (panel.timestamps[validation + 1] > split.boundary).all()
    targets = arrays_of(panel, split).gather(torch.from_numpy(np.concatenate([training, validation]))).future_target
    assert not targets.isnan().any()


def test_a_forecast_looks_from_the_last_known_row_into_the_future(panel: Panel, split: Split) -> None:
    longer = extend(panel, HORIZON)
    cutoffs = forecast_cutoffs(longer, LOOKBACK, HORIZON)
    window = arrays_of(longer, split).gather(torch.from_numpy(cutoffs))
    assert window.past_target[:, -1].tolist() == [29, 119]
    assert window.future_covariates[:, :, 0].tolist() == [[300, 310, 320], [200, 210, 220]]
    assert window.future_target.isnan().all()
    assert not window.past_covariates.isnan().any()


def test_a_forecast_needs_a_whole_lookback(panel: Panel) -> None:
    with pytest.raises(DataError, match="series 'b' has 20 rows with a target; the lookback needs 25"):
        forecast_cutoffs(extend(panel, HORIZON), 25, HORIZON)


def test_a_forecast_needs_future_rows(panel: Panel) -> None:
    with pytest.raises(ValueError, match="extend it by the horizon"):
        forecast_cutoffs(panel, LOOKBACK, HORIZON + 1)


def test_nothing_after_the_cutoff_is_in_the_past(as_panel: AsPanel, two_series: pd.DataFrame, split: Split) -> None:
    changed = two_series.copy()
    changed.loc[21:29, ["target", "past"]] = -999.0
    one, other = (
        arrays_of(as_panel(frame), split, "standard").gather(torch.tensor([20])) for frame in (two_series, changed)
    )
    assert torch.equal(one.past_target, other.past_target)
    assert torch.equal(one.past_covariates, other.past_covariates)
    assert torch.equal(one.future_covariates, other.future_covariates)
    assert not torch.equal(one.future_target, other.future_target)


def test_series_of_a_cutoff(panel: Panel, split: Split) -> None:
    assert arrays_of(panel, split).series_of(torch.tensor([0, 32, 33, 55])).tolist() == [0, 0, 1, 1]


def test_a_device_changes_nothing_else(panel: Panel, split: Split) -> None:
    arrays = arrays_of(panel, split)
    moved = arrays.to("meta")
    assert moved.inputs.device.type == "meta"
    assert (moved.lookback, moved.horizon, moved.num_past) == (LOOKBACK, HORIZON, 1)


def test_the_scaler_must_be_the_panels(as_panel: AsPanel, panel: Panel, two_series: pd.DataFrame, split: Split) -> None:
    only_b = as_panel(two_series[two_series["item_id"] == "b"], static_covariates=("size",))
    scaler = fit_scaler(panel, split, "standard")
    with pytest.raises(ValueError, match="for_series"):
        WindowArrays.build(only_b, scaler, "auto", LOOKBACK, HORIZON)
    window = WindowArrays.build(only_b, scaler.for_series(("b",)), "auto", LOOKBACK, HORIZON).gather(torch.tensor([10]))
    whole = arrays_of(panel, split, "standard").gather(torch.tensor([43]))
    assert torch.equal(window.past_covariates, whole.past_covariates)
    assert torch.equal(window.past_target, whole.past_target)
