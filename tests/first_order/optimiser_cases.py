"""The optimisers' equations in plain NumPy, and problems in every layout of X to run both on.

Q(θ) = (1/S)(Σ_i s_i ℓ(y_i, x_iᵀw + b) + l2/2‖w‖²),   S = Σ s,   θ = (w, b): (p + 1, K)
"""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from certus.data.csr import CSR
from certus.data.lazy import LazyRows
from certus.data.rows import Rows
from certus.penalties import L2
from certus.solvers import SAGA, SGD, GradientDescent, HeavyBall, Nesterov
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem
from tests.glm.smooth_cases import LOSSES, problem_of

LOSS_CODES = {"squared": 0, "huber": 1, "logistic": 2, "squared hinge": 3, "softmax": 4}
DELTA = 0.7  # of the Huber loss

FULL_GRADIENT_METHODS: dict[str, Any] = {
    "gd": GradientDescent, "backtracking": lambda: GradientDescent("backtracking"),
    "wolfe": lambda: GradientDescent("wolfe"), "agd": HeavyBall, "nesterov": Nesterov,
    "searching nesterov": lambda: Nesterov("backtracking"),
}  # fmt: skip
STOCHASTIC_METHODS: dict[str, Any] = {
    "sgd": SGD, "asgd": lambda: SGD(momentum=0.8), "saga": SAGA,
    "averages": lambda: SGD(average=2, batch_size=4, momentum=0.3),
}  # fmt: skip
METHODS = {**FULL_GRADIENT_METHODS, **STOCHASTIC_METHODS}
each_method = pytest.mark.parametrize("method", METHODS)
each_stochastic_method = pytest.mark.parametrize("method", STOCHASTIC_METHODS)
weights = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def thinned(X):
    return X * (np.abs(X) > 0.5)


def lazy(X):
    return LazyRows(X, X.shape[1], X.dtype, lambda part: part)


# what is done to thinned X; all of them are the same numbers, but for rounding to float32
LAYOUTS: dict[str, Any] = {
    "C order": lambda X: X,
    "Fortran order": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lazy": lazy,
    "CSR": lambda X: CSR(sparse.csr_array(X)),
    "CSC": lambda X: CSR(sparse.csc_array(X)),
    "float32": lambda X: X.astype(np.float32),
    "CSR, float32": lambda X: CSR(sparse.csr_array(X.astype(np.float32))),
    "CSR, int64": lambda X: CSR(long_indices(sparse.csr_array(X))),
}
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def long_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def make_problem(name, layout, **more):
    return problem_of(name, change=lambda X: LAYOUTS[layout](thinned(X)), **more)


# --- the losses -----------------------------------------------------------------------------------


def slopes(name: str, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """∂ℓ/∂Z, (n, K), by the formulas."""
    if name == "softmax":
        P = np.exp(Z - Z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        P[np.arange(len(y)), y.astype(int)] -= 1
        return P
    z = Z[:, 0]
    if name == "logistic":
        g = -y / (1 + np.exp(y * z))
    elif name == "squared hinge":
        g = -2 * y * np.maximum(1 - y * z, 0)
    else:
        g = z - y
    return (np.clip(g, -DELTA, DELTA) if name == "huber" else g)[:, None]


class Twin:
    """A problem as an array with a column of ones, and Q by its formula."""

    def __init__(self, name: str, problem: Problem):
        X = problem.rows.X
        if isinstance(X, CSR):
            X = sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape).toarray()
        X = np.asarray(X, dtype=float)
        n = len(X)
        self.name, self.loss, self.y = name, LOSSES[name], problem.y
        self.s = np.ones(n) if problem.rows.s is None else problem.rows.s
        self.S, self.n = self.s.sum(), n
        self.X = np.column_stack([X, np.full(n, float(problem.fit_intercept))])
        self.lam = problem.l2 / self.S
        self.shape = self.X.shape[1], problem.outputs

    def scores(self, theta):
        return self.X @ theta

    def Q(self, theta):
        Z = self.scores(theta)
        value = self.loss.value(self.y, Z if self.loss.several else Z[:, 0])
        return self.s @ value / self.S + self.lam / 2 * np.sum(theta[:-1] ** 2)

    def gradient(self, theta, rows=None):
        """∇Q; of some rows, of the mean of their q_i = (n s_i/S) ℓ_i, with the penalty."""
        rows = np.arange(self.n) if rows is None else rows
        s = self.s[rows] * (self.n / self.S)
        G = s[:, None] * slopes(self.name, self.y[rows], self.X[rows] @ theta) / len(rows)
        return self.X[rows].T @ G + self.lam * self.without_intercept(theta)

    @staticmethod
    def without_intercept(theta):
        return np.vstack([theta[:-1], np.zeros_like(theta[-1:])])

    def hessian_eigenvalue(self, theta):
        """The largest of ∇²Q, by differences of the gradient in every direction."""
        size, h = theta.size, 1e-6
        H = np.empty((size, size))
        for j in range(size):
            e = np.zeros(size)
            e[j] = h
            up, down = (self.gradient(theta + d.reshape(self.shape)) for d in (e, -e))
            H[j] = ((up - down) / (2 * h)).ravel()
        return np.linalg.eigvalsh((H + H.T) / 2)[-1]


# --- the methods ----------------------------------------------------------------------------------


def sgd_path(twin, order, alphas, batch, theta, beta=0.0, v=None):
    """Return θ after each batch of the rows in this order, and the last v."""
    v, path = np.zeros_like(theta) if v is None else v, []
    for t, alpha in enumerate(alphas):
        g = twin.gradient(theta, order[t * batch : (t + 1) * batch])
        v = beta * v + g
        theta = theta - alpha * v
        path.append(theta)
    return path, v


def losses_gradient(twin, theta, row):
    """∇q_i, without the penalty."""
    return twin.gradient(theta, [row]) - twin.lam * twin.without_intercept(theta)


def saga_path(twin, order, gamma, theta, stored):
    """Return θ after each row; ``stored`` (n, p + 1, K), the ∇q_i(φ_i), is changed in place."""
    path = []
    for j in order:
        new = losses_gradient(twin, theta, j)
        direction = new - stored[j] + stored.mean(axis=0) + twin.lam * twin.without_intercept(theta)
        stored[j] = new
        theta = theta - gamma * direction
        path.append(theta)
    return path


def trajectory(problem: Problem, solver: Any, steps: int, start: Any = None) -> list[np.ndarray]:
    """Return θ_0 … θ_steps of a solver."""
    heard: list[np.ndarray] = []

    def on_step(step):
        fit = step.parameters()
        heard.append(np.vstack([fit.w, fit.b]))
        return False

    # below 0: an excess of 0 to the last digit is no reason to stop
    minimize(problem, solver, start, tol=-1.0, max_iter=steps, on_step=on_step)
    return heard


def optimum(problem: Problem) -> tuple[np.ndarray, float]:
    """Return (θ*, F*) by Newton's method."""
    from certus.solvers import Newton
    from certus.solvers.problem import objective

    fit = minimize(problem, Newton(), tol=1e-14, max_iter=500)
    return np.vstack([fit.w, fit.b]), objective(problem, fit.w, fit.b)


def scaled(l2: float, problem: Problem) -> Problem:
    """Return the problem with another penalty."""
    return Problem(problem.rows, problem.loss, L2(l2), problem.fit_intercept, problem.outputs)


def plain_rows(X, y, s=None, threads=None) -> Rows:
    return Rows(X, y[:, None], s, threads=threads)
