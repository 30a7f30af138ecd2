r"""L-BFGS on W ≥ 0, on the columns that matter.

    max F(W),  W ≥ 0            at a maximum ∂F/∂W_l = 0 where W_l > 0, ∂F/∂W_l ≤ 0 where W_l = 0

Columns whose weight has come to 0 with ∂F/∂W < 0 are left out of all distances. When the others
have converged, the slope of all columns confirms it, or those with ∂F/∂W > 0 come back. With L2, F
has kinks at W_l = 0 that outweigh its slope: see ``Problem.kinks``.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore
from .fit import Fit, violation
from .lbfgs_run import CUTS, Walk, stride, walk
from .newton import MOST_COLUMNS, newton
from .problem import Problem, Value

MANY, STRIDES = 500, 4  # columns, from which on SciPy takes longer to begin than an evaluation does
ROUNDS = 100
HALVES = 30  # of a weight that is tried
ROUGH = 30  # iterations at a time, where F may turn within little


def lbfgs(
    problem: Problem,
    W: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> Fit:
    """From W until KKT holds up to ``tol`` (times ``problem.size_of_slopes()``).

    An iteration takes about one evaluation: O(n²·P) operations with P the columns that are left.
    """
    run = _Run(problem, np.array(W, dtype=float), tol, max_iter, on_step)
    for _ in range(ROUNDS):
        full, kinks = run.value, run.kinks()
        able = kinks >= -run.tol  # a weight that leaves 0 there would cost more than slopes tell
        settled = np.where(able, violation(run.W, full.slope), 0.0).max() <= run.tol
        run.converged = bool(settled and kinks.max() <= run.tol)
        if run.converged or run.left <= 0 or run.stopped:
            break
        if settled:
            if run.lifted(kinks):
                continue
            break
        before = run.n_iter
        free = np.flatnonzero(able & ((run.W > 0) | (full.slope > 0)))
        rough = problem.metric == "euclidean"
        if rough and before > 0 and len(free) <= MOST_COLUMNS:
            run.climb(free, newton)
        else:
            run.climb(free, most=ROUGH if rough else None)
        if run.n_iter > before or run.value.F > full.F or run.without_tiny_weights():
            continue
        # L-BFGS-B compares values of F, whose rounding hides the last of the way; slopes show it
        if len(free) <= MOST_COLUMNS:
            run.climb(free, newton)
        if run.n_iter == before:
            break
    if problem.scale_free:
        run.W *= problem.shape[1] / (run.W.sum() or 1.0)
        run.look()
    best = run.value
    return Fit(
        run.W, best.F, best.slope, best.q, run.n_iter, run.evaluations, run.converged, run.fell
    )


class _Run:
    """A fit under way: W, and F with its slope there."""

    value: Value

    def __init__(self, problem: Problem, W: np.ndarray, tol: float, max_iter: int, on_step: OnStep):
        self.problem, self.W, self.tol = problem, W, tol * problem.size_of_slopes()
        self.left, self.on_step, self.stopped, self.converged = max_iter, on_step, False, False
        self.n_iter, self.evaluations, self.fell = 0, 0, 0.0
        self.look()
        self.last = self.value.F
        self._tell(self.last, constant_parameters(W))

    def look(self) -> None:
        """At all columns."""
        self.value = self.problem.value_and_slope(self.W)
        self.evaluations += 1

    def _tell(self, F: float, parameters: Callable[[], np.ndarray]) -> None:
        self.stopped = bool(self.on_step(Step(self.n_iter, F, None, parameters))) or self.stopped

    def climb(self, free: np.ndarray, walk: Walk = walk, most: int | None = None) -> None:
        """With these columns, and fewer and fewer of them, until KKT holds; then look at all."""
        F, slope, going_on, strides = self.value.F, self.value.slope[free], True, STRIDES
        end = 0 if most is None else max(0, self.left - most)
        while going_on and len(free):
            whole = len(free) == self.problem.shape[1]
            part = self.problem if whole else self.problem.restricted(free)
            heard, leg = partial(self._heard, free), None
            if len(free) > MANY and strides:
                strides -= 1
                leg = stride(part, self.W[free], F, slope, heard)
                self.evaluations += CUTS * (leg is None)
            if leg is None:
                leg = walk(part, self.W[free], F, slope, self.tol, self.left - end, heard)
            self.W, F = self._spread(free, leg.W), leg.F
            self.evaluations += leg.evaluations
            counts = (leg.W > 0) | (leg.slope > 0)
            free, slope = free[counts], leg.slope[counts]
            going_on = leg.shrunk and self.left > end and not self.stopped
        self.look()

    def _heard(self, free: np.ndarray, F: float, w: np.ndarray) -> bool:
        self.n_iter += 1
        self.left -= 1
        self.fell = max(self.fell, (self.last - F) / (float(self.problem.a.sum()) or 1.0))
        self.last = F
        self._tell(F, constant_parameters(self._spread(free, w)))
        return self.stopped or self.left <= 0

    def _spread(self, free: np.ndarray, w: np.ndarray) -> np.ndarray:
        W = np.zeros(self.problem.shape[1])
        W[free] = w
        return W

    def kinks(self) -> np.ndarray:
        """(P,): F changes by so much times √W_l if W_l leaves 0."""
        kinks = self.problem.kinks(self.W)
        if kinks is None:
            return np.zeros(len(self.W))
        self.evaluations += 1
        return np.where(self.W > 0, 0.0, kinks)

    def lifted(self, kinks: np.ndarray) -> bool:
        """A weight from 0 to where F is larger, whatever the slope says."""
        l = int(kinks.argmax())
        W, w = self.W.copy(), kinks[l] / (2 * max(-self.value.slope[l], self.tol))
        for _ in range(HALVES):
            W[l] = w * w
            value = self.problem.value_and_slope(W)
            self.evaluations += 1
            if value.F > self.value.F:
                self.W, self.value = W, value
                return True
            w /= 2
        return False

    def without_tiny_weights(self) -> bool:
        """Weights that L-BFGS-B leaves within ``tol`` of their bound, against the slope, to 0.

        False: there are none, or F would fall.
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
