"""The parts of Lightning that training uses, and the optimiser, imported without what training does not need.

A short training mostly waits for imports: with torch's compiler and matplotlib, they would take half as long again.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any, ParamSpec, TypeVar

import torch

from forecast_attn.memory import collection_paused

P = ParamSpec("P")
T = TypeVar("T")
_COMPILER = "torch._dynamo"


class _NotYetLoaded(ModuleType):
    """Stands for a module while Lightning is imported. Names that are not given here come from the real one."""

    def __init__(self, name: str, **names: Any) -> None:
        super().__init__(name)
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _class_of(module: str, name: str) -> type:
    """A class that stands for one of a module: its instances and attributes are those of the real one."""

    class Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return module in sys.modules and isinstance(instance, getattr(sys.modules[module], name))

        def __getattr__(cls, attribute: str) -> Any:
            return getattr(getattr(import_module(module), name), attribute)

    return Kind(name, (), {})


def _hidden_from_compiler(function: Callable[P, T], recursive: bool = True, **_: object) -> Callable[P, T]:
    """The function as `torch.compiler.disable` gives it, once the compiler is loaded; nothing compiles before."""

    @functools.cache
    def disabled() -> Callable[P, T]:
        return torch.compiler.disable(function, recursive)  # type: ignore[no-any-return, no-untyped-call]

    @functools.wraps(function)
    def either(*args: P.args, **kwargs: P.kwargs) -> T:
        return (disabled() if _COMPILER in sys.modules else function)(*args, **kwargs)

    return either


@contextmanager
def _style(*names: Any) -> Iterator[None]:
    """As `matplotlib.pyplot.style.context`."""
    from matplotlib import style

    with style.context(*names):
        yield


def _names_asked_for() -> Iterator[tuple[str, dict[str, Any]]]:
    """Modules that are imported for a few names, with these.

    Lightning imports torch's compiler, and sympy with it, for a class and to hide two functions from it; torchmetrics
    imports pyplot for types and a decorator, scipy.signal to give it the old name `hamming` where that is missing, and
    transformers for two classes that score texts.
    """
    module = _class_of(f"{_COMPILER}.eval_frame", "OptimizedModule")
    yield _COMPILER, {"OptimizedModule": module, "disable": _hidden_from_compiler}
    if "torchmetrics" in sys.modules:
        return
    yield "scipy.signal", {"hamming": None}
    yield "transformers", {name: _class_of("transformers", name) for name in ("AutoModel", "AutoTokenizer")}
    if "matplotlib" not in sys.modules and find_spec("matplotlib") is not None:
        yield "matplotlib", {"colors": SimpleNamespace(Colormap=_class_of("matplotlib.colors", "Colormap"))}
        yield "matplotlib.axes", {"Axes": _class_of("matplotlib.axes", "Axes")}
        figure, style = _class_of("matplotlib.figure", "Figure"), SimpleNamespace(context=_style)
        yield "matplotlib.pyplot", {"Figure": figure, "style": style}


@contextmanager
def importing_less() -> Iterator[None]:
    """Import with garbage collection paused, and with stand-ins of a few modules that nobody has loaded.

    Any other name comes from the real module.
    """
    with ExitStack() as leaving, collection_paused():
        for name, names in list(_names_asked_for()):
            leaving.enter_context(_in_place_of(name, names))
        yield


@contextmanager
def _in_place_of(name: str, names: dict[str, Any]) -> Iterator[None]:
    """Let a stand-in be the module inside the block, unless it is loaded already or not installed."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return
    stand_in = _NotYetLoaded(name, __spec__=spec, __path__=spec.submodule_search_locations, **names)
    sys.modules[name] = stand_in
    package, _, child = name.rpartition(".")
    if isinstance(parent := sys.modules[package] if package else None, _NotYetLoaded):
        setattr(parent, child, stand_in)
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


with importing_less():
    import pytorch_lightning as pl
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment
    from lightning_fabric.plugins.environments.slurm import SLURMEnvironment
    from lightning_fabric.plugins.environments.torchelastic import TorchElasticEnvironment
    from pytorch_lightning import loggers
    from pytorch_lightning.strategies import FSDPStrategy
    from pytorch_lightning.strategies.launchers import _MultiProcessingLauncher as MultiProcessingLauncher
    from pytorch_lightning.utilities.exceptions import SIGTERMException
    from pytorch_lightning.utilities.types import OptimizerLRScheduler


class AdamW(torch.optim.AdamW):
    """torch's own, to the bit, without the wrappers that hide it from torch's compiler and load that for it."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))
    zero_grad = inspect.unwrap(torch.optim.AdamW.zero_grad)
    add_param_group = inspect.unwrap(torch.optim.AdamW.add_param_group)
    state_dict = inspect.unwrap(torch.optim.AdamW.state_dict)
    load_state_dict = inspect.unwrap(torch.optim.AdamW.load_state_dict)


__all__ = [
    "AdamW",
    "FSDPStrategy",
    "LightningEnvironment",
    "MultiProcessingLauncher",
    "OptimizerLRScheduler",
    "SIGTERMException",
    "SLURMEnvironment",
    "TorchElasticEnvironment",
    "loggers",
    "pl",
]
