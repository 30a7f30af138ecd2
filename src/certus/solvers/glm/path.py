"""The regularisation path of a logistic model, from the strongest penalty to the weakest.

    F_C(w, b)/C = Σ_i s_i c_{y_i} ℓ(y_i, x_iᵀw + b) + (l‖w‖₁ + (1−l)/2‖w‖²)/C

In this form rows and weights are the same for every C, so that what a solver computed from X serves
the whole path, and each fit starts from the previous one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...penalties import ElasticNet
from ..problem import Problem
from .dispatch import choose, solve

# Excess of a fit relative to f₀. Scores on left-out rows move with its root: log losses were 6e-5
# from those of exact fits at 1e-6 and 6e-8 at 1e-10, which cost a fifth more steps
PATH_TOL = 1e-10
ABSENT_CLASS_LOG_ODDS = 800.0  # of the only class against one without rows: exp(−800) is 0


class Path(NamedTuple):
    """Fits of a path."""

    w: np.ndarray  # (A, p, K), in the order of Cs
    b: np.ndarray  # (A, K)
    n_iter: np.ndarray  # (A,)


def path(
    problem: Problem,
    Cs: np.ndarray,
    l1_ratio: float,
    solver: str,
    max_iter: int,
    on_fit: Callable[[int, np.ndarray, np.ndarray], None],
) -> Path:
    """Fit the problem for every C.

    ``problem``: the problem with C = 1; its penalty is ignored. ``on_fit``: called after each C,
    with its index, w and b.
    """
    p, K = problem.rows.shape[1], problem.outputs
    w, b, n_iter = np.zeros((len(Cs), p, K)), np.zeros((len(Cs), K)), np.zeros(len(Cs), np.int32)
    only = _only_class(problem)
    start = None
    for a in np.argsort(Cs, kind="stable"):
        if only is not None:
            b[a] = only * ABSENT_CLASS_LOG_ODDS
        else:
            problem_at_C = replace(problem, penalty=ElasticNet(1 / Cs[a], l1_ratio))
            fit = solve(problem_at_C, choose(problem_at_C, solver), start, PATH_TOL, max_iter)
            w[a], b[a], n_iter[a] = fit.w, fit.b, fit.n_iter
            start = fit.w, fit.b
        on_fit(int(a), w[a], b[a])
    return Path(w, b, n_iter)


def _only_class(problem: Problem) -> float | None:
    """Return ±1 if all weighted rows are of one class and the intercept diverges; else None."""
    y, s = problem.y, problem.rows.s
    present = np.unique(y if s is None else y[s > 0])
    if problem.loss.several or not problem.fit_intercept or len(present) > 1:
        return None
    return float(present[0])
