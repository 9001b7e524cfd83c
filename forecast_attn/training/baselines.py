"""What forecasts that cost next to nothing score on the validation windows, to stand beside the model's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forecast_attn.data.memory import release_memory
from forecast_attn.evaluation.baseline_forecasts import DEFAULT_BASELINES, BaselineSetup, baseline_forecasts
from forecast_attn.evaluation.baselines import Floats, Ints
from forecast_attn.evaluation.metrics import point_metrics, skill_per_cent
from forecast_attn.preparation import Preparation

LONGEST_LINEAR = 1_000
"""Lookback above which the linear network is left to `forecast backtest`: its cost is the cube of the lookback. With
168 steps it takes a third of a second, with 720 steps and a horizon of 96 ten, a hundredth of the training there."""
LARGEST_LINEAR = 5_000_000
"""Rows above which it is left there too: linear algebra has buffers of 30 MB, and memory is what such tables lack."""


def _setup(preparation: Preparation) -> BaselineSetup:
    """The run's own windows, and its scales where they are what a baseline would fit: both are large."""
    scaler = preparation.schema.scaler
    standard = scaler.method == "standard" and scaler.transform.kind == "none"
    setup = BaselineSetup.of(preparation.schema, preparation.split.boundary)
    return replace(setup, cutoffs=preparation.training_cutoffs, scaler=scaler if standard else None)


def score_baselines(
    preparation: Preparation, cutoffs: Ints, actual: Floats, naive_error: Floats, mae: float
) -> dict[str, dict[str, Any]]:
    """Score the default baselines; the linear one learns from the training windows.

    Args:
        preparation: of the run.
        cutoffs: rows of the windows that are scored, (num_windows,).
        actual: what came, NaN where not observed, (num_windows, horizon).
        naive_error: scale of each window's series, (num_windows,); see `point_metrics`.
        mae: of the model on the same windows.

    Returns:
        By the name of the baseline: mae, rmse, mase and skill_per_cent, how much smaller the model's MAE is.
    """
    release_memory()
    setup = _setup(preparation)
    scores: dict[str, dict[str, Any]] = {}
    for name in DEFAULT_BASELINES:
        if name == "linear" and (setup.lookback > LONGEST_LINEAR or preparation.panel.num_rows > LARGEST_LINEAR):
            continue
        forecast = baseline_forecasts(name, preparation.panel, cutoffs, setup)
        errors = point_metrics(actual, forecast, naive_error)
        assert errors["mae"] is not None
        scores[name] = {**errors, "skill_per_cent": skill_per_cent(mae, errors["mae"])}
    return scores
