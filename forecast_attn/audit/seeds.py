"""Test whether trainings from other seeds look at the same steps: mean weights per step ahead over the same windows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.agreement import kendall, mean_of_defined
from forecast_attn.audit.audit_results import Check, Statistic, Yardstick
from forecast_attn.audit.subject import Floats
from forecast_attn.audit.wording import plural
from forecast_attn.errors import RunError
from forecast_attn.forecasting.model import Model
from forecast_attn.inspection.statistics import jensen_shannon_distance

RANDOM_ORDERS = 50


def check_comparable(model: Model, other: Model, name: str) -> None:
    """Raise RunError unless both models look at the same windows of the same table, and both attend."""
    if not other.has_attention:
        raise RunError(f"'{name}' was trained with --attention none", "compare with runs that have attention")
    this_run, other_run = _shape(model), _shape(other)
    differing = [what for what in this_run if this_run[what] != other_run[what]]
    if differing:
        what = differing[0]
        raise RunError(
            f"'{name}' cannot be compared: its {what} is {other_run[what]}, not {this_run[what]}",
            f"train both runs on the same table with the same "
            f"{'--patch-length' if what == 'patch length' else '--lookback and --horizon'}",
        )


def seed_agreement(
    weights: NDArray[np.float32], others: list[NDArray[np.float32]], seed: int, key: str = "step"
) -> Check:
    """Jensen–Shannon distance and Kendall's tau of the mean weights of this run and of each other one.

    Args:
        weights: (num_windows, heads, num_steps, num_keys).
        others: the other runs', over the same windows; their heads may be another number.
        seed: of the yardstick's random orders.
        key: what the weights belong to, as a word: step or patch.
    """
    mean_weights, other_means = _mean_rows(weights), [_mean_rows(each) for each in others]
    random = np.random.default_rng(seed)
    distances, chance = [], []
    for other in other_means:
        distances.append(_mean_distance(mean_weights, other))
        chance.append([_mean_distance(mean_weights, _shuffled(other, random)) for _ in range(RANDOM_ORDERS)])
    taus = [_mean_tau(mean_weights, other) for other in other_means]
    tau_chance = [_mean_tau(mean_weights, _shuffled(other_means[0], random)) for _ in range(RANDOM_ORDERS)]
    of = "the other run's weights in random order"
    statistics = [
        Statistic(
            "jensen_shannon",
            "Jensen–Shannon distance of the mean weights",
            float(np.mean(distances)),
            "",
            Yardstick.of_draws(np.mean(chance, axis=0), of),
            "below",
        ),
        Statistic(
            "largest_jensen_shannon",
            "that of the run farthest away",
            float(np.max(distances)),
        ),
        Statistic(
            "tau",
            "Kendall's tau of the mean weights",
            float(np.mean(taus)),
            "",
            Yardstick.of_draws(tau_chance, of),
            "above",
        ),
    ]
    passed = bool(statistics[0].beats_chance and statistics[2].beats_chance)
    return Check("seeds", "Other seeds", passed, _verdict(statistics, len(others), key), statistics)


def _shape(model: Model) -> dict[str, object]:
    schema = model.schema
    return {
        "target": schema.roles.target,
        "lookback": schema.lookback,
        "horizon": schema.horizon,
        "frequency": schema.frequency.alias,
        "list of series": list(schema.scaler.item_ids),
        "patch length": model.patch_length,
    }


def _mean_rows(weights: NDArray[np.float32]) -> Floats:
    """(num_steps, num_keys) mean over windows and heads."""
    return np.asarray(weights.mean(axis=(0, 1), dtype=np.float64))


def _shuffled(rows: Floats, random: np.random.Generator) -> Floats:
    return random.permuted(rows, axis=1)


def _mean_distance(rows: Floats, others: Floats) -> float:
    return float(jensen_shannon_distance(rows, others).mean())


def _mean_tau(rows: Floats, others: Floats) -> float:
    return float(mean_of_defined([kendall(row, other) for row, other in zip(rows, others, strict=True)]))


def _verdict(statistics: list[Statistic], count: int, key: str) -> str:
    distance, tau = statistics[0], statistics[2]
    assert distance.yardstick is not None
    runs = "the other run looks" if count == 1 else f"the {count} other runs look"
    where = f"at similar {plural(key)}" if distance.beats_chance and tau.beats_chance else "elsewhere"
    return (
        f"{runs} {where}: Jensen–Shannon distance {distance.value:.2f} "
        f"(in random order {distance.yardstick.median:.2f}), Kendall's tau {tau.value:.2f}"
    )
