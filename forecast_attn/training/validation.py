"""The end of training: scores and attention of the best weights, and metrics.json, which marks the run as finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import DumpChoice
from forecast_attn.baselines.combination_weights import Combination, choose_weights, independent_windows
from forecast_attn.baselines.registry import DEFAULT_BASELINES, CachedBaselines
from forecast_attn.baselines.scales import Floats, seasonal_naive_error
from forecast_attn.baselines.weights_by_series import weights_by_series
from forecast_attn.config.options import RunConfig
from forecast_attn.config.values import NETWORK
from forecast_attn.data.split import spread_evenly
from forecast_attn.data.windows import WindowArrays
from forecast_attn.devices import choose_device
from forecast_attn.evaluation.metrics import point_metrics, skill_per_cent
from forecast_attn.forecasting.adaptive_calibration import Tracking
from forecast_attn.forecasting.attention_output import AttentionDumpPlan, NetworkShare
from forecast_attn.forecasting.calibration import ADAPTIVE, fit_calibration
from forecast_attn.forecasting.ensemble import member_config
from forecast_attn.forecasting.inference import forecast_windows, load_network
from forecast_attn.forecasting.model import Model
from forecast_attn.forecasting.quantiles import score_quantiles
from forecast_attn.forecasting.tail import write_tail
from forecast_attn.forecasting.weight_need import weight_need
from forecast_attn.memory import release_memory
from forecast_attn.runs.run_dir import RunDir, sha256_of
from forecast_attn.training.callbacks import best_epoch_of
from forecast_attn.training.choose_combination import (
    candidates,
    earlier_errors,
    rows_to_keep,
    scored_combination,
)
from forecast_attn.training.final_fit import no_final_fit
from forecast_attn.training.preparation import Preparation

FinalFit = Callable[[RunDir, RunConfig, int | None], dict[str, Any]]
"""Replaces the weights of a run, given its configuration and its best epoch; returns a description."""


KEPT_OF_MEMBERS = ("best_epoch", "epochs", "ended", "validation", "skill_per_cent", "weight_need", "model_sha256")
"""Entries of each member's metrics.json that the ensemble's repeats."""


def finish(
    run: RunDir,
    preparation: Preparation,
    config: RunConfig,
    arrays: WindowArrays,
    baselines: CachedBaselines,
    reason: str,
    final_fit: FinalFit | None = None,
) -> None:
    """Score the best weights on the validation windows, write their attention, and declare the run finished.

    Args:
        run: a run, or a member of an ensemble, with weights and history.
        preparation: with the validation windows.
        config: of the run, or of the member.
        arrays: the windows.
        baselines: `validation_baselines`, which members of an ensemble share.
        reason: why training ended.
        final_fit: replaces the weights, given the best epoch, once they are scored; returns a description.
    """
    # Already replaced where the last training ended and a kill came before metrics.json.
    network = load_network(run, config, preparation.schema, validated=True)
    model = Model(config, preparation.schema, (network,))
    ending = {"best_epoch": best_epoch_of(run), "epochs": len(run.epochs), "ended": reason}

    def train_on_all_rows() -> dict[str, Any]:
        if final_fit is not None and reason != "interrupted":
            final: dict[str, Any] = {"final_fit": final_fit(run, config, best_epoch_of(run))}
        else:  # the ensemble's metrics.json says why there was none
            final = {} if run.is_member else {"no_final_fit": no_final_fit(preparation, config)}
        return {**final, "model_sha256": sha256_of(run.model)}

    _score_and_write(run, model, preparation, arrays, baselines, ending, train_on_all_rows)
    if reason != "interrupted":
        run.checkpoint.unlink(missing_ok=True)


def finish_ensemble(
    run: RunDir,
    preparation: Preparation,
    config: RunConfig,
    baselines: CachedBaselines,
    reason: str,
    final_fit: FinalFit | None,
) -> None:
    """Score what the members forecast together, beside the scores of each, and declare the ensemble finished.

    Args:
        run: the ensemble; the members that are there are finished.
        preparation: with the validation windows.
        config: of the ensemble.
        baselines: `validation_baselines`.
        reason: why training ended; `interrupted` where members are missing, or the last one is not what it would be.
        final_fit: replaces the weights of each member in turn, once they are scored together.
    """
    members, schema = run.members, preparation.schema
    networks = tuple(load_network(member, config, schema, validated=True) for member in members)
    metrics = [member.read_json(member.metrics) for member in members]
    about = [
        {"seed": member_config(config, number).training.seed, **_repeated(each)} for number, each in enumerate(metrics)
    ]
    model, arrays = Model(config, schema, networks), schema.windows_of(preparation.panel)

    def train_on_all_rows() -> dict[str, Any]:
        if final_fit is None or reason == "interrupted":
            return {"no_final_fit": no_final_fit(preparation, config), "members": about}
        done: dict[str, Any] = {}
        for number, (member, entry, scores) in enumerate(zip(members, about, metrics, strict=True)):
            done = final_fit(member, member_config(config, number), entry["best_epoch"])
            entry |= {"final_fit": done, "model_sha256": sha256_of(member.model)}
            member.write_json(member.metrics, {**scores, "final_fit": done, "model_sha256": entry["model_sha256"]})
        return {"final_fit": {**done, "epochs": max(entry["final_fit"]["epochs"] for entry in about)}, "members": about}

    _score_and_write(run, model, preparation, arrays, baselines, {"ended": reason}, train_on_all_rows)


def _repeated(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: metrics[name] for name in KEPT_OF_MEMBERS if name in metrics}


def _score_and_write(
    run: RunDir,
    model: Model,
    preparation: Preparation,
    arrays: WindowArrays,
    baselines: CachedBaselines,
    ending: dict[str, Any],
    train_on_all_rows: Callable[[], dict[str, Any]],
) -> None:
    """Write scores of a model on the validation windows, its calibration and its attention; metrics.json comes last.

    Args:
        run: with weights and history.
        model: as validated.
        preparation: with the validation windows.
        arrays: the windows.
        baselines: at the validation windows.
        ending: first entries of metrics.json.
        train_on_all_rows: replaces the weights of the run, where it ends so; returns the last entries of metrics.json.
    """
    release_memory()
    arrays = arrays.to(choose_device(model.config.training.accelerator))
    validation = forecast_validation(model, preparation, arrays)
    model = calibrated(model, validation, preparation)
    scores = validation_scores(model, preparation, validation, baselines)
    if model.calibration is not None:
        run.write_json(run.calibration, model.calibration.to_dict())
        scores["calibration_sha256"] = sha256_of(run.calibration)
    if not run.is_member and model.config.training.combination == "auto" and model.config.model.has_median:
        scores["combination"] = combination(preparation, validation, baselines)
        write_tail(run, preparation.table, rows_to_keep(scores["combination"]["weights"], preparation, model.config))
    share = NetworkShare.of(Combination.from_dict(scores.get("combination", {})))
    scores |= _write_attention(run, model, preparation, arrays, validation, scores, share)
    short_series = preparation.split.short_series()
    final = train_on_all_rows()  # once everything is scored and written, for it replaces the weights
    metrics = {**ending, **scores, "short_series": short_series, **final}
    if run.is_member:
        run.write_json(run.metrics, metrics)
    else:
        run.finish(metrics)


class UpdateMetrics(NamedTuple):
    """Facts about an update, for the metrics.json of its run."""

    update: dict[str, Any]
    """As metrics.json holds it."""
    best_epochs: tuple[int, ...]
    """Of each network; 0 where the weights before stayed."""
    epochs: int
    ending: dict[str, Any]
    """The training on all rows, or why there was none."""
    combination: Combination
    """Of network and baselines; empty where the network forecasts alone."""


def score_updated(run: RunDir, model: Model, preparation: Preparation, facts: UpdateMetrics) -> None:
    """Score an updated model on the steps that it has not seen, and declare its run finished.

    Args:
        run: with all files but metrics.json and the attention.
        model: that the next update begins with, calibrated as it forecasts.
        preparation: with the validation windows.
        facts: the other entries of metrics.json.
    """
    release_memory()
    arrays = preparation.windows().to(choose_device(model.config.training.accelerator))
    baselines = validation_baselines(preparation, model.config)
    members = []
    for number, (member, network) in enumerate(zip(run.members, model.members, strict=True)):
        each, _ = _updated_scores(member, network, preparation, arrays, baselines, NetworkShare(1.0))
        about = {"best_epoch": facts.best_epochs[number], "epochs": facts.epochs, "ended": "max-epochs", **each}
        about |= {**facts.ending, "model_sha256": sha256_of(member.model)}
        member.write_json(member.metrics, about)
        members.append({"seed": network.config.training.seed, **_repeated(about)})
    share = NetworkShare.of(facts.combination)
    scores, validation = _updated_scores(run, model, preparation, arrays, baselines, share)
    if facts.combination.weights:
        scores["combination"] = _scored(facts.combination, preparation, validation, candidates(baselines))
    ending = facts.ending | ({"members": members} if members else {"model_sha256": sha256_of(run.model)})
    epochs = {} if members else {"best_epoch": facts.best_epochs[0], "epochs": facts.epochs}
    short = preparation.split.short_series()
    run.finish({**epochs, "ended": "max-epochs", **scores, "short_series": short, **ending, "update": facts.update})


def _updated_scores(
    run: RunDir,
    model: Model,
    preparation: Preparation,
    arrays: WindowArrays,
    baselines: CachedBaselines,
    share: NetworkShare,
) -> tuple[dict[str, Any], ValidationForecasts]:
    """Scores of a model whose calibration is older than the windows, and its forecasts; writes its attention."""
    validation = forecast_validation(model, preparation, arrays)
    scores = validation_scores(model, preparation, validation, baselines)
    if "calibrated_on_these_windows" in scores["validation"]:
        scores["validation"]["calibrated_on_these_windows"] = False
    if run.calibration.is_file():
        scores["calibration_sha256"] = sha256_of(run.calibration)
    scores |= _write_attention(run, model, preparation, arrays, validation, scores, share)
    return scores, validation


def combination(
    preparation: Preparation, validation: ValidationForecasts, baselines: CachedBaselines
) -> dict[str, Any]:
    """Choose the weights of network and baselines, and score them together."""
    others, scale = candidates(baselines), naive_errors(preparation)
    forecasts, windows = {NETWORK: validation.prediction, **others}, (validation.cutoffs, validation.series)
    weights = choose_weights(
        forecasts,
        validation.actual,
        scale[validation.series],
        independent=independent_windows(*windows, preparation.schema.horizon),
        earlier=earlier_errors(preparation.panel, baselines.setup, scale),
    )
    by_series = weights_by_series(weights, forecasts, validation.actual, *windows)
    item_ids = preparation.panel.item_ids
    chosen = Combination(weights, {item_ids[series]: each for series, each in by_series.items()})
    return _scored(chosen, preparation, validation, others)


def _scored(
    chosen: Combination, preparation: Preparation, validation: ValidationForecasts, others: dict[str, Floats]
) -> dict[str, Any]:
    """The combination as metrics.json holds it: its weights, and errors on the windows."""
    series = validation.series
    return scored_combination(
        chosen,
        {NETWORK: validation.prediction, **others},
        validation.actual,
        naive_errors(preparation)[series],
        item_ids=preparation.panel.item_ids,
        series=series,
    )


class ValidationForecasts(NamedTuple):
    """Forecasts of the validation windows that are scored, and the actual values."""

    cutoffs: NDArray[np.int64]
    """(num_windows,)"""
    series: NDArray[np.int64]
    """(num_windows,)"""
    prediction: NDArray[np.float64]
    """Forecasts in original units, (num_windows, horizon)."""
    base_quantiles: NDArray[np.float64] | None
    """Before calibration, on the series' scale, (num_windows, horizon, num_quantiles); None for points alone."""
    actual: NDArray[np.float64]
    """Actual values in original units, NaN where not observed, (num_windows, horizon)."""


def validation_rows(preparation: Preparation, config: RunConfig) -> NDArray[np.int64]:
    """Cut-offs of the windows that are scored, (num_windows,)."""
    return spread_evenly(preparation.validation_cutoffs, config.training.validation_windows)


def validation_baselines(preparation: Preparation, config: RunConfig) -> CachedBaselines:
    """Forecasts of baselines at the windows that are scored, which do not depend on a network or its seed."""
    return CachedBaselines(preparation.panel, validation_rows(preparation, config), preparation.baseline_setup())


def actual_values(preparation: Preparation, cutoffs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The targets of the horizons after these rows (num_windows, horizon), NaN where not observed."""
    steps = np.arange(1, preparation.schema.horizon + 1)
    return np.asarray(preparation.panel.target[cutoffs[:, None] + steps], np.float64)


def forecast_validation(model: Model, preparation: Preparation, arrays: WindowArrays) -> ValidationForecasts:
    """Forecast the validation windows, in float32 and without weights."""
    cutoffs, panel = validation_rows(preparation, model.config), preparation.panel
    batches = list(forecast_windows(model.uncalibrated, panel, cutoffs, arrays, need_weights=False))
    return ValidationForecasts(
        cutoffs,
        np.concatenate([batch.series for batch in batches]),
        np.concatenate([batch.prediction for batch in batches]),
        np.concatenate([batch.base_quantiles for batch in batches if batch.base_quantiles is not None])
        if model.quantiles
        else None,
        actual_values(preparation, cutoffs),
    )


def calibrated(model: Model, validation: ValidationForecasts, preparation: Preparation) -> Model:
    """The model with its quantiles calibrated on the validation windows, where that was asked for.

    Args:
        model: not calibrated.
        validation: its forecasts.
        preparation: of its training.

    Raises:
        DataError: too few values for a quantile.
    """
    kind = model.config.model.calibration
    if kind == "none":
        return model
    assert validation.base_quantiles is not None
    steps = validation.actual.shape[1]
    series = np.repeat(validation.series, steps)
    actual = model.schema.scaler.scale_target(validation.actual.ravel(), series).reshape(-1, steps)
    calibration = fit_calibration(kind, model.quantiles, actual, validation.base_quantiles)
    if kind == ADAPTIVE:
        # Where each series was validated on a stretch of its own, only errors after the table are nobody's training.
        split, stamps = preparation.split, preparation.panel.timestamps
        after = split.boundary if split.rows_by_series is None else stamps[preparation.panel.ends - 1].max()
        tracking = Tracking.of(
            model.quantiles, actual, validation.base_quantiles, int(np.asarray(after).astype(np.int64))
        )
        calibration = replace(calibration, tracking=tracking)
    return replace(model, calibration=calibration)


def validation_scores(
    model: Model, preparation: Preparation, validation: ValidationForecasts, baselines: CachedBaselines
) -> dict[str, Any]:
    """Errors of the model and of the baselines on the same windows, in original units; of its quantiles too."""
    season, cutoffs = preparation.schema.frequency.season, validation.cutoffs
    naive_error = naive_errors(preparation)[validation.series]
    errors = point_metrics(validation.actual, validation.prediction, naive_error)
    assert errors["mae"] is not None
    scores = score_baselines(baselines, validation.actual, naive_error, errors["mae"])
    naive = {name: score for name, score in scores["seasonal-naive"].items() if name != "skill_per_cent"}
    best = best_baseline(scores)
    return {
        "validation": {
            "windows": len(cutoffs),
            "windows_available": len(preparation.validation_cutoffs),
            "after": preparation.panel.zone.stamp_text(preparation.split.boundary),
            "split": "time" if preparation.split.rows_by_series is None else "series",
            **errors,
            **_scores_of_quantiles(model, validation),
        },
        "seasonal_naive": {"season": season, **naive},
        "best_baseline": best,
        "skill_per_cent": scores[best]["skill_per_cent"],
        "baselines": scores,
    }


def naive_errors(preparation: Preparation) -> Floats:
    """In-sample error of seasonal-naive in the training rows of each series (num_series,)."""
    panel = preparation.panel
    starts, season = panel.starts[:-1], preparation.schema.frequency.season
    stops = starts + preparation.split.training_rows(panel)
    return seasonal_naive_error(panel.target, starts, stops, season=season)


def _scores_of_quantiles(model: Model, validation: ValidationForecasts) -> dict[str, Any]:
    if validation.base_quantiles is None:
        return {}
    quantiles = model.quantiles_in_units(validation.base_quantiles, validation.series)
    # Offsets fitted on these windows give them the requested coverage, which says little about other windows.
    scores = score_quantiles(model.quantiles, validation.actual, quantiles)
    return scores | {"calibrated_on_these_windows": model.calibration is not None}


def _write_attention(
    run: RunDir,
    model: Model,
    preparation: Preparation,
    arrays: WindowArrays,
    validation: ValidationForecasts,
    scores: dict[str, Any],
    share: NetworkShare,
) -> dict[str, Any]:
    """Write the attention of the validation windows, and return the test whether the forecasts need it.

    Args:
        run: to write to.
        model: as validated.
        preparation: with the validation windows.
        arrays: the windows.
        validation: forecasts of the windows that are scored.
        scores: of those forecasts.
        share: weight of the network in what the run forecasts.
    """
    if not model.has_attention:
        return {}
    options, panel = model.config.training, preparation.panel
    choice = DumpChoice.of(options.attention_windows, options.attention_dtype, options.attention_top)
    cutoffs = preparation.validation_cutoffs
    output = AttentionDumpPlan.plan(model, panel, arrays, cutoffs, choice, share)
    with output.open(run.validation_attention) as writer:
        for forecasts in forecast_windows(model.uncalibrated, panel, output.cutoffs, arrays):
            output.write(writer, forecasts)
    if model.is_ensemble:
        return {}
    naive_mae = scores["seasonal_naive"]["mae"]
    return {"weight_need": weight_need(model, panel, validation.cutoffs, validation.actual, naive_mae, arrays)}


# --------------------------------------------------------------------------- baselines
# Scores of the cheap baselines on the validation windows, to compare the model's with.


LONGEST_LINEAR = 1_000
"""Lookback above which the linear network is left to `forecast backtest`: its cost is the cube of the lookback. With
168 steps it takes a third of a second, with 720 steps and a horizon of 96 ten, a hundredth of the training there."""
LARGEST_LINEAR = 5_000_000
"""Rows above which it is left there too: linear algebra has buffers of 30 MB, and memory is what such tables lack."""


def score_baselines(
    baselines: CachedBaselines, actual: Floats, naive_error: Floats, mae: float
) -> dict[str, dict[str, Any]]:
    """Score the default baselines; the linear one learns from the training windows.

    Args:
        baselines: at the cut-offs of the windows that are scored.
        actual: actual values, NaN where not observed, (num_windows, horizon).
        naive_error: scale of each window's series, (num_windows,); see `point_metrics`.
        mae: of the model on the same windows.

    Returns:
        By the name of the baseline: mae, rmse, mase and skill_per_cent, how much smaller the model's MAE is.
    """
    release_memory()
    scores: dict[str, dict[str, Any]] = {}
    for name in DEFAULT_BASELINES:
        is_large = baselines.setup.lookback > LONGEST_LINEAR or baselines.panel.num_rows > LARGEST_LINEAR
        if name == "linear" and is_large:
            continue
        errors = point_metrics(actual, baselines.of(name), naive_error)
        assert errors["mae"] is not None
        scores[name] = {**errors, "skill_per_cent": skill_per_cent(mae, errors["mae"])}
    return scores


def best_baseline(scores: dict[str, dict[str, Any]]) -> str:
    """Name of the baseline with the smallest MAE: a model that is no better has no skill."""
    return min(scores, key=lambda name: scores[name]["mae"])
