"""Patches: consecutive time steps that the recurrent network takes as one step, and the attention as one key.

A past of 168 hours in patches of 24 is seven steps of a recurrence, and seven keys. (The segment-wise iterations of Lin
et al. 2023, "SegRNN: segment recurrent neural network for long-term time series forecasting"; for transformers Nie et
al. 2023, "A time series is worth 64 words", section 3.1, here with a stride of the patch's length.)
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from forecast_attn.errors import ConfigError


@dataclass(frozen=True)
class Patches:
    """How a window is cut: patch k, of lookback or horizon, is its steps k · length … (k + 1) · length - 1.

    The last patch of the horizon may reach beyond it: what is known of those steps is zeros, and what is said of them
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
        return None if steps is None else steps.reshape(len(steps), self.num_keys, self.length).any(dim=-1)

    def in_steps(
        self, patches: Float[Tensor, "batch num_steps patch_size"]
    ) -> Float[Tensor, "batch horizon output_size"]:
        """What is said of each patch as what is said of each time step of the horizon."""
        batch, _, size = patches.shape
        return patches.reshape(batch, -1, size // self.length)[:, : self.horizon]
