"""Garbage collection, held back while a program begins: imports make many objects and hardly any garbage.

A fifteenth of the time of `import forecast_attn.forecaster` goes to looking for some.
"""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def hold_back() -> None:
    """Look for no garbage until `look_again`."""
    gc.disable()


def look_again() -> None:
    """Look for garbage again, but not among what there is by now: it stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
        atexit.unregister(let_go)
        atexit.register(let_go)


def let_go() -> None:
    """Let the end of the process clear what has stayed, where triton is loaded: it would print it as leaks.

    torch loads it where it is built for CUDA. Elsewhere the end is a second sooner without.
    """
    if "triton" in sys.modules:
        gc.unfreeze()


@contextmanager
def held_back() -> Iterator[None]:
    """Look for no garbage inside the block; behind it as before."""
    looked = gc.isenabled()
    hold_back()
    try:
        yield
    finally:
        if looked:
            look_again()
