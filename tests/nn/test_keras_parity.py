"""Our keras-additive and keras-dot are the layers of Keras 3 itself, run on its torch backend."""

import os
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from forecast_attn.nn import additive_kernel
from forecast_attn.nn.attention import Attention
from forecast_attn.nn.scores import AdditiveScore, DotScore, GeneralScore, KerasAdditiveScore, Score

# Large enough for additive scores to be computed in blocks.
BATCH, QUERY_LEN, KEY_LEN, SIZE, VALUE_SIZE = 3, 48, 60, 48, 6

TOLERANCE = {torch.float32: 3e-6, torch.float64: 1e-12}
DTYPES = pytest.mark.parametrize("dtype", list(TOLERANCE), ids=str)
MASKS = pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])


@pytest.fixture(scope="module")
def keras() -> Any:
    """Keras on torch, with float64 meant as float64 (it is silently float32 otherwise)."""
    os.environ["KERAS_BACKEND"] = "torch"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module = pytest.importorskip("keras", reason="Keras is not installed")
        from keras.src.backend.common import dtypes
    if module.backend.backend() != "torch":
        pytest.skip("Keras was imported before with another backend")
    patch = pytest.MonkeyPatch()
    patch.setitem(dtypes.BIT64_TO_BIT32_DTYPE, "float64", "float64")
    yield module
    patch.undo()


def inputs(dtype: torch.dtype, masked: bool, query_size: int = SIZE) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Query, value, key and mask; every row of the mask keeps a key."""
    generator = torch.Generator().manual_seed(1)
    shapes = (QUERY_LEN, query_size), (KEY_LEN, VALUE_SIZE), (KEY_LEN, SIZE)
    query, value, key = (torch.randn(BATCH, *shape, generator=generator, dtype=dtype) for shape in shapes)
    lengths = torch.tensor([KEY_LEN, 14, 1])
    return query, value, key, torch.arange(KEY_LEN) < lengths[:, None] if masked else None


def keras_call(layer: Any, query: Tensor, value: Tensor, key: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    context_vector, weights = layer(
        [query, value, key], mask=None if mask is None else [None, mask], return_attention_scores=True
    )
    assert context_vector.dtype == query.dtype
    return context_vector, weights


def test_sizes_reach_the_blocks() -> None:
    assert BATCH * QUERY_LEN * KEY_LEN * SIZE > additive_kernel._FEW


def our_call(score: Score, mask: Tensor | None) -> Any:
    def call(query: Tensor, value: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        output = Attention(score)(query, value, key, mask)
        return output.context_vector, output.weights[:, 0]

    return call


def assert_equal_with_gradients(actual: Any, reference: Any, inputs: tuple[Tensor, ...], dtype: torch.dtype) -> None:
    """Context vectors, weights, and in float64 the gradients of the inputs for a loss that uses both."""
    results = []
    for call in (actual, reference):
        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        context_vector, weights = call(*leaves)
        loss = context_vector.sin().sum() + (weights * torch.arange(KEY_LEN, dtype=dtype)).cos().sum()
        results.append(((context_vector, weights), torch.autograd.grad(loss, leaves)))
    (our_output, our_gradients), (their_output, their_gradients) = results
    torch.testing.assert_close(our_output, their_output, atol=TOLERANCE[dtype], rtol=0)
    if dtype == torch.float64:
        torch.testing.assert_close(our_gradients, their_gradients, atol=2e-11, rtol=0)


@DTYPES
@MASKS
@pytest.mark.parametrize("use_scale", [True, False])
@pytest.mark.slow
def test_keras_additive(keras: Any, dtype: torch.dtype, masked: bool, use_scale: bool) -> None:
    query, value, key, mask = inputs(dtype, masked)
    layer = keras.layers.AdditiveAttention(use_scale=use_scale, dtype=str(dtype).removeprefix("torch."))
    keras_call(layer, query, value, key, mask)
    score = KerasAdditiveScore(SIZE, use_scale=use_scale, value_size=VALUE_SIZE).to(dtype)
    if use_scale:
        assert score.vector is not None
        layer.set_weights([score.vector.detach().numpy()])
    assert_equal_with_gradients(
        our_call(score, mask), lambda q, v, k: keras_call(layer, q, v, k, mask), (query, value, key), dtype
    )


@DTYPES
@MASKS
@pytest.mark.parametrize("use_scale", [True, False])
def test_keras_dot(keras: Any, dtype: torch.dtype, masked: bool, use_scale: bool) -> None:
    query, value, key, mask = inputs(dtype, masked)
    layer = keras.layers.Attention(use_scale=use_scale, dtype=str(dtype).removeprefix("torch."))
    keras_call(layer, query, value, key, mask)
    score = DotScore(SIZE, learned_scale=use_scale, value_size=VALUE_SIZE).to(dtype)
    if score.factor is not None:
        layer.set_weights([np.array(0.7)])
        score.factor.data.fill_(0.7)
    assert_equal_with_gradients(
        our_call(score, mask), lambda q, v, k: keras_call(layer, q, v, k, mask), (query, value, key), dtype
    )


def test_key_defaults_to_the_value(keras: Any) -> None:
    query, _, key, mask = inputs(torch.float32, True)
    layer = keras.layers.Attention()
    context_vector, weights = layer([query, key], mask=[None, mask], return_attention_scores=True)
    output = Attention(DotScore(SIZE))(query, key, mask=mask)
    torch.testing.assert_close(output.context_vector, context_vector, atol=3e-6, rtol=0)
    torch.testing.assert_close(output.weights[:, 0], weights, atol=3e-6, rtol=0)


@DTYPES
@MASKS
def test_bahdanau_is_keras_additive_of_the_projections(keras: Any, dtype: torch.dtype, masked: bool) -> None:
    query, value, key, mask = inputs(dtype, masked, query_size=5)
    score = AdditiveScore(5, SIZE, 50, value_size=VALUE_SIZE).to(dtype)
    layer = keras.layers.AdditiveAttention(dtype=str(dtype).removeprefix("torch."))
    layer([torch.zeros(1, 2, 50, dtype=dtype)] * 2)
    layer.set_weights([score.vector.detach().numpy()])
    W_a, U_a = score.query_projection.weight, score.key_projection.weight

    def reference(query: Tensor, value: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return keras_call(layer, query @ W_a.T, value, key @ U_a.T, mask)

    assert_equal_with_gradients(our_call(score, mask), reference, (query, value, key), dtype)


@DTYPES
@MASKS
def test_luong_general_is_keras_dot_of_the_projected_query(keras: Any, dtype: torch.dtype, masked: bool) -> None:
    query, value, key, mask = inputs(dtype, masked, query_size=5)
    score = GeneralScore(5, SIZE, value_size=VALUE_SIZE).to(dtype)
    layer = keras.layers.Attention(dtype=str(dtype).removeprefix("torch."))

    def reference(query: Tensor, value: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        return keras_call(layer, query @ score.weight, value, key, mask)

    assert_equal_with_gradients(our_call(score, mask), reference, (query, value, key), dtype)
