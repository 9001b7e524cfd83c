"""The audit of a run's attention: plans the experiments, runs them, and gives a verdict with its caveats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import forecast_attn.audit.deletion as deletion
import forecast_attn.audit.ranking as ranking
from forecast_attn.audit.audit_results import Audit, AuditHeader, Check, Level, Verdict
from forecast_attn.audit.covariates import covariate_importance, num_permuted
from forecast_attn.audit.groups import need_by_group
from forecast_attn.audit.ranking import Explained
from forecast_attn.audit.reach import REACH_COST, reach_check
from forecast_attn.audit.seeds import check_comparable, seed_agreement
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.swaps import permutation, shuffled_forecasts, uniform_swap
from forecast_attn.audit.weighted_values import values_check
from forecast_attn.audit.wording import change_of, counted_keys, plural
from forecast_attn.baselines.naive import seasonal_naive
from forecast_attn.config.requests import AuditRequest
from forecast_attn.data.findings import counted
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import spread_evenly
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.identifiability import is_identifiable
from forecast_attn.forecasting.model import Model, attention_metadata
from forecast_attn.forecasting.weight_need import uniform
from forecast_attn.inspection.patterns import MeanWeights, looks_words
from forecast_attn.training.preparation import Preparation

MOST_DRAWS, FEWEST_DRAWS = 100, 20
DRAWN_WINDOWS = 12_800
"""Windows forecast in random orders when the number of draws is not given: 100 draws of 128 windows."""


@dataclass(frozen=True)
class AuditPlan:
    """Number of forecasts that an audit computes.

    Attributes:
        windows: validation windows it looks at, spread evenly over those available.
        windows_available: validation windows there are.
        draws: random orders of the weights.
        forecasts: passes of the network over all windows; a gradient counts as three.
    """

    windows: int
    windows_available: int
    draws: int
    forecasts: int

    def __str__(self) -> str:
        return (
            f"{counted(self.windows, 'window')} of {self.windows_available:,}, each forecast "
            f"{counted(self.forecasts, 'time')} ({counted(self.draws, 'random order')})"
        )


@dataclass
class AuditListener:
    """Callbacks for the plan and the progress of an audit; by default they do nothing."""

    planned: Callable[[AuditPlan], None] = field(default=lambda plan: None)
    advanced: Callable[[int], None] = field(default=lambda forecasts: None)


def audit_attention(
    model: Model,
    preparation: Preparation,
    request: AuditRequest,
    *,
    device: torch.device,
    others: dict[str, Model] | None = None,
    listener: AuditListener | None = None,
) -> Audit:
    """Test whether a model's attention is faithful, and which covariates it needs.

    Args:
        model: trained.
        preparation: of the table it was trained on, whose validation windows are audited.
        request: what to audit; of a model without attention its covariates alone.
        device: where to compute.
        others: name -> model of another training on the same table.
        listener: called with the plan and the progress.

    Raises:
        ConfigError: the model has no attention.
        RunError: another run cannot be compared with this one.
        DataError: a series of the table was not in training.
    """
    others, listener = others or {}, listener or AuditListener()
    with_attention = model.has_attention or not request.covariates
    if with_attention and not model.has_attention:
        raise ConfigError(
            "this run was trained with --attention none: there are no weights to audit",
            "--covariates measures which columns it needs",
        )
    for name, other in others.items():
        check_comparable(model, other, name)
    cutoffs = spread_evenly(preparation.validation_cutoffs, request.windows)
    plan = plan_audit(model, preparation, request, len(others))
    listener.planned(plan)
    with cpu_threads(model.config.training.threads):
        subject = Subject.of(model, preparation, cutoffs, device, listener.advanced)
        verdict: Verdict | None = None
        reference: Reference | None = None
        checks: list[Check] = []
        profiles: dict[str, list[float]] = {}
        if with_attention:
            weights_of_others = [
                Subject.of(other, preparation, cutoffs, device, listener.advanced).reference_forecasts().weights
                for other in others.values()
            ]
            reference = subject.reference_forecasts()
            naive_mae = _naive_mae(subject, preparation)
            experiment = _Experiment(subject, preparation.panel, reference, plan.draws, request.seed)
            checks, profiles = experiment.checks(weights_of_others, naive_mae)
            verdict = overall_verdict(subject, checks, naive_mae)
        covariates = covariate_importance(subject, request.repeats, request.seed) if request.covariates else None
        header = _header(subject, preparation, plan, request.seed, reference)
    return Audit(header, verdict, checks, profiles, covariates)


def plan_audit(model: Model, preparation: Preparation, request: AuditRequest, num_others: int) -> AuditPlan:
    """Count the forecasts to compute."""
    available, num_keys = len(preparation.validation_cutoffs), model.network.patches.num_keys
    windows = min(request.windows, available)
    draws = request.draws or min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWN_WINDOWS // windows))
    forecasts = 1
    if request.covariates:
        forecasts += 1 + request.repeats * num_permuted(model)
    if model.has_attention:
        forecasts += (
            2 + REACH_COST + draws + num_others + deletion.num_forecasts(num_keys) + ranking.num_forecasts(num_keys)
        )
    return AuditPlan(windows, available, draws, forecasts)


class _Experiment(NamedTuple):
    """Forecasts and weights under study, and the settings of the experiment."""

    subject: Subject
    panel: Panel
    reference: Reference
    draws: int
    seed: int

    def checks(self, others: list[NDArray[np.float32]], naive_mae: float) -> tuple[list[Check], dict[str, list[float]]]:
        """All checks of the attention, and the profiles of the explanations."""
        subject, reference, seed = self.subject, self.reference, self.seed
        shuffled = shuffled_forecasts(subject, self.draws, seed)
        equal = subject.forecast(reweigh=lambda _: uniform)
        checks = [
            uniform_swap(subject, reference, equal, shuffled, naive_mae),
            need_by_group(subject, self.panel, reference, equal),
            permutation(subject, reference, shuffled),
            deletion.deletion(subject, reference, seed, keep=False),
            deletion.deletion(subject, reference, seed + 1, keep=True),
        ]
        explained = ranking.explain(subject, reference)
        checks.append(ranking.rank_agreement(explained, seed))
        if others:
            checks.append(seed_agreement(reference.weights, others, seed, subject.key))
        checks.append(reach_check(subject, explained, seed))
        values, norms = values_check(subject, reference, explained, seed)
        return [*checks, values], _profiles(explained, norms)


def _profiles(explained: Explained, norms: dict[str, Floats]) -> dict[str, list[float]]:
    """Mean over windows of every explanation, adding up to 1 over the lookback."""
    means = {
        name: np.abs(each).mean(axis=0)
        for name, each in {"weights": explained.weights, **explained.importances, **norms}.items()
    }
    return {name: (mean / max(mean.sum(), np.finfo(float).tiny)).tolist() for name, mean in means.items()}


def _naive_mae(subject: Subject, preparation: Preparation) -> float:
    panel, schema = preparation.panel, subject.model.schema
    naive = seasonal_naive(
        panel.target,
        panel.starts[:-1][subject.series],
        subject.cutoffs,
        season=schema.frequency.season,
        horizon=schema.horizon,
    )
    return subject.mae(naive)


def _header(
    subject: Subject, preparation: Preparation, plan: AuditPlan, seed: int, reference: Reference | None
) -> AuditHeader:
    model, panel = subject.model, preparation.panel
    about = attention_metadata(model) if model.has_attention else None
    stamps = panel.timestamps[subject.cutoffs]
    return AuditHeader(
        mechanism=model.config.model.attention,
        order=about.order if about else "",
        normaliser=about.normaliser if about else "",
        window=about.window if about else "",
        heads=about.heads if about else 0,
        lookback=model.schema.lookback,
        horizon=model.schema.horizon,
        frequency=model.schema.frequency.alias,
        season=model.schema.frequency.season,
        target=model.schema.roles.target,
        num_series=len(np.unique(subject.series)),
        windows=plan.windows,
        windows_available=plan.windows_available,
        first_cutoff=panel.zone.stamp_text(stamps.min()),
        last_cutoff=panel.zone.stamp_text(stamps.max()),
        draws=plan.draws,
        seed=seed,
        mae=subject.mae(subject.forecast()),
        scale=float(subject.scale.mean()),
        patch_length=subject.patches.length,
        looks="" if reference is None else looks_words(_mean_weights(subject, reference)),
    )


# --------------------------------------------------------------------------- verdict


FEW_WINDOWS = 30


def overall_verdict(subject: Subject, checks: list[Check], naive_mae: float) -> Verdict:
    """Judge all checks together.

    Args:
        subject: what was audited.
        checks: all that were made.
        naive_mae: of the seasonal-naive forecast on the same windows.
    """
    by_name = {check.name: check for check in checks}
    level = _level(by_name)
    sentence = {"faithful": _faithful, "partly faithful": _partly, "not faithful": _not_faithful}[level](by_name)
    return Verdict(level, sentence, list(_caveats(subject, by_name, naive_mae)))


def _level(checks: dict[str, Check]) -> Level:
    """Weights that equal ones can replace explain nothing, whatever else they do; all other tests must pass too."""
    if not checks["uniform_swap"].passed:
        return "not faithful"
    return "faithful" if all(check.passed is not False for check in checks.values()) else "partly faithful"


def _faithful(checks: dict[str, Check]) -> str:
    return f"{checks['deletion'].verdict}; {checks['uniform_swap'].verdict.rpartition(': ')[0]}"


def _partly(checks: dict[str, Check]) -> str:
    failed = [check for check in checks.values() if check.passed is False]
    uniform = checks["uniform_swap"]
    rise, needed = change_of(uniform["mae_change_relative"].value), uniform.verdict.rpartition(": ")[2]
    reasons = "; ".join(check.verdict for check in failed)
    return f"{needed} (with equal ones the MAE {rise}), but {reasons}"


def _not_faithful(checks: dict[str, Check]) -> str:
    return f"{checks['uniform_swap'].verdict}; do not read these weights as its reasons"


def _caveats(subject: Subject, checks: dict[str, Check], naive_mae: float) -> Iterator[str]:
    key, length = subject.key, subject.patches.length
    both_sides = subject.model.config.model.bidirectional
    beside = "those on both sides" if both_sides else f"all {plural(key)} before it"
    state = "an encoder state" if length == 1 else f"the encoder state of a patch of {length} time steps"
    reach = checks["reach"]
    sides = (("reach_before", "before"), ("reach_after", "after")) if both_sides else (("reach_before", "before"),)
    spans = [f"{counted_keys(reach[name].value, key)} {side} it" for name, side in sides if round(reach[name].value)]
    stretch = ": read a weight as about that stretch, not about one value"
    far = f" and up to {' and '.join(spans)}{stretch}" if spans else ""
    yield (
        f"A weight belongs to {state}, which mixes its {key} with {beside}. At the {key} with the most weight, about "
        f"nine tenths of the state's sensitivity to the inputs lie at the {key} itself{far}."
    )
    yield (
        "Changing the weights of a trained network does not measure the gain over a network without attention: for "
        "that, train one with --attention none."
    )
    yield from _past_the_weights(subject)
    rank, num_keys = checks["values"]["rank"].value, subject.patches.num_keys
    if not is_identifiable(num_keys, round(rank)):
        yield (
            f"The weights are not identifiable: the values have rank {rank:.0f} for {num_keys} lookback {plural(key)}, "
            "so other weights of the same sum, some perhaps negative, give the same forecasts."
        )
    mae = checks["permutation"]["mae"].value
    if mae >= naive_mae:
        yield (
            "The network alone is no better than seasonal-naive on these windows: at best, the weights explain a poor "
            "forecast."
        )
    if "seeds" not in checks:
        yield f"This is one training; another seed may weight other {plural(key)}. Compare with: --seeds OTHER_RUN"
    if subject.num_windows < FEW_WINDOWS:
        yield f"{subject.num_windows} windows are few: the numbers would differ on others."
    if np.isnan(checks["uniform_swap"]["mae_change_chance"].value):
        yield (
            "The windows overlap too much to tell from chance what equal weights cost: they span less than two "
            "stretches of lookback and horizon."
        )
    yield "This describes the network, not causes in the world."


def _past_the_weights(subject: Subject) -> Iterator[str]:
    """Paths from the lookback to the forecast that bypass the attention."""
    options = subject.model.config.model
    if options.lags:
        lags = ", ".join(map(str, options.lags))
        yield f"Each step also reads what lay {lags} steps before it (--lags): no weight shows that."
    if options.linear_path:
        yield "A linear map of the whole lookback adds to the forecast (--linear-path): the weights are about the rest."


def _mean_weights(subject: Subject, reference: Reference) -> MeanWeights:
    """The mean weights of the audited windows and of all heads; nothing on keys that are missing."""
    weights = np.nan_to_num(reference.weights).mean(axis=(0, 1), dtype=np.float64)
    length, frequency = subject.patches.length, subject.model.schema.frequency
    ends = [min(first + length, subject.patches.horizon) for first in range(0, len(weights) * length, length)]
    spans = [(step * length + 1, last) for step, last in enumerate(ends)]
    return MeanWeights(weights, spans, frequency.alias, frequency.season, length)
