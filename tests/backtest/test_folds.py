"""Which windows a backtest has and which it leaves out; and the batches that make a forecast independent of others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.backtest.folds import make_folds
from forecast_attn.config.options import RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import prepare

DAYS = pd.date_range("2024-01-01", periods=60)
LOOKBACK, HORIZON = 5, 4


def series(name: str, first: int, last: int, holes: tuple[int, ...] = ()) -> pd.DataFrame:
    """Days first … last - 1 of the table, empty at the holes."""
    values = np.sin(np.arange(60.0)) + 5
    values[list(holes)] = np.nan
    return pd.DataFrame({"id": name, "day": DAYS, "y": values})[first:last]


def prepared(*tables: pd.DataFrame, vintages: pd.DataFrame | None = None, **options: object) -> tuple[Panel, Schema]:
    config = RunConfig.from_options(
        {"target": "y", "item_id": "id", "lookback": LOOKBACK, "horizon": HORIZON, "validation": 20, **options}
    )
    panel, _ = read_panel(pd.concat(tables, ignore_index=True), config, vintages)
    return panel, prepare(panel, config.data).schema


def windows(panel: Panel, schema: Schema, days: list[int], **options: object) -> tuple[set[tuple[str, int]], dict]:
    """(series, day of the cut-off) of every window, and what is left out."""
    stamps = DAYS[days].to_numpy("datetime64[ns]")
    folds = make_folds(panel, schema, stamps, trained_until=stamps[0], **options)  # type: ignore[arg-type]
    assert folds.starts[-1] == len(folds.windows)
    pairs = set()
    for number, fold in enumerate(folds.folds):
        rows = folds.windows[folds.starts[number] : folds.starts[number + 1]]
        assert fold.series == len(rows)
        assert (panel.timestamps[rows] == fold.cutoff).all()
        assert fold.last - fold.first == np.timedelta64(HORIZON - 1, "D")
        pairs |= {
            (panel.item_ids[panel.series_of_rows[row]], int(np.flatnonzero(fold.cutoff == DAYS)[0])) for row in rows
        }
    return pairs, folds.left_out


def test_series_are_left_out_where_they_lack_lookback_or_horizon_and_counted() -> None:
    panel, schema = prepared(series("a", 0, 60), series("b", 20, 60), series("c", 0, 40))
    pairs, left_out = windows(panel, schema, [10, 23, 24, 35, 36, 50])
    assert pairs == {
        *(("a", day) for day in (10, 23, 24, 35, 36, 50)),
        *(("b", day) for day in (24, 35, 36, 50)),  # its fifth row is day 24
        *(("c", day) for day in (10, 23, 24, 35)),  # 35 + 4 is its last day
    }
    assert left_out == {"lookback": 2, "horizon": 2}


def test_padded_windows_need_one_row() -> None:
    panel, schema = prepared(series("a", 0, 60), series("b", 20, 60), short_series="pad")
    assert windows(panel, schema, [19, 20])[0] == {("a", 19), ("a", 20), ("b", 20)}


def test_a_window_needs_a_value_on_both_sides() -> None:
    holes = tuple(range(20, 30))
    panel, schema = prepared(series("a", 0, 60, holes), missing="mask")
    pairs, left_out = windows(panel, schema, [10, 16, 18, 19, 20, 24, 26, 29, 30])
    # Of the horizon of 19 all days are empty, of the lookback of 24 and 29 too.
    assert pairs == {("a", day) for day in (10, 16, 18, 30)}
    assert left_out == {"nothing observed": 5}


def test_no_cutoff_lies_within_an_interpolated_hole() -> None:
    panel, schema = prepared(series("a", 0, 60, (30, 31)), series("b", 0, 60), missing="interpolate")
    pairs, left_out = windows(panel, schema, [29, 30, 31, 32])
    assert pairs == {("a", 29), ("a", 32), *(("b", day) for day in (29, 30, 31, 32))}
    assert left_out == {"interpolated": 2}


def test_a_window_needs_the_forecasts_of_its_horizon() -> None:
    """Wind is forecast for four days ahead every day but the 40th; that of the 39th reaches up to the 43rd."""
    issues = pd.DataFrame(
        [(DAYS[day + ahead], DAYS[day], 1.0) for day in range(56) for ahead in range(1, 5) if day != 40],
        columns=["day", "issued_at", "wind"],
    )
    table = series("a", 0, 60).assign(wind=1.0).drop(columns="id")
    config = RunConfig.from_options({"target": "y", "lookback": LOOKBACK, "horizon": HORIZON, "validation": 20})
    panel, _ = read_panel(table, config, issues)
    schema = prepare(panel, config.data).schema
    pairs, left_out = windows(panel, schema, [39, 40, 41])
    assert pairs == {("y", 39), ("y", 41)}
    assert left_out == {"not forecast": 1}


def test_models_are_numbered_by_refit() -> None:
    panel, schema = prepared(series("a", 0, 60))
    stamps = DAYS[[20, 25, 30, 35, 40]].to_numpy("datetime64[ns]")
    never = make_folds(panel, schema, stamps, trained_until=stamps[1])
    assert [fold.model for fold in never.folds] == [0] * 5
    assert never.inside_training == 1  # the second one's cut-off is the end of training
    every = make_folds(panel, schema, stamps, trained_until=stamps[1], refit_every=2)
    assert [fold.model for fold in every.folds] == [1, 1, 2, 2, 3]
    assert [fold.trained_until for fold in every.folds] == list(stamps[[1, 1, 2, 2, 4]])
    assert every.windows_of_model(2) == slice(2, 4)


@pytest.mark.slow
def test_a_forecast_alone_has_the_bits_of_the_forecast_among_others(shop_run: Path, sales: pd.DataFrame) -> None:
    """Whatever the number of windows, their order and their neighbours."""
    model = load_model(RunDir(shop_run))
    panel, _ = read_panel(sales, model.config)
    rows = np.arange(20, 100)

    def forecast(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        batches = list(forecast_windows(model, panel, rows))
        return tuple(
            np.concatenate([getattr(b, name) for b in batches]) for name in ("prediction", "quantiles", "weights")
        )  # type: ignore[return-value]

    together = forecast(np.tile(rows, 3))
    for chosen in (rows[:1], rows[7:9], rows[::-1].copy(), np.repeat(rows[40], 129)):
        for actual, expected in zip(forecast(chosen), together, strict=True):
            assert len(actual) == len(chosen)
            assert actual.tobytes() == expected[np.searchsorted(rows, chosen)].tobytes()
    assert not list(forecast_windows(model, panel, rows[:0]))
