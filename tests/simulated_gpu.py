"""A GPU that is none: tensors that say `cuda:0`, compute on the CPU, and refuse what a real one refuses.

PyTorch's own fake tensors have no values; these have, so that a whole training and a whole forecast can run and be
compared with those of a CPU. An operation on tensors of both devices raises, as it does on a real GPU. Every number
that is read from the device is counted, because a real one is waited for there.

Not simulated: speed, memory, the rounding of another order of sums, streams, cuDNN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytorch_lightning as pl
import torch
from pytorch_lightning.accelerators import CPUAccelerator
from pytorch_lightning.strategies import SingleDeviceStrategy
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

GPU = torch.device("cuda:0")
META = torch.device("meta")

_op = torch.ops.aten
_COPIES = (_op._to_copy.default, _op.copy_.default)
_READS = (
    *(_op._local_scalar_dense.default, _op.is_nonzero.default, _op.equal.default),
    *(_op.nonzero.default, _op.masked_select.default),
)
"""Operations that a GPU has to be waited for, beside copies to the CPU."""


class GpuTensor(Tensor):
    """A tensor on the GPU. Its values are in one on the CPU; to PyTorch's own code it is on the `meta` device."""

    values: Tensor
    device = GPU  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, values: Tensor) -> GpuTensor:
        kind = {"dtype": values.dtype, "device": "meta", "storage_offset": values.storage_offset()}
        tensor: GpuTensor = Tensor._make_wrapper_subclass(cls, values.size(), strides=values.stride(), **kind)
        tensor.values = values
        return tensor

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.values.__reduce_ex__(protocol)  # a checkpoint is read on the CPU first

    def __repr__(self, **_: object) -> str:  # type: ignore[override]
        return f"GpuTensor({self.values!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func} on the GPU, and no SimulatedGpu is entered")


class SimulatedGpu(TorchDispatchMode):
    """While it is entered, tensors can be on the device `GPU`.

    Attributes:
        waits: the operations that read from the device, in their order.
        uploads: the shapes of what was copied to it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []
        self.uploads: list[tuple[int, ...]] = []
        self._compiled = mock.patch("torch.cuda._lazy_init", lambda: None)

    def __enter__(self) -> SimulatedGpu:
        self._compiled.start()
        self._lifts = torch._C._only_lift_cpu_tensors()
        torch._C._set_only_lift_cpu_tensors(True)  # or torch.tensor(…, device=…) would not ask this mode
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        torch._C._set_only_lift_cpu_tensors(self._lifts)
        self._compiled.stop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, on_gpu = dict(kwargs or {}), list[GpuTensor]()
        on_cpu = [False]  # more than a single number

        def values(tensor: Tensor) -> Tensor:
            if isinstance(tensor, GpuTensor):
                on_gpu.append(tensor)
                return tensor.values
            on_cpu[0] |= tensor.ndim > 0
            return tensor

        plain = [_mapped(values, each) for each in args]
        named = {name: _mapped(values, each) for name, each in kwargs.items()}
        # An index may come from the CPU too, but would be copied at every call.
        if on_gpu and on_cpu[0] and func not in _COPIES:
            raise RuntimeError(f"{func}: expected all tensors to be on the same device, but found cuda:0 and cpu")
        target = kwargs.get("device")
        if on_gpu and (func in _READS or (target is not None and target.type == "cpu")):
            self.waits.append(str(func))
        if func is _op._to_copy.default and not on_gpu and target is not None and target.type == GPU.type:
            self.uploads.append(tuple(args[0].shape))
        if target is not None:
            named["device"] = torch.device("cpu")
        result = func(*plain, **named)
        if on_gpu and torch.Tag.inplace_view in func.tags:
            with no_dispatch():  # such as transpose_: the outer tensor's own sizes change too
                func(*args, **kwargs)
        if func is _op.copy_.default:
            return args[0]
        if not (target.type in (GPU.type, "meta") if target is not None else on_gpu):
            return result
        # What changes a tensor in its place gives that very tensor back.
        known = {id(each.values): each for each in on_gpu}
        return _mapped(lambda tensor: known[id(tensor)] if id(tensor) in known else GpuTensor(tensor), result)


def _mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with a function applied to its tensors. (PyTorch's own tree_map takes longer than the operation.)"""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, list | tuple):
        return type(value)([_mapped(function, each) for each in value])
    return value


class _FirstGpu(TorchFunctionMode):
    """Says `cuda:0` where a program says `cuda`: PyTorch would ask the driver for the number.

    What a program makes on `meta`, to count the numbers of a network, is made on the CPU: to PyTorch's own code, `meta`
    is where the simulated GPU's tensors are.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {name: _numbered(value) for name, value in (kwargs or {}).items()}
        if named.get("device") == META:
            named["device"] = torch.device("cpu")
        return func(*map(_numbered, args), **named)


def _numbered(value: Any) -> Any:
    return GPU if isinstance(value, torch.device) and value.type == GPU.type else value


class _GpuAccelerator(CPUAccelerator):
    def setup_device(self, device: torch.device) -> None:
        assert device == GPU


@contextmanager
def simulated_gpu() -> Iterator[SimulatedGpu]:
    """A machine with one GPU, for this package and for Lightning."""

    def trainer(accelerator: str, devices: int, strategy: str, **options: Any) -> pl.Trainer:
        if accelerator == "cpu":
            return real_trainer(accelerator=accelerator, devices=devices, strategy=strategy, **options)
        assert (accelerator, devices, strategy) == ("cuda", 1, "auto")
        return real_trainer(strategy=SingleDeviceStrategy(GPU, _GpuAccelerator()), **options)

    real_trainer = pl.Trainer
    with (
        mock.patch("torch.cuda.is_available", lambda: True),
        mock.patch("torch.cuda.device_count", lambda: 1),
        mock.patch("torch.cuda.manual_seed_all", lambda seed: None),
        mock.patch("torch.cuda.Event", mock.Mock),
        mock.patch("torch.inference_mode", torch.no_grad),  # which tensors of tensors cannot enter
        mock.patch("pytorch_lightning.Trainer", trainer),
        _FirstGpu(),
        SimulatedGpu() as gpu,
    ):
        yield gpu
