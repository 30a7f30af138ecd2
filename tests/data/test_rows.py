"""Rows in blocks: reduce and map, and what they are taken from."""

import itertools
import threading
import time
from collections import namedtuple

import numpy as np
import pytest

import certus
from certus.data.rows import SMALL_WORK, Rows, spread
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from tests.contract.problems import regression
from tests.data.row_cases import column_sums, gram, many_rows

Pair = namedtuple("Pair", "total count")
pytestmark = pytest.mark.usefixtures("small_work_too")


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
    X_some, y_some, s_some = Rows(X, 2 * X, X[:, 0] + 1).sample_block(100)
    np.testing.assert_array_equal(y_some, 2 * X_some)
    np.testing.assert_array_equal(s_some, X_some[:, 0] + 1)
    assert Rows(X).sample_block(10**6)[0].shape == (5000, 1)


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
