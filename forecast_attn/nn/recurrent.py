"""Recurrent layers, and the bridge that turns the encoder's last state into the decoder's first."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.nn.precision import full_precision

State = Tensor | tuple[Tensor, Tensor]
"""GRU: hidden state (num_layers, batch, size). LSTM: hidden state and cell state, both of that shape."""


def make_recurrent_layers(
    cell: str, input_size: int, hidden_size: int, *, num_layers: int, bidirectional: bool = False, dropout: float
) -> nn.GRU | nn.LSTM:
    """Batch-first GRU or LSTM. Dropout acts between layers, so one layer has none."""
    layers: type[nn.GRU | nn.LSTM] = {"gru": nn.GRU, "lstm": nn.LSTM}[cell]
    between = dropout if num_layers > 1 else 0.0
    return layers(input_size, hidden_size, num_layers, batch_first=True, bidirectional=bidirectional, dropout=between)


def run_layers(
    layers: nn.GRU | nn.LSTM, inputs: Float[Tensor, "batch length input_size"], state: State | None = None
) -> tuple[Float[Tensor, "batch length output_size"], State]:
    """Run recurrent layers over a whole sequence, from zeros where no state is given.

    Under bfloat16 autocast an LSTM needs oneDNN kernels that not every CPU has; there it computes in float32.
    """
    on_cpu_lstm = isinstance(layers, nn.LSTM) and inputs.device.type == "cpu"
    if on_cpu_lstm and torch.is_autocast_enabled("cpu") and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        with full_precision(inputs):
            wide = tuple(part.float() for part in state) if isinstance(state, tuple) else state
            return layers(inputs.float(), wide)  # type: ignore[no-any-return]
    return layers(inputs, state)  # type: ignore[no-any-return]


class Bridge(nn.Module):
    """First decoder state tanh(W h) from the encoder's last state, layer by layer (Bahdanau et al. 2015, A.2.2).

    The paper reads the backward state after the first step alone; a forecast is nearest to the *last* step, so the
    forward state after it is read, too. An LSTM's cell state starts at zero.
    """

    def __init__(self, memory_size: int, decoder_size: int, num_layers: int, cell: str) -> None:
        super().__init__()
        self.has_cell_state = cell == "lstm"
        self.layers = nn.ModuleList(nn.Linear(memory_size, decoder_size) for _ in range(num_layers))

    def forward(self, state: Float[Tensor, "num_layers batch memory_size"]) -> State:
        hidden = torch.stack([torch.tanh(layer(last)) for layer, last in zip(self.layers, state, strict=True)])
        return (hidden, torch.zeros_like(hidden)) if self.has_cell_state else hidden


def top_hidden(state: State) -> Float[Tensor, "batch size"]:
    """Hidden state of the last layer: the s or h of the papers."""
    hidden = state[0] if isinstance(state, tuple) else state
    return hidden[-1]


def step_layers(layers: nn.GRU | nn.LSTM, inputs: Float[Tensor, "batch input_size"], state: State) -> State:
    """One time step through all layers; the same numbers as calling `layers` on a sequence of length one.

    The functional cells skip the sequence machinery, which for an LSTM costs more than the step itself.
    """
    between = nn.functional.dropout
    hidden, cells = state if isinstance(state, tuple) else (state, None)
    new_hidden: list[Tensor] = []
    new_cells: list[Tensor] = []
    for index in range(layers.num_layers):
        weights = [getattr(layers, f"{name}_l{index}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        below = inputs if index == 0 else between(new_hidden[-1], layers.dropout, layers.training)
        if cells is None:
            new_hidden.append(torch.gru_cell(below, hidden[index], *weights))
        else:
            hidden_state, cell_state = torch.lstm_cell(below, (hidden[index], cells[index]), *weights)
            new_hidden.append(hidden_state)
            new_cells.append(cell_state)
    stacked = torch.stack(new_hidden)
    return stacked if cells is None else (stacked, torch.stack(new_cells))
