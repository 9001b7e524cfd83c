"""What the network reads: the named tensors of a batch of windows."""

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor


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
