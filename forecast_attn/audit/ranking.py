"""Do other explanations of the same forecasts rank the lookback steps as the weights do?

One step ahead of every window is explained, the steps taken in turn. Each agreement is a mean over windows, beside what
the same weights score in random order. (Jain & Wallace 2019, section 4.1.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.agreement import mean_of_defined, order_signs, ranks, spearman, tau_of_signs, top_overlap
from forecast_attn.audit.audit_results import Check, Statistic, Yardstick
from forecast_attn.audit.deletion import headline_count
from forecast_attn.audit.importance import (
    GRADIENT_COST,
    INTEGRATION_POINTS,
    gradient_input,
    input_occlusion,
    integrated_gradients,
    state_occlusion,
    varying_columns,
)
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.wording import per_cent, plural

RANDOM_ORDERS = 20
"""Random rankings per window that the yardsticks are made of."""

FEWEST = 3
"""Lookback steps below which there is nothing to rank."""

MOST = 0.5
"""Share of the steps with the most weight that must be among those whose states the forecast needs most."""

LABELS = {
    "state_occlusion": "leaving one state out",
    "input_occlusion": "leaving one input out",
    "gradient_input": "gradient × input",
    "integrated_gradients": "integrated gradients",
}


@dataclass(frozen=True)
class Explained:
    """Explanations of one step ahead per window.

    Attributes:
        steps: which time step, 0-based (num_windows,).
        decoder_steps: the step of the decoder that forecasts it, alone or with others of its patch (num_windows,).
        weights: mean over heads (num_windows, num_keys).
        visible: which keys may be attended to (num_windows, num_keys).
        importances: importance of each key, by method (num_windows, num_keys).
        convergence_delta: of integrated gradients.
        key: what is ranked: steps or patches of the lookback.
    """

    steps: NDArray[np.int64]
    decoder_steps: NDArray[np.int64]
    weights: Floats
    visible: NDArray[np.bool_]
    importances: dict[str, Floats]
    convergence_delta: float
    key: str = "step"


def num_forecasts(num_keys: int) -> int:
    """Number of forecasts that `explain` computes."""
    return 2 * num_keys + GRADIENT_COST * (1 + INTEGRATION_POINTS)


def explain(subject: Subject, reference: Reference) -> Explained:
    """Explain one step of every window in four other ways."""
    windows = np.arange(subject.num_windows)
    steps = windows % reference.prediction.shape[1]
    varying = varying_columns(subject)
    integrated, delta = integrated_gradients(subject, steps, varying)
    importances = {
        "state_occlusion": state_occlusion(subject, reference, steps),
        "input_occlusion": input_occlusion(subject, reference, steps, varying),
        "gradient_input": gradient_input(subject, steps, varying),
        "integrated_gradients": integrated,
    }
    asking = steps // subject.patches.length
    weights = reference.weights.mean(axis=1)[windows, asking].astype(np.float64)
    return Explained(steps, asking, weights, reference.visible[windows, asking], importances, delta, subject.key)


def rank_agreement(explained: Explained, seed: int) -> Check:
    """Agreement of the weights with every other explanation, and of those with each other."""
    statistics = [
        statistic
        for method, importance in explained.importances.items()
        for statistic in agreements(explained, method, LABELS[method], importance, seed)
    ]
    statistics.append(_among_themselves(explained))
    statistics.append(
        Statistic(
            "convergence_delta", "integrated gradients: missing from their sum", explained.convergence_delta, "share"
        )
    )
    by_name = {statistic.name: statistic for statistic in statistics}
    states, inputs = by_name["state_occlusion_overlap"], by_name["input_occlusion_overlap"]
    passed: bool | None = bool(states.beats_chance and inputs.beats_chance) and states.value >= MOST
    if _too_few_patches(explained):
        passed = None
    return Check("rank_agreement", "Other explanations", passed, _verdict(explained, by_name), statistics)


def agreements(explained: Explained, name: str, label: str, importance: Floats, seed: int) -> Iterator[Statistic]:
    """Kendall's tau-b, Spearman's rho and the overlap of the largest, of weights and importance."""
    count = headline_count(explained.weights.shape[1])
    random = np.random.default_rng(seed)
    agreed, chance = [], []
    for weights, other in _rows(explained, importance):
        agreed.append(_row_agreement(ranks(weights), ranks(other), count))
        orders = [random.permutation(len(weights)) for _ in range(RANDOM_ORDERS)]
        chance.append(_random_agreement(ranks(weights), ranks(other), orders, count))
    undefined = [(np.nan,) * 3]  # where no window has enough steps to rank
    means, draws = mean_of_defined(agreed or undefined), mean_of_defined(chance or [undefined])
    kinds = (("tau", "Kendall's tau"), ("spearman", "Spearman's rho"), ("overlap", f"overlap of the top {count}"))
    for column, (kind, words) in enumerate(kinds):
        yardstick = Yardstick.of_draws(draws[:, column], "the weights in random order")
        unit = "share" if kind == "overlap" else ""
        yield Statistic(f"{name}_{kind}", f"{label}: {words}", float(means[column]), unit, yardstick, "above")


def _rows(explained: Explained, importance: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Weights and importance of each window's step, where it may attend to."""
    for weights, other, visible in zip(explained.weights, importance, explained.visible, strict=True):
        if visible.sum() >= FEWEST:
            yield weights[visible], other[visible]


def _row_agreement(weights: Floats, other: Floats, count: int) -> tuple[float, float, float]:
    signs = tau_of_signs(order_signs(weights), order_signs(other))
    return signs, spearman(weights, other), top_overlap(weights, other, count)


def _random_agreement(
    weights: Floats, other: Floats, orders: list[NDArray[np.int64]], count: int
) -> list[tuple[float, float, float]]:
    """The same for the weights in random orders."""
    signs, others = order_signs(weights), order_signs(other)
    return [
        (
            tau_of_signs(signs[np.ix_(order, order)], others),
            spearman(weights[order], other),
            top_overlap(weights[order], other, count),
        )
        for order in orders
    ]


def chance_overlap(visible: NDArray[np.bool_], count: int) -> float:
    """Mean share of the `count` largest that a random order has in common with another one, over windows to rank.

    Of n steps that may be attended to (visible: (num_windows, num_keys)), each of the `count` is among the others with
    probability count / n.
    """
    seen = visible.sum(axis=1)
    seen = seen[seen >= FEWEST]
    return float((np.minimum(count, seen) ** 2 / seen).mean() / count) if len(seen) else float("nan")


def _among_themselves(explained: Explained) -> Statistic:
    """Mean tau between the input-level methods: more agreement than that cannot be asked of the weights."""
    methods = ("input_occlusion", "gradient_input", "integrated_gradients")
    pairs = [(one, other) for index, one in enumerate(methods) for other in methods[index + 1 :]]
    taus = [
        tau_of_signs(order_signs(left[visible]), order_signs(right[visible]))
        for one, other in pairs
        for left, right, visible in zip(
            explained.importances[one], explained.importances[other], explained.visible, strict=True
        )
        if visible.sum() >= FEWEST
    ]
    return Statistic(
        "among_themselves_tau", "input explanations among themselves: Kendall's tau", float(mean_of_defined(taus))
    )


def _too_few_patches(explained: Explained) -> bool:
    """A few long patches are a sound choice, which must not count against the weights."""
    return explained.key == "patch" and explained.weights.shape[1] < FEWEST


def _verdict(explained: Explained, statistics: dict[str, Statistic]) -> str:
    if _too_few_patches(explained):
        return f"a lookback of fewer than {FEWEST} patches leaves nothing to rank"
    count = headline_count(explained.weights.shape[1])
    state, inputs = statistics["state_occlusion_overlap"], statistics["input_occlusion_overlap"]
    chance = per_cent(chance_overlap(explained.visible, count))
    if count == 1:
        return (
            f"the {explained.key} with the most weight is the one whose state the forecast needs most in "
            f"{per_cent(state.value)} of the windows, and the one whose input it needs most in "
            f"{per_cent(inputs.value)} (by chance {chance})"
        )
    return (
        f"of the {count} lookback {plural(explained.key)} with the most weight, {per_cent(state.value)} are among the "
        f"{count} whose states the forecast needs most, and {per_cent(inputs.value)} among the {count} whose inputs it "
        f"needs most (by chance {chance})"
    )
