"""Both decoders of the literature. They differ in *when* they ask the attention.

    BahdanauDecoder  c_i from s_{i-1};  s_i = cell([x_i; c_i], s_{i-1});      features [s_i; c_i; x_i]
    LuongDecoder     h_t = cell(x_t, h_{t-1});  c_t from h_t;                 features tanh(W_c [c_t; h_t])

x is what is known of the step: future covariates, calendar, position, and when decoding is autoregressive
the previous value. A step may be a patch of several time steps. (Bahdanau et al. 2015, sections 3.1 and A.2;
Luong et al. 2015, section 3.)
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast_attn.nn.attention import Attention, Memory
from forecast_attn.nn.attention_window import KeyMask
from forecast_attn.nn.encoder import EncoderOutput
from forecast_attn.nn.heads import Head, MakeHead, PointHead
from forecast_attn.nn.precision import widened
from forecast_attn.nn.recurrent import Bridge, make_recurrent_layers, run_layers, step_layers, top_hidden

KnownSteps = Float[Tensor, "batch num_steps known_size"]
States = Float[Tensor, "batch steps decoder_size"]


class DecoderSizes(NamedTuple):
    """Widths a decoder is built from; `input_size` is what is known of a step, previous value included."""

    input_size: int
    memory_size: int
    decoder_size: int
    num_layers: int = 1


class Feedback(NamedTuple):
    """Previous values for autoregressive decoding: the decoder's own, or the truth where `use_truth` picks it.

    With `truth` and without `use_truth` every step is given the truth.

    The decoder's own value is its point forecast, or with `uniform` one drawn with these numbers between 0 and 1.
    """

    first: Float[Tensor, "batch"]
    truth: Float[Tensor, "batch horizon"] | None = None
    use_truth: Bool[Tensor, "batch horizon"] | None = None
    uniform: Float[Tensor, "batch horizon 2"] | None = None

    def value_before(self, step: int, predicted: Float[Tensor, "batch"] | None) -> Float[Tensor, "batch 1"]:
        """The value fed to a step (0-based): the last known one, then the true or the `predicted` one."""
        if step == 0 or predicted is None:
            return self.first[:, None]
        if self.truth is None:
            return predicted[:, None]
        if self.use_truth is None:
            return self.truth[:, step - 1, None]
        return torch.where(self.use_truth[:, step], self.truth[:, step - 1], predicted)[:, None]

    def fed_back(self, head: Head, output: Float[Tensor, "batch output_size"], step: int) -> Float[Tensor, "batch"]:
        """The value that a step's output (0-based) stands for."""
        if self.uniform is None:
            return head.point(output)
        return head.sample(head.parameters_of(widened(output)), self.uniform[:, step])

    @property
    def _always_uses_truth(self) -> bool:
        if self.use_truth is None:
            return True
        # Reading the values would wait for a GPU, at every step of training.
        return self.use_truth.device.type == "cpu" and bool(self.use_truth.all())

    def all_values(self) -> Float[Tensor, "batch horizon 1"] | None:
        """Every step's previous value, when no step needs the decoder's own."""
        if self.truth is None or not self._always_uses_truth:
            return None
        return torch.cat([self.first[:, None], self.truth[:, :-1]], dim=1)[..., None]


class DecoderOutput(NamedTuple):
    """The head's outputs for every step, and the weights where there is attention and they were requested."""

    outputs: Float[Tensor, "batch num_steps patch_size"]
    weights: Float[Tensor, "batch heads num_steps key_len"] | None
    features: Float[Tensor, "batch num_steps feature_size"]
    """Input of the head."""


class _Steps:
    """Results that a step loop collects."""

    def __init__(self) -> None:
        self.outputs: list[Tensor] = []
        self.weights: list[Tensor] = []
        self.features: list[Tensor] = []

    def add(self, features: Tensor, output: Tensor, weights: Tensor | None) -> None:
        self.features.append(features)
        self.outputs.append(output)
        if weights is not None:
            self.weights.append(weights)

    def stacked(self) -> DecoderOutput:
        weights = torch.cat(self.weights, dim=2) if self.weights else None
        return DecoderOutput(torch.stack(self.outputs, dim=1), weights, torch.stack(self.features, dim=1))


class BahdanauDecoder(nn.Module):
    """Queries with the previous state and feeds the context vector into the cell; always step by step."""

    def __init__(
        self,
        sizes: DecoderSizes,
        attention: Attention,
        *,
        cell: str = "gru",
        dropout: float = 0.0,
        autoregressive: bool = False,
        make_head: MakeHead = PointHead,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.autoregressive = autoregressive
        self.bridge = Bridge(sizes.memory_size, sizes.decoder_size, sizes.num_layers, cell)
        self.layers = make_recurrent_layers(
            cell,
            sizes.input_size + attention.context_size,
            sizes.decoder_size,
            num_layers=sizes.num_layers,
            dropout=dropout,
        )
        self.feature_size = sizes.decoder_size + attention.context_size + sizes.input_size
        self.head = make_head(self.feature_size, dropout)

    def forward(
        self,
        encoded: EncoderOutput,
        known: KnownSteps,
        feedback: Feedback,
        *,
        mask: KeyMask | None = None,
        need_weights: bool = True,
    ) -> DecoderOutput:
        memory = self.attention.prepare(encoded.memory, mask=mask)
        state = self.bridge(encoded.state)
        steps, predicted = _Steps(), None
        for step in range(known.shape[1]):
            inputs = known[:, step]
            if self.autoregressive:
                inputs = torch.cat([inputs, feedback.value_before(step, predicted)], dim=-1)
            query = top_hidden(state)[:, None]
            attended = self.attention.attend(query, memory, first_step=step, need_weights=need_weights)
            context_vector = attended.context_vector[:, 0]
            state = step_layers(self.layers, torch.cat([inputs, context_vector], dim=-1), state)
            features = torch.cat([top_hidden(state), context_vector, inputs], dim=-1)
            output = self.head(features)
            predicted = feedback.fed_back(self.head, output, step)
            steps.add(features, output, attended.weights)
        return steps.stacked()


class LuongDecoder(nn.Module):
    """Runs the cell, asks with the new state, and answers with the attentional state tanh(W_c [c; h]).

    With `input_feeding` the attentional state enters the next step's cell (section 3.3). Without attention the
    features are the decoder's own state: the plain encoder-decoder. All steps are computed at once whenever no
    step needs the one before it.
    """

    def __init__(
        self,
        sizes: DecoderSizes,
        attention: Attention | None,
        *,
        cell: str = "gru",
        dropout: float = 0.0,
        autoregressive: bool = False,
        input_feeding: bool = False,
        make_head: MakeHead = PointHead,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.autoregressive = autoregressive
        self.input_feeding = input_feeding
        self.bridge = Bridge(sizes.memory_size, sizes.decoder_size, sizes.num_layers, cell)
        self.layers = make_recurrent_layers(
            cell,
            sizes.input_size + (sizes.decoder_size if input_feeding else 0),
            sizes.decoder_size,
            num_layers=sizes.num_layers,
            dropout=dropout,
        )
        self.combine = None
        if attention is not None:
            self.combine = nn.Linear(attention.context_size + sizes.decoder_size, sizes.decoder_size, bias=False)
        self.feature_size = sizes.decoder_size
        self.head = make_head(self.feature_size, dropout)

    def forward(
        self,
        encoded: EncoderOutput,
        known: KnownSteps,
        feedback: Feedback,
        *,
        mask: KeyMask | None = None,
        need_weights: bool = True,
    ) -> DecoderOutput:
        memory = None if self.attention is None else self.attention.prepare(encoded.memory, mask=mask)
        inputs = self._inputs_of_all_steps(known, feedback)
        if inputs is None:
            return self._step_by_step(encoded, known, feedback, memory, need_weights)
        hidden, _ = run_layers(self.layers, inputs, self.bridge(encoded.state))
        state, weights = self.attentional_state(hidden, memory, need_weights=need_weights)
        return DecoderOutput(self.head(state), weights, state)

    def attentional_state(
        self, hidden: States, memory: Memory | None, *, first_step: int = 0, need_weights: bool = True
    ) -> tuple[States, Float[Tensor, "batch heads steps key_len"] | None]:
        """h̃ = tanh(W_c [c; h]) (equation 5), and the weights behind c."""
        if self.attention is None or memory is None or self.combine is None:
            return hidden, None
        attended = self.attention.attend(hidden, memory, first_step=first_step, need_weights=need_weights)
        return torch.tanh(self.combine(torch.cat([attended.context_vector, hidden], dim=-1))), attended.weights

    def _inputs_of_all_steps(
        self, known: KnownSteps, feedback: Feedback
    ) -> Float[Tensor, "batch num_steps input_size"] | None:
        """Inputs of the cell at every step; None when a step needs the output of the one before it."""
        if self.input_feeding:
            return None
        if not self.autoregressive:
            return known
        previous = feedback.all_values()
        return None if previous is None else torch.cat([known, previous], dim=-1)

    def _step_by_step(
        self, encoded: EncoderOutput, known: KnownSteps, feedback: Feedback, memory: Memory | None, need_weights: bool
    ) -> DecoderOutput:
        state = self.bridge(encoded.state)
        attentional_state = torch.zeros_like(top_hidden(state))
        steps, predicted = _Steps(), None
        for step in range(known.shape[1]):
            inputs = [known[:, step]]
            if self.autoregressive:
                inputs.append(feedback.value_before(step, predicted))
            if self.input_feeding:
                inputs.append(attentional_state)
            state = step_layers(self.layers, torch.cat(inputs, dim=-1), state)
            answer, weights = self.attentional_state(
                top_hidden(state)[:, None], memory, first_step=step, need_weights=need_weights
            )
            attentional_state = answer[:, 0]
            output = self.head(attentional_state)
            predicted = feedback.fed_back(self.head, output, step)
            steps.add(attentional_state, output, weights)
        return steps.stacked()
