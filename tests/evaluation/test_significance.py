"""Diebold–Mariano and Giacomini–White against regressions, and what they must say of losses we know."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.significance import compare_models, diebold_mariano, giacomini_white


def losses(n: int = 120, seed: int = 0, gap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two models' losses, of which the differences have memory."""
    rng = np.random.default_rng(seed)
    noise = np.convolve(rng.normal(size=n + 4), np.ones(5) / 2, "valid")
    shared = rng.gamma(2, 1, n)
    return shared + gap + np.maximum(noise, -1.9), shared + rng.gamma(2, 0.5, n)


def by_regression(loss_a: np.ndarray, loss_b: np.ndarray, lags: int) -> tuple[float, float]:
    """The t value of a constant with a HAC covariance of uniform weights, corrected by hand."""
    n, h = len(loss_a), lags + 1
    covariance = {"maxlags": lags, "kernel": "uniform", "use_correction": False}
    fit = sm.OLS(loss_a - loss_b, np.ones(n)).fit(cov_type="HAC", cov_kwds=covariance)
    statistic = fit.tvalues[0] * math.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    return statistic, 2 * stats.t.sf(abs(statistic), n - 1)


@pytest.mark.parametrize("lags", [0, 1, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_diebold_mariano_is_a_regression_on_a_constant(lags: int, seed: int) -> None:
    a, b = losses(seed=seed)
    got = diebold_mariano(a, b, lags=lags)
    assert got.note == ""
    np.testing.assert_allclose((got.statistic, got.p_value), by_regression(a, b, lags), rtol=1e-9)
    assert got.better == ("b" if a.mean() > b.mean() else "a")
    assert (got.n, got.lags) == (120, lags)


def test_a_single_step_is_the_paired_t_test() -> None:
    a, b = losses()
    expected = stats.ttest_rel(a, b)
    got = diebold_mariano(a, b)
    np.testing.assert_allclose((got.statistic, got.p_value), (expected.statistic, expected.pvalue), rtol=1e-9)


@pytest.mark.parametrize("exponent", [-1000, 60, 600, 1015])
def test_the_unit_of_the_losses_changes_no_bit(exponent: int) -> None:
    a, b = losses()
    other = np.ldexp(a, exponent), np.ldexp(b, exponent)
    assert diebold_mariano(*other, lags=2) == diebold_mariano(a, b, lags=2)
    assert giacomini_white(*other) == giacomini_white(a, b)


def test_a_variance_that_is_not_positive_is_weighted_and_said() -> None:
    difference = np.tile([1.0, -1.0], 20) + np.linspace(0, 0.1, 40)
    got = diebold_mariano(difference, np.zeros(40), lags=1)
    assert "Bartlett" in got.note
    n, h = 40, 2
    fit = sm.OLS(difference, np.ones(n)).fit(cov_type="HAC", cov_kwds={"maxlags": 1, "use_correction": False})
    corrected = fit.tvalues[0] * math.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    assert got.statistic == pytest.approx(corrected, rel=1e-9)


def r_squared_form(loss_a: np.ndarray, loss_b: np.ndarray) -> tuple[float, float]:
    """n times the uncentred R² of ones on the moments, as Giacomini and White compute it."""
    d = loss_a - loss_b
    moments = np.column_stack([d[1:], d[1:] * d[:-1]])
    ones = np.ones(len(moments))
    coefficients = np.linalg.lstsq(moments, ones, rcond=None)[0]
    statistic = len(moments) * (1 - np.mean((ones - moments @ coefficients) ** 2))
    return statistic, 1 - stats.chi2.cdf(statistic, 2)


@pytest.mark.parametrize("seed", range(6))
def test_giacomini_white_is_a_regression_of_ones(seed: int) -> None:
    a, b = losses(seed=seed, gap=0.2 * seed)
    got = giacomini_white(a, b)
    np.testing.assert_allclose((got.statistic, got.p_value), r_squared_form(a, b), rtol=1e-7, atol=1e-12)
    assert got.n == 119


def test_giacomini_white_sees_losses_that_differ_predictably_where_diebold_mariano_sees_none() -> None:
    sign = np.tile([1.0, -1.0], 100)
    a = 5 + sign * np.random.default_rng(0).uniform(0.5, 1.5, 200)
    b = np.full(200, a.mean())
    assert diebold_mariano(a, b).p_value > 0.99
    assert giacomini_white(a, b).p_value < 1e-10


@pytest.mark.slow
@given(seed=st.integers(0, 500), factor=st.sampled_from([1e-6, 1.0, 1e7]))
def test_units_do_not_matter_and_order_only_turns_the_sign(seed: int, factor: float) -> None:
    a, b = losses(60, seed)
    for test in (lambda x, y: diebold_mariano(x, y, lags=2), giacomini_white):
        result, scaled, turned = test(a, b), test(a * factor, b * factor), test(b, a)
        np.testing.assert_allclose(scaled.statistic, result.statistic, rtol=1e-6)
        np.testing.assert_allclose(abs(turned.statistic), abs(result.statistic), rtol=1e-9)
        np.testing.assert_allclose(turned.p_value, result.p_value, rtol=1e-6)
        assert {result.better, turned.better} == {"a", "b"}


@pytest.mark.slow
def test_equal_models_are_rejected_as_often_as_said() -> None:
    rng = np.random.default_rng(4)
    p_values = [diebold_mariano(*rng.gamma(2, 1, (2, 100))).p_value for _ in range(1_000)]
    assert 0.03 < np.mean(np.array(p_values) < 0.05) < 0.07
    p_values = [giacomini_white(*rng.gamma(2, 1, (2, 200))).p_value for _ in range(1_000)]
    assert 0.025 < np.mean(np.array(p_values) < 0.05) < 0.075


def test_losses_without_a_spread_have_no_test() -> None:
    same = diebold_mariano(np.arange(9.0), np.arange(9.0))
    assert math.isnan(same.p_value)
    assert (same.better, same.note) == (None, "the losses are equal")
    shifted = giacomini_white(np.arange(9.0) + 1, np.arange(9.0))
    assert math.isnan(shifted.statistic)
    assert (shifted.better, shifted.note) == ("b", "the losses differ by a constant")


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (np.ones(5), np.ones(6), "same times"),
        (np.ones((5, 2)), np.ones((5, 2)), "same times"),
        (np.array([1.0, math.nan, 2, 3]), np.ones(4), "finite"),
        (np.ones(1), np.ones(1), "too few"),
    ],
)
def test_what_is_no_pair_of_losses_is_a_mistake(a: np.ndarray, b: np.ndarray, words: str) -> None:
    for test in (diebold_mariano, giacomini_white):
        with pytest.raises(ValueError, match=words):
            test(a, b)


# --------------------------------------------------------------------------- of a tidy table


def table(windows: int = 40, horizon: int = 4, stride: int = 4, models: str = "abc") -> pd.DataFrame:
    rng, parts = np.random.default_rng(0), []
    cutoff = np.arange(windows).repeat(horizon) * stride
    step = np.tile(np.arange(1, horizon + 1), windows)
    for model in models:
        part = pd.DataFrame({"item_id": "s", "cutoff": cutoff, "timestamp": cutoff + step, "step": step, "target": 0.0})
        parts.append(part.assign(prediction=rng.normal(0, 1 + ord(model) - ord("a"), len(part)), model=model))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("norm", [1, 2])
def test_every_pair_is_tested_on_the_norms_of_its_errors(norm: int) -> None:
    frame = table()
    result = compare_models(frame, norm=norm)
    assert result[["model_a", "model_b", "test"]].to_numpy().tolist() == [
        [a, b, test] for a, b in ("ab", "ac", "bc") for test in ("DM", "GW")
    ]
    errors = {name: rows["prediction"].to_numpy().reshape(40, 4) for name, rows in frame.groupby("model")}
    vectors = {name: np.linalg.norm(rows, ord=norm, axis=1) for name, rows in errors.items()}
    for row in result.to_dict("records"):
        test = diebold_mariano if row["test"] == "DM" else giacomini_white
        expected = test(vectors[row["model_a"]], vectors[row["model_b"]])
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert row["p_value"] == pytest.approx(expected.p_value, rel=1e-7)
        assert row["better"] == row["model_a"]


@pytest.mark.parametrize(("stride", "lags"), [(1, [0, 1, 2, 3]), (2, [0, 0, 1, 1]), (4, [0] * 4), (9, [0] * 4)])
def test_steps_that_overlap_count_their_autocovariances(stride: int, lags: list[int]) -> None:
    frame = table(stride=stride, models="ab")
    result = compare_models(frame, by_step=True)
    steps = result[result["step"].notna()]
    assert steps["step"].tolist() == [1, 2, 3, 4]
    assert steps["lags"].tolist() == lags
    at_three = frame[frame["step"] == 3].pivot(index="cutoff", columns="model", values="prediction").abs()
    expected = diebold_mariano(at_three["a"].to_numpy(), at_three["b"].to_numpy(), lags=lags[2])
    assert steps["statistic"].iloc[2] == pytest.approx(expected.statistic, rel=1e-9)
    whole = result[result["step"].isna()].set_index("test")
    assert whole.loc["DM", "lags"] == lags[-1]
    assert math.isnan(whole.loc["GW", "p_value"]) == (lags[-1] > 0)


def test_only_what_all_models_forecast_counts_and_order_does_not() -> None:
    frame = table(models="ab")
    holes = frame.copy()
    holes.loc[(holes["model"] == "b") & (holes["cutoff"] == 8), "prediction"] = math.nan
    holes.loc[(holes["cutoff"] == 16) & (holes["step"] == 2), "target"] = math.nan
    result = compare_models(holes.sample(frac=1, random_state=1).sort_values("model"))
    assert result["n"].tolist() == [39, 38]
    common = frame[(frame["cutoff"] != 8) & ~((frame["cutoff"] == 16) & (frame["step"] == 2))]
    pd.testing.assert_frame_equal(result, compare_models(common))


def test_too_few_cutoffs_for_their_overlap_are_told() -> None:
    result = compare_models(table(windows=7, stride=1, models="ab")).set_index("test")
    assert result["p_value"].isna().all()
    assert result.loc["DM", "note"] == "too few for 3 overlapping forecasts"
    assert compare_models(table(windows=8, stride=1, models="ab"))["p_value"].notna().tolist() == [True, False]


def test_few_cutoffs_have_no_tests_and_other_norms_are_refused() -> None:
    for windows in (1, 2, 3):
        assert not len(compare_models(table(windows=windows)))
    with pytest.raises(ConfigError, match="no norm 3"):
        compare_models(table(), norm=3)
