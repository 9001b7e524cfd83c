"""Both decoders against a loop over the papers' equations, and what must not depend on how they are computed."""

from typing import Any

import pytest
import torch
from torch import Tensor

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.nn.decoder import BahdanauDecoder, DecoderOutput, Feedback, LuongDecoder
from forecast_attn.nn.encoder import EncoderOutput

from .paper_reference import Previous
from .small_networks import (
    BATCH,
    EVERY_ATTENTION,
    EVERY_MECHANISM,
    SIZES,
    assert_equal,
    make_network,
    model_config,
    other_order,
    paper_decoder,
)

pytestmark = pytest.mark.slow

FREE, FORCED, MIXED = "free running", "teacher forcing", "mixed"

# What varies around the mechanism as its paper has it. `feeding` says which previous values are true.
VARIATIONS: dict[str, dict[str, Any]] = {
    "as published": {},
    "other order": {"attention_order": "other"},
    "lstm": {"cell": "lstm"},
    "two layers, both ways": {"num_layers": 2, "bidirectional": True},
    "free running": {"decoding": "autoregressive", "feeding": FREE},
    "teacher forcing": {"decoding": "autoregressive", "feeding": FORCED},
    "mixed forcing": {"decoding": "autoregressive", "feeding": MIXED},
    "input feeding": {"attention_order": "luong", "input_feeding": True},
    "local-p": {"attention_window": "local-p"},
    "local-m": {"attention_window": "local-m"},
    "input feeding, local-m": {"attention_order": "luong", "input_feeding": True, "attention_window": "local-m"},
    "other order, local-p": {"attention_order": "other", "attention_window": "local-p"},
    "all at a time": {
        "attention_order": "luong",
        "input_feeding": True,
        "attention_window": "local-p",
        "cell": "lstm",
        "num_layers": 2,
        "bidirectional": True,
        "decoding": "autoregressive",
        "feeding": MIXED,
    },
    "all at a time, other order": {
        "attention_order": "bahdanau",
        "attention_window": "local-m",
        "cell": "lstm",
        "num_layers": 2,
        "bidirectional": True,
        "decoding": "autoregressive",
        "feeding": MIXED,
    },
}
OF_ATTENTION = ("attention_order", "input_feeding", "attention_window")


class Case:
    """A decoder in float64, something to decode, and the options both came from."""

    def __init__(self, name: str, *, feeding: str = FREE, **options: Any) -> None:
        if options.get("attention_order") == "other":
            options["attention_order"] = other_order(name)
        self.model = model_config(name, **options)
        self.decoder = make_network(name, **options).decoder
        lookback, horizon = SIZES.lookback, SIZES.horizon
        memory_size = self.decoder.bridge.layers[0].in_features
        self.memory = torch.randn(BATCH, lookback, memory_size, dtype=torch.float64)
        self.state = torch.randn(self.model.num_layers, BATCH, memory_size, dtype=torch.float64)
        self.known = torch.randn(BATCH, horizon, self.known_size, dtype=torch.float64)
        self.feedback = Feedback(torch.randn(BATCH, dtype=torch.float64))
        if feeding != FREE:
            truth = torch.randn(BATCH, horizon, dtype=torch.float64)
            use_truth = torch.rand(BATCH, horizon) < (0.5 if feeding == MIXED else 1.1)
            self.feedback = self.feedback._replace(truth=truth, use_truth=use_truth)

    @property
    def known_size(self) -> int:
        extra = 1 if self.decoder.autoregressive else 0
        if isinstance(self.decoder, BahdanauDecoder):
            extra += self.decoder.attention.context_size
        elif self.decoder.input_feeding:
            extra += self.decoder.layers.hidden_size
        return self.decoder.layers.input_size - extra

    def decode(
        self, rows: slice | list[int] = slice(None), *, known: Tensor | None = None, **options: Any
    ) -> DecoderOutput:
        encoded = EncoderOutput(self.memory[rows], self.state[:, rows])
        feedback = Feedback(*(None if value is None else value[rows] for value in self.feedback))
        return self.decoder(encoded, (self.known if known is None else known)[rows], feedback, **options)

    def previous(self, b: int) -> Previous | None:
        """What the reference is told of one window's previous values."""
        if not self.decoder.autoregressive:
            return None
        first, truth, use_truth, _ = self.feedback
        if truth is None or use_truth is None:
            return Previous(first[b].item())
        return Previous(first[b].item(), truth[b].numpy(), use_truth[b].numpy())


def assert_equals_the_paper(case: Case, lengths: list[int], decoded: DecoderOutput) -> None:
    """Window by window; a window has its first `length` keys."""
    paper = paper_decoder(case.model, case.decoder)
    for b, length in enumerate(lengths):
        outputs, weights = paper(
            case.memory[b, :length].numpy(), case.state[:, b].numpy(), case.known[b].numpy(), case.previous(b)
        )
        assert_equal(decoded.outputs[b, :, 0], outputs)
        if weights is None:
            assert decoded.weights is None
        else:
            assert_equal(decoded.weights[b], weights)


@pytest.mark.parametrize("variation", list(VARIATIONS))
@EVERY_MECHANISM
def test_equals_a_loop_over_the_papers_equations(name: str, variation: str) -> None:
    options = VARIATIONS[variation]
    if name == "none":
        options = {key: value for key, value in options.items() if key not in OF_ATTENTION}
    case = Case(name, **options)
    assert_equals_the_paper(case, [SIZES.lookback] * BATCH, case.decode())


@pytest.mark.parametrize("window", ["global", "local-p"])
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
@EVERY_ATTENTION
def test_keys_behind_the_mask_do_not_exist(name: str, order: str, window: str) -> None:
    """A window of which some keys are padding decodes as the papers' loop over the keys that are none."""
    case = Case(name, attention_order=order, attention_window=window)
    lengths = [SIZES.lookback, 6, 1]
    mask = torch.arange(SIZES.lookback) < torch.tensor(lengths)[:, None]
    case.memory.masked_fill_(~mask[:, :, None], torch.nan)
    assert_equals_the_paper(case, lengths, case.decode(mask=mask))


@pytest.mark.parametrize("order", ["bahdanau", "luong"])
@EVERY_ATTENTION
def test_bahdanau_asks_before_the_cell_has_read_the_step_and_luong_after(name: str, order: str) -> None:
    case = Case(name, attention_order=order)
    before = case.decode().weights
    case.known[:, 0] += 1
    after = case.decode().weights
    assert torch.equal(after[:, :, 0], before[:, :, 0]) is (order == "bahdanau")
    assert not torch.equal(after[:, :, 1], before[:, :, 1])


@EVERY_MECHANISM
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_all_steps_at_once_equal_the_step_loop(name: str, cell: str) -> None:
    """The truth about step 0 is not read; calling it unknown only forbids computing all steps at once."""
    order = {} if name == "none" else {"attention_order": "luong"}
    case = Case(name, cell=cell, decoding="autoregressive", feeding=FORCED, num_layers=2, **order)
    at_once = case.decode()
    case.feedback.use_truth[:, 0] = False
    torch.testing.assert_close(case.decode(), at_once, rtol=0, atol=1e-12)


@EVERY_MECHANISM
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_told_its_own_outputs_it_gives_them_again(name: str, cell: str) -> None:
    """A free-running decoder equals the same decoder under teacher forcing by what it said."""
    case = Case(name, cell=cell, decoding="autoregressive")
    free = case.decode()
    everywhere = torch.ones(BATCH, SIZES.horizon, dtype=torch.bool)
    case.feedback = case.feedback._replace(truth=free.outputs[..., 0].detach(), use_truth=everywhere)
    torch.testing.assert_close(case.decode(), free, rtol=0, atol=1e-12)


@EVERY_MECHANISM
def test_a_step_knows_nothing_of_later_steps(name: str) -> None:
    case = Case(name)
    whole = case.decode()
    for steps in range(1, SIZES.horizon):
        first_steps = case.decode(known=case.known[:, :steps])
        torch.testing.assert_close(first_steps.outputs, whole.outputs[:, :steps])


@EVERY_ATTENTION
def test_every_output_depends_on_the_memory(name: str) -> None:
    case = Case(name)
    before = case.decode().outputs
    case.memory += torch.randn_like(case.memory)
    assert ((case.decode().outputs - before).abs() > 1e-6).all()


@EVERY_ATTENTION
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
def test_declining_the_weights_changes_no_output(name: str, order: str) -> None:
    case = Case(name, attention_order=order)
    mask = torch.rand(BATCH, SIZES.lookback) < 0.7
    mask[:, 0] = True
    with_weights, without = case.decode(mask=mask), case.decode(mask=mask, need_weights=False)
    assert without.weights is None
    torch.testing.assert_close(without.outputs, with_weights.outputs, rtol=0, atol=1e-12)


def test_input_feeding_tells_the_cell_what_was_attended_to() -> None:
    """Only with it do a step's weights depend on the memory that the step before found."""
    assert_weights_of_step_1(depend_on_values=False, input_feeding=False)
    assert_weights_of_step_1(depend_on_values=True, input_feeding=True)


def assert_weights_of_step_1(*, depend_on_values: bool, input_feeding: bool) -> None:
    case = Case("luong-location", input_feeding=input_feeding)  # its weights do not look at the memory themselves
    before = case.decode().weights
    case.memory += 1
    after = case.decode().weights
    torch.testing.assert_close(after[:, :, 0], before[:, :, 0])
    assert torch.allclose(after[:, :, 1:], before[:, :, 1:]) is not depend_on_values


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_step_loop_drops_between_layers_as_the_sequence_does(cell: str) -> None:
    """In training the outputs spread as widely as when PyTorch runs its own layers; in evaluation not at all."""
    case = Case("none", cell=cell, num_layers=2, decoding="autoregressive", feeding=FORCED, dropout=0.5)
    case.decoder.head.dropout.p = 0.0
    one_window_often = [0] * 4000
    at_once = case.decode(one_window_often).outputs.std(dim=0)
    case.feedback.use_truth[:, 0] = False
    torch.testing.assert_close(case.decode(one_window_often).outputs.std(dim=0), at_once, rtol=0.1, atol=0)
    assert (at_once > 1e-3).all()
    case.decoder.eval()
    torch.testing.assert_close(case.decode(), case.decode(), rtol=0, atol=0)


def test_the_paper_of_a_mechanism_gives_its_order() -> None:
    for name, mechanism in ATTENTIONS.items():
        expected = BahdanauDecoder if mechanism.order == "bahdanau" else LuongDecoder
        assert model_config(name).order == mechanism.order
        assert type(make_network(name).decoder) is expected


def test_without_attention_the_memory_is_not_read() -> None:
    case = Case("none")
    before = case.decode().outputs
    case.memory += 1
    torch.testing.assert_close(case.decode().outputs, before, rtol=0, atol=0)
    assert not any("combine" in name or "attention" in name for name, _ in case.decoder.named_parameters())
