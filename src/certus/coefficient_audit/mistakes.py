"""What is wrong with a table that fits no objective: the first alteration with which it fits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..text.format import number
from .alterations import Alteration, alterations, one_unknown, swapped, with_intercept
from .judge import MAX_RATIO, Judgement, LossAndPenalty, Printed
from .matching import Matcher, Matches
from .objective import DesignMatrix
from .optimum import NoOptimumError, minimize
from .presets import Preset
from .rows import AuditedRows
from .table.columns import DataColumns

MAX_SWAPPED_PENALIZED = 8  # columns; each pair then costs as much as the audit itself
MAX_SWAPPED = 60  # columns, where there is no penalty
MIN_MEAN_RESIDUAL = 1e-6  # of the spread of y: solvers leave so much
MAX_BOX_SHARE = 0.25  # of what the fit gains, that rounding alone may undo


@dataclass(frozen=True, eq=False)
class Mistake:
    """A named mistake, with the presets that fit once it is undone."""

    name: str
    text: str
    matches: Matches | None = None
    matcher: Matcher | None = None
    printed: Printed | None = None


def find_mistake(
    found: AuditedRows, data: DataColumns, keep: np.ndarray, presets: Sequence[Preset], tol: float,
    nearest: Judgement | None,
) -> Mistake | None:  # fmt: skip
    """Return the first of the usual mistakes that explains the table; None: none does.

    ``nearest``: the structure that the table itself misses by least.
    """
    for alteration in _candidates(found, data, keep, presets):
        matcher = Matcher(alteration.design, found.losses)
        matches = matcher.matches(_narrowed(alteration, presets), alteration.printed, tol)
        if matches.fits:
            return Mistake(
                alteration.name, alteration.text, matches, matcher, alteration.printed
            )  # fmt: skip
    return None if nearest is None else _one_coefficient(found, presets, tol, nearest.structure)


def _one_coefficient(
    found: AuditedRows, presets: Sequence[Preset], tol: float, nearest: LossAndPenalty
) -> Mistake | None:
    """Return the coefficient without which the others fit best, in the metric that is nearest."""
    if len(found.design.names) > MAX_SWAPPED_PENALIZED:
        return None
    matcher, best, least = Matcher(found.design, found.losses), None, (True, np.inf, np.inf)
    near = [
        preset
        for preset in presets
        if preset.loss == nearest.loss
        and (not preset.strength or _metric(matcher.structure_of(preset, "l2")) == _metric(nearest))
    ]
    for one in one_unknown(found.design, found.printed, nearest.loss):
        matches = matcher.matches(near, one.printed, tol)
        if not matches.fits:
            continue
        judged = matches.fits[0].judgement
        miss = (not judged.to_the_digits, judged.share, judged.ratio)
        if miss < least:
            best, least = Mistake(one.name, one.text, matches, matcher, one.printed), miss
    return best


def _metric(structure: LossAndPenalty) -> tuple[bool, bool]:
    return structure.standardized, structure.intercept_penalized


def _candidates(
    found: AuditedRows, data: DataColumns, keep: np.ndarray, presets: Sequence[Preset]
) -> Iterator[Alteration]:
    design, printed = found.design, found.printed
    for loss in found.losses:
        hidden = with_intercept(design, printed, loss)
        if hidden is not None:
            yield hidden
    yield from alterations(
        design, printed, found.terms, data, keep, found.losses, found.classes
    )  # fmt: skip
    yield from _swaps(found, presets)


def _swaps(found: AuditedRows, presets: Sequence[Preset]) -> Iterator[Alteration]:
    """Yield pairs that may have been exchanged: of many columns those alone that an unpenalised
    optimum confirms."""
    design, printed = found.design, found.printed
    p = len(design.names)
    if p <= MAX_SWAPPED_PENALIZED:
        yield from swapped(design, printed)
        return
    if p > MAX_SWAPPED:
        return
    for preset in presets:
        if preset.strength or preset.loss not in found.losses:
            continue
        objective = Matcher(design, found.losses).objective(LossAndPenalty(preset.loss, "none"))
        try:
            best = minimize(objective, 0.0, 0.0, printed.values, printed.half_units)
        except NoOptimumError:
            continue
        for one in swapped(design, printed):
            over = np.abs(best.v - one.printed.values) - best.error
            if (over <= 10 * MAX_RATIO * one.printed.half_units).all():
                yield one


def _narrowed(alteration: Alteration, presets: Sequence[Preset]) -> Sequence[Preset]:
    """Return the presets for which an alteration is a mistake of its own."""
    if alteration.name == "standardised":  # a standardised metric and standardised columns are one
        return [preset for preset in presets if not preset.standardized]
    return presets


def rounded_too_far(best: Judgement) -> bool:
    """Return whether rounding alone could undo a quarter of what the fit gains.

    ½ hᵀ|H|h ≥ ¼ (F(intercept alone) − F(v*)),  F with its penalty
    """
    if best.optimum is None:
        return False
    h = np.where(best.h < 1e100, best.h, 0.0)
    H = np.abs(best.objective.sums(best.optimum.v).curvature)
    nothing = best.objective.null_value
    if best.structure.intercept_penalized:  # the intercept alone would pay for itself
        nothing = best.objective.value(np.zeros_like(h), 0.0, 0.0)
    gain = nothing - best.objective.value(best.optimum.v, best.l1, best.l2)
    slopes = slice(int(best.objective.design.intercept), None)
    if not best.optimum.v[slopes].any():  # the optimum itself gains nothing
        return False
    return bool(0.5 * h[slopes] @ H[slopes, slopes] @ h[slopes] >= MAX_BOX_SHARE * gain)


def mean_residual(design: DesignMatrix, printed: Printed, nearest: Judgement | None) -> str | None:
    """Return what a free intercept forbids: predictions that are off on average.

    Σ s ℓ′ = 0 at an optimum, and |Σ s ℓ′| ≤ Σⱼ |H₀ⱼ| hⱼ where it was rounded.
    """
    if nearest is None or not design.intercept or nearest.structure.intercept_penalized:
        return None
    objective = nearest.objective
    with np.errstate(all="ignore"):
        sums = objective.sums(nearest.printed)
        allowed = np.abs(sums.curvature[0]) @ np.where(nearest.h < 1e100, nearest.h, 0.0)
    off = float(sums.slope[0]) / float(design.weights.sum())
    small = MIN_MEAN_RESIDUAL * np.std(design.y)
    rounding = 1.1 * allowed + objective.slope_errors(nearest.printed)[0]
    if not np.isfinite(off) or abs(off) <= small or abs(sums.slope[0]) <= rounding:
        return None
    what = {"logistic": "probabilities", "poisson": "counts", "gamma": "relative amounts"}
    return (
        f"its {what.get(objective.loss, 'predictions')} are {number(abs(off), 3)} too "
        f"{'high' if off > 0 else 'low'} on average, which no fit with an intercept leaves: the "
        "rows or the weights are probably not those of the fit, or the intercept is wrong"
    )
