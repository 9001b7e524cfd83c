"""What training minimises: an elementwise loss over the known steps of the horizon, weighted by series."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

LOSSES: dict[str, Callable[..., Tensor]] = {"mae": F.l1_loss, "mse": F.mse_loss, "huber": F.huber_loss}


def mean_loss(
    name: str,
    prediction: Float[Tensor, "batch horizon"],
    target: Float[Tensor, "batch horizon"],
    weight: Float[Tensor, "batch"] | None,
) -> Float[Tensor, ""]:
    """Mean of the loss over the steps whose target is known.

    Args:
        name: mae, mse or huber.
        prediction: on the series' scale.
        target: the same, NaN where missing.
        weight: of each window; None where all weigh 1 and no target is missing.
    """
    if weight is None:
        return LOSSES[name](prediction, target)
    known = ~torch.isnan(target)
    return (window_losses(name, prediction, target) * weight).sum() / known.sum()


def window_losses(
    name: str, prediction: Float[Tensor, "batch horizon"], target: Float[Tensor, "batch horizon"]
) -> Float[Tensor, "batch"]:
    """Each window's sum of the loss over its known steps."""
    known = ~torch.isnan(target)
    # Filled with the prediction itself, a missing step has no loss and no gradient.
    return LOSSES[name](prediction, torch.where(known, target, prediction.detach()), reduction="none").sum(dim=1)
