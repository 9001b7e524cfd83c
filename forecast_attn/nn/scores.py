"""Every score by its name, for sizes that make sense together."""

import math

from jaxtyping import Float
from torch import Tensor

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.nn.additive_scores import AdditiveScore, ConcatScore, KerasAdditiveScore
from forecast_attn.nn.precision import widened
from forecast_attn.nn.product_scores import DotScore, GeneralScore, MultiHeadScore, ProductScore, ScaledDotScore
from forecast_attn.nn.score import Score, bias_free

__all__ = [
    "SCORES",
    "AdditiveScore",
    "ConcatScore",
    "DotScore",
    "GeneralScore",
    "KerasAdditiveScore",
    "LocationScore",
    "MultiHeadScore",
    "ProductScore",
    "ScaledDotScore",
    "Score",
    "make_score",
]

SCORES = (
    "dot",
    "general",
    "additive",
    "additive-normed",
    "concat",
    "location",
    "scaled",
    "scaled-dot",
    "multi-head",
    "keras-additive",
    "keras-dot",
)


class LocationScore(Score):
    """W_a h, one row of W_a per position of the keys, which are not looked at (Luong et al. 2015, eq. 8)."""

    def __init__(self, query_size: int, key_size: int, key_length: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.weight = bias_free(query_size, key_length).weight

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        return key[:, :, :0]

    def forward(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
        key_exponential: Float[Tensor, "batch_heads key_len size"] | None = None,
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        length, rows = key.shape[1], self.weight.shape[0]
        if length > rows:
            raise ConfigError(
                f"luong-location knows {rows} positions; got {length} keys",
                f"train with --lookback {length}, or choose an attention that compares keys, such as luong-general",
            )
        weight = self.weight if length == rows else self.weight[:length]
        return widened(query @ weight.T)


def make_score(
    name: str,
    *,
    query_size: int,
    key_size: int,
    attention_size: int,
    heads: int,
    key_length: int,
    value_size: int | None = None,
) -> Score:
    """Make a score by its name, for sizes that make sense together.

    Args:
        attention_size: width of what is compared, where queries and keys are projected.
        heads: multi-head only.
        key_length: most keys that location will meet; the others do not care.
        value_size: width of the values where it is not that of the keys.

    Raises:
        ConfigError: no such name, or sizes that this score cannot compare.
    """
    match name:
        case "dot" | "scaled" | "keras-dot":
            _require_equal_sizes(name, query_size, key_size)
            return DotScore(key_size, learned_scale=name == "scaled", value_size=value_size)
        case "keras-additive":
            _require_equal_sizes(name, query_size, key_size)
            return KerasAdditiveScore(key_size, value_size=value_size)
        case "general":
            return GeneralScore(query_size, key_size, value_size=value_size)
        case "additive" | "additive-normed":
            normed = name == "additive-normed"
            return AdditiveScore(query_size, key_size, attention_size, normed=normed, value_size=value_size)
        case "concat":
            return ConcatScore(query_size, key_size, attention_size, value_size=value_size)
        case "location":
            return LocationScore(query_size, key_size, key_length, value_size=value_size)
        case "scaled-dot":
            return ScaledDotScore(query_size, key_size, attention_size, value_size=value_size)
        case "multi-head":
            _require_divisible(attention_size, heads)
            return MultiHeadScore(query_size, key_size, attention_size, heads, value_size=value_size)
    raise ConfigError(f"there is no score '{name}'", did_you_mean(name, SCORES))


def _require_equal_sizes(name: str, query_size: int, key_size: int) -> None:
    mechanism = {"dot": "luong-dot", "scaled": "luong-scaled"}.get(name, name)
    if query_size != key_size:
        raise ConfigError(
            f"{mechanism} needs equal encoder and decoder sizes; got {key_size} and {query_size}",
            f"use luong-general, or --decoder-size {key_size}",
        )


def _require_divisible(attention_size: int, heads: int) -> None:
    if attention_size % heads:
        raise ConfigError(
            f"multi-head needs an attention size that is a multiple of the heads; got {attention_size} and {heads}",
            f"use --attention-size {math.ceil(attention_size / heads) * heads}, or other --heads",
        )
