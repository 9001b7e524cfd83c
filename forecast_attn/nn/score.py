"""What every score offers: prepare keys and values once per window, then compare any number of queries with them."""

from jaxtyping import Float
from torch import Tensor, nn


class Score(nn.Module):
    """How well does this query match that key? Keeps no tensor between calls.

    Where a score has several heads, they are folded into the batch axis: head h of window b is row b * heads + h. With
    one head, which most have, that costs nothing.

    Attributes:
        heads: how many rows of weights a query gets.
        context_size: width of the context vectors it leads to.
    """

    heads = 1

    def __init__(self, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        """Do what depends on the keys alone."""
        return key

    def prepare_value(
        self, value: Float[Tensor, "batch key_len value_size"]
    ) -> Float[Tensor, "batch_heads key_len size"]:
        return value

    def key_exponential(
        self, prepared_key: Float[Tensor, "batch_heads key_len size"]
    ) -> Float[Tensor, "batch_heads key_len size"] | None:
        """e^{2k} for the additive scores, which is cheaper once per window than once per step."""
        return None

    def forward(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
        key_exponential: Float[Tensor, "batch_heads key_len size"] | None = None,
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        """Compare every query with every prepared key, in float32 or wider."""
        raise NotImplementedError

    def merge_heads(
        self, context_vector: Float[Tensor, "batch_heads query_len size"]
    ) -> Float[Tensor, "batch query_len context_size"]:
        """Make one context vector of those of the heads."""
        return context_vector


def bias_free(input_size: int, output_size: int) -> nn.Linear:
    """A projection as the papers draw it: a matrix, no bias."""
    layer = nn.Linear(input_size, output_size, bias=False)
    nn.init.xavier_uniform_(layer.weight)
    return layer
