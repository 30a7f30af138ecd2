"""Work shared among a pool of threads, and a limiter that keeps BLAS at one thread meanwhile.

A task may share out work of its own, to any depth: who does so takes part in it and waits only for
threads that have joined it (``workers.py``), so that threads never wait for each other in a
circle.

Two overlapping limits of BLAS threads would race and could leave the process at one thread for
good, so entries are counted: the first sets the limit, the last restores what was there before.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from .workers import Helpers

Result = TypeVar("Result")

COMPILED_SUFFIXES = (".so", ".pyd", ".dylib")
INTERRUPT_POLL_SECONDS = 0.1  # Ctrl-C is noticed within this time
HELPER_START_SECONDS = 0.01  # a free helper joins in about 1e-4; afterwards the caller works itself
LISTEN_ENTRIES, LISTEN_SIDE = 1 << 18, 256  # of rows on which a factorisation takes 5 ms
SINGLE_THREADED_WORK = 1 << 16  # multiplications that OpenBLAS does on one thread in any case

# seconds that a proof may take in this context; None: unlimited
proof_seconds: ContextVar[float | None] = ContextVar("proof_seconds", default=None)


class _BlasLimiter:
    """BLAS at one thread from the first entry to the last exit."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: dict[int, int] = {}  # entries of each thread
        self.limited = False
        self.libraries: list[Any] | None = None
        self.modules = 0  # loaded at the last search for libraries
        self.compiled: set[str] = set()  # paths of the compiled ones among them
        self.before: list[int] = []

    @property
    def entries(self) -> int:
        """Number of entries that have not been left."""
        return sum(self.held.values())

    def __enter__(self) -> None:
        with self.lock:
            if self.entries == 0:
                if self._more_is_loaded() or self.libraries is None:
                    self.libraries = _blas_libraries()
                self.before = [library.get_num_threads() for library in self.libraries]
                self.limited = True
                self._set([1] * len(self.libraries))
            self.held[threading.get_ident()] = self.of_this_thread() + 1

    def __exit__(self, *_: object) -> None:
        self.leave_to(self.of_this_thread() - 1)

    def of_this_thread(self) -> int:
        """Entries of the calling thread."""
        return self.held.get(threading.get_ident(), 0)

    def leave_to(self, count: int) -> None:
        """Leave until the calling thread has so many entries.

        Ctrl-C can come between an entry and the block that it is for: who catches it leaves to what
        there was before.
        """
        with self.lock:
            if count > 0:
                self.held[threading.get_ident()] = count
            else:
                self.held.pop(threading.get_ident(), None)
            if self.entries == 0 and self.limited:
                self._set(self.before)
                self.limited = False

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self.libraries or [], counts, strict=True):
            # threadpoolctl lets only the thread that set a limit lift it, but the last thread to
            # leave need not be the first that entered, so entries are counted here instead
            setter = getattr(library, "_real_set_num_threads", library.set_num_threads)
            setter(count)

    def _more_is_loaded(self) -> bool:
        """Whether a compiled module was loaded since, which may bring its own BLAS."""
        if len(sys.modules) == self.modules:
            return False
        self.modules, before = len(sys.modules), self.compiled
        self.compiled = {
            name
            for name, module in list(sys.modules.items())
            if str(getattr(module, "__file__", None)).endswith(COMPILED_SUFFIXES)
        }
        return not self.compiled <= before

    def for_work(self, shape: tuple[int, int]) -> Any:
        """Return this limiter if BLAS would use its own threads; a null context for tiny arrays.

        The bits of a product depend on how many threads share it.
        """
        n, p = shape
        return nullcontext() if n * p * min(n, p) < SINGLE_THREADED_WORK else self

    def forget(self) -> None:
        """Restore the limit in a forked child, where the threads that had entered are gone."""
        if self.entries > 0:
            self.held.clear()
            self._set(self.before)
            self.limited = False


def _blas_libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401  its OpenBLAS copy must be loaded to be seen
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().lib_controllers
    return [library for library in libraries if library.user_api == "blas"]


blas_limiter = _BlasLimiter()
_helpers = Helpers()


def _before_fork() -> None:
    # a fork must not fall between setting a limit and noting it
    blas_limiter.lock.acquire()
    _helpers.lock.acquire()


def _after_fork_in_parent() -> None:
    _helpers.lock.release()
    blas_limiter.lock.release()


def _after_fork_in_child() -> None:
    global _helpers
    blas_limiter.forget()
    _after_fork_in_parent()
    _helpers = Helpers()  # the threads of the old ones are the parent's
    _current.run = None  # the run that forked is the parent's too


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )


class _Stopped(Exception):
    """Raised in a task whose run was stopped by another thread's error or by Ctrl-C."""


class OutOfTime(Exception):
    """Raised if a call takes longer than its caller allows."""


class _Current(threading.local):
    """The run that this thread works on."""

    run: "_SharedRun | None" = None


_current = _Current()


def give_up_if_stopped() -> None:
    """Raise if the run was stopped; call it between the parts of a block that takes seconds."""
    run = _current.run
    if run is not None and run.is_stopped():
        raise _Stopped


class _SharedRun:
    """Tasks 0 … count − 1, each taken once by one of the threads that share them."""

    def __init__(self, task: Callable[[int], None], count: int, places: int):
        self.task = task
        self.numbers = iter(range(count))
        self.taking = threading.Lock()
        self.stopped = False
        self.errors: dict[int, BaseException] = {}
        self.outer = _current.run  # the run that contains this one, if nested
        # each helper in a copy of the caller's context: its settings and NumPy's error state
        self.context = copy_context()
        self.places = places
        self.helpers = 0
        self.left: SimpleQueue[None] = SimpleQueue()  # an entry for each helper that has left
        self.among = _helpers

    def is_stopped(self) -> bool:
        run: _SharedRun | None = self
        while run is not None:
            if run.stopped:
                return True
            run = run.outer
        return False

    def work(self) -> None:
        """Do tasks until none is left, or the run is stopped."""
        before, _current.run = _current.run, self
        i: int | None = None
        try:
            while not self.is_stopped():
                with self.taking:
                    i = next(self.numbers, None)
                if i is None:
                    return
                self.task(i)
        except _Stopped:
            return
        except BaseException as error:
            self.stopped = True
            self.errors[-1 if i is None else i] = error
        finally:
            _current.run = before

    def join(self) -> None:
        try:
            self.context.copy().run(self.work)
        finally:
            with self.among.lock:
                self.helpers -= 1
            self.left.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait until a helper leaves, at most some seconds; return whether one left."""
        try:
            self.left.get(timeout=seconds)
        except Empty:
            return False
        return True


def run_on_threads(task: Callable[[int], None], count: int, threads: int) -> None:
    """Run ``task(0) … task(count − 1)``, taken in order, on ``threads`` threads.

    The first error stops the rest and is raised; so does Ctrl-C, after the blocks under way. A
    caller that is itself in a task takes part. Others wait, so that the main thread hears Ctrl-C
    while tasks are in compiled code; they too take part if all helpers are busy elsewhere.
    """
    if threads == 1 or count == 1:
        for i in range(count):
            give_up_if_stopped()
            task(i)
        return
    nested = _current.run is not None
    run = _SharedRun(task, count, threads - 1 if nested else threads)
    helpers = run.among
    with blas_limiter:
        try:
            helpers.offer(run, threads)
            if nested or not (run.wait(HELPER_START_SECONDS) or helpers.at_work(run)):
                run.work()
                helpers.withdraw(run)
            # in short waits: some libraries (polars) install a handler of Ctrl-C that does not
            # interrupt a long one
            while helpers.at_work(run):
                run.wait(INTERRUPT_POLL_SECONDS)
        finally:
            _current.run = run.outer  # Ctrl-C may have kept ``work`` from it
            run.stopped = True
            helpers.withdraw(run)
            while helpers.at_work(run):  # no helper may write after the return
                run.wait(INTERRUPT_POLL_SECONDS)
    if run.errors:
        try:
            # Ctrl-C first, else the error of the first task
            raise min(run.errors.items(), key=lambda e: (isinstance(e[1], Exception), e[0]))[1]
        finally:
            run.errors.clear()  # their tracebacks refer to this frame
    give_up_if_stopped()


def interruptible(function: Callable[..., Result], *args: Any) -> Result:
    """Call ``function(*args)`` on its own thread while the main thread handles Ctrl-C.

    For long calls of compiled code. After Ctrl-C the caller does not wait: the thread ends at its
    next ``give_up_if_stopped`` or when it is done, and its result is dropped, so it must not write
    to arrays that others read. Outside the main thread, which alone receives Ctrl-C, and inside
    shared work the function is called directly.
    """
    if threading.current_thread() is not threading.main_thread() or _current.run is not None:
        return function(*args)
    return _on_its_own_thread(partial(function, *args))


def in_time(function: Callable[[], Result], seconds: float) -> Result:
    """``function()`` on a thread of its own; raises ``OutOfTime`` after so many seconds.

    The thread then ends as that of ``interruptible`` does.
    """
    if seconds <= 0:
        raise OutOfTime
    return _on_its_own_thread(function, time.monotonic() + seconds)


def _on_its_own_thread(function: Callable[[], Result], deadline: float = float("inf")) -> Result:
    answer: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
    context, run = copy_context(), _SharedRun(ignored, 0, 0)

    def call() -> None:
        _current.run = run
        try:
            answer.put((True, context.run(function)))
        except BaseException as error:
            answer.put((False, error))

    threading.Thread(target=call, name="certus call", daemon=True).start()
    try:
        fine, outcome = _listen(answer, deadline)
    except BaseException:
        run.stopped = True
        raise
    if fine:
        result: Result = outcome
        return result
    try:
        raise outcome
    finally:
        del outcome  # its traceback refers to this frame


def ignored(i: int) -> None:
    """No task."""


def _listen(answer: "SimpleQueue[tuple[bool, Any]]", deadline: float) -> tuple[bool, Any]:
    while True:
        left = deadline - time.monotonic()
        try:
            return answer.get(timeout=max(0.0, min(INTERRUPT_POLL_SECONDS, left)))
        except Empty:
            if left <= 0:
                raise OutOfTime from None


def long_enough_to_listen(shape: tuple[int, int]) -> bool:
    """Whether dense algebra on rows of this shape takes longer than a few milliseconds.

    A thread of its own costs 1e-4 s.
    """
    n, p = shape
    return n * p >= LISTEN_ENTRIES or min(n, p) >= LISTEN_SIDE
