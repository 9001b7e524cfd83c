"""Nothing that a training window is handed depends on rows after its cut-off, but for what is known in advance."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import RunConfig
from forecast_attn.data.windows import Window
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import Preparation, prepare

LENGTHS = (30, 44)
LOOKBACK, HORIZON = 6, 3
OPTIONS = {
    "target": "y",
    "id": "shop",
    "past": ["visits"],
    "future": ["price"],
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "validation": HORIZON,
}
INPUTS = ("past_target", "past_covariates", "future_covariates", "static_covariates")
WAYS = {
    "standard": {},
    "robust": {"scaling": "robust"},
    "mean-abs": {"scaling": "mean-abs"},
    "padded": {"short_series": "pad"},
    "masked": {"missing": "mask"},
    "log": {"transform": "log"},
}


def make_table() -> pd.DataFrame:
    """Two growing series with covariates that grow too: their first rows look like no later ones."""
    rng, parts = np.random.default_rng(3), []
    for number, length in enumerate(LENGTHS):
        steps = np.arange(length)
        columns = {name: 10 + steps + 3 * rng.normal(size=length).round(2) ** 2 for name in ("y", "visits", "price")}
        days = pd.date_range("2024-01-01", periods=length)
        parts.append(pd.DataFrame({"shop": f"s{number}", "date": days, **columns}))
    return pd.concat(parts, ignore_index=True)


TABLE = make_table()


def prepared(table: pd.DataFrame, way: str) -> Preparation:
    config = RunConfig.from_options(OPTIONS | WAYS[way])
    return prepare(read_panel(table, config)[0], config.data)


def window_at(table: pd.DataFrame, way: str, cutoff: int) -> Window:
    return prepared(table, way).windows().gather(torch.tensor([cutoff]))


def later_changed(cutoff: int, column: str, factor: float, steps: int) -> pd.DataFrame:
    """Other values in a column, more than `steps` rows behind the cut-off, of all series."""
    series = int(cutoff >= LENGTHS[0])
    row = cutoff - series * LENGTHS[0]
    after = TABLE.groupby("shop").cumcount() > row + steps
    return TABLE.assign(**{column: TABLE[column].where(~after, TABLE[column] * factor + 1)})


CUTOFFS = st.sampled_from([*range(LOOKBACK, 24), *range(LENGTHS[0] + LOOKBACK, LENGTHS[0] + 30)])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=3)
@given(cutoff=CUTOFFS, factor=st.floats(0.2, 20))
def test_no_input_depends_on_what_comes_after(way: str, cutoff: int, factor: float) -> None:
    expected = window_at(TABLE, way, cutoff)
    for column, steps in (("y", 0), ("visits", 0), ("price", HORIZON)):
        window = window_at(later_changed(cutoff, column, factor, steps), way, cutoff)
        for name in INPUTS:
            torch.testing.assert_close(getattr(window, name), getattr(expected, name), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("column", ["y", "visits", "price"])
def test_earlier_rows_do_change_inputs(column: str) -> None:
    cutoff = 15
    changed = TABLE.assign(**{column: TABLE[column].where(TABLE.index != 2, TABLE[column] * 9)})
    first, second = window_at(TABLE, "standard", cutoff), window_at(changed, "standard", cutoff)
    assert any(not torch.equal(getattr(first, name), getattr(second, name)) for name in INPUTS)


@pytest.mark.parametrize("way", ["standard", "mean-abs", "robust"])
def test_scales_are_those_of_the_rows_so_far(way: str) -> None:
    """Against numpy on the rows themselves; up to 10 rows every one counts."""
    cutoff = 9
    rows = TABLE["y"].to_numpy()[: cutoff + 1]
    low, middle, high = np.quantile(rows, [0.25, 0.5, 0.75])
    loc, scale = {
        "standard": (rows.mean(), rows.std()),
        "mean-abs": (0.0, np.abs(rows).mean()),
        "robust": (middle, (high - low) / 1.3489795),
    }[way]
    window = window_at(TABLE, way, cutoff)
    expected = (rows[-LOOKBACK:] - loc) / scale
    np.testing.assert_allclose(window.past_target[0].numpy(), expected, rtol=1e-4, atol=1e-4)
    expected = (TABLE["y"].to_numpy()[cutoff + 1 : cutoff + 1 + HORIZON] - loc) / scale
    np.testing.assert_allclose(window.future_target[0].numpy(), expected, rtol=1e-4, atol=1e-4)


def test_from_the_end_of_training_on_windows_are_those_of_a_forecast() -> None:
    preparation = prepared(TABLE, "standard")
    cutoffs = torch.from_numpy(preparation.validation_cutoffs)
    trained = preparation.windows().gather(cutoffs)
    forecast = preparation.schema.windows_of(preparation.panel).gather(cutoffs)
    for name in (*INPUTS, "future_target"):
        assert torch.equal(getattr(trained, name), getattr(forecast, name)), name


def test_a_window_that_has_not_moved_is_not_trained_on() -> None:
    still = TABLE.assign(y=TABLE["y"].where(TABLE.groupby("shop").cumcount() > 11, 5.0))
    preparation = prepared(still, "standard")
    series = np.searchsorted(preparation.panel.starts, preparation.training_cutoffs, side="right") - 1
    assert (preparation.training_cutoffs - preparation.panel.starts[series]).min() == 12


def test_a_window_inside_an_interpolated_hole_is_not_trained_on() -> None:
    holes = TABLE.assign(y=TABLE["y"].where(~TABLE.index.isin([12, 13])))
    config = RunConfig.from_options(OPTIONS | {"missing": "interpolate"})
    cutoffs = prepare(read_panel(holes, config)[0], config.data).training_cutoffs
    assert not np.isin([12, 13], cutoffs).any()
    assert np.isin([11, 14], cutoffs).all()
