"""What holds for every score, with every normaliser and window: the properties that make weights worth showing."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from forecast_attn.nn.attention import Attention, AttentionOutput
from forecast_attn.nn.attention_window import make_window
from forecast_attn.nn.normalisers import NORMALISERS
from forecast_attn.nn.scores import SCORES, make_score

EVERY_SCORE = pytest.mark.parametrize("name", SCORES)
EVERY_NORMALISER = pytest.mark.parametrize("normaliser", list(NORMALISERS))
EVERY_WINDOW = pytest.mark.parametrize("window", ["global", "local-p", "local-m"])
EQUAL_SIZES = ("dot", "scaled", "keras-dot", "keras-additive")
QUERY_SIZE, KEY_SIZE, VALUE_SIZE = 6, 5, 3


@dataclass
class Case:
    """An attention in float64, and something to ask it."""

    attention: Attention
    query: Tensor
    value: Tensor
    key: Tensor
    mask: Tensor

    def ask(self, **changes: Tensor) -> AttentionOutput:
        inputs = {"query": self.query, "value": self.value, "key": self.key, "mask": self.mask} | changes
        return self.attention(**inputs)


def make_attention(
    name: str, normaliser: str = "softmax", window: str = "global", season: int = 1, **options: Any
) -> Attention:
    score = make_score(
        name,
        query_size=QUERY_SIZE,
        key_size=QUERY_SIZE if name in EQUAL_SIZES else KEY_SIZE,
        value_size=VALUE_SIZE,
        attention_size=8,
        heads=2,
        key_length=12,
    )
    window_module = make_window(window, query_size=QUERY_SIZE, radius=2, season=season)
    return Attention(score, normaliser=normaliser, window=window_module, **options).double()


def make_case(
    name: str, normaliser: str = "softmax", window: str = "global", lengths: tuple[int, int, int] = (4, 7, 9)
) -> Case:
    """`lengths`: batch, query_len, key_len. The mask leaves the first key of every row."""
    batch, query_len, key_len = lengths
    mask = torch.rand(batch, key_len) < 0.6
    mask[:, 0] = True
    return Case(
        attention=make_attention(name, normaliser, window, season=min(3, key_len)),
        query=torch.randn(batch, query_len, QUERY_SIZE, dtype=torch.float64),
        value=torch.randn(batch, key_len, VALUE_SIZE, dtype=torch.float64),
        key=torch.randn(batch, key_len, QUERY_SIZE if name in EQUAL_SIZES else KEY_SIZE, dtype=torch.float64),
        mask=mask,
    )


@st.composite
def cases(
    draw: st.DrawFn, names: tuple[str, ...] = SCORES, windows: tuple[str, ...] = ("global", "local-p", "local-m")
) -> Case:
    """Any score, normaliser and window, with lengths from 1 and any numbers."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    lengths = draw(st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 12)))
    return make_case(
        draw(st.sampled_from(names)), draw(st.sampled_from(list(NORMALISERS))), draw(st.sampled_from(windows)), lengths
    )


def gradients(case: Case, output: AttentionOutput) -> list[Tensor]:
    """Of everything learned and of the query, for a loss that uses context vectors and weights."""
    assert output.weights is not None
    loss = output.context_vector.sin().sum() + output.weights.square().sum()
    leaves = [*case.attention.parameters(), case.query]
    return [gradient for gradient in torch.autograd.grad(loss, leaves, allow_unused=True) if gradient is not None]


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(cases())
def test_weights_are_shares_of_the_keys_that_exist(case: Case) -> None:
    context_vector, weights = case.ask()
    heads = getattr(case.attention.score, "heads", 1)
    assert weights.shape == (len(case.query), heads, case.query.shape[1], case.key.shape[1])
    assert context_vector.shape == (*case.query.shape[:2], case.attention.context_size)
    assert (weights >= 0).all()
    assert (weights.masked_select(~case.mask[:, None, None]) == 0).all()
    sums = weights.sum(dim=-1)
    if case.attention.window is None:
        torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-6, rtol=0)
    else:
        assert (sums <= 1 + 1e-6).all()


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases(), st.sampled_from([1e6, -1e6, torch.nan, torch.inf, -torch.inf]))
def test_what_stands_in_masked_positions_is_never_seen(case: Case, junk: float) -> None:
    case.query.requires_grad_()
    absent = ~case.mask[:, :, None]
    clean, soiled = (
        case.ask(),
        case.ask(value=case.value.masked_fill(absent, junk), key=case.key.masked_fill(absent, junk)),
    )
    torch.testing.assert_close(soiled, clean, atol=0, rtol=0)
    torch.testing.assert_close(gradients(case, soiled), gradients(case, clean), atol=0, rtol=0)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases(names=tuple(name for name in SCORES if name != "location"), windows=("global",)))
def test_permuting_keys_values_and_mask_permutes_the_weights(case: Case) -> None:
    order = torch.randperm(case.key.shape[1])
    context_vector, weights = case.ask()
    permuted = case.ask(value=case.value[:, order], key=case.key[:, order], mask=case.mask[:, order])
    torch.testing.assert_close(permuted.weights, weights[..., order])
    torch.testing.assert_close(permuted.context_vector, context_vector)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases())
def test_step_by_step_equals_all_at_once(case: Case) -> None:
    memory = case.attention.prepare(case.value, case.key, case.mask)
    queries = case.query.split(1, dim=1)
    steps = [case.attention.attend(query, memory, first_step=t) for t, query in enumerate(queries)]
    context_vector, weights = case.ask()
    torch.testing.assert_close(torch.cat([step.context_vector for step in steps], dim=1), context_vector)
    torch.testing.assert_close(torch.cat([step.weights for step in steps], dim=2), weights)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases())
def test_an_item_alone_equals_the_item_in_its_batch(case: Case) -> None:
    whole = case.ask()
    alone = case.ask(query=case.query[-1:], value=case.value[-1:], key=case.key[-1:], mask=case.mask[-1:])
    torch.testing.assert_close(alone, AttentionOutput(whole.context_vector[-1:], whole.weights[-1:]))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases())
def test_no_mask_is_a_mask_of_true(case: Case) -> None:
    everything = torch.ones_like(case.mask)
    torch.testing.assert_close(case.attention(case.query, case.value, case.key), case.ask(mask=everything))


@pytest.mark.slow
@EVERY_SCORE
@EVERY_NORMALISER
@pytest.mark.parametrize("junk", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("need_weights", [True, False])
def test_what_one_query_may_not_see_never_reaches_it(
    name: str, normaliser: str, junk: float, need_weights: bool
) -> None:
    """Another query may attend to a key that is no number: that one gets NaN, and nobody else notices."""
    case = make_case(name, normaliser)
    by_query = torch.ones(*case.query.shape[:2], case.key.shape[1], dtype=torch.bool)
    by_query[:, 1:, 2] = False  # all but the first query
    case.query.requires_grad_()

    def ask(value: float) -> Tensor:
        memory = case.attention.prepare(*(put(each, value) for each in (case.value, case.key)), by_query)
        return case.attention.attend(case.query, memory, need_weights=need_weights).context_vector

    def put(tensor: Tensor, value: float) -> Tensor:
        return tensor.index_fill(1, torch.tensor([2]), value)

    clean, soiled = ask(0.5), ask(junk)
    torch.testing.assert_close(soiled[:, 1:], clean[:, 1:], atol=0, rtol=0)
    assert soiled[:, 0].isnan().all()
    learnt = [case.query, *case.attention.parameters()]
    expected, actual = (
        torch.autograd.grad(each[:, 1:].square().sum(), learnt, allow_unused=True) for each in (clean, soiled)
    )
    torch.testing.assert_close(actual, expected, atol=0, rtol=0)


@EVERY_SCORE
def test_what_is_outside_a_query_s_window_never_reaches_it(name: str) -> None:
    case = make_case(name, window="local-m")
    inside = case.ask(mask=None).weights[:, 0] > 0
    value, key = (each.index_fill(1, torch.tensor([0]), torch.nan) for each in (case.value, case.key))
    clean, soiled = case.ask(mask=None), case.ask(value=value, key=key, mask=None)
    assert torch.equal(soiled.context_vector.isnan().all(dim=-1), inside[..., 0])
    free = ~inside[..., 0]
    assert free.any()
    torch.testing.assert_close(soiled.context_vector[free], clean.context_vector[free], atol=0, rtol=0)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(cases(windows=("global", "local-m")))
def test_a_mask_may_differ_by_query(case: Case) -> None:
    by_query = torch.rand(*case.query.shape[:2], case.key.shape[1]) < 0.5
    together = case.ask(mask=by_query)
    memory = case.attention.prepare(case.value, case.key, by_query)
    for t, query in enumerate(case.query.split(1, dim=1)):
        step = case.attention.attend(query, memory, first_step=t)
        torch.testing.assert_close(step.weights, together.weights[:, :, t : t + 1])
        assert (step.weights.masked_select(~by_query[:, None, t : t + 1]) == 0).all()


@EVERY_SCORE
@EVERY_NORMALISER
def test_the_query_decides_the_weights_and_the_value_the_output(name: str, normaliser: str) -> None:
    case = make_case(name, normaliser)
    context_vector, weights = case.ask()
    other_query, other_value = case.ask(query=case.query.flip(1)), case.ask(value=case.value + 1)
    assert not torch.allclose(other_query.weights, weights)
    assert not torch.allclose(other_value.context_vector, context_vector)
    torch.testing.assert_close(other_value.weights, weights)


@EVERY_SCORE
@EVERY_NORMALISER
@EVERY_WINDOW
def test_every_parameter_gets_a_gradient(name: str, normaliser: str, window: str) -> None:
    case = make_case(name, normaliser, window, (6, 7, 12))
    case.query.requires_grad_()
    case.ask().context_vector.square().sum().backward()
    for parameter_name, parameter in [("query", case.query), *case.attention.named_parameters()]:
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize(
    ("name", "window"), [*((name, "global") for name in SCORES), ("dot", "local-p"), ("general", "local-m")]
)
def test_gradcheck(name: str, window: str) -> None:
    case = make_case(name, "softmax", window, (2, 3, 4))
    parameters = dict(case.attention.named_parameters())

    def ask(query: Tensor, value: Tensor, key: Tensor, *values: Tensor) -> AttentionOutput:
        replaced = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(case.attention, replaced, (query, value, key, case.mask))

    leaves = [case.query, case.value, case.key, *(parameter.detach() for parameter in parameters.values())]
    assert torch.autograd.gradcheck(ask, [leaf.clone().requires_grad_() for leaf in leaves], fast_mode=True)


@EVERY_SCORE
@EVERY_WINDOW
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_a_row_without_keys_gives_zeros_in_every_precision(name: str, window: str, dtype: torch.dtype) -> None:
    case = make_case(name, "softmax", window)
    case.attention.to(dtype)
    case.mask[1] = False
    query, value, key = (tensor.to(dtype).requires_grad_() for tensor in (case.query, case.value, case.key))
    context_vector, weights = case.ask(query=query, value=value, key=key)
    assert context_vector.dtype == dtype
    assert (weights[1] == 0).all()
    assert (context_vector[1] == 0).all()
    context_vector.float().square().sum().backward()
    leaves = [query, value, key, *case.attention.parameters()]
    assert all(leaf.grad.isfinite().all() for leaf in leaves if leaf.grad is not None)


@EVERY_SCORE
def test_bfloat16_autocast_keeps_the_weights_in_float32(name: str) -> None:
    case = make_case(name)
    case.attention.float()
    query, value, key = case.query.float(), case.value.float(), case.key.float()
    plain = case.ask(query=query, value=value, key=key)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = case.ask(query=query, value=value, key=key)
    assert mixed.weights.dtype == torch.float32
    sums = mixed.weights.sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), atol=1e-6, rtol=0)
    torch.testing.assert_close(mixed.weights, plain.weights, atol=0.05, rtol=0)


@EVERY_SCORE
def test_nothing_is_kept_between_calls(name: str) -> None:
    """A remembered projection would answer for the wrong memory."""
    case = make_case(name, window="local-p")
    before = {id(module): set(vars(module)) for module in case.attention.modules()}
    first = case.ask()
    case.ask(query=case.query + 1, value=case.value + 1, key=case.key + 1)
    assert {id(module): set(vars(module)) for module in case.attention.modules()} == before
    torch.testing.assert_close(case.ask(), first, atol=0, rtol=0)


def test_dropout_spares_the_weights_that_are_shown() -> None:
    attention = make_attention("dot", dropout=0.5)
    query, value = torch.randn(2, 3, 6, dtype=torch.float64), torch.randn(2, 9, 6, dtype=torch.float64)
    training, evaluating = attention(query, value), attention.eval()(query, value)
    torch.testing.assert_close(training.weights, evaluating.weights)
    assert not torch.allclose(training.context_vector, evaluating.context_vector)
    torch.testing.assert_close(evaluating.context_vector, evaluating.weights[:, 0] @ value)


def test_an_example_to_check_by_hand() -> None:
    """Keys (1, 0) and (0, 1), query (2, 2 + ln 3): scores 2 and 2 + ln 3, so weights 1 : 3.

    With values (8, 0) and (0, 4) the context vector is 1/4 (8, 0) + 3/4 (0, 4) = (2, 3).
    """
    attention = make_attention("dot")
    query = torch.tensor([[[2.0, 2.0 + torch.log(torch.tensor(3.0)).item()]]])
    key, value = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.tensor([[[8.0, 0.0], [0.0, 4.0]]])
    context_vector, weights = attention(query, value, key)
    torch.testing.assert_close(weights, torch.tensor([[[[0.25, 0.75]]]]))
    torch.testing.assert_close(context_vector, torch.tensor([[[2.0, 3.0]]]))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@EVERY_SCORE
def test_a_gpu_gives_the_same(name: str) -> None:
    case = make_case(name, "entmax15", "local-p")
    here = case.ask()
    case.attention.cuda()
    moved = {field: getattr(case, field).cuda() for field in ("query", "value", "key", "mask")}
    there = case.ask(**moved)
    torch.testing.assert_close(AttentionOutput(*(tensor.cpu() for tensor in there)), here, atol=1e-10, rtol=0)
