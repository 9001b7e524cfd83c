"""The course of the learning rate from the first step to the last."""

from __future__ import annotations

import math

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

WARMUP_SHARES = {"one-cycle": 0.3, "cosine": 0.05}
"""Share of the steps in which the rate rises, by schedule, where `--warmup` does not say; no other schedule has one."""


def scheduler_of(
    schedule: str, optimiser: Optimizer, *, highest: float, total_steps: int, warmup: float | None
) -> LRScheduler | None:
    """What moves the learning rate after every step; None where it stays.

    one-cycle is PyTorch's with its defaults: half a cosine up from highest / 25, half a cosine down to
    highest / 250,000, and AdamW's beta1 the other way, from 0.95 to 0.85 and back. (Smith and Topin 2019,
    "Super-convergence"; the cosine and these numbers are the fastai library's.) cosine is `cosine_share`.

    Args:
        schedule: constant, one-cycle or cosine.
        optimiser: with the rate `highest`.
        highest: learning rate at the peak.
        total_steps: steps of the whole training.
        warmup: share of the steps in which the rate rises, from 0 to below 1; the schedule's own when None.
    """
    if schedule == "constant":
        return None
    rising = WARMUP_SHARES[schedule] if warmup is None else warmup
    if schedule == "one-cycle":
        return OneCycleLR(optimiser, highest, total_steps, pct_start=rising)
    warmup_steps = min(round(rising * total_steps), total_steps - 1)
    return LambdaLR(optimiser, lambda step: cosine_share(step, warmup_steps=warmup_steps, total_steps=total_steps))


def cosine_share(step: int, *, warmup_steps: int, total_steps: int) -> float:
    """Share of the highest learning rate at a step, counted from 0: a line up, then half a cosine down.

    The line reaches 1 at step `warmup_steps`; the cosine would reach 0 at step `total_steps`, which is not taken.
    (Loshchilov and Hutter 2017, "SGDR", eq. 5, without restarts; the linear warm-up of Goyal et al. 2017, "Accurate,
    large minibatch SGD", section 2.2.)
    """
    if step < warmup_steps:
        return (step + 1) / (warmup_steps + 1)
    done = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))
