"""Compiled passes of the logistic and softmax losses, against the losses by NumPy."""

import numpy as np
import pytest

from certus.kernels.glm import logistic, softmax
from certus.losses import Logistic, Softmax

SHAPES = [(1, 1), (33, 4), (65, 5), (2, 3), (3, 1), (4, 8), (5, 9), (7, 2), (64, 33), (131, 17)]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def draw(shape, dtype, weighted, K=1):
    rng = np.random.default_rng(shape[0])
    X = rng.normal(size=shape).astype(dtype)
    X.flags.writeable = False
    s = rng.integers(0, 3, size=shape[0]).astype(float) if weighted else None
    y = (
        rng.integers(0, K, size=shape[0]).astype(float)
        if K > 1
        else rng.choice([-1.0, 1.0], shape[0])
    )
    return X, y, s, rng.normal(size=(K, shape[1])), rng.normal(size=K)


@weighted
@dtypes
@shapes
def test_the_logistic_pass(shape, dtype, weighted):
    X, y, s, U, c = draw(shape, dtype, weighted)
    d = np.full(len(X), np.nan)
    sums, XG = logistic.gradient(X, y, s, U[0], c[0], d)
    wide, one = X.astype(float), np.ones(len(X)) if s is None else s
    value, slope, curvature = Logistic().evaluate(y, wide @ U[0] + c[0])
    right = (value < np.log(2)) | (one == 0)
    truth = [one @ value, one @ slope, one @ curvature, right.sum()]
    np.testing.assert_allclose(sums, truth, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(d, one * curvature, rtol=1e-12)
    np.testing.assert_allclose(XG[0], wide.T @ (one * slope), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(XG[1], wide.T @ (one * curvature), rtol=1e-10, atol=1e-12)
    again, alone = logistic.gradient(X, y, s, U[0], c[0])
    np.testing.assert_array_equal(again, sums)
    np.testing.assert_array_equal(alone[0], XG[0])


def test_logarithms_of_many_factors_neither_overflow_nor_vanish():
    n = 5000
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    for scale in (0.0, 1e-3, 800.0):
        X = np.full((n, 1), scale)
        sums, _ = logistic.gradient(X, y, None, np.ones(1), 0.0)
        truth = Logistic().value(y, X[:, 0]).sum()
        np.testing.assert_allclose(sums[0], truth, rtol=1e-13)


@pytest.mark.parametrize("K", [2, 3, 10])
@weighted
@dtypes
@shapes
def test_the_softmax_passes(shape, dtype, weighted, K):
    X, y, s, U, c = draw(shape, dtype, weighted, K)
    P = np.full((len(X), K), np.nan)
    sums, XG = softmax.first_order(X, y, s, U, c, P)
    wide, one = X.astype(float), np.ones(len(X)) if s is None else s
    value, slope, truth = Softmax().evaluate(y, wide @ U.T + c)
    d = truth * (1 - truth)
    np.testing.assert_allclose(P, truth, rtol=1e-12)
    np.testing.assert_allclose(sums[0], one @ value, rtol=1e-12, atol=1e-13)
    assert sums[1] == ((value < np.log(2)) | (one == 0)).sum()
    np.testing.assert_allclose(sums[2 : K + 2], one @ slope, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sums[K + 2 :], one @ d, rtol=1e-12, atol=1e-13)
    side = np.column_stack([slope, d.sum(axis=1)])
    np.testing.assert_allclose(XG, (one[:, None] * side).T @ wide, rtol=1e-9, atol=1e-12)
    st, Xt = softmax.curvature(X, s, U, c, P)
    t = one[:, None] * Softmax().curvature_product(truth, wide @ U.T + c)
    np.testing.assert_allclose(st, t.sum(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Xt, t.T @ wide, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: logistic.gradient(X, np.ones(3), None, np.ones(2), 0.0),
        lambda X: logistic.gradient(X, np.ones(4), np.ones(3), np.ones(2), 0.0),
        lambda X: logistic.gradient(X, np.ones(4), None, np.ones(3), 0.0),
        lambda X: logistic.gradient(X, np.ones(4), None, np.ones(2), 0.0, np.ones(3)),
        lambda X: softmax.first_order(
            X, np.zeros(4), None, np.ones((3, 3)), np.ones(3), np.empty((4, 3))
        ),
        lambda X: softmax.first_order(
            X, np.zeros(4), None, np.ones((3, 2)), np.ones(3), np.empty((4, 2))
        ),
        lambda X: softmax.first_order(
            X, np.full(4, 3.0), None, np.ones((3, 2)), np.ones(3), np.empty((4, 3))
        ),
        lambda X: softmax.curvature(X, np.ones(5), np.ones((3, 2)), np.ones(3), np.empty((4, 3))),
    ],
)
def test_arrays_that_do_not_match_never_reach_the_machine_code(call):
    with pytest.raises(ValueError, match=r"match|differ|need|class"):
        call(np.ones((4, 2)))


def test_whole_numbers_are_no_entries():
    with pytest.raises(TypeError, match="float32 or float64"):
        logistic.gradient(np.ones((4, 2), dtype=int), np.ones(4), None, np.ones(2), 0.0)


def test_exp_and_log1p_are_right_to_the_last_digits():
    from numba import njit

    from certus.kernels._elementary import exp_below, log1p_to_one

    @njit
    def each(x, e):
        return np.array([exp_below(v) for v in x]), np.array([log1p_to_one(v) for v in e])

    rng = np.random.default_rng(0)
    x = -np.concatenate([[0.0], np.logspace(-20, np.log10(708.0), 5000), rng.uniform(0, 708, 5000)])
    e = np.concatenate([[0.0, 1.0], np.logspace(-300, 0, 5000), rng.uniform(0, 1, 5000)])
    exp, log1p = each(x, e)
    np.testing.assert_allclose(exp, np.exp(x), rtol=4e-16)
    np.testing.assert_allclose(log1p, np.log1p(e), rtol=8e-16)
    exp, log1p = each(np.array([-np.inf, -800.0, np.nan]), np.array([np.nan]))
    assert ((exp[:2] >= 0) & (exp[:2] < 1e-300)).all()
    assert np.isnan([exp[2], log1p[0]]).all()


@pytest.mark.parametrize("row", [0, 3, 70])
def test_a_row_that_is_no_number_shows_in_the_objective(row):
    X = np.zeros((71, 3))
    X[row, 1] = np.nan
    y = np.ones(71)
    assert np.isnan(logistic.gradient(X, y, None, np.ones(3), 0.0)[0][0])
    sums, _ = softmax.first_order(X, y, None, np.ones((3, 3)), np.zeros(3), np.empty((71, 3)))
    assert np.isnan(sums[0])
