"""Forks among fits."""

import os
import subprocess
import sys
import textwrap

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


FORK = """
import os, sys, threading, time, warnings
import numpy as np
from threadpoolctl import ThreadpoolController
import scipy.linalg
import certus
from certus.linear_model import LinearRegression
from certus.runtime.pool import blas_limiter, give_up_if_stopped, run_on_threads

certus.set_config(threads=2)
controller = ThreadpoolController()
for library in controller.lib_controllers:
    if library.user_api == "blas":
        library.set_num_threads(3)

def blas():
    return {l.num_threads for l in ThreadpoolController().lib_controllers if l.user_api == "blas"}

rng = np.random.default_rng(0)
X = rng.normal(size=(120_000, 6))
y = X.sum(axis=1) + rng.normal(size=120_000)
before = blas()
truth = LinearRegression().fit(X, y).coef_

def child(label):
    assert blas() == before, (label, blas(), before)
    assert np.array_equal(LinearRegression().fit(X, y).coef_, truth), label
    assert blas() == before, (label, "after", blas(), before)

def fork(label):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child(label)
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    for _ in range(300):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, (label, status)
            return
        time.sleep(0.1)
    os.kill(pid, 9)
    raise SystemExit(f"the child of {label} hangs")
"""


def run_script(body):
    script = textwrap.dedent(FORK) + textwrap.dedent(body)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=200
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "fine" in found.stdout


@needs_fork
def test_a_fork_after_a_fit_leaves_a_child_that_can_fit():
    run_script("""
        fork("after a fit")
        child("parent")
        print("fine")
    """)


@needs_fork
def test_a_fork_during_a_fit_leaves_parent_and_child_as_they_were():
    run_script("""
        inside, leave = threading.Event(), threading.Event()

        def task(i):
            inside.set()
            leave.wait(60)

        worker = threading.Thread(target=lambda: run_on_threads(task, 4, 2), daemon=True)
        worker.start()
        assert inside.wait(30)
        assert blas() == {1}
        fork("during a fit")
        leave.set()
        worker.join(60)
        child("parent")
        print("fine")
    """)


@pytest.mark.exhaustive
@needs_fork
def test_forks_among_many_fits_neither_hang_nor_change_bits():
    run_script("""
        stop = threading.Event()

        def fits():
            while not stop.is_set():
                LinearRegression().fit(X, y)

        workers = [threading.Thread(target=fits, daemon=True) for _ in range(2)]
        for worker in workers:
            worker.start()
        for i in range(12):
            time.sleep(0.01)
            fork(f"number {i}")
        stop.set()
        for worker in workers:
            worker.join(60)
        child("parent")
        print("fine")
    """)


@needs_fork
def test_multiprocessing_by_fork_can_fit():
    run_script("""
        import multiprocessing

        def fitted(i):
            return LinearRegression().fit(X, y).coef_

        with multiprocessing.get_context("fork").Pool(2) as pool:
            for coef in pool.map(fitted, range(4)):
                assert np.array_equal(coef, truth)
        child("parent")
        print("fine")
    """)
