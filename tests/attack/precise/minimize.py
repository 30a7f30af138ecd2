"""Minimisation of a smooth convex sum plus a separable penalty, in high precision.

    F(θ) = f(θ) + Σ_j l1_j|θ_j| + l2_j/2 θ_j²        low_j ≤ θ_j ≤ high_j

Newton's method from a given θ. Each step minimises the quadratic model of f plus the penalty by an
active-set method, and is shortened until F falls. Any point that is found is a point: if its F is
below the objective less its gap, the certificate is false, whether or not it is the optimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from flint import arb, arb_mat

from .balls import ONE, ZERO, centers, column, dot, power_of_two, total

STEPS = 80  # of Newton's method
HALVINGS = 60
CHANGES = 200  # of the active set, in a step
# added to the equilibrated Hessian: nothing is singular, and directions that data of 53 bits
# hold are not changed by it
LIFT = arb(2) ** -220
CONVERGED = arb(2) ** -150  # predicted decrease, as a share of |F|


class Smooth(Protocol):
    """f, with its gradient and Hessian."""

    def value(self, theta: Sequence[arb]) -> arb: ...

    def expand(self, theta: Sequence[arb]) -> tuple[arb, list[arb], arb_mat]: ...


@dataclass
class Problem:
    smooth: Any
    l1: list[arb]
    l2: list[arb]
    low: list[arb | None] = field(default_factory=list)
    high: list[arb | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.low = self.low or [None] * len(self.l1)
        self.high = self.high or [None] * len(self.l1)

    def penalty(self, theta: Sequence[arb]) -> arb:
        square = total(c * t * t for c, t in zip(self.l2, theta, strict=True) if c != 0)
        return square / 2 + total(c * abs(t) for c, t in zip(self.l1, theta, strict=True) if c != 0)

    def value(self, theta: Sequence[arb]) -> arb:
        return self.smooth.value(theta) + self.penalty(theta)

    def allows(self, theta: Sequence[arb]) -> bool:
        low = all(l is None or t >= l for t, l in zip(theta, self.low, strict=True))
        return low and all(h is None or t <= h for t, h in zip(theta, self.high, strict=True))


@dataclass
class Minimum:
    theta: list[arb]
    value: arb
    predicted: arb  # what one more Newton step would gain, by its quadratic model
    converged: bool


def minimize(problem: Problem, theta: Sequence[arb], enough: arb | None = None) -> Minimum:
    """A point at which F is as low as 80 Newton steps make it, or below ``enough``."""
    theta = centers(theta)
    value, predicted = problem.value(theta), ZERO
    for _ in range(STEPS):
        _, g, H = problem.smooth.expand(theta)
        step, predicted = newton_step(problem, theta, g, H)
        if not predicted.mid() > CONVERGED * abs(value.mid()):
            return Minimum(theta, value, predicted, True)
        length = ONE
        for _ in range(HALVINGS):
            moved = centers(t + length * d for t, d in zip(theta, step, strict=True))
            new = problem.value(moved)
            if new < value:
                break
            length = length / 2
        else:
            return Minimum(theta, value, predicted, True)  # rounding is all that is left
        theta, value = moved, new
        if enough is not None and value < enough:
            return Minimum(theta, value, predicted, False)
    return Minimum(theta, value, predicted, False)


def newton_step(
    problem: Problem, theta: Sequence[arb], g: Sequence[arb], H: arb_mat
) -> tuple[list[arb], arb]:
    """The step d that minimises gᵀd + ½dᵀHd + penalty(θ + d), and by how much it lowers that."""
    m = len(theta)
    g = [a + c * t for a, c, t in zip(g, problem.l2, theta, strict=True)]
    rows = H.tolist()
    diagonal = [rows[j][j] + problem.l2[j] for j in range(m)]
    unit = [power_of_two(d) if d > 0 else ONE for d in diagonal]
    rows, lift = [centers(row) for row in rows], LIFT
    while True:
        for j in range(m):
            rows[j][j] = (diagonal[j] + lift * unit[j]).mid()
        model = _Model(problem, centers(theta), centers(g), rows, unit)
        try:
            step = model.minimized()
        except ZeroDivisionError:  # singular as far as the bits show
            lift = lift * arb(2) ** 60
            if lift > 1:
                return [ZERO] * m, ZERO
            continue
        return step, model.decrease(step)


class _Model:
    """The quadratic model around θ, whose variables t = θ + d are free, at a bound or at 0."""

    def __init__(
        self, problem: Problem, theta: list[arb], g: list[arb], H: list[list[arb]], unit: list[arb]
    ):
        self.problem, self.theta, self.g, self.H = problem, theta, g, H
        self.root = [power_of_two(u.sqrt()) for u in unit]
        self.m = len(theta)

    def decrease(self, d: list[arb]) -> arb:
        curve = dot(d, [dot(row, d) for row in self.H]) / 2
        moved = [t + s for t, s in zip(self.theta, d, strict=True)]
        corner = total(
            c * (abs(new) - abs(old))
            for c, new, old in zip(self.problem.l1, moved, self.theta, strict=True) if c != 0
        )  # fmt: skip
        return -(dot(self.g, d) + curve + corner)

    def slope(self, d: list[arb], j: int) -> arb:
        """Slope of the smooth part of the model."""
        return self.g[j] + dot(self.H[j], d)

    def minimized(self) -> list[arb]:
        P, d = self.problem, [ZERO] * self.m
        sign = [0] * self.m  # of t_j where it is penalised; 0: held at 0
        free = [False] * self.m
        for j, t in enumerate(self.theta):
            sign[j] = 1 if t > 0 else -1 if t < 0 else 0
            at_bound = any(b is not None and t == b for b in (P.low[j], P.high[j]))
            free[j] = not at_bound and (P.l1[j] == 0 or sign[j] != 0)
        for _ in range(CHANGES):
            target = self._of_free(d, free, sign)
            length, stops = self._first_stop(d, target, free, sign)
            d = centers(a + length * (b - a) for a, b in zip(d, target, strict=True))
            if stops is not None:
                j, t = stops
                d[j], free[j] = t - self.theta[j], False
                sign[j] = 0 if t == 0 else sign[j]
                continue
            leaves = self._leaves(d, free)
            if leaves is None:
                return d
            j, way = leaves
            free[j] = True
            if P.l1[j] != 0 and self.theta[j] + d[j] == 0:
                sign[j] = way
        return d

    def _of_free(self, d: list[arb], free: list[bool], sign: list[int]) -> list[arb]:
        """d with the free coordinates at the minimum given the others."""
        F = [j for j in range(self.m) if free[j]]
        if not F:
            return d
        held = [ZERO if free[j] else d[j] for j in range(self.m)]
        right = [
            -(self.slope(held, j) + self.problem.l1[j] * sign[j]) / self.root[j] for j in F
        ]  # fmt: skip
        H = arb_mat(
            len(F), len(F), [self.H[i][j] / (self.root[i] * self.root[j]) for i in F for j in F]
        )
        solved = H.solve(column(right)).entries()
        new = list(d)
        for j, value in zip(F, solved, strict=True):
            new[j] = (value / self.root[j]).mid()
        return new

    def _first_stop(
        self, d: list[arb], target: list[arb], free: list[bool], sign: list[int]
    ) -> tuple[arb, tuple[int, arb] | None]:
        """How far towards the target no coordinate changes its sign or passes a bound."""
        length, stops = ONE, None
        for j in range(self.m):
            if not free[j] or target[j] == d[j]:
                continue
            now, then = self.theta[j] + d[j], self.theta[j] + target[j]
            ends = [(self.problem.low[j], -1), (self.problem.high[j], 1)]
            if self.problem.l1[j] != 0:
                ends.append((ZERO, -sign[j]))
            for end, way in ends:
                if end is not None and (then - end) * way > 0:
                    reached = ((end - now) / (then - now)).mid()
                    if reached < length:
                        length, stops = max(reached, ZERO), (j, end)
        return length, stops

    def _leaves(self, d: list[arb], free: list[bool]) -> tuple[int, int] | None:
        """The held coordinate that gains most by moving, and which way."""
        best, found = ZERO, None
        for j in range(self.m):
            if free[j]:
                continue
            slope, l1 = self.slope(d, j), self.problem.l1[j]
            t, low, high = self.theta[j] + d[j], self.problem.low[j], self.problem.high[j]
            for way in (1, -1):
                if (way < 0 and low is not None and t <= low) or (
                    way > 0 and high is not None and t >= high
                ):
                    continue
                rate = -way * slope - (l1 if t == 0 else l1 * way * (1 if t > 0 else -1))
                rate = rate / self.root[j]
                noise = LIFT * (abs(self.g[j]) / self.root[j])
                if rate > best + noise:
                    best, found = rate, (j, way)
        return found
