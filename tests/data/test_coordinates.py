"""Coordinates in which solvers work: scores are the same in and out."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.solvers.glm.coordinates import coordinates, sampled_coordinates
from certus.solvers.linalg.gram import NonFiniteError
from tests.glm.smooth_cases import CHANGES, dense, each_change, intercepts, problem_of, somewhere


@intercepts
@each_change
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_scores_are_the_same_in_and_out(change, intercept, weighted):
    problem = problem_of("softmax", intercept=intercept, change=CHANGES[change], weighted=weighted)
    at = coordinates(problem.rows, intercept)
    u, beta = somewhere(problem, at)
    w, b = at.to_user(u, beta)
    back = at.to_internal(w, b)
    np.testing.assert_allclose(back[0], u, rtol=1e-14)
    np.testing.assert_allclose(back[1], beta, rtol=1e-6, atol=1e-6)
    X = np.asarray(dense(problem), dtype=np.longdouble)
    block = X if problem.rows.sparse else at.block(problem.rows.X)
    c = at.correction
    inside = block @ u + beta - (0.0 if c is None else c @ u)
    np.testing.assert_allclose(inside.astype(float), (X @ w + b).astype(float), atol=1e-6)
    s = np.ones(len(X)) if problem.rows.s is None else problem.rows.s
    if intercept:
        mean = (s @ X / s.sum()).astype(float)
        np.testing.assert_allclose(at.c, mean, rtol=1e-9, atol=1e-15)
        np.testing.assert_array_equal(at.variance == 0, X.std(axis=0) == 0)
    else:
        np.testing.assert_array_equal(at.c, 0)
    q = np.broadcast_to(at.scale, (3,))
    np.testing.assert_array_equal(q, 2.0 ** np.round(np.log2(q)))
    if change != "sparse":
        some = sampled_coordinates(problem.rows, intercept)
        np.testing.assert_allclose(some.c, at.c, rtol=1e-9, atol=1e-15)


def test_columns_far_from_0_are_shifted_and_near_ones_corrected():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    near = coordinates(Rows(X + 10), True)
    far = coordinates(Rows(X + np.array([0, 1e7])), True)
    assert not near.shifted
    assert near.correction is not None
    assert far.shifted
    assert far.correction is None
    np.testing.assert_allclose(far.variance, X.var(axis=0), rtol=1e-6)
    np.testing.assert_allclose(near.variance, X.var(axis=0), rtol=1e-10)
    assert not coordinates(Rows(X + 1e7), False).shifted


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@intercepts
def test_columns_that_are_not_finite_are_found(bad, intercept):
    X = np.ones((9, 2))
    X[4, 1] = bad
    with pytest.raises(NonFiniteError):
        coordinates(Rows(X), intercept)
