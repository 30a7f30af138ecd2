"""Compiled stochastic gradient descent, against its equations row by row in NumPy."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from certus.kernels import _compile
from certus.kernels.first_order import sgd
from tests.first_order.optimiser_cases import (
    DELTA,
    LOSS_CODES,
    Twin,
    long_indices,
    sgd_path,
    weights,
)
from tests.glm.smooth_cases import each_loss, intercepts, problem_of

N, P = 100, 5
KINDS = {
    "dense": (False, np.float64, np.int32),
    "dense, float32": (False, np.float32, np.int32),
    "sparse": (True, np.float64, np.int32),
    "sparse, long": (True, np.float64, np.int64),
    "sparse, float32": (True, np.float32, np.int32),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def make_problem(name, kind, weighted=False, intercept=True, l2=0.0):
    """Return X in the kernel's layout, the problem as a Twin, θ and v."""
    thin, dtype, index = KINDS[kind]
    problem = problem_of(
        name, n=N, p=P, weighted=weighted, intercept=intercept, l2=l2 * N,
        change=lambda X: (X * (np.abs(X) > 0.6)).astype(dtype),
    )  # fmt: skip
    twin = Twin(name, problem)
    twin.lam = l2
    X = problem.rows.X
    if thin:
        X = sparse.csr_array(X)
        X = long_indices(X) if index == np.int64 else X
    rng = np.random.default_rng(7)
    theta = 0.3 * rng.normal(size=twin.shape)
    theta[-1] *= intercept
    v = 0.1 * rng.normal(size=twin.shape)
    v[-1] *= intercept
    return X, twin, theta, v


def descend(X, twin, alphas, batch, theta, v, beta, averaged=True):
    """Return (θ, v, Σθ) after the kernel."""
    dense = isinstance(X, np.ndarray)

    def pair(a):
        return np.array(a[:-1].T if dense else a[:-1], order="C"), a[-1].copy()

    def whole(W, b):
        return np.vstack([W.T if dense else W, b])

    s = None if (twin.s == 1).all() else twin.s * (twin.n / twin.S)
    loss, free = (LOSS_CODES[twin.name], DELTA), float(twin.X[0, -1])
    state, speed, total = pair(theta), pair(v), pair(np.zeros_like(theta))
    sgd.descend(
        X, twin.y, s, alphas, batch, loss, twin.lam, beta, free, state, speed,
        total if averaged else None,
    )  # fmt: skip
    return whole(*state), whole(*speed), whole(*total)


def assert_near(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(1.0, np.abs(b).max()))


@each_loss
@each_kind
@weights
@intercepts
def test_steps_are_those_of_the_equations(loss, kind, weighted, intercept):
    X, twin, theta, v = make_problem(loss, kind, weighted, intercept, l2=0.2)
    order = np.arange(N)
    for batch in (1, 7, N + 9):
        batches = -(-N // batch)
        alphas = 0.2 / np.sqrt(1 + np.arange(batches))
        for beta in (0.0, 0.5, 0.95):
            path, speed = sgd_path(twin, order, alphas, batch, theta, beta, v if beta else None)
            result = descend(X, twin, alphas, batch, theta, v, beta)
            assert_near(result[0], path[-1])
            assert_near(result[2], sum(path))
            if beta:
                assert_near(
                    result[1] if intercept else result[1][:-1], speed[: None if intercept else -1]
                )


@each_kind
@pytest.mark.parametrize("product", [0.0, 1e-3, 0.1, 0.9, 1.0, 1.0 + 1e-9, 1.5])
def test_any_penalty_is_taken_even_where_a_step_turns_w_about(kind, product):
    """αλ = ``product``: above 1 the factor 1 − αλ of w is negative, at 1 it is 0."""
    for loss in ("logistic", "softmax"):
        X, twin, theta, v = make_problem(loss, kind, l2=product / 0.05)
        alphas = np.full(N, 0.05)
        for beta in (0.0, 0.1, 0.9):
            path, _ = sgd_path(twin, np.arange(N), alphas, 1, theta, beta, v if beta else None)
            result = descend(X, twin, alphas, 1, theta, v, beta)
            assert_near(result[0], path[-1])
            assert_near(result[2], sum(path))


@each_kind
@pytest.mark.parametrize("beta", [0.0, 0.9])
def test_without_averages_the_steps_are_the_same(kind, beta):
    X, twin, theta, v = make_problem("logistic", kind, l2=0.5)
    alphas = np.full(N, 0.1)
    with_sum = descend(X, twin, alphas, 1, theta, v, beta)
    without = descend(X, twin, alphas, 1, theta, v, beta, averaged=False)
    np.testing.assert_array_equal(without[0], with_sum[0])
    np.testing.assert_array_equal(without[2], 0)


@each_kind
def test_long_products_of_momentum_keep_their_digits(kind):
    """β near 1: many steps pass before the products are multiplied out."""
    X, twin, theta, v = make_problem("logistic", kind, l2=0.01)
    alphas = np.full(N, 0.01)
    for beta in (0.99, 0.999):
        for _ in range(5):
            path, speed = sgd_path(twin, np.arange(N), alphas, 1, theta, beta, v)
            result = descend(X, twin, alphas, 1, theta, v, beta)
            assert_near(result[0], path[-1])
            assert_near(result[2], sum(path))
            theta, v = path[-1], speed


def test_read_only_rows_are_read():
    X, twin, theta, v = make_problem("logistic", "sparse", weighted=True)
    expected = descend(X, twin, np.full(N, 0.1), 1, theta, v, 0.0)
    for part in (X.data, X.indices, X.indptr, twin.y, twin.s):
        part.flags.writeable = False
    result = descend(X, twin, np.full(N, 0.1), 1, theta, v, 0.0)
    np.testing.assert_array_equal(result[0], expected[0])


def arguments(**changes):
    """Those of a good call, but for ``changes``."""
    given = {
        "X": np.ones((4, 2)), "y": np.zeros(4), "s": None, "alphas": np.ones(4), "batch": 1,
        "loss": (4, 0.0), "lam": 0.0, "beta": 0.0, "free": 1.0,
        "theta": (np.zeros((3, 2)), np.zeros(3)), "velocity": (np.zeros((3, 2)), np.zeros(3)),
        "total": None,
    }  # fmt: skip
    return {**given, **changes}


def test_arrays_that_do_not_match_never_reach_the_machine_code():
    sgd.descend(**arguments())
    W, b = np.zeros((3, 2)), np.zeros(3)
    for changes in (
        {"y": np.zeros(3)},
        {"y": np.full(4, 3.0)},  # a class that has no score
        {"y": np.full(4, -1.0)},
        {"y": np.full(4, np.nan)},
        {"loss": (2, 0.0)},  # three scores for a loss of one
        {"s": np.ones(5)},
        {"alphas": np.ones(3)},
        {"batch": 2},
        {"batch": 0},
        {"theta": (np.zeros((3, 3)), b)},
        {"theta": (W, np.zeros(2))},
        {"velocity": (np.zeros((2, 2)), b)},
        {"velocity": (W, np.zeros(2))},
        {"total": (np.zeros((3, 1)), b)},
        {"total": (W, np.zeros(1))},
    ):
        with pytest.raises(ValueError, match="match"):
            sgd.descend(**arguments(**changes))
    with pytest.raises(TypeError, match="float32 or float64"):
        sgd.descend(**arguments(X=np.ones((4, 2), dtype=int)))


def test_a_batch_of_more_rows_than_there_are_needs_no_more_memory():
    sgd.descend(**arguments(batch=1 << 45, alphas=np.ones(1)))


def test_every_kind_compiles_ahead():
    sgd.warm()
    counts = _compile.n_signatures()
    result = {
        name: counts[f"certus.kernels.first_order.sgd.{name}"] for name in ("_dense", "_sparse")
    }
    assert result == {"_dense": 2, "_sparse": 4}
    assert counts["certus.kernels.first_order.sgd._sparse_momentum"] == 4


BOUNDS = """
    import numpy as np, scipy.sparse as sp
    from certus.kernels.first_order import saga, sgd

    A = np.triu(np.ones((40, 30)))
    X, y = sp.csr_array(A), np.arange(40) % 3.0
    rows = np.arange(40)[::-1].copy()

    def of(shape):
        return np.zeros(shape), np.zeros(3)

    def run(X, shape):
        for beta in (0.0, 0.9):
            sgd.descend(X, y, None, np.ones(6), 7, (4, 0.0), 0.5, beta, 1.0, of(shape), of(shape),
                        of(shape))
        saga.descend(X, y, None, rows, 0.1, (4, 0.0), 0.5, 1.0, of(shape), of(shape),
                     np.zeros((40, 3)))

    run(A, (3, 30))
    run(X, (30, 3))
    X.indices[-1] = 30
    for beta in (0.0, 0.9):
        try:
            sgd.descend(X, y, None, np.ones(6), 7, (4, 0.0), 0.5, beta, 1.0, of((30, 3)),
                        of((30, 3)), None)
        except IndexError:
            print("noticed")
"""


@pytest.mark.exhaustive
def test_kernels_stay_inside_their_arrays(tmp_path):
    package = str(Path(_compile.__file__).parents[2])
    environment = {"PYTHONPATH": package, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": tmp_path}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BOUNDS)],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        capture_output=True,
        text=True,
    )
    assert result.stdout.split() == ["noticed", "noticed"], result.stderr
