"""A lower bound of min F from the gradient at any point, by duality.

With slopes a_i of the losses at the scores z_i, v = Xᵀ(s∘a) and Σ s a = 0 if there is an intercept,

    F* ≥ −Σ s ℓ*(y, ρa) − pen*(−ρv)        for every ρ

At ρ = 1 the first term is f − Σ s a z, which follows from the gradient's sums. A penalty whose
conjugate has a bounded domain (a norm) needs ρ < 1: there ℓ*(ρa) ≤ ρℓ*(a), for ℓ ≥ 0; for squared
errors the term is computed exactly.
"""

from collections.abc import Callable

import numpy as np

from ..problem import Problem

MAX_BISECTIONS = 50  # of the interval that contains the largest ρ
MIN_SCALING = 1e-9  # a smaller ρ: the gradient's direction lies outside the conjugate's domain


def dual_bound(problem: Problem, f: float, along: float, g: np.ndarray) -> float | None:
    """Return the bound; None where there is none.

    ``f`` = Σ s ℓ, ``along`` = ⟨v, w⟩ = Σ s a z, ``g`` = v.
    """
    conjugate = getattr(problem.penalty, "conjugate", None)
    if conjugate is None or not getattr(problem.penalty, "convex", True):
        return None
    largest = largest_scaling(conjugate, -g)
    if largest < MIN_SCALING:
        return None
    rhos = [largest]
    if problem.loss.name == "squared" and f > 0:
        rhos.append(float(np.clip(1 - along / (2 * f), 0.0, largest)))  # the best, if pen* = 0

    def loss_part(rho: float) -> float:
        if problem.loss.name == "squared":
            return -rho * (along - 2 * f) - rho**2 * f
        return -rho * (along - f)

    bounds = [loss_part(rho) - float(conjugate(-rho * g)) for rho in rhos]
    finite = [bound for bound in bounds if np.isfinite(bound)]
    return max(finite) if finite else None


def largest_scaling(conjugate: Callable[[np.ndarray], float], v: np.ndarray) -> float:
    """Return the largest ρ ≤ 1 with a finite pen*(ρv); the domain is convex and contains 0."""
    if np.isfinite(conjugate(v)):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(MAX_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.isfinite(conjugate(middle * v)) else (low, middle)
    return low
