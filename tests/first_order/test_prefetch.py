"""Windows of rows in random order: every row in turn, and a thread that ends with its work."""

import threading

import numpy as np
import pytest
from scipy import sparse

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.solvers.first_order import prefetch
from certus.solvers.first_order.prefetch import over_windows

N, P = 200, 4


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    monkeypatch.setattr(prefetch, "WINDOW_BYTES", 8 * P * 16)
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "certus windows"]


def rows_of(layout, threads):
    X = np.arange(1.0, N * P + 1).reshape(N, P)
    X = {"dense": X, "Fortran": np.asfortranarray(X), "sparse": CSR(sparse.csr_array(X))}[layout]
    return Rows(X, np.arange(float(N))[:, None], np.arange(N) % 3 + 0.5, threads=threads)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("layout", ["dense", "Fortran", "sparse"])
def test_every_row_comes_once_in_its_turn_with_its_target_and_weight(layout, threads):
    order, windows = np.random.default_rng(0).permutation(N), []

    def work(window):
        values = window.X.data if layout == "sparse" else window.X
        np.testing.assert_array_equal(np.reshape(values, (-1, P))[:, 0], 1 + P * window.y)
        np.testing.assert_array_equal(window.s, window.y % 3 + 0.5)
        assert window.first == sum(map(len, windows))
        assert window.first % 5 == 0
        windows.append(window.rows.copy())

    over_windows(rows_of(layout, threads), order, 5, work)
    np.testing.assert_array_equal(np.concatenate(windows), order)
    assert len(windows) > 3


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_the_work_is_raised_and_nobody_goes_on_gathering(threads, error):
    calls = []

    def work(window):
        calls.append(window.first)
        if len(calls) == 3:
            raise error

    with pytest.raises(error):
        over_windows(rows_of("dense", threads), np.arange(N), 1, work)
    assert len(calls) == 3


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_gathering_reaches_who_waits_for_the_window(threads, monkeypatch):
    calls = []

    def broken(self, part, which):
        calls.append(len(part))
        if len(calls) == 4:
            raise MemoryError("no room")
        return np.zeros((len(part), P))

    monkeypatch.setattr(prefetch._DenseRows, "__call__", broken)
    with pytest.raises(MemoryError, match="no room"):
        over_windows(rows_of("dense", threads), np.arange(N), 1, lambda window: None)
