r"""Margins m, shares a and γ of rows that are read block by block: computed again in every pass.

Nothing is kept for a row, since a follows from the steps (σ_j, θ_j) that were made,

    a_0 = 0,   a_j = clip(a_{j−1} + σ_j(1 − y x̂ᵀθ_j), 0, 1),      γ the next one, at θ

which is a dual point for any steps, whatever rounding does to it. A line search evaluates many
lengths in one pass.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from .curvature import MAX_FACTORED_SIZE, by_conjugate_gradients, outer, solve_summed
from .dispatch import DualSteps, HingeProblem
from .stored_margins import SLOPE_TOL

FIRST_LENGTHS = np.array(  # near 1, which Newton's method proposes
    [1 / 256, 1 / 64, 1 / 32, 1 / 16, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2,
     1.5, 2.0, 4.0, 16.0]
)  # fmt: skip
N_LENGTHS = 16  # of a further pass, between two lengths
SHORTER_LENGTHS = np.geomspace(1e-6, 0.7, N_LENGTHS)  # of the shortest with a positive slope
MAX_LENGTH_PASSES = 10
BEFORE_ZERO_TOL = 0.3  # share of the initial slope that may be left before the zero


class KinkSums(NamedTuple):
    """Sums over rows at one θ."""

    loss: float  # Σ u [1 − m]₊
    total: float  # Σ u γ
    v: np.ndarray  # Σ u γ y x̂, (p + 1,)
    H: np.ndarray  # σ Σ u (x̂∘q)(x̂∘q)ᵀ over rows near their margin; empty for very many columns


class StreamedMargins:
    """What proximal steps sum over rows of a table, in one pass each."""

    def __init__(self, problem: HingeProblem, theta: np.ndarray, steps: DualSteps):
        self.problem, self.steps, self.theta = problem, steps, theta

    def place(self, theta: np.ndarray) -> None:
        """Move to θ."""
        self.theta = theta

    def evaluate(self, sigma: float, q: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return Σ u [1 − m]₊, Σ u γ and v = Σ u γ y x̂."""
        self.sums: KinkSums | None = None
        self.ahead = self.steps.after(sigma, self.theta)
        self.sums = self.problem.rows.reduce(
            kink_sums, self.ahead, self.problem.c, q, square=len(q) <= MAX_FACTORED_SIZE
        )
        return self.sums.loss, self.sums.total, self.sums.v

    @property
    def dual_point(self) -> DualSteps:
        return self.ahead

    def accept(self) -> None:
        """Let a ← γ, of the last ``evaluate``."""
        self.steps = self.ahead

    def solve(self, sigma: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return (σ Σ u (x̂∘q)(x̂∘q)ᵀ + diag ridge)⁻¹g over rows near their margin."""
        assert self.sums is not None
        near, c = NearMargin(self.problem.rows, self.ahead, self.problem.c), self.problem.c
        if not self.sums.H.size:
            return by_conjugate_gradients(near, c, q, ridge, g)
        return solve_summed(self.sums.H, near, c, q, ridge, g)

    def length(self, sigma: float, d: np.ndarray, linear: float, square: float) -> float:
        """Return t > 0 where the slope of φ along d, which rises with t, is nearly 0."""
        self.direction = d

        def slopes(lengths: np.ndarray) -> np.ndarray:
            (sums,) = self.problem.rows.reduce(
                slopes_along, self.ahead, self.problem.c, d, lengths, times=2
            )
            return np.asarray(linear + lengths * square - sums)

        return zero_of_slopes(slopes)

    def move(self, t: float) -> None:
        """Move by t in the direction of ``length``."""
        self.theta = self.theta + t * self.direction


class NearMargin:
    """The rows near their margin, as ``curvature`` sums over them."""

    def __init__(self, rows: Rows, ahead: DualSteps, c: float):
        self.rows, self.ahead, self.c = rows, ahead, c

    def reduce(self, statistic: Callable[..., Any], *args: Any, **options: Any) -> Any:
        options.pop("block_rows", None)
        return self.rows.reduce(_near_margin, self.ahead, self.c, statistic, args, **options)


def signed_margins(X: Any, y: np.ndarray, thetas: np.ndarray, c: float) -> Any:
    """Return y x̂ᵀθ for several θ (K, p + 1), (n, K)."""
    return y * (X @ thetas[:, :-1].T + c * thetas[:, -1])


def last_step(X: Any, y: np.ndarray, steps: DualSteps, c: float) -> tuple[np.ndarray, np.ndarray]:
    """Return t = a + σ(1 − m) of the last step, and its m."""
    M = signed_margins(X, y, steps.theta, c)
    t = np.zeros(len(M))
    for sigma, m in zip(steps.sigma, M.T, strict=True):
        t = np.clip(t, 0.0, 1.0) + sigma * (1 - m)
    return t, M[:, -1]


def kink_sums(
    X: Any, y: np.ndarray, u: np.ndarray, ahead: DualSteps, c: float, q: np.ndarray
) -> KinkSums:
    """Return the sums of one block at the last of the steps."""
    t, m = last_step(X, y, ahead, c)
    weight = u * np.clip(t, 0.0, 1.0)
    signed = weight * y[:, 0]
    v = np.append(np.dot(signed, X), c * signed.sum())
    H = np.empty((0, 0))
    if len(q) <= MAX_FACTORED_SIZE:
        near = (t >= 0) & (t <= 1) & (u > 0)
        (H,) = outer(X[near], ahead.sigma[-1] * u[near][:, None], None, c, q)
    return KinkSums(float(u @ np.maximum(1 - m, 0.0)), float(weight.sum()), v, H)


def slopes_along(
    X: Any,
    y: np.ndarray,
    u: np.ndarray,
    ahead: DualSteps,
    c: float,
    d: np.ndarray,
    lengths: np.ndarray,
) -> tuple[np.ndarray]:
    """Return Σ u md clip(t0 − lengths·σ md, 0, 1) of one block, md = y x̂ᵀd."""
    t0, _ = last_step(X, y, ahead, c)
    md = signed_margins(X, y, d[None], c)[:, 0]
    rate = ahead.sigma[-1] * md
    return ((u * md) @ np.clip(t0[:, None] - rate[:, None] * lengths, 0.0, 1.0),)


def _near_margin(
    X: Any,
    y: np.ndarray,
    u: np.ndarray,
    ahead: DualSteps,
    c: float,
    statistic: Callable[..., Any],
    args: Sequence[Any],
) -> Any:
    """Return a statistic of the rows near their margin, whose target is σu."""
    t, _ = last_step(X, y, ahead, c)
    near = (t >= 0) & (t <= 1) & (u > 0)
    return statistic(X[near], ahead.sigma[-1] * u[near][:, None], None, *args)


def zero_of_slopes(slopes: Callable[[np.ndarray], np.ndarray]) -> float:
    """Return t > 0 where a rising slope is nearly 0; 0 where it is not negative at 0.

    ``slopes(t)`` evaluates many t at once. Without one that is near enough, the largest t that was
    found with a negative slope.
    """
    lengths = np.append(0.0, FIRST_LENGTHS)
    values = slopes(lengths)
    first = float(values[0])
    if not first < 0:
        return 0.0
    low, high = 0.0, np.inf
    for _ in range(MAX_LENGTH_PASSES):
        near = (values >= BEFORE_ZERO_TOL * first) & (values <= -SLOPE_TOL * first) & (lengths > 0)
        if near.any():
            return float(lengths[near][np.argmin(np.abs(values[near]))])
        low = max(low, float(lengths[values < 0].max(initial=low)))
        high = min(high, float(lengths[values >= 0].min(initial=high)))
        if np.isinf(high):
            lengths = low * FIRST_LENGTHS[FIRST_LENGTHS > 1] ** 2
        elif low == 0:
            lengths = high * SHORTER_LENGTHS
        else:
            lengths = low + (high - low) * np.arange(1, N_LENGTHS) / N_LENGTHS
        values = slopes(lengths)
    return low
