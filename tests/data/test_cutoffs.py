"""Which rows are windows, against code that looks at one cut-off at a time."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.data.future import extend
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import (
    Split,
    forecast_cutoffs,
    series_weights,
    training_cutoffs,
    validation_cutoffs,
    windows_per_series,
)
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


def windows_one_by_one(
    panel: Panel, training_rows: np.ndarray, lookback: int, horizon: int, pad: bool, *, validation: bool
) -> Iterator[int]:
    for index, rows in enumerate(training_rows):
        start, known = panel.starts[index], panel.num_known[index]
        shortest = 1 if pad and rows < lookback + horizon else lookback
        for last in range(known):  # row of the series that is the cut-off
            end = last + 1 + horizon
            inside = rows > 0 and last + 1 >= rows and end <= known if validation else end <= rows
            past = panel.target[start + max(0, last + 1 - lookback) : start + last + 1]
            future = panel.target[start + last + 1 : start + end]
            if inside and last + 1 >= shortest and not np.isnan(past).all() and not np.isnan(future).all():
                yield int(start + last)


@pytest.fixture
def panel(as_panel: AsPanel) -> Panel:
    """Series of 9, 16, 3 and 12 days, of which the third begins late."""
    firsts = {"a": ("2024-01-01", 9), "b": ("2024-01-01", 16), "c": ("2024-01-10", 3), "d": ("2024-01-03", 12)}
    parts = [
        pd.DataFrame({"item_id": name, "date": pd.date_range(first, periods=rows), "y": np.arange(float(rows))})
        for name, (first, rows) in firsts.items()
    ]
    return as_panel(pd.concat(parts))


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    holes=st.sets(st.integers(0, 39)),
    day=st.integers(1, 16),
    lookback=st.integers(1, 7),
    horizon=st.integers(1, 4),
    pad=st.booleans(),
)
def test_against_one_cutoff_at_a_time(
    panel: Panel, holes: set[int], day: int, lookback: int, horizon: int, pad: bool
) -> None:
    target = panel.target.copy()
    target[list(holes - set((panel.ends - 1).tolist()))] = math.nan  # the last known row has a value by definition
    panel, split = replace(panel, target=target), Split(np.datetime64(f"2024-01-{day:02}", "ns"))
    rows = split.training_rows(panel)
    for function, validation in ((training_cutoffs, False), (validation_cutoffs, True)):
        expected = list(windows_one_by_one(panel, rows, lookback, horizon, pad, validation=validation))
        cutoffs = function(panel, split, lookback, horizon, pad=pad)
        assert cutoffs.tolist() == expected
        series = np.searchsorted(panel.starts, expected, side="right") - 1
        assert windows_per_series(panel, cutoffs).tolist() == np.bincount(series, minlength=4).tolist()


def test_padding_changes_nothing_for_long_series(panel: Panel) -> None:
    split = Split(np.datetime64("2024-01-12", "ns"))
    plain, padded = (training_cutoffs(panel, split, 4, 2, pad=pad) for pad in (False, True))
    long = np.isin(np.searchsorted(panel.starts, padded, side="right") - 1, [0, 1, 3])
    assert padded[long].tolist() == plain.tolist()
    assert padded[~long].tolist() == [25]  # the first of series c's three rows


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 39), value=st.just(math.nan) | st.floats(-1e9, 1e9), pad=st.booleans())
@pytest.mark.slow
def test_nothing_after_the_boundary_changes_training_windows(panel: Panel, at: int, value: float, pad: bool) -> None:
    split = Split(np.datetime64("2024-01-08", "ns"))
    target = panel.target.copy()
    if panel.timestamps[at] > split.boundary and at not in panel.ends - 1:
        target[at] = value
    changed = replace(panel, target=target)
    before, after = (training_cutoffs(each, split, 4, 2, pad=pad) for each in (panel, changed))
    assert before.tolist() == after.tolist()


def test_a_padded_forecast_needs_one_row(panel: Panel) -> None:
    longer = extend(panel, 2)
    assert forecast_cutoffs(longer, 10, 2, pad=True).tolist() == (longer.ends - 1).tolist()
    with pytest.raises(DataError, match="series 'a' has 9 rows with a target; the lookback needs 10"):
        forecast_cutoffs(longer, 10, 2)


def test_weights_have_mean_one_over_training_windows(panel: Panel) -> None:
    split = Split(np.datetime64("2024-01-12", "ns"))
    cutoffs = training_cutoffs(panel, split, 4, 2)
    weighted = replace(panel, weights=np.array([1e300, 2e300, 5e299, 3e300]))
    weights = series_weights(weighted, cutoffs)
    series = np.searchsorted(panel.starts, cutoffs, side="right") - 1
    assert weights.dtype == np.float32
    assert weights[series].mean() == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(weights / weights[0], [1, 2, 0.5, 3], rtol=1e-6)


def test_equal_weights_are_one_to_the_bit(panel: Panel) -> None:
    cutoffs = training_cutoffs(panel, Split(np.datetime64("2024-01-12", "ns")), 4, 2)
    equal = replace(panel, weights=np.full(4, 0.3))
    assert series_weights(equal, cutoffs).tolist() == [1.0] * 4
