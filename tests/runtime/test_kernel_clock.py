"""Time spent on kernels before they run is told to people and left out of traces."""

import io
import sys
import time
from types import SimpleNamespace

import pytest

from certus.linear_model import PenalizedRegressor
from certus.penalties import L2
from certus.runtime.kernel_clock import KernelClock, kernel_clock
from certus.solvers import LBFGS
from tests.contract.problems import regression


@pytest.fixture
def passing(monkeypatch):
    """A clock whose seconds pass when they are told to."""
    watch = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(time, "perf_counter", lambda: watch.seconds)
    return watch


def test_the_clock_stands_still_while_kernels_are_compiled(passing):
    clock = KernelClock()
    start = clock.now()
    passing.seconds += 2
    assert clock.now() - start == 2
    with clock:
        passing.seconds += 30
        assert clock.now() - start == 2
    passing.seconds += 1
    assert clock.now() - start == 3
    assert clock.seconds() == 30


def test_seconds_of_two_threads_at_once_are_counted_once(passing):
    clock = KernelClock()
    with clock:
        passing.seconds += 5
        with clock:
            passing.seconds += 5
        passing.seconds += 5
    assert clock.seconds() == 15


def test_a_trace_leaves_the_compiling_of_kernels_out(monkeypatch):
    X, y, _ = regression(0, n=60, p=3)
    times = iter(range(0, 1000, 5))
    monkeypatch.setattr(kernel_clock, "now", lambda: float(next(times)))
    trace = PenalizedRegressor(penalty=L2(1.0), solver=LBFGS()).fit(X, y).certificate_.trace
    assert [point.seconds for point in trace] == [5.0 * i for i in range(1, len(trace) + 1)]


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


Notebook = type("OutStream", (Stream,), {"__module__": "ipykernel.iostream"})


@pytest.mark.parametrize(
    ("stream", "told"), [(Stream(True), True), (Stream(False), False), (Notebook(False), True)]
)
def test_people_at_a_terminal_or_in_a_notebook_are_told_once(stream, told, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    clock = KernelClock()
    clock.report()
    for name in ("certus.kernels.glm.newton", "certus.kernels.gram.weighted"):
        clock.compiling(name)
    clock.compiled(4.0)
    clock.compiled(2.5)
    clock.report()
    clock.report()
    lines = stream.getvalue().splitlines()
    if not told:
        assert lines == []
        return
    assert len(lines) == 2
    assert "beginning with certus.kernels.glm.newton" in lines[0]
    assert lines[1].startswith("Compiled in 6.5 s.")
