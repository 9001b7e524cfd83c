"""local-p as its authors read it, local-m one season back."""

import math

import pytest
import torch

from forecast_attn.errors import ConfigError
from forecast_attn.nn.attention import Attention
from forecast_attn.nn.attention_window import PredictiveWindow, SeasonalWindow, make_window
from forecast_attn.nn.scores import DotScore

BATCH, QUERY_LEN, KEY_LEN, SIZE = 3, 4, 30, 5


def dot_attention(window: object) -> Attention:
    return Attention(DotScore(SIZE), window=window).double()


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    query = torch.randn(BATCH, QUERY_LEN, SIZE, dtype=torch.float64)
    return query, torch.randn(BATCH, KEY_LEN, SIZE, dtype=torch.float64)


@pytest.mark.parametrize("lengths", [(30, 30, 30), (30, 11, 1)])
def test_local_p_equals_a_loop_over_equations_9_and_10(lengths: tuple[int, ...]) -> None:
    radius = 3
    window = PredictiveWindow(SIZE, radius)
    attention = dot_attention(window)
    query, value = inputs()
    mask = torch.arange(KEY_LEN) < torch.tensor(lengths)[:, None]
    weights = attention(query, value, mask=mask).weights
    W_p, v_p = window.projection.weight.detach(), window.vector.detach()
    for b in range(BATCH):
        for t in range(QUERY_LEN):
            p = lengths[b] / (1 + math.exp(-(v_p @ torch.tanh(W_p @ query[b, t]))))
            seen = range(max(0, math.floor(p) - radius), min(lengths[b], math.floor(p) + radius + 1))
            exponentials = {s: math.exp(query[b, t] @ value[b, s]) for s in seen}
            for s in range(KEY_LEN):
                align = exponentials.get(s, 0) / sum(exponentials.values())
                expected = align * math.exp(-((s - p) ** 2) / (2 * (radius / 2) ** 2))
                assert weights[b, 0, t, s].item() == pytest.approx(expected, abs=1e-12)


def test_local_p_learns_through_the_gaussian() -> None:
    attention = dot_attention(PredictiveWindow(SIZE, 3))
    attention(*inputs()).context_vector.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in attention.parameters())


def test_local_p_counts_from_the_first_key_that_exists() -> None:
    """Padding on the left moves every weight to the right, and nothing else."""
    attention = dot_attention(PredictiveWindow(SIZE, 3))
    query, value = inputs()
    padded = torch.cat([torch.full((BATCH, 6, SIZE), torch.nan, dtype=torch.float64), value], dim=1)
    mask = (torch.arange(KEY_LEN + 6) >= 6).expand(BATCH, -1)
    output, padded_output = attention(query, value), attention(query, padded, mask=mask)
    torch.testing.assert_close(padded_output.weights[..., 6:], output.weights)
    torch.testing.assert_close(padded_output.context_vector, output.context_vector)


@pytest.mark.parametrize("season", [1, 4, 7, 30])
def test_local_m_is_centred_whole_seasons_before_the_target(season: int) -> None:
    """Step t has its target at KEY_LEN + t; the last key of the same phase lies whole seasons before it."""
    attention = dot_attention(SeasonalWindow(season, 1))
    query, value = torch.randn(1, 40, SIZE, dtype=torch.float64), torch.randn(1, KEY_LEN, SIZE, dtype=torch.float64)
    weights = attention(query, value).weights
    for t in range(40):
        centre = KEY_LEN + t
        while centre >= KEY_LEN:
            centre -= season
        seen = weights[0, 0, t].nonzero().flatten().tolist()
        assert seen == [s for s in (centre - 1, centre, centre + 1) if 0 <= s < KEY_LEN]
        assert weights[0, 0, t].sum().item() == pytest.approx(1)


def test_local_m_knows_the_step_of_a_single_query() -> None:
    attention = dot_attention(SeasonalWindow(7, 2))
    query, value = torch.randn(1, 10, SIZE, dtype=torch.float64), torch.randn(1, KEY_LEN, SIZE, dtype=torch.float64)
    memory = attention.prepare(value)
    steps = [attention.attend(query[:, t : t + 1], memory, first_step=t).weights for t in range(10)]
    torch.testing.assert_close(torch.cat(steps, dim=2), attention(query, value).weights)


def test_local_m_refuses_a_lookback_shorter_than_a_season() -> None:
    with pytest.raises(ConfigError, match=r"needs at least 31 keys; got 30\n.*--lookback 31"):
        dot_attention(SeasonalWindow(31, 2))(*inputs())


def test_windows_by_name() -> None:
    assert make_window("global", query_size=5, radius=2, season=7) is None
    assert isinstance(make_window("local-p", query_size=5, radius=2, season=7), PredictiveWindow)
    assert isinstance(make_window("local-m", query_size=5, radius=2, season=7), SeasonalWindow)
    with pytest.raises(ConfigError, match="did you mean 'local-p'"):
        make_window("local_p", query_size=5, radius=2, season=7)
