r"""L-BFGS on W ≥ 0, restricted to the active columns.

    max F(W),  W ≥ 0            at a maximum ∂F/∂W_l = 0 where W_l > 0, ∂F/∂W_l ≤ 0 where W_l = 0

Columns whose weight has reached 0 with ∂F/∂W < 0 are left out of all distances. When the others
have converged, the slope of all columns confirms it, or columns with ∂F/∂W > 0 are added again.
With L2, F has kinks at W_l = 0 that outweigh its slope: see ``NCFSProblem.kinks``.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore
from .fit import NCFSFit, violation
from .lbfgs_run import MAX_STEP_REDUCTIONS, RunFunction, gradient_step, run_lbfgs
from .newton import MAX_NEWTON_COLUMNS, newton
from .objective import NCFSObjective
from .problem import NCFSEvaluation

# with so many columns, starting SciPy's L-BFGS-B takes longer than an evaluation
MIN_GRADIENT_STEP_COLUMNS, MAX_GRADIENT_STEPS = 500, 4
MAX_ROUNDS = 100
MAX_HALVINGS = 30  # of the first weight tried for a column at 0
KINKED_RUN_ITERATIONS = 30  # of one run where F has kinks and may turn over a short distance


def lbfgs(
    problem: NCFSObjective,
    W: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> NCFSFit:
    """Maximise F from W until KKT holds up to ``tol`` (times ``problem.slope_scale()``).

    An iteration takes about one evaluation: O(n²·P) operations with P active columns.
    """
    state = _LBFGSState(problem, np.array(W, dtype=float), tol, max_iter, on_step)
    for _ in range(MAX_ROUNDS):
        evaluation, kinks = state.value, state.kinks()
        free_to_move = kinks >= -state.tol  # elsewhere a kink holds W_l at 0 against the slope
        violations = np.where(free_to_move, violation(state.W, evaluation.slope), 0.0)
        settled = violations.max() <= state.tol
        state.converged = bool(settled and kinks.max() <= state.tol)
        if state.converged or state.remaining <= 0 or state.stopped:
            break
        if settled:
            if state.lift_from_zero(kinks):
                continue
            break
        before = state.n_iter
        free = np.flatnonzero(free_to_move & ((state.W > 0) | (evaluation.slope > 0)))
        has_kinks = problem.metric == "euclidean"
        if has_kinks and before > 0 and len(free) <= MAX_NEWTON_COLUMNS:
            state.maximize_over(free, newton)
        else:
            state.maximize_over(free, max_iter=KINKED_RUN_ITERATIONS if has_kinks else None)
        if state.n_iter > before or state.value.F > evaluation.F or state.drop_tiny_weights():
            continue
        # L-BFGS-B compares values of F, whose rounding hides the last steps; slopes do not
        if len(free) <= MAX_NEWTON_COLUMNS:
            state.maximize_over(free, newton)
        if state.n_iter == before:
            break
    if problem.scale_free:
        state.W *= problem.shape[1] / (state.W.sum() or 1.0)
        state.evaluate()
    best = state.value
    return NCFSFit(
        state.W, best.F, best.slope, best.q, state.n_iter, state.evaluations, state.converged,
        state.largest_decrease,
    )  # fmt: skip


class _LBFGSState:
    """State of the solver: W, and F with its slope there."""

    value: NCFSEvaluation

    def __init__(
        self, problem: NCFSObjective, W: np.ndarray, tol: float, max_iter: int, on_step: OnStep
    ):
        self.problem, self.W, self.tol = problem, W, tol * problem.slope_scale()
        self.remaining, self.on_step, self.stopped, self.converged = max_iter, on_step, False, False
        self.n_iter, self.evaluations, self.largest_decrease = 0, 0, 0.0
        self.evaluate()
        self.last = self.value.F
        self._report(self.last, constant_parameters(W))

    def evaluate(self) -> None:
        """Compute F and its slope in all columns."""
        self.value = self.problem.value_and_slope(self.W)
        self.evaluations += 1

    def _report(self, F: float, parameters: Callable[[], np.ndarray]) -> None:
        self.stopped = bool(self.on_step(Step(self.n_iter, F, None, parameters))) or self.stopped

    def maximize_over(
        self, free: np.ndarray, run: RunFunction = run_lbfgs, max_iter: int | None = None
    ) -> None:
        """Maximise over these columns, and ever fewer of them, until KKT holds; then evaluate."""
        F, slope = self.value.F, self.value.slope[free]
        shrinking, gradient_steps = True, MAX_GRADIENT_STEPS
        end = 0 if max_iter is None else max(0, self.remaining - max_iter)
        while shrinking and len(free):
            is_full = len(free) == self.problem.shape[1]
            part = self.problem if is_full else self.problem.restricted(free)
            on_iteration, result = partial(self._on_iteration, free), None
            if len(free) > MIN_GRADIENT_STEP_COLUMNS and gradient_steps:
                gradient_steps -= 1
                result = gradient_step(part, self.W[free], F, slope, on_iteration)
                self.evaluations += MAX_STEP_REDUCTIONS * (result is None)
            if result is None:
                iterations = self.remaining - end
                result = run(part, self.W[free], F, slope, self.tol, iterations, on_iteration)
            self.W, F = self._expand(free, result.W), result.F
            self.evaluations += result.evaluations
            active = (result.W > 0) | (result.slope > 0)
            free, slope = free[active], result.slope[active]
            shrinking = result.shrunk and self.remaining > end and not self.stopped
        self.evaluate()

    def _on_iteration(self, free: np.ndarray, F: float, w: np.ndarray) -> bool:
        self.n_iter += 1
        self.remaining -= 1
        decrease = (self.last - F) / (self.problem.a_total or 1.0)
        self.largest_decrease = max(self.largest_decrease, decrease)
        self.last = F
        self._report(F, constant_parameters(self._expand(free, w)))
        return self.stopped or self.remaining <= 0

    def _expand(self, free: np.ndarray, w: np.ndarray) -> np.ndarray:
        W = np.zeros(self.problem.shape[1])
        W[free] = w
        return W

    def kinks(self) -> np.ndarray:
        """Slopes of F in √W_l at W_l = 0, (P,); 0 where W_l > 0 or F is smooth."""
        kinks = self.problem.kinks(self.W)
        if kinks is None:
            return np.zeros(len(self.W))
        self.evaluations += 1
        return np.where(self.W > 0, 0.0, kinks)

    def lift_from_zero(self, kinks: np.ndarray) -> bool:
        """Move the weight with the steepest kink from 0 to where F is larger, if it is anywhere."""
        l = int(kinks.argmax())
        W, w = self.W.copy(), kinks[l] / (2 * max(-self.value.slope[l], self.tol))
        for _ in range(MAX_HALVINGS):
            W[l] = w * w
            value = self.problem.value_and_slope(W)
            self.evaluations += 1
            if value.F > self.value.F:
                self.W, self.value = W, value
                return True
            w /= 2
        return False

    def drop_tiny_weights(self) -> bool:
        """Set weights to 0 that L-BFGS-B leaves within ``tol`` of 0 despite a negative slope.

        Return False if there are none, or if F would decrease.
        """
        tiny = (self.W > 0) & (self.tol >= self.W) & (self.value.slope < -self.tol)
        if not tiny.any():
            return False
        W = np.where(tiny, 0.0, self.W)
        value = self.problem.value_and_slope(W)
        self.evaluations += 1
        if value.F < self.value.F:
            return False
        self.W, self.value = W, value
        return True
