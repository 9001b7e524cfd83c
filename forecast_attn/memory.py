"""Memory: garbage collection that is paused while a program begins, and freed memory given back to the system."""

import atexit
import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
