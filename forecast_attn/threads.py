"""Sets the number of CPU threads that PyTorch uses, for the length of a block."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def cpu_threads(count: int) -> Iterator[None]:
    """Compute with so many threads, and leave the caller's number as it was.

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
