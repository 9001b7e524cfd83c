"""The end of training: how good the best weights are, what they look at, and the file that says the run is whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from forecast_attn.attention_dump import DumpChoice
from forecast_attn.attention_output import AttentionOutput
from forecast_attn.config import RunConfig
from forecast_attn.data.memory import release_memory
from forecast_attn.data.windows import WindowArrays
from forecast_attn.evaluation.baselines import seasonal_naive, seasonal_naive_error
from forecast_attn.evaluation.metrics import point_metrics, skill_per_cent
from forecast_attn.inference import (
    Model,
    choose_device,
    forecast_windows,
    load_network,
)
from forecast_attn.preparation import Preparation
from forecast_attn.run_dir import RunDir, sha256_of
from forecast_attn.training.recorder import best_epoch_of
from forecast_attn.training.sampling import spread_evenly


def finish(run: RunDir, preparation: Preparation, config: RunConfig, arrays: WindowArrays, reason: str) -> None:
    """Score the best weights on the validation windows, write their attention, and declare the run finished."""
    release_memory()
    model = Model(config, preparation.schema, load_network(run, config, preparation.schema))
    scores = validation_scores(model, preparation, arrays)
    if model.has_attention:
        _write_validation_attention(run, model, preparation, arrays)
    num_epochs = len(run.history.read_text(encoding="utf-8").splitlines()) - 1
    run.write_json(
        run.metrics,
        {
            "best_epoch": best_epoch_of(run),
            "epochs": num_epochs,
            "ended": reason,
            **scores,
            "short_series": preparation.split.short_series(),
            "model_sha256": sha256_of(run.model),
        },
    )
    if reason != "interrupted":
        run.checkpoint.unlink(missing_ok=True)


def validation_scores(model: Model, preparation: Preparation, arrays: WindowArrays) -> dict[str, Any]:
    """Errors of the model and of seasonal-naive on the same windows, in original units."""
    cutoffs = spread_evenly(preparation.validation_cutoffs, model.config.training.validation_windows)
    panel, schema = preparation.panel, preparation.schema
    season, horizon = schema.frequency.season, schema.horizon
    device = choose_device(model.config.training.accelerator)
    batches = forecast_windows(model, panel, cutoffs, device=device, arrays=arrays, need_weights=False)
    prediction = np.concatenate([batch.prediction for batch in batches])
    starts = panel.starts[:-1]
    series = np.searchsorted(starts, cutoffs, side="right") - 1
    naive = seasonal_naive(panel.target, starts[series], cutoffs, season=season, horizon=horizon)
    training_ends = starts + preparation.split.training_rows(panel)
    naive_error = seasonal_naive_error(panel.target, starts, training_ends, season=season)[series]
    actual = panel.target[cutoffs[:, None] + np.arange(1, horizon + 1)]
    errors, naive_errors = (point_metrics(actual, each, naive_error) for each in (prediction, naive))
    assert errors["mae"] is not None
    assert naive_errors["mae"] is not None
    return {
        "validation": {
            "windows": len(cutoffs),
            "windows_available": len(preparation.validation_cutoffs),
            "after": preparation.panel.zone.stamp_text(preparation.split.boundary),
            **errors,
        },
        "seasonal_naive": {"season": season, **naive_errors},
        "skill_per_cent": skill_per_cent(errors["mae"], naive_errors["mae"]),
    }


def _write_validation_attention(run: RunDir, model: Model, preparation: Preparation, arrays: WindowArrays) -> None:
    device = choose_device(model.config.training.accelerator)
    options = model.config.training
    choice = DumpChoice.of(options.attention_windows, options.attention_dtype, options.attention_top)
    cutoffs, panel = preparation.validation_cutoffs, preparation.panel
    output = AttentionOutput.plan(model, panel, arrays, cutoffs, choice, device)
    with output.open(run.validation_attention) as writer:
        for forecasts in forecast_windows(model, panel, output.cutoffs, device=device, arrays=arrays):
            output.write(writer, forecasts)
