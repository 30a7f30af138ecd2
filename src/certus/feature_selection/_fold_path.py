"""Fits of a fold's training rows for each λ, from which scores of rows left out are taken."""

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

# Share of λ that slopes in the folds may be off. Scores were those of exact fits in six of seven
# data sets, for 0.6 of the steps; at 1e-2 in one
PATH_TOL = 1e-3
# From n²(P + 16) of so many on, what an evaluation takes, a path is coarse: few λ are tried both
# ways, and fits in which more than FEW_COLUMNS have weight end at COARSE_TOL, in float32. Mean F
# over λ was within 0.005 Σa of both ways at PATH_TOL, in a tenth of the time
LONG_EVALUATION, FEW_COLUMNS, COARSE_TOL = 1e7, 64, 0.1
EXPLORING_STEPS = 20
NEVER_BACK = ("yang",)  # solvers in which a weight of 0 stays 0


def path_tol(model: SolverParameters) -> float | None:
    """What a fit within a path ends at; None: the solver's own tol."""
    return PATH_TOL if aims_at_kkt(model) else None


class FoldPath:
    """Fits of one fold, whose λ is ``share`` times that of all rows.

    ``solve`` fits a task from W up to ``path_tol``; ``done`` hears of each fit.
    """

    def __init__(
        self, model: SolverParameters, fold: Task, share: float,
        solve: Callable[[Task, np.ndarray], NCFSFit], done: Callable[[float, NCFSFit], None],
    ):  # fmt: skip
        self.model, self.fold, self.share, self.solve, self.done = model, fold, share, solve, done

    def fits(self, ones: np.ndarray, alphas: Sequence[float]) -> list[NCFSFit]:
        """One fit for each λ, the strongest first; ``ones``: W to begin with."""
        n, p = self.fold.problem.shape
        if self.model.solver in NEVER_BACK:
            return ascending_path(self._exact, ones, alphas)
        if n * n * (p + COLUMNS_PER_EXPONENTIAL) <= LONG_EVALUATION:
            return two_way_path(self._exact, ones, alphas)
        self.rows = self.fold.in_float32()
        return descending_path(self._coarse_if_many, self._explore, ones, alphas)

    def _heard(self, alpha: float, fit: NCFSFit) -> NCFSFit:
        self.done(alpha, fit)
        return fit

    def _exact(self, alpha: float, W: np.ndarray) -> NCFSFit:
        return self._heard(alpha, self.solve(self.fold.at(alpha * self.share), W))

    def _coarse(self, alpha: float, W: np.ndarray, most: int) -> NCFSFit:
        problem = self.rows.at(alpha * self.share).problem
        return lbfgs(problem, W, max_iter=most, tol=COARSE_TOL)

    def _explore(self, alpha: float, W: np.ndarray) -> NCFSFit:
        most = min(EXPLORING_STEPS, int(self.model.max_iter))
        return self._heard(alpha, self._coarse(alpha, W, most))

    def _coarse_if_many(self, alpha: float, W: np.ndarray) -> NCFSFit:
        """A coarse fit; an exact one where few columns have weight, or there are few."""
        if len(W) > FEW_COLUMNS:
            fit = self._coarse(alpha, W, int(self.model.max_iter))
            if np.count_nonzero(fit.W) > FEW_COLUMNS:
                return self._heard(alpha, fit)
            W = fit.W
        return self._exact(alpha, W)
