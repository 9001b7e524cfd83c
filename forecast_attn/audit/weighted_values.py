"""The values that the weights multiply: whether other weights give the same context vectors, and the values' sizes.

Sources: Brunner et al. 2020 (identifiability, effective attention), Kobayashi et al. 2020 (norms of weighted values).
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from forecast_attn.audit.audit_results import Check, Statistic, Yardstick
from forecast_attn.audit.ranking import Explained, agreements
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.wording import per_cent, plural
from forecast_attn.forecasting.identifiability import attention_values, is_identifiable

RANDOM_ORDERS = 20


def values_check(
    subject: Subject, reference: Reference, explained: Explained, seed: int
) -> tuple[Check, dict[str, Floats]]:
    """Rank of the values, norm-weighted and effective attention; and the latter two (num_windows, num_keys)."""
    ranks, norms, effective, shares, chance = [], [], [], [], []
    generator = torch.Generator().manual_seed(seed)
    for rows, _ in subject.batches():
        values = attention_values(subject.model, subject.arrays, subject.cutoffs[rows]).cpu().double()
        weights = _weights_of_steps(reference, explained, rows)
        bases, numerical_rank = column_spaces(values)
        ranks.append(numerical_rank.double().mean(dim=1))
        norms.append(norm_weighted(subject, values, weights))
        seen = effective_weights(bases, weights)
        effective.append(seen.mean(dim=1))
        shares.append(_share(seen, weights))
        chance.append([_share(effective_weights(bases, w), w) for w in _in_random_order(weights, generator)])
    explanations = {"norm_weighted": _joined(norms), "effective": _joined(effective)}
    rank = float(torch.cat(ranks).median())
    statistics = _statistics(rank, torch.cat(shares), [torch.cat(draw) for draw in zip(*chance, strict=True)])
    for name, label in (("norm_weighted", "norms of weighted values"), ("effective", "effective attention")):
        statistics += agreements(explained, name, label, explanations[name], seed)
    verdict = _verdict(rank, reference, statistics, explained.key)
    return Check("values", "Weighted values", None, verdict, statistics), explanations


def norm_weighted(
    subject: Subject,
    values: Float[Tensor, "batch heads num_keys size"],
    weights: Float[Tensor, "batch heads num_keys"],
) -> Float[Tensor, "batch num_keys"]:
    """Norm of what each key adds to the context vector, heads merged."""
    score = subject.attention.score
    added = (weights[..., None] * values).flatten(0, 1).float().to(subject.device)
    with torch.inference_mode():
        norms: Tensor = score.merge_heads(added).norm(dim=-1).double().cpu()
    return norms


def column_spaces(
    values: Float[Tensor, "batch heads num_keys size"],
) -> tuple[Float[Tensor, "batch heads num_keys width"], Int[Tensor, "batch heads"]]:
    """Orthonormal bases of what the values span, a column each, zeros beyond the rank, and the ranks.

    The values were computed in float32; the tolerance is float32's, as in numpy.linalg.matrix_rank.
    """
    left, singular, _ = torch.linalg.svd(values, full_matrices=False)
    tolerance = singular[..., :1] * max(values.shape[-2:]) * torch.finfo(torch.float32).eps
    present = singular > tolerance
    return left * present[..., None, :], present.sum(dim=-1)


def effective_weights(
    bases: Float[Tensor, "batch heads num_keys width"], weights: Float[Tensor, "batch heads num_keys"]
) -> Float[Tensor, "batch heads num_keys"]:
    """The part of the weights that the context vector can see: without their component in the left null space of V.

    Args:
        bases: of `column_spaces`.
        weights: after the normaliser.
    """
    # B Bᵀ w: the weights projected onto what the values span; the rest adds up to nothing.
    return torch.einsum("bhls,bhs->bhl", bases, torch.einsum("bhls,bhl->bhs", bases, weights))


def _share(seen: Tensor, weights: Tensor) -> Tensor:
    """(batch,) squared length of the visible part as a share of the whole's, mean over heads."""
    whole = weights.square().sum(dim=-1)
    return torch.where(whole > 0, seen.square().sum(dim=-1) / whole.clamp(min=1e-300), 0.0).mean(dim=1)


def _weights_of_steps(reference: Reference, explained: Explained, rows: slice) -> Float[Tensor, "batch heads num_keys"]:
    weights, steps = torch.from_numpy(reference.weights[rows]).double(), torch.from_numpy(explained.decoder_steps[rows])
    return weights[torch.arange(len(weights)), :, steps]


def _in_random_order(weights: Tensor, generator: torch.Generator) -> list[Tensor]:
    orders = (torch.rand(weights.shape, generator=generator).argsort(dim=-1) for _ in range(RANDOM_ORDERS))
    return [weights.gather(-1, order) for order in orders]


def _joined(parts: list[Tensor]) -> Floats:
    return np.asarray(torch.cat(parts).numpy(), np.float64)


def _statistics(rank: float, shares: Tensor, chance: list[Tensor]) -> list[Statistic]:
    draws = [float(draw.mean()) for draw in chance]
    yardstick = Yardstick.of_draws(draws, "the weights in random order")
    label = "squared weights: share the context vector sees"
    return [
        Statistic("rank", "rank of the values, median over windows", rank),
        Statistic("effective_share", label, float(shares.mean()), "share", yardstick),
    ]


def _verdict(rank: float, reference: Reference, statistics: list[Statistic], key: str) -> str:
    num_keys, keys = reference.weights.shape[-1], plural(key)
    among = f"lookback {num_keys}" if key == "step" else f"{num_keys} {keys}"
    by_name = {statistic.name: statistic for statistic in statistics}
    overlap = by_name["norm_weighted_overlap"].value
    norms = f"weighted by the size of the values, {per_cent(overlap)} of the top {keys} stay on top"
    if is_identifiable(num_keys, round(rank)):
        return f"no other weights give the same context vectors (rank {rank:.0f}, {among}); {norms}"
    return (
        "other weights of the same sum, some perhaps negative, give the very same context vectors "
        f"(rank {rank:.0f} of the values, {among}); {norms}"
    )
