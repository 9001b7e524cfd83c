"""Many series at once against one series at a time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecast_attn.data.scale_fitting import Rows, fit_affine
from forecast_attn.data.segments import sums

from .slow_scales import slow_fit

numbers = st.integers(-50, 50).map(float) | st.just(0.0)


@pytest.mark.slow
@given(
    data=st.data(),
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    method=st.sampled_from(["standard", "robust", "mean-abs", "none"]),
    num_columns=st.integers(1, 3),
)
def test_every_method_against_one_series_at_a_time(
    data: st.DataObject, lengths: list[int], method: str, num_columns: int
) -> None:
    shape = (sum(lengths), num_columns)
    values = data.draw(arrays(float, shape, elements=numbers | st.just(math.nan)))
    starts = np.cumsum([0, *lengths])
    counts = np.array([data.draw(st.integers(0, length)) for length in lengths])
    fit = fit_affine(Rows(values, starts[:-1], counts), method)
    for index, count in enumerate(counts):
        for column in range(num_columns):
            of_series = values[starts[index] : starts[index] + count, column]
            got = fit.loc[index, column], fit.scale[index, column]
            if np.isnan(of_series).all() and method != "none":
                assert np.isnan(got).all()
            elif method != "none":
                np.testing.assert_allclose(got, slow_fit(of_series, method), rtol=1e-12, atol=1e-12)


def test_bit_equal_to_mean_and_deviation_of_each_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forecast_attn.data.segments.ROWS_AT_ONCE", 1000)
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 700, 50)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    for num_columns in (1, 3):
        values = rng.lognormal(sigma=3, size=(starts[-1], num_columns))
        fit = fit_affine(Rows(values, starts[:-1], lengths), "standard")
        for index, count in enumerate(lengths):
            part = values[starts[index] : starts[index] + count]
            assert fit.loc[index].tobytes() == part.mean(axis=0).tobytes()
            if count > 1:
                assert fit.scale[index].tobytes() == part.std(axis=0).tobytes()


@pytest.mark.parametrize("method", ["standard", "robust", "mean-abs"])
@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 9,
        [1e15] * 9,
        [0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3],  # rounding, not variation
        [1e-200, -1e-200, 0.0, 0.0],
        [0.0] * 8 + [7.0],
        [0.0] * 8 + [1e-30],
        [5.0, math.nan],
    ],
)
def test_nothing_is_divided_by_nearly_nothing(method: str, values: list[float]) -> None:
    column = np.array(values)[:, None]
    fit = fit_affine(Rows(column, np.array([0]), np.array([len(values)])), method)
    assert fit.scale[0, 0] == 1 or fit.scale[0, 0] >= np.nanmax(np.abs(column)) * 1e-12
    scaled = fit.apply(column)
    assert np.nanmax(np.abs(scaled)) <= 10 or method == "standard"
    assert np.isfinite((1e12 * np.ones(1) - fit.loc) / fit.scale).all()


def test_robust_of_an_intermittent_series_falls_back_to_the_deviation() -> None:
    values = np.array([0.0] * 9 + [10.0])
    fit = fit_affine(Rows(values[:, None], np.array([0]), np.array([10])), "robust")
    assert (fit.loc[0, 0], fit.scale[0, 0]) == (0.0, values.std())


@pytest.mark.parametrize("columns", [(), (1,), (3,), (17,)])
@pytest.mark.parametrize(("length", "gap"), [(0, 1), (1, 0), (9, 2), (128, 0), (264, 36), (1000, 5)])
def test_sums_of_evenly_spaced_series_are_those_of_each_to_the_bit(length, gap, columns):
    random, firsts = np.random.default_rng(0), np.arange(5) * (length + gap) + 2
    values = random.normal(size=(firsts[-1] + length + 1, *columns)) * 10.0 ** random.integers(-5, 5, (1, *columns))
    together = sums(values, firsts, np.full(5, length))
    assert np.array_equal(together, [values[first : first + length].sum(axis=0) for first in firsts])


def test_sums_of_evenly_spaced_series_take_two_calls(monkeypatch):
    """One call for each of 100,000 series, thirty times, took seconds."""
    calls: list[object] = []
    add = np.add

    class Add:
        @staticmethod
        def reduce(*arguments, **options):
            calls.append(arguments)
            return add.reduce(*arguments, **options)

    monkeypatch.setattr(np, "add", Add)
    assert sums(np.ones(300), np.arange(0, 300, 10), np.full(30, 8)).tolist() == [8] * 30
    assert len(calls) == 2
