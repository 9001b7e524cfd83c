"""Every score against a loop written from its paper's equation, and the sizes it refuses."""

import math
from collections.abc import Callable

import jaxtyping
import numpy as np
import pytest
import torch

from forecast_attn.errors import ConfigError
from forecast_attn.nn.scores import SCORES, make_score

BATCH, QUERY_LEN, KEY_LEN, QUERY_SIZE, KEY_SIZE, SIZE = 2, 3, 5, 6, 4, 8
EQUAL_SIZES = ("dot", "scaled", "keras-dot", "keras-additive")

Weights = dict[str, np.ndarray]
Equation = Callable[[np.ndarray, np.ndarray, int, Weights], float]


def additive_normed(s: np.ndarray, h: np.ndarray, j: int, w: Weights) -> float:
    v = w["gain"] * w["vector"] / np.sqrt((w["vector"] ** 2).sum())
    return v @ np.tanh(w["query_projection.weight"] @ s + w["key_projection.weight"] @ h + w["bias"])


# One query s (or h_t), one key h at position j, the parameters by name.
EQUATIONS: dict[str, Equation] = {
    "dot": lambda s, h, j, w: s @ h,
    "keras-dot": lambda s, h, j, w: s @ h,
    "scaled": lambda s, h, j, w: w["factor"] * (s @ h),
    "general": lambda s, h, j, w: s @ w["weight"] @ h,
    "additive": lambda s, h, j, w: (
        w["vector"] @ np.tanh(w["query_projection.weight"] @ s + w["key_projection.weight"] @ h)
    ),
    "additive-normed": additive_normed,
    "concat": lambda s, h, j, w: w["vector"] @ np.tanh(w["weight"] @ np.concatenate([s, h])),
    "location": lambda s, h, j, w: w["weight"][j] @ s,
    "scaled-dot": lambda s, h, j, w: (
        (w["query_projection.weight"] @ s) @ (w["key_projection.weight"] @ h) / math.sqrt(SIZE)
    ),
    "keras-additive": lambda s, h, j, w: w["vector"] @ np.tanh(s + h),
}


def make(
    name: str, *, query_size: int = QUERY_SIZE, key_size: int = KEY_SIZE, size: int = SIZE, heads: int = 2
) -> torch.nn.Module:
    key_size = query_size if name in EQUAL_SIZES else key_size
    return make_score(
        name, query_size=query_size, key_size=key_size, attention_size=size, heads=heads, key_length=KEY_LEN + 2
    )


def random_parameters(score: torch.nn.Module) -> Weights:
    """Draw all of them, so that none can be left out (a bias of 0, a factor of 1)."""
    with torch.no_grad():
        for parameter in score.parameters():
            parameter.normal_()
    return {name: parameter.detach().numpy() for name, parameter in score.named_parameters()}


@pytest.mark.parametrize("name", list(EQUATIONS))
def test_equals_a_loop_over_its_equation(name: str) -> None:
    score = make(name).double()
    parameters = random_parameters(score)
    query = torch.randn(BATCH, QUERY_LEN, QUERY_SIZE, dtype=torch.float64)
    key = torch.randn(BATCH, KEY_LEN, QUERY_SIZE if name in EQUAL_SIZES else KEY_SIZE, dtype=torch.float64)
    actual = score(query, score.prepare_key(key))
    for b, i, j in np.ndindex(BATCH, QUERY_LEN, KEY_LEN):
        expected = EQUATIONS[name](query[b, i].numpy(), key[b, j].numpy(), j, parameters)
        assert actual[b, i, j].item() == pytest.approx(expected, abs=1e-10)


def test_multi_head_equals_a_loop_over_heads() -> None:
    score = make("multi-head").double()
    parameters = random_parameters(score)
    query, key = (
        torch.randn(1, 1, QUERY_SIZE, dtype=torch.float64),
        torch.randn(1, KEY_LEN, KEY_SIZE, dtype=torch.float64),
    )
    actual = score(query, score.prepare_key(key))
    q, k = (
        parameters["query_projection.weight"] @ query[0, 0].numpy(),
        key[0].numpy() @ parameters["key_projection.weight"].T,
    )
    for head, part in enumerate((slice(0, 4), slice(4, 8))):
        np.testing.assert_allclose(actual[head, 0].detach(), k[:, part] @ q[part] / math.sqrt(4), atol=1e-10)


def test_all_names_are_tested() -> None:
    assert {*EQUATIONS, "multi-head"} == set(SCORES)


def test_general_is_the_same_with_more_queries_than_keys() -> None:
    """The cheaper side is projected; which one that is must not show."""
    score = make("general").double()
    query, key = (
        torch.randn(1, 9, QUERY_SIZE, dtype=torch.float64),
        torch.randn(1, KEY_LEN, KEY_SIZE, dtype=torch.float64),
    )
    prepared = score.prepare_key(key)
    one_by_one = torch.cat([score(query[:, i : i + 1], prepared) for i in range(9)], dim=1)
    torch.testing.assert_close(score(query, prepared), one_by_one)


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_float32_under_autocast(name: str) -> None:
    score = make(name)
    query, key = (
        torch.randn(BATCH, QUERY_LEN, QUERY_SIZE),
        torch.randn(BATCH, KEY_LEN, QUERY_SIZE if name in EQUAL_SIZES else KEY_SIZE),
    )
    with torch.autocast("cpu", torch.bfloat16):
        assert score(query, score.prepare_key(key)).dtype == torch.float32


def test_additive_normed_starts_as_tensorflow_addons_does() -> None:
    score = make("additive-normed")
    assert score.gain.item() == pytest.approx(math.sqrt(1 / SIZE))
    assert (score.bias == 0).all()


@pytest.mark.parametrize("name", [name for name in EQUAL_SIZES if name != "scaled"])
def test_unequal_sizes_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="needs equal encoder and decoder sizes; got 128 and 64") as error:
        make_score(name, query_size=64, key_size=128, attention_size=8, heads=1, key_length=5)
    assert "luong-general" in str(error.value)


def test_heads_must_divide() -> None:
    with pytest.raises(ConfigError, match=r"got 64 and 3\n.*--attention-size 66"):
        make("multi-head", size=64, heads=3)


def test_location_refuses_more_keys_than_it_has_rows() -> None:
    score = make("location")
    with pytest.raises(ConfigError, match="knows 7 positions; got 8 keys"):
        score(torch.randn(1, 1, QUERY_SIZE), score.prepare_key(torch.randn(1, 8, KEY_SIZE)))


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'general'"):
        make("generel")


def test_the_shapes_of_signatures_are_checked_by_these_tests() -> None:
    flat = torch.zeros(KEY_LEN, KEY_SIZE)
    with pytest.raises(jaxtyping.TypeCheckError, match="batch key_len"):
        make("general").prepare_key(flat)
