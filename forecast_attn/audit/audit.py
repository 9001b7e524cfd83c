"""The audit from start to end: windows, experiments, verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.audit import deletion, ranking
from forecast_attn.audit.covariates import covariate_importance, num_permuted
from forecast_attn.audit.findings import Audit, Check, Header, Verdict
from forecast_attn.audit.places import most_weighted
from forecast_attn.audit.ranking import Explained
from forecast_attn.audit.seeds import check_comparable, seed_agreement
from forecast_attn.audit.subject import Floats, Sight, Subject
from forecast_attn.audit.swaps import permutation, shuffled_forecasts, uniform_swap
from forecast_attn.audit.values import values_check
from forecast_attn.audit.verdict import overall_verdict
from forecast_attn.data.problems import counted
from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.baselines import seasonal_naive
from forecast_attn.inference import Model, attention_metadata
from forecast_attn.preparation import Preparation
from forecast_attn.threads import cpu_threads

MOST_DRAWS, FEWEST_DRAWS = 100, 20
DRAWN_WINDOWS = 12_800
"""Windows forecast in random orders when the number of draws is not given: 100 draws of 128 windows."""


@dataclass(frozen=True)
class AuditPlan:
    """How much an audit has to compute.

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


@dataclass(frozen=True)
class AuditOptions:
    """What to audit.

    Attributes:
        windows: most validation windows to look at.
        draws: random orders of the weights; 100 for 128 windows or fewer when None, and fewer for more windows.
        seed: of everything random.
        attention: whether to look at the attention.
        covariates: whether to permute covariates.
        repeats: permutations of each covariate.
    """

    windows: int = 128
    draws: int | None = None
    seed: int = 0
    attention: bool = True
    covariates: bool = False
    repeats: int = 10

    def __post_init__(self) -> None:
        for name, low in (("windows", 2), ("draws", 10), ("repeats", 2), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < low:
                raise ConfigError(f"--{name} must be at least {low}; got {value}", f"--{name} {low}")


@dataclass
class AuditListener:
    """Hears what an audit is about to do and how far it is; does nothing."""

    planned: Callable[[AuditPlan], None] = field(default=lambda plan: None)
    advanced: Callable[[int], None] = field(default=lambda forecasts: None)


def audit_attention(
    model: Model,
    preparation: Preparation,
    options: AuditOptions,
    *,
    device: torch.device,
    others: dict[str, Model] | None = None,
    listener: AuditListener | None = None,
) -> Audit:
    """Look whether a model's attention is faithful, and which covariates it needs.

    Args:
        model: trained.
        preparation: of the table it was trained on, whose validation windows are looked at.
        options: what to audit.
        device: where to compute.
        others: name -> model of another training on the same table.
        listener: hears how far the audit is.

    Raises:
        ConfigError: the model has no attention.
        RunError: another run cannot be compared with this one.
        DataError: a series of the table was not in training.
    """
    others, listener = others or {}, listener or AuditListener()
    _refuse(model, options, others)
    cutoffs = spread_evenly(preparation.validation_cutoffs, options.windows)
    plan = plan_audit(model, preparation, options, len(others))
    listener.planned(plan)
    with cpu_threads(model.config.training.threads):
        subject = Subject.of(model, preparation, cutoffs, device, listener.advanced)
        verdict: Verdict | None = None
        sight: Sight | None = None
        checks: list[Check] = []
        profiles: dict[str, list[float]] = {}
        if options.attention:
            weights_of_others = [_look(other, preparation, cutoffs, device, listener) for other in others.values()]
            sight = subject.look()
            checks, profiles = _experiment(subject, sight, weights_of_others, plan.draws, options.seed)
            verdict = overall_verdict(subject, checks, _naive_mae(subject, preparation))
        covariates = covariate_importance(subject, options.repeats, options.seed) if options.covariates else None
        header = _header(subject, preparation, plan, options.seed, sight)
    return Audit(header, verdict, checks, profiles, covariates)


def plan_audit(model: Model, preparation: Preparation, options: AuditOptions, num_others: int) -> AuditPlan:
    """How much there is to compute."""
    available, num_keys = len(preparation.validation_cutoffs), model.network.patches.num_keys
    windows = min(options.windows, available)
    draws = options.draws or min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWN_WINDOWS // windows))
    forecasts = 1
    if options.covariates:
        forecasts += 1 + options.repeats * num_permuted(model)
    if options.attention:
        forecasts += 2 + draws + num_others + deletion.num_forecasts(num_keys) + ranking.num_forecasts(num_keys)
    return AuditPlan(windows, available, draws, forecasts)


def spread_evenly(cutoffs: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """At most `count` of the cut-offs, the first and the last among them."""
    places = np.linspace(0, len(cutoffs) - 1, min(count, len(cutoffs)))
    return cutoffs[np.round(places).astype(np.int64)]


def _refuse(model: Model, options: AuditOptions, others: dict[str, Model]) -> None:
    if options.attention and not model.has_attention:
        raise ConfigError(
            "this run was trained with --attention none: there are no weights to audit",
            "--covariates tells which columns it needs",
        )
    for name, other in others.items():
        check_comparable(model, other, name)


def _look(
    model: Model, preparation: Preparation, cutoffs: NDArray[np.int64], device: torch.device, listener: AuditListener
) -> NDArray[np.float32]:
    """The weights of another model over the same windows."""
    return Subject.of(model, preparation, cutoffs, device, listener.advanced).look().weights


def _experiment(
    subject: Subject, sight: Sight, others: list[NDArray[np.float32]], draws: int, seed: int
) -> tuple[list[Check], dict[str, list[float]]]:
    """All checks of the attention, and the profiles of the explanations."""
    shuffled = shuffled_forecasts(subject, draws, seed)
    checks = [
        uniform_swap(subject, sight, shuffled),
        permutation(subject, sight, shuffled),
        deletion.deletion(subject, sight, seed),
        deletion.sufficiency(subject, sight, seed),
    ]
    explained = ranking.explain(subject, sight)
    checks.append(ranking.rank_agreement(explained, seed))
    if others:
        checks.append(seed_agreement(sight.weights, others, seed, subject.key))
    values, found = values_check(subject, sight, explained, seed)
    return [*checks, values], _profiles(explained, found)


def _profiles(explained: Explained, found: dict[str, Floats]) -> dict[str, list[float]]:
    """Mean over windows of every explanation, adding up to 1 over the lookback."""
    means = {
        name: np.abs(each).mean(axis=0)
        for name, each in {"weights": explained.weights, **explained.importances, **found}.items()
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


def _header(subject: Subject, preparation: Preparation, plan: AuditPlan, seed: int, sight: Sight | None) -> Header:
    patches = subject.patches.length > 1
    model, panel = subject.model, preparation.panel
    about = attention_metadata(model) if model.has_attention else None
    stamps = panel.timestamps[subject.cutoffs]
    return Header(
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
        most_weighted=most_weighted(subject, sight) if patches and sight is not None else "",
    )
