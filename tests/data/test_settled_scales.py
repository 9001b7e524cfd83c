"""Scales settle early and know nothing of later rows; the held rows against a search row by row."""

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn.config.options import RunConfig
from forecast_attn.data.settled_scales import FAR, FEWEST, SETTLED, growing_counts, held_rows
from forecast_attn.data.windows import Window
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import Preparation, prepare

ROWS, LOOKBACK, HORIZON = 700, 8, 4
OPTIONS = {
    "target": "y",
    "past": ["visits"],
    "future": ["calm", "late", "rare"],
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "validation": 60,
}
Y, VISITS, CALM, LATE, RARE = range(5)


def make_table() -> pd.DataFrame:
    """Covariates that stay as they are, that rise a thousandfold after 260 rows, and that first change after 300."""
    rng, steps = np.random.default_rng(5), np.arange(ROWS)
    return pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=ROWS),
            "y": rng.normal(size=ROWS),
            "visits": 1e3 + rng.normal(size=ROWS),
            "calm": 5 + np.sin(steps / 60) + rng.normal(size=ROWS),
            "late": rng.normal(size=ROWS) * np.where(steps < 260, 1, 1000),
            "rare": np.where((steps >= 300) & (steps % 50 < 3), 1.0, 0.0),
        }
    )


TABLE = make_table()


def prepared(table: pd.DataFrame, **options: object) -> Preparation:
    config = RunConfig.from_options(OPTIONS | options)
    return prepare(read_panel(table, config)[0], config.data)


def window_at(preparation: Preparation, cutoff: int) -> Window:
    return preparation.windows().gather(torch.tensor([cutoff]))


def slowly_held(values: np.ndarray, counts: np.ndarray) -> int:
    """The number of first rows whose mean and deviation are kept in the end; all of them where none has settled."""
    held = 1
    for count in (int(each) for each in counts if each <= len(values)):
        first, now = values[:held], values[:count]
        far = abs(now.mean() - first.mean()) > FAR * first.std() or now.std() > FAR * first.std()
        if count <= max(SETTLED * len(values), FEWEST) or far:
            held = count
    return len(values) if held == max(each for each in counts if each <= len(values)) else held


def test_held_rows_are_those_of_a_search_row_by_row() -> None:
    preparation = prepared(TABLE)
    rows = preparation.scaled_rows
    assert rows is not None
    names = ("y", "visits", "calm", "late", "rare")
    expected = [slowly_held(TABLE[name].to_numpy()[: rows[0]], growing_counts(int(rows[0]))) for name in names]
    assert held_rows(preparation.panel, rows)[0].tolist() == expected
    assert expected[Y] < 250
    assert expected[CALM] < 250
    assert 260 < expected[LATE] < rows[0]


def test_the_scales_of_the_run_are_of_the_held_rows() -> None:
    preparation = prepared(TABLE)
    assert preparation.scaled_rows is not None
    rows = held_rows(preparation.panel, preparation.scaled_rows)[0]
    scaler = preparation.schema.scaler
    for index, name in enumerate(("calm", "late", "rare")):
        held = TABLE[name].to_numpy()[: rows[CALM + index]]
        assert (scaler.future.loc[0, index], scaler.future.scale[0, index]) == pytest.approx((held.mean(), held.std()))
    held = TABLE["visits"].to_numpy()[: rows[VISITS]]
    assert (scaler.past.loc[0, 0], scaler.past.scale[0, 0]) == pytest.approx((held.mean(), held.std()))
    held = TABLE["y"].to_numpy()[: rows[Y]]
    assert (scaler.target.loc[0], scaler.target.scale[0]) == pytest.approx((held.mean(), held.std()))


def test_the_held_rows_of_a_transformed_target_are_those_of_its_values() -> None:
    table = TABLE.assign(y=np.exp(TABLE["y"]))
    scaler, plain = (prepared(table, transform=kind).schema.scaler for kind in ("log", "none"))
    preparation = prepared(table)
    assert preparation.scaled_rows is not None
    held = table["y"].to_numpy()[: held_rows(preparation.panel, preparation.scaled_rows)[0, Y]]
    assert (plain.target.loc[0], plain.target.scale[0]) == pytest.approx((held.mean(), held.std()))
    held = np.log1p(held)
    assert (scaler.target.loc[0], scaler.target.scale[0]) == pytest.approx((held.mean(), held.std()))


def test_from_where_it_has_settled_the_same_value_is_the_same_input() -> None:
    same = {name: TABLE[name].where(TABLE.index % 40 != 3, 1.5) for name in ("y", "calm")}
    preparation = prepared(TABLE.assign(**same))
    windows = [window_at(preparation, cutoff) for cutoff in range(282, 600, 40)]
    for inputs in (
        [window.future_covariates[0, 0, 0].item() for window in windows],
        [window_at(preparation, cutoff).past_target[0, -1].item() for cutoff in range(283, 600, 40)],
    ):
        assert inputs == [inputs[0]] * len(inputs)


@pytest.mark.parametrize("cutoff", [40, 230, 262, 420, 560])
@pytest.mark.parametrize("method", ["standard", "robust"])
@pytest.mark.slow
def test_no_later_row_changes_an_input(cutoff: int, method: str) -> None:
    expected = window_at(prepared(TABLE, scaling=method), cutoff)
    later = TABLE.index > cutoff + HORIZON
    changed = TABLE.assign(
        **{name: TABLE[name].where(~later, 50 * TABLE[name] + 1) for name in ("calm", "late", "rare")}
    )
    changed["y"] = TABLE["y"].where(TABLE.index <= cutoff, 7 * TABLE["y"] - 2)
    changed["visits"] = TABLE["visits"].where(TABLE.index <= cutoff, 520 + TABLE["visits"] / 2)
    window = window_at(prepared(changed, scaling=method), cutoff)
    for name in ("past_target", "past_covariates", "future_covariates"):
        torch.testing.assert_close(getattr(window, name), getattr(expected, name), rtol=1e-3, atol=1e-3)


def test_large_values_of_a_series_leave_the_inputs_of_the_others() -> None:
    """Turnover in billions of one shop, and in tens of the next; a sum over both would round as the larger one."""
    shops, names = pd.concat([TABLE.assign(shop="a"), TABLE.assign(shop="b")]), ["y", "visits", "calm"]
    larger = shops.copy()
    larger.loc[larger["shop"] == "a", names] *= 1e9
    preparations = [prepared(table, id="shop") for table in (shops, larger)]
    for cutoff in (ROWS + 230, ROWS + 560):
        expected, window = (window_at(preparation, cutoff) for preparation in preparations)
        for name in ("past_target", "past_covariates", "future_covariates"):
            assert torch.equal(getattr(window, name), getattr(expected, name))


def test_a_covariate_that_rises_is_measured_anew() -> None:
    assert window_at(prepared(TABLE), 600).future_covariates[0, :, LATE - 1].abs().max() < 20


def test_short_tables_are_scaled_by_all_training_rows() -> None:
    preparation = prepared(TABLE[:180])
    rows = preparation.scaled_rows
    assert rows is not None
    assert (held_rows(preparation.panel, rows) == rows).all()


@pytest.mark.parametrize(("rows", "first"), [(1_900, FEWEST), (700, LOOKBACK), (180, LOOKBACK)])
def test_windows_before_scales_have_settled_are_left_out_where_they_are_few(rows: int, first: int) -> None:
    days = pd.date_range("2020-01-01", periods=rows)
    table = pd.DataFrame({"date": days, "y": np.random.default_rng(1).normal(size=rows)})
    preparation = prepared(table, past=[], future=[])
    assert preparation.training_cutoffs[0] == first - 1
