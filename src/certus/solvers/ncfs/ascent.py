r"""Gradient ascent of Yang, Wang and Zuo (2012) on w = √W.

    w ← w + α ∂F/∂w,    ∂F/∂w_l = 2w_l ∂F/∂W_l;        α ← 1.01 α after F rose, 0.4 α after it fell

until F changes by less than ``tol`` times Σa. Every step is accepted, whether F rises or not.
"""

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore
from .fit import NCFSFit
from .objective import NCFSObjective

STEP_GROWTH, STEP_SHRINKAGE = 1.01, 0.4  # as in the paper


def yang(
    problem: NCFSObjective,
    W: np.ndarray,
    *,
    step: float = 0.01,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> NCFSFit:
    """Ascend from w = √W; ``step`` is the first α. Each iteration takes one evaluation."""
    w, previous, largest_decrease, converged = (
        np.sqrt(np.asarray(W, dtype=float)),
        -np.inf,
        0.0,
        False,
    )
    scale, n_iter, evaluations = problem.a_total or 1.0, 0, 0
    while True:
        value = problem.value_and_slope(w * w)
        evaluations += 1
        stop = on_step(Step(n_iter, value.F, None, constant_parameters(w * w)))
        if np.isfinite(previous):
            largest_decrease = max(largest_decrease, (previous - value.F) / scale)
        converged = abs(value.F - previous) < tol * scale
        if converged or stop or n_iter == max_iter:
            break
        if n_iter:
            step *= STEP_GROWTH if previous < value.F else STEP_SHRINKAGE
        previous = value.F
        w = w + step * 2 * w * value.slope
        n_iter += 1
    W = w * w
    if problem.scale_free and W.sum() > 0:
        W *= problem.shape[1] / W.sum()
        value = problem.value_and_slope(W)
        evaluations += 1
    return NCFSFit(
        W, value.F, value.slope, value.q, n_iter, evaluations, bool(converged), largest_decrease
    )
