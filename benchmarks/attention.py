"""Cost of the attention layers, beside the form one would write first.

    python benchmarks/attention.py            prints the ratios, in one run, on one thread (about a minute)
    python benchmarks/attention.py --rounds 3

Every pair is timed in turns, a round of the one and a round of the other, in CPU seconds of this process, and the
ratio is the median over the rounds; so what else the machine does disturbs little, and both alike. "naive" is the
textbook form with plain autograd.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forecast_attn.nn.additive_kernel import additive_scores, exponential
from forecast_attn.nn.attention import Attention
from forecast_attn.nn.decoder import BahdanauDecoder, DecoderSizes, Feedback, LuongDecoder
from forecast_attn.nn.encoder import Encoder, EncoderOutput
from forecast_attn.nn.recurrent import step_layers, top_hidden
from forecast_attn.nn.scores import make_score

Run = Callable[[], object]
SIZE = 64


class Comparison(NamedTuple):
    optimised: float  # milliseconds
    naive: float
    ratio: float  # naive / optimised, median over the rounds


def compare(optimised: Run, naive: Run, rounds: int) -> Comparison:
    """Time both in turns, after one warm-up each."""
    times = [(_milliseconds(optimised), _milliseconds(naive)) for _ in range(rounds + 1)]
    optimised_times, naive_times = zip(*times[1:], strict=True)
    ratios = [naive_time / optimised_time for optimised_time, naive_time in times[1:]]
    return Comparison(statistics.median(optimised_times), statistics.median(naive_times), statistics.median(ratios))


def _milliseconds(run: Run) -> float:
    """One run, or the mean of several where one is too short to time."""
    start = time.process_time()
    run()
    once = time.process_time() - start
    repeats = max(1, int(0.02 / once))
    start = time.process_time()
    for _ in range(repeats):
        run()
    return 1e3 * (time.process_time() - start) / repeats


def saved_mebibytes(run: Run) -> float:
    """Mebibytes that autograd keeps for backward, each storage once."""
    saved: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()
    assert result is not None
    return sum(saved.values()) / 2**20


# --------------------------------------------------------------------------- additive scores


def naive_additive(query: Tensor, key: Tensor, vector: Tensor) -> Tensor:
    return torch.tanh(query[:, :, None] + key[:, None]) @ vector


def additive_section(rounds: int) -> None:
    heading("additive scores, all queries at once, forward + backward")
    for batch, query_len, key_len in ((32, 96, 336), (32, 24, 168), (128, 24, 168), (8, 7, 28)):
        query, key, vector = leaves((batch, query_len, SIZE), (batch, key_len, SIZE), (SIZE,))
        pull = torch.randn(batch, query_len, key_len)

        def kernel(query: Tensor = query, key: Tensor = key, vector: Tensor = vector) -> Tensor:
            return additive_scores(query, key, vector, exponential(key))

        def naive(query: Tensor = query, key: Tensor = key, vector: Tensor = vector) -> Tensor:
            return naive_additive(query, key, vector)

        timed = compare(backward_of(kernel, pull), backward_of(naive, pull), rounds)
        memory = saved_mebibytes(kernel), saved_mebibytes(naive)
        saved = f"keeps {memory[0]:.1f} MiB against {memory[1]:.1f} ({memory[1] / memory[0]:.0f}× less)"
        line(f"batch {batch}, {query_len} queries, {key_len} keys", timed, saved)


def backward_of(scores: Callable[[], Tensor], pull: Tensor) -> Run:
    return lambda: scores().backward(pull)  # type: ignore[no-untyped-call]


# --------------------------------------------------------------------------- every mechanism, small


Parameters = Mapping[str, Tensor]
NAIVE_SCORES: dict[str, Callable[[Tensor, Tensor, Parameters], Tensor]] = {
    "dot": lambda q, k, p: q @ k.mT,
    "keras-dot": lambda q, k, p: q @ k.mT,
    "scaled": lambda q, k, p: p["factor"] * (q @ k.mT),
    "general": lambda q, k, p: q @ (k @ p["weight"].T).mT,
    "location": lambda q, k, p: q @ p["weight"].T,
    "scaled-dot": lambda q, k, p: project(q, p, "query") @ project(k, p, "key").mT / SIZE**0.5,
    "additive": lambda q, k, p: naive_additive(project(q, p, "query"), project(k, p, "key"), p["vector"]),
    "additive-normed": lambda q, k, p: naive_additive(
        project(q, p, "query"), project(k, p, "key") + p["bias"], p["gain"] * p["vector"] / p["vector"].norm()
    ),
    "concat": lambda q, k, p: torch.tanh(all_pairs(q, k) @ p["weight"].T) @ p["vector"],
    "keras-additive": lambda q, k, p: naive_additive(q, k, p["vector"]),
}


def project(tensor: Tensor, parameters: Parameters, part: str) -> Tensor:
    return tensor @ parameters[f"{part}_projection.weight"].T


def all_pairs(query: Tensor, key: Tensor) -> Tensor:
    """[h; h̄] for every pair, as equation 7 draws it."""
    shape = (-1, query.shape[1], key.shape[1], -1)
    return torch.cat([query[:, :, None].expand(shape), key[:, None].expand(shape)], dim=-1)


def naive_layer(name: str, attention: Attention) -> Callable[[Tensor, Tensor], Tensor]:
    """The same layer as one would write it from the equation."""
    parameters = dict(attention.score.named_parameters())
    if name == "multi-head":
        return lambda query, value: naive_multi_head(query, value, parameters, heads=4)
    return lambda query, value: torch.softmax(NAIVE_SCORES[name](query, value, parameters), dim=-1) @ value


def naive_multi_head(query: Tensor, value: Tensor, parameters: Parameters, heads: int) -> Tensor:
    def split(tensor: Tensor, part: str) -> Tensor:
        return project(tensor, parameters, part).view(*tensor.shape[:2], heads, -1).transpose(1, 2)

    q, k, v = split(query, "query"), split(value, "key"), split(value, "value")
    context_vector = torch.softmax(q @ k.mT / (SIZE / heads) ** 0.5, dim=-1) @ v
    return project(context_vector.transpose(1, 2).flatten(2), parameters, "output")


def layers_section(rounds: int) -> None:
    heading("whole layers at batch 32, 24 queries, 168 keys, forward + backward, weights included")
    query, value = leaves((32, 24, SIZE), (32, 168, SIZE))
    names = (
        "dot",
        "scaled",
        "general",
        "location",
        "scaled-dot",
        "multi-head",
        "additive",
        "additive-normed",
        "concat",
    )
    for name in (*names, "keras-additive", "keras-dot"):
        attention = make_attention(name)
        naive = naive_layer(name, attention)
        torch.testing.assert_close(attention(query, value).context_vector, naive(query, value), atol=1e-4, rtol=1e-4)

        def ours_run(attention: Attention = attention) -> None:
            attention(query, value).context_vector.sum().backward()

        def naive_run(naive: Callable[[Tensor, Tensor], Tensor] = naive) -> None:
            naive(query, value).sum().backward()  # type: ignore[no-untyped-call]

        line(name, compare(ours_run, naive_run, rounds))


# --------------------------------------------------------------------------- decoders


def luong_section(rounds: int) -> None:
    heading("Luong decoder without input feeding, 24 steps at once against its own step loop, forward + backward")
    encoded, known = encoded_window(32, 168), torch.randn(32, 24, 4)
    for name in ("general", "dot", "multi-head", "additive"):
        decoder = LuongDecoder(DecoderSizes(4, SIZE, SIZE), make_attention(name))

        def at_once(decoder: LuongDecoder = decoder) -> None:
            decoder(encoded, known, Feedback(torch.zeros(32))).outputs.sum().backward()

        def step_loop(decoder: LuongDecoder = decoder) -> None:
            luong_loop(decoder, encoded, known).sum().backward()  # type: ignore[no-untyped-call]

        line(f"whole decoder, {name}", compare(at_once, step_loop, rounds))
    heading("the attention layer inside it: 24 queries at once against 24 calls")
    (query,) = leaves((32, 24, SIZE))
    for name in ("general", "dot", "multi-head", "additive"):
        attention = make_attention(name)

        def all_queries(attention: Attention = attention) -> None:
            attention(query, encoded.memory).context_vector.sum().backward()

        def one_by_one(attention: Attention = attention) -> None:
            memory = attention.prepare(encoded.memory)
            steps = [attention.attend(one, memory, first_step=t) for t, one in enumerate(torch.split(query, 1, dim=1))]
            torch.cat([step.context_vector for step in steps], dim=1).sum().backward()  # type: ignore[no-untyped-call]

        line(f"layer, {name}", compare(all_queries, one_by_one, rounds))


def luong_loop(decoder: LuongDecoder, encoded: EncoderOutput, known: Tensor) -> Tensor:
    assert decoder.attention is not None
    memory, state = decoder.attention.prepare(encoded.memory), decoder.bridge(encoded.state)
    outputs = []
    for step in range(known.shape[1]):
        state = step_layers(decoder.layers, known[:, step], state)
        answer, _ = decoder.attentional_state(top_hidden(state)[:, None], memory, first_step=step)
        outputs.append(decoder.head(answer[:, 0]))
    return torch.stack(outputs, dim=1)


class HandWritten(nn.Module):
    """GRU encoder and Bahdanau decoder as a careful person writes them: keys projected once, cells by hand."""

    def __init__(self, input_size: int, known_size: int) -> None:
        super().__init__()
        self.encoder = nn.GRU(input_size, SIZE, batch_first=True)
        self.bridge = nn.Linear(SIZE, SIZE)
        self.query = nn.Linear(SIZE, SIZE, bias=False)
        self.key = nn.Linear(SIZE, SIZE, bias=False)
        self.vector = nn.Linear(SIZE, 1, bias=False)
        self.cell = nn.GRUCell(known_size + SIZE, SIZE)
        self.head = nn.Linear(2 * SIZE + known_size, 1)

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        values, last = self.encoder(past)
        state, keys = torch.tanh(self.bridge(last[-1])), self.key(values)
        outputs, weights = [], []
        for step in range(known.shape[1]):
            scores = self.vector(torch.tanh(self.query(state)[:, None] + keys)).squeeze(-1)
            weights.append(torch.softmax(scores, dim=-1))
            context_vector = torch.bmm(weights[-1][:, None], values)[:, 0]
            state = self.cell(torch.cat([known[:, step], context_vector], dim=-1), state)
            outputs.append(self.head(torch.cat([state, context_vector, known[:, step]], dim=-1)))
        torch.stack(weights, dim=1)
        return torch.stack(outputs, dim=1)


def bahdanau_section(rounds: int) -> None:
    heading("training step of a whole Bahdanau model (encoder, decoder, AdamW), 168 -> 24, against a hand-written one")
    for batch in (32, 128):
        past, known = torch.randn(batch, 168, 3), torch.randn(batch, 24, 4)
        encoder, decoder = (
            Encoder(3, SIZE, skip=False),
            BahdanauDecoder(DecoderSizes(4, SIZE, SIZE), make_attention("additive")),
        )
        modules = nn.ModuleList([encoder, decoder])
        hand = HandWritten(3, 4)

        def our_outputs(
            encoder: Encoder = encoder, decoder: BahdanauDecoder = decoder, past: Tensor = past, known: Tensor = known
        ) -> Tensor:
            result: Tensor = decoder(encoder(past), known, Feedback(torch.zeros(len(past)))).outputs
            return result

        def hand_outputs(hand: HandWritten = hand, past: Tensor = past, known: Tensor = known) -> Tensor:
            result: Tensor = hand(past, known)
            return result

        line(f"batch {batch}", compare(training_step(modules, our_outputs), training_step(hand, hand_outputs), rounds))


def training_step(model: nn.Module, outputs: Callable[[], Tensor]) -> Run:
    optimiser = torch.optim.AdamW(model.parameters())

    def step() -> None:
        optimiser.zero_grad()
        outputs().abs().mean().backward()  # type: ignore[no-untyped-call]
        optimiser.step()

    return step


# --------------------------------------------------------------------------- parts


def make_attention(name: str) -> Attention:
    sizes: dict[str, Any] = {
        "query_size": SIZE,
        "key_size": SIZE,
        "attention_size": SIZE,
        "heads": 4,
        "key_length": 168,
    }
    return Attention(make_score(name, **sizes))


def encoded_window(batch: int, lookback: int) -> EncoderOutput:
    memory, state = leaves((batch, lookback, SIZE), (1, batch, SIZE))
    return EncoderOutput(memory, state)


def leaves(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    return tuple((torch.randn(shape) / shape[-1] ** 0.25).requires_grad_() for shape in shapes)


def heading(text: str) -> None:
    print(f"\n{text}\n{'':36}{'ours':>10}{'naive':>11}{'faster':>9}")


def line(name: str, timed: Comparison, remark: str = "") -> None:
    print(f"  {name:34}{timed.optimised:8.2f} ms{timed.naive:8.2f} ms{timed.ratio:8.2f}×  {remark}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the attention layers cost beside the naive forms.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison (default 7)")
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, one thread of {os.cpu_count()} CPUs, float32, size {SIZE}")
    for section in (additive_section, layers_section, luong_section, bahdanau_section):
        section(rounds)


if __name__ == "__main__":
    main()
