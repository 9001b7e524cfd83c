"""torch's GRU beside one in pure torch, trained forward and backward on a CPU: time and largest difference.

The other one projects all inputs in one product, has one product per step with outputs that are allocated once, and a
backward pass of its own, in which the gradients of all weights are one product each.

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

BATCH, STEPS, INPUTS, HIDDEN = 128, 168, 16, 128


class Recurrence(torch.autograd.Function):
    """The steps of a GRU over inputs that are projected already, (steps, batch, 3 · hidden)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """States after each step, (steps, batch, hidden)."""
        steps, batch, hidden = inputs.shape[0], inputs.shape[1], weight.shape[1]
        states = inputs.new_zeros(steps + 1, batch, hidden)
        gates, candidate = inputs.new_empty(steps, batch, 3 * hidden), inputs.new_empty(steps, batch, hidden)
        transposed = weight.t()
        for step in range(steps):
            own = torch.addmm(bias, states[step], transposed, out=gates[step])
            both = own[:, : 2 * hidden].add_(inputs[step, :, : 2 * hidden]).sigmoid_()
            reset, update = both[:, :hidden], both[:, hidden:]
            new = torch.addcmul(inputs[step, :, 2 * hidden :], reset, own[:, 2 * hidden :], out=candidate[step]).tanh_()
            torch.lerp(new, states[step], update, out=states[step + 1])
        ctx.save_for_backward(weight, states, gates, candidate)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients of the inputs, the weight and the bias."""
        weight, states, gates, candidate = ctx.saved_tensors
        hidden, (outer,) = weight.shape[1], gradients
        reset, update, product = gates.split(hidden, dim=-1)
        # All that no later step decides, at once.
        to_new = (1 - update) * (1 - candidate * candidate)
        to_update = (states[:-1] - candidate) * update * (1 - update)
        to_reset = to_new * product * reset * (1 - reset)
        to_product = to_new * reset
        own, by_state = torch.empty_like(gates), torch.zeros_like(states[0])
        for step in range(len(outer) - 1, -1, -1):
            total = by_state.add_(outer[step])
            torch.mul(total, to_reset[step], out=own[step, :, :hidden])
            torch.mul(total, to_update[step], out=own[step, :, hidden : 2 * hidden])
            torch.mul(total, to_product[step], out=own[step, :, 2 * hidden :])
            # The step before owes the total its own reset and update gates.
            by_state = torch.addmm(total * update[step], own[step], weight)
            to_new[step].mul_(total)
        flat = own.flatten(0, 1)
        of_inputs = torch.cat([own[..., : 2 * hidden], to_new], dim=-1)
        return of_inputs, flat.t() @ states[:-1].flatten(0, 1), flat.sum(0)


def pure(layer: nn.GRU, inputs: Tensor) -> Tensor:
    """Outputs of a layer of torch by `Recurrence`, (batch, steps, hidden)."""
    of_inputs, of_state, input_bias, state_bias = layer.parameters()
    projected = nn.functional.linear(inputs.transpose(0, 1), of_inputs, input_bias)
    states: Tensor = Recurrence.apply(projected, of_state, state_bias)  # type: ignore[no-untyped-call]
    return states.transpose(0, 1)


def by_cells(layer: nn.GRU, inputs: Tensor) -> Tensor:
    """The same step by step, as autograd sees it: what a compiler is given."""
    of_inputs, of_state, input_bias, state_bias = layer.parameters()
    projected = nn.functional.linear(inputs, of_inputs, input_bias)
    state, states = inputs.new_zeros(len(inputs), HIDDEN), []
    for step in projected.unbind(1):
        own = nn.functional.linear(state, of_state, state_bias)
        update, reset = (torch.sigmoid(step[:, a:b] + own[:, a:b]) for a, b in ((HIDDEN, 2 * HIDDEN), (0, HIDDEN)))
        new = torch.tanh(step[:, 2 * HIDDEN :] + reset * own[:, 2 * HIDDEN :])
        state = new + update * (state - new)
        states.append(state)
    return torch.stack(states, dim=1)


def trained(forward: Callable[[nn.GRU, Tensor], Tensor], layer: nn.GRU, inputs: Tensor) -> list[Tensor]:
    """Outputs, and the gradients of inputs and weights for a loss of them."""
    inputs = inputs.clone().requires_grad_()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        outputs = forward(layer, inputs)
        loss = (outputs * torch.randn(outputs.shape)).sum() / outputs.numel() ** 0.5
    return [outputs.detach(), *torch.autograd.grad(loss, [inputs, *layer.parameters()])]


def main() -> int:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layer, inputs = nn.GRU(INPUTS, HIDDEN, batch_first=True), torch.randn(BATCH, STEPS, INPUTS)
    ways: dict[str, tuple[Callable[[nn.GRU, Tensor], Tensor], torch.dtype]] = {
        "torch, float32": (lambda layer, inputs: layer(inputs)[0], torch.float32),
        "pure, float32": (pure, torch.float32),
        "torch, bf16": (lambda layer, inputs: layer(inputs)[0], torch.bfloat16),
        "pure, bf16": (pure, torch.bfloat16),
    }
    if "compile" in sys.argv:
        ways["compiled, float32"] = torch.compile(by_cells, dynamic=False), torch.float32
    layers = {kind: nn.GRU(INPUTS, HIDDEN, batch_first=True).to(kind) for kind in (torch.float32, torch.bfloat16)}
    for other in layers.values():
        other.load_state_dict(layer.state_dict())
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    wanted = trained(ways["torch, float32"][0], layers[torch.float32], inputs)
    furthest = {}
    for name, (forward, kind) in ways.items():  # the first one is not timed
        found = trained(forward, layers[kind], inputs.to(kind))
        furthest[name] = max(
            float((one - other.float()).abs().max() / one.abs().max()) for one, other in zip(wanted, found, strict=True)
        )
    for _ in range(repeats):
        for name, (forward, kind) in ways.items():
            before = time.process_time()
            trained(forward, layers[kind], inputs.to(kind))
            seconds[name].append(time.process_time() - before)
    base = seconds["torch, float32"]
    for name, values in seconds.items():
        ratio = statistics.median(mine / own for mine, own in zip(base, values, strict=True))
        print(f"{name:<20} {1000 * statistics.median(values):7.0f} ms  {ratio:5.2f} x  differs by {furthest[name]:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
