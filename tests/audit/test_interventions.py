"""Experiments on weights: against the papers' loops in numpy, and what no experiment may do."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from forecast_attn.audit.interventions import DeletedKeys, HiddenKeys, VisibleKeys, feeding
from forecast_attn.forecasting.weight_need import Shuffled, reweighing, uniform
from forecast_attn.nn.attention import Reweigh
from forecast_attn.nn.network import ForecastNetwork

from ..nn.paper_reference import PaperAttention
from ..nn.small_networks import (
    BATCH,
    EVERY_ATTENTION,
    SIZES,
    Batch,
    assert_equal,
    make_batch,
    make_network,
    model_config,
)
from ..nn.test_network import paper_forecast

pytestmark = pytest.mark.slow

SIZES_WITH_HOLES = dataclasses.replace(SIZES, may_have_holes=True)
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("bahdanau", {"decoding": "autoregressive"}),
    ("bahdanau", {"attention_window": "local-m"}),
    ("luong-general", {}),
    ("luong-general", {"input_feeding": True, "attention_window": "local-p"}),
    ("luong-concat", {"attention_order": "bahdanau"}),
    ("multi-head", {"decoding": "autoregressive"}),
    ("multi-head", {"attention_window": "local-p"}),
]
EVERY_KIND = pytest.mark.parametrize(("name", "options"), KINDS)
EXPERIMENTS: dict[str, Callable[[Tensor], Reweigh]] = {
    "uniform": lambda chosen: uniform,
    "shuffled": lambda chosen: Shuffled(torch.Generator().manual_seed(0)),
    "without": DeletedKeys,
    "hidden": HiddenKeys,
}
EVERY_EXPERIMENT = pytest.mark.parametrize("experiment", list(EXPERIMENTS))


def some_steps() -> Tensor:
    """(batch, horizon, lookback) about a third of all."""
    return torch.rand(BATCH, SIZES.horizon, SIZES.lookback, generator=torch.Generator().manual_seed(1)) < 0.3


def with_holes(batch: Batch) -> Batch:
    """The first steps of a window were not observed, others of another, and all of the third were."""
    observed = torch.ones(BATCH, SIZES.lookback, dtype=torch.bool)
    observed[0, :4] = False
    observed[1, 1::2] = False
    return batch._replace(past_observed=observed)


def forecast_under(network: ForecastNetwork, batch: Batch, reweigh: Reweigh) -> tuple[Tensor, Tensor]:
    with torch.no_grad(), reweighing(network.decoder.attention, reweigh):
        return tuple(network(batch))[:2]


@EVERY_KIND
def test_uniform_weights_equal_a_loop_by_hand(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, batch, model = make_network(name, **options), make_batch(), model_config(name, **options)
    align = PaperAttention._align

    def equal(self: PaperAttention, scores: np.ndarray, query: np.ndarray, step: int) -> np.ndarray:
        inside, _ = self._view(query, step, len(scores))
        return align(self, scores, query, step).sum() * inside / inside.sum()

    prediction, weights = forecast_under(network, batch, uniform)
    monkeypatch.setattr(PaperAttention, "_align", equal)
    for b in range(BATCH):
        expected, expected_weights = paper_forecast(network, model, batch.at(b))
        assert_equal(prediction[b], expected)
        assert_equal(weights[b], expected_weights)


@EVERY_ATTENTION
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
@EVERY_EXPERIMENT
def test_masked_steps_never_get_weight_and_rows_keep_their_sum(name: str, order: str, experiment: str) -> None:
    network, batch = (
        make_network(name, SIZES_WITH_HOLES, attention_order=order),
        with_holes(make_batch(SIZES_WITH_HOLES)),
    )
    prediction, weights = forecast_under(network, batch, EXPERIMENTS[experiment](some_steps()))
    assert torch.isfinite(prediction).all()
    hidden = ~batch.past_observed[:, None, None].expand_as(weights)
    assert (weights[hidden] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


@EVERY_KIND
@EVERY_EXPERIMENT
def test_what_lies_outside_a_window_gets_no_weight(name: str, options: dict[str, Any], experiment: str) -> None:
    network, batch = make_network(name, **options), make_batch()
    observed = VisibleKeys(network.decoder.attention.score.heads)
    forecast_under(network, batch, observed)
    if "attention_window" not in options:
        assert observed.visible().all()
        return
    if options["attention_window"] == "local-m":  # where it lies does not depend on what the decoder has become
        _, weights = forecast_under(network, batch, EXPERIMENTS[experiment](some_steps()))
        outside = ~observed.visible()[:, None].expand_as(weights)
        assert outside.any()
        assert (weights[outside] == 0).all()
    assert (observed.visible().sum(dim=-1) <= 5).all()  # a radius of 2


@EVERY_KIND
def test_shuffling_keeps_the_weights_of_a_row_and_moves_them(name: str, options: dict[str, Any]) -> None:
    """Of the first step: the later ones of a decoder that hears its own answers have other weights."""
    network, batch = make_network(name, **options), make_batch()
    _, before = forecast_under(network, batch, VisibleKeys(network.decoder.attention.score.heads))
    _, after = forecast_under(network, batch, Shuffled(torch.Generator().manual_seed(0)))
    assert not torch.equal(before[:, :, 0], after[:, :, 0])
    torch.testing.assert_close(before[:, :, 0].sort(dim=-1).values, after[:, :, 0].sort(dim=-1).values)


def test_every_order_of_three_weights_is_as_frequent_as_any_other() -> None:
    weights = torch.tensor([0.2, 0.3, 0.5, 0.0]).expand(6_000, 1, 4)
    mask = torch.tensor([True, True, True, False]).expand(6_000, 1, 4)
    shuffled = Shuffled(torch.Generator().manual_seed(0))(lambda _: weights, mask, 0)
    orders, counts = torch.unique(shuffled[:, 0], dim=0, return_counts=True)
    assert len(orders) == 6
    assert (counts - 1_000).abs().max() < 150
    assert (orders[:, 3] == 0).all()


def test_deleting_scales_the_others_up_and_spreads_what_had_no_weight() -> None:
    weights = torch.tensor([[[0.6, 0.3, 0.1, 0.0]], [[1.0, 0.0, 0.0, 0.0]], [[0.5, 0.25, 0.25, 0.0]]])
    mask = torch.tensor([True, True, True, False]).expand(3, 1, 4)
    deleted = torch.tensor([[[True, False, False, False]], [[True, False, False, False]], [[True, True, True, True]]])
    left = DeletedKeys(deleted)(lambda _: weights, mask, 0)
    expected = [[0, 0.75, 0.25, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 0]]
    torch.testing.assert_close(left[:, 0], torch.tensor(expected))


@pytest.mark.parametrize("tiny", [3e-40, 1e-45, 1e-38, 1e-20])
def test_deleting_all_but_a_tiny_weight_leaves_weights(tiny: float) -> None:
    """Dividing the whole by so little would be infinite; its share of itself is 1."""
    weights, mask = torch.tensor([[[1, tiny, 0]]]), torch.ones(1, 1, 3, dtype=torch.bool)
    left = DeletedKeys(torch.tensor([[[True, False, False]]]))(lambda _: weights, mask, 0)
    torch.testing.assert_close(left, torch.tensor([[[0.0, 1.0, 0.0]]]), atol=0, rtol=0)


@EVERY_ATTENTION
def test_hiding_the_same_step_from_all_equals_the_mask_of_the_attention(name: str) -> None:
    network, batch = make_network(name, SIZES_WITH_HOLES), make_batch(SIZES_WITH_HOLES)
    observed = torch.ones(BATCH, SIZES.lookback, dtype=torch.bool)
    chosen = torch.zeros(BATCH, SIZES.horizon, SIZES.lookback, dtype=torch.bool)
    chosen[..., 3] = True
    _, weights = forecast_under(network, batch._replace(past_observed=observed), HiddenKeys(chosen))
    attention, seen = network.decoder.attention, observed.clone()
    seen[:, 3] = False
    prepare = attention.prepare
    attention.prepare = lambda value, key=None, mask=None: prepare(value, key, seen)  # type: ignore[method-assign]
    with torch.no_grad():
        expected = network(batch._replace(past_observed=observed)).weights
    torch.testing.assert_close(weights, expected)


@EVERY_KIND
def test_an_experiment_leaves_nothing_behind(name: str, options: dict[str, Any]) -> None:
    network, batch = make_network(name, **options), make_batch()
    before = network(batch)
    with pytest.raises(ZeroDivisionError), reweighing(network.decoder.attention, uniform), feeding(network, torch.neg):
        assert not torch.equal(network(batch).prediction, before.prediction)
        raise ZeroDivisionError
    assert network.decoder.attention.reweigh is None
    assert torch.equal(network(batch).prediction, before.prediction)


def test_weights_are_used_though_nobody_wants_to_see_them() -> None:
    """The fused kernel, which never has any, must step aside."""
    network, batch = make_network("luong-general"), make_batch()
    with torch.no_grad(), reweighing(network.decoder.attention, uniform):
        assert torch.equal(network(batch, need_weights=False).prediction, network(batch).prediction)
