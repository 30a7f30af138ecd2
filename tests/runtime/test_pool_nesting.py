"""Work inside of work: threads never wait for each other in a circle.

Each program runs in a process of its own, which tells where its threads stand if it hangs.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import certus

LONG = 120  # seconds; none of these takes 15 on a busy machine

HEAD = """
    import faulthandler, sys, threading, time
    faulthandler.dump_traceback_later({long}, exit=True)
    import numpy as np
    import certus
    from certus.runtime.pool import _helpers, blas_limiter, give_up_if_stopped, run_on_threads
    from certus.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV

    threads = {threads}
    certus.set_config(threads=threads)

    def three_deep(outer=6):
        done = np.zeros((outer, 5, 4), dtype=int)

        def fold(i):
            def penalty(j):
                def block(k):
                    time.sleep(1e-4)
                    done[i, j, k] += 1

                run_on_threads(block, 4, threads)
                assert (done[i, j] == 1).all(), "the blocks are done when the call returns"

            run_on_threads(penalty, 5, threads)
            assert (done[i] == 1).all()

        run_on_threads(fold, outer, threads)
        assert (done == 1).all(), "each once"
"""


def runs(program, threads):
    """What a program prints, which must end."""
    source = textwrap.dedent(HEAD.format(long=LONG, threads=threads)) + textwrap.dedent(program)
    paths = [str(Path(certus.__file__).parents[1]), str(Path(__file__).parent)]
    child = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=2 * LONG,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr[-4000:]
    return child.stdout


each_number_of_threads = pytest.mark.parametrize("threads", [3, 2, 1])


@pytest.mark.costly
@each_number_of_threads
def test_work_inside_of_work_inside_of_work_ends(threads):
    runs(
        """
        for _ in range(20):
            three_deep()
        assert not _helpers.open
        assert blas_limiter.entries == 0
        """,
        threads,
    )


@pytest.mark.costly
@each_number_of_threads
def test_many_callers_at_once_that_nest_all_end(threads):
    runs(
        """
        errors = []

        def caller():
            try:
                for _ in range(5):
                    three_deep(3)
            except BaseException as error:
                errors.append(error)

        callers = [threading.Thread(target=caller) for _ in range(6)]
        for one in callers:
            one.start()
        three_deep(3)
        for one in callers:
            one.join()
        assert not errors, errors
        assert _helpers.started <= threads, "callers take part; threads are not multiplied"
        assert not _helpers.open
        """,
        threads,
    )


def test_a_caller_is_served_while_all_helpers_wait_for_what_it_holds():
    """Helpers are in somebody else's tasks, which wait for a lock that this caller holds."""
    runs(
        """
        held, waiting = threading.Lock(), threading.Semaphore(0)

        def needs_the_lock(i):
            waiting.release()
            with held:
                pass

        with held:
            other = threading.Thread(target=lambda: run_on_threads(needs_the_lock, 2, 2))
            other.start()
            waiting.acquire()
            waiting.acquire()
            done = []
            run_on_threads(done.append, 10, 2)
            assert sorted(done) == list(range(10))
        other.join()
        """,
        2,
    )


@pytest.mark.costly
@each_number_of_threads
def test_an_error_in_the_innermost_task_stops_all_levels(threads):
    runs(
        """
        begun = []

        def fold(i):
            def penalty(j):
                def block(k):
                    begun.append((i, j, k))
                    time.sleep(1e-3)
                    if (i, j, k) == (0, 1, 1):
                        raise ZeroDivisionError("here")

                run_on_threads(block, 50, threads)

            run_on_threads(penalty, 50, threads)

        try:
            run_on_threads(fold, 50, threads)
        except ZeroDivisionError as error:
            assert str(error) == "here"
        else:
            raise AssertionError("the error was lost")
        count = len(begun)
        assert count < 2_000, count
        time.sleep(0.05)
        assert len(begun) == count, "somebody still works"
        three_deep()
        """,
        threads,
    )


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.costly
@each_number_of_threads
def test_ctrl_c_reaches_the_innermost_level_and_leaves_the_threads_usable(threads):
    runs(
        """
        import os, signal
        begun = []

        def fold(i):
            def penalty(j):
                def block(k):
                    begun.append(k)
                    time.sleep(1e-3)
                    if len(begun) == 20:
                        os.kill(os.getpid(), signal.SIGINT)

                run_on_threads(block, 100, threads)

            run_on_threads(penalty, 100, threads)

        for _ in range(3):
            begun.clear()
            try:
                run_on_threads(fold, 100, threads)
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError("it was not heard")
            count = len(begun)
            assert count < 100_000
            time.sleep(0.05)
            assert len(begun) == count, "somebody still works"
            assert blas_limiter.entries == 0 and not _helpers.open
            three_deep()
        """,
        threads,
    )


def test_of_two_errors_that_of_the_first_task_is_raised():
    runs(
        """
        def task(i):
            if i == 0:
                time.sleep(0.05)
            raise ValueError(i)

        for _ in range(10):
            try:
                run_on_threads(task, 2, 2)
            except ValueError as error:
                assert error.args == (0,), error
        """,
        2,
    )


@pytest.mark.exhaustive
def test_cross_validated_fits_whose_folds_share_work_end_with_the_same_bits():
    """Folds share the threads, and each fold's Cholesky factors want to share them too."""
    runs(
        """
        from certus.data import rows
        from certus.solvers.linalg import cholesky
        cholesky.MAX_UNTILED_COLUMNS, cholesky.MIN_THREADED_WORK = 8, 0  # as if large
        cholesky.tile_columns = lambda n: 8
        rows.SMALL_WORK = 0

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(150, 200)), rng.normal(size=150)
        labels = (X[:, 0] + y > 0).astype(int)
        fits = [
            (lambda: LassoCV(alphas=20), X, y),
            (lambda: ElasticNetCV(l1_ratio=[0.3, 0.9], alphas=10), X, y),
            (lambda: LogisticRegressionCV(Cs=3, cv=3), X[:, :20], labels),
        ]
        for make, A, b in fits:
            found = []
            for threads in (1, 2, 3):
                with certus.config_context(threads=threads):
                    found.append(make().fit(A, b))
                assert found[-1].certificate_.certified
                assert found[-1].coef_.tobytes() == found[0].coef_.tobytes()
        """,
        3,
    )


@pytest.mark.exhaustive
@each_number_of_threads
def test_lasso_cv_on_a_square_of_normal_numbers_ends(threads):
    runs(
        """
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(1000, 1000)), rng.normal(size=1000)
        assert LassoCV(alphas=30).fit(X, y).certificate_.certified
        """,
        threads,
    )
