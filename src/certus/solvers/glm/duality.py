"""A bound for the least value of F, from the gradient at any point.

With slopes a_i of the losses at the scores z_i, v = Xᵀ(s∘a) and Σ s a = 0 if there is an intercept,

    F* ≥ −Σ s ℓ*(y, ρa) − pen*(−ρv)        for every ρ

At ρ = 1 the first term is f − Σ s a z, which the gradient's sums know already. A penalty whose
conjugate ends somewhere (a norm) needs ρ < 1: there ℓ*(ρa) ≤ ρℓ*(a), for ℓ ≥ 0; squared errors
are known exactly.
"""

from collections.abc import Callable

import numpy as np

from ..problem import Problem

HALVINGS = 50  # of the interval in which the largest ρ lies
NO_SHARE = 1e-9  # of a gradient: its direction itself is outside the conjugate's domain


def dual_bound(problem: Problem, f: float, along: float, g: np.ndarray) -> float | None:
    """``f`` = Σ s ℓ, ``along`` = ⟨v, w⟩ = Σ s a z, ``g`` = v. None: there is no bound here."""
    conjugate = getattr(problem.penalty, "conjugate", None)
    if conjugate is None or not getattr(problem.penalty, "convex", True):
        return None
    most = largest_share(conjugate, -g)
    if most < NO_SHARE:
        return None
    shares = [most]
    if problem.loss.name == "squared" and f > 0:
        shares.append(float(np.clip(1 - along / (2 * f), 0.0, most)))  # the best, if pen* = 0

    def of_losses(share: float) -> float:
        if problem.loss.name == "squared":
            return -share * (along - 2 * f) - share**2 * f
        return -share * (along - f)

    bounds = [of_losses(share) - float(conjugate(-share * g)) for share in shares]
    finite = [bound for bound in bounds if np.isfinite(bound)]
    return max(finite) if finite else None


def largest_share(conjugate: Callable[[np.ndarray], float], v: np.ndarray) -> float:
    """The largest ρ ≤ 1 with a finite pen*(ρv): the domain is convex and holds 0."""
    if np.isfinite(conjugate(v)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.isfinite(conjugate(middle * v)) else (low, middle)
    return low
