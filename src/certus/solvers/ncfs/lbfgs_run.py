r"""A leg of L-BFGS-B on some columns: until KKT holds for them, or few of them have weight; and a
stride, a single step for many of them.

A leg begins with the step slope/L, L = λ, cut off at 0. As ∂F/∂W = (what rows say) − λ, from W = 1
this leads to W = (what rows say)/λ, and to 0 where they say less than nothing. L-BFGS-B first tries
a step of length 1; so W is measured in units in which that step is as long:

    v = W/u,   f = −F/(L u²),   ∂f/∂v = −(∂F/∂W)/(L u),   u = ‖max(slope/L, −W)‖

(Without it, four of the first five evaluations, which are those of all columns, go into making the
step longer.) A stride is that step alone, cut until F rises.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from ...runtime.pool import blas_limiter
from .problem import Problem

FEWER = 0.5  # of the columns: when no more have weight, the others are left out
MEMORY = 10
SEARCHES = 20  # evaluations for an iteration, at most, on average
CUT, CUTS, RISE = (
    0.25,
    6,
    1e-4,
)  # of a stride; what F must rise by, as a share of what its slope says


Heard = Callable[[float, np.ndarray], bool]  # of F and W after an iteration: end here?


class Leg(NamedTuple):
    W: np.ndarray  # of the columns
    F: float
    slope: np.ndarray
    evaluations: int
    shrunk: bool  # did it end because few columns have weight?


Walk = Callable[[Problem, np.ndarray, float, np.ndarray, float, int, Heard], Leg]


def walk(
    part: Problem, W: np.ndarray, F: float, slope: np.ndarray, tol: float, most: int,
    heard: Heard,
) -> Leg:  # fmt: skip
    """From W, where F and its slope are known, at most so many iterations.

    ``heard`` is told F and W after each of them, and ends the leg if it says so.
    """
    L = part.alpha or float(np.abs(slope).max()) or 1.0
    u = float(np.linalg.norm(np.maximum(slope / L, -W))) or 1.0
    known, evaluations, shrunk = [(F, slope)], 0, False

    def f(v: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        if known:  # the start
            F, slope = known.pop()
        else:
            F, slope, _ = part.value_and_slope(v * u)
            evaluations += 1
        return -F / (L * u * u), -slope / (L * u)

    def after_a_step(intermediate_result: OptimizeResult) -> None:
        nonlocal shrunk
        v = intermediate_result.x
        shrunk = bool(np.count_nonzero(v) <= FEWER * len(v))
        if heard(-float(intermediate_result.fun) * (L * u * u), v * u) or shrunk:
            raise StopIteration

    with blas_limiter:  # its products are small: threads of BLAS took as long as all evaluations
        found = minimize(
            f, W / u, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(W),
            callback=after_a_step,
            options={
                "maxiter": most, "maxcor": MEMORY, "gtol": tol / (L * u), "ftol": 0.0,
                "maxfun": SEARCHES * most,
            },
        )  # fmt: skip
    F = -float(found.fun) * (L * u * u)
    return Leg(found.x * u, F, -found.jac * (L * u), evaluations, shrunk)


def stride(
    part: Problem, W: np.ndarray, F: float, slope: np.ndarray,
    heard: Heard,
) -> Leg | None:  # fmt: skip
    """One step. None: F did not rise."""
    t = 1 / (part.alpha or float(np.abs(slope).max()) or 1.0)
    for cut in range(CUTS):
        new = np.maximum(W + t * slope, 0.0)
        value = part.value_and_slope(new)
        rise = value.F - F
        if rise > RISE * float(np.dot(slope, new - W)):
            heard(value.F, new)
            return Leg(new, value.F, value.slope, cut + 1, True)
        t *= CUT
    return None
