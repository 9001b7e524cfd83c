"""FullyShardedDataParallel (FSDP): each process keeps a part of the weights, their average and the optimiser's state.

FSDP is Lightning's strategy for GPUs; torch's FSDP works on CPUs too, through gloo, if it is given the device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_state_dict,
)
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn import Module
from torch.optim import Optimizer

from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.training.lightning import FSDPStrategy, MultiProcessingLauncher

WHOLE = StateDictOptions(full_state_dict=True)
"""Every process gets all weights or states. (Lightning offloads them to the CPU, which crashes if they are there.)"""


class AnyDeviceFSDP(FSDPStrategy):
    """Lightning's strategy, on CPUs too, in forked processes. (Lightning refuses its own class on CPUs.)"""

    def _configure_launcher(self) -> None:
        assert self.cluster_environment is not None
        if not self.cluster_environment.creates_processes_externally:
            self._launcher = MultiProcessingLauncher(self, start_method="fork")

    def _setup_model(self, model: Module) -> Any:
        # The network and its average are cut up alike, so that each process averages its part.
        return FullyShardedDataParallel(
            model,
            device_id=self.root_device,
            auto_wrap_policy=ModuleWrapPolicy({ForecastNetwork}),
            mixed_precision=self.mixed_precision_config,
            use_orig_params=True,
        )

    def lightning_module_state_dict(self) -> Any:
        return get_model_state_dict(self.model, options=WHOLE)

    def optimizer_state(self, optimizer: Optimizer) -> Any:
        return get_optimizer_state_dict(self.model, optimizer, options=WHOLE)

    def load_checkpoint(self, checkpoint_path: str | Path, weights_only: bool | None = None) -> dict[str, Any]:
        checkpoint: dict[str, Any] = self.checkpoint_io.load_checkpoint(checkpoint_path, weights_only=weights_only)
        (optimizer_state,) = checkpoint["optimizer_states"]
        set_state_dict(
            self.model,
            self.optimizers,
            model_state_dict=checkpoint["state_dict"],
            optim_state_dict=optimizer_state,
            options=WHOLE,
        )
        return checkpoint
