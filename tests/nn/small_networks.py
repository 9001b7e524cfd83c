"""Small networks of every mechanism, windows to feed them, and their reference in numpy."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import ModelConfig
from forecast_attn.nn.builder import WindowSizes, build_network
from forecast_attn.nn.network import ForecastNetwork

from .paper_reference import PaperAttention, PaperDecoder, Weights

# All distinct, so that no axis can be taken for another.
SIZES = WindowSizes(lookback=11, horizon=4, season=5, num_past_inputs=2, num_future_inputs=1, num_static=3)
BATCH, HIDDEN, DECODER, ATTENTION, RADIUS = 3, 6, 7, 10, 2

EQUAL_SIZES = ("luong-dot", "luong-scaled", "keras-dot", "keras-additive")
PROJECTED = ("bahdanau", "bahdanau-normed", "luong-concat", "scaled-dot", "multi-head")
WITH_ATTENTION = tuple(name for name in ATTENTIONS if name != "none")
EVERY_MECHANISM = pytest.mark.parametrize("name", list(ATTENTIONS))
EVERY_ATTENTION = pytest.mark.parametrize("name", WITH_ATTENTION)


class Batch(NamedTuple):
    """Windows as the network reads them."""

    past_target: Tensor
    past_covariates: Tensor
    future_covariates: Tensor
    static_covariates: Tensor
    future_target: Tensor
    past_observed: Tensor | None
    past_categories: Tensor
    future_categories: Tensor
    static_categories: Tensor

    def at(self, rows: Any) -> "Batch":
        return Batch(*(None if tensor is None else tensor[rows] for tensor in self))


def make_batch(sizes: WindowSizes = SIZES, batch: int = BATCH, dtype: torch.dtype = torch.float64) -> Batch:
    def draw(*shape: int) -> Tensor:
        return torch.randn(batch, *shape, dtype=dtype)

    return Batch(
        2 + 3 * draw(sizes.lookback),
        draw(sizes.lookback, sizes.num_past_inputs),
        draw(sizes.horizon, sizes.num_future_inputs),
        draw(sizes.num_static),
        draw(sizes.horizon),
        torch.rand(batch, sizes.lookback) < 0.7 if sizes.may_have_holes else None,
        _draw_codes((batch, sizes.lookback), (*sizes.past_codes, *sizes.future_codes)),
        _draw_codes((batch, sizes.horizon), sizes.future_codes),
        _draw_codes((batch,), sizes.static_codes),
    )


def _draw_codes(shape: tuple[int, ...], num_codes: tuple[int, ...]) -> Tensor:
    columns = [torch.randint(codes, shape) for codes in num_codes]
    return torch.stack(columns, dim=-1) if columns else torch.zeros((*shape, 0), dtype=torch.int64)


def model_config(name: str = "luong-general", **options: Any) -> ModelConfig:
    """A small model in which whatever may differ in size does."""
    defaults: dict[str, Any] = {"attention": name, "hidden_size": HIDDEN, "dropout": 0.0}
    # Nothing is left open: what stands here does not depend on the sizes of a test.
    defaults |= {
        "patch_length": 1,
        "bidirectional": False,
        "projection_size": 0,
        "temporal_decoder_size": 0,
        "lags": (),
    }
    if name not in EQUAL_SIZES:
        defaults["decoder_size"] = DECODER
    if name in PROJECTED:
        defaults["attention_size"] = ATTENTION
    if name == "multi-head":
        defaults["heads"] = 2
    if options.get("attention_window", "global") != "global":
        defaults["window_radius"] = RADIUS
    return ModelConfig(**(defaults | options))


def make_network(name: str = "luong-general", sizes: WindowSizes = SIZES, **options: Any) -> ForecastNetwork:
    """In float64, with every parameter drawn, so that none can be left out (a bias of 0, a factor of 1)."""
    torch.manual_seed(0)
    network = build_network(model_config(name, **options), sizes).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.4)
    return network


def other_order(name: str) -> str:
    """The order that the mechanism's paper has not."""
    return "luong" if ATTENTIONS[name].order == "bahdanau" else "bahdanau"


def numpy_weights(module: nn.Module) -> Weights:
    return {name: parameter.detach().numpy() for name, parameter in module.named_parameters()}


def paper_decoder(model: ModelConfig, decoder: nn.Module, sizes: WindowSizes = SIZES) -> PaperDecoder:
    """The equations that a decoder should be, with its weights."""
    weights = numpy_weights(decoder)
    of_attention = {key.removeprefix("attention."): w for key, w in weights.items() if key.startswith("attention.")}
    attention = PaperAttention(
        model.attention,
        of_attention,
        num_keys=sizes.lookback // model.patch_length,
        heads=model.heads,
        window=model.attention_window,
        radius=model.window_radius,
        season=sizes.season // model.patch_length,
    )
    return PaperDecoder(
        None if model.attention == "none" else attention,
        model.cell,
        model.order,
        weights,
        model.input_feeding,
        model.patch_length,
    )


def assert_equal(actual: Tensor, reference: np.ndarray) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), reference, rtol=0, atol=1e-10)
