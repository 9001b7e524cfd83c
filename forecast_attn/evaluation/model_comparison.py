"""Tests of every pair of models in a tidy table of forecasts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.scoring import KEYS
from forecast_attn.evaluation.significance import Floats, TestResult, diebold_mariano, giacomini_white

COLUMNS = ("model_a", "model_b", "test", "step", "statistic", "p_value", "better", "n", "lags", "note")
_FEWEST = 4
"""Losses below which neither test is made."""


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
    stride = _stride(frame)
    rows = list(_pairs(_losses(errors, ["cutoff"], norm), int(frame["step"].max()), stride))
    if by_step:
        for step, own in errors.groupby("step"):
            rows += _pairs(_losses(own, ["cutoff"], norm), int(str(step)), stride, step=int(str(step)))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"step": "Int64"})


def _common_errors(frame: pd.DataFrame) -> pd.DataFrame:
    """Errors of all models side by side, of the values that all have forecast: index cutoff, item_id, step."""
    errors = frame[["item_id", "cutoff", "step", "model"]].assign(error=frame["prediction"] - frame["target"])
    wide = errors.pivot(index=["cutoff", "item_id", "step"], columns="model", values="error")
    return wide[list(pd.unique(frame["model"]))].dropna()


def _losses(errors: pd.DataFrame, by: list[str], norm: int) -> pd.DataFrame:
    """One row per cut-off in the order of time, one column per model."""
    if norm == 1:
        return errors.abs().groupby(by).mean()
    return errors.pow(2).groupby(by).mean().pow(0.5)


def _stride(frame: pd.DataFrame) -> int:
    """Steps from most cut-offs to the next, at most the horizon: how much horizons overlap depends on no more.

    Of most: forecasts of 24 hours at every midnight do not overlap, though one day in spring has 23 hours.
    """
    windows = frame.loc[frame["model"] == frame["model"].iloc[0], [*KEYS, "step"]]
    cutoffs = windows["cutoff"].drop_duplicates().sort_values()
    if len(cutoffs) < 2:
        return int(windows["step"].max())
    following = pd.Series(cutoffs.iloc[1:].array, index=pd.Index(cutoffs.iloc[:-1]))
    after = windows["cutoff"].map(following)
    inside = windows[after.notna() & (windows["timestamp"] <= after)]
    steps = inside.groupby(["item_id", "cutoff"])["step"].max()
    return int(steps.median()) if len(steps) else int(windows["step"].max())


def _pairs(losses: pd.DataFrame, horizon: int, stride: int, step: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Rows of the result: both tests of all steps together, or Diebold–Mariano alone of one step."""
    if len(losses) < _FEWEST:
        return
    # With a cut-off at every step these are the h - 1 of the papers.
    lags = -(-horizon // stride) - 1
    for a, b in itertools.combinations(losses.columns, 2):
        loss_a, loss_b = losses[a].to_numpy(), losses[b].to_numpy()
        yield _row((a, b), "DM", step, _diebold_mariano(loss_a, loss_b, lags))
        if step is None:
            test = giacomini_white(loss_a, loss_b)
            yield _row((a, b), "GW", step, test if lags == 0 else _not_made(test, "not for horizons that overlap"))


def _diebold_mariano(loss_a: Floats, loss_b: Floats, lags: int) -> TestResult:
    """The test, unless there are too few losses to tell how they hang together."""
    if len(loss_a) < 2 * (lags + 1):
        return _not_made(diebold_mariano(loss_a, loss_b), f"too few for {lags} overlapping forecasts")
    return diebold_mariano(loss_a, loss_b, lags=lags)


def _not_made(result: TestResult, why: str) -> TestResult:
    return replace(result, statistic=math.nan, p_value=math.nan, note=why)


def _row(models: tuple[str, str], test: str, step: int | None, result: TestResult) -> tuple[Any, ...]:
    better = {"a": models[0], "b": models[1], None: None}[result.better]
    return (*models, test, step, result.statistic, result.p_value, better, result.n, result.lags, result.note)
