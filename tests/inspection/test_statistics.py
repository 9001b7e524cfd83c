"""Statistics of weights against independent formulas."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.inspection import statistics


@pytest.fixture
def weights():
    return np.random.default_rng(3).dirichlet(np.full(11, 0.4), size=(4, 2, 5))


def test_row_sums_are_added_in_double_precision():
    row = np.full((1, 20_000), 1 / 20_000, np.float32)
    assert statistics.row_sums(row)[0] == pytest.approx(20_000 * float(row[0, 0]), abs=1e-12)


def test_entropy_agrees_with_scipy(weights):
    expected = scipy.stats.entropy(weights, axis=-1)
    assert statistics.entropy(weights) == pytest.approx(expected, abs=1e-12)
    assert statistics.entropy(weights.astype(np.float32)) == pytest.approx(expected, abs=1e-5)


def test_entropy_of_rows_that_do_not_add_up_is_that_of_the_scaled_rows(weights):
    assert statistics.entropy(0.3 * weights) == pytest.approx(scipy.stats.entropy(weights, axis=-1), abs=1e-12)


def test_uniform_is_what_scipy_finds_near_to_uniform():
    slopes = np.linspace(0, 0.2, 41)[:, None]
    rows = (1 + slopes * np.linspace(-1, 1, 50)) / 50
    divergence = scipy.stats.entropy(rows, np.full_like(rows, 1 / 50), axis=-1)
    flags = statistics.is_uniform(statistics.entropy(rows), 50)
    assert flags.tolist() == (divergence < 1e-3).tolist()
    assert set(flags.tolist()) == {True, False}


@pytest.mark.parametrize(("row", "entropy"), [([0, 0, 1, 0], 0), ([0.5, 0.5, 0, 0], np.log(2)), ([1], 0)])
def test_entropy_of_rows_with_zeros(row, entropy):
    assert statistics.entropy(np.array(row, float)) == pytest.approx(entropy, abs=1e-12)


def test_a_row_of_zeros_has_no_entropy():
    assert np.isnan(statistics.entropy(np.zeros(4)))


def test_lags_count_back_from_the_last_position():
    row = np.array([0.1, 0.2, 0.6, 0.1])
    assert statistics.top_lags(row, 3).tolist() == [1, 2, 0]  # of equal weights the more recent


@pytest.mark.slow
@given(season=st.integers(2, 30), length=st.integers(1, 90), step=st.integers(0, 60), tolerance=st.integers(0, 2))
def test_seasonal_positions_are_whole_seasons_back(season, length, step, tolerance):
    chosen = statistics.seasonal_positions(season, length, step=step, tolerance=tolerance)
    centres = range(season, length + step + season, season)
    expected = [any(abs(lag + step - centre) <= tolerance for centre in centres) for lag in range(length - 1, -1, -1)]
    assert chosen.tolist() == expected


def test_total_variation_of_equal_and_of_disjoint_rows():
    rows = np.eye(3)
    assert statistics.total_variation(rows, rows).tolist() == [0, 0, 0]
    assert statistics.total_variation(rows, rows[::-1]).tolist() == [1, 0, 1]


# --------------------------------------------------------------------------- flags


def test_uniform_is_flagged_and_a_slight_slope_is_not():
    rows = np.stack([np.full(50, 1 / 50), np.linspace(0.9, 1.1, 50) / 50, np.linspace(0.99, 1.01, 50) / 50])
    assert statistics.is_uniform(statistics.entropy(rows), 50).tolist() == [True, False, True]
    assert not statistics.is_uniform(np.zeros(1), 1)[0]
