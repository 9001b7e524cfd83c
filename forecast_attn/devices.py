"""The device of `--accelerator`, and the number of CPU threads for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from forecast_attn.errors import ConfigError


def choose_device(accelerator: str) -> torch.device:
    """The device of `--accelerator`; `auto` is a GPU where there is one.

    Raises:
        ConfigError: this machine has no such device.
    """
    candidates = {"auto": ("cuda", "mps", "cpu"), "gpu": ("cuda", "mps")}.get(accelerator, (accelerator,))
    for name in candidates:
        if _is_present(name):
            return torch.device(name)
    here = ", ".join(filter(_is_present, ("cpu", "cuda", "mps")))
    raise ConfigError(f"--accelerator {accelerator}: this machine has none; it has {here}", "--accelerator auto")


def _is_present(device: str) -> bool:
    if device == "cuda":
        return torch.cuda.is_available()
    return device == "cpu" or torch.backends.mps.is_available()


@contextmanager
def cpu_threads(count: int) -> Iterator[None]:
    """Compute with this number of threads, and restore the caller's afterwards.

    A recurrent network of usual size gains a fifth from a second thread on an idle machine and loses up to nine tenths
    where another program wants the core, because threads that wait for each other spin. And sums of floats depend on
    the number of threads: with a number of its own, a seed gives the same bytes on any number of cores.
    """
    previous = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
