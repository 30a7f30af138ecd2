"""Smooth losses, and problems with them in every layout of X."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.losses import Huber, Logistic, Softmax, Squared, SquaredHinge
from certus.penalties import L2
from certus.solvers import LBFGS, Newton, NewtonCG
from certus.solvers.glm.coordinates import MAX_MEAN_TO_DEVIATION
from certus.solvers.problem import Problem

LOSSES = {
    "squared": Squared(),
    "huber": Huber(0.7),
    "logistic": Logistic(),
    "squared hinge": SquaredHinge(),
    "softmax": Softmax(),
}
SOLVERS = {"newton": Newton, "newton-cg": NewtonCG, "lbfgs": LBFGS}
each_loss = pytest.mark.parametrize("loss", LOSSES)
each_solver = pytest.mark.parametrize("solver", SOLVERS)
intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])


def targets(loss, z, rng):
    """Return random targets as the loss takes them, around scores z (n, K)."""
    if loss.several:
        return (z + rng.gumbel(size=z.shape)).argmax(axis=1).astype(float)
    if loss.name in ("squared", "huber"):
        return z[:, 0] + rng.standard_t(2, size=len(z))
    return np.where(z[:, 0] + rng.logistic(size=len(z)) > 0, 1.0, -1.0)


def problem_of(name, *, l2=0.3, n=80, p=3, intercept=True, weighted=False, change=None, seed=0):
    """``change``: what is done to X before it becomes Rows."""
    loss, rng = LOSSES[name], np.random.default_rng(seed)
    K = 3 if loss.several else 1
    X = rng.normal(size=(n, p))
    y = targets(loss, X @ rng.normal(size=(p, K)) + 0.5, rng)
    s = rng.integers(0, 4, size=n).astype(float) if weighted else None
    X = X if change is None else change(X)
    return Problem(Rows(X, y[:, None], s), loss, L2(l2), intercept, K)


def dense(problem: Problem) -> Any:
    """Return X as a dense array."""
    X = problem.rows.X
    if isinstance(X, CSR):
        return sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape).toarray()
    return X


CHANGES = {
    "as drawn": None,
    "float32": lambda X: X.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "far": lambda X: X + 64 * MAX_MEAN_TO_DEVIATION,
    "large and small": lambda X: X * [1e170, 1.0, 1e-170],
    "constant column": lambda X: X * [1, 0, 1] + [0, 3, 0],
    "sparse": lambda X: CSR(sparse.csr_array(X * (np.abs(X) > 0.5))),
}
each_change = pytest.mark.parametrize("change", CHANGES)


def somewhere(problem, at, seed=1):
    """Return (u, β) with scores of ordinary size, whatever the columns' units."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(np.where(at.variance > 0, at.variance, 1.0))
    u = rng.normal(size=(problem.rows.shape[1], problem.outputs)) / size[:, None]
    return u, rng.normal(size=problem.outputs) * problem.fit_intercept
