"""One kept thread pool, and one limiter that keeps BLAS at one thread while it works.

Two overlapping limits of BLAS threads would race and could leave the process at one thread for
good, so entries are counted: the first sets the limit, the last restores what was there before.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from contextvars import copy_context
from typing import Any

COMPILED = (".so", ".pyd", ".dylib")
PATIENCE = 0.1  # seconds until Ctrl-C is noticed, at most
SINGLE_THREADED_WORK = 1 << 16  # multiplications that OpenBLAS does on one thread in any case


class _BlasLimiter:
    """BLAS at one thread from the first entry to the last exit."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entries = 0
        self.libraries: list[Any] | None = None
        self.modules = 0  # how many were loaded when libraries were looked for
        self.compiled: set[str] = set()  # and those of them that are machine code
        self.before: list[int] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.entries == 0:
                if self._more_is_loaded() or self.libraries is None:
                    self.libraries = _blas_libraries()
                self.before = [library.get_num_threads() for library in self.libraries]
                self._set([1] * len(self.libraries))
            self.entries += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.entries -= 1
            if self.entries == 0:
                self._set(self.before)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self.libraries or [], counts, strict=True):
            # threadpoolctl lets only the thread that set a limit lift it, but the last thread to
            # leave need not be the first that came; the counting here takes the place of that rule
            setter = getattr(library, "_real_set_num_threads", library.set_num_threads)
            setter(count)

    def _more_is_loaded(self) -> bool:
        """Has a compiled module come in since, which may have brought a BLAS of its own?"""
        if len(sys.modules) == self.modules:
            return False
        self.modules, before = len(sys.modules), self.compiled
        self.compiled = {
            name
            for name, module in list(sys.modules.items())
            if str(getattr(module, "__file__", None)).endswith(COMPILED)
        }
        return not self.compiled <= before

    def for_work(self, shape: tuple[int, int]) -> Any:
        """This limiter where BLAS would use threads of its own; nothing for tiny arrays.

        The bits of a product depend on how many threads share it.
        """
        n, p = shape
        return nullcontext() if n * p * min(n, p) < SINGLE_THREADED_WORK else self

    def forget(self) -> None:
        """In a forked child the threads that had entered are gone: restore, and count anew."""
        if self.entries > 0:
            self.entries = 0
            self._set(self.before)


def _blas_libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401  its OpenBLAS copy must be loaded to be seen
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().lib_controllers
    return [library for library in found if library.user_api == "blas"]


blas_limiter = _BlasLimiter()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_pool_lock = threading.Lock()


def _kept_pool(size: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _pool_lock:
        if _pool is None or _pool_size < size:
            # an older, smaller pool finishes what others gave it and is then collected
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="certus"), size
        return _pool


def _before_fork() -> None:
    # a fork must not fall between setting a limit and noting it
    blas_limiter.lock.acquire()
    _pool_lock.acquire()


def _after_fork_in_parent() -> None:
    _pool_lock.release()
    blas_limiter.lock.release()


def _after_fork_in_child() -> None:
    global _pool, _pool_size
    _pool, _pool_size = None, 0
    blas_limiter.forget()
    _after_fork_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


class _Stopped(Exception):
    """Somebody else's error, or Ctrl-C, made this block's work useless."""


_work = threading.local()


def give_up_if_stopped() -> None:
    """To be called between the parts of a block that takes longer than people wait."""
    stopped = getattr(_work, "stopped", None)
    if stopped is not None and stopped.is_set():
        raise _Stopped


def run_on_threads(task: Callable[[int], None], count: int, threads: int) -> None:
    """Run ``task(0) … task(count − 1)``, taken in order, on ``threads`` threads.

    The first error stops the rest and is raised; so does Ctrl-C, after the blocks under way.
    """
    if threads == 1 or count == 1:
        for i in range(count):
            task(i)
        return
    numbers = iter(range(count))
    taking = threading.Lock()
    stopped = threading.Event()

    def work() -> None:
        outer, _work.stopped = getattr(_work, "stopped", None), stopped
        try:
            while not stopped.is_set():
                with taking:
                    i = next(numbers, None)
                if i is None:
                    return
                task(i)
        except _Stopped:
            return
        except BaseException:
            stopped.set()
            raise
        finally:
            _work.stopped = outer

    pool = _kept_pool(threads)
    with blas_limiter:
        # each thread in a copy of the caller's context: its settings and NumPy's error state
        futures = [pool.submit(copy_context().run, work) for _ in range(threads)]
        try:
            # in short waits: some libraries (polars) install a handler of Ctrl-C that lets a long
            # one go on
            while wait(futures, timeout=PATIENCE).not_done:
                pass
            for future in futures:
                future.result()
        finally:
            stopped.set()
            wait(futures)  # nobody may still write when the caller goes on
