"""NCFS: the fast objective and slope against plain arithmetic, solvers against each other."""

import sys

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris, load_wine

from certus.kernels.ncfs import few_columns as few_kernels
from certus.kernels.ncfs import pairs as kernels
from certus.solvers.ncfs import (
    ClassGains,
    NCFSProblem,
    ValueGains,
    lbfgs,
    reference_sums,
    yang,
)
from certus.solvers.ncfs.fit import violation

METRICS = ["manhattan", "sqeuclidean", "euclidean", "phi_s"]
problem_module = sys.modules["certus.solvers.ncfs.problem"]


def pair(metric, x, y, W):
    """D_W(x, y), as printed."""
    d = x - y
    if metric == "manhattan":
        return (W * abs(d)).sum()
    if metric == "phi_s":
        u = x + y
        S_d = (W * (d - (W * d).sum() / W.sum()) ** 2).sum()
        S_u = (W * (u - (W * u).sum() / W.sum()) ** 2).sum()
        return S_d / S_u if S_u > 0 else (np.inf if S_d > 0 else 0.0)
    D = (W * d * d).sum()
    return np.sqrt(D) if metric == "euclidean" else D


def plain(metric, X, G, a, sigma, alpha, W):
    """(F, q) by loops."""
    n = len(X)
    D = np.array([[pair(metric, X[i], X[j], W) for j in range(n)] for i in range(n)])
    np.fill_diagonal(D, np.inf)
    E = np.exp(-(D - D.min(axis=1, keepdims=True)) / sigma)
    p = E / E.sum(axis=1, keepdims=True)
    q = (p * G).sum(axis=1)
    return a @ q - (0.0 if metric == "phi_s" else alpha * W.sum()), q


def case(seed, n=23, P=5, duplicates=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    codes = rng.integers(3, size=n)
    codes[:3] = [0, 1, 2]
    if duplicates:
        X[4], X[6], X[7] = X[3], X[5], X[5]  # of the same and of other classes
        codes[5], codes[6] = 0, 1
        X[:, 2] = np.round(X[:, 2])  # ties
    return X, codes, rng.uniform(0.5, 2, size=n), rng.uniform(0.2, 2, size=P)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_that_of_loops_and_its_slope_that_of_differences(metric, seed):
    X, codes, a, W = case(seed)
    gains = np.random.default_rng(seed).uniform(size=(3, 3))
    problem = NCFSProblem(X, ClassGains(codes, gains), a, 0.7, 0.3, metric)
    F, q = plain(metric, X, gains[codes][:, codes], a, 0.7, 0.3, W)
    value = problem.value_and_slope(W)
    assert pytest.approx(F, rel=1e-12) == value.F
    assert problem.value(W) == value.F
    np.testing.assert_allclose(value.q, q, rtol=1e-10)
    h = 1e-6
    steps = np.eye(len(W)) * h
    found = [(problem.value(W + e) - problem.value(W - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(value.slope, found, atol=2e-7 * np.abs(found).max())
    if metric == "phi_s":
        assert abs(value.slope @ W) < 1e-12 * np.abs(value.slope).sum()


@pytest.mark.parametrize("metric", METRICS)
def test_losses_between_values_give_the_same_as_loops(metric):
    X, _, a, W = case(7)
    y = np.random.default_rng(1).normal(size=len(X))
    problem = NCFSProblem(X, ValueGains(y, lambda u, v: abs(u - v) ** 1.5), a, 1.0, 0.1, metric)
    G = -(abs(y[:, None] - y) ** 1.5)
    assert problem.value(W) == pytest.approx(plain(metric, X, G, a, 1.0, 0.1, W)[0], rel=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [3, 64, 130])
@pytest.mark.parametrize("P", [6, 70])
def test_panels_slices_and_threads_change_nothing(metric, n, P, monkeypatch):
    X, codes, a, W = case(2, n=max(n, 8), P=P, duplicates=False)
    W[1] = 0
    monkeypatch.setattr(problem_module, "MIN_THREADED_WORK", 1)  # several threads at once

    def value(threads):
        return NCFSProblem(
            X, ClassGains(codes, np.eye(3)), a, 1.0, 0.1, metric, threads
        ).value_and_slope(W)

    whole = value(1)
    for F, slope, q in (value(2), value(3)):
        assert F == whole.F
        assert slope.tolist() == whole.slope.tolist()
        assert q.tolist() == whole.q.tolist()
    monkeypatch.setattr(problem_module, "PANEL_ELEMENTS", 64 * len(X) if n > 64 else 1)
    monkeypatch.setattr(problem_module, "PANEL_ROW_MULTIPLE", 16)
    monkeypatch.setattr(problem_module, "SLICE_ELEMENTS", 1)
    parts = value(2)
    assert pytest.approx(whole.F, rel=1e-12) == parts.F
    np.testing.assert_allclose(parts.slope, whole.slope, atol=1e-11 * np.abs(whole.slope).max())


def test_float32_rows_give_the_same_up_to_their_rounding():
    X, codes, a, W = case(4, n=40, P=90)
    one, two = (
        NCFSProblem(X.astype(kind), ClassGains(codes, np.eye(3)), a, 1.0, 0.2).value_and_slope(
            W / 20
        )
        for kind in (np.float32, np.float64)
    )
    assert pytest.approx(two.F, rel=1e-5) == one.F
    assert one.F != two.F
    np.testing.assert_allclose(one.slope, two.slope, atol=1e-4 * np.abs(two.slope).max())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e5])
def test_any_scale_of_distances_gives_finite_numbers(metric, size):
    X, codes, a, W = case(5)
    value = NCFSProblem(
        X * size, ClassGains(codes, np.eye(3)), a, 1.0, 0.0, metric
    ).value_and_slope(W)
    assert np.isfinite(value.F)
    assert np.isfinite(value.slope).all()
    assert (value.q >= 0).all()
    assert (value.q <= 1 + 1e-12).all()


def test_rows_that_cannot_be_compared_are_infinitely_far():
    """Φ_s of x and −x has no variance below the line; a row far from all has no nearer one."""
    X = np.array([[1.0, 2, 4], [-1, -2, -4], [3, 1, 0], [0, 5, 1]])
    codes, W = np.array([0, 1, 0, 1]), np.ones(3)
    value = NCFSProblem(
        X, ClassGains(codes, np.eye(2)), np.ones(4), 1.0, 0.0, "phi_s"
    ).value_and_slope(W)
    assert np.isfinite(value.slope).all()
    assert value.q[0] == pytest.approx(
        plain("phi_s", X, np.eye(2)[codes][:, codes], np.ones(4), 1.0, 0, W)[1][0]
    )
    two = NCFSProblem(
        X[:2], ClassGains(codes[:2], np.eye(2)), np.ones(2), 1.0, 0.0, "phi_s"
    ).value_and_slope(W)
    assert two.q.tolist() == [0.0, 0.0]


def minmax(X):
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))


def of_iris(metric):
    X, y = load_iris(return_X_y=True)
    return NCFSProblem(minmax(X), ClassGains(y, np.eye(3)), np.ones(150), 1.0, 1.0, metric)


@pytest.mark.parametrize(
    ("metric", "start", "best", "W"),
    [
        ("manhattan", 78.2479936386, 118.63372622, [0, 0, 0.5044, 13.6648]),
        ("sqeuclidean", 65.8893589877, 99.85977034, [0, 0, 2.4462, 17.1864]),
    ],
)
def test_reference_values_of_iris(metric, start, best, W):
    problem = of_iris(metric)
    assert problem.value(np.ones(4)) == pytest.approx(start, abs=1e-9)
    fit = lbfgs(problem, np.ones(4))
    assert fit.converged
    assert fit.objective == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(fit.W, W, atol=1e-4)


def test_reference_values_of_wine_and_of_the_toy():
    X, y = load_wine(return_X_y=True)
    problem = NCFSProblem(minmax(X), ClassGains(y, np.eye(3)), 1 / np.bincount(y)[y], 1.0, 0.02)
    assert problem.value(np.ones(13)) == pytest.approx(1.64372487436, abs=1e-9)
    fit = lbfgs(problem, np.ones(13))
    assert fit.objective == pytest.approx(2.16263494105, abs=1e-9)
    assert np.flatnonzero(fit.W).tolist() == [0, 6, 9, 10, 11, 12]
    X = np.random.RandomState(5489).random_sample(2000).reshape(20, 100).T
    y = (X[:, 2] * X[:, 8] / X[:, 14] < 0.4).astype(int)
    problem = NCFSProblem(X, ClassGains(y, np.eye(2)), np.full(100, 0.01), 1.0, 0.01)
    assert problem.value(np.ones(20)) == pytest.approx(0.3550320564, abs=1e-9)
    fit = lbfgs(problem, np.ones(20))
    assert fit.objective == pytest.approx(0.6293401944, abs=1e-9)
    assert np.flatnonzero(fit.W).tolist() == [2, 8, 14]
    np.testing.assert_allclose(np.sqrt(fit.W[[2, 8, 14]]), [2.452, 2.284, 2.471], atol=1e-3)


def noisy(seed, n=120, P=150, informative=6):
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, size=n)
    X = rng.normal(size=(n, P))
    X[:, :informative] += 1.5 * rng.normal(size=informative) * codes[:, None]
    return NCFSProblem(minmax(X), ClassGains(codes, np.eye(2)), np.ones(n), 1.0, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_are_left_out_are_confirmed_and_w_finds_no_better(seed):
    """On w, where no column is left out and none is bounded."""
    problem = noisy(seed)
    fit = lbfgs(problem, np.ones(150))
    assert fit.converged
    assert fit.largest_decrease == 0
    assert violation(fit.W, fit.slope).max() <= 1e-6
    whole = problem.value_and_slope(fit.W)
    assert fit.objective == whole.F
    np.testing.assert_array_equal(fit.slope, whole.slope)
    assert 0 < np.count_nonzero(fit.W) < 50

    def minus(w):
        value = problem.value_and_slope(w * w)
        return -value.F, -2 * w * value.slope

    found = minimize(minus, np.ones(150), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    assert fit.objective >= -found.fun - 1e-4


def test_a_column_comes_back_if_the_slope_says_so():
    problem = of_iris("manhattan")
    fit = lbfgs(problem, np.array([1.0, 0, 0, 0]))
    assert fit.objective == pytest.approx(118.63372622, abs=1e-6)


def test_nothing_is_no_optimum_where_there_is_signal():
    problem = of_iris("manhattan")
    fit = lbfgs(problem, np.zeros(4))
    assert fit.objective > 118
    assert violation(np.zeros(4), problem.value_and_slope(np.zeros(4)).slope).max() > 1


@pytest.mark.parametrize("metric", ["euclidean", "phi_s"])
def test_other_metrics_reach_a_stationary_point(metric):
    fit = lbfgs(of_iris(metric), np.ones(4), tol=1e-5)
    assert fit.converged
    if metric == "phi_s":
        assert fit.W.sum() == pytest.approx(4)


def test_the_published_ascent_step_by_step():
    problem, w, step, last = of_iris("manhattan"), np.ones(4), 0.01, -np.inf
    heard = []
    fit = yang(
        problem, np.ones(4), max_iter=30, tol=0.0, on_step=lambda s: heard.append(s) or False
    )
    for t in range(31):
        value = problem.value_and_slope(w * w)
        assert heard[t].objective == value.F
        np.testing.assert_array_equal(heard[t].parameters(), w * w)
        if t:
            step *= 1.01 if last < value.F else 0.4
        last, w = value.F, w + step * 2 * w * value.slope
    assert fit.n_iter == 30
    assert not fit.converged
    assert yang(problem, np.ones(4), max_iter=5000, tol=1e-9).objective == pytest.approx(
        118.6337, abs=1e-3
    )


def test_a_listener_can_stop_every_solver():
    problem = of_iris("manhattan")
    for solver in (lbfgs, yang):
        heard = []

        def stop(step, heard=heard):
            heard.append(step.parameters())
            return len(heard) == 2

        fit = solver(problem, np.ones(4), on_step=stop)
        assert len(heard) == 2
        assert not fit.converged
        assert heard[-1].shape == (4,)


@pytest.mark.parametrize("metric", METRICS)
def test_soft_neighbours_of_new_rows_are_those_of_loops(metric):
    X, codes, _, W = case(6, n=70)
    W[1] = 0.0
    V = np.eye(3)[codes]
    new = np.random.default_rng(0).normal(size=(37, 5))
    new[0] = X[3]
    D = np.array([[pair(metric, x, y, W) for y in X] for x in new])
    E = np.exp(-(D - D.min(axis=1, keepdims=True)) / 0.6)
    truth = E @ V / E.sum(axis=1, keepdims=True)
    for threads in (1, 2):
        found = reference_sums(X, W, 0.6, metric, new, V, threads)
        np.testing.assert_allclose(found, truth, atol=1e-12)
    own = reference_sums(X, W, 0.6, metric, None, V)
    q = plain(metric, X, np.eye(3)[codes][:, codes], np.ones(70), 0.6, 0, W)[1]
    np.testing.assert_allclose(own[np.arange(70), codes], q, atol=1e-12)


def test_without_weights_all_rows_are_equally_near():
    X, codes, _, _ = case(6, n=12)
    V = np.eye(3)[codes]
    new = reference_sums(X, np.zeros(5), 1.0, "manhattan", X[:2] + 1, V)
    np.testing.assert_allclose(new, np.tile(V.mean(axis=0), (2, 1)))
    own = reference_sums(X, np.zeros(5), 1.0, "manhattan", None, V)
    np.testing.assert_allclose(own[0], V[1:].mean(axis=0))


@pytest.mark.parametrize(("n", "P"), [(1, 1), (4, 9), (67, 5), (66, 1100)])
def test_loops_over_four_by_four_rows_miss_none(n, P):
    rng = np.random.default_rng(n)
    X, Y, W = rng.normal(size=(n, P)), rng.normal(size=(n + 3, P)), rng.uniform(size=P)
    D = np.full((n, n + 3), np.nan)
    kernels.distances(X, Y, W, D)
    truth = np.array([[(W * abs(x - y)).sum() for y in Y] for x in X])
    np.testing.assert_allclose(D, truth, rtol=1e-12)
    D = np.full((n, n), np.nan)
    for start in reversed(range(0, n, 16)):  # in any order
        kernels.distances_once(X, W, start, min(start + 16, n), D)
    np.fill_diagonal(D, 0)
    truth = np.array([[(W * abs(x - y)).sum() for y in X] for x in X])
    np.testing.assert_allclose(D, truth, rtol=1e-12)
    C, g = rng.normal(size=(n, n)), np.zeros(P)
    kernels.slope(X, np.arange(n), C, 0.0, 0, P, False, g)
    truth = np.einsum("ij,ijl->l", C, abs(X[:, None] - X))
    np.testing.assert_allclose(g, truth, atol=1e-11 * max(1e-300, abs(truth).max()))
    g = np.zeros(P)
    for start in range(0, n, 16):
        kernels.fold(C, start, min(start + 16, n))
    for start in range(0, n, 12):
        rows = np.arange(start, min(start + 12, n))
        kernels.slope(X, rows, C[rows], 0.0, 0, P, True, g)
    np.testing.assert_allclose(g, truth, atol=1e-11 * max(1e-300, abs(truth).max()))


@pytest.mark.parametrize(("n", "P"), [(1, 1), (4, 9), (67, 5), (600, 3)])
def test_loops_over_pairs_of_few_columns_give_the_same(n, P):
    rng = np.random.default_rng(n)
    X, Y, W = rng.normal(size=(n, P)), rng.normal(size=(n + 3, P)), rng.uniform(size=P)
    S, T = np.ascontiguousarray(X.T), np.ascontiguousarray(Y.T)
    D, truth = np.full((2, n, n + 3), np.nan)
    few_kernels.distances(S, T, W, D)
    kernels.distances(X, Y, W, truth)
    np.testing.assert_allclose(D, truth, rtol=1e-12)
    D, truth = np.zeros((2, n, n))
    for start in reversed(range(0, n, 16)):
        few_kernels.distances_once(S, W, start, min(start + 16, n), D)
    kernels.distances_once(X, W, 0, n, truth)
    np.fill_diagonal(D, 0)
    np.fill_diagonal(truth, 0)
    np.testing.assert_allclose(D, truth, rtol=1e-12)
    C = rng.normal(size=(n, n))
    for above in (False, True):
        g, truth = np.zeros((2, P))
        few_kernels.slope(S, np.arange(n), C, above, g)
        kernels.slope(X, np.arange(n), C, 0.0, 0, P, above, truth)
        np.testing.assert_allclose(g, truth, atol=1e-11 * max(1, abs(truth).max()))


@pytest.mark.parametrize("above", [True, False])
def test_pairs_that_pull_less_than_the_least_are_left_out_of_the_slope(above):
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(70, 9)), rng.normal(size=(70, 70))
    C[rng.uniform(size=C.shape) < 0.8] *= 1e-9
    C[:20] *= 1e-9  # whole blocks of rows
    truth = np.einsum("ij,ijl->l", np.triu(C) if above else C, abs(X[:, None] - X))
    g = np.zeros(9)
    kernels.slope(X, np.arange(70), C, 1e-6, 0, 9, above, g)
    np.testing.assert_allclose(g, truth, atol=1e-5)
    assert not np.allclose(g, truth, atol=1e-13, rtol=0)


@pytest.mark.parametrize("n", [2, 3, 7, 64])
@pytest.mark.parametrize("K", [1, 2, 3, -3])
def test_pair_weights_are_the_equation(n, K):
    rng = np.random.default_rng(n)
    gains = rng.normal(size=(abs(K), abs(K)))
    if K < 0:  # all other classes are alike
        gains = np.where(np.eye(-K, dtype=bool), gains, gains[:, :1])
        gains[0, 1:] = 0.3
    D, codes = 20 * rng.uniform(size=(n, n)), rng.integers(abs(K), size=n)
    a = rng.uniform(size=n)
    D[0] = np.inf  # all others are infinitely far: none is nearer
    rows, E = np.arange(n), np.where(np.isinf(D), 1.0, np.exp(-D / 0.7))
    np.fill_diagonal(E, 0)
    p, G = E / E.sum(axis=1, keepdims=True), gains[codes][:, codes]
    q = (p * G).sum(axis=1)
    truth = a[:, None] * p * (q[:, None] - G) / 0.7
    for G_object in (ClassGains(codes, gains), ValueGains(codes, lambda u, v: -gains[u, v])):
        C = D.copy()
        found = G_object.evaluate(C, rows, a, 0.7, True)
        np.testing.assert_allclose(found.q, q, rtol=1e-13)
        np.testing.assert_allclose(C, truth, rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(found.total_weight, np.abs(truth).sum(axis=1), atol=1e-13)
        alone = G_object.evaluate(D.copy(), rows, a, 0.7, False)
        assert alone.q.tolist() == found.q.tolist()


def test_kernels_refuse_what_does_not_match():
    X, W, D = np.zeros((4, 3)), np.zeros(3), np.zeros((4, 4))
    with pytest.raises(ValueError, match="do not match"):
        kernels.distances(X, X, W[:2], D)
    with pytest.raises(ValueError, match="do not match"):
        kernels.distances_once(X, W, 0, 4, D[:3])
    with pytest.raises(ValueError, match="rows 0 to 5 of 4"):
        kernels.distances_once(X, W, 0, 5, D)
    with pytest.raises(ValueError, match="rows 3 to 2 of 4"):
        kernels.fold(D, 3, 2)
    with pytest.raises(ValueError, match="not square"):
        kernels.fold(D[:3], 0, 2)
    with pytest.raises(ValueError, match="do not match"):
        kernels.slope(X, np.arange(3), D, 0.0, 0, 3, False, np.zeros(3))
    with pytest.raises(ValueError, match="are outside"):
        kernels.slope(X, np.array([0, 1, 2, 4]), D, 0.0, 0, 3, False, np.zeros(3))
    for call in (
        lambda: few_kernels.distances(X.T, X.T, W[:2], D),
        lambda: few_kernels.distances_once(X.T, W, 0, 4, D[:3]),
        lambda: few_kernels.slope(X.T, np.arange(3), D, True, np.zeros(3)),
    ):
        with pytest.raises(ValueError, match="do not match"):
            call()
    with pytest.raises(ValueError, match="rows 0 to 5 of 4"):
        few_kernels.distances_once(X.T, W, 0, 5, D)
    with pytest.raises(ValueError, match="are outside"):
        few_kernels.slope(X.T, np.array([0, 1, 2, 4]), D, True, np.zeros(3))
    rows, a = np.arange(4), np.ones(4)
    with pytest.raises(ValueError, match="do not match"):
        ClassGains(np.array([0, 1, 2, 0]), np.eye(2)).evaluate(D, rows, a, 1.0, True)
    with pytest.raises(ValueError, match="do not match"):
        ClassGains(np.zeros(4, dtype=int), np.eye(2)).evaluate(D, rows[:3], a, 1.0, True)
    with pytest.raises(ValueError, match="are outside"):
        ClassGains(np.zeros(4, dtype=int), np.eye(2)).evaluate(D, rows + 1, a, 1.0, True)
    with pytest.raises(ValueError, match="does not match"):
        ValueGains(np.zeros(3), np.subtract).evaluate(D[:3], rows[:3], a[:3], 1.0, True)
