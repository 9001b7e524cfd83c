"""Half precision stops where scores begin: they, and the weights they become, are float32 or wider."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def widened(tensor: Tensor) -> Tensor:
    """The tensor in float32, unless it is that wide already."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def full_precision(tensor: Tensor) -> AbstractContextManager[object]:
    """A context in which autocast, where it is on, leaves the operations on such a tensor alone."""
    kind = tensor.device.type
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()
