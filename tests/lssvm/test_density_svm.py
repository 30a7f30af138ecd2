"""Machines with rows weighted by density: IDLSSVM-CIL, dual and primal, and DSVM-CIL."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

import certus
from certus.svm import LSSVC, DensityWeightedLSSVC, DensityWeightedSVC, density_weights
from tests.contract.problems import weights
from tests.lssvm.svm_cases import blobs

SEEDS = range(3)


# --- least squares --------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("seed", SEEDS)
def test_dual_is_lssvc_whose_rows_weigh_d_squared(class_weight, seed):
    X, y = blobs(seed, share=0.3, shift=1.0)
    d, s = density_weights(X), weights(seed, len(X))
    model = DensityWeightedLSSVC(3.0, gamma=0.4, class_weight=class_weight).fit(X, y, s)
    c = model.class_weight_
    if class_weight == "balanced":
        np.testing.assert_allclose(c, s.sum() / (2 * np.bincount(y, weights=s)))  # not of d
    twin = LSSVC(3.0, gamma=0.4).fit(X, y, d**2 * s * c[y])
    np.testing.assert_allclose(model.dual_coef_, twin.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(model.loo_scores_, twin.loo_scores_, atol=1e-9)
    assert (model.dual_coef_[:, d == 0] == 0).all()


def test_dual_is_the_documents_system_with_the_corrections():
    """[[0, (d∘y)ᵀ], [d∘y, DΩD + I/C]] [b; a] = [0; d], α = d∘a."""
    X, k = blobs(4)
    y, d = np.where(k == 1, 1.0, -1.0), density_weights(X)
    H = np.outer(d * y, d * y) * rbf_kernel(X, gamma=0.4) + np.eye(60) / 3.0
    A = np.block([[np.zeros((1, 1)), (d * y)[None]], [(d * y)[:, None], H]])
    solution = np.linalg.solve(A, np.append(0.0, d))
    model = DensityWeightedLSSVC(3.0, gamma=0.4, class_weight=None).fit(X, k)
    np.testing.assert_allclose(model.dual_coef_[0], d * solution[1:] * y, atol=1e-10)
    assert model.intercept_[0] == pytest.approx(solution[0], abs=1e-10)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("seed", SEEDS)
def test_primal_is_ridge_regression_on_kernels_and_a_constant(seed, epsilon):
    X, k = blobs(seed, shift=1.0)
    y, s = np.where(k == 1, 1.0, -1.0), weights(seed, len(X))
    options = {"formulation": "primal", "epsilon": epsilon, "gamma": 0.4}
    model = DensityWeightedLSSVC(3.0, **options).fit(X, k, s)
    omega = density_weights(X) ** 2 * s * model.class_weight_[k]
    G = np.column_stack([rbf_kernel(X, gamma=0.4), np.ones(len(X))])
    delta = 1 / 3.0 + epsilon
    v = np.linalg.solve(delta * np.eye(61) + G.T @ (omega[:, None] * G), G.T @ (omega * y))
    np.testing.assert_allclose(model.dual_coef_[0], v[:-1], atol=1e-9)
    assert model.intercept_[0] == pytest.approx(v[-1], abs=1e-9)
    P = delta / 2 * v @ v + omega @ (y - G @ v) ** 2 / 2
    assert model.objective_ == pytest.approx(P, rel=1e-9)
    assert certus.verify(model, X, k, s).status == "optimal"
    assert model.loo_scores_ is None


def test_epsilon_only_changes_C():
    X, y = blobs(5)
    options = {"formulation": "primal", "gamma": 0.4}
    capped = DensityWeightedLSSVC(1e4, epsilon=0.1, **options).fit(X, y)
    plain = DensityWeightedLSSVC(1 / (1e-4 + 0.1), **options).fit(X, y)
    np.testing.assert_allclose(capped.dual_coef_, plain.dual_coef_, rtol=1e-8)


def test_three_classes_are_told_apart():
    X, y = load_wine(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    for formulation in ("dual", "primal"):
        model = DensityWeightedLSSVC(10, formulation=formulation).fit(X, y)
        assert model.score(X, y) > 0.98
        assert model.dual_coef_.shape == (3, len(X))


# --- C-SVC ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_scikit_learns_svc_with_these_weights(seed):
    X, y = blobs(seed, share=0.3, shift=1.0)
    d, s = density_weights(X), weights(seed, len(X))
    model = DensityWeightedSVC(2.0).fit(X, y, s)
    C = d * s * model.class_weight_[y]
    used = C > 0
    theirs = SVC(C=2.0, gamma=model.gamma_, tol=1e-8).fit(X[used], y[used], C[used])
    f = theirs.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-3)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(used)[theirs.support_])
    np.testing.assert_array_equal(model.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(model.support_vectors_, theirs.support_vectors_)
    assert not np.isin(np.flatnonzero(~used), model.support_).any()


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("ties", [False, True])
def test_pairs_vote_as_scikit_learns_do(shape, ties):
    X, y = blobs(7, n=160, classes=4, shift=0.8)
    ties = ties and shape == "ovr"
    options = {"decision_function_shape": shape, "break_ties": ties}
    model = DensityWeightedSVC(class_weight=None, **options).fit(X, y)
    d = density_weights(X)
    theirs = SVC(gamma=model.gamma_, tol=1e-9, **options).fit(X[d > 0], y[d > 0], d[d > 0])
    new = blobs(8, n=300, classes=4, shift=0.8)[0]
    np.testing.assert_allclose(
        model.decision_function(new), theirs.decision_function(new), atol=1e-3
    )
    assert (model.predict(new) == theirs.predict(new)).mean() > 0.99
    assert model.dual_coef_.shape == theirs.dual_coef_.shape


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_fit_is_certified_whatever_C_is(C, kernel):
    X, y = blobs(9, n=120, share=0.2, shift=0.5)
    model = DensityWeightedSVC(C, kernel=kernel, coef0=1.0, degree=2).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.residual <= 1e-6
    assert model.objective_ == pytest.approx(model.certificate_.objective, rel=1e-8)


def test_no_other_alpha_has_a_larger_dual():
    X, k = blobs(2, n=25, shift=1.0)
    y = np.where(k == 1, 1.0, -1.0)
    model = DensityWeightedSVC(2.0, gamma=0.5, class_weight=None).fit(X, k)
    most, Q = 2.0 * density_weights(X), np.outer(y, y) * rbf_kernel(X, gamma=0.5)
    result = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(), np.zeros(25), jac=lambda a: Q @ a - 1,
        bounds=[(0, c) for c in most], constraints=LinearConstraint(y[None], 0, 0),
        method="SLSQP", options={"maxiter": 1000, "ftol": 1e-12},
    )  # fmt: skip
    assert model.objective_ == pytest.approx(-result.fun, rel=1e-5)


def test_libsvm_stopped_early_is_not_called_optimal():
    X, y = blobs(3, n=200, shift=0.3)
    with pytest.warns(certus.exceptions.NotCertifiedWarning, match="DensityWeightedSVC"):
        model = DensityWeightedSVC(100.0, max_iter=5).fit(X, y)
    assert model.fit_status_ == 1
    assert not model.certificate_.certified
