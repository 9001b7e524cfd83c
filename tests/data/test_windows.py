"""Windows over counted numbers, so that every expected array can be read."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.categories import fit_vocabulary
from forecast_attn.data.future import extend
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaled_rows import RowLayout, scale_rows
from forecast_attn.data.scaling import Scaler, fit_scaler
from forecast_attn.data.split import Split, forecast_cutoffs, split_panel, training_cutoffs, validation_cutoffs
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


def arrays_of(
    panel: Panel,
    split: Split,
    scaling: str = "none",
    calendar: str = "auto",
    *,
    scaler: Scaler | None = None,
    masked: bool = False,
    padded: bool = False,
) -> WindowArrays:
    rows = scale_rows(
        panel,
        scaler or fit_scaler(panel, split, scaling),
        fit_vocabulary(panel, split),
        RowLayout.of(panel.roles, masked=masked, padded=padded),
        Calendar.build(calendar, panel.frequency),
    )
    return WindowArrays.build(rows, LOOKBACK, HORIZON)


def test_a_window_is_what_stands_around_its_cutoff(panel: Panel, split: Split) -> None:
    arrays = arrays_of(panel, split)
    window = arrays.gather(torch.tensor([10, 43]))
    assert window.past_target.tolist() == [[6, 7, 8, 9, 10], [106, 107, 108, 109, 110]]
    assert window.future_target.tolist() == [[11, 12, 13], [111, 112, 113]]
    assert window.past_covariates[1, :, :2].tolist() == [[12, 60], [14, 70], [16, 80], [18, 90], [20, 100]]
    assert window.future_covariates[0, :, 0].tolist() == [110, 120, 130]
    assert window.static_covariates.tolist() == [[1], [5]]
    calendar = Calendar.build("auto", panel.frequency).features(panel.timestamps)
    np.testing.assert_array_equal(window.past_covariates[0, :, 2:], calendar[6:11])
    np.testing.assert_array_equal(window.future_covariates[0, :, 1:], calendar[11:14])
    assert all(tensor.dtype == torch.float32 for tensor in window[:5])
    assert window.past_observed is None
    assert window.weight.tolist() == [1, 1]


def test_without_calendar(panel: Panel, split: Split) -> None:
    window = arrays_of(panel, split, calendar="none").gather(torch.tensor([10]))
    assert window.past_covariates.shape == (1, LOOKBACK, 2)
    assert window.future_covariates.shape == (1, HORIZON, 1)


def test_without_any_input(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"step": np.arange(30), "y": np.arange(30.0)}))
    split = split_panel(panel, validation=5, horizon=HORIZON, lookback=LOOKBACK)
    window = arrays_of(panel, split).gather(torch.tensor([9, 10]))
    shapes = [tuple(tensor.shape) for tensor in window if tensor is not None]
    assert shapes[:5] == [(2, LOOKBACK), (2, LOOKBACK, 0), (2, HORIZON, 0), (2, 0), (2, HORIZON)]
    assert shapes[5:] == [(2, LOOKBACK, 0), (2, HORIZON, 0), (2, 0), (2,)]


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
    assert (moved.lookback, moved.horizon, moved.layout.num_past) == (LOOKBACK, HORIZON, 1)


def test_the_scaler_must_be_the_panels(as_panel: AsPanel, panel: Panel, two_series: pd.DataFrame, split: Split) -> None:
    only_b = as_panel(two_series[two_series["item_id"] == "b"], static_covariates=("size",))
    scaler = fit_scaler(panel, split, "standard")
    with pytest.raises(ValueError, match="for_series"):
        arrays_of(only_b, split, scaler=scaler)
    window = arrays_of(only_b, split, scaler=scaler.for_series(("b",))).gather(torch.tensor([10]))
    whole = arrays_of(panel, split, "standard").gather(torch.tensor([43]))
    assert torch.equal(window.past_covariates, whole.past_covariates)
    assert torch.equal(window.past_target, whole.past_target)


# --------------------------------------------------------------------------- what is missing, and what is not known


@pytest.fixture
def with_holes(as_panel: AsPanel, two_series: pd.DataFrame) -> Panel:
    """Series a lacks the target of its rows 7 and 12, `past` of row 8 and `ahead` of row 11."""
    frame = two_series.copy()
    frame.loc[[7, 12], "target"] = np.nan
    frame.loc[8, "past"] = np.nan
    frame.loc[11, "ahead"] = np.nan
    return as_panel(frame, static_covariates=("size",), missing="mask")


def test_missing_values_are_zero_and_marked(with_holes: Panel, split: Split) -> None:
    window = arrays_of(with_holes, split, masked=True, calendar="none").gather(torch.tensor([10]))
    assert window.past_target.tolist() == [[6, 0, 8, 9, 10]]
    assert window.past_observed is not None
    assert window.past_observed.tolist() == [[True, False, True, True, True]]
    # past, whether observed, ahead, whether observed
    assert window.past_covariates[0, 1:3].tolist() == [[14, 1, 70, 1], [0, 0, 80, 1]]
    assert window.future_covariates[0].tolist() == [[0, 0], [120, 1], [130, 1]]
    np.testing.assert_array_equal(window.future_target, [[11, np.nan, 13]])


def test_padded_windows_begin_before_their_series(panel: Panel, split: Split) -> None:
    window = arrays_of(panel, split, padded=True).gather(torch.tensor([1, 34, 40]))
    assert window.past_observed is not None
    assert window.past_observed.tolist() == [[False] * 3 + [True] * 2] * 2 + [[True] * 5]
    assert window.past_target.tolist() == [[0, 0, 0, 0, 1], [0, 0, 0, 100, 101], [103, 104, 105, 106, 107]]
    assert (window.past_covariates[:2, :3] == 0).all()
    whole = arrays_of(panel, split).gather(torch.tensor([40]))
    assert torch.equal(window.past_covariates[2], whole.past_covariates[0])
    assert torch.equal(window.future_covariates[2], whole.future_covariates[0])


def test_padding_shows_nothing_of_the_series_before(as_panel: AsPanel, two_series: pd.DataFrame, split: Split) -> None:
    changed = two_series.copy()
    changed.loc[changed["item_id"] == "a", ["past", "ahead"]] += 1000.0
    one, other = (
        arrays_of(as_panel(frame), split, padded=True).gather(torch.tensor([34])) for frame in (two_series, changed)
    )
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None)


@pytest.mark.parametrize(("known", "expected"), [(1, [110, 0, 0]), (2, [110, 120, 0]), (3, [110, 120, 130])])
def test_a_covariate_known_for_some_steps(
    as_panel: AsPanel, two_series: pd.DataFrame, split: Split, known: int, expected: list[float]
) -> None:
    panel = as_panel(two_series, future_covariates=(f"ahead:{known}",), static_covariates=("size",))
    window = arrays_of(panel, split, calendar="none").gather(torch.tensor([10]))
    assert window.future_covariates[0, :, 0].tolist() == expected
    assert window.past_covariates[0, :, -1].tolist() == [60, 70, 80, 90, 100]


def test_categories_have_codes_from_training_rows(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    frame = two_series.assign(sky=(["sun", "fog", "rain"] * 19)[: len(two_series)], kind=lambda f: "k" + f["item_id"])
    frame.loc[25:29, "sky"] = "frogs"  # after the boundary
    panel = as_panel(frame, past_covariates=("sky",), static_covariates=("kind",), ignore=("size",))
    split = split_panel(panel, validation=12, horizon=HORIZON, lookback=LOOKBACK)
    assert fit_vocabulary(panel, split).categories == {"sky": ("fog", "rain", "sun"), "kind": ("ka", "kb")}
    window = arrays_of(panel, split).gather(torch.tensor([26, 43]))
    assert window.past_categories[..., 0].tolist() == [[1, 2, 3, 0, 0], [3, 1, 2, 3, 1]]
    assert window.static_categories.tolist() == [[1], [2]]
    unknown = fit_vocabulary(panel, split).unknown(panel)
    assert [(finding.column, finding.category, finding.count) for finding in unknown] == [("sky", "frogs", 5)]


def test_series_of_one_grid_share_their_calendar(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    frame = two_series.copy()
    frame.loc[frame["item_id"] == "b", "date"] += pd.Timedelta(days=4)
    panel = as_panel(frame, static_covariates=("size",))
    split = split_panel(panel, validation=12, horizon=HORIZON, lookback=LOOKBACK)
    arrays = arrays_of(panel, split)
    assert len(arrays.calendar) == 33
    window = arrays.gather(torch.tensor([10, 43]))
    expected = Calendar.build("auto", panel.frequency).features(panel.timestamps)
    np.testing.assert_array_equal(window.future_covariates[:, :, 1:], np.stack([expected[11:14], expected[44:47]]))


def test_series_between_the_steps_of_others_have_their_own_calendar(
    as_panel: AsPanel, two_series: pd.DataFrame
) -> None:
    frame = two_series.copy()
    frame.loc[frame["item_id"] == "b", "date"] += pd.Timedelta(hours=6)
    panel = as_panel(frame, static_covariates=("size",))
    split = split_panel(panel, validation=12, horizon=HORIZON, lookback=LOOKBACK)
    window = arrays_of(panel, split).gather(torch.tensor([10, 43]))
    expected = Calendar.build("auto", panel.frequency).features(panel.timestamps)
    np.testing.assert_array_equal(window.future_covariates[:, :, 1:], np.stack([expected[11:14], expected[44:47]]))
