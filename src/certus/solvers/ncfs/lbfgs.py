r"""L-BFGS on W ≥ 0, on the columns that matter.

    max F(W),  W ≥ 0            at a maximum ∂F/∂W_l = 0 where W_l > 0, ∂F/∂W_l ≤ 0 where W_l = 0

Columns whose weight has come to 0 with ∂F/∂W < 0 are left out of all distances. When the others
have converged, the slope of all columns confirms it, or those with ∂F/∂W > 0 come back. With L2, F
has kinks at W_l = 0 that outweigh its slope: see ``Problem.kinks``.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..steps import OnStep, Step, ignore
from .fit import Fit, always, violation
from .problem import Problem, Value

FIRST, MORE = 2, 3  # iterations before columns are left out for the first time; then times so many
FEWER = 0.7  # of the columns: only if no more are left a new problem is worth its copy
MEMORY = 10
ROUNDS = 100
HALVES = 30  # of a weight that is tried


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
    W = np.array(W, dtype=float)
    value = problem.value_and_slope(W)
    run = _Run(problem, W, value, tol * problem.size_of_slopes(), max_iter, on_step)
    allowed = FIRST
    for _ in range(ROUNDS):
        full = run.value
        kinks = run.kinks()
        able = kinks >= -run.tol  # a weight that leaves 0 there would cost more than slopes tell
        settled = np.where(able, violation(run.W, full.slope), 0.0).max() <= run.tol
        run.converged = bool(settled and kinks.max() <= run.tol)
        if run.converged or run.left <= 0 or run.stopped:
            break
        if settled:
            if run.lifted(kinks):
                continue
            break
        free = np.flatnonzero(able & ((run.W > 0) | (full.slope > 0)))
        if len(free) > FEWER * np.count_nonzero(able):
            free = np.flatnonzero(able)
        before, F = run.n_iter, full.F
        run.on(free, min(allowed, run.left))
        allowed *= MORE
        if run.n_iter == before and run.value.F <= F and not run.without_tiny_weights():
            break  # rounding
    if problem.scale_free:
        run.W *= problem.shape[1] / (run.W.sum() or 1.0)
        run.value = problem.value_and_slope(run.W)
        run.evaluations += 1
    best = run.value
    return Fit(
        run.W, best.F, best.slope, best.q, run.n_iter, run.evaluations, run.converged, run.fell
    )


class _Run:
    """A fit under way."""

    def __init__(
        self, problem: Problem, W: np.ndarray, value: Value, tol: float, max_iter: int,
        on_step: OnStep,
    ):  # fmt: skip
        self.problem, self.W, self.value, self.tol = problem, W, value, tol
        self.left, self.on_step, self.stopped, self.converged = max_iter, on_step, False, False
        self.n_iter, self.evaluations, self.fell, self.last = 0, 1, 0.0, value.F
        self._tell(value.F, always(W))

    def _tell(self, F: float, parameters: Any) -> None:
        self.stopped = bool(self.on_step(Step(self.n_iter, F, None, parameters))) or self.stopped

    def on(self, free: np.ndarray, most: int) -> None:
        """At most so many iterations with these columns; then all columns are looked at."""
        whole = len(free) == self.problem.shape[1]
        part = self.problem if whole else self.problem.restricted(free)
        seen: dict[str, Any] = {}

        def minus(w: np.ndarray) -> tuple[float, np.ndarray]:
            value = part.value_and_slope(w)
            self.evaluations += 1
            seen["W"], seen["value"] = w.copy(), value
            return -value.F, -value.slope

        def spread(w: np.ndarray) -> np.ndarray:
            W = np.zeros(self.problem.shape[1])
            W[free] = w
            return W

        def callback(intermediate_result: Any) -> None:
            F, w = -float(intermediate_result.fun), intermediate_result.x.copy()
            self.n_iter += 1
            self.left -= 1
            scale = float(self.problem.a.sum()) or 1.0
            self.fell = max(self.fell, (self.last - F) / scale)
            self.last = F
            self._tell(F, always(spread(w)))
            if self.stopped or self.left <= 0:
                raise StopIteration

        found = minimize(
            minus, self.W[free], jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(free),
            callback=callback,
            options={
                "maxiter": most, "maxcor": MEMORY, "gtol": self.tol, "ftol": 0.0,
                "maxfun": 20 * most,
            },
        )  # fmt: skip
        self.W = spread(found.x)
        if whole and np.array_equal(seen["W"], found.x):
            self.value = seen["value"]
        else:
            self.value = self.problem.value_and_slope(self.W)
            self.evaluations += 1

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
