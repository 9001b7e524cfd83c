"""The reach of the state under the key with the largest weight, and whether the inputs that move the forecast lie near
it.

A weight belongs to a state, and a recurrent state carries what was read elsewhere. The reach is the gradient of what
the context vector takes from that key, in the direction that the forecast reads, by input step. An input that moves the
forecast although no weight lies near it arrives through the state of another key, or past the attention.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.audit.audit_results import Check, Statistic, Yardstick
from forecast_attn.audit.importance import differentiable_recurrence, read_inputs, varying_columns
from forecast_attn.audit.interventions import feeding
from forecast_attn.audit.ranking import Explained
from forecast_attn.audit.subject import Floats, Subject
from forecast_attn.audit.wording import counted_keys, per_cent, plural
from forecast_attn.data.windows import Window
from forecast_attn.forecasting.identifiability import recorded_memory

Flags = NDArray[np.bool_]
REACH_COST = 4
"""A forecast and two gradients."""
MOST = 0.9
"""Share of the gradient that the reach holds."""
NEAR = {"step": 2, "patch": 1}
"""Keys beside the one weighted: what "around this step" may mean."""
SHOWN = 0.75
"""Share of what moves the forecast that must lie near keys with weight."""
RANDOM_ORDERS = 20


class Reach(NamedTuple):
    """Values by distance from the key weighted most, in keys: -1 is the one before it."""

    distances: NDArray[np.int64]
    gradient: Floats
    """Mean over windows of its share at each distance; adds up to 1."""
    shown: float
    """Share of what moves the forecast that lies near a weight."""

    @property
    def before(self) -> int:
        """Keys before it that the reach holds."""
        return self._spread(-1)

    @property
    def after(self) -> int:
        return self._spread(1)

    def _spread(self, side: int) -> int:
        """Number of keys to one side that hold the required share of that side and the key itself."""
        one_side = self.gradient[self.distances * side >= 0]
        ordered = one_side if side > 0 else one_side[::-1]  # the key itself first
        held = np.cumsum(ordered)
        return int(np.searchsorted(held, MOST * held[-1])) if held[-1] > 0 else 0


def reach_check(subject: Subject, explained: Explained, seed: int) -> Check:
    """Measure the reach, and judge whether the weights show where the forecast gets its inputs."""
    gradient = state_gradients(subject, explained)
    near = NEAR[explained.key]
    reach = reach_of(explained, gradient, near)
    random = np.random.default_rng(seed)
    orders = [_in_random_order(explained.weights, explained.visible, random) for _ in range(RANDOM_ORDERS)]
    chance = [float(shown_by(order, explained, near).mean()) for order in orders]
    keys = plural(explained.key)
    shown = Statistic(
        "shown", f"moving inputs {counted_keys(near, explained.key)} or less from a weight", reach.shown, "share",
        Yardstick.of_draws(chance, "the weights in random order"), "above",
    )  # fmt: skip
    statistics = [
        shown,
        Statistic("reach_before", f"{keys} before the largest weight that hold nine tenths", reach.before),
        Statistic("reach_after", f"{keys} after it", reach.after),
    ]  # fmt: skip
    passed = bool(shown.beats_chance) and reach.shown >= SHOWN
    title = "Around the largest weight"
    return Check("reach", title, passed, _verdict(reach, explained, shown), statistics)


def _verdict(reach: Reach, explained: Explained, shown: Statistic) -> str:
    key, keys = explained.key, plural(explained.key)
    near = counted_keys(NEAR[key], key)
    if reach.shown >= SHOWN:
        there = (
            f"{per_cent(reach.shown)} of what moves the forecast lies at {keys} that, with {near} on either side, hold "
            "at least an equal share of the weight"
        )
        assert shown.yardstick is not None
        by_chance = f"with the weights in random order up to {per_cent(shown.yardstick.high)} does"
        return there if shown.beats_chance else f"{there}, but {by_chance}: it need not be these weights that show it"
    return (
        f"{per_cent(1 - reach.shown)} of what moves the forecast lies away from the weights (at {keys} that, even with "
        f"{near} on either side, hold less than an equal share): it may come through other states or bypass the "
        "attention"
    )


def reach_of(explained: Explained, gradient: Floats, near: int) -> Reach:
    """The gradient by distance from the key weighted most, and what is shown."""
    num_keys = explained.weights.shape[1]
    distances = np.arange(1 - num_keys, num_keys)
    tops = explained.weights.argmax(axis=1)
    profile = np.zeros(len(distances))
    # Each row is moved so that the key weighted most lies in the middle, at distance 0.
    for top, shares in zip(tops, _shares(gradient), strict=True):
        profile[num_keys - 1 - top : 2 * num_keys - 1 - top] += shares
    return Reach(distances, profile / len(tops), float(shown_by(explained.weights, explained, near).mean()))


def shown_by(weights: Floats, explained: Explained, near: int) -> Floats:
    """(num_windows,) share of the squared movements by inputs near which these weights lie."""
    energy = _shares(np.square(explained.importances["input_occlusion"]))
    return np.asarray(np.where(_covered(weights, explained.visible, near), energy, 0).sum(axis=1))


def _covered(weights: Floats, visible: Flags, near: int) -> Flags:
    """(num_windows, num_keys) where the weights within `near` keys are at least what equal ones would be there.

    Nowhere outside a local window: no weight can lie there.
    """
    equal = _around(visible / np.maximum(visible.sum(axis=1, keepdims=True), 1), near)
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray((_around(weights, near) >= equal * total * (1 - 1e-6)) & (equal > 0))


def _around(values: Floats, near: int) -> Floats:
    """The sum of each key's and its neighbours' values."""
    padded = np.pad(values, ((0, 0), (near, near)))
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * near + 1, axis=1).sum(axis=-1))


def _shares(values: Floats) -> Floats:
    """Rows that add up to 1; zeros where there is nothing."""
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(values, total, out=np.zeros_like(values), where=total > 0))


def _in_random_order(weights: Floats, visible: Flags, random: np.random.Generator) -> Floats:
    mixed = np.zeros_like(weights)
    for row, (values, seen) in enumerate(zip(weights, visible, strict=True)):
        mixed[row, seen] = random.permutation(values[seen])
    return mixed


def state_gradients(subject: Subject, explained: Explained) -> Floats:
    """(num_windows, num_keys) how much each input changes what the forecast takes from the key weighted most.

    The forecast of the explained step is differentiated with respect to what is weighed, which gives the direction it
    reads; then the value at the key weighted most, in that direction, with respect to the inputs. Columns count by
    their deviation over windows and keys.
    """
    varying = varying_columns(subject)
    parts = [
        _batch_gradients(subject, window, explained.steps[rows], explained.weights[rows].argmax(axis=1), varying)
        for rows, window in subject.batches()
    ]
    subject.on_forecast(REACH_COST)
    return np.concatenate(parts)


def _batch_gradients(
    subject: Subject, window: Window, steps: NDArray[np.int64], tops: NDArray[np.int64], varying: Tensor
) -> Floats:
    """The same of a batch of windows, with the step that is explained and the key weighted most of each."""
    network, attention, device = subject.model.network, subject.attention, subject.device
    (read,) = read_inputs(subject, [window])
    inputs = read.detach().requires_grad_(True)
    ahead, top = (torch.from_numpy(each).to(device)[:, None] for each in (steps, tops))
    with torch.enable_grad(), differentiable_recurrence(), recorded_memory(attention) as memories:
        with feeding(network, lambda _: inputs):
            forecast = network(window, need_weights=False).prediction.gather(1, ahead).sum()
        value = memories[0].value
        # How the forecast reads each value; then, of the key weighted most alone, how the inputs change that reading.
        (direction,) = torch.autograd.grad(forecast, value, retain_graph=True)
        only = torch.zeros(len(tops), value.shape[1], device=device).scatter(1, top, 1.0)
        only = only.repeat_interleave(attention.score.heads, dim=0)[..., None]
        (gradient,) = torch.autograd.grad(value, inputs, direction * only)
    deviation = read.std(dim=(0, 1), correction=0) * varying
    return np.asarray((gradient * deviation).square().sum(dim=-1).sqrt().double().cpu().numpy(), np.float64)
