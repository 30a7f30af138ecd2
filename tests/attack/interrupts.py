"""``python -m tests.attack.interrupts``: press Ctrl-C at many moments of every fit of the sweep.

At n ≤ 1,000 and n·p ≤ 10⁶ Ctrl-C shall be heard within a second, and the best iterate so far be
kept. Each estimator is fitted in a process of its own, first to the end, which compiles kernels and
tells how much CPU time a fit takes, and then once for each moment. The wait is the CPU time of all
threads, or the time by the clock where that is less, so that other work on the machine makes no
fit deaf.
"""

import argparse
import multiprocessing
import os
import signal
import time
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from certus.runtime.pool import _helpers, blas_limiter

from .sweep import KINDS, SHAPES, cases, data, estimators

LIMIT = 1.0  # seconds until Ctrl-C is heard
MOMENTS = 8
POLL = 0.002  # seconds


class Heard(NamedTuple):
    """How one interrupted fit ended."""

    moment: float  # share of the fit's CPU time
    wait: float  # seconds
    left: str  # "kept", "nothing" or "half a model"


def waits(name: str, kind: str, n: int, p: int, moments: int) -> tuple[float, list[Heard]]:
    """CPU seconds of a whole fit, and how it ended when it was interrupted at each moment."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_fits, args=(there, name, kind, n, p, moments))
    process.start()
    there.close()
    assert process.pid is not None
    try:
        whole: float = here.recv()
        found = [_press(here, process.pid, moment, whole) for moment in _moments(moments)]
        return whole, [heard for heard in found if heard is not None]
    finally:
        process.kill()
        process.join()


def _moments(count: int) -> list[float]:
    return [float(moment) for moment in np.linspace(0.04, 0.96, count)]


def _press(pipe: Connection, pid: int, moment: float, whole: float) -> Heard | None:
    """Interrupt the next fit when it has used ``moment · whole``; None: it was done before."""
    at = pipe.recv() + moment * whole
    while _cpu(pid) < at and not pipe.poll():
        time.sleep(POLL)
    cpu, clock = _cpu(pid), time.monotonic()
    if not pipe.poll():
        os.kill(pid, signal.SIGINT)
    ended = pipe.recv()
    if ended is None:
        return None
    heard_cpu, heard_clock, left = ended
    return Heard(moment, min(heard_cpu - cpu, heard_clock - clock), left)


def _cpu(pid: int) -> float:
    """CPU seconds of another process: its clock's number, as clock_getcpuclockid makes it."""
    return time.clock_gettime((~pid << 3) | 2)


def _fits(pipe: Connection, name: str, kind: str, n: int, p: int, moments: int) -> None:
    X, y = data(name, kind, n, p)
    given = (X,) if y is None else (X, y)
    make = estimators()[name]
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    make().fit(*given)
    begun = time.process_time()
    make().fit(*given)
    pipe.send(time.process_time() - begun)
    for _ in range(moments):
        model, ended = make(), None
        before = set(vars(model))
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            pipe.send(time.process_time())
            model.fit(*given)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            ended = time.process_time(), time.monotonic(), _left(model, before)
        pipe.send(ended)
        while blas_limiter.entries or _helpers.open:  # threads of LAPACK calls end by themselves
            time.sleep(POLL)


def _left(model: object, before: set[str]) -> str:
    if set(vars(model)) == before:
        return "nothing"
    return "kept" if hasattr(model, "certificate_") else "half a model"


def is_wrong(found: list[Heard], limit: float) -> bool:
    """Was an interrupt heard late, or half of a model left?"""
    return any(heard.wait > limit or heard.left == "half a model" for heard in found)


def words(found: list[Heard]) -> str:
    """The longest wait, and what was left at how many moments."""
    if not found:
        return "done before each interrupt"
    left = Counter(heard.left for heard in found)
    summary = ", ".join(f"{what} at {times}" for what, times in sorted(left.items()))
    return f"longest wait {max(heard.wait for heard in found):.2f} s; {summary}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack.interrupts", description=__doc__)
    parser.add_argument("--only", choices=list(estimators()), help="one estimator")
    parser.add_argument("--shape", type=int, choices=range(len(SHAPES)), help="one of the shapes")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--moments", type=int, default=MOMENTS, help="of each fit")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds until it is heard")
    how = parser.parse_args()
    late = 0
    for name, kind, n, p in cases(how):
        whole, found = waits(name, kind, n, p, how.moments)
        wrong = is_wrong(found, how.limit)
        late += wrong
        fit = f"{'*' if wrong else ' '} {name:26}{kind:8}{n:>5} × {p:<6}{whole:6.1f} s"
        print(f"{fit}  {words(found)}", flush=True)
    print(f"{late} deaf, or with half a model")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
