"""Guesses at the mistake in a gradient g, given the right one d.

    g = c·d     a factor          P g = d     another order
    d − g = c   a constant term   d − g = c·x, c·sign(x)   a penalty's gradient

A guess is made only if it explains every component within the tolerance.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..text.format import number

EXPLAINED_RTOL = (
    1e-4  # relative to the largest slope: a guess that fits this well explains the mistake
)


class Comparison(NamedTuple):
    stated: np.ndarray
    d: np.ndarray  # central differences
    allowed: np.ndarray  # tolerance of stated − d
    x: np.ndarray
    wrong: np.ndarray  # components that differ by more


def guess(c: Comparison, worst: Any, at: int) -> str:
    """Describe the worst component and guess the mistake, for example "component 3: you say 0.250,
    central difference 0.500 (ratio 0.5: a factor 2 is missing?)"."""
    g, d = float(c.stated.flat[at]), float(c.d.flat[at])
    digits = 3
    while digits < 12 and _fixed(g, digits) == _fixed(d, digits):
        digits += 1
    text = f"component {worst}: you say {_fixed(g, digits)}, central difference {_fixed(d, digits)}"
    rules = (
        () if _agree(c, c.stated, c.d) else RULES
    )  # no rule explains differences in the last digits
    cause = next((cause for rule in rules if (cause := rule(c))), None) or _count_wrong(c)
    return f"{text} ({cause})" if cause else text


def _fixed(value: float, digits: int) -> str:
    """Format with trailing zeros (0.250), so that two numbers can be compared."""
    if value == 0 or not np.isfinite(value) or not 1e-4 <= abs(value) < 1e6:
        return number(value, digits)
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}"


def _agree(c: Comparison, left: np.ndarray, right: np.ndarray) -> bool:
    tolerance = c.allowed + EXPLAINED_RTOL * max(
        float(np.max(np.abs(c.d))), float(np.max(np.abs(left)))
    )
    return bool(np.all(np.abs(left - right) <= tolerance))


def _factor(c: Comparison) -> str | None:
    """Guess g = c·d, in all wrong components."""
    g, d = c.stated[c.wrong], c.d[c.wrong]
    square = float(np.sum(d * d))
    ratio = float(np.sum(g * d)) / square if square > 0 else 0.0
    tolerance = c.allowed[c.wrong] + EXPLAINED_RTOL * np.abs(g)
    is_trivial = abs(ratio) < 1e-9 or abs(ratio - 1) < 1e-2
    if is_trivial or not np.all(np.abs(g - ratio * d) <= tolerance):
        return None
    name = _describe_ratio(ratio)
    if name is None and np.count_nonzero(c.wrong) > 1:  # a single component fits any factor
        name = "a constant factor?"
    return name and f"ratio {number(ratio, 3)}: {name}"


def _describe_ratio(ratio: float) -> str | None:
    whole, divisor = round(abs(ratio)), round(1 / abs(ratio))
    if abs(ratio + 1) < EXPLAINED_RTOL:
        return "the sign is flipped?"
    sign = "the sign is flipped, and " if ratio < 0 else ""
    if abs(abs(ratio) - 0.5) < EXPLAINED_RTOL:
        return f"{sign}a factor 2 is missing?"
    if abs(abs(ratio) - 2) < EXPLAINED_RTOL:
        return f"{sign}a factor ½ is missing?"
    if divisor > 2 and abs(abs(ratio) * divisor - 1) < EXPLAINED_RTOL:
        return f"{sign}divided by {divisor}: a mean instead of a sum?"
    if whole > 2 and abs(abs(ratio) / whole - 1) < EXPLAINED_RTOL:
        return f"{sign}times {whole}: a sum instead of a mean?"
    return None


def _transposed(c: Comparison) -> str | None:
    square = c.stated.ndim == 2 and c.stated.shape[0] == c.stated.shape[1]
    return "transposed?" if square and _agree(c, c.stated.T, c.d) else None


def _reordered(c: Comparison) -> str | None:
    if c.stated.size < 2:
        return None
    if _agree(c, c.stated.ravel()[::-1].reshape(c.d.shape), c.d):
        return "the components are in reverse order?"
    if np.max(np.abs(np.sort(c.stated.ravel()) - np.sort(c.d.ravel()))) <= EXPLAINED_RTOL * np.max(
        np.abs(c.d)
    ):
        return "the right numbers in another order?"
    return None


def _missing(c: Comparison, shape_of: Callable[[np.ndarray], np.ndarray]) -> float | None:
    """The c of d − g = c·shape, if one c fits all components; None for a single component."""
    if c.stated.shape != c.x.shape or c.stated.size < 2:
        return None
    r, shape = c.d - c.stated, shape_of(c.x)
    square = float(np.sum(shape * shape))
    factor = float(np.sum(r * shape)) / square if square > 0 else 0.0
    tolerance = c.allowed + EXPLAINED_RTOL * np.max(np.abs(r))
    return factor if np.all(np.abs(r - factor * shape) <= tolerance) else None


def _penalty(c: Comparison) -> str | None:
    factor = _missing(c, lambda x: x)
    if factor is None or np.ptp(np.abs(c.x)) == 0:
        return None
    return f"{number(factor, 3)}·x is missing: the penalty's gradient αx?"


def _absolute_penalty(c: Comparison) -> str | None:
    factor = _missing(c, np.sign)
    if factor is None or np.all(c.x > 0) or np.all(c.x < 0):
        return None
    return f"{number(factor, 3)}·sign(x) is missing: the penalty's gradient α sign(x)?"


def _constant(c: Comparison) -> str | None:
    factor = _missing(c, np.ones_like)
    return None if factor is None else f"{number(factor, 3)} is missing in every component"


def _count_wrong(c: Comparison) -> str | None:
    wrong = int(np.count_nonzero(c.wrong))
    if wrong == c.wrong.size or c.wrong.size == 1:
        return None
    return f"{wrong} of {c.wrong.size} components are wrong, the others right"


RULES = (_factor, _transposed, _reordered, _penalty, _absolute_penalty, _constant)
