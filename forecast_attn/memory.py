"""Memory: garbage collection paused while a program begins, memory reserved, and freed memory given back."""

import atexit
import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files in which a container has its limit."""


def pause_collection() -> None:
    """Pause garbage collection until `resume_collection`.

    Imports make many objects and hardly any garbage: a fifteenth of `import forecast_attn.forecaster` is the search.
    """
    gc.disable()


def resume_collection() -> None:
    """Resume garbage collection, without the objects that exist by now: they stay until the process ends."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
        atexit.unregister(unfreeze_for_triton)
        atexit.register(unfreeze_for_triton)


def unfreeze_for_triton() -> None:
    """Let the end of the process free the objects that stay, if triton is loaded: it would report them as leaks.

    torch loads triton if it is built for CUDA. Without it, a process ends a second sooner if they are not freed.
    """
    if "triton" in sys.modules:
        gc.unfreeze()


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection inside the block."""
    was_enabled = gc.isenabled()
    pause_collection()
    try:
        yield
    finally:
        if was_enabled:
            resume_collection()


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or of the container that this process is in.

    Where Python cannot ask for it, as on Windows, the largest number: every table then fits.
    """
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    texts = [path.read_text().strip() for path in map(Path, LIMITS) if path.is_file()]
    limits = [int(text) for text in texts if text.isdigit()]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])


def reserve_working_memory() -> None:
    """Let OpenBLAS take its working memory now, where the process may have so much memory only (`ulimit -v`).

    It takes it at the first product, once in numpy and once in scipy, and where none is left it waits for ever.
    """
    if resource is None or resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    import numpy as np
    from scipy.linalg.lapack import dpotrf

    np.linalg.cholesky(np.eye(2))
    dpotrf(np.eye(2))


def release_memory() -> None:
    """Return freed memory that the allocators keep to the operating system.

    Parsing a CSV leaves behind several times the table's size in freed blocks. Training would come on top of them,
    and a table of millions of rows would need twice the memory that it does.
    """
    import pyarrow as pa  # not at the top: help pages are printed without it

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
