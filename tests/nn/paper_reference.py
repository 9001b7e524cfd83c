"""The papers' equations, one window and one step at a time: numpy, float64, loops, and nothing of ours.

    [B]  Bahdanau, Cho & Bengio 2015, "Neural machine translation by jointly learning to align and translate"
    [L]  Luong, Pham & Manning 2015, "Effective approaches to attention-based neural machine translation"
    [V]  Vaswani et al. 2017, "Attention is all you need"
    [C]  Cho et al. 2014 (GRU), [H] Hochreiter & Schmidhuber 1997 (LSTM), both with PyTorch's gates and names

`h` with an index j is an encoder state (a key and a value), `s` or `h` with an index t or i a decoder state.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Weights = dict[str, Array]
CellState = tuple[Array, ...]  # GRU: (h,), LSTM: (h, c)
Steps = Iterator[tuple[float, Array | None]]  # of a decoder: output and weights


def part(weights: Weights, name: str) -> Weights:
    """The weights of one part of a network, under their names inside it."""
    return {key.removeprefix(f"{name}."): value for key, value in weights.items() if key.startswith(f"{name}.")}


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


# --------------------------------------------------------------------------- recurrent cells


def gru_step(x: Array, state: CellState, w: Weights, layer: str) -> CellState:
    """[C], with the reset gate after the recurrent product, as cuDNN and PyTorch have it."""
    (h,) = state
    x_r, x_z, x_n = np.split(w[f"weight_ih_{layer}"] @ x + w[f"bias_ih_{layer}"], 3)
    h_r, h_z, h_n = np.split(w[f"weight_hh_{layer}"] @ h + w[f"bias_hh_{layer}"], 3)
    reset, update = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    proposal = np.tanh(x_n + reset * h_n)
    return ((1 - update) * proposal + update * h,)


def lstm_step(x: Array, state: CellState, w: Weights, layer: str) -> CellState:
    """[H] with a forget gate."""
    h, c = state
    gates = w[f"weight_ih_{layer}"] @ x + w[f"bias_ih_{layer}"] + w[f"weight_hh_{layer}"] @ h + w[f"bias_hh_{layer}"]
    enter, forget, proposal, leave = np.split(gates, 4)
    c = sigmoid(forget) * c + sigmoid(enter) * np.tanh(proposal)
    return (sigmoid(leave) * np.tanh(c), c)


CELLS: dict[str, Callable[[Array, CellState, Weights, str], CellState]] = {"gru": gru_step, "lstm": lstm_step}


def first_state(h: Array, cell: str) -> CellState:
    """An LSTM's memory starts empty."""
    return (h, np.zeros_like(h)) if cell == "lstm" else (h,)


def step_layers(x: Array, states: list[CellState], w: Weights, cell: str) -> list[CellState]:
    """One time step through a stack of cells: each layer reads the hidden state of the one below."""
    new: list[CellState] = []
    for index, state in enumerate(states):
        new.append(CELLS[cell](x, state, w, f"l{index}"))
        x = new[-1][0]
    return new


def encode(inputs: Array, weights: Weights, cell: str, *, num_layers: int, bidirectional: bool) -> tuple[Array, Array]:
    """[B] 3.2: annotations h_j, both directions side by side, and the last state of every layer.

    The linear skip from a step's inputs to its annotation is ours.
    """
    w, below, last = part(weights, "layers"), inputs, []
    for index in range(num_layers):
        annotations, ends = [], []
        for direction in ("", "_reverse") if bidirectional else ("",):
            size = w[f"weight_hh_l{index}{direction}"].shape[1]
            state = first_state(np.zeros(size), cell)
            outputs: list[Array] = []
            for x in below[::-1] if direction else below:
                state = CELLS[cell](x, state, w, f"l{index}{direction}")
                outputs.append(state[0])
            annotations.append(outputs[::-1] if direction else outputs)
            ends.append(state[0])
        below = np.concatenate(annotations, axis=1)
        last.append(np.concatenate(ends))
    skip = weights.get("skip.weight")
    return below if skip is None else below + inputs @ skip.T, np.stack(last)


# --------------------------------------------------------------------------- scores: one query, one key at position j

Score = Callable[[Array, Array, int, Weights], float]


def additive_normed(s: Array, h: Array, j: int, w: Weights) -> float:
    """TensorFlow Addons, BahdanauAttention(normalize=True)."""
    v = w["gain"] * w["vector"] / math.sqrt(w["vector"] @ w["vector"])
    return v @ np.tanh(w["query_projection.weight"] @ s + w["key_projection.weight"] @ h + w["bias"])


def scaled_dot(s: Array, h: Array, j: int, w: Weights) -> float:
    """[V] eq. 1."""
    q, k = w["query_projection.weight"] @ s, w["key_projection.weight"] @ h
    return q @ k / math.sqrt(len(q))


SCORES: dict[str, Score] = {
    # [B] A.1.2
    "bahdanau": lambda s, h, j, w: (
        w["vector"] @ np.tanh(w["query_projection.weight"] @ s + w["key_projection.weight"] @ h)
    ),
    "bahdanau-normed": additive_normed,
    "luong-dot": lambda s, h, j, w: s @ h,  # [L] §3.1
    "luong-general": lambda s, h, j, w: s @ w["weight"] @ h,  # [L] §3.1
    "luong-concat": lambda s, h, j, w: w["vector"] @ np.tanh(w["weight"] @ np.concatenate([s, h])),  # [L] §3.1
    "luong-location": lambda s, h, j, w: w["weight"][j] @ s,  # [L] eq. 8
    "luong-scaled": lambda s, h, j, w: w["factor"] * (s @ h),  # TensorFlow Addons, LuongAttention(scale=True)
    "scaled-dot": scaled_dot,
    "keras-additive": lambda s, h, j, w: w["vector"] @ np.tanh(s + h),
    "keras-dot": lambda s, h, j, w: s @ h,
}


# --------------------------------------------------------------------------- attention


@dataclass
class PaperAttention:
    """From one query to its context vector and its weights.

    Attributes:
        weights: of the score ("score.…") and of the window ("window.…").
        num_keys: all keys of the window, of which the memory may hold only the first.
    """

    mechanism: str
    weights: Weights
    num_keys: int
    heads: int = 1
    window: str = "global"
    radius: int = 0
    season: int = 0

    def __call__(self, query: Array, memory: Array, step: int) -> tuple[Array, Array]:
        """The context vector, and the weights, shape (heads, num_keys)."""
        if self.mechanism == "multi-head":
            return self._all_heads(query, memory, step)
        w = part(self.weights, "score")
        scores = [SCORES[self.mechanism](query, h, j, w) for j, h in enumerate(memory)]  # [B] eq. 6: e_ij
        alpha = self._align(np.array(scores), query, step)
        context_vector = sum(a * h for a, h in zip(alpha, memory, strict=False))  # [B] eq. 5
        return context_vector, alpha[None]

    def _all_heads(self, query: Array, memory: Array, step: int) -> tuple[Array, Array]:
        """[V] 3.2.2: softmax(q k / sqrt(d)) v in every head, concatenated, times W_O."""
        w = part(self.weights, "score")
        queries = np.split(w["query_projection.weight"] @ query, self.heads)
        keys = np.split(memory @ w["key_projection.weight"].T, self.heads, axis=1)
        values = np.split(memory @ w["value_projection.weight"].T, self.heads, axis=1)
        alphas = [self._align(k @ q / math.sqrt(len(q)), query, step) for q, k in zip(queries, keys, strict=True)]
        answers = [alpha[: len(v)] @ v for alpha, v in zip(alphas, values, strict=True)]
        return w["output_projection.weight"] @ np.concatenate(answers), np.stack(alphas)

    def _align(self, scores: Array, query: Array, step: int) -> Array:
        """[B] eq. 6, [L] eq. 7: softmax over the keys that the window shows; the others get 0."""
        inside, gain = self._view(query, step, len(scores))
        exponentials = np.where(inside, np.exp(scores - scores.max()), 0)
        alpha = np.zeros(self.num_keys)
        alpha[: len(scores)] = exponentials / exponentials.sum() * gain
        return alpha

    def _view(self, query: Array, step: int, length: int) -> tuple[Array, Array]:
        """[L] 3.2: which of the positions a query sees, and what multiplies their weights."""
        positions, D = np.arange(length), self.radius
        if self.window == "local-p":
            w = part(self.weights, "window")
            p = length * sigmoid(w["vector"] @ np.tanh(w["projection.weight"] @ query))  # [L] eq. 9
            gaussian = np.exp(-((positions - p) ** 2) / (2 * (D / 2) ** 2))  # [L] eq. 10, sigma = D / 2
            return abs(positions - math.floor(p)) <= D, gaussian
        if self.window == "local-m":  # p_t is the newest key whole seasons before the step's target
            p = max(j for j in range(self.num_keys) if (self.num_keys + step - j) % self.season == 0)
            return abs(positions - p) <= D, np.ones(length)
        return np.full(length, True), np.ones(length)


# --------------------------------------------------------------------------- decoders


@dataclass
class Previous:
    """Which value an autoregressive step is told: the true one where `use_truth`, otherwise the decoder's own."""

    first: float
    truth: Array | None = None
    use_truth: NDArray[np.bool_] | None = None

    def value(self, step: int, prediction: float) -> float:
        if step == 0:
            return self.first
        forced = self.truth is not None and self.use_truth is not None and self.use_truth[step]
        return self.truth[step - 1] if forced else prediction


@dataclass
class PaperDecoder:
    """What both decoders have in common.

    Attributes:
        attention: None is the plain encoder-decoder.
        cell: gru or lstm.
        order: bahdanau or luong.
        weights: everything that the decoder learned.
        patch_length: values that a step says at once.
    """

    attention: PaperAttention | None
    cell: str
    order: str
    weights: Weights
    input_feeding: bool = False
    patch_length: int = 1

    def __call__(
        self, memory: Array, last: Array, known: Array, previous: Previous | None
    ) -> tuple[Array, Array | None]:
        """Every step's output, or outputs side by side, and the weights, shape (heads, steps, num_keys)."""
        loop = self._bahdanau if self.order == "bahdanau" else self._luong
        outputs, weights = zip(*loop(memory, last, known, previous), strict=True)
        return np.array(outputs), None if self.attention is None else np.stack(weights, axis=1)

    def _bahdanau(self, memory: Array, last: Array, known: Array, previous: Previous | None) -> Steps:
        s, y = self._first_states(last), 0.0
        for i, x in enumerate(known):
            x = x if previous is None else np.append(x, previous.value(i, y))
            c, alpha = self.attention(s[-1][0], memory, i)  # [B] eq. 5 and 6: asks with s_{i-1}
            s = step_layers(np.concatenate([x, c]), s, part(self.weights, "layers"), self.cell)  # [B] 3.1: s_i
            y = self._head(np.concatenate([s[-1][0], c, x]))  # [B] eq. 4: g(y_{i-1}, s_i, c_i)
            yield y, alpha

    def _luong(self, memory: Array, last: Array, known: Array, previous: Previous | None) -> Steps:
        h, y = self._first_states(last), 0.0
        h_tilde, alpha = np.zeros_like(h[-1][0]), None  # [L] 3.3: nothing to feed at first
        for t, x in enumerate(known):
            x = x if previous is None else np.append(x, previous.value(t, y))
            x = np.concatenate([x, h_tilde]) if self.input_feeding else x  # [L] 3.3
            h = step_layers(x, h, part(self.weights, "layers"), self.cell)
            h_tilde = h[-1][0]
            if self.attention is not None:
                c, alpha = self.attention(h[-1][0], memory, t)  # [L] 3.1: asks with h_t
                h_tilde = np.tanh(self.weights["combine.weight"] @ np.concatenate([c, h[-1][0]]))  # [L] eq. 5
            y = self._head(h_tilde)  # [L] eq. 6, without the softmax over words
            yield y, alpha

    def _first_states(self, last: Array) -> list[CellState]:
        """[B] A.2.2: s_0 = tanh(W_s h), here in every layer."""
        w = part(self.weights, "bridge.layers")
        return [
            first_state(np.tanh(w[f"{layer}.weight"] @ h + w[f"{layer}.bias"]), self.cell)
            for layer, h in enumerate(last)
        ]

    def _head(self, features: Array) -> float | Array:
        outputs = self.weights["head.linear.weight"] @ features + self.weights["head.linear.bias"]
        return outputs[0] if self.patch_length == 1 else outputs
