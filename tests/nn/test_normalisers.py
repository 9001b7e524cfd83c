"""softmax, sparsemax and entmax15 against the package of their authors, and on rows a reader can check."""

import entmax
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.errors import ConfigError
from forecast_attn.nn.normalisers import NORMALISERS, entmax15, find_normaliser, masked_weights, sparsemax

NAMES = pytest.mark.parametrize("name", list(NORMALISERS))
AUTHORS = {"sparsemax": entmax.sparsemax, "entmax15": entmax.entmax15}
ROWS = st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=30)


@pytest.mark.parametrize("name", list(AUTHORS))
@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 3e-6), (torch.float64, 1e-12)], ids=str)
def test_equals_the_authors_package(name: str, spread: float, dtype: torch.dtype, limit: float) -> None:
    scores = (torch.randn(3, 2, 5, 40, dtype=dtype) * spread).requires_grad_()
    actual, reference = NORMALISERS[name](scores), AUTHORS[name](scores, dim=-1)
    torch.testing.assert_close(actual, reference, atol=limit, rtol=0)
    pull = torch.randn_like(scores)
    gradients = [torch.autograd.grad(weights, scores, pull)[0] for weights in (actual, reference)]
    torch.testing.assert_close(*gradients, atol=1e-5 if dtype == torch.float32 else 2e-11, rtol=0)


def test_sparsemax_by_hand() -> None:
    """Support {1, 0.5}: threshold (1 + 0.5 - 1) / 2 = 0.25, so 0.75 and 0.25; -2 is out."""
    weights = sparsemax(torch.tensor([[1.0, -2.0, 0.5]]))
    assert weights.tolist() == [[0.75, 0.0, 0.25]]


def test_entmax15_by_hand() -> None:
    """z / 2 = (0.7, 0.1, -1). With a = 0.7 - threshold, a² + (a - 0.6)² = 1 gives a = 0.3 + √0.41 and a threshold of
    -0.24, which leaves the third out."""
    a = 0.3 + 0.41**0.5
    weights = entmax15(torch.tensor([[1.4, 0.2, -2.0]], dtype=torch.float64))
    torch.testing.assert_close(weights, torch.tensor([[a**2, (a - 0.6) ** 2, 0.0]], dtype=torch.float64))


@NAMES
def test_gradcheck(name: str) -> None:
    scores = torch.randn(4, 9, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(NORMALISERS[name], scores)


@pytest.mark.slow
@NAMES
@settings(deadline=None, max_examples=60)
@given(row=ROWS, shift=st.floats(-100, 100))
def test_rows_sum_to_one_and_ignore_a_constant(name: str, row: list[float], shift: float) -> None:
    scores = torch.tensor([row], dtype=torch.float64)
    weights = NORMALISERS[name](scores)
    assert (weights >= 0).all()
    assert weights.sum().item() == pytest.approx(1, abs=1e-9)
    torch.testing.assert_close(NORMALISERS[name](scores + shift), weights, atol=1e-9, rtol=0)


@NAMES
@settings(deadline=None, max_examples=60)
@given(row=ROWS)
@pytest.mark.slow
def test_float32_rows_sum_to_one(name: str, row: list[float]) -> None:
    assert NORMALISERS[name](torch.tensor([row])).sum().item() == pytest.approx(1, abs=1e-6)


@NAMES
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_a_fully_masked_row_is_zero_with_finite_gradients(name: str, dtype: torch.dtype) -> None:
    scores = torch.randn(2, 1, 3, 5).to(dtype).requires_grad_()
    mask = torch.tensor([[True, False, True, False, True], [False] * 5])[:, None, None]
    weights = masked_weights(scores, mask, NORMALISERS[name])
    assert weights.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert (weights[1] == 0).all()
    assert (weights.masked_select(~mask) == 0).all()
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(1, 3, dtype=weights.dtype))
    weights.square().sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert (scores.grad[1] == 0).all()


@NAMES
def test_a_mask_is_the_same_as_leaving_the_keys_out(name: str) -> None:
    scores = torch.randn(1, 1, 4, 6, dtype=torch.float64) * 200
    mask = torch.tensor([True, False, True, True, False, True])
    weights = masked_weights(scores, mask[None, None, None], NORMALISERS[name])
    torch.testing.assert_close(weights[..., mask], NORMALISERS[name](scores[..., mask]))


@NAMES
def test_nan_scores_give_nan_weights_and_no_crash(name: str) -> None:
    assert NORMALISERS[name](torch.full((1, 3), torch.nan)).isnan().all()


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match=r"there is no normaliser 'sparsemx'\n.*did you mean 'sparsemax'"):
        find_normaliser("sparsemx")
