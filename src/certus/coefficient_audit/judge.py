"""One structure against one table: is the optimum within the rounding of what was printed?

A structure is what presets share besides the units of their strengths: loss, metric, whether the
intercept is penalised, and L1, L2 or both. The verdict compares the optimum v* with printed v̂,

    ratio = max (|v*ⱼ − v̂ⱼ| − rounding)/hⱼ   ≤ 1:  optimal to the digits printed
    share = (F(ṽ) − F(v*))/f₀               ≤ tol:  optimal, with fewer digits than were printed

where ṽ is the best point of the box |v − v̂| ≤ h by F's second order at v*, so that rounding costs
nothing, and f₀ is the objective of the intercept alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from .objective import DesignMatrix, Objective
from .optimum import NoOptimumError, Optimum, minimize
from .presets import Loss, Shape
from .strengths import StrengthEstimate, estimate, extremes, improved, varying

MAX_RATIO = 1.0 + 1e-6  # of numbers that were rounded to the nearest
MAX_IMPROVEMENTS = 4  # rounds of λ at the optimum itself
# where the prediction is beyond both, the optimum is not computed: Newton's step from printed
# coefficients that are right predicts their distance to a few percent
HOPELESS_RATIO, HOPELESS_SHARE = 30.0, 1e-3
# of the objective of the intercept alone: a penalty below the first is none, and one below the
# second is not meant as one (glm ends where the deviance changes by 1e-8)
NO_PENALTY_SHARE, WEAK_PENALTY_SHARE = 1e-12, 1e-6
MAX_NULL_VALUES = 1e3  # of the objective, beyond which no optimum is near
UNKNOWN_HALF_UNIT = 1e200  # of a coefficient that was not printed
MAX_UNKNOWN_ROUNDS, UNKNOWN_RTOL = 8, 1e-10  # of the strengths and such a coefficient, in turn


@dataclass(frozen=True)
class LossAndPenalty:
    """What several presets have in common."""

    loss: Loss
    shape: Shape
    standardized: bool = False
    intercept_penalized: bool = False


@dataclass(frozen=True, eq=False)
class Printed:
    """Printed coefficients (intercept first, if there is one) with half a unit of each."""

    values: np.ndarray
    half_units: np.ndarray


@dataclass(frozen=True, eq=False)
class Judgement:
    """How near the printed coefficients are to the optimum of a structure."""

    structure: LossAndPenalty
    objective: Objective
    printed: np.ndarray  # v̂, in scaled columns
    h: np.ndarray
    l1: float
    l2: float
    ratio: float
    share: float
    optimum: Optimum | None
    l_ranges: tuple[tuple[float, float], ...] = ()  # extreme (λ₁, λ₂) that fit as well

    @property
    def to_the_digits(self) -> bool:
        """Whether the optimum is within rounding of what was printed."""
        return self.optimum is not None and self.ratio <= MAX_RATIO


def enough_coefficients(structure: LossAndPenalty, design: DesignMatrix, printed: Printed) -> bool:
    """Return whether more is printed than the strengths alone could explain."""
    used = printed.half_units < UNKNOWN_HALF_UNIT
    if varying(structure.shape)[0]:  # of slopes at 0 the strength alone says little
        used[int(design.intercept) :] &= printed.values[int(design.intercept) :] != 0
    return bool(used.sum() > sum(varying(structure.shape)))


def judge(structure: LossAndPenalty, objective: Objective, printed: Printed) -> Judgement:
    """Compare printed coefficients with the optimum at the strengths that suit them best."""
    v, h = printed.values * objective.d, printed.half_units * objective.d
    f0 = max(objective.null_value, 1e-300)
    with np.errstate(all="ignore"):
        value = objective.sums(v).value
        if not value <= MAX_NULL_VALUES * f0:  # means of counts may be beyond float64 there
            return _hopeless(structure, objective, v, h, np.inf, value / f0)
        if structure.shape != "none" and (printed.half_units >= UNKNOWN_HALF_UNIT).any():
            v = _with_unknown(structure, objective, v, h)
            printed = Printed(v / objective.d, printed.half_units)
        best = estimate(objective, v, h, structure.shape)
    predicted = best.excess / f0
    if not (best.ratio <= HOPELESS_RATIO or predicted <= HOPELESS_SHARE):
        return _hopeless(structure, objective, v, h, best.ratio, predicted, best)
    found = at_strengths(structure, objective, printed, best.l1, best.l2, improve=True)
    if found.optimum is None and structure.shape == "none":  # as near as it looks, without one
        return replace(found, ratio=best.ratio, share=predicted)
    return found


def _with_unknown(
    structure: LossAndPenalty, objective: Objective, v: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Return v̂ with what was not printed as it is at the optimum that suits the other numbers."""
    unknown, v = h >= UNKNOWN_HALF_UNIT * objective.d, v.copy()
    for _ in range(MAX_UNKNOWN_ROUNDS):
        best = estimate(objective, v, h, structure.shape)
        try:
            optimum = minimize(objective, best.l1, best.l2, v, h)
        except NoOptimumError:
            break
        moved = np.abs(optimum.v - v)[unknown].max()
        v[unknown] = optimum.v[unknown]
        if moved <= UNKNOWN_RTOL * np.abs(v).max():
            break
    return v


def at_strengths(
    structure: LossAndPenalty, objective: Objective, printed: Printed, l1: float, l2: float,
    improve: bool = False,
) -> Judgement:  # fmt: skip
    """Compare printed coefficients with the optimum at given λ; ``improve``: or near them."""
    v, h = printed.values * objective.d, printed.half_units * objective.d
    f0 = max(objective.null_value, 1e-300)
    try:
        with np.errstate(all="ignore"):
            optimum = minimize(objective, l1, l2, v, h)
    except NoOptimumError:
        return _hopeless(structure, objective, v, h, np.inf, np.inf)
    found = _judged(structure, objective, v, h, l1, l2, optimum, f0)
    rounds = MAX_IMPROVEMENTS if improve and structure.shape != "none" else 0
    for _ in range(rounds):
        if found.ratio <= MAX_RATIO or found.optimum is None:
            break
        with np.errstate(all="ignore"):
            l1, l2 = improved(objective, found.optimum.v, v, h, found.l1, found.l2, structure.shape)
        try:
            optimum = minimize(objective, l1, l2, found.optimum.v, h)
        except NoOptimumError:
            break
        again = _judged(structure, objective, v, h, l1, l2, optimum, f0)
        if again.ratio >= found.ratio * (1 - 1e-9):
            break
        found = again
    if improve and structure.shape != "none" and _needs_its_penalty(found, f0):
        return replace(found, ratio=np.inf, share=np.inf, optimum=None)
    return found


def without_penalty(structure: LossAndPenalty, objective: Objective, plain: Judgement) -> Judgement:
    """Return the judgement of a penalised structure at λ = 0, where the unpenalised one fits."""
    assert plain.optimum is not None
    scale = objective.d / plain.objective.d
    best = plain.optimum
    optimum = Optimum(best.v * scale, best.error * scale, best.singular)
    return replace(
        plain, structure=structure, objective=objective, printed=plain.printed * scale,
        h=plain.h * scale, optimum=optimum,
    )  # fmt: skip


def _needs_its_penalty(found: Judgement, f0: float) -> bool:
    """Return whether there is an optimum only because of a penalty too weak to be meant.

    Where classes are separated a solver gives up somewhere, and some tiny λ has its optimum there.
    """
    share = _penalty(found) / f0
    if share > WEAK_PENALTY_SHARE or found.optimum is None:
        return False
    try:
        with np.errstate(all="ignore"):
            minimize(found.objective, 0.0, 0.0, found.optimum.v, found.h)
    except NoOptimumError:
        return True
    return share <= NO_PENALTY_SHARE


def _penalty(found: Judgement) -> float:
    """Return λ₁‖v‖₁ + λ₂/2 ‖v‖² at the printed coefficients."""
    v = found.printed[found.objective.penalized]
    return float(found.l1 * np.abs(v).sum() + found.l2 / 2 * v @ v)


def _judged(
    structure: LossAndPenalty, objective: Objective, v: np.ndarray, h: np.ndarray, l1: float,
    l2: float, optimum: Optimum, f0: float,
) -> Judgement:  # fmt: skip
    ratio = float(np.max((np.abs(optimum.v - v) - optimum.error) / h, initial=0.0))
    nearest = best_in_box(objective, l2, optimum.v, v, h)
    share = objective.value(nearest, l1, l2) - objective.value(optimum.v, l1, l2)
    return Judgement(
        structure, objective, v, h, l1, l2, max(ratio, 0.0), max(share / f0, 0.0), optimum
    )


def best_in_box(
    objective: Objective, l2: float, best: np.ndarray, v: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Return the point of the box |u − v| ≤ h with the least ½ (u − v*)ᵀM(u − v*)."""
    from scipy.optimize import lsq_linear

    clipped = np.clip(best, v - h, v + h)
    free = (best != 0) & (h < UNKNOWN_HALF_UNIT)
    if (clipped == best).all() or not free.any():
        return clipped
    M = objective.sums(best).curvature + l2 * np.diag(objective.penalized.astype(float))
    values, vectors = np.linalg.eigh(M[np.ix_(free, free)])
    if not np.isfinite(values).all() or values.max() <= 0:
        return clipped
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    right, inside = root @ (best - v)[free], clipped.copy()
    size = np.abs(root * h[free]).max()
    fitted = lsq_linear(root * h[free] / size, right / size, bounds=(-1.0, 1.0), method="bvls")
    inside[free] = np.clip(v[free] + h[free] * fitted.x, (v - h)[free], (v + h)[free])
    return inside


def ranges_of(found: Judgement) -> tuple[tuple[float, float], ...]:
    """Return the extreme λ at which the printed coefficients fit about as well."""
    if found.optimum is None or found.structure.shape == "none":
        return ()
    ratio = 1.0 if found.ratio <= 1 else 2 * found.ratio
    v, l1, l2 = found.optimum.v, found.l1, found.l2
    with np.errstate(all="ignore"):
        ends = extremes(
            found.objective, v, found.printed, found.h, l1, l2, found.structure.shape, ratio
        )
    return tuple(ends)


def _hopeless(
    structure: LossAndPenalty, objective: Objective, v: np.ndarray, h: np.ndarray, ratio: float,
    share: float, best: StrengthEstimate | None = None,
) -> Judgement:  # fmt: skip
    l1, l2 = (best.l1, best.l2) if best else (0.0, 0.0)
    return Judgement(structure, objective, v, h, l1, l2, float(ratio), float(share), None)
