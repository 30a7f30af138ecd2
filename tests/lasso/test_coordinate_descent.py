"""Coordinate descent: optimal by its conditions, equal to scikit-learn, indifferent to layout."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from certus.kernels.lasso import coordinate_descent as kernels
from certus.losses import Huber, Logistic, Softmax, Squared, SquaredHinge
from certus.penalties import L1, ElasticNet
from certus.runtime.pool import blas_limiter
from certus.solvers.lasso import coordinate_descent as module
from certus.solvers.lasso import quadratic_model
from certus.solvers.lasso.coordinate_descent import CoordinateDescent
from certus.solvers.loop import minimize
from tests.lasso.coordinate_cases import problem_of, several_classes, solve, two_classes


@pytest.fixture(params=["few columns", "working sets"])
def way(request, monkeypatch):
    """Both ways to solve, whatever the size of the problem."""
    monkeypatch.setattr(
        module, "MAX_COLUMNS_WITHOUT_WORKING_SET", 256 if request.param == "few columns" else 0
    )
    return request.param


def objective(problem, w, b):
    X = problem.rows.X
    X = X[:].toarray() if problem.rows.sparse else np.asarray(X, dtype=float)
    z = X @ w + b
    z = z if problem.loss.several else z[:, 0]
    s = problem.rows.s
    return float(s @ problem.loss.value(problem.y, z)) + problem.penalty.value(w)


def assert_optimal(problem, w, b, tol=1e-5):
    """−gradient in the subdifferential, and Σ s ∂ℓ/∂z = 0, from the data."""
    X = problem.rows.X
    X = X[:].toarray() if problem.rows.sparse else np.asarray(X, dtype=float)
    mean = X.mean(axis=0) if problem.fit_intercept else np.zeros(X.shape[1])
    z = (X - mean) @ w + (b + mean @ w)
    slope = problem.loss.slope(problem.y, z if problem.loss.several else z[:, 0])
    slope = (problem.rows.s * slope.T).T.reshape(z.shape)
    distance = problem.penalty.distance(w, (X - mean).T @ slope)
    assert distance.max() <= tol * (problem.l1 + problem.rows.s.max())
    if problem.fit_intercept:
        assert np.abs(slope.sum(axis=0)).max() <= tol * np.abs(slope).sum()


# --- optimal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [L1(1.0), L1(0.2), ElasticNet(1.0, 0.5), ElasticNet(2.0, 0.9)])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_two_classes_are_optimal(way, C, penalty):
    X, y = two_classes()
    fit = solve(X, y, C, penalty=penalty)
    assert_optimal(problem_of(X, y, C, penalty=penalty), fit.w, fit.b)


@pytest.mark.parametrize("penalty", [L1(1.0), ElasticNet(1.0, 0.5)])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_several_classes_are_optimal(way, C, penalty):
    X, y = several_classes()
    fit = solve(X, y, C, loss=Softmax(), penalty=penalty)
    assert_optimal(problem_of(X, y, C, loss=Softmax(), penalty=penalty), fit.w, fit.b)


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), SquaredHinge()], ids=repr)
def test_other_losses_are_optimal(way, loss):
    X, y = two_classes()
    if loss.name != "squared_hinge":
        y = X[:, 0] * 2 - X[:, 1] + np.random.default_rng(1).standard_t(2, size=len(y))
    for C in (0.3, 5.0):
        fit = solve(X, y, C, loss=loss)
        assert_optimal(problem_of(X, y, C, loss=loss), fit.w, fit.b)


def test_weights_are_repeated_rows_and_rows_of_weight_0_are_none(way):
    X, y = two_classes()
    s = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    repeated = np.repeat(np.arange(len(y)), s.astype(int))
    fit, twin = solve(X, y, s=s), solve(X[repeated], y[repeated])
    np.testing.assert_allclose(fit.w, twin.w, atol=1e-5)
    np.testing.assert_allclose(fit.b, twin.b, atol=1e-5)


def test_no_intercept(way):
    X, y = two_classes()
    fit = solve(X + 0.5, y, fit_intercept=False)
    assert fit.b == 0
    assert_optimal(problem_of(X + 0.5, y, fit_intercept=False), fit.w, fit.b)


def test_a_strong_penalty_gives_zeros_without_a_step(way):
    X, y = two_classes()
    fit = solve(X, y, C=1e-4)
    assert fit.n_iter == 0
    assert not fit.w.any()


def test_what_is_not_needed_is_exactly_0(way):
    X, y = two_classes(n=300, p=60)
    fit = solve(X, y, C=0.05)
    assert 1 <= np.count_nonzero(fit.w) <= 20


@pytest.mark.parametrize("C", [0.3, 10.0])
def test_more_columns_than_rows(C):
    X, y = two_classes(n=60, p=600)
    fit = solve(X, y, C)
    assert np.count_nonzero(fit.w) <= 60
    assert_optimal(problem_of(X, y, C), fit.w, fit.b)


def test_the_bound_is_never_above_the_optimum(way):
    X, y = two_classes()
    for penalty in (L1(1.0), ElasticNet(1.0, 0.5)):
        best = objective(problem_of(X, y, penalty=penalty), *solve(X, y, penalty=penalty)[:2])
        seen = []
        problem = problem_of(X, y, penalty=penalty)
        minimize(problem, CoordinateDescent(), on_step=lambda step, seen=seen: seen.append(step))
        assert len(seen) > 2
        objectives = [step.objective for step in seen]
        assert max(step.bound for step in seen) <= best * (1 + 1e-12)
        assert objectives[0] - seen[0].bound > 1e-3 * best, "the first bound is not the last"
        assert all(np.diff(objectives) <= 1e-12 * best)


def test_a_start_elsewhere_ends_at_the_same_place(way):
    X, y = two_classes()
    rng = np.random.default_rng(5)
    start = rng.normal(size=(40, 1)), np.array([3.0])
    np.testing.assert_allclose(solve(X, y, start=start).w, solve(X, y).w, atol=1e-5)


# --- scikit-learn -----------------------------------------------------------------------------


def test_as_liblinear_without_an_intercept(way):
    X, y = two_classes()
    for C in (0.1, 1.0, 20.0):
        fit = solve(X, y, C, fit_intercept=False)
        peer = LogisticRegression(
            C=C, l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000
        ).fit(X, y)
        np.testing.assert_allclose(fit.w[:, 0], peer.coef_[0], atol=1e-4)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_as_saga_with_an_intercept(way, l1_ratio):
    for data, loss in ((two_classes, Logistic()), (several_classes, Softmax())):
        X, y = data()
        fit = solve(X, y, 0.5, loss=loss, penalty=ElasticNet(1.0, l1_ratio))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = LogisticRegression(
                C=0.5, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=5_000
            ).fit(X, y)
        np.testing.assert_allclose(fit.w.T, peer.coef_, atol=1e-4)
        offset = peer.intercept_ - fit.b
        np.testing.assert_allclose(offset - offset.mean() * loss.several, 0.0, atol=1e-4)


# --- columns that are hard --------------------------------------------------------------------


def test_repeated_columns_cost_nothing(way):
    X, y = two_classes()
    for C in (1.0, 50.0):
        problem = problem_of(np.hstack([X, X, X[:, :7]]), y, C)
        fit = solve(problem.rows.X, y, C)
        once = objective(problem_of(X, y, C), *solve(X, y, C)[:2])
        assert objective(problem, fit.w, fit.b) == pytest.approx(once, rel=1e-8)


def test_constant_columns_have_no_coefficient(way):
    X, y = two_classes()
    X[:, 3], X[:, 4], X[:, 5] = 0.0, 7.3, -1e12
    fit = solve(X, y)
    assert not fit.w[3:6].any()
    rest = np.delete(X, [3, 4, 5], axis=1)
    twin = solve(rest, y)
    np.testing.assert_allclose(np.delete(fit.w, [3, 4, 5], axis=0), twin.w, atol=1e-5)


def test_shifts_change_the_intercept_only(way):
    X, y = two_classes()
    fit, shifted = solve(X, y), solve(X + 1e6, y, tol=1e-7)
    np.testing.assert_allclose(shifted.w, fit.w, atol=1e-4)
    X, y = several_classes()
    fit, shifted = solve(X, y, loss=Softmax()), solve(X + 1e5, y, loss=Softmax(), tol=1e-7)
    np.testing.assert_allclose(shifted.w, fit.w, atol=1e-3)


def test_scales_from_1e_minus_6_to_1e6(way):
    X, y = two_classes()
    scale = 10.0 ** np.random.default_rng(0).integers(-6, 7, 40)
    fit = solve(X * scale, y, tol=1e-7)
    assert not fit.w[scale < 1e-2].any(), "too dear"
    problem = problem_of(X * scale, y)
    z = (X * scale) @ fit.w + fit.b
    slope = problem.loss.slope(y, z[:, 0])[:, None]
    outside = problem.penalty.distance(fit.w, (X * scale).T @ slope)[:, 0] / np.maximum(scale, 1)
    assert outside.max() < 1e-4


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_and_dense_agree(fit_intercept):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((300, 400)) < 0.05, rng.normal(size=(300, 400)), 0.0)
    y = np.where(X @ rng.normal(size=400) + rng.normal(size=300) > 0, 1.0, -1.0)
    yk = rng.integers(0, 3, 300).astype(float)
    for target, loss in ((y, Logistic()), (yk, Softmax())):
        for C in (1.0, 5.0):
            given = {"loss": loss, "fit_intercept": fit_intercept}
            dense = solve(X, target, C, **given)
            sparse = solve(sp.csr_array(X), target, C, **given)
            assert np.count_nonzero(dense.w) > 20
            problem = problem_of(X, target, C, **given)
            found = objective(problem, sparse.w, sparse.b)
            assert found == pytest.approx(objective(problem, dense.w, dense.b), rel=1e-8)


@pytest.mark.parametrize("far", [1e3, 1e7])
def test_a_sparse_column_far_from_0(far):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((300, 400)) < 0.05, rng.normal(size=(300, 400)), 0.0)
    y = np.where(X @ rng.normal(size=400) + rng.normal(size=300) > 0, 1.0, -1.0)
    X[:, 7] = rng.normal(size=300) + y
    shifted = X.copy()
    shifted[:, 7] += far
    fit, twin = solve(sp.csr_array(shifted), y, tol=1e-7), solve(X, y)
    assert twin.w[7] != 0
    assert fit.w[7] == pytest.approx(twin.w[7], rel=1e-3)


def test_float32_is_the_same_problem_rounded(way):
    X, y = two_classes()
    single = X.astype(np.float32)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        fit, twin = solve(layout(single), y), solve(single.astype(float), y)
        np.testing.assert_allclose(fit.w, twin.w, atol=1e-6)


# --- threads, interrupts, kernels -------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
def test_same_bits_on_any_number_of_threads(sparse):
    X, y = two_classes(n=700, p=1500)
    X = sp.csr_array(np.where(np.abs(X) > 1.5, X, 0.0)) if sparse else X
    fits = [solve(X, y, 0.5, tol=1e-6, threads=threads) for threads in (1, 2, 3)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.w, fits[0].w)
        np.testing.assert_array_equal(fit.b, fits[0].b)


def test_blas_is_left_with_the_threads_it_had(blas_as_before):
    X, y = two_classes()
    solve(X, y)
    assert blas_limiter.entries == 0


def test_data_are_left_as_they_were(way):
    X, y = two_classes(p=60)
    before = X.copy()
    solve(X, y)
    np.testing.assert_array_equal(X, before)


def test_no_kernel_is_asked_for_more_than_people_wait(monkeypatch):
    work = []
    names = ("gram_epochs", "dense_epoch", "sparse_epoch")
    for name in names:
        original = getattr(kernels, name)

        def counted(*args, original=original, name=name):
            if name == "gram_epochs":
                H, order, epochs = args[0], args[3], args[6]
                work.append(len(H) * len(order) * epochs)
            else:
                X, order = args[0], args[5]
                entries = X.size if name == "dense_epoch" else X.nnz
                work.append(entries * len(order) / min(X.shape))
            return original(*args)

        monkeypatch.setattr(kernels, name, counted)
    X, y = two_classes(n=200, p=500)
    for limit, most in ((1 << 25, 2000), (1 << 25, 0), (1 << 14, 2000)):
        monkeypatch.setattr(module, "MAX_GRAM_COORDINATES", most)
        monkeypatch.setattr(quadratic_model, "MAX_CALL_ELEMENTS", limit)
        work.clear()
        solve(X, y, 1.0)
        assert work
        # a round over all coordinates of a working set is the least that is asked for
        assert max(work) <= max(limit, 500 * 500)


def test_a_tolerance_of_0_ends_too(way):
    X, y = two_classes()
    for C in (1e-4, 1.0):
        fit = minimize(problem_of(X, y, C), CoordinateDescent(), tol=0.0, max_iter=100)
        assert fit.n_iter < 30
        assert_optimal(problem_of(X, y, C), fit.w, fit.b)
