"""Tests whether one model's smaller loss is more than chance.

Sources: Diebold and Mariano 1995, "Comparing predictive accuracy"; Harvey, Leybourne and Newbold 1997, "Testing the
equality of prediction mean squared errors"; Giacomini and White 2006, "Tests of conditional predictive ability"; both
used for day-ahead forecasts as in Lago, Marcjasz, De Schutter and Weron 2021, "Forecasting day-ahead electricity
prices".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.scoring import ROW_KEYS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_LOSSES = 4
"""Losses below which neither test is made."""


@dataclass(frozen=True)
class TestResult:
    """Result of testing two models' losses."""

    __test__ = False  # pytest would collect it

    statistic: float
    """Diebold–Mariano: positive where `a` loses more. Giacomini–White: 0 or more. NaN where not defined."""
    p_value: float
    """Two-sided: small where losses this different would be rare among equally good models. NaN where not defined."""
    better: Literal["a", "b"] | None
    """The one with the smaller mean loss, significant or not; None where they are equal."""
    n: int
    """Losses compared."""
    lags: int = 0
    """Autocovariances in the variance."""
    note: str = ""
    """Deviation from the plain test, and its reason."""


def diebold_mariano(loss_a: Floats, loss_b: Floats, *, lags: int = 0) -> TestResult:
    """Test equal expected loss, with the small-sample correction of Harvey, Leybourne and Newbold.

    Args:
        loss_a: losses of one model, in the order of time, (n,).
        loss_b: losses of the other one at the same times, (n,).
        lags: autocovariances of the difference that count: h - 1 for forecasts h steps ahead made at every step, 0 for
            forecasts whose horizons do not overlap.

    Returns:
        The statistic, and its two-sided p-value of Student's t with n - 1 degrees of freedom. Where the truncated sum
        of autocovariances is not positive, they are weighted by Bartlett's kernel instead, and `note` says so.

    Raises:
        ValueError: losses of different shape, not finite, or fewer than lags + 2.
    """
    return _diebold_mariano(_difference(loss_a, loss_b, lags + 2), lags)


def _diebold_mariano(difference: Floats, lags: int) -> TestResult:
    difference = _of_size_one(difference)
    n, mean = len(difference), float(difference.mean())
    covariances = _autocovariances(difference, lags)
    variance, note = float(covariances[0] + 2 * covariances[1:].sum()), ""
    if not variance > _negligible(difference):
        variance, note = _bartlett(covariances), "Bartlett's kernel: the plain variance is not positive" if lags else ""
    if not variance > _negligible(difference):
        return _undefined(difference, lags)
    horizon = lags + 1
    correction = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
    statistic = mean / math.sqrt(variance / n) * math.sqrt(max(correction, 0.0))
    from scipy.special import stdtr  # scipy.stats takes four times as long to import

    return TestResult(statistic, float(2 * stdtr(n - 1, -abs(statistic))), _better(mean), n, lags, note)


def giacomini_white(loss_a: Floats, loss_b: Floats) -> TestResult:
    """Test equal conditional predictive ability one forecast ahead: whether losses differ, or differ predictably.

    The instruments are a constant and the previous difference of the losses.

    Args:
        loss_a: losses of one model, in the order of time, (n + 1,): the first is an instrument only.
        loss_b: losses of the other one at the same times, (n + 1,).

    Returns:
        The Wald statistic n · mean(z)' Ω⁻¹ mean(z) with Ω = mean(z z'), and its p-value of chi-square with 2 degrees
        of freedom. `better` follows from the mean of the n differences.

    Raises:
        ValueError: losses of different shape, not finite, or fewer than four.
    """
    return _giacomini_white(_difference(loss_a, loss_b, FEWEST_LOSSES))


def _giacomini_white(difference: Floats) -> TestResult:
    difference = _of_size_one(difference)
    now, before = difference[1:], difference[:-1]
    moments = np.stack([now, now * before], axis=1)
    if np.ptp(difference) <= math.sqrt(_negligible(difference)):
        return _undefined(now, 0)
    mean, spread = moments.mean(axis=0), moments.T @ moments / len(now)
    # The scale of the losses must not decide what counts as singular.
    size = np.sqrt(np.diag(spread))
    size[size == 0] = 1
    statistic = float(len(now) * (mean / size) @ np.linalg.pinv(spread / np.outer(size, size)) @ (mean / size))
    from scipy.special import chdtrc

    return TestResult(statistic, float(chdtrc(2, statistic)), _better(float(now.mean())), len(now))


def _difference(loss_a: Floats, loss_b: Floats, least: int) -> Floats:
    loss_a, loss_b = np.asarray(loss_a, np.float64), np.asarray(loss_b, np.float64)
    if loss_a.ndim != 1 or loss_a.shape != loss_b.shape:
        raise ValueError(f"losses of two models at the same times, not {loss_a.shape} and {loss_b.shape}")
    if not (np.isfinite(loss_a).all() and np.isfinite(loss_b).all()):
        raise ValueError("losses must be finite")
    if len(loss_a) < least:
        raise ValueError(f"{len(loss_a)} losses are too few; this test needs {least}")
    return loss_a - loss_b


def _of_size_one(difference: Floats) -> Floats:
    """The differences over a power of two: no test depends on the unit, squares stay finite, all bits stay the same."""
    _, exponent = np.frexp(np.abs(difference).max())
    return np.asarray(np.ldexp(difference, -exponent))


def _autocovariances(difference: Floats, lags: int) -> Floats:
    """Autocovariances at lags 0, 1, … (lags + 1,), each divided by the number of losses."""
    centred = difference - difference.mean()
    n = len(centred)
    return np.array([centred[lag:] @ centred[: n - lag] / n for lag in range(lags + 1)])


def _bartlett(covariances: Floats) -> float:
    # Weights that fall linearly with the lag keep the estimated variance from being negative.
    weights = 1 - np.arange(len(covariances)) / len(covariances)
    return float(covariances[0] + 2 * (weights[1:] * covariances[1:]).sum())


def _negligible(difference: Floats) -> float:
    """Largest variance that rounding alone explains."""
    return float(np.square(np.finfo(np.float64).eps * 16 * np.abs(difference).max()))


def _undefined(difference: Floats, lags: int) -> TestResult:
    mean = float(difference.mean())
    note = "the losses are equal" if mean == 0 else "the losses differ by a constant"
    return TestResult(math.nan, math.nan, _better(mean), len(difference), lags, note)


def _better(mean: float) -> Literal["a", "b"] | None:
    return None if mean == 0 else "b" if mean > 0 else "a"


# --------------------------------------------------------------------------- model comparison
# Tests of every pair of models in a tidy table of forecasts.


TEST_COLUMNS = ("model_a", "model_b", "test", "step", "statistic", "p_value", "better", "n", "lags", "note")


def compare_models(frame: pd.DataFrame, *, norm: int = 1, by_step: bool = False) -> pd.DataFrame:
    """Test every pair of models on the values that all of them have forecast.

    The loss of a cut-off is the mean absolute error over all steps of all its series (norm 1), or the root of the mean
    square (norm 2): in proportion to the norm of its vector of errors, which is what the tests are about.

    Args:
        frame: item_id, cutoff, timestamp, step, target, prediction, model.
        norm: 1 or 2.
        by_step: also Diebold–Mariano at each step, with the autocovariances of overlapping horizons.

    Returns:
        model_a, model_b, test (DM or GW), step (None for all together), statistic, p_value, better (a model's name),
        n, lags, note. Statistics of DM are positive where model_a loses more. NaN where a test is not made: GW where
        horizons overlap, DM with fewer cut-offs than twice those that overlap. Empty with fewer than four cut-offs.

    Raises:
        ConfigError: another norm.
    """
    if norm not in (1, 2):
        raise ConfigError(f"there is no norm {norm} of the errors", "1 (absolute errors) or 2 (squares)")
    errors = _common_errors(frame)
    stride, horizon = _stride(frame), int(frame["step"].max())
    together = _losses(errors, ["cutoff"], norm)
    parts: list[tuple[int | None, pd.DataFrame]] = [(None, together)]
    if by_step:
        of_steps = _losses(errors, ["step", "cutoff"], norm)
        parts += [(int(step), of_steps.loc[step]) for step in of_steps.index.unique("step")]
    rows = [
        row
        for step, losses in parts
        for a, b in itertools.combinations(losses.columns, 2)
        for row in tests_of_pair((a, b), (losses[a] - losses[b]).to_numpy(), step or horizon, stride, step)
    ]
    return pd.DataFrame(rows, columns=list(TEST_COLUMNS)).astype({"step": "Int64"})


def _common_errors(frame: pd.DataFrame) -> pd.DataFrame:
    """Errors of all models side by side, of the values that all have forecast: index cutoff, item_id, step."""
    errors = frame[["item_id", "cutoff", "step", "model"]].assign(error=frame["prediction"] - frame["target"])
    # Stamps that the actuals lack may lie between their steps, several in one.
    scored = errors.dropna(subset="error")
    wide = scored.pivot(index=["cutoff", "item_id", "step"], columns="model", values="error")
    return wide.reindex(columns=list(pd.unique(frame["model"]))).dropna()


def _losses(errors: pd.DataFrame, by: list[str], norm: int) -> pd.DataFrame:
    """One row per cut-off (of each step, if by step) in the order of time, one column per model."""
    if norm == 1:
        return errors.abs().groupby(by).mean()
    return errors.pow(2).groupby(by).mean().pow(0.5)


def _stride(frame: pd.DataFrame) -> int:
    """Steps between most cut-offs, as `typical_stride` tells it."""
    windows = frame.loc[frame["model"] == frame["model"].iloc[0], [*ROW_KEYS, "step"]]
    horizon = int(windows["step"].max())
    cutoffs = windows["cutoff"].drop_duplicates().sort_values()
    if len(cutoffs) < 2:
        return horizon
    following = pd.Series(cutoffs.iloc[1:].array, index=pd.Index(cutoffs.iloc[:-1]))
    after = windows["cutoff"].map(following)
    inside = windows[after.notna() & (windows["timestamp"] <= after)]
    steps = inside.groupby(["item_id", "cutoff"])["step"].max()
    return typical_stride(np.bincount(steps.to_numpy(np.int64), minlength=horizon + 1))


def typical_stride(windows: Ints) -> int:
    """Steps between most cut-offs, at most the horizon: it decides how far horizons overlap.

    Most, not all: forecasts of 24 hours at every midnight do not overlap, though one day in spring has 23 hours.

    Args:
        windows: how many have 0, 1, … horizon steps up to the cut-off after theirs (horizon + 1,).
    """
    steps = np.repeat(np.arange(1, len(windows)), windows[1:])
    return int(np.median(steps)) if len(steps) else len(windows) - 1


def tests_of_pair(
    names: tuple[str, str], differences: Floats, horizon: int, stride: int, step: int | None
) -> Iterator[tuple[Any, ...]]:
    """Rows of `compare_models` for two models: both tests of all steps together, or Diebold–Mariano alone of one step.

    Args:
        names: of the models.
        differences: loss of the first minus that of the second one at each cut-off, in the order of time (n,).
        horizon: steps of a forecast, or the step.
        stride: steps between cut-offs.
        step: None for all together.
    """
    if len(differences) < FEWEST_LOSSES:
        return
    # With a cut-off at every step these are the h - 1 of the papers.
    lags = -(-horizon // stride) - 1
    if len(differences) < 2 * (lags + 1):
        equal_loss = _not_made(_diebold_mariano(differences, 0), f"too few for {lags} overlapping forecasts")
    else:
        equal_loss = _diebold_mariano(differences, lags)
    yield _row(names, "DM", step, equal_loss)
    if step is None:
        ability = _giacomini_white(differences)
        yield _row(names, "GW", step, ability if lags == 0 else _not_made(ability, "not for horizons that overlap"))


def _not_made(result: TestResult, why: str) -> TestResult:
    return replace(result, statistic=math.nan, p_value=math.nan, note=why)


def _row(models: tuple[str, str], test: str, step: int | None, result: TestResult) -> tuple[Any, ...]:
    better = {"a": models[0], "b": models[1], None: None}[result.better]
    return (*models, test, step, result.statistic, result.p_value, better, result.n, result.lags, result.note)
