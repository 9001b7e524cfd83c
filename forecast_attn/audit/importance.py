"""Other explanations of the same forecasts: occlusion of a step, and gradients.

Each function returns the importance of every lookback step (num_windows, num_keys) for one step ahead of each window;
of patches that of each as a whole, for one of the time steps ahead. Occlusion of a state hides it from the attention.
Occlusion of an input sets what the encoder reads at a step (its target and covariates, scaled) to 0: the level of the
window's last season, or a covariate's mean. The position of the step and what is constant over the window stay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.audit.interventions import HiddenKeys, feeding
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.data.windows import Window

Steps = NDArray[np.int64]
INTEGRATION_POINTS = 32
GRADIENT_COST = 3
"""A gradient takes about as long as three forecasts."""


def state_occlusion(subject: Subject, reference: Reference, steps: Steps) -> Floats:
    """Absolute change of the forecast when the attention cannot see a step's state."""

    def hide(key: int) -> Callable[[slice], HiddenKeys]:
        def hidden(rows: slice) -> HiddenKeys:
            chosen = np.zeros_like(reference.visible[rows])
            chosen[..., key] = True
            return HiddenKeys(torch.from_numpy(chosen).to(subject.device))

        return hidden

    forecasts = (subject.forecast(reweigh=hide(key)) for key in range(reference.weights.shape[-1]))
    return _movements(forecasts, reference, steps)


def input_occlusion(subject: Subject, reference: Reference, steps: Steps, varying: Tensor) -> Floats:
    """Absolute change of the forecast when the encoder reads zeros at a step, in the columns that vary."""

    def blank(key: int) -> Callable[[slice, Tensor], Tensor]:
        def blanked(rows: slice, inputs: Tensor) -> Tensor:
            inputs = inputs.clone()
            inputs[:, key, varying] = 0
            return inputs

        return blanked

    forecasts = (subject.forecast(change=blank(key)) for key in range(reference.weights.shape[-1]))
    return _movements(forecasts, reference, steps)


def gradient_input(subject: Subject, steps: Steps, varying: Tensor) -> Floats:
    """Gradient × input, added up over what the encoder reads at a step, without its sign."""
    parts = []
    for rows, window in subject.batches():
        function, inputs, baseline = path_function(subject, window, steps[rows], varying)
        (gradient,) = _gradients(function, [inputs])
        parts.append(_by_step(gradient * (inputs - baseline)))
    subject.on_forecast(GRADIENT_COST)
    return np.concatenate(parts)


def integrated_gradients(subject: Subject, steps: Steps, varying: Tensor) -> tuple[Floats, float]:
    """Integrated gradients (Sundararajan et al. 2017), without their sign.

    Returns:
        Importances (num_windows, num_keys), and the convergence delta: mean absolute difference between the sum of a
        window's attributions and the change of its forecast from the baseline, as a share of the mean absolute change.
    """
    parts, missed, changes = [], [], []
    for rows, window in subject.batches():
        function, inputs, baseline = path_function(subject, window, steps[rows], varying)
        (attribution,) = integrate(function, [inputs], [baseline])
        with torch.no_grad():
            change = function(inputs) - function(baseline)
        parts.append(_by_step(attribution))
        missed.append((attribution.sum(dim=(1, 2)) - change).abs())
        changes.append(change.abs())
    subject.on_forecast(GRADIENT_COST * INTEGRATION_POINTS)
    total = float(torch.cat(changes).mean())
    delta = float(torch.cat(missed).mean()) / total if total > 0 else float("nan")
    return np.concatenate(parts), delta


def integrate(
    function: Callable[..., Tensor],
    inputs: Sequence[Tensor],
    baseline: Sequence[Tensor],
    points: int = INTEGRATION_POINTS,
    at_once: int = 1,
) -> list[Tensor]:
    """Gradients along the straight path from the baseline to the inputs, by Gauss–Legendre quadrature, times the way.

    Args:
        function: inputs, the batch once for each point -> one number per row (points at once * batch,).
        inputs: where the path ends, each (batch, ...).
        baseline: where it starts.
        points: of the quadrature.
        at_once: points that the function is asked for together.

    Returns:
        Attributions in float64, one tensor like each of the inputs; 0 to those that the function does not read.
    """
    nodes, masses = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(points))
    ways = [end - start for end, start in zip(inputs, baseline, strict=True)]
    totals = [torch.zeros_like(way, dtype=torch.float64) for way in ways]
    for first in range(0, points, at_once):
        shares, weights = (nodes[first : first + at_once] + 1) / 2, masses[first : first + at_once] / 2
        path = [
            (start + shares.to(way).view(-1, *(1,) * way.ndim) * way).flatten(0, 1)
            for start, way in zip(baseline, ways, strict=True)
        ]
        for total, gradient in zip(totals, _gradients(function, path), strict=True):
            total += torch.tensordot(weights.to(total), gradient.double().reshape(len(shares), *total.shape), dims=1)
    return [total * way for total, way in zip(totals, ways, strict=True)]


def path_function(
    subject: Subject, window: Window, steps: Steps, varying: Tensor
) -> tuple[Callable[[Tensor], Tensor], Tensor, Tensor]:
    """Function from the encoder's inputs to the forecast of a step per window, on the scale of its series; inputs and
    baseline.
    """
    network = subject.model.network
    ahead = torch.from_numpy(steps).to(subject.device)[:, None]

    def function(inputs: Tensor) -> Tensor:
        with feeding(network, lambda _: inputs):
            prediction: Tensor = network(window, need_weights=False).prediction
        return prediction.gather(1, ahead)[:, 0]

    (inputs,) = read_inputs(subject, [window])
    baseline = inputs.clone()
    baseline[..., varying] = 0
    return function, inputs, baseline


def varying_columns(subject: Subject) -> Tensor:
    """Mask (input_size,) of the encoder's inputs that vary within some window, but not the position, which is last."""
    network = subject.model.network
    varying: Tensor | None = None
    for inputs in read_inputs(subject, (window for _, window in subject.batches())):
        varies = (inputs != inputs[:, :1]).any(dim=1).any(dim=0)
        varying = varies if varying is None else varying | varies
    assert varying is not None
    varying[-network.past_position.shape[1] :] = False
    return varying


def read_inputs(subject: Subject, windows: Iterator[Window] | list[Window]) -> Iterator[Tensor]:
    """Inputs of the encoder for the windows."""
    for window in windows:
        read: list[Tensor] = []

        def record(inputs: Tensor, read: list[Tensor] = read) -> Tensor:
            read.append(inputs)
            return inputs

        with torch.no_grad(), feeding(subject.model.network, record):
            subject.model.network(window, need_weights=False)
        yield read[0]


def _gradients(function: Callable[..., Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """Gradients of each row's number with respect to that row of the inputs; 0 for those that are not read."""
    inputs = [each.detach().requires_grad_(True) for each in inputs]
    with torch.enable_grad(), differentiable_recurrence():
        return list(torch.autograd.grad(function(*inputs).sum(), inputs, materialize_grads=True))


def differentiable_recurrence() -> contextlib.AbstractContextManager[None]:
    """Context without cuDNN, which differentiates recurrent layers in training mode only."""
    flags: contextlib.AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=False)
    return flags


def _by_step(attribution: Float[Tensor, "batch num_keys input_size"]) -> Floats:
    return np.asarray(attribution.sum(dim=-1).abs().double().cpu().numpy(), np.float64)


def _movements(forecasts: Iterator[Floats], reference: Reference, steps: Steps) -> Floats:
    """|Δ forecast| of each window's own step, one column per forecast."""
    rows = np.arange(len(steps))
    before = reference.prediction[rows, steps]
    return np.stack([np.abs(forecast[rows, steps] - before) for forecast in forecasts], axis=1)
