"""The kernels for sparse rows against dense NumPy, their bounds and their outputs."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from certus.kernels import _compile
from certus.kernels.glm import csr

NONE = np.empty(0)


def block(n=90, p=17, k=2, dtype=np.float64, index=np.int32, seed=0):
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, p)) < 0.3, rng.normal(size=(n, p)), 0).astype(dtype)
    A[5], A[:, 3] = 0, 0  # a row and a column without entries
    X = sp.csr_array(A)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X, A.astype(float), rng.normal(size=(n, k)), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_equal_their_definition(dtype, index, k):
    X, A, y, s = block(dtype=dtype, index=index, k=k)
    n, p = A.shape
    for weight, given in ((s, s), (np.ones(n), NONE)):
        sx, sxx, Xy, cy = np.zeros(p), np.zeros(p), np.zeros((p, k)), np.arange(k) / 3
        csr.column_sums(X, y, given, cy, sx, sxx, Xy)
        np.testing.assert_allclose(sx, weight @ A, atol=1e-12)
        np.testing.assert_allclose(sxx, weight @ A**2, atol=1e-12)
        np.testing.assert_allclose(Xy, A.T @ (weight[:, None] * (y - cy)), atol=1e-12)
        u = np.random.default_rng(1).normal(size=(k, p))
        for c in (np.arange(k)[:, None] / 7, np.ascontiguousarray(y.T)):
            Xt, st, stt = np.zeros((k, p)), np.zeros(k), np.zeros(k)
            csr.twice(X, given, u, c, Xt, st, stt)
            t = u @ A.T - c
            np.testing.assert_allclose(Xt, (weight * t) @ A, atol=1e-12)
            np.testing.assert_allclose(st, t @ weight, atol=1e-12)
            np.testing.assert_allclose(stt, t**2 @ weight, atol=1e-12)
        G = np.zeros((p, p))
        csr.pair_sums(X, given, G)
        np.testing.assert_allclose(G, np.triu(A.T @ (weight[:, None] * A)), atol=1e-12)


def test_sums_are_added_to_what_the_outputs_hold():
    X, A, _, s = block()
    G = np.ones((17, 17))
    csr.pair_sums(X, s, G)
    np.testing.assert_allclose(G, 1 + np.triu(A.T @ (s[:, None] * A)), atol=1e-12)


def test_read_only_arrays_are_read():
    X, A, y, s = block()
    for part in (X.data, X.indices, X.indptr, y, s):
        part.flags.writeable = False
    G = np.zeros((17, 17))
    csr.pair_sums(X, s, G)
    assert G[0, 0] == pytest.approx(s @ A[:, 0] ** 2)


def test_arguments_that_do_not_fit_are_refused():
    X, _, _, s = block()
    with pytest.raises(ValueError, match="X has 90 rows, an array beside it 89"):
        csr.pair_sums(X, s[1:], np.zeros((17, 17)))
    frozen = np.zeros((17, 17))
    frozen.flags.writeable = False
    for G in (np.zeros((16, 17)), np.zeros((17, 34))[:, ::2], np.zeros((17, 17), "f4"), frozen):
        with pytest.raises(ValueError, match="writable contiguous float64 output for 17 columns"):
            csr.pair_sums(X, s, G)
    with pytest.raises(ValueError, match="do not match"):
        csr.twice(X, s, np.zeros((2, 17)), np.zeros((2, 89)), np.zeros((2, 17)), *np.zeros((2, 2)))
    with pytest.raises(TypeError, match="float32 or float64"):
        csr.pair_sums(X.astype(np.int64), s, np.zeros((17, 17)))


def test_a_bad_value_reaches_the_sums_of_its_column_only():
    X, _, y, _ = block(k=1)
    X.data[4] = np.nan
    sx, sxx, Xy = np.zeros(17), np.zeros(17), np.zeros((17, 1))
    csr.column_sums(X, y, NONE, np.zeros(1), sx, sxx, Xy)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(sxx)), [X.indices[4]])


BOUNDS = """
    import numpy as np, scipy.sparse as sp
    from certus.kernels.glm import csr

    X = sp.csr_array(np.triu(np.ones((40, 30))))
    X.data.flags.writeable = False
    s, y = np.ones(40), np.ones((40, 2))
    csr.column_sums(X, y, s, np.zeros(2), np.zeros(30), np.zeros(30), np.zeros((30, 2)))
    csr.twice(X, s, np.ones((2, 30)), y.T, np.zeros((2, 30)), np.zeros(2), np.zeros(2))
    csr.pair_sums(X, s, np.zeros((30, 30)))
    X.indices[-1] = 30
    try:
        csr.pair_sums(X, s, np.zeros((30, 30)))
    except IndexError:
        print("noticed")
"""


@pytest.mark.exhaustive
def test_kernels_stay_inside_their_arrays(tmp_path):
    package = str(Path(_compile.__file__).parents[2])
    environment = {"PYTHONPATH": package, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": tmp_path}
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BOUNDS)],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        capture_output=True,
        text=True,
    )
    assert found.stdout.strip() == "noticed", found.stderr


# --- products and rows by their numbers -----------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_from_either_side_are_those_of_scipy(dtype, index, k):
    X, A, G, _ = block(dtype=dtype, index=index, k=k)
    U = np.random.default_rng(2).normal(size=(k, 17)).T  # in Fortran order
    np.testing.assert_allclose(csr.times(X, U), A @ U, atol=1e-12)
    total = np.ones((17, k))
    csr.add_transposed(X, np.asfortranarray(G), total)
    np.testing.assert_allclose(total, 1 + A.T @ G, atol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_taken_by_their_numbers_as_often_as_they_stand_there(dtype, index):
    X, A, _, _ = block(dtype=dtype, index=index)
    rng = np.random.default_rng(0)
    for rows in (rng.permutation(90), rng.integers(90, size=200), np.array([5, 5]), np.arange(0)):
        data, indices, indptr = csr.take(X, rows)
        assert (data.dtype, indices.dtype, indptr.dtype) == (dtype, index, index)
        found = sp.csr_array((data, indices, indptr), shape=(len(rows), 17))
        np.testing.assert_array_equal(found.toarray(), A[rows])


def test_products_and_rows_that_do_not_fit_are_refused():
    X, _, G, _ = block()
    with pytest.raises(ValueError, match="do not match"):
        csr.times(X, np.ones((16, 1)))
    across = np.zeros((2, 17)).T
    for g, total in ((G[1:], np.zeros((17, 2))), (G, np.zeros((17, 1))), (G, across)):
        with pytest.raises(ValueError, match="do not match"):
            csr.add_transposed(X, g, total)
    for total in (np.zeros((16, 2)), np.zeros((17, 2), "f4")):
        with pytest.raises(ValueError, match="writable contiguous float64 output"):
            csr.add_transposed(X, G, total)
    for rows in ([90], [-1], [0, 1, 900]):
        with pytest.raises(ValueError, match="row indices beyond the 90 rows of X"):
            csr.take(X, np.array(rows))
