"""Composite problems that a sequence of penalised squares solves faster than gradients do.

Nonnegative least squares: the active-set method, once. What is left is rounding.

Huber's loss far beyond δ is nearly |r|, whose gradient says nothing of how far the optimum is. It
lies below a weighted square that touches it at the present residuals,

    ℓ(r) ≤ ½ω r² + constant,   ω = min(1, δ/|r_now|)

so that minimising Σ s ω r²/2 + pen(w) never raises F (iteratively reweighted squares). Less weight
for the rows beyond δ, ω = κδ/|r| with the target z + r/κ that keeps the slope, makes longer steps:
κ → 0 is Newton's method, exact once it is known which rows lie beyond. κ falls while F does, and
rises where F does. The squares are minimised on their p×p sums.
When that no longer helps, plain proximal gradient goes on.
"""

from typing import Any

import numpy as np

from ...data.csr import Block
from ...penalties import Penalty
from ..first_order.proximal_gradient import (
    ProximalGradient,
    evaluate_loss,
    initial_state,
    larger_bound,
)
from ..least_squares.least_squares import solve
from ..linalg.gram import Gram, NonFiniteError, gram
from ..loop import State
from ..problem import Problem

ACTIVE_SET_ELEMENTS = 1 << 24  # of rows × columns, or of columns², that the active set works on
REWEIGHTED_COLUMNS = 400  # up to which p×p sums each step are cheap
FAR_BEYOND = 4.0  # times δ² that the mean loss is, where reweighting pays
INNER_STEPS = 300
UNBALANCED = 10.0  # times that one residual may exceed the other before ρ changes
LEAST_KAPPA, SMALLER, GREATER = 1e-6, 0.25, 8.0
INNER_ACCURACY = 1e-12  # of w: residuals that are smaller end it
NO_GAIN = 1e-13  # of F


class NonNegativeSquares(ProximalGradient):
    """Squared loss and w ≥ 0, with an L2 penalty or without."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "active set"

    @staticmethod
    def fits(problem: Problem) -> bool:
        n, p = problem.rows.shape
        plain = problem.loss.name == "squared" and problem.positive and problem.l1 == 0
        small = (n * p if n <= p else p * p) <= ACTIVE_SET_ELEMENTS
        return bool(plain and small and (not problem.rows.sparse or n * p <= ACTIVE_SET_ELEMENTS))

    def begin(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        rows = problem.rows.dense()
        try:
            found = solve(rows, problem.fit_intercept, problem.l2, positive=True)
        except (NonFiniteError, RuntimeError):  # squares overflow; or the active set cycles
            return problem.null_w, problem.null[0]
        return found.w, found.b if problem.fit_intercept else np.zeros(1)


class ReweightedSquares(ProximalGradient):
    """Huber's loss, of targets that lie far beyond δ, and any convex penalty that has a prox."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "reweighted squares"

    @staticmethod
    def fits(problem: Problem) -> bool:
        if problem.loss.name != "huber" or not getattr(problem.penalty, "convex", True):
            return False
        far = FAR_BEYOND * _delta(problem) ** 2 * problem.rows.S
        return problem.rows.shape[1] <= REWEIGHTED_COLUMNS and problem.null[1] > far

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        state = super().init(problem, w, b)
        problem.cache["kappa"] = 1.0
        return state

    def step(self, problem: Problem, state: State) -> State:
        while problem.cache["kappa"] <= 1:
            kappa = problem.cache["kappa"]
            new = self._reweighted(problem, state, kappa)
            if new is not None and state.objective - new.objective > NO_GAIN * state.objective:
                problem.cache["kappa"] = max(kappa * SMALLER, LEAST_KAPPA)
                return new
            # κ = 1 cannot raise F: then rounding is all that is left
            problem.cache["kappa"] = min(kappa * GREATER, 1.0) if kappa < 1 else 2.0
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
        w = penalised_squares(sums, problem.penalty, state.w)
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
        new.solver_state = state.solver_state._replace(
            now=now, before=now, momentum=1.0, bound=new.bound
        )
        return new


def _delta(problem: Problem) -> float:
    loss: Any = problem.loss  # Huber's
    return float(loss.delta)


def _scores(X: Block, _y: np.ndarray, _s: object, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b


def penalised_squares(sums: Gram, penalty: Penalty, w: np.ndarray) -> np.ndarray:
    """argmin ½wᵀGw − wᵀc + pen(w), from w, by alternating directions (ADMM, Boyd et al. 2011):

        w = (G + ρI)⁻¹(c + ρ(z − u)),   z = prox_{pen/ρ}(w + u),   u ← u + w − z

    in the eigenvectors of G, so that ρ may follow the residuals; G is far from the identity where
    few rows lie within δ, which gradients do not get over.
    """
    lam, V = np.linalg.eigh(sums.G)
    if not lam[-1] > 0:
        return w
    lam, c = np.maximum(lam, 0.0)[:, None], V.T @ sums.Xy
    rho = float(np.sqrt(lam[-1, 0] * max(lam[0, 0], 1e-12 * lam[-1, 0])))
    z, u = w, np.zeros_like(w)
    for _ in range(INNER_STEPS):
        v = V @ ((c + rho * (V.T @ (z - u))) / (lam + rho))
        before, z = z, penalty.prox(v + u, 1 / rho)
        u = u + v - z
        primal, dual = np.linalg.norm(v - z), np.linalg.norm(z - before)
        if max(primal, dual) <= INNER_ACCURACY * float(np.linalg.norm(z)):
            break
        if primal > UNBALANCED * dual:
            rho, u = 2 * rho, u / 2
        elif dual > UNBALANCED * primal:
            rho, u = rho / 2, 2 * u
    return z
