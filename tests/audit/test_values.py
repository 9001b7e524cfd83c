"""Identifiability, effective and norm-weighted attention, against numpy."""

import numpy as np
import pytest
import torch

from forecast_attn.audit.ranking import explain
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.weighted_values import column_spaces, effective_weights, norm_weighted, values_check
from forecast_attn.forecasting.identifiability import attention_values

from ..nn.small_networks import make_network

BATCH, HEADS, LOOKBACK, SIZE = 3, 2, 9, 4


def values_and_weights() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(BATCH, HEADS, LOOKBACK, SIZE, generator=generator, dtype=torch.float64)
    values[1] = values[1, :, :, :1] @ torch.ones(1, SIZE, dtype=torch.float64)  # of rank 1
    weights = torch.randn(BATCH, HEADS, LOOKBACK, generator=generator, dtype=torch.float64).softmax(dim=-1)
    return values, weights


def test_effective_weights_are_without_the_left_null_space() -> None:
    """The projector onto the columns of V is V V⁺; what is left gives the same context vector."""
    values, weights = values_and_weights()
    bases, ranks = column_spaces(values)
    actual = effective_weights(bases, weights).numpy()
    assert ranks.tolist() == np.linalg.matrix_rank(values.numpy()).tolist()
    for b in range(BATCH):
        for h in range(HEADS):
            v = values[b, h].numpy()
            expected = v @ np.linalg.pinv(v) @ weights[b, h].numpy()
            np.testing.assert_allclose(actual[b, h], expected, atol=1e-10)
            np.testing.assert_allclose(actual[b, h] @ v, weights[b, h].numpy() @ v, atol=1e-10)
    assert np.abs(actual - weights.numpy()).max() > 0.05


@pytest.mark.parametrize("name", ["luong-general", "multi-head"])
def test_norm_weighted_attention_is_the_length_of_each_part_of_the_context_vector(name: str) -> None:
    network = make_network(name).float()
    score = network.decoder.attention.score
    memory = torch.randn(2, LOOKBACK, network.encoder.memory_size)
    values = score.prepare_value(memory).view(2, score.heads, LOOKBACK, -1).double()
    weights = torch.rand(2, score.heads, LOOKBACK, dtype=torch.float64)

    class _Subject:
        attention, device = network.decoder.attention, torch.device("cpu")

    actual = norm_weighted(_Subject(), values, weights).numpy()  # type: ignore[arg-type]
    for b in range(2):
        for j in range(LOOKBACK):
            parts = [weights[b, h, j].item() * values[b, h, j].detach().numpy() for h in range(score.heads)]
            added = np.concatenate(parts)
            if name == "multi-head":
                added = score.output_projection.weight.detach().numpy() @ added
            assert actual[b, j] == pytest.approx(np.sqrt((added**2).sum()), rel=1e-5)


@pytest.mark.slow
def test_the_rank_is_numpy_s(subject: Subject) -> None:
    reference = subject.reference_forecasts()
    check, result = values_check(subject, reference, explain(subject, reference), seed=0)
    values = attention_values(subject.model, subject.arrays, subject.cutoffs)[:, 0].numpy()
    assert check["rank"].value == np.median(np.linalg.matrix_rank(values))
    assert check["rank"].value == 10
    assert "give the very same context vectors (rank 10" in check.verdict
    assert check["effective_share"].value <= 1
    assert {name: rows.shape for name, rows in result.items()} == dict.fromkeys(("norm_weighted", "effective"), (6, 14))
