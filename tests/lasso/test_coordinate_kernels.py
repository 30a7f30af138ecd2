"""The kernels of coordinate descent: against the formula, their bounds and their signatures."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import certus
from certus.kernels import _compile
from certus.kernels.lasso import coordinate_descent as kernels


def one_by_one(H, g, v, l1, l2):
    """A round over the coordinates, as the head of the kernels' file says."""
    v = v.copy()
    for j in range(len(v)):
        a = H[j, j] * v[j] - (g + H @ v)[j]
        v[j] = np.sign(a) * max(abs(a) - l1[j], 0) / (H[j, j] + l2[j])
    return v


@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_rounds_by_matrix_dense_and_sparse_columns_are_the_same(l2):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 8)) < 0.6, rng.normal(size=(30, 8)), 0.0)
    d, r, v = rng.random(30), rng.normal(size=30), rng.normal(size=8)
    l1, l2 = rng.random(8), np.full(8, l2)
    H, g = X.T @ (d[:, None] * X), X.T @ r
    expected = one_by_one(H, g - H @ v, v, l1, l2)
    found, q = v.copy(), g.copy()
    gain = kernels.gram_epochs(H, q, found, np.arange(8), l1, l2, 1, 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(q, g + H @ (found - v), atol=1e-12)
    h = np.diagonal(H).copy()
    assert gain == pytest.approx(np.max((found - v) ** 2 * (h + l2)))
    zero = np.zeros(8)
    pairs = np.arange(8), np.zeros(8, dtype=np.intp), zero, h, np.arange(8)
    for epoch, columns in (
        (kernels.dense_epoch, np.ascontiguousarray(X.T)),
        (kernels.sparse_epoch, sp.csc_array(X)),
    ):
        U, M, beta, found = np.zeros((1, 30)), np.zeros(30), np.zeros(1), v.copy()
        sides = r[None].copy(), d[None].copy(), np.zeros((1, 30)), U, M, beta
        assert epoch(columns, *pairs, *sides, found, l1, l2) == pytest.approx(gain)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(U[0], X @ (found - v), atol=1e-12)


def test_rounds_end_when_the_gain_is_small_enough():
    H, l1, l2 = np.eye(3) + 0.3, np.full(3, 0.1), np.zeros(3)
    v, q = np.zeros(3), np.array([-1.0, 2.0, 0.2])
    kernels.gram_epochs(H, q, v, np.arange(3), l1, l2, 1000, 1e-20)
    assert v[2] == 0
    assert abs(q[2]) <= l1[2]
    np.testing.assert_allclose((q + l1 * np.sign(v))[:2], 0, atol=1e-9)
    before = v.copy()
    assert kernels.gram_epochs(H, q, v, np.arange(3), l1, l2, 1, 0.0) <= 1e-20
    np.testing.assert_allclose(v, before, atol=1e-9)


def bad_calls():
    H, v, order = np.eye(3), np.zeros(3), np.arange(3)
    yield kernels.gram_epochs, (np.eye(4), v, v, order, v, v, 1, 0.0), "do not match"
    yield kernels.gram_epochs, (H, v, v, order + 1, v, v, 1, 0.0), "outside 0 … 2"
    rows = [np.zeros((1, 5)) for _ in range(4)]
    pair = np.arange(3), np.zeros(3, dtype=np.intp), v, v, order
    rest = np.zeros(5), np.zeros(1), v, v, v
    yield kernels.dense_epoch, (np.zeros((2, 5)), *pair, *rows, *rest), "outside 0 … 1"
    yield kernels.dense_epoch, (np.zeros((3, 6)), *pair, *rows, *rest), "do not match"
    X = sp.csc_array(np.eye(6, 3))
    yield kernels.sparse_epoch, (X, *pair, *rows, *rest), "do not match"


@pytest.mark.parametrize(("kernel", "args", "message"), list(bad_calls()))
def test_arguments_that_do_not_fit_are_refused(kernel, args, message):
    with pytest.raises(ValueError, match=message):
        kernel(*args)


def test_one_signature_each():
    kernels.warm()
    counts = _compile.n_signatures()
    for name in ("_gram_epochs", "_dense_epoch", "_sparse_epoch"):
        assert counts[f"certus.kernels.lasso.coordinate_descent.{name}"] == 1


@pytest.mark.exhaustive
def test_kernels_stay_inside_their_arrays(tmp_path):
    program = """
        import numpy as np, scipy.sparse as sp
        from certus.kernels.lasso import coordinate_descent as kernels

        rng = np.random.default_rng(0)
        X = np.where(rng.random((4, 9)) < 0.6, rng.normal(size=(4, 9)), 0.0)
        v, zero = rng.normal(size=6), np.zeros(6)
        kernels.gram_epochs(np.eye(6) + 0.1, v.copy(), v.copy(), np.arange(6), v**2, v**2, 3, 0.0)
        column, of_class = np.array([0, 1, 3, 0, 2, 3]), np.array([0, 0, 0, 1, 1, 1])
        for name, A in (("dense_epoch", X), ("sparse_epoch", sp.csc_array(X.T))):
            R, T, P = (rng.random((2, 9)) for _ in range(3))
            U, M, beta = np.zeros((2, 9)), np.zeros(9), np.zeros(2)
            pairs = column, of_class, zero, np.ones(6), np.arange(6)
            w = v.copy()
            getattr(kernels, name)(A, *pairs, R, T, P, U, M, beta, w, 0.1 * v**2, v**2)
            assert not np.array_equal(w, v)
        print("inside")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(certus.__file__).parents[1]),
            "NUMBA_BOUNDSCHECK": "1",
            "NUMBA_CACHE_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "inside"
