"""Settings of the library: a process-wide default, and a context that overrides it.

A context belongs to the thread (or task) that opened it, so two threads can hold different ones.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

_DEFAULTS: dict[str, Any] = {"threads": None}
_process = dict(_DEFAULTS)
_context: ContextVar[dict[str, Any] | None] = ContextVar("certus_config", default=None)


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    for name, value in settings.items():
        if name not in _DEFAULTS:
            raise TypeError(f"no setting {name!r}; there is {', '.join(map(repr, _DEFAULTS))}")
        whole = isinstance(value, int) and not isinstance(value, bool)
        if name == "threads" and value is not None and not (whole and value >= 1):
            raise ValueError(f"threads={value!r}: give a whole number from 1 up, or None")
    return settings


def get_config() -> dict[str, Any]:
    """The settings in force here, as a new dict.

    >>> import certus
    >>> with certus.config_context(threads=1):
    ...     certus.get_config()
    {'threads': 1}
    """
    return {**_process, **(_context.get() or {})}


def set_config(**settings: Any) -> None:
    """Change the process-wide settings.

    Parameters
    ----------
    threads : int or None
        Threads that one fit may use; None means as many as there are cores. The answer is the
        same bits for any number of them.
    """
    _process.update(_checked(settings))


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Override settings inside a ``with`` block, for the calling thread only."""
    token = _context.set({**(_context.get() or {}), **_checked(settings)})
    try:
        yield
    finally:
        _context.reset(token)


@cache
def _cores() -> int:
    from joblib import cpu_count

    # joblib's workers and schedulers limit our share of the cores by OMP_NUM_THREADS
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores: int = cpu_count()
    return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores


def effective_threads(n_jobs: int | None = None) -> int:
    """Threads for one fit: the settings', lowered by an estimator's ``n_jobs``."""
    threads = {**_process, **(_context.get() or {})}["threads"] or _cores()
    if n_jobs is None:
        return threads
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a positive number, -1 or None")
    return min(threads, n_jobs) if n_jobs > 0 else max(1, threads + 1 + n_jobs)
