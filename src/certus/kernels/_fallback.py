"""Fallback for kernels that cannot be compiled: their NumPy twin if there is one, else an error.

Imports no compiler, so that solvers can import this before they know whether they need a kernel.
"""

import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

_failed: set[Callable[..., Any]] = set()
_lock = threading.Lock()


class KernelError(RuntimeError):
    """A kernel cannot be compiled by the installed version of Numba."""


def compiled_or(compiled: Callable[..., Any], twin: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``compiled``, or ``twin`` once compiling its kernel has failed.

    Both take the same arguments and return the same values up to rounding. ``compiled`` imports its
    kernel itself, and writes nothing before the kernel has been compiled. The first failure in a
    process raises one RuntimeWarning; a failed kernel is not tried again. What is returned can be
    pickled if both can.
    """
    return twin if compiled in _failed else CompiledOrTwin(compiled, twin)


class CompiledOrTwin:
    """Function that calls ``compiled``, or ``twin`` where its kernel cannot be compiled."""

    def __init__(self, compiled: Callable[..., Any], twin: Callable[..., Any]):
        self.compiled, self.twin = compiled, twin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.compiled not in _failed:
            try:
                return self.compiled(*args, **kwargs)
            except Exception as error:
                if not cannot_compile(error):
                    raise
                _record_failure(self.compiled, error)
        return self.twin(*args, **kwargs)

    def __repr__(self) -> str:
        return f"compiled_or({self.compiled!r}, {self.twin!r})"


def cannot_compile(error: BaseException) -> bool:
    """Return whether the compiler, or the import of a kernel's module, raised the error.

    A Numba that does not support this NumPy, or an llvmlite without an expected name, fails on
    import.
    """
    if isinstance(error, KernelError):
        return True
    return any(
        frame.f_code.co_name == "<module>"
        and frame.f_globals.get("__name__", "").startswith("certus.kernels.")
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _record_failure(compiled: Callable[..., Any], error: BaseException) -> None:
    with _lock:
        first = not _failed
        _failed.add(compiled)
    if first:
        reason = str(error)
        if not isinstance(error, KernelError):
            reason = f"Compiled kernels cannot be imported ({type(error).__name__}: {error})."
        warnings.warn(
            f"{reason} NumPy is used where it can be, which gives the same answers more slowly.",
            RuntimeWarning,
            stacklevel=3,
        )
