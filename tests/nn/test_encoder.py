"""The encoder against loops over the cells' equations; what the skip adds; which steps an output knows."""

from itertools import product

import pytest
import torch

from forecast_attn.nn.encoder import Encoder

from .paper_reference import encode
from .small_networks import assert_equal, numpy_weights

BATCH, LOOKBACK, INPUT, HIDDEN = 3, 7, 5, 4
EVERY_KIND = pytest.mark.parametrize(
    ("cell", "num_layers", "bidirectional"), list(product(("gru", "lstm"), (1, 2), (False, True)))
)


def make_encoder(cell: str = "gru", num_layers: int = 1, bidirectional: bool = False, *, skip: bool = True) -> Encoder:
    torch.manual_seed(0)
    encoder = Encoder(INPUT, HIDDEN, cell=cell, num_layers=num_layers, bidirectional=bidirectional, skip=skip)
    return encoder.double()


def make_inputs() -> torch.Tensor:
    return torch.randn(BATCH, LOOKBACK, INPUT, dtype=torch.float64)


@pytest.mark.parametrize("skip", [True, False])
@EVERY_KIND
def test_equals_a_loop_over_the_cells_equations(cell: str, num_layers: int, bidirectional: bool, skip: bool) -> None:
    encoder, inputs = make_encoder(cell, num_layers, bidirectional, skip=skip), make_inputs()
    memory, state = encoder(inputs)
    assert memory.shape == (BATCH, LOOKBACK, encoder.memory_size)
    assert state.shape == (num_layers, BATCH, encoder.memory_size)
    weights = numpy_weights(encoder)
    for b in range(BATCH):
        annotations, last = encode(inputs[b].numpy(), weights, cell, num_layers=num_layers, bidirectional=bidirectional)
        assert_equal(memory[b], annotations)
        assert_equal(state[:, b], last)


@EVERY_KIND
def test_the_state_is_the_last_output_of_each_direction(cell: str, num_layers: int, bidirectional: bool) -> None:
    memory, state = make_encoder(cell, num_layers, bidirectional, skip=False)(make_inputs())
    torch.testing.assert_close(state[-1, :, :HIDDEN], memory[:, -1, :HIDDEN])
    if bidirectional:
        torch.testing.assert_close(state[-1, :, HIDDEN:], memory[:, 0, HIDDEN:])


def test_the_skip_keeps_a_steps_inputs_in_their_own_place() -> None:
    """With recurrent layers that say nothing, a step's output is a linear map of that step and no other."""
    encoder, inputs = make_encoder("lstm", bidirectional=True), make_inputs()
    torch.nn.init.zeros_(encoder.skip.weight)
    nothing, state = encoder(inputs)
    torch.nn.init.eye_(encoder.skip.weight)
    memory, same_state = encoder(inputs)
    torch.testing.assert_close((memory - nothing)[..., :INPUT], inputs)
    torch.testing.assert_close(same_state, state, rtol=0, atol=0)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_only_an_encoder_of_both_directions_knows_later_steps(bidirectional: bool) -> None:
    encoder, inputs = make_encoder(bidirectional=bidirectional), make_inputs()
    before = encoder(inputs).memory
    inputs[:, 4] += 1
    changed = (encoder(inputs).memory != before).any(dim=-1).all(dim=0)
    assert changed.tolist() == [bidirectional] * 4 + [True] * 3


def test_one_layer_has_no_dropout_to_warn_of() -> None:
    """PyTorch warns where dropout is given to a single layer, and warnings are errors here."""
    encoder, inputs = Encoder(INPUT, HIDDEN, dropout=0.5), torch.randn(BATCH, LOOKBACK, INPUT)
    torch.testing.assert_close(encoder(inputs), encoder(inputs), rtol=0, atol=0)
    two = Encoder(INPUT, HIDDEN, num_layers=2, dropout=0.5)
    assert not torch.allclose(two(inputs).memory, two(inputs).memory)
