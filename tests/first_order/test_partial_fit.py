"""Rows that arrive in parts: the objective, the stored state, and the certificate afterwards.

Part m of rows, S_m their weight so far, t = m − 1 the parts before it:

    θ ← θ − α_m ∇(q_j + (l2/S_m)‖w‖²/2),   α_m = (1 − β)/(max L so far + l2/S_m) × schedule
"""

import copy
import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import certus
from certus.linear_model import LogisticRegression, PenalizedClassifier, PenalizedRegressor
from certus.losses import Huber
from certus.penalties import L2
from certus.solvers import SGD
from certus.solvers.first_order.stochastic import draw_order, row_curvature
from certus.solvers.problem import Problem
from tests.contract.problems import classification, regression
from tests.first_order.optimiser_cases import Twin, plain_rows, sgd_path
from tests.glm.smooth_cases import LOSSES

SIZES = (40, 7, 33, 1)  # of the parts


def parts_of(X, y, s=None):
    edges = np.cumsum((0, *SIZES))
    for a, b in itertools.pairwise(edges):
        yield X[a:b], y[a:b], None if s is None else s[a:b]


def stream_twin(name, parts, solver, l2, outputs=1):
    """θ after all parts, by the equations; ``parts``: (X, targets of the loss, weights)."""
    rng, means = np.random.default_rng(solver.random_state), []
    theta, v, S, L = None, None, 0.0, 0.0
    for t, (X, y, s) in enumerate(parts):
        problem = Problem(plain_rows(X, y, s), LOSSES[name], L2(l2), True, outputs)
        twin = Twin(name, problem)
        theta = np.zeros(twin.shape) if theta is None else theta
        S += twin.S
        twin.lam = l2 / S
        n, B = len(y), solver.batch_size
        L = max(L, row_curvature(problem)._replace(of_penalty=0.0).of_batch(B, n))
        alpha = solver.step_length or (1 - solver.momentum) / (L + twin.lam)
        batches = -(-n // B)
        alphas = alpha * solver.schedule(t + np.arange(batches) / batches)
        path, v = sgd_path(
            twin, draw_order(rng, n, solver.order), alphas, B, theta, solver.momentum, v
        )
        theta = path[-1]
        means = [*means, np.mean(path, axis=0)][-solver.average :]
    return np.mean(means, axis=0) if solver.average else theta


VARIANTS = {
    "plain": SGD(),
    "momentum": SGD(momentum=0.8, schedule="1/t"),
    "mean of two parts": SGD(average=2, batch_size=3, order="random"),
    "a number": SGD(0.01, schedule="geometric", random_state=4),
}
each_variant = pytest.mark.parametrize("variant", VARIANTS)
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def some_weights(n, weighted):
    return np.random.default_rng(1).integers(1, 4, size=n).astype(float) if weighted else None


@each_variant
@weighted
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_stream_of_targets_is_that_of_the_equations(variant, weighted, loss):
    X, Y, _ = regression(0, n=81, p=3, k=2)
    s = some_weights(81, weighted)
    for y in (Y[:, 0], Y):
        given = Huber(0.7) if loss == "huber" else loss
        model = PenalizedRegressor(given, L2(0.5), VARIANTS[variant])
        for X_m, y_m, s_m in parts_of(X, y, s):
            assert model.partial_fit(X_m, y_m, s_m) is model
        columns = Y.T[:1] if y.ndim == 1 else Y.T
        result = np.column_stack([np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)])
        for k, column in enumerate(columns):
            theta = stream_twin(loss, parts_of(X, column, s), VARIANTS[variant], 0.5)
            np.testing.assert_allclose(result[k], theta[:, 0], rtol=0, atol=1e-10)
        assert (model.n_iter_, model.solver_) == (len(SIZES), VARIANTS[variant].name)
        assert model.coef_.shape == ((3,) if y.ndim == 1 else (2, 3))


@each_variant
@weighted
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared_hinge"])
def test_a_stream_of_labels_is_that_of_the_equations(variant, weighted, loss):
    X, y, _ = classification(0, n=81, p=3, classes=2 if loss == "logistic" else 3)
    s = some_weights(81, weighted)
    labels = np.array(["a", "b", "c"])[y]
    model = PenalizedClassifier(loss, L2(0.5), VARIANTS[variant])
    for X_m, y_m, s_m in parts_of(X, labels, s):
        model.partial_fit(X_m, y_m, np.unique(labels)[::-1], s_m)
    name, solver = loss.replace("_", " "), VARIANTS[variant]
    if loss == "softmax":
        theta = stream_twin(name, parts_of(X, y.astype(float), s), solver, 0.5, 3)
    else:
        targets = [y == 1] if loss == "logistic" else [y == k for k in range(3)]
        signs = [np.where(own, 1.0, -1.0) for own in targets]
        theta = np.hstack([stream_twin(name, parts_of(X, z, s), solver, 0.5) for z in signs])
    np.testing.assert_allclose(model.coef_, theta[:-1].T, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, theta[-1], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert set(model.predict(X)) <= set(model.classes_)
    assert model.n_iter_ == [len(SIZES)]


def test_logistic_regression_is_the_same_with_its_own_c_and_seed():
    X, y, _ = classification(0, n=81, p=3)
    for weight in (None, {0: 2.0, 1: 0.5}):
        mine = PenalizedClassifier("logistic", L2(1 / 0.3), "sgd", class_weight=weight)
        model = LogisticRegression(C=0.3, solver="sgd", class_weight=weight)
        seeded = clone(model).set_params(random_state=3)
        for X_m, y_m, _ in parts_of(X, y):
            for one in (mine, model, seeded):
                one.partial_fit(X_m, y_m, [0, 1])
        np.testing.assert_allclose(model.coef_, mine.coef_, rtol=1e-10)
        assert not np.allclose(seeded.coef_, model.coef_, rtol=1e-10)


def test_more_parts_come_nearer_to_the_optimum_of_all_rows():
    X, y, _ = classification(5, n=20_000, p=4)
    best = PenalizedClassifier("logistic", L2(1.0)).fit(X, y).certificate_.objective
    model = PenalizedClassifier("logistic", L2(1.0), SGD(average=10))
    excess = []
    for m in range(40):
        part = slice(500 * m, 500 * (m + 1))
        model.partial_fit(X[part], y[part], [0, 1])
        excess.append(certus.verify(model, X, y).objective - best)
    assert excess[-1] < 1e-2 * best
    assert excess[-1] < 0.1 * excess[0]


def first_part(model, X, y):
    return model.partial_fit(X, y, *([[0, 1]] if hasattr(model, "class_weight") else []))


# --- what is known afterwards ---------------------------------------------------------------------


@pytest.fixture
def binary():
    X, y, _ = classification(0, n=81, p=3)
    return X, y


def test_there_is_no_certificate_but_verify_says_what_the_model_is_worth(binary):
    X, y = binary
    model = LogisticRegression(solver="nesterov").fit(X, y)
    assert model.certificate_.certified
    model.set_params(solver="sgd").partial_fit(X, y)
    assert not hasattr(model, "certificate_")
    result = certus.verify(model, X, y)
    assert not result.certified
    best = LogisticRegression().fit(X, y).certificate_.objective
    assert 0 < result.objective - best <= result.gap
    assert "LogisticRegression" in repr(model)
    model._repr_html_()


def test_a_part_goes_on_from_a_fit_and_a_fit_starts_anew(binary):
    X, y = binary
    for model in (
        LogisticRegression(C=0.2, solver="sgd", max_iter=60),
        PenalizedClassifier("logistic", L2(5.0), "asgd", max_iter=60),
        PenalizedRegressor("squared", L2(5.0), "sgd", max_iter=60),
    ):
        with pytest.warns(certus.exceptions.NotCertifiedWarning):
            fitted = clone(model).fit(X, y)
        with pytest.warns(certus.exceptions.NotCertifiedWarning):
            again = first_part(clone(model), X, y).fit(X, y)
        np.testing.assert_array_equal(again.coef_, fitted.coef_)
        before = fitted.coef_.copy()
        fitted.set_params(solver=SGD(1e-9)).partial_fit(X, y)
        np.testing.assert_allclose(fitted.coef_, before, atol=1e-6)
        assert np.any(fitted.coef_ != before)
        assert np.all(fitted.n_iter_ == 1)


def test_sparse_and_dense_parts_may_follow_each_other(binary):
    X, y = binary
    X = X * (np.abs(X) > 0.5)
    for solver in (SGD(), SGD(momentum=0.7, average=2)):
        plain, mixed = (PenalizedClassifier(solver=solver) for _ in range(2))
        for m, (X_m, y_m, _) in enumerate(parts_of(X, y)):
            plain.partial_fit(X_m, y_m, [0, 1])
            kind = (sparse.csr_array, np.asfortranarray, sparse.csc_array, np.asarray)[m]
            mixed.partial_fit(kind(X_m), y_m, [0, 1])
        np.testing.assert_allclose(mixed.coef_, plain.coef_, rtol=0, atol=1e-11)


def test_a_part_may_lack_classes_and_rows_that_count_little(binary):
    X, y = binary
    model = LogisticRegression(solver="sgd")
    model.partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    assert (model.predict(X) == 1).mean() > 0.5
    model.partial_fit(X[y == 0], y[y == 0])
    model.partial_fit(X[:1], y[:1])
    assert np.isfinite(model.coef_).all()
    s = np.zeros(len(y))
    s[::2] = 1.0
    half, weighted = (PenalizedRegressor(solver=SGD(0.1, batch_size=200)) for _ in range(2))
    half.partial_fit(X[::2], y[::2].astype(float))
    weighted.partial_fit(X, y.astype(float), s)
    np.testing.assert_allclose(weighted.coef_, half.coef_, atol=1e-12)


def test_a_stream_can_be_copied_saved_and_gone_on_with(binary):
    X, y = binary
    model = LogisticRegression(solver=SGD(average=2, momentum=0.5))
    model.partial_fit(X[:40], y[:40], [0, 1])
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[40:], y[40:])
    for other in copies:
        other.partial_fit(X[40:], y[40:])
        np.testing.assert_array_equal(other.coef_, model.coef_)
    assert not hasattr(clone(model), "coef_")


def test_sparsified_coefficients_are_gone_on_with(binary):
    X, y = binary
    plain, thin = (LogisticRegression(solver="sgd").partial_fit(X, y, [0, 1]) for _ in range(2))
    thin.sparsify()
    for model in (plain, thin):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(thin.coef_, plain.coef_)


def test_an_intercept_that_is_no_longer_fitted_is_gone(binary):
    X, y = binary
    for model in (LogisticRegression(solver="sgd"), PenalizedRegressor(solver="asgd")):
        first_part(model, X, y)
        assert np.any(model.intercept_ != 0)
        model.set_params(fit_intercept=False).partial_fit(X, y)
        assert np.all(model.intercept_ == 0)
        assert not model._streams[0].theta[-1].any(), "nor does it enter the scores"
