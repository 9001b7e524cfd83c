"""Gives memory that reading a table has used back to the operating system."""

import ctypes
import sys

import pyarrow as pa


def release_memory() -> None:
    """Return freed memory that the allocators keep.

    Parsing a CSV leaves behind several times the table's size in freed blocks. Training would come on top of them,
    and a table of millions of rows would need twice the memory that it does.
    """
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
