"""Deletion and sufficiency curves: zero (or keep only) the steps with the largest weights, against as many random ones.

The chosen steps are those of the model's own weights, averaged over heads, before anything is deleted; the others are
scaled up in their place. (Jain & Wallace 2019; DeYoung et al. 2020 call them comprehensiveness and sufficiency.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.audit.audit_results import HIGH_QUANTILE, LOW_QUANTILE, Check, Curve, Statistic, Yardstick
from forecast_attn.audit.interventions import DeletedKeys
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.wording import as_much, number, plural, random_steps, the_steps

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
HEADLINE = 0.05
"""Share of the lookback that sentences are about."""

RANDOM_CHOICES = 10
"""Random choices of steps per share."""

CLEARLY = 1.5
"""Factor by which the steps with the largest weights must matter more than random ones."""

Chosen = NDArray[np.bool_]  # (num_windows, num_steps, num_keys)


class _Trials(NamedTuple):
    """Forecasts under every choice of steps; the columns are top, bottom, and the random choices."""

    shares: list[float]
    steps: list[float]
    """Mean number of steps behind each share."""
    forecast_change: Floats
    """(num_shares, 2 + RANDOM_CHOICES) mean absolute, in the target's units."""
    mae_change: Floats
    key: str
    """Unit of choice: steps or patches."""

    @property
    def headline(self) -> int:
        """Index of the share that the sentences quote."""
        return int(np.argmin([abs(share - HEADLINE) for share in self.shares]))

    @property
    def ratio(self) -> float:
        """Change by the steps with the largest weights over that by random ones, at the headline's share."""
        changes = self.forecast_change[self.headline]
        random = np.median(changes[2:])
        return float(changes[0] / random) if random > 0 else float("nan")

    def curve(self, name: str, label: str) -> Curve:
        return Curve(name, label, self.shares, self.steps, _lines(self.forecast_change), _lines(self.mae_change))

    def statistics(self, side: Literal["above", "below"], what: str) -> list[Statistic]:
        """The mean over all shares, and the headline's share; `what` is done to the chosen steps."""
        area, some = self.forecast_change.mean(axis=0), self.forecast_change[self.headline]
        steps = the_steps(self.steps[self.headline], self.key)
        return [
            self._statistic("area", "change of the forecast, mean of the curve", area, side),
            self._statistic("headline", f"change {what} {steps} with the most weight", some, side),
            Statistic("bottom", f"change {what} {steps} with the least weight", float(some[1]), "target"),
            Statistic("ratio", "times the change by random ones", self.ratio),
            self._statistic("mae_change", "change of the MAE, mean of the curve", self.mae_change.mean(axis=0), side),
        ]

    def _statistic(self, name: str, label: str, values: Floats, side: Literal["above", "below"]) -> Statistic:
        yardstick = Yardstick.of_draws(values[2:], f"random {plural(self.key)}")
        return Statistic(name, label, float(values[0]), "target", yardstick, side)


def _lines(values: Floats) -> dict[str, list[float]]:
    """(num_shares, 2 + RANDOM_CHOICES) as the lines of a picture."""
    random = values[:, 2:]
    return {
        "top": values[:, 0].tolist(),
        "bottom": values[:, 1].tolist(),
        "random": np.median(random, axis=1).tolist(),
        "random_low": np.quantile(random, LOW_QUANTILE, axis=1).tolist(),
        "random_high": np.quantile(random, HIGH_QUANTILE, axis=1).tolist(),
    }


def counts_of(num_keys: int) -> list[int]:
    """Number of chosen keys for every share, where it differs from the share before."""
    return sorted({max(1, round(share * num_keys)) for share in SHARES})


def num_forecasts(num_keys: int) -> int:
    """Forecasts that both curves take."""
    return 2 * len(counts_of(num_keys)) * (2 + RANDOM_CHOICES)


def headline_count(num_keys: int) -> int:
    """The number of keys that sentences are about."""
    return max(1, round(HEADLINE * num_keys))


def deletion(subject: Subject, reference: Reference, seed: int, *, keep: bool) -> Check:
    """Zero the chosen steps, or all others, and compare with as many random ones.

    Args:
        subject: the model and its windows.
        reference: the forecasts as they are.
        seed: of the random steps.
        keep: keep the chosen steps only: those with the largest weights should change the forecast least. False deletes
            them: they should change it most.
    """
    trials, keys = _try(subject, reference, seed, keep=keep), plural(subject.key)
    statistics = trials.statistics("below", "with only") if keep else trials.statistics("above", "without")
    area = statistics[0]
    assert area.yardstick is not None
    random = area.yardstick.median
    is_clear = CLEARLY * area.value <= random if keep else area.value >= CLEARLY * random
    passed = bool(area.beats_chance) and is_clear
    if keep:
        verdict, curve = (
            _verdict(trials, subject, "keeping only", "keeping"),
            trials.curve("sufficiency", f"{keys} kept"),
        )
        return Check("sufficiency", f"Keeping {keys} only", passed, verdict, statistics, [curve])
    verdict, curve = _verdict(trials, subject, "deleting", "deleting"), trials.curve("deletion", f"{keys} deleted")
    return Check("deletion", f"Deleting {keys}", passed, verdict, statistics, [curve])


def _verdict(trials: _Trials, subject: Subject, chosen: str, others: str) -> str:
    steps, change = trials.steps[trials.headline], trials.forecast_change[trials.headline]
    target = subject.model.schema.roles.target
    return (
        f"{chosen} {the_steps(steps, subject.key)} with the most weight changes the forecast of '{target}' by "
        f"{number(change[0])}, {as_much(trials.ratio)} as {others} {random_steps(steps)}"
    )


def _try(subject: Subject, reference: Reference, seed: int, *, keep: bool) -> _Trials:
    """Forecast without the chosen steps, or with them only: chosen from the top, from the bottom and at random."""
    num_keys, random = reference.weights.shape[-1], np.random.default_rng(seed)
    shares = [count / num_keys for count in counts_of(num_keys)]
    weights, own_mae = reference.weights.mean(axis=1), subject.mae(reference.prediction)
    steps, forecast_change, mae_change = list[float](), list[list[float]](), list[list[float]]()
    for share in shares:
        numbers = _numbers(reference.visible, share)
        steps.append(float(numbers.mean()))
        choices = [_chosen(order, reference.visible, numbers) for order in _orders(weights, random)]
        forecasts = [subject.forecast(reweigh=_without(subject, ~each if keep else each)) for each in choices]
        forecast_change.append([float(np.abs(forecast - reference.prediction).mean()) for forecast in forecasts])
        mae_change.append([subject.mae(forecast) - own_mae for forecast in forecasts])
    return _Trials(shares, steps, np.array(forecast_change), np.array(mae_change), subject.key)


def _orders(weights: NDArray[np.float32], random: np.random.Generator) -> Iterator[NDArray[np.float32]]:
    """Criteria to choose the largest of: the weights, their opposite, and random numbers."""
    yield weights
    yield -weights
    for _ in range(RANDOM_CHOICES):
        yield random.random(weights.shape, dtype=np.float32)


def _numbers(visible: Chosen, share: float) -> NDArray[np.int64]:
    """(num_windows, num_steps) how many keys to choose among those that may be attended to; one at least."""
    return np.asarray(np.maximum(1, np.round(share * visible.sum(axis=-1))), np.int64)


def _chosen(order: NDArray[np.float32], visible: Chosen, numbers: NDArray[np.int64]) -> Chosen:
    """The visible steps that come first."""
    first = np.argsort(np.where(visible, -order, np.inf), axis=-1, kind="stable")
    # The inverse of the sorting: rank 0 is the key to choose first, hidden keys come last.
    ranks = np.empty_like(first)
    np.put_along_axis(ranks, first, np.broadcast_to(np.arange(order.shape[-1]), first.shape), axis=-1)
    return (ranks < numbers[..., None]) & visible


def _without(subject: Subject, deleted: Chosen) -> Callable[[slice], DeletedKeys]:
    return lambda rows: DeletedKeys(torch.from_numpy(deleted[rows]).to(subject.device))
