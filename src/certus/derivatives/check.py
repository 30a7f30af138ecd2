"""check_gradient: an analytic gradient against central differences.

    ∂f/∂xⱼ = (f(x + h eⱼ) − f(x − h eⱼ)) / 2h + c₂h² + c₄h⁴ + …

One step h is never right: a large one sees curvature, a small one the rounding of f. So h falls by
4 from a tenth of x's size, Richardson's table removes c₂, c₄, …, and the entry that changes least
against its neighbours, and that no smaller step contradicts, is taken (Ridders 1982). Its
uncertainty is that change and noise/h; the noise of f is measured by sixth differences, in which a
smooth f is as good as gone. A gradient is called wrong only where it differs by more than tol and
than the uncertainty.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..text.format import count, number, printable, small
from .hints import Comparison, guess

FIRST_STEP = 0.1  # of the component's size
SHRINK = 4.0
LEVELS = 13  # down to 6e-9 of the size: below, nothing but rounding is left
NEAR = 1e-3  # of the component: only steps below this see what f does at x
LEAST_SIZE = 1e-3  # a component near 0 is stepped as one of this share of the largest
NOISE_STEP = 1e-5  # of x's size: δ⁶ removes what is smooth, yet float32 still resolves the step
SAFETY = 8  # the table's own estimate can be lucky
TOO_NOISY = 1e-3  # uncertainty, as a share of the gradient or of f/x, that proves nothing
KINK = 1e-3  # slopes to the left and to the right differ by this share: no derivative


@dataclass(frozen=True, eq=False)
class GradientCheck:
    """What ``check_gradient`` found; true if the gradient is right.

    Attributes
    ----------
    ok : bool
        No component differs from the central differences by more than they are uncertain.
    worst : int, tuple of int or None
        The component that differs most; None where shapes or values forbid a comparison.
    error : float
        Its difference, as a share of the larger of the two values.
    reason : str
        What is wrong, with a guess at the mistake; empty where nothing is.
    said, differences, uncertainty : ndarray
        The gradient as given; as found; and how far the latter can be trusted.
    layout : str
        "gradient"; for a vector-valued f "x by f" (∂fⱼ/∂xᵢ in row i) or "Jacobian" (f by x).
    """

    ok: bool
    worst: int | tuple[int, ...] | None
    error: float
    reason: str
    layout: str = "gradient"
    said: Any = field(default=None, repr=False)
    differences: Any = field(default=None, repr=False)
    uncertainty: Any = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        if not self.ok:
            return printable(f"GradientCheck({self.reason})")
        size = count(np.size(self.said), "component")
        return f"GradientCheck(right: {size}, relative error at most {small(self.error)})"

    def explain(self) -> str:
        """The whole finding in words."""
        if self.ok:
            size = count(np.size(self.said), "component")
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
    typical: (
        np.ndarray
    )  # max |f| met / the component's size: what a slope of f can be compared with


def check_gradient(
    f: Callable[[Any], Any], grad: Callable[[Any], Any], x: object, *, tol: float = 1e-6
) -> GradientCheck:
    """Compare ``grad(x)`` with central differences of ``f`` at x. Nothing is raised for a mistake.

    Parameters
    ----------
    f : callable
        x → a number, or an array of them (then ``grad`` is its matrix of derivatives).
    grad : callable
        x → the gradient, of x's shape. For an f with n values and m components of x: the m×n
        matrix ∂fⱼ/∂xᵢ, or its transpose, the n×m Jacobian; ``layout`` says which it was.
    x : array-like
        Where; of any shape. Whole numbers and float32 become float64. Choose a point without
        special values: at 0 or 1 many a mistake does not show.
    tol : float, default=1e-6
        Relative difference up to which two slopes are the same.

    Returns
    -------
    GradientCheck
        True if the gradient is right; ``explain()`` says what was found.

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
    with np.errstate(all="ignore"):  # a step may leave the domain of f; it is then not used
        base, again = _values(f, x), _values(f, x)
        said = np.array(grad(x.copy()), dtype=float)
    if not np.isfinite(base).all():
        return _refused(f"f is {number(float(base.ravel()[0]))} at x: choose another x", said)
    if not np.array_equal(base, again):
        return _refused("f gives another value at the same x: fix its random numbers", said)
    layouts = _layouts(x.shape, base.shape, said.shape)
    if not layouts:
        return _refused(_other_shape(x.shape, base.shape, said.shape), said)
    with np.errstate(all="ignore"):
        slopes = _slopes(f, x, base.ravel())
        found = [_compare(layout, said, slopes, x, tol) for layout in layouts]
    return next((one for one in found if one.ok), found[0])


def _values(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    value = np.asarray(f(x.copy()))
    if value.dtype.kind not in "fiub":
        raise TypeError(f"f(x) is {value.dtype}: it must give real numbers")
    return value.astype(float)


def _at(f: Callable[[Any], Any], x: np.ndarray, j: int, h: float) -> np.ndarray:
    """f(x + h eⱼ), NaN where f refuses."""
    moved = x.copy()
    moved.flat[j] += h
    try:
        return _values(f, moved).ravel()
    except (ArithmeticError, ValueError):
        return np.array([np.nan])


def _slopes(f: Callable[[Any], Any], x: np.ndarray, base: np.ndarray) -> _Slopes:
    largest = float(np.max(np.abs(x))) or 1.0
    size = np.maximum(np.abs(x.ravel()), LEAST_SIZE * largest)
    noise = _noise(f, x, size, base)
    columns = [_slope(f, x, j, base, float(size[j]), noise) for j in range(x.size)]
    return _Slopes(*(np.array(part) for part in zip(*columns, strict=True)))


def _noise(
    f: Callable[[Any], Any], x: np.ndarray, size: np.ndarray, base: np.ndarray
) -> np.ndarray:
    """Size of f's rounding: of 13 values on a short line, Δ⁶f/√924 (Moré & Wild 2011)."""
    own = np.where(x.ravel() != 0, np.abs(x.ravel()), size)
    direction = NOISE_STEP * own * (0.5 + np.arange(1, x.size + 1) * 0.618 % 0.5)
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
    """∂f/∂xⱼ of every f: the most stable entry of Richardson's table."""
    best = np.full(base.shape, np.nan)
    uncertainty = np.full(base.shape, np.inf)
    kink = np.full(base.shape, np.inf)
    row: list[np.ndarray] = []
    bend: np.ndarray | None = None
    largest = np.abs(base)
    # a component far smaller than the others may be f's own scale: go below it before stopping
    near = NEAR * abs(x.flat[j]) or size
    more = np.clip(np.log(NEAR * size / near) / np.log(SHRINK), 0, LEVELS)
    for level in range(LEVELS + int(more)):
        h = FIRST_STEP * size / SHRINK**level
        h = abs((x.flat[j] + h) - x.flat[j])  # the step that is really taken
        right, left = _at(f, x, j, h), _at(f, x, j, -h)
        if not (np.isfinite(right).all() and np.isfinite(left).all()):
            continue
        largest = np.maximum(largest, np.maximum(np.abs(right), np.abs(left)))
        rounding = np.maximum(noise, np.finfo(float).eps * np.abs(right)) / h
        above, row = row, [(right - left) / (2 * h)]
        if above:  # steps longer than f's waves agree with each other, and with no shorter one
            doubt = SAFETY * (uncertainty + rounding) + np.abs(row[0] - above[0])
            uncertainty = np.where(np.abs(row[0] - best) > doubt, np.inf, uncertainty)
        for k, old in enumerate(above):
            row.append(row[k] + (row[k] - old) / (SHRINK ** (2 * k + 2) - 1))
            change = np.maximum(np.abs(row[k + 1] - row[k]), np.abs(row[k + 1] - old)) + rounding
            better = change < uncertainty
            best = np.where(better, row[k + 1], best)
            uncertainty = np.where(better, change, uncertainty)
        # (f(x+h) − 2f(x) + f(x−h))/h → 0 like h for a smooth f, → the jump of slopes at a kink
        before, bend = bend, (right - 2 * base + left) / h
        if before is not None:
            jump = (SHRINK * bend - before) / (SHRINK - 1)
            kink = np.where(np.abs(jump) < np.abs(kink), jump, kink)
        if h <= near and (rounding >= SHRINK**3 * uncertainty).all():
            break  # smaller steps show rounding only
    return best, SAFETY * uncertainty, kink, largest / size


def _layouts(x: tuple[int, ...], f: tuple[int, ...], said: tuple[int, ...]) -> list[str]:
    """How a gradient of this shape can be meant; none: it cannot."""
    if np.prod(f, dtype=int) == 1 and said == x:
        return ["gradient"]
    return [name for name, shape in (("x by f", x + f), ("Jacobian", f + x)) if said == shape]


def _other_shape(x: tuple[int, ...], f: tuple[int, ...], said: tuple[int, ...]) -> str:
    if np.prod(f, dtype=int) == 1:
        return f"grad has shape {said}, x has {x}: give one number for each component of x"
    if said == x:
        return f"f gives {count(int(np.prod(f)), 'value')}, not one: did you forget a sum?"
    return f"grad has shape {said}; f has {f} and x has {x}, so it must be {x + f} or {f + x}"


def _refused(reason: str, said: np.ndarray, layout: str = "gradient") -> GradientCheck:
    return GradientCheck(False, None, np.inf, reason, layout, said)


def _compare(
    layout: str, said: np.ndarray, slopes: _Slopes, x: np.ndarray, tol: float
) -> GradientCheck:
    def shaped(values: np.ndarray) -> np.ndarray:
        """(m, n) in the layout of the gradient that was given."""
        turned = values.T if layout == "Jacobian" else values
        return turned.reshape(said.shape)

    d, uncertainty, kink, typical = (shaped(part) for part in slopes)
    if not np.isfinite(d).all():
        j = _place(int(np.argmax(~np.isfinite(d))), said.shape)
        return _refused(f"f is not defined around component {j} of x: choose another x", said)
    difference = np.abs(said - d)
    larger = np.maximum(np.abs(said), np.abs(d))
    allowed = tol * larger + uncertainty
    void = ~np.isfinite(said)
    wrong = ~(difference <= allowed) | void
    kinked = np.abs(kink) > KINK * np.maximum(np.abs(d), typical * KINK) + uncertainty
    # a slope of 0 beside others of 1 is known well enough if it is known to 1e-3 of those
    blurred = uncertainty > TOO_NOISY * np.maximum(np.max(np.abs(d)), typical)
    for mask in (void, kinked, wrong, blurred):
        if mask.any():
            break
    else:
        mask = np.ones(said.shape, bool)
    score = np.where(mask, np.nan_to_num(difference, nan=np.inf), -1.0)
    at = int(np.argmax(score))
    worst = _place(at, said.shape)
    # of 0 and 1e-17 a relative error says nothing: what is uncertain counts as within tol
    if not (wrong | kinked | blurred).any():
        known = np.maximum(larger, uncertainty / tol)
        share = np.divide(difference, known, out=np.zeros_like(known), where=known > 0)
        at = int(np.argmax(share))
        worst, error = _place(at, said.shape), float(share.flat[at])
        return GradientCheck(True, worst, error, "", layout, said, d, uncertainty)
    if void.flat[at]:
        reason = f"component {worst}: you say {number(float(said.flat[at]))}"
    elif kinked.flat[at]:
        jump = kink.flat[at] / 2
        reason = (
            f"component {worst}: f is not differentiable there, its slope jumps from "
            f"{number(d.flat[at] - jump, 3)} to {number(d.flat[at] + jump, 3)}: choose another x"
        )
    elif not wrong.flat[at]:
        reason = (
            f"component {worst}: cannot tell, f is too noisy: its slope is {number(d.flat[at], 3)} "
            f"± {small(float(uncertainty.flat[at]))}. Compute f in float64"
        )
    else:
        reason = guess(Comparison(said, d, allowed, x, wrong), worst, at)
    error = float(difference.flat[at] / larger.flat[at]) if larger.flat[at] else 0.0
    return GradientCheck(False, worst, error, reason, layout, said, d, uncertainty)


def _place(at: int, shape: tuple[int, ...]) -> Any:
    place = tuple(int(i) for i in np.unravel_index(at, shape))
    return place[0] if len(place) == 1 else place
