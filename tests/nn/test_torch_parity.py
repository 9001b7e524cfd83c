"""scaled-dot and multi-head are those of torch, and the fused kernel gives what the explicit path gives."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from forecast_attn.nn.attention import Attention, AttentionOutput
from forecast_attn.nn.scores import GeneralScore, MultiHeadScore, ScaledDotScore, make_score

BATCH, QUERY_LEN, KEY_LEN, SIZE, KEY_SIZE, HEADS = 3, 5, 7, 12, 10, 4

LIMITS = {torch.float32: 3e-6, torch.float64: 1e-12}
DTYPES = pytest.mark.parametrize("dtype", list(LIMITS), ids=str)
MASKS = pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])


def inputs(dtype: torch.dtype, masked: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    generator = torch.Generator().manual_seed(2)
    query = torch.randn(BATCH, QUERY_LEN, SIZE, generator=generator, dtype=dtype, requires_grad=True)
    value = torch.randn(BATCH, KEY_LEN, KEY_SIZE, generator=generator, dtype=dtype, requires_grad=True)
    mask = torch.arange(KEY_LEN) < torch.tensor([KEY_LEN, 4, 1])[:, None]
    return query, value, mask if masked else None


def assert_close(actual: Any, reference: Any, dtype: torch.dtype) -> None:
    torch.testing.assert_close(actual, reference, atol=LIMITS[dtype], rtol=0)


def torch_twin(score: MultiHeadScore) -> nn.MultiheadAttention:
    twin = nn.MultiheadAttention(SIZE, HEADS, bias=False, kdim=KEY_SIZE, vdim=KEY_SIZE, batch_first=True)
    twin.q_proj_weight = score.query_projection.weight
    twin.k_proj_weight = score.key_projection.weight
    twin.v_proj_weight = score.value_projection.weight
    twin.out_proj.weight = score.output_projection.weight
    return twin


@DTYPES
@MASKS
def test_multi_head_is_torch_multihead_attention(dtype: torch.dtype, masked: bool) -> None:
    query, value, mask = inputs(dtype, masked)
    score = MultiHeadScore(SIZE, KEY_SIZE, SIZE, HEADS).to(dtype)
    padding = None if mask is None else ~mask  # True means the opposite there
    reference = torch_twin(score)(query, value, value, key_padding_mask=padding, average_attn_weights=False)
    actual = Attention(score)(query, value, mask=mask)
    assert_same_attention(actual, reference, [query, value, *score.parameters()], dtype)


def sdpa(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: float) -> tuple[Tensor, Tensor]:
    """Output of torch's fused attention, and its weights: what it gives when the values are the unit matrix."""
    allowed = None if mask is None else mask[:, None]
    units = torch.eye(KEY_LEN, dtype=value.dtype).expand(BATCH, -1, -1)
    output, weights = (
        F.scaled_dot_product_attention(query, key, each, attn_mask=allowed, **options) for each in (value, units)
    )
    return output, weights[:, None]


def assert_same_attention(
    actual: AttentionOutput, reference: tuple[Tensor, Tensor], leaves: list[Tensor], dtype: torch.dtype
) -> None:
    """Outputs, weights, and the gradients of a function of both."""
    assert_close(tuple(actual), reference, dtype)
    gradients = [
        torch.autograd.grad(output[0].sin().sum() + output[1].cos().sum(), leaves) for output in (actual, reference)
    ]
    torch.testing.assert_close(*gradients, atol=2e-11 if dtype == torch.float64 else 1e-5, rtol=0)


@DTYPES
@MASKS
def test_scaled_dot_is_torch_scaled_dot_product_attention(dtype: torch.dtype, masked: bool) -> None:
    query, value, mask = inputs(dtype, masked)
    score = ScaledDotScore(SIZE, KEY_SIZE, 6).to(dtype)
    reference = sdpa(score.query_projection(query), score.key_projection(value), value, mask)
    leaves = [query, value, *score.parameters()]
    assert_same_attention(Attention(score)(query, value, mask=mask), reference, leaves, dtype)


@DTYPES
@MASKS
def test_luong_general_is_torch_attention_with_scale_one(dtype: torch.dtype, masked: bool) -> None:
    query, value, mask = inputs(dtype, masked)
    score = GeneralScore(SIZE, KEY_SIZE).to(dtype)
    reference = sdpa(query @ score.weight, value, value, mask, scale=1.0)
    leaves = [query, value, *score.parameters()]
    assert_same_attention(Attention(score)(query, value, mask=mask), reference, leaves, dtype)


@DTYPES
@MASKS
@pytest.mark.parametrize("name", ["general", "scaled-dot", "multi-head"])
def test_declining_the_weights_changes_nothing_else(name: str, dtype: torch.dtype, masked: bool) -> None:
    query, value, mask = inputs(dtype, masked)
    if mask is not None:
        mask = mask.clone()
        mask[2] = False
    sizes = {"query_size": SIZE, "key_size": KEY_SIZE, "attention_size": 8, "heads": HEADS, "key_length": KEY_LEN}
    attention = Attention(make_score(name, **sizes)).to(dtype)
    memory = attention.prepare(value, mask=mask)
    fused = attention.attend(query, memory, need_weights=False)
    explicit = attention.attend(query, memory)
    assert fused.weights is None
    assert_close(fused.context_vector, explicit.context_vector, dtype)
    gradients = [gradients_of(output, [query, value]) for output in (fused, explicit)]
    torch.testing.assert_close(*gradients, atol=2e-11 if dtype == torch.float64 else 1e-5, rtol=0)


def gradients_of(output: AttentionOutput, leaves: list[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(output.context_vector.sin().sum(), leaves, retain_graph=True)
