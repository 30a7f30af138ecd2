"""C-SVC to the last digits, from an approximate solution."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from certus.solvers.hinge.svc_polish import polish
from tests.contract.problems import weights
from tests.lssvm.svm_cases import blobs


def problem(seed, C, n=60):
    """Return K, y, the upper bounds, and β and b of libsvm."""
    X, k = blobs(seed, n=n, shift=0.7)
    y, s = np.where(k == 1, 1.0, -1.0), weights(seed, n) + 0.1
    theirs = SVC(C=C, gamma=0.5, tol=1e-6).fit(X, k, s)
    beta = np.zeros(n)
    beta[theirs.support_] = theirs.dual_coef_[0]
    return rbf_kernel(X, gamma=0.5), y, C * s, beta, float(theirs.intercept_[0])


def gap(K, y, upper, beta, b):
    alpha, margin = beta * y, y * (K @ beta + b)
    P = 0.5 * beta @ K @ beta + upper @ np.maximum(0, 1 - margin)
    return P - (alpha.sum() - 0.5 * beta @ K @ beta), P


@pytest.mark.parametrize("C", [0.1, 3.0, 1e4])
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_that_float32_leaves_is_closed(seed, C):
    K, y, upper, beta, b = problem(seed, C)
    result = polish(K, y, upper, beta, b)
    assert result is not None
    after, P = gap(K, y, upper, *result)
    assert abs(after) < 1e-9 * P
    assert abs(result[0].sum()) < 1e-12 * np.abs(result[0]).sum()
    alpha = result[0] * y
    assert ((alpha >= 0) & (alpha <= upper)).all()
    assert gap(K, y, upper, beta, b)[0] > 10 * abs(after)


@pytest.mark.parametrize("seed", range(4))
def test_rows_in_the_wrong_place_change_it(seed):
    K, y, upper, beta, b = problem(seed, 3.0)
    right, _ = polish(K, y, upper, beta, b)
    alpha = right * y
    free = np.flatnonzero((alpha > 0) & (alpha < upper))
    spoiled = right.copy()
    spoiled[free[:2]] = 0.0  # two that count are said not to
    again, _ = polish(K, y, upper, spoiled, b)
    np.testing.assert_allclose(again, right, atol=1e-9)


def test_an_answer_without_free_rows_is_left_as_it_is():
    K, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    assert polish(K, y, np.full(4, 0.1), 0.1 * y, 0.0) is None
