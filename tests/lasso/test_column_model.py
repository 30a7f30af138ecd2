"""The quadratic model of a few columns: by its matrix, by its columns, and by sparse columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from certus.losses import Logistic, Softmax
from certus.solvers.lasso import active_columns, quadratic_model
from certus.solvers.lasso import coordinate_descent as module
from certus.solvers.lasso.coordinate_penalty import CoordinatePenalty
from tests.lasso.coordinate_cases import several_classes, solve, two_classes


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_find_what_the_matrix_finds(monkeypatch, sparse, K):
    X, y = two_classes(p=300) if K == 1 else several_classes(p=120)
    X = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0)) if sparse else X
    loss = Logistic() if K == 1 else Softmax()
    monkeypatch.setattr(module, "MAX_COLUMNS_WITHOUT_WORKING_SET", 0)
    by_matrix = solve(X, y, loss=loss)
    monkeypatch.setattr(module, "MAX_GRAM_COORDINATES", 0)
    monkeypatch.setattr(quadratic_model, "minimize_model", None)
    by_columns = solve(X, y, loss=loss)
    np.testing.assert_allclose(by_columns.w, by_matrix.w, atol=1e-5)
    np.testing.assert_allclose(by_columns.b - by_matrix.b, 0, atol=1e-4)


def test_the_model_is_minimised_where_columns_repeat():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 12))
    A = np.hstack([A, A])
    H, g = A.T @ A, A.T @ rng.normal(size=30)
    penalty = CoordinatePenalty(np.full(24, 0.7), np.zeros(24))
    v = quadratic_model.minimize_model(H, g, np.zeros(24), penalty, rtol=1e-14)
    assert penalty.distances(v, g + H @ v).max() < 1e-5
    assert np.count_nonzero(v) > 5


def test_the_model_of_strongly_correlated_columns():
    # strongly correlated columns: coordinates alone would take thousands of rounds
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 1)) + 1e-2 * rng.normal(size=(200, 40))
    H, g = A.T @ A, -A.T @ (A @ rng.normal(size=40))
    penalty = CoordinatePenalty(np.full(40, 1e-3), np.zeros(40))
    v = quadratic_model.minimize_model(H, g, np.zeros(40), penalty, rtol=1e-12)
    assert penalty.distances(v, g + H @ v).max() < 1e-5 * np.abs(g).max()


def test_curvature_of_pairs_is_that_of_the_losses():
    X, y = several_classes(n=40, p=6)
    loss, K = Softmax(), 3
    rng = np.random.default_rng(0)
    s, z = rng.random(40), rng.normal(size=(40, K))
    flat = np.array([0, 2, 4, 5, 9, 13, 17])  # (feature, class) = divmod(flat, 3)
    pairs = active_columns.ColumnClassPairs.of(flat, K)
    np.testing.assert_array_equal(np.sort(pairs.flat), flat)
    P = loss.evaluate(y, z)[2]
    at = active_columns.Curvature(np.zeros((K, 40)), (s[:, None] * P).T.copy(), P.T.copy())
    copy = np.ascontiguousarray(X.T[pairs.features])
    columns = active_columns.DenseColumns(copy, s, center=False, threads=1)
    sparse = active_columns.SparseColumns(sp.csc_array(X[:, pairs.features]))
    feature, k = pairs.features[pairs.column], pairs.of_class
    A = np.zeros((40, K, len(flat) + K))  # how the scores move with each coordinate
    for t in range(len(flat)):
        A[:, k[t], t] = X[:, feature[t]]
    A[:, np.arange(K), len(flat) + np.arange(K)] = 1
    D = s[:, None, None] * loss.curvature(y, z)
    expected = np.einsum("ika,ikl,ilb->ab", A, D, A)
    for found in (columns, sparse):
        np.testing.assert_allclose(found.gram(pairs, at, intercept=True), expected, atol=1e-12)
