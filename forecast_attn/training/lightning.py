"""The parts of Lightning that training uses, imported at two thirds of the CPU seconds of its own imports."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from forecast_attn.garbage import held_back

_SIGNAL = "scipy.signal"


class _NotYetLoaded(ModuleType):
    """Stands for scipy.signal while torchmetrics, which Lightning needs, is imported.

    torchmetrics imports it to give it the old name `hamming` where that is missing, and nothing more: the name is
    here. Whatever else is asked for comes from the real module.
    """

    hamming: None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(_SIGNAL) is self:
            del sys.modules[_SIGNAL]
        return getattr(import_module(_SIGNAL), name)


@contextmanager
def importing_less() -> Iterator[None]:
    """Import without looking for garbage, and without scipy.signal where nobody has loaded it or torchmetrics yet."""
    stand_in = _NotYetLoaded(_SIGNAL)
    if "torchmetrics" not in sys.modules:
        sys.modules.setdefault(_SIGNAL, stand_in)
    try:
        with held_back():
            yield
    finally:
        if sys.modules.get(_SIGNAL) is stand_in:
            del sys.modules[_SIGNAL]


with importing_less():
    import pytorch_lightning as pl
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment
    from lightning_fabric.plugins.environments.slurm import SLURMEnvironment
    from lightning_fabric.plugins.environments.torchelastic import TorchElasticEnvironment
    from pytorch_lightning import loggers
    from pytorch_lightning.utilities.exceptions import SIGTERMException
    from pytorch_lightning.utilities.types import OptimizerLRScheduler

__all__ = [
    "LightningEnvironment",
    "OptimizerLRScheduler",
    "SIGTERMException",
    "SLURMEnvironment",
    "TorchElasticEnvironment",
    "loggers",
    "pl",
]
