"""The encoder: a recurrent network over the lookback, whose outputs the decoder attends to."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.nn.recurrent import make_recurrent_layers, run_layers


class EncoderOutput(NamedTuple):
    """Input of the decoder: one vector per step, and the last state of every layer."""

    memory: Float[Tensor, "batch key_len memory_size"]
    state: Float[Tensor, "num_layers batch memory_size"]


class Encoder(nn.Module):
    """GRU or LSTM over the lookback, optionally in both directions.

    With `skip`, a linear map of each step's inputs is added to that step's output. A recurrent output mixes a
    step with its neighbours; the skip keeps what belongs to the step in its own place, so that the weights
    point at the step itself and not at the one after it.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        cell: str = "gru",
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        skip: bool = True,
    ) -> None:
        super().__init__()
        self.num_directions = 2 if bidirectional else 1
        self.memory_size = self.num_directions * hidden_size
        self.layers = make_recurrent_layers(
            cell, input_size, hidden_size, num_layers=num_layers, bidirectional=bidirectional, dropout=dropout
        )
        self.skip = nn.Linear(input_size, self.memory_size, bias=False) if skip else None

    def forward(self, inputs: Float[Tensor, "batch key_len input_size"]) -> EncoderOutput:
        memory, state = run_layers(self.layers, inputs)
        hidden = state[0] if isinstance(state, tuple) else state
        if self.skip is not None:
            memory = memory + self.skip(inputs)
        return EncoderOutput(memory, self._join_directions(hidden))

    def _join_directions(
        self, hidden: Float[Tensor, "layers_and_directions batch hidden_size"]
    ) -> Float[Tensor, "num_layers batch memory_size"]:
        return torch.cat([hidden[direction :: self.num_directions] for direction in range(self.num_directions)], dim=-1)
