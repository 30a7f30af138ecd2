r"""The hinge loss for few columns: proximal-point steps in α, each by Newton's method in θ.

With α = u∘a, 0 ≤ a ≤ 1, a step from a minimises over θ

    φ(θ) = ½‖θ‖² + Σ_i u_i h(t_i)/σ,   t_i = a_i + σ(1 − m_i),   h = tγ − γ²/2,  γ = clip(t, 0, 1)

and moves a to γ: the hinge with its kink smoothed over a width of 1/σ around where a places it.
∇φ = θ − Σ uγyx̂, so α = u∘γ is a dual point with D(α) = Σα − ½‖θ − ∇φ‖². φ is piecewise quadratic,

    H = I + σ Σ_{0 ≤ t ≤ 1} u x̂x̂ᵀ

and only rows near their margin enter H: a few hundred of 100,000 when σ is large. Along the
direction −H⁻¹∇φ the margins change linearly, so the line search does not need X. The steps converge
for any σ, faster the larger it is (Rockafellar 1976: an augmented Lagrangian method); the gap P − D
is available from the first step on.

With many rows, a sample is first solved roughly to provide the start. Rows in memory have arrays of
m and a (``stored_margins``); those of a table are read again for every sum (``streamed_margins``).
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.coordinates import coordinates, sampled_coordinates
from ..linalg.gram import NonFiniteError
from .dispatch import DualSteps, HingeProblem, HingeProgress
from .stored_margins import StoredMargins
from .streamed_margins import StreamedMargins

SIGMA_GROWTH = 5.0  # of σ from step to step
MAX_SIGMA = 1e10  # a kink this narrow is the hinge to rounding
INNER_TOL = 0.02  # ½‖∇φ‖² relative to P − D, below which a step is accurate enough
SAMPLE_DIVISOR = 8  # one row in this many is solved first …
MIN_SAMPLED_ROWS = 20_000, 50  # … if there are at least so many rows, and so many for each column
MAX_STREAMED_SAMPLE_ELEMENTS = 1 << 22  # of X, of rows that are read block by block
SAMPLE_TOL = 1e-2  # … until P − D is this share of f₀
MAX_STEPS_WITHOUT_PROGRESS = 50  # in P and D: the rest is rounding


class ProximalNewton:
    """Proximal-point steps by Newton's method, for few columns.

    O(n·p + k·p² + p³) operations a step, k the rows near their margin; O(p²) memory.
    """

    name = "newton"
    on_one_thread = False

    def prepare(self, problem: HingeProblem) -> None:
        """Cache q, powers of two that keep the squares of x̂∘q from overflowing."""
        if "q" not in problem.cache:
            rows = problem.weighted_rows
            find = coordinates if rows.sparse else sampled_coordinates
            q = find(rows, False).q
            problem.cache["q"] = np.ones(rows.shape[1] + 1) if q is None else np.append(q, 1.0)

    def solve(self, problem: HingeProblem, progress: HingeProgress, max_iter: int) -> bool:
        self.prepare(problem)
        q = problem.cache["q"]
        theta, sigma = progress.theta, problem.sigma
        if not theta.any():
            start_from_sample = self._solve_sample(problem)
            if start_from_sample is not None:
                theta, sigma = start_from_sample
        margins = _margins(problem, theta, progress.alpha, sigma, theta is not progress.theta)
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused
            return _proximal_steps(problem, progress, q, theta / q, margins, sigma, max_iter)

    def _solve_sample(self, problem: HingeProblem) -> tuple[np.ndarray, float] | None:
        n, p = problem.rows.shape
        rows, per_column = MIN_SAMPLED_ROWS
        if n < max(rows, per_column * p):
            return None
        count = n // SAMPLE_DIVISOR
        if problem.rows.streamed:
            count = min(count, MAX_STREAMED_SAMPLE_ELEMENTS // p)
        X, y, u = problem.sample(count)
        u = u * (n / len(u))
        X = Rows(X, threads=problem.rows.threads)
        sampled = HingeProblem(X, y, u, problem.c)
        progress = HingeProgress(sampled, SAMPLE_TOL * sampled.null_objective, self.name)
        if not min(u[y > 0].sum(), u[y < 0].sum()) > 0 or not self.solve(sampled, progress, 100):
            return None
        return progress.theta, sampled.sigma


def _margins(
    problem: HingeProblem, theta: np.ndarray, alpha: Any, sigma: float, from_sample: bool
) -> StoredMargins | StreamedMargins:
    """Return the margins at θ; from a sample's θ the kink is centred at its margin, else at α."""
    if isinstance(alpha, DualSteps):
        if from_sample:
            alpha = DualSteps.at_half(len(theta)).after(sigma, theta)
        return StreamedMargins(problem, theta, alpha)
    if from_sample:
        m = problem.y * problem.scores(theta)
        return StoredMargins(problem, theta, np.clip(0.5 + sigma * (1 - m), 0.0, 1.0))
    a = np.divide(alpha, problem.u, out=np.zeros_like(problem.u), where=problem.u > 0)
    return StoredMargins(problem, theta, a)


def _proximal_steps(
    problem: HingeProblem, progress: HingeProgress, q: np.ndarray, x: np.ndarray,
    margins: StoredMargins | StreamedMargins, sigma: float, max_iter: int,
) -> bool:  # fmt: skip
    """Make proximal steps from ``margins`` at x, and return whether the goal was reached.

    θ = q∘x, so that x̂ᵀθ = (x̂∘q)ᵀx and the penalty is ½Σq²x².
    """
    ridge = q**2
    least, since = np.inf, progress.iteration
    while True:
        loss, total, v = margins.evaluate(sigma, q)
        theta = q * x
        P, D = loss + float(theta @ theta / 2), total - float(v @ v / 2)
        if not (np.isfinite(P) and np.isfinite(v).all()):  # D may be −∞, which is a valid bound
            raise NonFiniteError
        problem.sigma = sigma
        if progress.update(P, theta, D, margins.dual_point):
            return progress.excess <= progress.goal
        g = theta - v
        if (
            np.isfinite(D) and g @ g / 2 <= INNER_TOL * (P - D)
        ) or progress.excess <= 4e-16 * progress.P:
            if sigma >= MAX_SIGMA:
                return False
            margins.accept()
            sigma *= SIGMA_GROWTH
            margins.place(theta)  # computed again: updates accumulate rounding
            continue
        least, since = (
            (progress.excess, progress.iteration) if progress.excess < least else (least, since)
        )
        if (
            progress.iteration >= max_iter
            or progress.iteration - since > MAX_STEPS_WITHOUT_PROGRESS
        ):
            return False
        d = -margins.solve(sigma, q, ridge, q * g)
        t = margins.length(sigma, q * d, float(d @ (ridge * x)), float(d @ (ridge * d)))
        progress.iteration += 1
        if t == 0:  # any decrease is below rounding
            if sigma >= MAX_SIGMA:
                return False
            margins.accept()
            sigma *= SIGMA_GROWTH
            continue
        x = x + t * d
        margins.move(t)
