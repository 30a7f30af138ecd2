"""Compiled SAGA, against its equation row by row in NumPy. Bounds: ``test_sgd_kernels.py``."""

import numpy as np
import pytest

from certus.kernels import _compile
from certus.kernels.first_order import saga
from tests.first_order.optimiser_cases import (
    DELTA,
    LOSS_CODES,
    losses_gradient,
    saga_path,
    slopes,
    weights,
)
from tests.first_order.test_sgd_kernels import N, assert_near, each_kind, make_problem
from tests.glm.smooth_cases import each_loss, intercepts


def initial_state(twin, theta):
    """The ∇q_i(θ) of all rows and the kernel's (table of slopes, mean)."""
    stored = np.array([losses_gradient(twin, theta, i) for i in range(twin.n)])
    return stored, slopes(twin.name, twin.y, twin.scores(theta)), stored.mean(axis=0)


def descend(X, twin, order, gamma, theta, mean, table):
    dense = isinstance(X, np.ndarray)

    def pair(a):
        return np.array(a[:-1].T if dense else a[:-1], order="C"), a[-1].copy()

    def whole(W, b):
        return np.vstack([W.T if dense else W, b])

    s = None if (twin.s == 1).all() else (twin.s * (twin.n / twin.S))[order]
    loss, free = (LOSS_CODES[twin.name], DELTA), float(twin.X[0, -1])
    state, A = pair(theta), pair(mean)
    saga.descend(X[order], twin.y[order], s, order, gamma, loss, twin.lam, free, state, A, table)
    return whole(*state), whole(*A)


ORDERS = {
    "each once": np.random.default_rng(0).permutation(N),
    "drawn": np.random.default_rng(1).integers(N, size=N),
    "few": np.random.default_rng(2).integers(9, size=N),  # rows and columns that wait for long
}


@each_loss
@each_kind
@weights
@intercepts
def test_steps_are_those_of_the_equation(loss, kind, weighted, intercept):
    X, twin, theta, _ = make_problem(loss, kind, weighted, intercept, l2=0.2)
    for order in (ORDERS["drawn"], ORDERS["few"]):
        stored, table, mean = initial_state(twin, theta)
        path = saga_path(twin, order, 0.1, theta, stored)
        result, A = descend(X, twin, order, 0.1, theta, mean, table)
        assert_near(result, path[-1])
        last = slice(None) if intercept else slice(None, -1)
        assert_near(A[last], stored.mean(axis=0)[last])


@each_kind
@pytest.mark.parametrize("product", [0.0, 1e-3, 0.1, 0.9, 1.0 - 1e-9])
def test_any_penalty_is_taken_whose_step_leaves_something_of_w(kind, product):
    """γλ = ``product``: w shrinks by 1 − γλ a step, and is multiplied out when that is small."""
    for loss in ("logistic", "softmax"):
        X, twin, theta, _ = make_problem(loss, kind, l2=product / 0.05)
        for order in ORDERS.values():
            stored, table, mean = initial_state(twin, theta)
            path = saga_path(twin, order, 0.05, theta, stored)
            result, A = descend(X, twin, order, 0.05, theta, mean, table)
            assert_near(result, path[-1])
            assert_near(A, stored.mean(axis=0))


@each_kind
def test_two_windows_are_one(kind):
    X, twin, theta, _ = make_problem("softmax", kind, weighted=True, l2=0.1)
    order = ORDERS["drawn"]
    _, table, mean = initial_state(twin, theta)
    once, _ = descend(X, twin, order, 0.1, theta, mean, table.copy())
    half, A = descend(X, twin, order[:37], 0.1, theta, mean, table)
    twice, _ = descend(X, twin, order[37:], 0.1, half, A, table)
    assert_near(twice, once)


def test_read_only_rows_are_read():
    X, twin, theta, _ = make_problem("logistic", "sparse")
    _, table, mean = initial_state(twin, theta)
    s, rows = np.ones(N), np.arange(N)
    for part in (X.data, X.indices, X.indptr, twin.y, s, rows):
        part.flags.writeable = False
    W = np.zeros((5, 1)), np.zeros(1)
    A = mean[:-1].copy(), mean[-1].copy()
    saga.descend(X, twin.y, s, rows, 0.1, (2, 0.0), 0.0, 1.0, W, A, table)
    assert W[0].any()


def test_arrays_that_do_not_match_never_reach_the_machine_code():
    W, b = np.zeros((3, 2)), np.zeros(3)
    given = {
        "X": np.ones((4, 2)), "y": np.zeros(4), "s": None, "rows": np.arange(4), "gamma": 0.1,
        "loss": (4, 0.0), "lam": 1.0, "free": 1.0, "theta": (W, b), "mean": (W.copy(), b.copy()),
        "table": np.zeros((6, 3)),
    }  # fmt: skip
    saga.descend(**given)
    for changes in (
        {"y": np.zeros(3)},
        {"y": np.full(4, 3.0)},  # a class that has no score
        {"loss": (0, 0.0)},  # three scores for a loss of one
        {"s": np.ones(5)},
        {"rows": np.arange(3)},
        {"theta": (np.zeros((3, 3)), b)},
        {"theta": (W, np.zeros(2))},
        {"mean": (np.zeros((2, 2)), b)},
        {"mean": (W, np.zeros(2))},
        {"table": np.zeros((6, 2))},
    ):
        with pytest.raises(ValueError, match="match"):
            saga.descend(**{**given, **changes})
    for rows in (np.arange(4) + 3, np.arange(4) - 1):
        with pytest.raises(ValueError, match="row indices beyond the 6 rows of the table"):
            saga.descend(**{**given, "rows": rows})
    for lam in (10.0, 11.0, np.nan):
        with pytest.raises(ValueError, match="too long for λ"):
            saga.descend(**{**given, "lam": lam})
    with pytest.raises(TypeError, match="float32 or float64"):
        saga.descend(**{**given, "X": np.ones((4, 2), dtype=int)})


def test_every_kind_compiles_ahead():
    saga.warm()
    counts = _compile.n_signatures()
    assert counts["certus.kernels.first_order.saga._dense"] == 2
    assert counts["certus.kernels.first_order.saga._sparse"] == 4
