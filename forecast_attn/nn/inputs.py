"""The inputs of the network: the window's tensors, observation indicators, embeddings, lags, positions and patches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor, nn
from torch.nn.functional import pad

from forecast_attn.errors import ConfigError


@runtime_checkable
class WindowTensors(Protocol):
    """A batch of windows, all on the scale of their series. What was not observed is 0 in the past."""

    @property
    def past_target(self) -> Float[Tensor, "batch lookback"]: ...
    @property
    def past_covariates(self) -> Float[Tensor, "batch lookback num_past_inputs"]: ...
    @property
    def future_covariates(self) -> Float[Tensor, "batch horizon num_future_inputs"]: ...
    @property
    def static_covariates(self) -> Float[Tensor, "batch num_static"]: ...
    @property
    def future_target(self) -> Float[Tensor, "batch horizon"]: ...
    @property
    def past_observed(self) -> Bool[Tensor, "batch lookback"] | None: ...
    @property
    def past_categories(self) -> Int[Tensor, "batch lookback num_past_categories"]: ...
    @property
    def future_categories(self) -> Int[Tensor, "batch horizon num_future_categories"]: ...
    @property
    def static_categories(self) -> Int[Tensor, "batch num_static_categories"]: ...


# --------------------------------------------------------------------------- patches
# Patches: consecutive time steps that the recurrent network takes as one step, and the attention as one key.


@dataclass(frozen=True)
class Patches:
    """The patches of a window: patch k, of lookback or horizon, is its steps k · length … (k + 1) · length - 1.

    The last patch of the horizon may reach beyond it: the inputs of those steps are zeros, and their outputs
    is cut off. With a length of 1 nothing changes.

    Attributes:
        num_keys: patches of the lookback, which are the encoder's steps and the attention's keys.
        num_steps: patches of the horizon, which are the decoder's steps and the attention's queries.

    Raises:
        ConfigError: patches do not make up the lookback.
    """

    lookback: int
    horizon: int
    length: int = 1

    def __post_init__(self) -> None:
        if self.lookback % self.length:
            below = self.num_keys * self.length
            nearest = [str(steps) for steps in (below, below + self.length) if steps]
            raise ConfigError(
                f"--patch-length {self.length} cuts the lookback into patches, so it must divide it; "
                f"the lookback is {self.lookback}",
                f"--lookback {' or '.join(nearest)}",
            )

    @property
    def num_keys(self) -> int:
        return self.lookback // self.length

    @property
    def num_steps(self) -> int:
        return -(-self.horizon // self.length)

    def of_past(self, steps: Float[Tensor, "batch lookback size"]) -> Float[Tensor, "batch num_keys patch_size"]:
        """The steps of each patch, one after the other."""
        batch, _, size = steps.shape
        return steps.reshape(batch, self.num_keys, self.length * size)

    def of_future(self, steps: Float[Tensor, "batch horizon size"]) -> Float[Tensor, "batch num_steps patch_size"]:
        """The steps of each patch, one after the other; zeros beyond the horizon."""
        batch, horizon, size = steps.shape
        beyond = self.num_steps * self.length - horizon
        whole = pad(steps, (0, 0, 0, beyond)) if beyond else steps
        return whole.reshape(batch, self.num_steps, self.length * size)

    def observed(self, steps: Bool[Tensor, "batch lookback"] | None) -> Bool[Tensor, "batch num_keys"] | None:
        """A patch may be attended to where at least one of its steps was observed; None where all were."""
        return None if steps is None else steps.reshape(steps.shape[0], self.num_keys, self.length).any(dim=-1)

    def in_steps(
        self, patches: Float[Tensor, "batch num_steps patch_size"]
    ) -> Float[Tensor, "batch horizon output_size"]:
        """Cut the outputs of each patch into its time steps, without those beyond the horizon."""
        batch, _, size = patches.shape
        return patches.reshape(batch, -1, size // self.length)[:, : self.horizon]


# --------------------------------------------------------------------------- embedding
# Learned vectors for categories, and their positions among the inputs.


LARGEST_SIZE = 16
"""Widest embedding: beyond it a category would weigh more than the recurrent state it feeds."""


class CategoryEmbedding(nn.Module):
    """One table per categorical covariate; their vectors are joined.

    A column with n categories gets vectors of ceil(n / 2), at most 16, numbers. Code 0, the unknown category, is the
    zero vector and stays so: it moves the forecast in neither direction.

    Args:
        num_codes: codes of each column, the unknown one included.

    Attributes:
        size: width of the joined vectors.
    """

    def __init__(self, num_codes: Sequence[int]) -> None:
        super().__init__()
        widths = [min(LARGEST_SIZE, codes // 2 or 1) for codes in num_codes]
        self.tables = nn.ModuleList(
            nn.Embedding(codes, width, padding_idx=0) for codes, width in zip(num_codes, widths, strict=True)
        )
        self.size = sum(widths)

    def forward(
        self, numbers: Float[Tensor, "*batch num_numbers"], codes: Int[Tensor, "*batch num_columns"]
    ) -> Float[Tensor, "*batch size"]:
        """The numbers, and behind them the vectors of the categories."""
        vectors = [table(codes[..., column]) for column, table in enumerate(self.tables)]
        return torch.cat([numbers, *vectors], dim=-1) if vectors else numbers


class Embeddings(nn.Module):
    """Covariates with their categories embedded: along the lookback, along the horizon, and per series.

    A future category has one table for lookback and horizon: its categories mean the same before and after the cut-off.

    Args:
        past_codes: codes of each past category, the unknown one included.
        future_codes: of each future category.
        static_codes: of each static category.
    """

    def __init__(
        self, past_codes: Sequence[int] = (), future_codes: Sequence[int] = (), static_codes: Sequence[int] = ()
    ) -> None:
        super().__init__()
        self.num_past = len(past_codes)
        self.past_only = CategoryEmbedding(past_codes)
        self.shared = CategoryEmbedding(future_codes)
        self.per_series = CategoryEmbedding(static_codes)
        self.past_size = self.past_only.size + self.shared.size
        self.future_size = self.shared.size
        self.static_size = self.per_series.size

    def past(self, window: WindowTensors) -> Float[Tensor, "batch lookback past_size"]:
        with_past = self.past_only(window.past_covariates, window.past_categories[..., : self.num_past])
        embedded: Tensor = self.shared(with_past, window.past_categories[..., self.num_past :])
        return embedded

    def future(self, window: WindowTensors) -> Float[Tensor, "batch horizon future_size"]:
        embedded: Tensor = self.shared(window.future_covariates, window.future_categories)
        return embedded

    def static(self, window: WindowTensors) -> Float[Tensor, "batch static_size"]:
        embedded: Tensor = self.per_series(window.static_covariates, window.static_categories)
        return embedded


# --------------------------------------------------------------------------- projection
# A learned projection of each step's inputs, in front of a recurrent cell.


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


# --------------------------------------------------------------------------- lags
# Lag features: values a season, two seasons, a week before a step of the horizon, as inputs of that step.


def lag_positions(lookback: int, horizon: int, lags: tuple[int, ...]) -> Int64[Tensor, "horizon num_lags"]:
    """Position in the lookback (0-based) that lies the lag before each step of the horizon.

    Where that step is not known yet, it is the one twice the lag before, and so on: as a seasonal-naive forecast
    repeats its last season.

    Raises:
        ConfigError: a lag reaches behind the lookback.
    """
    for lag in lags:
        if lag > lookback:
            raise ConfigError(
                f"--lags {lag} reaches behind the lookback of {lookback} steps", f"--lookback {lag}, or shorter lags"
            )
    # On the CPU also where a network is only counted, on "meta": there a range costs 1.5 s, for it imports sympy.
    steps = torch.arange(1, horizon + 1, device="cpu")[:, None]
    back = torch.tensor(lags, dtype=torch.long, device="cpu")
    before = -(-steps // back) * back if lags else back.expand(horizon, 0)
    return lookback - 1 + steps - before if lags else before


class LagFeatures(nn.Module):
    """Values of the lookback as inputs of the horizon.

    The attention has to find out which past step resembles one to be forecast; of some of them it is known beforehand.
    (As the lag features of GluonTS's DeepAR: Alexandrov et al. 2020, "GluonTS", JMLR 21.)
    """

    positions: Tensor

    def __init__(self, lookback: int, horizon: int, lags: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.lags = lags
        self.register_buffer("positions", lag_positions(lookback, horizon, lags), persistent=False)

    def forward(
        self, known: Float[Tensor, "batch horizon known_size"], past: Float[Tensor, "batch lookback size"]
    ) -> Float[Tensor, "batch horizon size_with_lags"]:
        """Append to the known inputs of each step the values of the steps a lag before.

        Args:
            known: of the horizon.
            past: of the lookback, 0 where not observed.
        """
        if not self.lags:
            return known
        return torch.cat([known, past[:, self.positions].flatten(2)], dim=-1)


# --------------------------------------------------------------------------- position
# Position of a step relative to the cut-off, as sinusoids that an attention score can shift by a lag.


NUM_WAVELENGTHS = 8
SHORTEST_WAVELENGTH = 4.0


def position_features(
    lookback: int, horizon: int
) -> tuple[Float[Tensor, "lookback size"], Float[Tensor, "horizon size"]]:
    """Sine and cosine of the time to the cut-off, at wavelengths from 4 steps to twice the window.

    Lookback steps lie at -(lookback - 1) … 0 and horizon steps at 1 … horizon, so a fixed lag between a step and
    the past step it needs is a rotation, which a bilinear or additive score can learn. The recurrent cells alone
    would have to count. (Vaswani et al. 2017, section 3.5, with relative positions and fewer wavelengths.)
    """
    longest = 2.0 * (lookback + horizon)
    ends = math.log10(SHORTEST_WAVELENGTH), math.log10(longest)
    wavelengths = torch.logspace(*ends, NUM_WAVELENGTHS, device="cpu")
    steps = torch.arange(1 - lookback, horizon + 1, dtype=torch.float32, device="cpu")
    angles = 2 * math.pi * steps[:, None] / wavelengths
    features = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return features[:lookback], features[lookback:]


# --------------------------------------------------------------------------- observed
# Values of the lookback that were not observed.


Observed = Bool[Tensor, "batch lookback"] | None  # None where every step was observed


def observed_only(values: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch lookback"]:
    """The values, 0 where not observed."""
    return values if observed is None else values.masked_fill(~observed, 0)


def last_observed(values: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch"]:
    """The latest observed value of each window; its last one, 0, where none was observed."""
    if observed is None:
        return values[:, -1]
    back = observed.flip(-1).int().argmax(dim=-1, keepdim=True)
    return values.gather(-1, values.shape[-1] - 1 - back)[:, 0]


def observed_mean(values: Float[Tensor, "batch length"], observed: Observed) -> Float[Tensor, "batch 1"]:
    """Mean of the observed values; 0 where there is none."""
    if observed is None:
        return values.mean(dim=1, keepdim=True)
    total = observed_only(values, observed).sum(dim=1, keepdim=True)
    return total / observed.sum(dim=1, keepdim=True).clamp(min=1)


def observed_deviation(values: Float[Tensor, "batch length"], observed: Observed) -> Float[Tensor, "batch 1"]:
    """Standard deviation (with n, not n - 1) of the observed values; 0 where there is none."""
    if observed is None:
        return values.std(dim=1, keepdim=True, correction=0)
    return torch.sqrt(observed_mean((values - observed_mean(values, observed)) ** 2, observed))
