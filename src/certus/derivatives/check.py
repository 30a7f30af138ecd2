"""check_gradient: comparison of an analytic gradient with central differences.

    ∂f/∂xⱼ = (f(x + h eⱼ) − f(x − h eⱼ)) / 2h + c₂h² + c₄h⁴ + …

No single step h is right: curvature dominates a large one, the rounding of f a small one. So h
decreases by factors of 4 from a tenth of x's size, Richardson extrapolation removes c₂, c₄, …, and
the entry of its table that differs least from its neighbours, and that no smaller step contradicts,
is taken (Ridders 1982). Its uncertainty is that difference plus noise/h; the noise of f is measured
by sixth differences, in which a smooth f vanishes. A gradient is called wrong only if it differs by
more than tol plus the uncertainty.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..text.format import count, number, printable, small
from .hints import Comparison, guess

FIRST_STEP = 0.1  # relative to the component's size
STEP_RATIO = 4.0
N_LEVELS = 13  # down to 6e-9 of the size; smaller steps show only rounding
MAX_LOCAL_STEP = 1e-3  # relative to the component: only smaller steps show f near x
MIN_SIZE_SHARE = 1e-3  # of the largest component: smaller ones are stepped as if this large
NOISE_STEP = 1e-5  # relative to x: Δ⁶ removes smooth parts, yet float32 resolves the step
UNCERTAINTY_FACTOR = 8  # the table's estimate of its own error can be too small by chance
MAX_UNCERTAINTY_SHARE = 1e-3  # of the gradient or of f/x: a larger uncertainty decides nothing
MIN_KINK_SHARE = 1e-3  # difference of left and right slopes from which there is no derivative


@dataclass(frozen=True, eq=False)
class GradientCheck:
    """Result of ``check_gradient``; true if the gradient is right.

    Attributes
    ----------
    ok : bool
        Whether all components agree with the central differences within their uncertainty.
    worst : int, tuple of int or None
        The component that differs most; None if shapes or values prevent a comparison.
    error : float
        Its difference, relative to the larger of the two values.
    reason : str
        What is wrong, with a guess at the mistake; empty if nothing is.
    gradient, differences, uncertainty : ndarray
        The gradient as given; the central differences; and their uncertainty.
    layout : str
        "gradient"; for a vector-valued f "x by f" (∂fⱼ/∂xᵢ in row i) or "Jacobian" (f by x).
    """

    ok: bool
    worst: int | tuple[int, ...] | None
    error: float
    reason: str
    layout: str = "gradient"
    gradient: Any = field(default=None, repr=False)
    differences: Any = field(default=None, repr=False)
    uncertainty: Any = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        if not self.ok:
            return printable(f"GradientCheck({self.reason})")
        size = count(np.size(self.gradient), "component")
        return f"GradientCheck(right: {size}, relative error at most {small(self.error)})"

    def explain(self) -> str:
        """Describe the result in words."""
        if self.ok:
            size = count(np.size(self.gradient), "component")
            lines = [f"[OK] GRADIENT RIGHT   {size}, relative error at most {small(self.error)}"]
        else:
            lines = ["[!!] GRADIENT WRONG", f"{'What is wrong':<14} {self.reason}"]
        if self.layout != "gradient":
            row = "∂f/∂xᵢ of all f" if self.layout == "x by f" else "∂fᵢ/∂x for all x"
            lines.append(f"{'Layout':<14} {self.layout}: row i holds {row}")
        if self.uncertainty is not None:
            known = small(float(np.max(self.uncertainty)))
            lines.append(f"{'Compared with':<14} central differences, known to {known} or better")
        return printable("\n".join(lines))


class _Slopes(NamedTuple):
    value: np.ndarray  # (m, n): ∂fᵢ/∂xⱼ in [j, i]
    uncertainty: np.ndarray
    kink: np.ndarray  # right-hand slope − left-hand slope, extrapolated to h = 0
    typical: np.ndarray  # largest |f| / the component's size: a typical slope of f


def check_gradient(
    f: Callable[[Any], Any], grad: Callable[[Any], Any], x: object, *, tol: float = 1e-6
) -> GradientCheck:
    """Compare ``grad(x)`` with central differences of ``f`` at x; a mistake does not raise.

    Parameters
    ----------
    f : callable
        Maps x to a number, or to an array (then ``grad`` is its matrix of derivatives).
    grad : callable
        Maps x to the gradient, of x's shape. For an f with n values and m components of x: the m×n
        matrix ∂fⱼ/∂xᵢ, or its transpose, the n×m Jacobian; ``layout`` says which.
    x : array-like
        The point, of any shape. Integers and float32 become float64. Avoid special values: at 0 or
        1 many mistakes do not show.
    tol : float, default=1e-6
        Relative difference up to which two slopes agree.

    Returns
    -------
    GradientCheck
        True if the gradient is right; ``explain()`` describes the result.

    Examples
    --------
    >>> import numpy as np
    >>> from certus import check_gradient
    >>> x = np.array([0.5, 0.125, -2.0])
    >>> check_gradient(lambda x: x @ x, lambda x: 2 * x, x)
    GradientCheck(right: 3 components, relative error at most ...)
    >>> check_gradient(lambda x: x @ x, lambda x: x, x).reason
    'component 2: you say -2.00, central difference -4.00 (ratio 0.5: a factor 2 is missing?)'
    """
    if not tol > 0:
        raise ValueError(f"tol={tol!r}: give a number above 0")
    x = np.array(x, dtype=float)
    if x.size == 0 or not np.isfinite(x).all():
        raise ValueError("x must hold finite numbers, at least one")
    with np.errstate(all="ignore"):  # steps that leave the domain of f are not used
        base, repeated = _values(f, x), _values(f, x)
        stated = np.array(grad(x.copy()), dtype=float)
    if not np.isfinite(base).all():
        return _failed_check(
            f"f is {number(float(base.ravel()[0]))} at x: choose another x", stated
        )
    if not np.array_equal(base, repeated):
        return _failed_check("f gives different values at the same x: fix its random seed", stated)
    layouts = _layouts(x.shape, base.shape, stated.shape)
    if not layouts:
        return _failed_check(_shape_mistake(x.shape, base.shape, stated.shape), stated)
    with np.errstate(all="ignore"):
        slopes = _slopes(f, x, base.ravel())
        checks = [_compare(layout, stated, slopes, x, tol) for layout in layouts]
    return next((check for check in checks if check.ok), checks[0])


def _values(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    value = np.asarray(f(x.copy()))
    if value.dtype.kind not in "fiub":
        raise TypeError(f"f(x) is {value.dtype}: it must give real numbers")
    return value.astype(float)


def _value_at(f: Callable[[Any], Any], x: np.ndarray, j: int, h: float) -> np.ndarray:
    """f(x + h eⱼ); NaN if f raises."""
    moved = x.copy()
    moved.flat[j] += h
    try:
        return _values(f, moved).ravel()
    except (ArithmeticError, ValueError):
        return np.array([np.nan])


def _slopes(f: Callable[[Any], Any], x: np.ndarray, base: np.ndarray) -> _Slopes:
    largest = float(np.max(np.abs(x))) or 1.0
    size = np.maximum(np.abs(x.ravel()), MIN_SIZE_SHARE * largest)
    noise = _noise(f, x, size, base)
    columns = [_slope(f, x, j, base, float(size[j]), noise) for j in range(x.size)]
    return _Slopes(*(np.array(part) for part in zip(*columns, strict=True)))


def _noise(
    f: Callable[[Any], Any], x: np.ndarray, size: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Rounding noise of f: Δ⁶f/√924 over 13 points on a short line (Moré & Wild 2011)."""
    step_sizes = np.where(x.ravel() != 0, np.abs(x.ravel()), size)
    direction = NOISE_STEP * step_sizes * (0.5 + np.arange(1, x.size + 1) * 0.618 % 0.5)
    floor = np.finfo(float).eps * np.abs(base)
    try:
        line = [_values(f, x + k * direction.reshape(x.shape)).ravel() for k in range(-6, 7)]
        sixth = np.diff(np.array(line), n=6, axis=0)
    except (ArithmeticError, ValueError):
        return floor
    noise = np.sqrt(np.mean(sixth**2, axis=0) / 924)
    return np.where(np.isfinite(noise), np.maximum(noise, floor), floor)


def _slope(
    f: Callable[[Any], Any], x: np.ndarray, j: int, base: np.ndarray, size: float, noise: np.ndarray
) -> tuple[np.ndarray, ...]:
    """∂f/∂xⱼ of every value of f: the most stable entry of Richardson's table."""
    best = np.full(base.shape, np.nan)
    uncertainty = np.full(base.shape, np.inf)
    kink = np.full(base.shape, np.inf)
    row: list[np.ndarray] = []
    bend: np.ndarray | None = None
    largest = np.abs(base)
    # f may vary on the scale of a component much smaller than the others: go below that scale
    smallest_scale = MAX_LOCAL_STEP * abs(x.flat[j]) or size
    extra_levels = np.clip(
        np.log(MAX_LOCAL_STEP * size / smallest_scale) / np.log(STEP_RATIO), 0, N_LEVELS
    )
    for level in range(N_LEVELS + int(extra_levels)):
        h = FIRST_STEP * size / STEP_RATIO**level
        h = abs((x.flat[j] + h) - x.flat[j])  # the step as rounded
        right, left = _value_at(f, x, j, h), _value_at(f, x, j, -h)
        if not (np.isfinite(right).all() and np.isfinite(left).all()):
            continue
        largest = np.maximum(largest, np.maximum(np.abs(right), np.abs(left)))
        rounding = np.maximum(noise, np.finfo(float).eps * np.abs(right)) / h
        above, row = row, [(right - left) / (2 * h)]
        if (
            above
        ):  # steps longer than f's wavelength agree with each other, but not with shorter ones
            doubt = UNCERTAINTY_FACTOR * (uncertainty + rounding) + np.abs(row[0] - above[0])
            uncertainty = np.where(np.abs(row[0] - best) > doubt, np.inf, uncertainty)
        for k, old in enumerate(above):
            row.append(row[k] + (row[k] - old) / (STEP_RATIO ** (2 * k + 2) - 1))
            change = np.maximum(np.abs(row[k + 1] - row[k]), np.abs(row[k + 1] - old)) + rounding
            better = change < uncertainty
            best = np.where(better, row[k + 1], best)
            uncertainty = np.where(better, change, uncertainty)
        # (f(x+h) − 2f(x) + f(x−h))/h → 0 like h for a smooth f, → the jump of slopes at a kink
        before, bend = bend, (right - 2 * base + left) / h
        if before is not None:
            jump = (STEP_RATIO * bend - before) / (STEP_RATIO - 1)
            kink = np.where(np.abs(jump) < np.abs(kink), jump, kink)
        if h <= smallest_scale and (rounding >= STEP_RATIO**3 * uncertainty).all():
            break  # smaller steps show only rounding
    return best, UNCERTAINTY_FACTOR * uncertainty, kink, largest / size


def _layouts(x: tuple[int, ...], f: tuple[int, ...], stated: tuple[int, ...]) -> list[str]:
    """Possible layouts of a gradient of this shape; empty if there are none."""
    if np.prod(f, dtype=int) == 1 and stated == x:
        return ["gradient"]
    return [name for name, shape in (("x by f", x + f), ("Jacobian", f + x)) if stated == shape]


def _shape_mistake(x: tuple[int, ...], f: tuple[int, ...], stated: tuple[int, ...]) -> str:
    if np.prod(f, dtype=int) == 1:
        return f"grad has shape {stated}, x has {x}: give one number for each component of x"
    if stated == x:
        return f"f gives {count(int(np.prod(f)), 'value')}, not one: did you forget a sum?"
    return f"grad has shape {stated}; f has {f} and x has {x}, so it must be {x + f} or {f + x}"


def _failed_check(reason: str, stated: np.ndarray, layout: str = "gradient") -> GradientCheck:
    return GradientCheck(False, None, np.inf, reason, layout, stated)


def _compare(
    layout: str, stated: np.ndarray, slopes: _Slopes, x: np.ndarray, tol: float
) -> GradientCheck:
    def shaped(values: np.ndarray) -> np.ndarray:
        """(m, n) values in the layout of the given gradient."""
        turned = values.T if layout == "Jacobian" else values
        return turned.reshape(stated.shape)

    d, uncertainty, kink, typical = (shaped(part) for part in slopes)
    if not np.isfinite(d).all():
        j = _index(int(np.argmax(~np.isfinite(d))), stated.shape)
        return _failed_check(
            f"f is not defined around component {j} of x: choose another x", stated
        )
    difference = np.abs(stated - d)
    larger = np.maximum(np.abs(stated), np.abs(d))
    allowed = tol * larger + uncertainty
    nonfinite = ~np.isfinite(stated)
    wrong = ~(difference <= allowed) | nonfinite
    kinked = (
        np.abs(kink)
        > MIN_KINK_SHARE * np.maximum(np.abs(d), typical * MIN_KINK_SHARE) + uncertainty
    )
    # the uncertainty of a slope of 0 is compared with the other slopes
    too_noisy = uncertainty > MAX_UNCERTAINTY_SHARE * np.maximum(np.max(np.abs(d)), typical)
    for mask in (nonfinite, kinked, wrong, too_noisy):
        if mask.any():
            break
    else:
        mask = np.ones(stated.shape, bool)
    score = np.where(mask, np.nan_to_num(difference, nan=np.inf), -1.0)
    at = int(np.argmax(score))
    worst = _index(at, stated.shape)
    # the relative error of 0 and 1e-17 is meaningless: within the uncertainty they agree to tol
    if not (wrong | kinked | too_noisy).any():
        known = np.maximum(larger, uncertainty / tol)
        share = np.divide(difference, known, out=np.zeros_like(known), where=known > 0)
        at = int(np.argmax(share))
        worst, error = _index(at, stated.shape), float(share.flat[at])
        return GradientCheck(True, worst, error, "", layout, stated, d, uncertainty)
    if nonfinite.flat[at]:
        reason = f"component {worst}: you say {number(float(stated.flat[at]))}"
    elif kinked.flat[at]:
        jump = kink.flat[at] / 2
        reason = (
            f"component {worst}: f is not differentiable there, its slope jumps from "
            f"{number(d.flat[at] - jump, 3)} to {number(d.flat[at] + jump, 3)}: choose another x"
        )
    elif not wrong.flat[at]:
        reason = (
            f"component {worst}: undecided, f is too noisy: its slope is {number(d.flat[at], 3)} "
            f"± {small(float(uncertainty.flat[at]))}. Compute f in float64"
        )
    else:
        reason = guess(Comparison(stated, d, allowed, x, wrong), worst, at)
    error = float(difference.flat[at] / larger.flat[at]) if larger.flat[at] else 0.0
    return GradientCheck(False, worst, error, reason, layout, stated, d, uncertainty)


def _index(at: int, shape: tuple[int, ...]) -> Any:
    place = tuple(int(i) for i in np.unravel_index(at, shape))
    return place[0] if len(place) == 1 else place
