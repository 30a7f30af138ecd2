"""Composite problems that penalised least squares solve faster than gradient steps.

Nonnegative least squares: one run of the active-set method, which is exact to rounding.

Huber's loss far beyond δ is nearly |r|, whose gradient does not depend on the distance to the
optimum. It is majorised by a weighted square that touches it at the current residuals,

    ℓ(r) ≤ ½ω r² + constant,   ω = min(1, δ/|r_now|)

so minimising Σ s ω r²/2 + pen(w) never raises F (iteratively reweighted least squares). A smaller
weight for the rows beyond δ, ω = κδ/|r| with the target z + r/κ, which keeps the slope, makes
longer steps: κ → 0 is Newton's method, exact once the set of rows beyond δ is right. κ decreases
while F does, and increases where F would rise. Each least-squares problem is solved from its p×p
sums. When no κ lowers F, proximal gradient takes over.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...penalties import Penalty
from ..first_order.proximal_gradient import (
    ProximalGradient,
    ProximalGradientState,
    evaluate_loss,
    initial_state,
    larger_bound,
)
from ..least_squares.least_squares import solve
from ..linalg.gram import Gram, NonFiniteError, gram
from ..loop import State
from ..problem import Problem

MAX_ACTIVE_SET_ELEMENTS = 1 << 24  # of the matrix that the active-set method factors
MAX_REWEIGHTED_COLUMNS = 400  # up to which p×p sums in every step are cheap
MIN_MEAN_LOSS = 4.0  # mean loss at w = 0, in units of δ², from which reweighting pays
MAX_ADMM_STEPS = 300
MAX_RESIDUAL_RATIO = 10.0  # between the primal and dual residuals before ρ changes
MIN_KAPPA, KAPPA_DECREASE, KAPPA_INCREASE = 1e-6, 0.25, 8.0
ADMM_RTOL = 1e-12  # residuals relative to ‖w‖ that end ADMM
OBJECTIVE_ROUNDING = 1e-13  # relative to F: a smaller decrease is rounding


class NonNegativeSquares(ProximalGradient):
    """Squared loss with w ≥ 0 and an optional L2 penalty."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "active set"

    @staticmethod
    def fits(problem: Problem) -> bool:
        n, p = problem.rows.shape
        plain = problem.loss.name == "squared" and problem.positive and problem.l1 == 0
        small = (n * p if n <= p else p * p) <= MAX_ACTIVE_SET_ELEMENTS
        return bool(
            plain and small and (not problem.rows.sparse or n * p <= MAX_ACTIVE_SET_ELEMENTS)
        )

    def begin(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        rows = problem.rows.dense()
        try:
            solution = solve(rows, problem.fit_intercept, problem.l2, positive=True)
        except (NonFiniteError, RuntimeError):  # squares overflow; or the active set cycles
            return problem.null_w, problem.null[0]
        return solution.w, solution.b if problem.fit_intercept else np.zeros(1)


class ReweightedSquares(ProximalGradient):
    """Huber's loss with residuals far beyond δ, and any convex penalty that has a prox."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "reweighted squares"

    @staticmethod
    def fits(problem: Problem) -> bool:
        if problem.loss.name != "huber" or not getattr(problem.penalty, "convex", True):
            return False
        far = MIN_MEAN_LOSS * _delta(problem) ** 2 * problem.rows.S
        return problem.rows.shape[1] <= MAX_REWEIGHTED_COLUMNS and problem.null[1] > far

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        state = super().init(problem, w, b)
        problem.cache["kappa"] = 1.0
        return state

    def step(self, problem: Problem, state: State) -> State:
        while problem.cache["kappa"] <= 1:
            kappa = problem.cache["kappa"]
            new = self._reweighted(problem, state, kappa)
            if (
                new is not None
                and state.objective - new.objective > OBJECTIVE_ROUNDING * state.objective
            ):
                problem.cache["kappa"] = max(kappa * KAPPA_DECREASE, MIN_KAPPA)
                return new
            # κ = 1 cannot raise F, so no decrease means that only rounding is left
            problem.cache["kappa"] = min(kappa * KAPPA_INCREASE, 1.0) if kappa < 1 else 2.0
        return super().step(problem, state)

    def _reweighted(self, problem: Problem, state: State, kappa: float) -> State | None:
        rows, delta = problem.rows.dense(), _delta(problem)
        z = np.empty((rows.shape[0], 1))
        rows.map(_scores, z, state.w, state.b)
        r = problem.y[:, None] - z
        beyond = np.abs(r) > delta
        weight = np.where(beyond, kappa * delta / np.maximum(np.abs(r), delta), 1.0)[:, 0]
        target = z + np.where(beyond, r / kappa, r)
        weight = weight if rows.s is None else weight * rows.s
        try:
            sums = gram(rows.with_targets(target, weight), problem.fit_intercept)
        except NonFiniteError:
            return None
        if sums.q is not None:
            return None
        w = penalized_squares(sums, problem.penalty, state.w)
        b = sums.mean_y - sums.mean @ w if problem.fit_intercept else np.zeros(1)
        at = state.solver_state.at
        now = evaluate_loss(problem, at, *at.to_internal(w, b))
        if not np.isfinite(now.f):
            return None
        new = initial_state(problem, now, w, b)
        bound = larger_bound(state.bound, new.bound)
        if bound is not None:
            new.bound = min(bound, new.objective)
            new.excess = new.objective - new.bound
        new.passes = (state.passes or 0.0) + 3
        current: ProximalGradientState = state.solver_state
        new.solver_state = current._replace(point=now, previous=now, momentum=1.0, bound=new.bound)
        return new


def _delta(problem: Problem) -> float:
    loss: Any = problem.loss  # Huber's
    return float(loss.delta)


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b


def penalized_squares(sums: Gram, penalty: Penalty, w: np.ndarray) -> np.ndarray:
    """argmin ½wᵀGw − wᵀc + pen(w), started at w, by ADMM (Boyd et al. 2011):

        w = (G + ρI)⁻¹(c + ρ(z − u)),   z = prox_{pen/ρ}(w + u),   u ← u + w − z

    in the eigenvectors of G, so that ρ can be adapted cheaply. Proximal gradient steps would be
    slow: G is ill conditioned where few rows are within δ.
    """
    lam, V = np.linalg.eigh(sums.G)
    if not lam[-1] > 0:
        return w
    lam, c = np.maximum(lam, 0.0)[:, None], V.T @ sums.Xy
    rho = float(np.sqrt(lam[-1, 0] * max(lam[0, 0], 1e-12 * lam[-1, 0])))
    z, u = w, np.zeros_like(w)
    for _ in range(MAX_ADMM_STEPS):
        v = V @ ((c + rho * (V.T @ (z - u))) / (lam + rho))
        before, z = z, penalty.prox(v + u, 1 / rho)
        u = u + v - z
        primal, dual = np.linalg.norm(v - z), np.linalg.norm(z - before)
        if max(primal, dual) <= ADMM_RTOL * float(np.linalg.norm(z)):
            break
        if primal > MAX_RESIDUAL_RATIO * dual:
            rho, u = 2 * rho, u / 2
        elif dual > MAX_RESIDUAL_RATIO * primal:
            rho, u = rho / 2, 2 * u
    return z
