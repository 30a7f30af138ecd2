r"""The squared hinge with an L2 penalty by an interior-point method, whose steps are few.

Newton's method on the squared hinge changes, step by step, which rows lie within their margin. Of
1,000 separable rows and 1,000 columns that takes 500 steps and more; this method takes about 20,
and their number hardly depends on the scale of X or C. In coordinates θ = (u, β), with rows
a_i = y_i x̂₁_i and weights s,

    minimise ½θᵀPθ + Σ α²/(4s),   P = l2·diag(q², 0),   t = Aθ − 1 + α/(2s) ≥ 0

    Pθ = Aᵀα,   α ≥ 0,   α∘t = σμ                           and σμ → 0

since α/(2s) is the part of the margin that a row lacks. Mehrotra's predictor and corrector; the two
directions of a step share one Cholesky factor of P + AᵀE⁻¹A, E = diag(1/(2s) + t/α). The last
digits are left to Newton's method, which begins where this ends.
"""

from functools import partial

import numpy as np

from ..linalg.cholesky import cholesky_solve, factor
from ..linalg.orthogonal_columns import ColumnCoordinates
from ..problem import Problem

MOST_STEPS = 80  # 15 to 30 are usual
CLOSE = 1e-11  # gap, as a share of F, where rounding begins to show
SHARE_OF_WAY = 0.995  # to the boundary
MOST_ELEMENTS = 1 << 24  # of X, of which a copy is made
SHORTEST = 1e-10  # step that is worth another
FIRST_RIDGE, LAST_RIDGE = 1e-15, 1e-8  # added to a diagonal of 1 where there is no factor


def takes(problem: Problem) -> bool:
    """Is the problem one of the squared hinge with an L2 penalty, and its copy of X small?"""
    n, p = problem.rows.shape
    ours = problem.loss.name == "squared_hinge" and problem.l1 == 0 and problem.l2 > 0
    return ours and n * p <= MOST_ELEMENTS


class InteriorPoint:
    """One fit: ``step`` until ``done``; ``w``, ``b`` and ``objective`` are the best so far.

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
        X, _, s = problem.rows.dense().block(0, n)
        c = self.at.correction
        kept = p + bool(problem.fit_intercept)
        A = np.ones((n, kept))
        A[:, :p] = self.at.block(X)
        if c is not None:
            A[:, :p] -= c
        self.A = problem.y[:, None] * A
        self.s = np.ones(n) if s is None else s
        self.P = np.zeros(kept)
        self.P[:p] = problem.l2 * np.broadcast_to(self.at.scale, (p,)) ** 2
        size = float(np.mean((self.A[:, :p] / self.P[:p] * self.A[:, :p]).sum(axis=1)))
        self.theta, self.t = np.zeros(kept), np.ones(n)
        # a change of α by this changes the scores by about 1
        self.alpha = np.minimum(self.s, 1 / max(size, np.finfo(float).tiny))
        self.ridge = 0.0
        if not (np.isfinite(size) and size > 0 and (self.s > 0).all()):
            self.done = True

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # the end, where not finite
    def step(self) -> None:
        """Make one step, or find that there is none to be made."""
        if self.done:
            return
        A, P, s, theta, alpha, t = self.A, self.P, self.s, self.theta, self.alpha, self.t
        self.steps += 1
        m, v = A @ theta, A.T @ alpha
        gap = float(alpha @ t)
        dual, primal = P * theta - v, m - 1 + alpha / (2 * s) - t
        value = self._keep(theta, m)
        wrong = gap + float(np.abs(dual) @ np.abs(theta) + np.abs(primal) @ alpha)
        E = 1 / (2 * s) + t / alpha
        if not wrong > CLOSE * value or self.steps > MOST_STEPS or not np.isfinite(E).all():
            self.done = True
            return
        solve = self._inverse(E)
        if solve is None:
            return
        direction = partial(self._direction, solve, E, dual, primal)
        d_theta, d_alpha, d_t = direction(-alpha * t)
        r = min(_reach(alpha, d_alpha), _reach(t, d_t))
        after = float((alpha + r * d_alpha) @ (t + r * d_t))
        aim = gap / len(t) * min(1.0, after / gap) ** 3
        d_theta, d_alpha, d_t = direction(aim - alpha * t - d_alpha * d_t)
        r = min(_reach(alpha, d_alpha), _reach(t, d_t))
        if not (r > SHORTEST and np.isfinite(d_theta).all()):
            self.done = True
            return
        self.theta, self.alpha, self.t = theta + r * d_theta, alpha + r * d_alpha, t + r * d_t

    def _keep(self, theta: np.ndarray, m: np.ndarray) -> float:
        """F at θ, whose point is kept if it is the best so far."""
        short = np.maximum(1 - m, 0.0)
        value = float(self.s @ (short * short) + self.P @ (theta * theta) / 2)
        if value < self.objective:
            p = self.problem.rows.shape[1]
            whole = np.zeros((p + 1, 1))
            whole[: len(theta), 0] = theta
            self.w, self.b = self.at.outside(whole[:-1], whole[-1])
            self.objective = value
        return value

    def _inverse(self, E: np.ndarray) -> partial[np.ndarray] | None:
        """r ↦ (P + AᵀE⁻¹A)⁻¹r; None where there is no factor, and a larger ridge is tried next."""
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
        """Newton's change of θ, α and t. ``change``: what α∘t should change by."""
        r = (change / self.alpha - primal) / E
        d_theta = solve(self.A.T @ r - dual)
        d_alpha = r - (self.A @ d_theta) / E
        return d_theta, d_alpha, (change - self.t * d_alpha) / self.alpha


def _solve(R: np.ndarray, d: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.asarray(d * cholesky_solve(R, (d * r)[:, None])[:, 0])


def _reach(x: np.ndarray, d: np.ndarray) -> float:
    """The longest step, 1 at most, after which x > 0."""
    falling = d < 0
    if not falling.any():
        return 1.0
    return min(1.0, SHARE_OF_WAY * float(np.min(-x[falling] / d[falling])))
