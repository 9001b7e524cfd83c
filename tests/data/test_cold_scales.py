"""Series never seen in training are scaled by their own lookback and by nothing else."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import fit_scaler
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError

from .slow_scales import slow_fit

AsPanel = Callable[..., Panel]

TRANSFORMS = ["none", "arcsinh", "log"]


@pytest.mark.parametrize("method", ["standard", "robust", "mean-abs", "none"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_cold_series_is_scaled_by_its_own_lookback(
    as_panel: AsPanel, two_series: pd.DataFrame, split: Split, method: str, transform: str
) -> None:
    trained = fit_scaler(as_panel(two_series[two_series["item_id"] == "a"]), split, method, transform)
    both = as_panel(two_series)
    scaler = trained.with_cold_series(both, 6)
    assert scaler.item_ids == ("a", "b")
    assert trained.unseen(both.item_ids) == ("b",)
    assert scaler.target.loc[0] == trained.target.loc[0]
    lookback = np.arange(114.0, 120.0)
    if transform == "none":
        expected = slow_fit(lookback, method)
        assert (scaler.target.loc[1], scaler.target.scale[1]) == pytest.approx(expected)
        assert (scaler.past.loc[1, 0], scaler.past.scale[1, 0]) == pytest.approx(
            slow_fit(np.arange(28.0, 40, 2), method)
        )
    back = scaler.target_in_units(scaler.scale_target(lookback, np.ones(6, np.int64))[None], np.array([1]))
    np.testing.assert_allclose(back[0], lookback)
    assert scaler.static is trained.static


def test_a_cold_series_depends_on_nothing_but_its_lookback(
    as_panel: AsPanel, two_series: pd.DataFrame, split: Split
) -> None:
    trained = fit_scaler(as_panel(two_series[two_series["item_id"] == "a"]), split, "robust", "arcsinh")
    changed = two_series.copy()
    changed.loc[(changed["item_id"] == "b") & (changed["target"] < 114), ["target", "past"]] = 1e6
    one, other = (trained.with_cold_series(as_panel(frame), 6).to_dict() for frame in (two_series, changed))
    assert one == other


def test_a_cold_series_shorter_than_the_lookback_uses_what_it_has(panel: Panel, split: Split) -> None:
    only_a = replace(fit_scaler(panel, split, "standard"), item_ids=("a", "other"))
    scaler = only_a.with_cold_series(panel, 100)
    assert scaler.item_ids == ("a", "other", "b")
    assert scaler.target.loc[2] == np.arange(100, 120).mean()


def test_nothing_cold_changes_nothing(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "standard")
    assert scaler.with_cold_series(panel, 5) is scaler


def test_the_error_of_an_unseen_series_knows_the_way_out(panel: Panel, split: Split) -> None:
    with pytest.raises(DataError) as caught:
        fit_scaler(panel, split, "standard").for_series(("b", "z"))
    assert "--cold-start" in str(caught.value.hint)
