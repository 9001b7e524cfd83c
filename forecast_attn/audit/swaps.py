"""Forecasts with other weights: equal ones (Wiegreffe & Pinter 2019), and the same in random order (Jain & Wallace
2019). If the weights explain a forecast, swapping them makes it worse.
"""

from __future__ import annotations

import numpy as np
import torch

from forecast_attn.audit.agreement import spearman
from forecast_attn.audit.audit_results import Check, Statistic, Yardstick
from forecast_attn.audit.chance import chance_of_rise, stretches_of
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.wording import beside_chance, change_of, number, share_of, why_untested
from forecast_attn.forecasting.weight_need import MATTERS_IN_UNITS, SHARE_THAT_MATTERS, Shuffled

RARE = 0.05
"""Share of random explanations that may do as well."""


def shuffled_forecasts(subject: Subject, draws: int, seed: int) -> Floats:
    """(draws, num_windows, horizon) forecasts with the weights of every row in random order."""
    generator = torch.Generator().manual_seed(seed)
    return np.stack([subject.forecast(reweigh=lambda _: Shuffled(generator)) for _ in range(draws)])


def uniform_swap(subject: Subject, reference: Reference, forecast: Floats, shuffled: Floats, naive_mae: float) -> Check:
    """Effect on forecast and MAE of giving every attended step the same weight.

    Args:
        subject: what is audited.
        reference: the forecasts as they are.
        forecast: those with equal weights.
        shuffled: those with weights in random order.
        naive_mae: MAE of seasonal-naive, below a share of which a rise does not matter.
    """
    moved = np.abs(forecast - reference.prediction)
    mae, mae_uniform = subject.mae(reference.prediction), subject.mae(forecast)
    random = [mae_uniform - subject.mae(each) for each in shuffled]
    distances = [float(np.abs(forecast - each).mean()) for each in shuffled]
    yardstick = Yardstick.of_draws(random, "weights in random order")
    rise = Statistic("mae_change", "rise of the MAE", mae_uniform - mae, "target", yardstick, "above")
    of_naive = rise.value / naive_mae if naive_mae > 0 else float("nan")
    chance = _chance(subject, reference.prediction, forecast)
    statistics = [
        *_change_of_forecast(
            subject, moved, "change of the forecast", Yardstick.of_draws(distances, "weights in random order")
        ),
        rise,
        Statistic("mae_change_relative", "rise of the MAE, relative", share_of(rise.value, mae), "share"),
        Statistic("mae_change_of_naive", "the same as a share of seasonal-naive's MAE", of_naive, "share"),
        Statistic("mae_change_chance", "exceeded by chance in one case of 20", chance, "target"),
    ]
    matters = rise.value >= max(SHARE_THAT_MATTERS * mae, MATTERS_IN_UNITS * naive_mae)
    passed = bool(rise.beats_chance) and matters and not rise.value <= chance
    verdict = _uniform_verdict(rise, chance, mae, naive_mae, passed)
    return Check("uniform_swap", "Equal weights", passed, verdict, statistics)


def _chance(subject: Subject, prediction: Floats, forecast: Floats) -> float:
    """Return what the rise of the MAE exceeds by chance in one case of 20."""
    errors, errors_changed = (np.abs(each - subject.actual) for each in (prediction, forecast))
    chosen = ~np.isnan(errors)
    within = chosen.any(axis=1)
    draws = stretches_of(subject)
    return chance_of_rise(errors[within], errors_changed[within], chosen[within], draws[within])


def permutation(subject: Subject, reference: Reference, shuffled: Floats) -> Check:
    """Effect on forecast and MAE of permuting the weights of a row over its lookback."""
    mae, maes = subject.mae(reference.prediction), np.array([subject.mae(each) for each in shuffled])
    moved = np.median(np.abs(shuffled - reference.prediction), axis=0)
    apart = [
        float(np.abs(one - other).mean()) for one, other in zip(shuffled, np.roll(shuffled, 1, axis=0), strict=True)
    ]
    as_good = float((maes <= mae).mean())
    rise = float(np.median(maes) - mae)
    yardstick = Yardstick.of_draws(apart, "two random orders against each other")
    statistics = [
        *_change_of_forecast(subject, moved, "median change of the forecast", yardstick),
        Statistic(
            "mae", "MAE of the model's own order", mae, "target", Yardstick.of_draws(maes, "random orders"), "below"
        ),
        Statistic("mae_change", "median rise of the MAE", rise, "target"),
        Statistic("as_good", "random orders that do as well", as_good, "share"),
        _sharpness(reference, moved),
    ]
    passed = as_good <= RARE and rise >= SHARE_THAT_MATTERS * mae
    verdict = _order_verdict(as_good, len(maes), rise, mae, subject.key)
    return Check("permutation", "Weights in random order", passed, verdict, statistics)


def _change_of_forecast(subject: Subject, moved: Floats, label: str, yardstick: Yardstick) -> list[Statistic]:
    """Mean of the distances that forecasts moved (num_windows, horizon), in the target's units and in deviations."""
    scaled = float((moved / subject.scale[:, None]).mean())
    return [
        Statistic("forecast_change", label, float(moved.mean()), "target", yardstick),
        Statistic("forecast_change_scaled", "the same in deviations of the series", scaled, "scale"),
    ]


def _sharpness(reference: Reference, moved: Floats) -> Statistic:
    """Test whether the forecasts with the largest weights change most (Jain & Wallace 2019, figure 6)."""
    largest = reference.weights.mean(axis=1).max(axis=-1).ravel().astype(np.float64)
    moved = _of_decoder_steps(moved, reference.weights.shape[2]).ravel()
    random = np.random.default_rng(0)
    yardstick = Yardstick.of_draws([spearman(random.permutation(largest), moved) for _ in range(50)], "random pairs")
    label = "rank correlation of the largest weight with the change"
    return Statistic("max_weight_correlation", label, spearman(largest, moved), "", yardstick)


def _of_decoder_steps(moved: Floats, num_steps: int) -> Floats:
    """(num_windows, num_steps) the mean of (num_windows, horizon) over the time steps of each step of the decoder."""
    length = -(-moved.shape[1] // num_steps)
    starts = np.arange(0, moved.shape[1], length)
    return np.asarray(np.add.reduceat(moved, starts, axis=1) / np.diff(np.append(starts, moved.shape[1])), np.float64)


def _uniform_verdict(rise: Statistic, chance: float, mae: float, naive_mae: float, passed: bool) -> str:
    change = f"with equal weights the MAE {change_of(share_of(rise.value, mae))} ({beside_chance(rise.value, chance)})"
    if passed:
        where = "on these windows " if np.isnan(chance) else ""  # which may be too few to tell it from chance
        return f"{change}: {where}the forecast needs these weights"
    if SHARE_THAT_MATTERS * mae <= rise.value < MATTERS_IN_UNITS * naive_mae:
        return f"{change}, which is {number(100 * rise.value / naive_mae)} % of seasonal-naive's MAE: next to nothing"
    if rise.value >= SHARE_THAT_MATTERS * mae and rise.value <= chance:
        return f"{change}: {why_untested(chance)}"
    if rise.value >= SHARE_THAT_MATTERS * mae:
        return f"{change}, but random weights are no worse: others would do as well"
    if rise.value < -SHARE_THAT_MATTERS * mae:
        return f"{change}: equal weights do better"
    return f"{change}: the forecast hardly needs these weights"


def _order_verdict(as_good: float, draws: int, rise: float, mae: float, key: str) -> str:
    change = f"in random order the median MAE {change_of(share_of(rise, mae))}"
    orders = f"{round(as_good * draws)} of {draws} random orders do as well"
    if as_good > RARE:
        return f"{change}, and {orders}: the order of the weights hardly matters"
    if rise < SHARE_THAT_MATTERS * mae:
        return f"{change}: the model's own order is hardly better"
    return f"{change}, and {orders}: it matters which {key} gets which weight"
