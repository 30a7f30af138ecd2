"""Sparse logistic problems, and coordinate descent on them."""

import numpy as np
import scipy.sparse as sp

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.losses import Logistic
from certus.penalties import L1
from certus.solvers.lasso.coordinate_descent import CoordinateDescent
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem


def two_classes(n=120, p=40, seed=0, informative=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    z = X[:, :informative] @ rng.normal(size=informative) + 0.5
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-z)), 1.0, -1.0)


def several_classes(n=150, p=20, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    z = X[:, :5] @ rng.normal(size=(5, K)) + rng.gumbel(size=(n, K))
    return X, z.argmax(axis=1).astype(float)


def problem_of(X, y, C=1.0, loss=None, penalty=None, s=None, fit_intercept=True, threads=None):
    loss = loss or Logistic()
    source = CSR(sp.csr_array(X)) if sp.issparse(X) else X
    s = np.full(X.shape[0], float(C)) if s is None else C * s
    K = int(y.max()) + 1 if loss.several else 1
    rows = Rows(source, y[:, None].astype(float), s, threads=threads)
    return Problem(rows, loss, penalty or L1(1.0), fit_intercept, K)


def solve(X, y, C=1.0, tol=1e-9, max_iter=100, start=None, **given):
    problem = problem_of(X, y, C, **given)
    fit = minimize(problem, CoordinateDescent(), start, tol=tol, max_iter=max_iter)
    assert fit.converged
    return fit
