"""torch's GRU beside one in pure torch, trained forward and backward on a CPU: CPU time and largest difference.

The other one has one product and six calls per step of the forward pass, one product and nine calls per step of the
backward pass, all into memory that is used again, and projects inputs and gathers the gradients of weights for `CHUNK`
steps in one product, while what these read is in the cache.

python benchmarks/recurrent.py [REPEATS [compile]]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

SIZES = ((28, 96, 64), (28, 96, 128), (168, 16, 64), (168, 16, 128))
"""Steps, inputs and hidden size: a week of hours in patches of six, the default; twice the width; single hours."""
BATCH = 128
CHUNK = 24
"""Steps whose gates fit into the cache."""

_of_tanh, _of_sigmoid = torch.ops.aten.tanh_backward.grad_input, torch.ops.aten.sigmoid_backward.grad_input


class Recurrence(torch.autograd.Function):
    """A GRU from a state of zeros; batch second."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, of_inputs: Tensor, of_state: Tensor, input_bias: Tensor, state_bias: Tensor
    ) -> Tensor:
        """States after each step, (steps, batch, hidden)."""
        (steps, batch, _), hidden = inputs.shape, of_state.shape[1]
        states = inputs.new_empty(steps + 1, batch, hidden)
        states[0].zero_()
        gates, products, candidates = (inputs.new_empty(steps, batch, n * hidden) for n in (2, 1, 1))
        state_part, buffer = inputs.new_empty(batch, 3 * hidden), inputs.new_empty(CHUNK, batch, 3 * hidden)
        own_gates, own_product = state_part[:, : 2 * hidden], state_part[:, 2 * hidden :]
        reset, update = (part.unbind(0) for part in gates.chunk(2, -1))
        state, gate, product, candidate = (each.unbind(0) for each in (states, gates, products, candidates))
        for first in range(0, steps, CHUNK):
            chunk = inputs[first : first + CHUNK]
            projected = buffer[: len(chunk)]
            torch.addmm(input_bias, chunk.flatten(0, 1), of_inputs.t(), out=projected.flatten(0, 1))
            to_gates, to_candidate = projected[..., : 2 * hidden].unbind(0), projected[..., 2 * hidden :].unbind(0)
            for index, step in enumerate(range(first, first + len(chunk))):
                torch.addmm(state_bias, state[step], of_state.t(), out=state_part)
                torch.sigmoid(own_gates.add_(to_gates[index]), out=gate[step])
                product[step].copy_(own_product)
                torch.addcmul(to_candidate[index], reset[step], own_product, out=candidate[step]).tanh_()
                torch.lerp(candidate[step], state[step], update[step], out=state[step + 1])
        ctx.save_for_backward(inputs, of_inputs, of_state, states, gates, products, candidates)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients of the inputs, the weights and the biases."""
        inputs, of_inputs, of_state, states, gates, products, candidates = ctx.saved_tensors
        (steps, batch, hidden), outer = candidates.shape, gradients[0].unbind(0)
        # Of candidate, reset, update, and the state's product for the candidate: the first three are those of the
        # projected inputs, the last three those of the projected state, and neither has to be copied together.
        buffer = inputs.new_empty(CHUNK, batch, 4 * hidden)
        by_inputs, by_state = buffer[..., : 3 * hidden], buffer[..., hidden:].unbind(0)
        to_candidate, to_reset, to_update, to_product = (part.unbind(0) for part in buffer.chunk(4, -1))
        reset, update = (part.unbind(0) for part in gates.chunk(2, -1))
        state, product, candidate = (each.unbind(0) for each in (states, products, candidates))
        total, part, carried = (inputs.new_zeros(batch, hidden) for _ in range(3))
        candidate_first = of_inputs.roll(hidden, 0)
        of_all = torch.empty_like(inputs)
        weight, state_weight = torch.zeros_like(of_inputs), torch.zeros_like(of_state)
        bias = inputs.new_zeros(4 * hidden)
        for first in reversed(range(0, steps, CHUNK)):
            chunk = inputs[first : first + CHUNK]
            count = len(chunk)
            for index, step in reversed(list(enumerate(range(first, first + count)))):
                torch.add(carried, outer[step], out=total)
                torch.mul(total, update[step], out=carried)
                torch.sub(total, carried, out=part)
                _of_tanh(part, candidate[step], grad_input=to_candidate[index])
                torch.mul(to_candidate[index], reset[step], out=to_product[index])
                torch.mul(to_candidate[index], product[step], out=part)
                _of_sigmoid(part, reset[step], grad_input=to_reset[index])
                torch.sub(state[step], candidate[step], out=part).mul_(total)
                _of_sigmoid(part, update[step], grad_input=to_update[index])
                carried.addmm_(by_state[index], of_state)
            flat = by_inputs[:count].flatten(0, 1)
            torch.mm(flat, candidate_first, out=of_all[first : first + count].flatten(0, 1))
            weight.addmm_(flat.t(), chunk.flatten(0, 1))
            of_own = buffer[:count, :, hidden:].flatten(0, 1)
            state_weight.addmm_(of_own.t(), states[first : first + count].flatten(0, 1))
            bias += buffer[:count].sum((0, 1))
        return of_all, weight.roll(-hidden, 0), state_weight, bias[: 3 * hidden].roll(-hidden), bias[hidden:]


def pure(layer: nn.GRU, inputs: Tensor) -> Tensor:
    """Outputs of a layer of torch by `Recurrence`, (batch, steps, hidden)."""
    outputs: Tensor = Recurrence.apply(inputs.transpose(0, 1).contiguous(), *layer.parameters())  # type: ignore[no-untyped-call]
    return outputs.transpose(0, 1)


def by_cells(layer: nn.GRU, inputs: Tensor) -> Tensor:
    """The same step by step, as autograd sees it: what a compiler is given."""
    of_inputs, of_state, input_bias, state_bias = layer.parameters()
    hidden = of_state.shape[1]
    projected = nn.functional.linear(inputs, of_inputs, input_bias)
    state, states = inputs.new_zeros(len(inputs), hidden), []
    for step in projected.unbind(1):
        from_state = nn.functional.linear(state, of_state, state_bias)
        update, reset = (
            torch.sigmoid(step[:, a:b] + from_state[:, a:b]) for a, b in ((hidden, 2 * hidden), (0, hidden))
        )
        new = torch.tanh(step[:, 2 * hidden :] + reset * from_state[:, 2 * hidden :])
        state = new + update * (state - new)
        states.append(state)
    return torch.stack(states, dim=1)


def trained(
    forward: Callable[[nn.GRU, Tensor], Tensor], layer: nn.GRU, inputs: Tensor, weights: Tensor
) -> list[Tensor]:
    """Outputs, and the gradients of inputs and weights for a weighted sum of the outputs."""
    inputs = inputs.clone().requires_grad_()
    outputs = forward(layer, inputs)
    loss = (outputs * weights).sum() / outputs.numel() ** 0.5
    return [outputs.detach(), *torch.autograd.grad(loss, [inputs, *layer.parameters()])]


def compare(steps: int, num_inputs: int, hidden: int, repeats: int) -> None:
    """Print time and difference of each way, which take turns."""
    layer, inputs = nn.GRU(num_inputs, hidden, batch_first=True), torch.randn(BATCH, steps, num_inputs)
    weights = torch.randn(BATCH, steps, hidden)
    ways: dict[str, tuple[Callable[[nn.GRU, Tensor], Tensor], torch.dtype]] = {
        "torch, float32": (lambda layer, inputs: layer(inputs)[0], torch.float32),
        "pure, float32": (pure, torch.float32),
        "torch, bf16": (lambda layer, inputs: layer(inputs)[0], torch.bfloat16),
        "pure, bf16": (pure, torch.bfloat16),
    }
    if "compile" in sys.argv:
        ways["compiled, float32"] = torch.compile(by_cells, dynamic=False), torch.float32
    layers = {kind: nn.GRU(num_inputs, hidden, batch_first=True).to(kind) for kind in (torch.float32, torch.bfloat16)}
    for other in layers.values():
        other.load_state_dict(layer.state_dict())
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    expected = trained(ways["torch, float32"][0], layer, inputs, weights)
    furthest = {}
    for name, (forward, kind) in ways.items():  # the first one is not timed
        actual = trained(forward, layers[kind], inputs.to(kind), weights.to(kind))
        furthest[name] = max(
            float((one - other.float()).abs().max() / one.abs().max())
            for one, other in zip(expected, actual, strict=True)
        )
    for _ in range(repeats):
        for name, (forward, kind) in ways.items():
            before = time.process_time()
            trained(forward, layers[kind], inputs.to(kind), weights.to(kind))
            seconds[name].append(time.process_time() - before)
    print(f"{BATCH} windows, {steps} steps, {num_inputs} inputs, hidden {hidden}")
    base = seconds["torch, float32"]
    for name, values in seconds.items():
        ratio = statistics.median(base_time / time_taken for base_time, time_taken in zip(base, values, strict=True))
        print(f"{name:<20} {1000 * statistics.median(values):7.0f} ms  {ratio:5.2f} x  differs by {furthest[name]:.1e}")


def main() -> int:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for sizes in SIZES:
        compare(*sizes, repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
