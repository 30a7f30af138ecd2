r"""Penalties of linear regression: their values, conjugates and subdifferentials.

    pen*(v) = sup_w vᵀw − pen(w)        F(w, b) ≥ (1/D) Σ_i s_i G_i(a_i) − pen*(v)

Each has ``value``; ``excludes``, why a w is infeasible; ``nearest_to_zero``, the feasible w that
stands for 0; ``support``, (c, t) with pen*(τv) ≤ τc for every 0 ≤ τ ≤ t; ``conjugate``, a bound of
pen*(v); ``distance``, a bound of the distance of v_j to the subdifferential at w_j; and ``split``,
(h, ε) with

    pen(u) ≥ pen(w) + (v − h')ᵀ(u − w) − Σ_j ε_j      for every u and some h' with |h'_j| ≤ h_j,

of which (distance, 0) is one. All bounds hold for every v within ``error``.

Arrays are p×k in the user's units, and each column of w is a separate problem.
"""

from typing import Any, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, gamma

ROUND_DOWN = 1 - 2.0**-50  # factor that makes a rounded quotient a lower bound


def cheaper_split(
    cost: np.ndarray, first: tuple[Any, Any], second: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Choose, for each coordinate, the (h, ε) with the smaller (h·cost)² + ε."""
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = ((h * cost) ** 2 + epsilon for h, epsilon in (first, second))
    take = b < a
    return np.where(take, second[0], first[0]), np.where(take, second[1], first[1])


class PenaltyTerm(Protocol):
    """Interface: pen(w) of w (p, k), one number for each column."""

    @property
    def convex(self) -> bool: ...

    @property
    def bounded(self) -> bool:
        """Whether pen* is finite near 0."""
        ...

    @property
    def l2(self) -> float:
        """Lower bound of the curvature."""
        ...

    def value(self, w: np.ndarray) -> np.ndarray: ...

    def excludes(self, w: np.ndarray) -> str:
        """Return why w is infeasible, or ""."""
        ...

    def nearest_to_zero(self, w: np.ndarray) -> np.ndarray:
        """The feasible w that stands for w = 0."""
        ...

    def support(self, v: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(c, τ) with pen*(tv) ≤ tc for t ≤ τ and every v within ``error``. Convex terms only."""
        ...

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Bound of pen*(v) for every v within ``error``. Convex terms only."""
        ...

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Bounds of the distance of v_j to ∂pen(w)_j."""
        ...

    def split(
        self, w: np.ndarray, v: np.ndarray, error: np.ndarray, cost: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cheapest (h, ε) with pen(u) ≥ pen(w) + (v − h)(u − w) − ε. Convex terms only."""
        ...


class ElasticNetTerm:
    """l1‖w‖₁ + l2/2 ‖w‖², over w ≥ 0 if ``positive``.

    pen* = Σ_j [|v_j| − l1]₊²/(2 l2), with v_j for |v_j| if ``positive``; for l2 = 0, pen* = 0 if
    all terms are 0, else infinite.
    """

    convex = True

    def __init__(self, l1: float, l2: float, positive: bool = False):
        self.l1, self.l2, self.positive = float(l1), float(l2), positive
        self.bounded = self.l1 > 0 or self.l2 > 0  # pen* is finite near 0

    def value(self, w: np.ndarray) -> Any:
        value = self.l1 * np.abs(w).sum(axis=0)
        return value + self.l2 / 2 * (w * w).sum(axis=0) if self.l2 else value

    def excludes(self, w: np.ndarray) -> str:
        below = self.positive and (w < 0).any()
        return "a coefficient is below 0, which positive=True excludes" if below else ""

    def nearest_to_zero(self, w: np.ndarray) -> Any:
        return np.zeros_like(w)

    def _size(self, v: np.ndarray, error: np.ndarray) -> Any:
        return ((v if self.positive else np.abs(v)) + error) * (1 + gamma(4))

    def support(self, v: np.ndarray, error: np.ndarray) -> tuple[Any, Any]:
        largest = self._size(v, error).max(axis=0, initial=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(largest > 0, self.l1 / largest, np.inf) * ROUND_DOWN
        return np.zeros_like(bound), bound

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> Any:
        beyond = np.maximum(self._size(v, error) - self.l1, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(beyond > 0, beyond**2 / (2 * self.l2), 0.0).sum(axis=0)
        return bound * (1 + gamma(len(v) + 8))

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> Any:
        at_zero = np.maximum(self._size(v, error) - self.l1, 0.0)
        pull = self.l1 * np.sign(w) + self.l2 * w
        return np.where(w == 0, at_zero, np.abs(v - pull) + error + 4 * UNIT * np.abs(pull))

    def split(
        self, w: np.ndarray, v: np.ndarray, error: np.ndarray, cost: np.ndarray
    ) -> tuple[Any, Any]:
        """Treat a w_j near 0 as 0 where that is cheaper: l1|u| ≥ zu for every |z| ≤ l1."""
        smooth = v - self.l2 * w
        error = error + 2 * UNIT * (np.abs(v) + self.l2 * np.abs(w))
        z = np.clip(smooth, -np.inf if self.positive else -self.l1, self.l1)
        epsilon = np.abs(w) * (self.l1 - np.sign(w) * z + error + 4 * UNIT * np.abs(z))
        as_zero = np.maximum(self._size(smooth, error) - self.l1, 0.0)
        exactly = self.distance(w, v, error), np.zeros_like(w)
        return cheaper_split(cost, exactly, (as_zero, epsilon))


class GroupTerm:
    """strength Σ_g √|g| ‖w_g‖₂. pen* is 0 where every ‖v_g‖₂ ≤ strength √|g|, else infinite."""

    convex = bounded = True
    l2 = 0.0

    def __init__(self, strength: float, groups: list[Any], p: int):
        self.group = group_numbers(groups, p)
        self.radius = float(strength) * np.sqrt(np.bincount(self.group))[:, None]

    def _norms(self, v: np.ndarray) -> Any:
        """‖v_g‖₂, (groups, k), without overflow of squares."""
        largest = np.zeros((len(self.radius), v.shape[1]))
        np.maximum.at(largest, self.group, np.abs(v))
        unit = np.where(largest > 0, largest, 1.0)
        squares = np.zeros_like(largest)
        np.add.at(squares, self.group, (v / unit[self.group]) ** 2)
        return unit * np.sqrt(squares)

    def value(self, w: np.ndarray) -> Any:
        return (self.radius * self._norms(w)).sum(axis=0)

    def excludes(self, w: np.ndarray) -> str:
        return ""

    def nearest_to_zero(self, w: np.ndarray) -> Any:
        return np.zeros_like(w)

    def support(self, v: np.ndarray, error: np.ndarray) -> tuple[Any, Any]:
        norms = self._norms(np.abs(v) + error) * (1 + gamma(len(v) + 8))
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.where(norms > 0, self.radius / norms, np.inf).min(axis=0) * ROUND_DOWN
        return np.zeros_like(bound), bound

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> Any:
        return np.full(v.shape[1], np.inf)  # ``support`` says all

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> Any:
        """Distance to the ball for groups that are 0, to the gradient for the others."""
        size, length = self._norms(v), self._norms(w)
        inside = self._norms(np.abs(v) + error) * (1 + gamma(len(v) + 8)) <= self.radius
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = np.where(size > self.radius, self.radius / size, 1.0)[self.group] * v
            pull = np.where(length > 0, self.radius / length, 0.0)[self.group] * w
        chosen = np.where(length[self.group] > 0, pull, nearest)
        h = np.abs(v - chosen) + error + gamma(len(v) + 8) * np.abs(chosen)
        return np.where((length == 0)[self.group] & inside[self.group], 0.0, h)

    def split(
        self, w: np.ndarray, v: np.ndarray, error: np.ndarray, cost: np.ndarray
    ) -> tuple[Any, Any]:
        return self.distance(w, v, error), np.zeros_like(w)


class BoxTerm:
    """low ≤ w ≤ high. pen* = Σ_j max(low_j v_j, high_j v_j)."""

    convex = True
    l2 = 0.0

    def __init__(
        self, low: float | list[float] | np.ndarray, high: float | list[float] | np.ndarray, p: int
    ):
        self.low, self.high = (
            np.broadcast_to(np.asarray(side, dtype=float).reshape(-1, 1), (p, 1))
            for side in (low, high)
        )
        self.bounded = bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    def value(self, w: np.ndarray) -> Any:
        return np.zeros(w.shape[1])

    def excludes(self, w: np.ndarray) -> str:
        outside = ((w < self.low) | (w > self.high)).any()
        return "a coefficient is outside the box" if outside else ""

    def nearest_to_zero(self, w: np.ndarray) -> Any:
        return np.clip(np.zeros_like(w), self.low, self.high)

    def support(self, v: np.ndarray, error: np.ndarray) -> tuple[Any, Any]:
        with np.errstate(invalid="ignore"):
            ends = np.stack([side * (v + e) for side in (self.low, self.high)
                             for e in (error, -error)])  # fmt: skip
            ends = np.where(np.isnan(ends), 0.0, ends)  # 0·∞
        size = np.abs(ends).max(axis=0)
        bound = (ends.max(axis=0) + gamma(len(v) + 4) * size).sum(axis=0)
        return bound, np.full(v.shape[1], np.inf)

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> Any:
        return np.full(v.shape[1], np.inf)  # ``support`` says all

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> Any:
        up = np.where(w >= self.high, 0.0, np.maximum(v + error, 0.0))
        down = np.where(w <= self.low, 0.0, np.maximum(error - v, 0.0))
        return np.maximum(up, down)

    def split(
        self, w: np.ndarray, v: np.ndarray, error: np.ndarray, cost: np.ndarray
    ) -> tuple[Any, Any]:
        """v(u − w) is largest at an end of the interval, and small there if w_j is close to it."""
        with np.errstate(invalid="ignore"):
            up, down = (self.high - w) * (v + error), (self.low - w) * (v - error)
        epsilon = np.fmax(np.fmax(up, down), 0.0) * (1 + gamma(4))
        exactly = self.distance(w, v, error), np.zeros_like(w)
        return cheaper_split(cost, exactly, (np.zeros_like(w), epsilon))


class SimplexTerm:
    """w ≥ 0, Σ_j w_j = total. pen* = total · max_j v_j."""

    convex = bounded = True
    l2 = 0.0

    def __init__(self, total: float):
        self.total = float(total)

    def value(self, w: np.ndarray) -> Any:
        return np.zeros(w.shape[1])

    def excludes(self, w: np.ndarray) -> str:
        if (w < 0).any():
            return "a coefficient is below 0, which the simplex excludes"
        difference = np.abs(w.sum(axis=0) - self.total)
        if (difference > gamma(4 * len(w) + 64) * self.total).any():  # rounding of the sum
            return f"the coefficients do not sum to {self.total:g}, as the simplex requires"
        return ""

    def nearest_to_zero(self, w: np.ndarray) -> Any:
        return np.full_like(w, self.total / len(w))

    def support(self, v: np.ndarray, error: np.ndarray) -> tuple[Any, Any]:
        largest, size = (v + error).max(axis=0), (np.abs(v) + error).max(axis=0)
        bound = self.total * (largest + gamma(4) * size)
        return bound, np.full(v.shape[1], np.inf)

    def conjugate(self, v: np.ndarray, error: np.ndarray) -> Any:
        return np.full(v.shape[1], np.inf)  # ``support`` says all

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> Any:
        """Distance to v_j = μ where w_j > 0 and v_j ≤ μ where w_j = 0, with μ the w-mean of v."""
        level = (w * v).sum(axis=0) / np.maximum(w.sum(axis=0), np.finfo(float).tiny)
        slack = error + gamma(4) * (np.abs(v) + np.abs(level))
        above = v - level
        return np.where(w > 0, np.abs(above) + slack, np.maximum(above + slack, 0.0))

    def split(
        self, w: np.ndarray, v: np.ndarray, error: np.ndarray, cost: np.ndarray
    ) -> tuple[Any, Any]:
        return self.distance(w, v, error), np.zeros_like(w)


class ConcaveTerm:
    """λ|u| near 0, with a decreasing slope, constant from γλ on: no bound is known.

    MCP: slope λ − |u|/γ.   SCAD: λ up to λ, then (γλ − |u|)/(γ − 1).
    """

    convex = bounded = False
    l2 = 0.0

    def __init__(self, strength: float, gamma: float):
        self.strength, self.gamma = float(strength), float(gamma)

    def excludes(self, w: np.ndarray) -> str:
        return ""

    def nearest_to_zero(self, w: np.ndarray) -> Any:
        return np.zeros_like(w)

    def slope(self, u: np.ndarray) -> Any:
        raise NotImplementedError

    def bend(self, w: np.ndarray) -> Any:
        """−pen''(w_j), which the curvature of the loss must exceed."""
        raise NotImplementedError

    def distance(self, w: np.ndarray, v: np.ndarray, error: np.ndarray) -> Any:
        at_zero = np.maximum(np.abs(v) + error - self.strength, 0.0)
        pull = np.sign(w) * self.slope(np.abs(w))
        return np.where(w == 0, at_zero, np.abs(v - pull) + error + 8 * UNIT * self.strength)


class MCPTerm(ConcaveTerm):
    """λ|u| − u²/(2γ) for |u| ≤ γλ, γλ²/2 beyond."""

    def value(self, w: np.ndarray) -> Any:
        u = np.minimum(np.abs(w), self.gamma * self.strength)
        return (u * (self.strength - u / (2 * self.gamma))).sum(axis=0)

    def slope(self, u: np.ndarray) -> Any:
        return np.maximum(self.strength - u / self.gamma, 0.0)

    def bend(self, w: np.ndarray) -> Any:
        u = np.abs(w)
        return np.where((u > 0) & (u < self.gamma * self.strength), 1 / self.gamma, 0.0)


class SCADTerm(ConcaveTerm):
    """λ|u| up to λ; (2γλ|u| − u² − λ²)/(2(γ − 1)) up to γλ; λ²(γ + 1)/2 beyond."""

    def value(self, w: np.ndarray) -> Any:
        u, lam, g = np.abs(w), self.strength, self.gamma
        middle = lam * lam + (np.clip(u, lam, g * lam) - lam) * (
            (2 * g * lam - lam - np.clip(u, lam, g * lam)) / (2 * (g - 1))
        )
        return np.where(u <= lam, lam * u, middle).sum(axis=0)

    def slope(self, u: np.ndarray) -> Any:
        lam, g = self.strength, self.gamma
        return np.where(u <= lam, lam, np.maximum(g * lam - u, 0.0) / (g - 1))

    def bend(self, w: np.ndarray) -> Any:
        u, lam = np.abs(w), self.strength
        return np.where((u > lam) & (u < self.gamma * lam), 1 / (self.gamma - 1), 0.0)


def group_numbers(groups: list[Any], p: int) -> Any:
    """Group number of each column, (p,), from group labels or from lists of columns."""
    if len(groups) == p and all(np.ndim(group) == 0 for group in groups):
        return np.unique(np.asarray(groups), return_inverse=True)[1]
    number = np.full(p, -1)
    for g, columns in enumerate(groups):
        number[np.asarray(columns, dtype=int)] = g
    if (number < 0).any() or sum(len(columns) for columns in groups) != p:
        raise ValueError("every column must belong to exactly one group")
    return number


def term_of(penalty: dict[str, Any], p: int) -> PenaltyTerm:
    """Penalty from its name and parameters, for p columns."""
    parameters = dict(penalty)
    name = parameters.pop("name")
    if name in ("group_l2", "box"):
        parameters["p"] = p
    return PENALTY_TERMS[name](**parameters)


PENALTY_TERMS: dict[str, Any] = {
    "elastic_net": ElasticNetTerm,
    "group_l2": GroupTerm,
    "box": BoxTerm,
    "simplex": SimplexTerm,
    "mcp": MCPTerm,
    "scad": SCADTerm,
}
