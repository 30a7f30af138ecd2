"""The thread pool and the BLAS limiter: errors, interrupts and overlapping fits."""

import signal
import sys
import threading
import time
import types

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import certus
from certus.data.rows import Rows
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.runtime import pool
from certus.runtime.pool import blas_limiter, give_up_if_stopped, run_on_threads
from tests.conftest import blas_threads
from tests.contract.problems import regression
from tests.data.row_cases import column_sums, gram, many_rows

pytestmark = pytest.mark.usefixtures("small_work_too")


def raises_at(block, error):
    def statistic(X, y, s):
        if X[0, 0] <= block < X[-1, 0] + 1:
            raise error
        return (1,)

    return statistic


class Unforeseen(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "error", [Unforeseen("here"), KeyboardInterrupt(), SystemExit(3)], ids=repr
)
def test_an_error_in_a_block_is_raised_and_leaves_all_as_it_was(error, threads, blas_as_before):
    X = np.arange(100_000.0)[:, None]
    with pytest.raises(type(error)):
        Rows(X, threads=threads).reduce(raises_at(50_000, error), block_rows=1000)
    assert blas_limiter.entries == 0
    total = Rows(X, threads=threads).reduce(lambda X, y, s: (len(X),), block_rows=1000)
    assert total == (100_000,)


def test_after_an_error_no_further_block_is_begun():
    begun, lock = [], threading.Lock()

    def task(i):
        with lock:
            begun.append(i)
        if i == 3:
            raise Unforeseen
        time.sleep(1e-3)

    with pytest.raises(Unforeseen):
        run_on_threads(task, 10_000, 2)
    assert len(begun) < 100
    count = len(begun)
    time.sleep(0.05)
    assert len(begun) == count, "somebody still works"


@pytest.fixture
def handler_that_restarts():
    """Install a handler as polars does: system calls are restarted after a signal."""
    signal.siginterrupt(signal.SIGINT, False)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
@pytest.mark.usefixtures("handler_that_restarts")
def test_ctrl_c_is_noticed_behind_another_librarys_handler(blas_as_before):
    test_ctrl_c_stops_the_blocks_and_restores_blas(blas_as_before)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
def test_ctrl_c_stops_the_blocks_and_restores_blas(blas_as_before):
    done = []

    def task(i):
        if i == 2:  # as the terminal does it: to the main thread, which waits for the others
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(2e-3)
        done.append(i)

    with pytest.raises(KeyboardInterrupt):
        run_on_threads(task, 10_000, 2)
    count = len(done)
    assert count < 1000
    time.sleep(0.05)
    assert len(done) == count
    assert blas_limiter.entries == 0


def test_a_long_block_gives_up_when_the_work_is_stopped():
    parts = []

    def task(i):
        if i == 0:
            time.sleep(0.01)
            raise ZeroDivisionError
        for part in range(1000):
            give_up_if_stopped()
            parts.append(part)
            time.sleep(1e-3)

    with pytest.raises(ZeroDivisionError):
        run_on_threads(task, 2, 2)
    assert len(parts) < 1000
    give_up_if_stopped()  # outside of any work there is nothing to give up


def test_an_interrupted_fit_leaves_blas_as_it_was(monkeypatch, blas_as_before):
    X, y, _ = regression(0, n=40_000, p=6)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("certus.solvers.linalg.gram._block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LinearRegression().fit(X, y)
    monkeypatch.undo()
    assert LinearRegression().fit(X, y).certificate_.certified


def test_the_threads_are_kept_and_not_multiplied():
    X = many_rows(100_000, 3)
    with certus.config_context(threads=3):
        for _ in range(20):
            Rows(X).reduce(gram, block_rows=1000)
        helpers = {t.ident for t in threading.enumerate() if t.name.startswith("certus_")}
        for _ in range(20):
            Rows(X).reduce(gram, block_rows=1000)
    assert helpers == {t.ident for t in threading.enumerate() if t.name.startswith("certus_")}
    assert len(helpers) == pool._helpers.started <= max(3, pool._helpers.most)
    assert not pool._helpers.open


def test_blas_has_one_thread_while_blocks_are_worked_on(blas_as_before):
    X = np.zeros((100_000, 4))
    Rows(X, threads=2).reduce(column_sums)  # SciPy's BLAS is loaded by now

    def threads_now(X, y, s):
        return (set(blas_threads().values()),)

    found = Rows(X, threads=2).reduce(
        threads_now, combine=lambda a, b: (a[0] | b[0],), block_rows=10_000
    )
    assert found == ({1},)


def test_a_blas_that_is_loaded_after_the_first_fit_is_found(monkeypatch):
    with blas_limiter:
        pass
    evaluated = []
    monkeypatch.setattr(pool, "_blas_libraries", lambda: evaluated.append(1) or [])
    monkeypatch.setattr(blas_limiter, "libraries", blas_limiter.libraries)
    with blas_limiter:
        pass
    assert not evaluated, "nothing was loaded"
    for name, file in (("plain_python_", "a.py"), ("compiled_", "a.so")):
        module = types.ModuleType(name)
        module.__file__ = file
        monkeypatch.setitem(sys.modules, name, module)
        with blas_limiter:
            pass
        assert len(evaluated) == (file == "a.so")


def test_numpys_error_state_of_the_caller_holds_on_every_thread():
    X = np.zeros((100_000, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        (total,) = Rows(X, threads=3).reduce(
            lambda X, y, s: ((1 / X).sum(axis=0),), block_rows=1000
        )
    assert np.isinf(total).all()


@pytest.mark.parametrize("cls", [LinearRegression, Ridge, RidgeCV])
def test_overlapping_fits_give_the_same_bits_and_leave_blas_as_it_was(cls, blas_as_before):
    X, y, _ = regression(0, n=30_000, p=12)
    alone = cls().fit(X, y).coef_
    answers, errors = [], []

    def work():
        try:
            answers.extend(cls().fit(X, y).coef_ for _ in range(4))
        except BaseException as error:  # a thread's own errors are otherwise lost
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not errors
    assert len(answers) == 16
    for answer in answers:
        np.testing.assert_array_equal(answer, alone)
    assert blas_limiter.entries == 0


def test_limits_that_overlap_in_any_order_restore_what_was_there(blas_as_before):
    before = blas_threads()
    blas_limiter.__enter__()
    blas_limiter.__enter__()
    assert set(blas_threads().values()) == {1}
    blas_limiter.__exit__()
    assert set(blas_threads().values()) == {1}
    blas_limiter.__exit__()
    assert blas_threads() == before


@pytest.mark.parametrize("first_lives", [True, False], ids=["alive", "ended"])
def test_the_last_to_leave_restores_blas_whoever_came_first(first_lives):
    """threadpoolctl ≥ 3.7 lets no thread but the first change OpenBLAS, without a word."""
    import scipy.linalg  # noqa: F401

    before = blas_threads()
    entered, left, go = threading.Event(), threading.Event(), threading.Event()

    def first():
        blas_limiter.__enter__()
        entered.set()
        go.wait(60)
        blas_limiter.__exit__()
        left.set()
        while first_lives and not ended.wait(0.01):
            pass

    ended = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(60)
    blas_limiter.__enter__()
    go.set()
    assert left.wait(60)
    if not first_lives:
        thread.join()
    blas_limiter.__exit__()
    after = blas_threads()
    ended.set()
    thread.join()
    for library in ThreadpoolController().lib_controllers:  # for the tests that follow
        if library.user_api == "blas":
            library.set_num_threads(before[library.filepath])
    assert after == before


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1, -2])
def test_n_jobs_does_not_change_a_bit(n_jobs):
    X, y, _ = regression(0, n=30_000, p=6)
    one = LinearRegression(n_jobs=1).fit(X, y)
    many = LinearRegression(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(many.coef_, one.coef_)
    assert many.certificate_.gap == one.certificate_.gap


def test_an_interrupt_between_an_entry_and_its_block_leaves_no_limit_behind(monkeypatch):
    """Ctrl-C in ``__enter__`` itself: no ``__exit__`` follows, and the fit lifts the limit."""
    import scipy.linalg  # noqa: F401  its OpenBLAS copy is then counted on both sides

    before, enter = blas_threads(), type(blas_limiter).__enter__

    def interrupted(self):
        enter(self)
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    monkeypatch.setattr(type(blas_limiter), "__enter__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        certus.linear_model.LogisticRegression().fit(X, X[:, 0] > 0)
    assert blas_limiter.entries == 0
    assert blas_threads() == before
