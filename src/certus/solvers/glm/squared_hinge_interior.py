r"""An interior-point method for the squared hinge with an L2 penalty.

Newton's method on the squared hinge changes the set of rows within their margin step by step. For
1,000 separable rows and 1,000 columns that takes 500 steps and more; this method takes about 20,
and their number hardly depends on the scale of X or C. In coordinates θ = (u, β), with rows
a_i = y_i x̂₁_i and weights s,

    minimise ½θᵀPθ + Σ α²/(4s),   P = l2·diag(q², 0),   t = Aθ − 1 + α/(2s) ≥ 0

    Pθ = Aᵀα,   α ≥ 0,   α∘t = σμ                           and σμ → 0

since α/(2s) is the slack of a row in its margin. Mehrotra's predictor and corrector share one
Cholesky factor of P + AᵀE⁻¹A, E = diag(1/(2s) + t/α). The last digits are left to Newton's method,
which starts from the result.
"""

from functools import partial

import numpy as np

from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.orthogonal_columns import ColumnCoordinates
from ..problem import Problem

MAX_STEPS = 80  # 15 to 30 are usual
GAP_TOL = 1e-11  # relative to F: below it the gap is rounding
BOUNDARY_FRACTION = 0.995  # share of the way to the boundary that a step may go
MAX_ELEMENTS = 1 << 24  # of X, of which a copy is made
MIN_STEP = 1e-10  # a shorter step ends the fit
FIRST_RIDGE, LAST_RIDGE = 1e-15, 1e-8  # added to a unit diagonal where the factorisation fails


def interior_point_applies(problem: Problem) -> bool:
    """Return whether this is a squared hinge with an L2 penalty, and the copy of X is small."""
    n, p = problem.rows.shape
    is_supported = problem.loss.name == "squared_hinge" and problem.l1 == 0 and problem.l2 > 0
    return is_supported and n * p <= MAX_ELEMENTS


class InteriorPoint:
    """One fit: call ``step`` until ``done``; ``w``, ``b`` and ``objective`` are the best so far.

    ``at``: the coordinates of Newton's method. O(n·p² + p³) operations a step and a copy of X.
    """

    def __init__(
        self,
        problem: Problem,
        at: ColumnCoordinates,
        w: np.ndarray,
        b: np.ndarray,
        objective: float,
    ):
        self.w, self.b, self.objective = w, b, objective
        self.problem, self.at, self.steps, self.done = problem, at, 0, False
        n, p = problem.rows.shape
        X, y, s = problem.rows.dense().block(0, n)
        assert y is not None
        c = self.at.correction
        n_free = p + bool(problem.fit_intercept)
        A = np.ones((n, n_free))
        A[:, :p] = self.at.block(X)
        if c is not None:
            A[:, :p] -= c
        self.A = y * A
        self.s = np.ones(n) if s is None else s
        self.P = np.zeros(n_free)
        self.P[:p] = problem.l2 * np.broadcast_to(self.at.scale, (p,)) ** 2
        size = float(np.mean((self.A[:, :p] / self.P[:p] * self.A[:, :p]).sum(axis=1)))
        self.theta, self.t = np.zeros(n_free), np.ones(n)
        # changing α by this much changes the scores by about 1
        self.alpha = np.minimum(self.s, 1 / max(size, np.finfo(float).tiny))
        self.ridge = 0.0
        if not (np.isfinite(size) and size > 0 and (self.s > 0).all()):
            self.done = True

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # the end, where not finite
    def step(self) -> None:
        """Make one step, or set ``done`` where there is none to make."""
        if self.done:
            return
        A, P, s, theta, alpha, t = self.A, self.P, self.s, self.theta, self.alpha, self.t
        self.steps += 1
        m, v = A @ theta, A.T @ alpha
        gap = float(alpha @ t)
        dual, primal = P * theta - v, m - 1 + alpha / (2 * s) - t
        value = self._record_if_best(theta, m)
        error = gap + float(np.abs(dual) @ np.abs(theta) + np.abs(primal) @ alpha)
        E = 1 / (2 * s) + t / alpha
        if not error > GAP_TOL * value or self.steps > MAX_STEPS or not np.isfinite(E).all():
            self.done = True
            return
        solve = self._inverse(E)
        if solve is None:
            return
        direction = partial(self._direction, solve, E, dual, primal)
        d_theta, d_alpha, d_t = direction(-alpha * t)
        r = min(_max_step(alpha, d_alpha), _max_step(t, d_t))
        after = float((alpha + r * d_alpha) @ (t + r * d_t))
        target = gap / len(t) * min(1.0, after / gap) ** 3
        d_theta, d_alpha, d_t = direction(target - alpha * t - d_alpha * d_t)
        r = min(_max_step(alpha, d_alpha), _max_step(t, d_t))
        if not (r > MIN_STEP and np.isfinite(d_theta).all()):
            self.done = True
            return
        self.theta, self.alpha, self.t = theta + r * d_theta, alpha + r * d_alpha, t + r * d_t

    def _record_if_best(self, theta: np.ndarray, m: np.ndarray) -> float:
        """Return F at θ, and record the point if it is the best so far."""
        slack = np.maximum(1 - m, 0.0)
        value = float(self.s @ (slack * slack) + self.P @ (theta * theta) / 2)
        if value < self.objective:
            p = self.problem.rows.shape[1]
            whole = np.zeros((p + 1, 1))
            whole[: len(theta), 0] = theta
            self.w, self.b = self.at.to_user(whole[:-1], whole[-1])
            self.objective = value
        return value

    def _inverse(self, E: np.ndarray) -> partial[np.ndarray] | None:
        """Return r ↦ (P + AᵀE⁻¹A)⁻¹r; None where factoring fails: the next step adds a ridge."""
        Z = self.A / np.sqrt(E)[:, None]
        H = np.dot(Z.T, Z)
        H.flat[:: len(H) + 1] += self.P
        d = 1 / np.sqrt(H.diagonal())
        H *= d
        H *= d[:, None]
        H.flat[:: len(H) + 1] = 1 + self.ridge
        R, condition = factor(H)
        if condition < np.inf:
            return partial(_solve, R, d)
        self.ridge = max(FIRST_RIDGE, 100 * self.ridge)
        self.done = self.ridge > LAST_RIDGE
        return None

    def _direction(
        self, solve: partial[np.ndarray], E: np.ndarray, dual: np.ndarray, primal: np.ndarray,
        change: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return Newton's changes of θ, α and t. ``change``: the intended change of α∘t."""
        r = (change / self.alpha - primal) / E
        d_theta = solve(self.A.T @ r - dual)
        d_alpha = r - (self.A @ d_theta) / E
        return d_theta, d_alpha, (change - self.t * d_alpha) / self.alpha


def _solve(R: np.ndarray, d: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.asarray(d * cholesky_solve(R, (d * r)[:, None])[:, 0])


def _max_step(x: np.ndarray, d: np.ndarray) -> float:
    """Return the longest step, at most 1, after which x > 0."""
    falling = d < 0
    if not falling.any():
        return 1.0
    return min(1.0, BOUNDARY_FRACTION * float(np.min(-x[falling] / d[falling])))
