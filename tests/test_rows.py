"""Rows in blocks: reduce and map, the thread pool, the BLAS limiter, and the settings."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import namedtuple

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import certus
from certus import _config, _pool, rows
from certus._config import effective_threads
from certus._pool import blas_limiter, give_up_if_stopped, run_on_threads
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.rows import SMALL_WORK, Rows, spread
from conftest import blas_threads
from problems import regression

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
Pair = namedtuple("Pair", "total count")


@pytest.fixture(autouse=True)
def small_work_too(monkeypatch):
    """Threads are used for any number of elements, not only where they pay."""
    monkeypatch.setattr(rows, "SMALL_WORK", 0)


def gram(X, y, s):
    return (X.T @ X,)


def column_sums(X, y, s):
    return (X.sum(axis=0), float(len(X)))


def many_rows(n=30_000, p=5, dtype=float):
    return np.random.default_rng(0).normal(size=(n, p)).astype(dtype)


# --- reduce ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", [gram, column_sums])
def test_the_same_bits_on_any_number_of_threads(statistic):
    X = many_rows()
    one = Rows(X, threads=1).reduce(statistic, block_rows=997)
    for threads in (2, 3, 8):
        for _ in range(5):
            many = Rows(X, threads=threads).reduce(statistic, block_rows=997)
            for a, b in zip(one, many, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_partial_results_are_combined_in_one_fixed_tree(count, threads):
    """((0+1)+(2+3))+…, whichever block is done first."""
    X = np.zeros((count * 1000, 100))
    rng = np.random.default_rng(count)
    delays = rng.uniform(0, 2e-3, size=count) * (threads > 1)
    X[:, 0] = np.repeat(np.arange(count), 1000)

    def label(X, y, s):
        block = int(X[0, 0])
        time.sleep(delays[block])
        return (str(block),)

    def tree(labels):
        while len(labels) > 1:
            pairs = [labels[i : i + 2] for i in range(0, len(labels), 2)]
            labels = [f"({a[0]}+{a[1]})" if len(a) == 2 else a[0] for a in pairs]
        return labels[0]

    found = Rows(X, threads=threads).reduce(
        label, combine=lambda a, b: (f"({a[0]}+{b[0]})",), block_rows=1000
    )
    assert found == (tree([str(i) for i in range(count)]),)


@pytest.mark.parametrize("block_rows", [1, 2, 7, 64, 1000, 10**9])
def test_the_size_of_blocks_changes_only_rounding(block_rows):
    X = many_rows(3000)
    (G,) = Rows(X).reduce(gram, block_rows=block_rows)
    np.testing.assert_allclose(G, X.T @ X, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 99_991])
@pytest.mark.parametrize("block_rows", [None, 1, 10, 1000])
def test_edges_cover_every_row_once_in_blocks_of_nearly_equal_size(n, block_rows):
    edges = Rows(np.empty((n, 3))).edges(block_rows)
    assert edges[0][0] == 0
    assert edges[-1][1] == n
    assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))
    sizes = {b - a for a, b in edges}
    assert max(sizes) - min(sizes) <= 1
    assert block_rows is None or max(sizes) <= block_rows


def test_edges_depend_on_the_shape_alone():
    wide = np.zeros((70_000, 3))
    here = Rows(wide, threads=1).edges()
    for X in (np.asfortranarray(wide), wide.astype(np.float32), wide.astype(np.int8)):
        assert Rows(X, threads=7).edges() == here


def test_named_tuples_plain_tuples_and_numbers_are_all_added():
    X = many_rows(5000, 2)

    def named(X, y, s):
        return Pair(X.sum(axis=0), len(X))

    found = Rows(X).reduce(named, block_rows=100)
    assert isinstance(found, Pair)
    assert found.count == 5000
    plain = Rows(X).reduce(column_sums, block_rows=100)
    assert type(plain) is tuple
    assert plain[1] == 5000
    single = Rows(X).reduce(gram, block_rows=100)
    assert type(single) is tuple
    assert single[0].shape == (2, 2)


def test_a_statistic_gets_rows_with_their_targets_weights_and_arguments():
    X = np.arange(3000.0).reshape(1000, 3)
    y, s = X[:, :1] * 2, X[:, 1] + 1

    def check(X, y, s, factor):
        np.testing.assert_array_equal(y, X[:, :1] * 2)
        np.testing.assert_array_equal(s, X[:, 1] + 1)
        return (factor * len(X),)

    assert Rows(X, y, s).reduce(check, 10, block_rows=77) == (10_000,)
    assert Rows(X).reduce(lambda X, y, s: (y is None and s is None,)) == (True,)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_few_partial_results_are_alive_at_once(threads):
    X = np.zeros((512 * 100, 10))
    alive, most, lock = [0], [0], threading.Lock()

    def statistic(X, y, s):
        with lock:
            alive[0] += 1
            most[0] = max(most[0], alive[0])
        return (1,)

    def combine(a, b):
        with lock:
            alive[0] -= 1
        return (a[0] + b[0],)

    assert Rows(X, threads=threads).reduce(statistic, combine=combine, block_rows=100) == (512,)
    # log₂(512) = 9 waiting on the way up, and one in the hands of each thread; a thread that
    # sleeps between two steps lets the others run ahead by a few
    assert most[0] <= 9 + 1 + threads if threads == 1 else most[0] <= 64


# --- map ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 1), (30_000, 5), (200_000, 2)], ids=str)
def test_map_fills_every_row_with_the_same_bits(threads, shape):
    X = many_rows(*shape)
    w = np.arange(1.0, shape[1] + 1)
    out = Rows(X, threads=threads).map(lambda X, y, s, w: X @ w, np.full(shape[0], np.nan), w)
    one = Rows(X, threads=1).map(lambda X, y, s, w: X @ w, np.full(shape[0], np.nan), w)
    np.testing.assert_array_equal(out, one)
    np.testing.assert_allclose(out, X @ w, rtol=1e-12)


# --- sources --------------------------------------------------------------------------------------


def memory_mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


SOURCES = {
    "C order": lambda X, _: X,
    "F order": lambda X, _: np.asfortranarray(X),
    "every other row": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "some columns": lambda X, _: np.hstack([X, X])[:, : X.shape[1]],
    "upside down": lambda X, _: X[::-1].copy()[::-1],
    "read-only": lambda X, _: _read_only(X.copy()),
    "memory map": memory_mapped,
    "F-ordered map": lambda X, folder: memory_mapped(np.asfortranarray(X), folder),
}


def _read_only(X):
    X.flags.writeable = False
    return X


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint16", "bool"])
@pytest.mark.parametrize("source", SOURCES)
def test_any_array_is_a_source(source, dtype, tmp_path):
    X = np.random.default_rng(0).integers(0, 100, size=(20_000, 4))
    X = (X > 50) if dtype == "bool" else X.astype(dtype)
    given = SOURCES[source](X, tmp_path)
    (total,) = Rows(given).reduce(lambda X, y, s: (X.sum(axis=0, dtype=float),), block_rows=999)
    np.testing.assert_array_equal(total, X.astype(float).sum(axis=0))
    seen = Rows(given).reduce(
        lambda X, y, s: ({X.dtype.name},), combine=lambda a, b: (a[0] | b[0],)
    )
    assert seen == ({dtype if dtype.startswith("float") else "float64"},)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("cls", [LinearRegression, Ridge, RidgeCV])
def test_every_model_fits_and_verifies_any_array(cls, source, tmp_path):
    X, y, _ = regression(0, n=2000)
    given = SOURCES[source](X, tmp_path)
    model = cls().fit(given, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, cls().fit(X, y).coef_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(given), model.predict(X), rtol=1e-12, atol=1e-12)
    assert certus.verify(model, given, y).certified


def test_whole_numbers_are_cast_block_by_block():
    X = np.ones((400_000, 8), dtype=np.int8)
    largest = Rows(X, threads=1).reduce(
        lambda X, y, s: (X.nbytes,), combine=lambda a, b: (max(a[0], b[0]),)
    )[0]
    assert largest <= X.size * 8 // 16


@pytest.mark.parametrize("n", [1, 10, 1000, 10**6])
@pytest.mark.parametrize("count", [1, 5, 256])
def test_a_spread_is_of_distinct_rows_all_over(n, count):
    i = spread(n, count)
    assert len(set(i.tolist())) == len(i) <= min(n, count)
    assert i.min() >= 0
    assert i.max() < n
    if n >= 4 * count and count > 5:
        assert len(i) == count
        assert np.diff(i).max() < 4 * n / count, "a stretch of rows was left out"


def test_some_rows_come_with_their_targets_and_weights():
    X = np.arange(5000.0)[:, None]
    X_some, y_some, s_some = Rows(X, 2 * X, X[:, 0] + 1).some(100)
    np.testing.assert_array_equal(y_some, 2 * X_some)
    np.testing.assert_array_equal(s_some, X_some[:, 0] + 1)
    assert Rows(X).some(10**6)[0].shape == (5000, 1)


# --- the pool -------------------------------------------------------------------------------------


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
    """As libraries like polars install it: system calls go on after a signal."""
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

    monkeypatch.setattr("certus.solvers.gram._block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LinearRegression().fit(X, y)
    monkeypatch.undo()
    assert LinearRegression().fit(X, y).certificate_.certified


def test_the_pool_is_kept_and_its_threads_are_not_multiplied():
    X = many_rows(100_000, 3)
    with certus.config_context(threads=3):
        Rows(X).reduce(gram, block_rows=1000)
        pool = _pool._pool
        before = threading.active_count()
        for _ in range(20):
            Rows(X).reduce(gram, block_rows=1000)
    assert _pool._pool is pool
    assert threading.active_count() <= before + 3


def test_blas_has_one_thread_while_blocks_are_worked_on(blas_as_before):
    X = np.zeros((100_000, 4))
    Rows(X, threads=2).reduce(column_sums)  # SciPy's BLAS is loaded by now

    def threads_now(X, y, s):
        return (set(blas_threads().values()),)

    found = Rows(X, threads=2).reduce(
        threads_now, combine=lambda a, b: (a[0] | b[0],), block_rows=10_000
    )
    assert found == ({1},)


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


# --- fork -----------------------------------------------------------------------------------------

FORK = """
import os, sys, threading, time, warnings
import numpy as np
from threadpoolctl import ThreadpoolController
import scipy.linalg
import certus
from certus.linear_model import LinearRegression
from certus._pool import blas_limiter, give_up_if_stopped, run_on_threads

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


# --- settings -------------------------------------------------------------------------------------


def test_settings_are_read_changed_and_put_back():
    assert certus.get_config() == {"threads": None}
    with certus.config_context(threads=2):
        assert certus.get_config() == {"threads": 2}
        with certus.config_context(threads=None):
            assert certus.get_config() == {"threads": None}
        assert certus.get_config() == {"threads": 2}
        with certus.config_context():
            assert certus.get_config() == {"threads": 2}
    assert certus.get_config() == {"threads": None}


def test_a_context_is_left_by_an_error_too():
    with pytest.raises(Unforeseen), certus.config_context(threads=2):
        raise Unforeseen
    assert certus.get_config()["threads"] is None


def test_process_wide_settings_hold_in_every_thread():
    seen = []
    try:
        certus.set_config(threads=3)
        thread = threading.Thread(target=lambda: seen.append(certus.get_config()["threads"]))
        thread.start()
        thread.join()
    finally:
        certus.set_config(threads=None)
    assert seen == [3]


def test_a_context_belongs_to_its_thread():
    seen = []
    with certus.config_context(threads=5):
        thread = threading.Thread(target=lambda: seen.append(certus.get_config()["threads"]))
        thread.start()
        thread.join()
    assert seen == [None]


@pytest.mark.parametrize("bad", [0, -1, 1.5, "two", True])
def test_threads_that_are_no_number_of_threads_are_refused(bad):
    for change in (certus.set_config, lambda **s: certus.config_context(**s).__enter__()):
        with pytest.raises(ValueError, match=f"threads={bad!r}: give a whole number from 1 up"):
            change(threads=bad)
    assert certus.get_config() == {"threads": None}


def test_a_setting_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(TypeError, match="no setting 'thread'; there is 'threads'"):
        certus.set_config(thread=2)
    with pytest.raises(TypeError), certus.config_context(cores=2):
        pass


def test_the_settings_that_are_read_are_a_copy():
    certus.get_config()["threads"] = 7
    assert certus.get_config() == {"threads": None}


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 4), (1, 1), (3, 3), (9, 4), (-1, 4), (-2, 3), (-9, 1)]
)
def test_n_jobs_lowers_the_threads_of_one_fit(n_jobs, threads):
    with certus.config_context(threads=4):
        assert effective_threads(n_jobs) == threads


@pytest.mark.parametrize(("said", "threads"), [("1", 1), ("", 8), ("99", 8), ("many", 8), ("0", 8)])
def test_the_share_of_cores_that_a_scheduler_grants_is_respected(said, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    _config._cores.cache_clear()
    try:
        assert effective_threads() == threads
    finally:
        _config._cores.cache_clear()


def test_a_fit_uses_no_more_threads_than_allowed(monkeypatch):
    monkeypatch.undo()
    asked = []

    def note(task, count, threads):
        asked.append(threads)
        for i in range(count):
            task(i)

    monkeypatch.setattr(rows, "run_on_threads", note)
    X, y, _ = regression(0, n=200_000, p=4)
    with certus.config_context(threads=3):
        LinearRegression().fit(X, y)
        assert max(asked) == 3
        asked.clear()
        LinearRegression(n_jobs=1).fit(X, y)
        assert set(asked) == {1}
        asked.clear()
        LinearRegression().fit(X[:50], y[:50])
        assert set(asked) <= {1}, "tiny data are not worth a thread"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_taken_on_threads_are_the_rows_asked_for(order, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 9, size=(9000, 80)).astype(dtype, order=order)
    X.flags.writeable = False
    i = spread(9000, 8000)
    assert len(i) * 80 >= SMALL_WORK
    for threads in (1, 3):
        taken = Rows(X, threads=threads).take(i)
        assert taken.X.dtype == dtype
        np.testing.assert_array_equal(taken.X, X[i])
