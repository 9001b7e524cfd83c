"""The blocked pair function is the naive one, in value, gradient and every block size, and keeps little."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from forecast_attn.nn.additive_kernel import additive_scores, exponential

FORMS = pytest.mark.parametrize("form", ["exponentials", "sums"])


def operands(batch: int = 2, query_len: int = 5, key_len: int = 7, size: int = 3) -> tuple[Tensor, Tensor, Tensor]:
    shapes = (batch, query_len, size), (batch, key_len, size), (size,)
    query, key, vector = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    return query, key, vector


def naive(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
    return torch.tanh(query[:, :, None] + key[:, None]) @ vector


def blocked(query: Tensor, key: Tensor, vector: Tensor, form: str, block_size: int) -> Tensor:
    key_exponential = exponential(key) if form == "exponentials" else None
    return additive_scores(query, key, vector, key_exponential, block_size=block_size)


def saved_bytes(compute: object, *tensors: Tensor) -> int:
    """Bytes kept for backward, each storage once."""
    storages: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        compute(*tensors)
    return sum(storages.values())


@pytest.mark.slow
@FORMS
@settings(deadline=None, max_examples=40)
@given(
    batch=st.integers(1, 4),
    query_len=st.integers(1, 6),
    key_len=st.integers(1, 6),
    size=st.integers(1, 4),
    block_size=st.integers(1, 300),
)
def test_any_block_size_equals_the_naive_form(
    form: str, batch: int, query_len: int, key_len: int, size: int, block_size: int
) -> None:
    tensors = operands(batch, query_len, key_len, size)
    pull = torch.randn(batch, query_len, key_len, dtype=torch.float64)
    actual, expected = blocked(*tensors, form, block_size), naive(*tensors)
    torch.testing.assert_close(actual, expected, atol=1e-12, rtol=0)
    gradients = [torch.autograd.grad(scores, tensors, pull) for scores in (actual, expected)]
    torch.testing.assert_close(*gradients, atol=1e-12, rtol=0)


@pytest.mark.slow
@FORMS
def test_gradcheck(form: str) -> None:
    query, key, vector = operands()
    assert torch.autograd.gradcheck(lambda *tensors: blocked(*tensors, form, 50), (query, key, vector))


@pytest.mark.parametrize("size", [30.0, 42.0, 44.0, 100.0, 1e4])
def test_large_arguments_stay_exact(size: float) -> None:
    """Opposite large q and k cancel to a small argument; e^{2q} alone would overflow."""
    generator = torch.Generator().manual_seed(3)
    query = torch.randn(2, 24, 40, generator=generator) + size
    key = torch.randn(2, 60, 40, generator=generator) - size
    vector = torch.randn(40, generator=generator) / 8
    exact = naive(query.double(), key.double(), vector.double())
    torch.testing.assert_close(blocked(query, key, vector, "exponentials", 1 << 14).double(), exact, atol=3e-6, rtol=0)


@pytest.mark.parametrize("of", ["query", "key"])
def test_large_arguments_of_a_window_leave_the_bits_of_the_others(of: str) -> None:
    """A gross error after a cut-off is in other windows of its batch."""
    generator = torch.Generator().manual_seed(3)
    sizes = {"query": (4, 24, 40), "key": (4, 60, 40), "vector": (40,)}
    operand = {name: torch.randn(*size, generator=generator) for name, size in sizes.items()}
    before = blocked(*operand.values(), "exponentials", 1 << 14)
    operand[of][2] *= 1e6
    operand = {name: each.requires_grad_() for name, each in operand.items()}
    after = blocked(*operand.values(), "exponentials", 1 << 14)
    assert [torch.equal(*windows) for windows in zip(before, after, strict=True)] == [True, True, False, True]
    torch.testing.assert_close(after, naive(*operand.values()), atol=1e-4, rtol=0)
    after.sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in operand.values())


def test_exponential_is_declined_in_windows_where_it_would_not_be_exact() -> None:
    largest = torch.tensor([42.9, 43.1, -43.1, torch.inf, torch.nan])
    grown = exponential(torch.stack([torch.zeros(5), largest], dim=-1)[:, None])
    assert grown is not None
    assert grown.isnan().all(dim=-1).flatten().tolist() == [False, True, True, True, True]


def test_keeps_the_projections_and_no_pair_for_backward() -> None:
    query, key, vector = operands(4, 24, 336, 64)
    exponentials = exponential(key)
    of_kernel = saved_bytes(lambda *tensors: additive_scores(*tensors, exponentials), query, key, vector)
    assert of_kernel * 20 < saved_bytes(naive, query, key, vector)


def test_a_backward_pass_can_be_repeated() -> None:
    query, key, vector = operands()
    scores = blocked(query, key, vector, "exponentials", 10)
    first = torch.autograd.grad(scores.sum(), key, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(scores.sum(), key), first)


@pytest.mark.parametrize("block_size", [None, 1 << 12])
def test_autocast_does_not_round_the_scores(block_size: int | None) -> None:
    query, key, vector = (tensor.detach().float() for tensor in operands(4, 24, 60, 40))
    plain = additive_scores(query, key, vector, exponential(key), block_size=block_size)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = additive_scores(query, key, vector, exponential(key), block_size=block_size)
    torch.testing.assert_close(mixed, plain, atol=1e-6, rtol=0)
