"""Compilation of kernels: once per CPU, cached on disk, without the GIL.

A kernel takes arrays and scalars only (function arguments and closures miss the disk cache) and
calls only kernels of its own file and of the helper files kernels/_*.py. Numba's disk cache notices
changes of the kernel's own file only; a hash of the helpers and the number of lanes are part of the
name under which a kernel is cached (``_stamp``).
"""

import hashlib
import os
import time
import warnings
from pathlib import Path

import numpy as np

from certus.kernels._fallback import KernelError
from certus.runtime.kernel_clock import kernel_clock

with kernel_clock:
    import llvmlite
    import llvmlite.binding
    import numba
    from numba import types
    from numba.core import errors, event

# The first and last version of Numba whose machine code was tested; as in pyproject.toml.
TESTED_NUMBA_VERSIONS = "0.61", "0.68"

OPTIONS = {
    "nogil": True,  # threads come from one pool, never from parallel=True
    "error_model": "numpy",
    # Sums may be reordered and fused, as vectorising requires; NaN and Inf keep their meaning.
    "fastmath": {"reassoc", "contract"},
}

# Short loops (over a sparse row) are slower when vectorised: sums in order, but fused.
IN_ORDER_OPTIONS = {**OPTIONS, "fastmath": {"contract"}}

_kernels: list = []
_warned = False


def _lanes() -> int:
    """Doubles per vector: 8 with AVX-512, else 4 (on NEON, LLVM splits it into two registers).

    CERTUS_LANES=4 or 8 overrides it for a test run: LLVM compiles either for any CPU.
    """
    chosen = os.environ.get("CERTUS_LANES")
    if chosen is None:
        return 8 if llvmlite.binding.get_host_cpu_features().get("avx512f", False) else 4
    if chosen not in ("4", "8"):
        raise ValueError(f"CERTUS_LANES must be 4 or 8, not {chosen!r}")
    return int(chosen)


LANES = _lanes()


def _stamp() -> str:
    """Hash of everything outside a kernel's own file that its machine code depends on."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("_*.py")):
        digest.update(path.read_bytes())
    return f"x{LANES}_{digest.hexdigest()[:12]}"


STAMP = _stamp()


def kernel(function, options=OPTIONS):
    """Compile ``function`` on first use and cache the machine code on disk."""
    function.__qualname__ += f"_{STAMP}"  # Numba names its cache files by this
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
    except RuntimeError as error:  # "cannot cache function ...: no locator available"
        _warn_uncached(error)
        dispatcher = numba.njit(**options)(function)
    _kernels.append(dispatcher)
    # Numba calls ``compile`` for a signature, on a first call, and for another kernel.
    dispatcher.compile = _named_errors(dispatcher.compile, function)
    return dispatcher


def _named_errors(compile_signature, function):
    """Wrap ``compile_signature`` so that a failure names the versions of the compiler."""

    def compiled(signature):
        try:
            with kernel_clock:
                return compile_signature(signature)
        except (KernelError, errors.ForceLiteralArg, OSError, MemoryError, Warning):
            raise  # a called kernel has failed, or the compiler has not
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            first, last = TESTED_NUMBA_VERSIONS
            raise KernelError(
                f"{function.__module__}.{function.__name__} cannot be compiled ({reason}). certus "
                f"is tested with Numba {first} to {last}; installed are Numba "
                f"{numba.__version__} and llvmlite {llvmlite.__version__}."
            ) from error

    return compiled


def kernel_in_order(function):
    """Compile ``function`` as ``kernel`` does, with sums in order, for loops over few elements."""
    return kernel(function, IN_ORDER_OPTIONS)


def float_type(dtype):
    """Numba type of the numbers in X, for a signature."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    return types.float32 if dtype == np.float32 else types.float64


def n_signatures() -> dict[str, int]:
    """Number of variants of each kernel that this process has compiled or loaded from disk."""
    return {
        f"{k.py_func.__module__}.{k.py_func.__name__}": len(k.signatures)
        for k in _kernels
        if k.signatures
    }


def kernel_folder() -> Path | None:
    """Return the folder below which machine code is kept; None if no folder can be written to.

    Numba decides: NUMBA_CACHE_DIR, beside the source, or a folder of the user.
    """
    from certus.kernels._elementary import exp_below

    kept = exp_below.stats.cache_path
    return None if kept is None else Path(kept).parent


def _warn_uncached(error: RuntimeError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be kept on disk ({error}), so each session compiles them "
            "again: set the environment variable NUMBA_CACHE_DIR to a folder you can write to. In "
            "a container, run `certus warm` when its image is built, or mount such a folder",
            RuntimeWarning,
            stacklevel=3,
        )


class _Announcement(event.Listener):
    """Listener that reports compiling, but not loading from disk, to the clock of kernels.

    A kernel that another one calls is compiled within it; the compiler's lock lets one thread in.
    """

    depth, since = 0, 0.0

    def on_start(self, event):
        if self.depth or any(event.data["dispatcher"] is k for k in _kernels):
            if self.depth == 0:
                function = event.data["dispatcher"].py_func
                kernel_clock.compiling(f"{function.__module__}.{function.__name__}")
                self.since = time.perf_counter()
            self.depth += 1

    def on_end(self, event):
        if self.depth:
            self.depth -= 1
            if self.depth == 0:
                kernel_clock.compiled(time.perf_counter() - self.since)


event.register("numba:compile", _Announcement())
