"""Heads: what turns a decoder step's features into the forecast of that step."""

from jaxtyping import Float
from torch import Tensor, nn


class PointHead(nn.Module):
    """One number per step. A head tells its `output_size` and which output is fed back as the step's value."""

    output_size = 1

    def __init__(self, feature_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(feature_size, self.output_size)

    def forward(self, features: Float[Tensor, "*batch feature_size"]) -> Float[Tensor, "*batch output_size"]:
        output: Tensor = self.linear(self.dropout(features))
        return output

    @staticmethod
    def point(output: Float[Tensor, "*batch output_size"]) -> Float[Tensor, "*batch"]:
        """The point forecast among a step's outputs."""
        return output[..., 0]
