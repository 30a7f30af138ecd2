"""Regularisation path of a fold's training rows, for cross-validation scores."""

from collections.abc import Callable, Sequence

import numpy as np

from ..solvers.ncfs import (
    COLUMNS_PER_EXPONENTIAL,
    NCFSFit,
    ascending_path,
    descending_path,
    lbfgs,
    two_way_path,
)
from ._task import SolverParameters, Task, aims_at_kkt

# tol of fits in the folds, relative to λ. Scores equalled those of exact fits in six of seven data
# sets, with 0.6 times the steps; at 1e-2 in one
PATH_TOL = 1e-3
# If n²(P + 16), the cost of an evaluation, exceeds MAX_EXACT_WORK, a path is coarse: few λ are
# fitted in both directions, and fits with more than MAX_EXACT_COLUMNS nonzero weights end at
# COARSE_TOL, in float32. Mean F over λ was within 0.005 Σa of exact paths, in a tenth of the time
MAX_EXACT_WORK, MAX_EXACT_COLUMNS, COARSE_TOL = 1e7, 64, 0.1
EXPLORATION_STEPS = 20
ZERO_IS_ABSORBING = ("yang",)  # solvers that keep a weight of 0 at 0


def path_tol(model: SolverParameters) -> float | None:
    """Tolerance of a fit within a path; None for the solver's own."""
    return PATH_TOL if aims_at_kkt(model) else None


class FoldPath:
    """Path of one fold, whose λ is ``share`` times that of all rows.

    ``solve`` fits a task from W up to ``path_tol``; ``on_fit`` is called with λ and each fit.
    """

    def __init__(
        self, model: SolverParameters, fold: Task, share: float,
        solve: Callable[[Task, np.ndarray], NCFSFit], on_fit: Callable[[float, NCFSFit], None],
    ):  # fmt: skip
        self.model, self.fold, self.share = model, fold, share
        self.solve, self.on_fit = solve, on_fit

    def fits(self, ones: np.ndarray, alphas: Sequence[float]) -> list[NCFSFit]:
        """Fit each λ, the strongest first; ``ones`` are the starting weights."""
        n, p = self.fold.problem.shape
        if self.model.solver in ZERO_IS_ABSORBING:
            return ascending_path(self._exact, ones, alphas)
        if n * n * (p + COLUMNS_PER_EXPONENTIAL) <= MAX_EXACT_WORK:
            return two_way_path(self._exact, ones, alphas)
        self.rows = self.fold.in_float32()
        return descending_path(self._coarse_if_many, self._explore, ones, alphas)

    def _report(self, alpha: float, fit: NCFSFit) -> NCFSFit:
        self.on_fit(alpha, fit)
        return fit

    def _exact(self, alpha: float, W: np.ndarray) -> NCFSFit:
        return self._report(alpha, self.solve(self.fold.at(alpha * self.share), W))

    def _coarse(self, alpha: float, W: np.ndarray, max_iter: int) -> NCFSFit:
        problem = self.rows.at(alpha * self.share).problem
        return lbfgs(problem, W, max_iter=max_iter, tol=COARSE_TOL)

    def _explore(self, alpha: float, W: np.ndarray) -> NCFSFit:
        max_iter = min(EXPLORATION_STEPS, int(self.model.max_iter))
        return self._report(alpha, self._coarse(alpha, W, max_iter))

    def _coarse_if_many(self, alpha: float, W: np.ndarray) -> NCFSFit:
        """Return a coarse fit, or an exact one if few columns have weight."""
        if len(W) > MAX_EXACT_COLUMNS:
            fit = self._coarse(alpha, W, int(self.model.max_iter))
            if np.count_nonzero(fit.W) > MAX_EXACT_COLUMNS:
                return self._report(alpha, fit)
            W = fit.W
        return self._exact(alpha, W)
