r"""The ascent of Yang, Wang and Zuo (2012), on w.

    w ← w + α ∂F/∂w,    ∂F/∂w_l = 2w_l ∂F/∂W_l;        α ← 1.01 α after F rose, 0.4 α after it fell

until F changes by less than ``tol`` times Σa. A step is taken whether F rises by it or not.
"""

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore
from .fit import Fit
from .problem import Problem

RISE, FALL = 1.01, 0.4


def yang(
    problem: Problem,
    W: np.ndarray,
    *,
    step: float = 0.01,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> Fit:
    """From w = √W; ``step`` is the first α. One evaluation an iteration."""
    w, last, fell, converged = np.sqrt(np.asarray(W, dtype=float)), -np.inf, 0.0, False
    scale, n_iter, evaluations = float(problem.a.sum()) or 1.0, 0, 0
    while True:
        value = problem.value_and_slope(w * w)
        evaluations += 1
        stop = on_step(Step(n_iter, value.F, None, constant_parameters(w * w)))
        if np.isfinite(last):
            fell = max(fell, (last - value.F) / scale)
        converged = abs(value.F - last) < tol * scale
        if converged or stop or n_iter == max_iter:
            break
        if n_iter:
            step *= RISE if last < value.F else FALL
        last = value.F
        w = w + step * 2 * w * value.slope
        n_iter += 1
    W = w * w
    if problem.scale_free and W.sum() > 0:
        W *= problem.shape[1] / W.sum()
        value = problem.value_and_slope(W)
        evaluations += 1
    return Fit(W, value.F, value.slope, value.q, n_iter, evaluations, bool(converged), fell)
