r"""A dual point for a hinge loss as steps, for rows that are read block by block.

    a_0 = 0,   a_j = clip(a_{j−1} + σ_j(1 − y x̂ᵀθ_j), 0, 1)

The search is that of ``_dual``; a of each row is computed again from the steps in every pass, and
a line search evaluates many lengths in one pass.
"""

from typing import Any

import numpy as np

from certus.proofs.hinge._dual import (
    MAX_FACTORED_COLUMNS,
    SLOPE_TOL,
    DualSearch,
    PointSums,
    by_conjugate_gradients,
    constant,
    diagonal,
    factored,
    searched,
    squares,
)
from certus.proofs.types import FunctionTo, Matrix, RowData

MODEL_SIGMA = 1e300  # of the model's own point: a = 1 where m < 1
LENGTHS = np.concatenate([[0.0], 2.0 ** -np.arange(8.0, 2.0, -1.0), np.linspace(0.2, 1.5, 14)])
LONGER_LENGTHS = np.array([2.0, 4.0, 16.0])
N_LENGTHS = 16  # of a further pass, between two lengths
SHORTER_LENGTHS = np.geomspace(1e-6, 0.7, N_LENGTHS)  # of the shortest with a positive slope
MAX_LENGTH_PASSES = 10


def dual_steps(
    data: RowData,
    column: int,
    factor: np.ndarray,
    w: np.ndarray,
    b: np.ndarray,
    l1: float,
    l2: float,
    fit_intercept: bool,
    scaling: float | None,
    tol: float,
) -> np.ndarray:
    """Return (σ, θ) of the steps to a good dual point, (K, p + 2).

    ``column``: of the class whose rows have y = 1. ``factor``: C c of y = −1 and of y = 1.
    """
    c = constant(fit_intercept, scaling)
    search = DualSearch(len(w), l1, l2, penalized=not (fit_intercept and scaling is None))
    steps: np.ndarray = searched(search, StepRows(search, data, column, factor, c), w, b, c, tol)
    return steps


class StepRows:
    """Rows of which nothing is kept but the steps made."""

    def __init__(
        self, search: DualSearch, data: RowData, column: int, factor: np.ndarray, c: float
    ):
        self.search, self.data, self.c = search, data, c
        self.signs = column, np.asarray(factor, dtype=float)

    def _reduce(self, statistic: FunctionTo[Any], *args: Any, **options: Any) -> Any:
        self.search.passes += 1
        return self.data.reduce(statistic, *self.signs, self.c, *args, **options)

    def at_model(self, theta: np.ndarray) -> PointSums:
        self.theta = theta
        self.ahead = np.append(MODEL_SIGMA, theta)[None]
        sums: PointSums = self._reduce(bounds_and_loss, theta)
        return sums

    def begin(self, sigma: float) -> None:
        half = np.zeros(len(self.theta) + 1)
        half[0] = 0.5  # σ(1 − m) = ½ at θ = 0
        self.steps = np.stack([half, np.append(sigma, self.theta)])

    def evaluate(self, sigma: float) -> PointSums:
        self.ahead = np.vstack([self.steps, np.append(sigma, self.theta)])
        sums: PointSums = self._reduce(point_sums, self.ahead)
        return sums

    @property
    def point(self) -> np.ndarray:
        return self.ahead

    def accept(self) -> None:
        self.steps = self.ahead

    def solve(self, sigma: float, ridge: np.ndarray, g: np.ndarray) -> Any:
        if len(g) <= MAX_FACTORED_COLUMNS + 1:
            H = self._reduce(on_kink, self.ahead, squares, (), square=True)[0]
            return factored(H, ridge, g)
        d = self._reduce(on_kink, self.ahead, diagonal, ())[0] + ridge

        def product(p: np.ndarray) -> Any:
            return self._reduce(on_kink, self.ahead, curvature_times, (p,))[0]

        return by_conjugate_gradients(self.search, product, d, ridge, g)

    def length(self, penalty_slope: FunctionTo[float], sigma: float, d: np.ndarray) -> float:
        self.direction = d

        def slopes(lengths: np.ndarray) -> np.ndarray:
            (sums,) = self._reduce(slopes_along, self.ahead, d, lengths, times=2)
            return np.array([penalty_slope(float(t)) for t in lengths]) - sums

        return zero_of_slopes(slopes)

    def move(self, t: float) -> None:
        self.theta = self.theta + t * self.direction


def _signs(
    y: np.ndarray, s: np.ndarray | None, column: int, factor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return y = ±1 and ω of a block."""
    positive = y[:, 0] == column
    omega = np.where(positive, factor[1], factor[0])
    return np.where(positive, 1.0, -1.0), omega if s is None else s * omega


def shares_along(
    X: Matrix, sign: np.ndarray, steps: np.ndarray, c: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a + σ(1 − m) before the last clip, and the last m."""
    Z = np.asarray(X @ steps[:, 1:-1].T + c * steps[:, -1])
    t, m = np.zeros(len(sign)), np.zeros(len(sign))
    for sigma, z in zip(steps[:, 0], Z.T, strict=True):
        m = sign * z
        t = np.clip(t, 0.0, 1.0) + sigma * (1 - m)
    return np.nan_to_num(t), m


def bounds_and_loss(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, column: int, factor: np.ndarray, c: float,
    theta: np.ndarray,
) -> PointSums:  # fmt: skip
    """Return Σ ω [1 − m]₊, and Σ ω of either sign."""
    sign, omega = _signs(y, s, column, factor)
    m = sign * np.asarray(X @ theta[:-1] + c * theta[-1])
    plus, minus = omega[sign > 0].sum(), omega[sign < 0].sum()
    loss = omega @ np.maximum(1 - m, 0.0)
    return PointSums(float(loss), float(plus), float(minus), np.zeros(0))


def point_sums(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, column: int, factor: np.ndarray, c: float,
    ahead: np.ndarray,
) -> PointSums:  # fmt: skip
    """Return the sums of one block at the last of the steps."""
    sign, omega = _signs(y, s, column, factor)
    t, m = shares_along(X, sign, ahead, c)
    h = omega * np.clip(t, 0.0, 1.0)
    G = np.column_stack([h * (sign > 0), h * (sign < 0)])
    plus, minus = G.sum(axis=0)
    V = np.vstack([X.T @ G, c * G.sum(axis=0)])
    loss = omega @ np.maximum(1 - m, 0.0)
    return PointSums(float(loss), float(plus), float(minus), V)


def on_kink(
    X: Any, y: np.ndarray, s: np.ndarray | None, column: int, factor: np.ndarray, c: float,
    ahead: np.ndarray, statistic: FunctionTo[Any], args: tuple[Any, ...],
) -> Any:  # fmt: skip
    """Return a statistic of the rows with 0 < h < 1, for σω of each."""
    sign, omega = _signs(y, s, column, factor)
    t, _ = shares_along(X, sign, ahead, c)
    at = (t > 0) & (t < 1)
    return statistic(X[at], None, None, ahead[-1, 0] * omega[at], *args, c)


def curvature_times(
    X: Matrix, _y: None, _s: None, h: np.ndarray, p: np.ndarray, c: float
) -> tuple[Any]:
    """Return Σ h x̂x̂ᵀp."""
    z = h * np.asarray(X @ p[:-1] + c * p[-1])
    return (np.append(X.T @ z, c * z.sum()),)


def slopes_along(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, column: int, factor: np.ndarray, c: float,
    ahead: np.ndarray, d: np.ndarray, lengths: np.ndarray,
) -> tuple[np.ndarray]:  # fmt: skip
    """Return Σ ω md clip(a + σ(1 − m − t md), 0, 1) for several lengths t."""
    sign, omega = _signs(y, s, column, factor)
    t0, _ = shares_along(X, sign, ahead, c)
    md = sign * np.asarray(X @ d[:-1] + c * d[-1])
    shares = np.clip(t0[:, None] - ahead[-1, 0] * md[:, None] * lengths, 0.0, 1.0)
    return ((omega * md) @ shares,)


def zero_of_slopes(slopes: FunctionTo[np.ndarray]) -> float:
    """Return t > 0 where a rising slope is nearly 0; 0 where it is not negative at 0."""
    lengths = np.concatenate([LENGTHS, LONGER_LENGTHS])
    values = slopes(lengths)
    first = float(values[0])
    if not first < 0:
        return 0.0
    low, high = 0.0, np.inf
    for _ in range(MAX_LENGTH_PASSES):
        best = int(np.argmin(np.abs(values)))
        if lengths[best] > 0 and abs(values[best]) <= SLOPE_TOL * abs(first):
            return float(lengths[best])
        low = max(low, float(lengths[values < 0].max(initial=low)))
        high = min(high, float(lengths[values >= 0].min(initial=high)))
        if np.isinf(high):
            lengths = low * LONGER_LENGTHS**2
        elif low == 0:
            lengths = high * SHORTER_LENGTHS
        else:
            lengths = low + (high - low) * np.arange(1, N_LENGTHS) / N_LENGTHS
        values = slopes(lengths)
    return low
