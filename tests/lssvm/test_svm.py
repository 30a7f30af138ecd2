"""LSSVC and LSSVR: their linear system, leave-one-out, and equivalent models of others."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import laplacian_kernel, pairwise_kernels
from sklearn.preprocessing import MinMaxScaler

import certus
from certus.svm import LSSVC, LSSVR, DensityWeightedLSSVC
from tests.contract.problems import weights
from tests.lssvm.svm_cases import blobs, curve

KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def gram(A, B, options):
    own = {name: value for name, value in options.items() if name != "kernel"}
    return pairwise_kernels(A, B, metric=options["kernel"], **own)


def optimum(K, y, C, omega, intercept=True):
    """β, b and P of ½βᵀKβ + C/2 Σ ω(y − Kβ − b)², by the published equations."""
    n = len(K)
    with np.errstate(divide="ignore"):
        kept = omega > 0
    A = np.zeros((n + 1, n + 1))
    A[:n, :n], A[:n, n], A[n, :n] = K, 1.0, 1.0
    A[:n][kept, :n] = K[kept] + np.diag(1 / (C * np.where(kept, omega, 1)))[kept]
    A[:n][~kept] = np.eye(n + 1)[:n][~kept]  # β = 0
    right = np.append(np.where(kept, y, 0.0), 0.0)
    if not intercept:
        A[n] = A[:, n] = 0.0
        A[n, n] = 1.0
    solution = np.linalg.solve(A, right)
    beta, b = solution[:n], solution[n]
    e = y - K @ beta - b
    return beta, b, 0.5 * beta @ K @ beta + C / 2 * omega @ e**2


# --- the system -----------------------------------------------------------------------------------


@each_kernel
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_solve_the_system_as_it_is_printed(kernel, intercept, seed):
    X, y = curve(seed)
    s = weights(seed, len(X))
    s[:2] = 0.0
    model = LSSVR(3.0, fit_intercept=intercept, **kernel).fit(X, y, s)
    beta, b, P = optimum(gram(X, X, kernel), y, 3.0, s, intercept)
    np.testing.assert_allclose(model.dual_coef_[0], beta, atol=1e-9 * np.abs(beta).max())
    np.testing.assert_allclose(model.intercept_, b, atol=1e-9)
    assert model.objective_ == pytest.approx(P, rel=1e-9)
    assert model.certificate_.objective == pytest.approx(P, rel=1e-9)
    new = np.random.default_rng(9).normal(size=(7, 3))
    np.testing.assert_allclose(model.predict(new), gram(new, X, kernel) @ beta + b, atol=1e-9)


@each_kernel
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 4.0, 2: 1.0}])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_are_least_squares_on_signs(kernel, class_weight, classes):
    X, y = blobs(1, classes=classes, shift=1.0)
    s = weights(1, len(X))
    if isinstance(class_weight, dict):
        class_weight = {k: class_weight[k] for k in range(classes)}
        c = np.array([class_weight[k] for k in y])
    else:
        total = np.bincount(y, weights=s)
        c = 1.0 if class_weight is None else (s.sum() / (classes * total))[y]
    model = LSSVC(2.0, class_weight=class_weight, **kernel).fit(X, y, s)
    K = gram(X, X, kernel)
    P = 0.0
    for q, k in enumerate([1] if classes == 2 else range(classes)):
        beta, b, of_class = optimum(K, np.where(y == k, 1.0, -1.0), 2.0, s * c)
        np.testing.assert_allclose(model.dual_coef_[q], beta, atol=1e-9 * np.abs(beta).max())
        assert model.intercept_[q] == pytest.approx(b, abs=1e-9)
        P += of_class
    assert model.objective_ == pytest.approx(P, rel=1e-9)
    assert certus.verify(model, X, y, s).status == "optimal"


def test_no_small_step_from_the_fit_lowers_the_objective():
    X, y = curve(4, n=12)
    model = LSSVR(5.0, gamma=0.4).fit(X, y)
    K = gram(X, X, {"kernel": "rbf", "gamma": 0.4})

    def P(v):
        e = y - K @ v[:-1] - v[-1]
        return 0.5 * v[:-1] @ K @ v[:-1] + 2.5 * e @ e

    start = np.append(model.dual_coef_[0], model.intercept_)
    assert minimize(P, start).fun >= P(start) - 1e-9 * P(start)
    assert P(start) == pytest.approx(model.objective_)


def test_coefficients_of_each_class_sum_to_zero_and_are_its_residuals():
    X, y = blobs(2, classes=3)
    model = LSSVC(7.0).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-12)
    e = np.where(y[:, None] == np.arange(3), 1, -1) - model.decision_function(X)
    np.testing.assert_allclose(model.dual_coef_.T, 7.0 * e, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 3.0])
@each_kernel
def test_without_an_intercept_it_is_kernel_ridge(alpha, kernel):
    X, y = curve(5)
    s = weights(5, len(X))
    theirs = KernelRidge(alpha=alpha, **kernel).fit(X, y, s)
    ours = LSSVR(1 / alpha, fit_intercept=False, **kernel).fit(X, y, s)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-9)
    assert ours.intercept_.tolist() == [0.0]


def test_a_linear_kernel_is_ridge_regression():
    X, y = curve(6)
    s = weights(6, len(X))
    ours = LSSVR(0.5, kernel="linear").fit(X, y, s)
    theirs = certus.linear_model.Ridge(alpha=2.0).fit(X, y, s)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_ @ X, theirs.coef_[None], rtol=1e-9)


def test_rows_far_from_the_origin_lose_no_digits():
    X, y = curve(7)
    here, there = (LSSVR(gamma=0.3).fit(Z, y) for Z in (X, X + 1e8))
    np.testing.assert_allclose(there.predict(X + 1e8), here.predict(X), atol=1e-6)
    assert there.certificate_.certified


# --- kernels --------------------------------------------------------------------------------------


@each_kernel
def test_a_kernel_by_name_by_function_and_as_a_matrix_are_the_same(kernel):
    X, y = blobs(3, classes=3)
    new = blobs(4)[0]
    named = LSSVC(**kernel).fit(X, y)
    called = LSSVC(kernel=lambda A, B: gram(A, B, kernel)).fit(X, y)
    given = LSSVC(kernel="precomputed").fit(gram(X, X, kernel), y)
    f = named.decision_function(new)
    np.testing.assert_allclose(called.decision_function(new), f, atol=1e-9)
    np.testing.assert_allclose(given.decision_function(gram(new, X, kernel)), f, atol=1e-9)
    np.testing.assert_allclose(called.loo_scores_, named.loo_scores_, atol=1e-9)
    assert given.certificate_.status == called.certificate_.status == "optimal"


def test_a_kernel_of_scikit_learn_is_taken_as_it_is():
    X, y = load_iris(return_X_y=True)
    model = LSSVC(10, kernel=laplacian_kernel).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.loo_accuracy_ > 0.93


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
def test_gamma_means_what_it_means_in_scikit_learn(gamma):
    X, y = blobs(5, p=4)
    expected = {"scale": 1 / (4 * X.var()), "auto": 0.25}.get(gamma, gamma)
    assert LSSVC(gamma=gamma).fit(X, y).gamma_ == pytest.approx(expected, rel=1e-12)
    assert LSSVC(gamma=gamma, kernel="linear").fit(X, y).gamma_ == 1.0


# --- rows left out --------------------------------------------------------------------------------


@each_kernel
@pytest.mark.parametrize("intercept", [True, False])
def test_scores_of_rows_left_out_are_those_of_refits(kernel, intercept):
    X, y = blobs(6, n=25, classes=3, shift=1.0)
    s = weights(6, len(X))
    s[:2] = 0.0
    options = {"fit_intercept": intercept, **kernel}
    model = LSSVC(4.0, **options).fit(X, y, s)
    for i in range(len(X)):
        without = np.where(np.arange(len(X)) == i, 0.0, s)
        refit = LSSVC(4.0, loo=False, **options).fit(X, y, without)
        np.testing.assert_allclose(
            model.loo_scores_[i], refit.decision_function(X[i : i + 1])[0], atol=1e-8
        )
    right = model.loo_scores_.argmax(axis=1) == y
    assert model.loo_accuracy_ == pytest.approx(np.average(right, weights=s))


def test_predictions_of_rows_left_out_give_their_r2():
    X, y = curve(8, n=30)
    Y, s = np.column_stack([y, y**2]), weights(8, len(X))
    model = LSSVR(2.0, gamma=0.4).fit(X, Y, s)
    for i in range(0, len(X), 7):
        rest = np.arange(len(X)) != i
        refit = LSSVR(2.0, gamma=0.4).fit(X[rest], Y[rest], s[rest])
        np.testing.assert_allclose(model.loo_scores_[i], refit.predict(X[i : i + 1])[0], atol=1e-9)
    assert model.loo_r2_ == pytest.approx(r2_score(Y, model.loo_scores_, sample_weight=s))


@pytest.mark.parametrize("intercept", [True, False])
def test_effective_parameters_are_the_trace_of_what_maps_y_to_its_fit(intercept):
    X, y = curve(9, n=20)
    model = LSSVR(2.0, gamma=0.4, fit_intercept=intercept).fit(X, y)
    slopes = [
        LSSVR(2.0, gamma=0.4, fit_intercept=intercept).fit(X, y + e).predict(X)[i]
        - model.predict(X)[i]
        for i, e in enumerate(np.eye(20))
    ]
    assert model.effective_parameters_ == pytest.approx(sum(slopes), rel=1e-9)


def test_what_is_left_out_is_computed_where_it_is_asked_for():
    X, y = blobs(7, n=1001)
    left_out = ("loo_scores_", "loo_accuracy_", "effective_parameters_")
    for loo, rows, computed in [("auto", 1000, True), ("auto", 1001, False), (False, 60, False)]:
        model = LSSVC(loo=loo).fit(X[:rows], y[:rows])
        assert [getattr(model, name) is not None for name in left_out] == [computed] * 3
    assert LSSVC(loo=True).fit(X, y).loo_accuracy_ > 0.9


# --- reference values -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    """Versicolor against virginica, scaled to [0, 1]."""
    X, y = load_iris(return_X_y=True)
    return MinMaxScaler().fit_transform(X[50:]), y[50:] == 1


def test_iris_dual(iris):
    model = DensityWeightedLSSVC(10, gamma=1.0, n_neighbors=5, class_weight=None).fit(*iris)
    assert model.intercept_[0] == pytest.approx(0.196969494639, abs=1e-11)
    signs = np.where(iris[1], 1, -1)
    assert model.dual_coef_[0] @ signs == pytest.approx(62.706555963, abs=1e-8)


def test_iris_primal(iris):
    model = DensityWeightedLSSVC(
        10, gamma=1.0, n_neighbors=5, class_weight=None, formulation="primal"
    ).fit(*iris)
    assert model.intercept_[0] == pytest.approx(0.374862742922, abs=1e-11)


def test_breast_cancer_is_told_apart():
    X, y = load_breast_cancer(return_X_y=True)
    model = LSSVC(10).fit(MinMaxScaler().fit_transform(X), y)
    assert model.loo_accuracy_ > 0.97
