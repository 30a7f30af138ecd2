r"""Averaging over partitions of the rows: each part is a problem of its own.

    W = (1/m) Σ_k argmax F_k(W)

O(n²·P/m) operations for one evaluation of all m parts.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...data.types import Seed
from ..progress import OnStep, Step, always, ignore
from .fit import Fit
from .lbfgs import lbfgs
from .problem import Problem


def average(
    problem: Problem,
    W: np.ndarray,
    *,
    n_partitions: int = 10,
    random_state: Seed = None,
    solver: Any = lbfgs,
    on_step: OnStep = ignore,
    **how: Any,
) -> Fit:
    """Rows are drawn into parts; of classes, each part has its share. ``how``: for the solver."""
    rng = check_random_state(random_state)
    parts = [rows for rows in _parts(problem, n_partitions, rng) if problem.a[rows].any()]
    total = np.zeros(problem.shape[1])
    done, n_iter, evaluations, converged = 0, 0, 0, True
    for rows in parts:
        fit = solver(problem.take(rows), W, **how)
        total += fit.W
        done += 1
        n_iter, evaluations = max(n_iter, fit.n_iter), evaluations + fit.n_evaluations
        converged = converged and fit.converged
        if on_step(Step(done, fit.objective, None, always(total / done))):
            converged = False
            break
    W = total / done
    value = problem.value_and_slope(W)
    return Fit(W, value.F, value.slope, value.q, n_iter, evaluations + 1, converged, 0.0)


def _parts(problem: Problem, m: int, rng: Any) -> list[np.ndarray]:
    order = rng.permutation(problem.shape[0])
    codes = getattr(problem.G, "codes", None)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    return [np.sort(order[k::m]) for k in range(m)]
