"""The one fast pass over a file says what the plain formulas say, row by row."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.inspection.summary import ROWS_AT_ONCE, summarise


@pytest.fixture
def weights():
    """Rows of every kind: spread out, uniform, one-hot, with zeros, and not adding up."""
    random = np.random.default_rng(2)
    rows = random.dirichlet(np.full(30, 0.3), size=(7, 2, 4))
    rows[0, 0, 0], rows[1, 1, 1] = 1 / 30, np.eye(30)[4]
    rows[2, 0, 2, :10] = 0
    return rows.astype(np.float32)


def is_seasonal(distance, season):
    """Within a step of one or more whole seasons."""
    centres = np.arange(season, distance.max() + season + 1, season)
    return (np.abs(distance[:, None] - centres) <= 1).any(axis=1)


def test_every_mean_is_that_of_the_plain_formula(make_dump, weights, monkeypatch):
    monkeypatch.setattr("forecast_attn.attention_file.writer.ROW_GROUP_BYTES", 0)
    dump = make_dump(weights, season=6)
    summary, exact = summarise(dump), weights.astype(float)
    entropy = scipy.stats.entropy(exact, axis=-1)
    lags = np.arange(29, -1, -1)
    target = np.stack([exact[:, :, step - 1] @ is_seasonal(lags + step, 6) for step in range(1, 5)], axis=-1)
    expected = {
        "entropy": entropy,
        "normalised_entropy": entropy / np.log(30),
        "effective_steps": np.exp(entropy),
        "max_weight": exact.max(-1),
        "centroid_lag": (exact * lags).sum(-1) / exact.sum(-1),
        "recent_season_mass": exact @ is_seasonal(lags, 6),
        "target_season_mass": target,
        "remaining": np.zeros_like(entropy),
        "missing_steps": np.zeros_like(entropy),
        "missing_weight": np.zeros_like(entropy),
        "uniform": scipy.stats.entropy(exact, np.full(30, 1 / 30), axis=-1) < 1e-3,
        "one_hot": exact.max(-1) > 0.99 * exact.sum(-1),
        "wrong_sum": np.abs(exact.sum(-1) - 1) > 1e-5,
    }
    assert set(summary.values) == set(expected)
    for name, rows in expected.items():
        assert summary.values[name] == pytest.approx(rows.mean(axis=(0, 1)), abs=2e-5), name
    assert summary.weights == pytest.approx(exact.mean(axis=(0, 1)), abs=1e-7)
    assert summary.values["wrong_sum"].sum() > 0
    assert summary.values["one_hot"].sum() > 0
    assert summary.values["uniform"].sum() > 0


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.integers(1, 40)),
    seed=st.integers(0, 99),
)
def test_entropy_lies_between_none_and_all_there_can_be(make_dump, shape, seed):
    dump = make_dump(np.random.default_rng(seed).dirichlet(np.full(shape[-1], 0.5), size=shape[:3]), season=1)
    values = summarise(dump).values
    assert (values["entropy"] >= 0).all()
    assert (values["entropy"] <= np.log(shape[-1]) + 1e-5).all()
    assert (values["effective_steps"] <= shape[-1] * (1 + 1e-5)).all()
    assert (values["effective_steps"] >= 1 - 1e-5).all()


def test_more_rows_than_are_taken_together(make_dump):
    """The logarithms are taken in parts; the last one may be short."""
    count = ROWS_AT_ONCE // 4 + 3
    weights = np.random.default_rng(0).dirichlet(np.ones(9), size=(count, 1, 5)).astype(np.float32)
    expected = scipy.stats.entropy(weights.astype(float), axis=-1).mean(axis=(0, 1))
    assert summarise(make_dump(weights, season=1)).values["entropy"] == pytest.approx(expected, abs=1e-5)


def test_what_varies_is_told_by_axis(make_dump):
    rows = np.random.default_rng(0).dirichlet(np.ones(9), size=(3, 1, 4))
    both = summarise(make_dump(rows, season=1))
    assert (both.varies_by_window, both.varies_by_step) == (True, True)
    same = summarise(make_dump(np.repeat(rows[:1], 3, axis=0), season=1))
    assert (same.varies_by_window, same.varies_by_step) == (False, True)
    flat = summarise(make_dump(np.repeat(rows[:, :, :1], 4, axis=2), season=1))
    assert (flat.varies_by_window, flat.varies_by_step) == (True, False)


@pytest.mark.parametrize(
    ("row", "is_wrong", "is_wrong_where_less_is_allowed"),
    [
        ([0.5, 0.5], False, False),
        ([0.5, 0.4], True, False),
        ([0.6, 0.5], True, True),
        ([np.nan, 1], True, True),
        ([1.5, -0.5], True, True),
        ([0.5, 0.5 + 1e-7], False, False),
    ],
)
def test_rows_that_are_no_weights_are_flagged(make_dump, row, is_wrong, is_wrong_where_less_is_allowed):
    for rule, expected in (("1", is_wrong), ("<=1", is_wrong_where_less_is_allowed)):
        dump = make_dump(np.reshape(row, (1, 1, 1, 2)), season=1, row_sum=rule)
        assert summarise(dump).values["wrong_sum"].tolist() == [expected]


def test_what_does_not_add_up_is_described_as_if_it_did(make_dump):
    """A local window may let weight fall outside: entropy and centroid are those of what is inside."""
    rows = np.random.default_rng(0).dirichlet(np.ones(20), size=(3, 1, 2))
    whole, part = (summarise(make_dump(share * rows, season=1, row_sum="<=1")).values for share in (1, 0.3))
    for name in ("entropy", "effective_steps", "centroid_lag"):
        assert part[name] == pytest.approx(whole[name], rel=1e-5)


@pytest.mark.parametrize("rows", [np.full((1, 1, 2, 20_000), 1 / 20_000), "random"], ids=["uniform", "random"])
def test_long_rows_are_added_well_enough(make_dump, rows):
    """Single precision adds twenty thousand weights without calling them unsound."""
    if isinstance(rows, str):
        rows = np.random.default_rng(0).dirichlet(np.full(20_000, 0.1), size=(3, 1, 2))
    values = summarise(make_dump(rows, season=1)).values
    assert not values["wrong_sum"].any()
    expected = scipy.stats.entropy(rows.astype(np.float32).astype(float), axis=-1).mean(axis=(0, 1))
    assert values["entropy"] == pytest.approx(expected, abs=1e-4)
