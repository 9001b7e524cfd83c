"""A learned view of each step's inputs, in front of a recurrent cell."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class InputProjection(nn.Module):
    """gelu(W x + b) with dropout, for the inputs of every step; with a size of 0 the inputs as they are.

    A patch has many inputs, most of them alike. Projected, they enter the cell's gates as few. (Lin et al. 2023,
    "SegRNN", section 4.2, with ReLU.)

    Args:
        input_size: of a step.
        size: of its projection; 0 for none.
        dropout: of the projection.

    Attributes:
        size: of what enters the cell.
    """

    def __init__(self, input_size: int, size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.size = size or input_size
        self.linear = nn.Linear(input_size, size) if size else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Float[Tensor, "*batch input_size"]) -> Float[Tensor, "*batch size"]:
        if self.linear is None:
            return inputs
        projected: Tensor = self.dropout(torch.nn.functional.gelu(self.linear(inputs)))
        return projected
