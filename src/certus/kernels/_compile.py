"""The one way in which certus compiles a kernel: once per CPU, kept on disk, free of the GIL.

A kernel takes arrays and scalars only (function arguments and closures miss the disk cache) and
calls only kernels of its own file (the cache notices changes of that file, not of others).
"""

import sys
import warnings

import numba
import numpy as np
from numba import types
from numba.core import event

OPTIONS = {
    "nogil": True,  # threads come from one pool over kernels, never from parallel=True
    "error_model": "numpy",
    # Sums may be reordered and fused, which vectorising needs; NaN and Inf keep their meaning.
    "fastmath": {"reassoc", "contract"},
}

# Short loops (a sparse row) lose more by being vectorised than they gain: sums in order, fused.
IN_ORDER = {**OPTIONS, "fastmath": {"contract"}}

_kernels: list = []
_warned = False


def kernel(function, options=OPTIONS):
    """Compile `function` on first use and keep the machine code on disk."""
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:  # "cannot cache function ...: no locator available"
        _warn_uncached(error)
        dispatcher = numba.njit(**options)(function)
    _kernels.append(dispatcher)
    return dispatcher


def kernel_in_order(function):
    """The same for loops over few elements."""
    return kernel(function, IN_ORDER)


def float_type(dtype):
    """The type of numbers in X, for a signature."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    return types.float32 if dtype == np.float32 else types.float64


def n_signatures() -> dict[str, int]:
    """How many variants of each kernel this process has compiled or loaded from disk."""
    return {
        f"{k.py_func.__module__}.{k.py_func.__name__}": len(k.signatures)
        for k in _kernels
        if k.signatures
    }


def _warn_uncached(error: RuntimeError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be kept on disk ({error}), so each session compiles them "
            "again: set the environment variable NUMBA_CACHE_DIR to a folder you can write to",
            RuntimeWarning,
            stacklevel=3,
        )


class _Announcement(event.Listener):
    """Tells a person at a terminal why the first call takes seconds; a cache hit says nothing."""

    told = False

    def on_start(self, event):
        if not self.told and any(event.data["dispatcher"] is k for k in _kernels):
            self.told = True
            if sys.stderr is not None and sys.stderr.isatty():
                print("Compiling kernels for this CPU (once, about 20 s)…", file=sys.stderr)

    def on_end(self, event):
        pass


event.register("numba:compile", _Announcement())
