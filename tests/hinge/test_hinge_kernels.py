"""kernels/hinge: coordinate steps and conjugate gradients, against their equations."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import certus
from certus.kernels import _compile
from certus.kernels.hinge import dual_coordinates as kernels


def block(n=40, p=6, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.6, rng.normal(size=(n, p)), 0.0).astype(dtype)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    u = rng.uniform(0.1, 1.0, size=n)
    return X, y, u


def layouts(X):
    yield X
    for index in (np.int32, np.int64):
        S = csr_array(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        yield S


@pytest.mark.parametrize("c", [0.0, 2.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_epoch_is_coordinate_steps_in_the_order_it_leaves_behind(dtype, c):
    X, y, u = block(dtype=dtype)
    A = np.column_stack([X.astype(float), np.full(len(X), c)])
    q = (A**2).sum(axis=1) + 1e-9
    for layout in layouts(X):
        alpha, theta, active = np.zeros(40), np.zeros(7), np.arange(40)
        state, limits = np.array([7], dtype=np.uint64), np.array([np.inf, -np.inf])
        expected, w = np.zeros(40), np.zeros(7)
        for _ in range(3):
            limits[:] = np.inf, -np.inf  # nobody is dropped
            kept = kernels.epoch(layout, y, u, q, c, alpha, theta, active, state, limits)
            assert kept == 40
            assert sorted(active) == list(range(40))
            for i in active:
                g = y[i] * (A[i] @ w) - 1
                new = np.clip(expected[i] - g / q[i], 0.0, u[i])
                w += (new - expected[i]) * y[i] * A[i]
                expected[i] = new
        np.testing.assert_allclose(alpha, expected, atol=1e-12)
        np.testing.assert_allclose(theta, (alpha * y) @ A, atol=1e-12)


def test_epochs_raise_the_dual_objective_and_drop_only_rows_that_stay():
    X, y, u = block(n=200)
    q = (X**2).sum(axis=1) + 1
    alpha, theta, active = np.zeros(200), np.zeros(7), np.arange(200)
    state, limits = np.array([1], dtype=np.uint64), np.array([np.inf, -np.inf])
    D = [0.0]
    for _ in range(5000):
        active = active[: kernels.epoch(X, y, u, q, 1.0, alpha, theta, active, state, limits)]
        limits[0], limits[1] = limits[0] or np.inf, limits[1] or -np.inf
        D.append(alpha.sum() - theta @ theta / 2)
    assert (np.diff(D) >= -1e-12).all()
    assert len(active) < 100
    g = y * (X @ theta[:-1] + theta[-1]) - 1
    assert np.abs(g[active]).max() < 1e-6
    assert (g[alpha == 0] > -1e-6).all()
    assert (g[alpha == u] < 1e-6).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_look_at_the_face_is_its_equation(dtype):
    X, y, _ = block(dtype=dtype)
    rng = np.random.default_rng(1)
    A, q, rows = np.column_stack([X, np.full(40, 3.0)]), rng.uniform(1, 2, 40), np.arange(5, 40, 3)
    v, r0 = rng.normal(size=7), rng.normal(size=len(rows))
    for layout in layouts(X):
        r, z, V = r0.copy(), np.zeros(len(rows)), np.ones(7)
        gained = kernels.face(layout, y, q, 3.0, rows, v, 0.3, r, z, V)
        expected = r0 - 0.3 * y[rows] * (A[rows] @ v)
        np.testing.assert_allclose(r, expected, atol=1e-12)
        np.testing.assert_allclose(z, expected / q[rows], atol=1e-12)
        np.testing.assert_allclose(V, 1 + (y[rows] * z) @ A[rows], atol=1e-12)
        assert gained == pytest.approx(r @ z)


def bad_calls():
    X, y, u = block()
    state, limits, rows = np.array([1], dtype=np.uint64), np.zeros(2), np.arange(40)
    v = np.zeros(7)
    good = [X, y, u, u, 1.0, np.zeros(40), v, rows, state, limits]
    for at, other, message in (
        (1, y[1:], "need y of 40"), (6, v[1:], "need theta of 7"), (7, rows + 1, "40 rows"),
        (8, np.array([1]), "uint64"), (0, np.asfortranarray(X), "C order"),
        (0, X.astype(np.int64), "float32 or float64"),
    ):  # fmt: skip
        yield kernels.epoch, [*good[:at], other, *good[at + 1 :]], message
    r = np.zeros(40)
    yield kernels.face, [X, y, u, 1.0, rows - 1, v, 0.1, r, r, v], "40 rows"
    yield kernels.face, [X, y, u, 1.0, rows, v, 0.1, r[1:], r, v], "need r of 40"


@pytest.mark.parametrize(("kernel", "args", "message"), list(bad_calls()))
def test_arguments_that_do_not_fit_are_refused(kernel, args, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kernel(*args)


def test_two_kinds_of_numbers_and_two_of_indices_are_all():
    kernels.warm()
    counts = _compile.n_signatures()
    for name in ("epoch", "face"):
        assert counts[f"certus.kernels.hinge.dual_coordinates._dense_{name}"] == 2
        assert counts[f"certus.kernels.hinge.dual_coordinates._sparse_{name}"] == 4


@pytest.mark.exhaustive
def test_kernels_stay_inside_their_arrays(tmp_path):
    program = """
        import numpy as np
        from scipy.sparse import csr_array
        from certus.kernels.hinge import dual_coordinates as hinge

        rng = np.random.default_rng(0)
        X = np.where(rng.random((9, 4)) < 0.6, rng.normal(size=(9, 4)), 0.0)
        y, u, q = np.where(rng.random(9) < 0.5, 1.0, -1.0), np.ones(9), np.ones(9)
        for A in (X, csr_array(X)):
            alpha, theta, active = np.zeros(9), np.zeros(5), np.arange(9)
            state, limits = np.array([3], dtype=np.uint64), np.array([np.inf, -np.inf])
            for _ in range(4):
                kept = hinge.epoch(A, y, u, q, 1.0, alpha, theta, active, state, limits)
                active = active[:kept]
            assert alpha.any()
            rows, z = np.array([0, 4, 8]), np.zeros(3)
            hinge.face(A, y, q, 1.0, rows, theta, 0.1, np.ones(3), z, np.zeros(5))
            assert z.all()
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
