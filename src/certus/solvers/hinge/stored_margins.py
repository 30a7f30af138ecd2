r"""Margins m, shares a and γ = clip(a + σ(1 − m), 0, 1) of rows in memory, as arrays."""

from collections.abc import Callable

import numpy as np

from ...data.rows import Rows
from .curvature import solve_near
from .dispatch import HingeProblem

SLOPE_TOL = 0.1  # share of the initial slope that a line search may leave
MAX_LENGTH_TRIALS = 60  # of a line search


class StoredMargins:
    """What proximal steps know of every row in memory.

    Changes along a direction are added to m, so that the line search does not need X.
    """

    def __init__(self, problem: HingeProblem, theta: np.ndarray, a: np.ndarray):
        self.problem, self.a = problem, a
        self.place(theta)

    def place(self, theta: np.ndarray) -> None:
        """Compute m at θ."""
        self.m = self.problem.y * self.problem.scores(theta)

    def evaluate(self, sigma: float, q: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return Σ u [1 − m]₊, Σ u γ and v = Σ u γ y x̂."""
        y, u = self.problem.y, self.problem.u
        self.t = self.a + sigma * (1 - self.m)
        self.gamma = np.clip(self.t, 0.0, 1.0)
        v = self.problem.sums(u * self.gamma * y)
        return float(u @ np.maximum(1 - self.m, 0.0)), float(u @ self.gamma), v

    @property
    def dual_point(self) -> np.ndarray:
        return self.problem.u * self.gamma

    def accept(self) -> None:
        """Let a ← γ."""
        self.a = self.gamma

    def solve(self, sigma: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return (σ Σ u (x̂∘q)(x̂∘q)ᵀ + diag ridge)⁻¹g over rows near their margin."""
        u, t = self.problem.u, self.t
        near = np.flatnonzero((t >= 0) & (t <= 1) & (u > 0))
        if not len(near):
            return np.asarray(g / ridge)
        subset = self.problem.rows.take(near)
        rows = Rows(subset.X, sigma * u[near][:, None], threads=subset.threads)
        return solve_near(rows, self.problem.c, q, ridge, g)

    def length(self, sigma: float, d: np.ndarray, linear: float, square: float) -> float:
        """Return t > 0 where the slope of φ along d, which rises with t, is nearly 0.

        Without the rows' part the slope is linear + t·square. Returns 0 where φ does not fall.
        """
        y, u = self.problem.y, self.problem.u
        self.change = md = y * self.problem.scores(d)
        t0, rate, weight = self.a + sigma * (1 - self.m), sigma * md, u * md

        def slope(t: float) -> float:
            return linear + t * square - float(weight @ np.clip(t0 - t * rate, 0.0, 1.0))

        return zero_of_slope(slope)

    def move(self, t: float) -> None:
        """Let m be the margins after a step of length t in the direction of ``length``."""
        self.m = self.m + t * self.change


def zero_of_slope(slope: Callable[[float], float]) -> float:
    """Return t > 0 where a rising slope is nearly 0; 0 where it is not negative at 0."""
    first = slope(0.0)
    if not first < 0:
        return 0.0
    low, f_low, high, f_high, t = 0.0, first, np.inf, np.inf, 1.0
    for trial in range(MAX_LENGTH_TRIALS):
        slope_t = slope(t)
        if abs(slope_t) <= SLOPE_TOL * abs(first):
            return t
        if slope_t < 0:
            low, f_low = t, slope_t
        else:
            high, f_high = t, slope_t
        if np.isinf(high):
            t *= 4
        elif trial % 2:
            t = (low + high) / 2 if low > 0 else high / 32
        else:  # the secant's zero
            t = low - f_low * (high - low) / (f_high - f_low)
    return low
