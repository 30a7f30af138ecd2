"""A pool of threads that help with work offered by other threads.

    caller ── offer(run) ──► list of open runs ◄── a helper without work joins the first of them
           ◄── withdraw ──                     ──► run.join(), until the run has no task left

No thread waits for a helper to become free: a run without helpers is done by its caller
(``pool.run_on_threads``). A caller waits only for helpers that have joined its run. They joined
after the run began, and the run began after its caller did, so threads cannot wait for each other
in a circle, however deeply runs are nested.
"""

import threading
from queue import SimpleQueue
from typing import Protocol


class Run(Protocol):
    """Work that several threads can share."""

    places: int  # how many more helpers may join; changed under the lock of ``Helpers``
    helpers: int  # how many are at work; likewise

    def join(self) -> None:
        """Work until no task is left. Called in a helper's thread; raises nothing."""


class Helpers:
    """At most ``most`` threads, started when they are first needed.

    Locks and queues are those written in C: Ctrl-C between two lines of Python cannot leave them
    half taken.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.open: list[Run] = []
        self.most = 0
        self.started = 0
        self.idle = 0
        self.wake: SimpleQueue[None] = SimpleQueue()  # an entry for each idle thread called up

    def offer(self, run: Run, threads: int) -> None:
        """Let helpers join, ``run.places`` of them. ``threads``: how many should exist."""
        with self.lock:
            self.most = max(self.most, threads)
            self.open.append(run)
            called = min(self.idle, run.places)
            self.idle -= called
            for _ in range(called):
                self.wake.put(None)
            for _ in range(min(run.places - called, self.most - self.started)):
                if not self._start():
                    break

    def withdraw(self, run: Run) -> None:
        """Let no further helper join."""
        with self.lock:
            self.open = [other for other in self.open if other is not run]

    def at_work(self, run: Run) -> int:
        """Number of helpers that work on a run."""
        with self.lock:
            return run.helpers

    def _start(self) -> bool:
        # daemons, so that an interpreter that ends does not wait for them
        thread = threading.Thread(target=self._help, name=f"certus_{self.started}", daemon=True)
        self.started += 1
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending: callers do the work
            self.started -= 1
            return False
        return True

    def _help(self) -> None:
        while True:
            run = self._next()
            if run is None:
                self.wake.get()
                continue
            run.join()
            del run  # an idle thread must not keep data alive

    def _next(self) -> Run | None:
        with self.lock:
            if not self.open:
                self.idle += 1
                return None
            run = self.open[0]
            run.places -= 1
            run.helpers += 1
            if run.places == 0:
                self.open.pop(0)
            return run
