r"""A dual point for a hinge loss whose model has none: proximal steps in a, each by Newton in w.

With x̂ = (x, c), c the constant column of the intercept, θ its coefficients and e the slopes of
l1‖θ‖₁, a step from (a, e) minimises over θ

    φ(θ) = l2/2 ‖θ‖² + Σ_i ω_i h(a_i + σ(1 − m_i))/σ + Σ_j k(e_j + τθ_j)/τ,      m = y x̂ᵀθ

    h' = clip(·, 0, 1),   k' = clip(·, −l1, l1)

which is smooth, and moves a to h', e to k'. The steps raise D for any σ, τ > 0, faster for larger
ones. φ is piecewise quadratic: H = l2 I + σ Σ ω x̂x̂ᵀ over rows with 0 < h' < 1, and τ where
|k'| < l1.

The point need not be trusted: the caller computes the bound that it proves. For rows in memory a is
an array; for those that are read block by block it is given by the steps (``_dual_steps``).
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import FunctionTo, Matrix, RowData

MAX_FACTORED_COLUMNS = 1000  # up to which H is factored; beyond, conjugate gradients
MAX_PASSES = 400  # over the rows
INNER_TOL = 0.02  # ½‖∇φ‖² relative to the gap, below which the next proximal step is due
EXCESS_SHARE = 0.01  # of the model's own excess: the bound need not be closer to the optimum
SIGMA_GROWTH = 5.0  # of σ and τ from step to step
FIRST_SIGMA = 4.0
MAX_SIGMA = 1e9  # beyond it rounding dominates
SLOPE_TOL = 0.1  # share of the initial slope that a line search may leave
MAX_BISECTIONS = 30  # of a line search


def scores(
    X: np.ndarray, _y: np.ndarray, _s: np.ndarray, out: np.ndarray, u: np.ndarray, c: float
) -> tuple[Any]:
    """Write x̂ᵀu into ``out``."""
    out[:] = X @ u[:-1] + c * u[-1]
    return (0.0,)


def slopes(X: np.ndarray, _y: np.ndarray, _s: np.ndarray, G: np.ndarray, c: float) -> tuple[Any]:
    """Return Σ g x̂ for each column of G."""
    return (np.vstack([X.T @ G, c * G.sum(axis=0)]),)


def squares(X: np.ndarray, _y: np.ndarray, _s: np.ndarray, h: np.ndarray, c: float) -> tuple[Any]:
    """Return Σ h x̂x̂ᵀ over rows with h > 0."""
    at = np.flatnonzero(h)
    Z = dense(X[at]).astype(float)
    Z = np.hstack([Z, np.full((len(at), 1), c)]) * np.sqrt(h[at])[:, None]
    return (np.dot(Z.T, Z),)


def diagonal(
    X: Matrix, _y: np.ndarray, _s: np.ndarray | None, h: np.ndarray, c: float
) -> tuple[Any]:
    """Return Σ h x̂²."""
    square = np.square(X, dtype=float) if isinstance(X, np.ndarray) else X.power(2)
    return (np.append(square.T @ h, c * c * h.sum()),)


class DualSearch:
    """The penalty of one column's problem, and the number of passes made."""

    def __init__(self, p: int, l1: float, l2: float, penalized: bool):
        self.l1, self.l2 = np.full(p + 1, float(l1)), np.full(p + 1, float(l2))
        if not penalized:
            self.l1[-1] = self.l2[-1] = 0.0
        self.passes = 0

    def penalty(self, theta: np.ndarray) -> float:
        return float(self.l1 @ np.abs(theta) + self.l2 @ theta**2 / 2)

    def dual(self, plus: float, minus: float, V: np.ndarray) -> tuple[float, float]:
        """Return D of the point, made feasible as the caller will do it, and the loss by that."""
        l1, l2, rho, tau = self.l1, self.l2, np.ones(2), 1.0
        raw = plus + minus - self._conjugate(V[:, 0] - V[:, 1])
        if l1[-1] == l2[-1] == 0 and plus != minus:  # the intercept is free
            rho = np.minimum([minus / plus, plus / minus] if plus and minus else [0.0, 0.0], 1.0)
        v = V @ (rho * [1.0, -1.0])
        if (l2[:-1] == 0).any():
            tau = min(1.0, l1[0] / np.abs(v[:-1]).max(initial=l1[0]))
        D = float(tau * (rho @ [plus, minus])) - self._conjugate(tau * v)
        return D, raw - D

    def _conjugate(self, v: np.ndarray) -> float:
        excess = np.maximum(np.abs(v) - self.l1, 0.0)
        where = self.l2 > 0
        return float(np.sum(excess[where] ** 2 / (2 * self.l2[where])))


class PointSums(NamedTuple):
    """Sums over rows at θ and h."""

    loss: float  # Σ ω [1 − m]₊
    plus: float  # Σ ω h of y = 1
    minus: float
    V: np.ndarray  # Σ ω h x̂ of either, (p + 1, 2)


class ProximalRows(Protocol):
    """Rows with their m at θ, and a."""

    def at_model(self, theta: np.ndarray) -> PointSums:
        """Return the sums at the model's θ, where h = 1 for m < 1, else 0."""

    def begin(self, sigma: float) -> None:
        """Let a = clip(½ + σ(1 − m), 0, 1)."""

    def evaluate(self, sigma: float) -> PointSums:
        """Return the sums at h = clip(a + σ(1 − m), 0, 1)."""

    @property
    def point(self) -> Any:
        """h, as the caller takes it."""

    def accept(self) -> None:
        """Let a be h."""

    def solve(self, sigma: float, ridge: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Return (σ Σ ω x̂x̂ᵀ + diag ridge)⁻¹ g over rows with 0 < h < 1, approximately."""

    def length(self, penalty_slope: FunctionTo[float], sigma: float, d: np.ndarray) -> float:
        """Return t > 0 where the slope of φ along d is nearly 0; 0 if it does not fall."""

    def move(self, t: float) -> None:
        """Move by t in the direction of ``length``."""


class StoredRows:
    """Rows in memory: y, ω, m, a and h are arrays."""

    def __init__(
        self, search: DualSearch, data: RowData, y: np.ndarray, omega: np.ndarray, c: float
    ):
        self.search, self.data, self.y, self.omega, self.c = search, data, y, omega, c

    def scores(self, u: np.ndarray) -> Any:
        out = np.empty(len(self.y))
        self.data.reduce(scores, u, self.c, beside=(out,))
        self.search.passes += 1
        return out

    def slopes(self, G: np.ndarray) -> Any:
        self.search.passes += 1
        return self.data.reduce(slopes, self.c, beside=(G,))[0]

    def at_model(self, theta: np.ndarray) -> PointSums:
        y, omega = self.y, self.omega
        self.m = y * self.scores(theta)
        self.h = np.where(self.m < 1, 1.0, 0.0)
        plus, minus = omega[y > 0].sum(), omega[y < 0].sum()
        loss = omega @ np.maximum(1 - self.m, 0.0)
        return PointSums(float(loss), float(plus), float(minus), np.empty(0))

    def begin(self, sigma: float) -> None:
        self.a = np.clip(0.5 + sigma * (1 - self.m), 0.0, 1.0)

    def evaluate(self, sigma: float) -> PointSums:
        y, omega = self.y, self.omega
        self.h = h = np.clip(self.a + sigma * (1 - self.m), 0.0, 1.0)
        V = self.slopes(np.column_stack([omega * h * (y > 0), omega * h * (y < 0)]))
        loss = omega @ np.maximum(1 - self.m, 0.0)
        return PointSums(float(loss), float(omega @ (h * (y > 0))), float(omega @ (h * (y < 0))), V)

    @property
    def point(self) -> Any:
        return self.h

    def accept(self) -> None:
        self.a = self.h

    def solve(self, sigma: float, ridge: np.ndarray, g: np.ndarray) -> Any:
        on_kink = (self.h > 0) & (self.h < 1)
        h = sigma * self.omega * on_kink
        if len(g) <= MAX_FACTORED_COLUMNS + 1:
            H = self.data.reduce(squares, self.c, beside=(h,), square=True)[0]
            self.search.passes += 1
            return factored(H, ridge, g)
        d = self.data.reduce(diagonal, self.c, beside=(h,))[0] + ridge

        def product(p: np.ndarray) -> Any:
            return self.slopes((h * self.scores(p))[:, None])[:, 0]

        return by_conjugate_gradients(self.search, product, d, ridge, g)

    def length(self, penalty_slope: FunctionTo[float], sigma: float, d: np.ndarray) -> float:
        self.change = md = self.y * self.scores(d)
        a, m, omega = self.a, self.m, self.omega

        def slope(t: float) -> float:
            return penalty_slope(t) - float(
                omega @ (md * np.clip(a + sigma * (1 - m - t * md), 0.0, 1.0))
            )

        return zero_of_slope(slope)

    def move(self, t: float) -> None:
        self.m = self.m + t * self.change


def factored(H: np.ndarray, ridge: np.ndarray, g: np.ndarray) -> Any:
    """Return (H + diag ridge)⁻¹ g, computed on a unit diagonal; H is overwritten."""
    H.flat[:: len(g) + 1] += ridge
    size = np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
    H /= size
    H /= size[:, None]
    H.flat[:: len(g) + 1] += 1e-13
    return np.linalg.solve(H, g / size) / size


def by_conjugate_gradients(
    search: DualSearch,
    product: FunctionTo[np.ndarray],
    d: np.ndarray,
    ridge: np.ndarray,
    g: np.ndarray,
) -> np.ndarray:
    """Return (H + diag ridge)⁻¹ g approximately, d the diagonal of that matrix."""
    d[d == 0] = 1.0
    x, r = np.zeros_like(g), g.copy()
    z = r / d
    p, rz = z.copy(), r @ z
    first = rz
    while rz > 1e-4 * first and search.passes < MAX_PASSES:
        Hp = product(p) + ridge * p
        step = rz / (p @ Hp)
        x += step * p
        r -= step * Hp
        z = r / d
        rz, before = r @ z, rz
        p = z + rz / before * p
    return x


def dual_point(
    data: RowData,
    y: np.ndarray,
    omega: np.ndarray,
    w: np.ndarray,
    b: np.ndarray,
    l1: float,
    l2: float,
    fit_intercept: bool,
    scaling: float | None,
    tol: float,
) -> Any:
    """Return the a (n,) of the highest D that was found, starting from that of (w, b)."""
    c = constant(fit_intercept, scaling)
    search = DualSearch(len(w), l1, l2, penalized=not (fit_intercept and scaling is None))
    return searched(search, StoredRows(search, data, y, omega, c), w, b, c, tol)


def constant(fit_intercept: bool, scaling: float | None) -> float:
    """Return c, 0 without an intercept."""
    return (1.0 if scaling is None else float(scaling)) if fit_intercept else 0.0


def searched(
    search: DualSearch, rows: ProximalRows, w: np.ndarray, b: np.ndarray, c: float, tol: float
) -> Any:
    """Return the point of the highest D that was found, starting from that of (w, b)."""
    theta = np.append(w, b / c if c else 0.0)
    sums = rows.at_model(theta)
    best = rows.point
    if not (np.isfinite(theta).all() and np.isfinite(sums.loss)):
        return best
    model_objective = sums.loss + search.penalty(theta)
    f0 = 2 * min(sums.plus, sums.minus) if c else sums.plus + sums.minus
    try:
        return _ascend(search, rows, theta, best, model_objective, max(tol * f0 / 4, 0.0))
    except np.linalg.LinAlgError:
        return best


def _ascend(
    search: DualSearch,
    rows: ProximalRows,
    theta: np.ndarray,
    best: Any,
    model_objective: float,
    goal: float,
) -> Any:
    l1, l2 = search.l1, search.l2
    sigma, highest = FIRST_SIGMA, -np.inf
    rows.begin(sigma)
    e, size = np.clip(l1 * np.sign(theta), -l1, l1), np.abs(theta).max(initial=0.0)
    tau = l1.max() / (size or 1.0)
    while search.passes < MAX_PASSES:
        k = np.clip(e + tau * theta, -l1, l1)
        loss, plus, minus, V = rows.evaluate(sigma)
        g = l2 * theta + k - V[:, 0] + V[:, 1]
        P = loss + search.penalty(theta)
        D, feasibility_cost = search.dual(plus, minus, V)
        if highest < D:
            best, highest = rows.point, D
        excess = model_objective - highest
        if excess <= goal or min(P, model_objective) - highest <= EXCESS_SHARE * excess:
            break
        weight = l2 + (np.abs(k) < l1) * tau
        gradient_gain = np.sum(np.divide(g**2, 2 * weight, out=np.zeros_like(g), where=weight > 0))
        t = 0.0
        if gradient_gain + feasibility_cost > INNER_TOL * (P - D):
            # a small ridge keeps the step finite where neither rows nor penalties curve φ
            ridge = np.maximum(weight, 1e-4 * weight.max())
            d = -rows.solve(sigma, ridge, g)
            t = rows.length(_penalty_slope(search, theta, d, e, tau), sigma, d)
        if t > 0:
            theta = theta + t * d
            rows.move(t)
        elif sigma >= MAX_SIGMA:
            break
        else:
            rows.accept()
            e = k
            sigma, tau = SIGMA_GROWTH * sigma, SIGMA_GROWTH * tau
    return best


def _penalty_slope(
    search: DualSearch, theta: np.ndarray, d: np.ndarray, e: np.ndarray, tau: float
) -> FunctionTo[float]:
    l1, l2 = search.l1, search.l2

    def slope(t: float) -> float:
        x = theta + t * d
        return float(d @ (l2 * x + np.clip(e + tau * x, -l1, l1)))

    return slope


def zero_of_slope(slope: FunctionTo[float]) -> float:
    """Return t > 0 where a rising slope is nearly 0; 0 where it is not negative at 0."""
    first, low, high, t = slope(0.0), 0.0, np.inf, 1.0
    if not first < 0:
        return 0.0
    for _ in range(MAX_BISECTIONS):
        slope_t = slope(t)
        if abs(slope_t) <= SLOPE_TOL * abs(first):
            return t
        low, high = (t, high) if slope_t < 0 else (low, t)
        t = 2 * t if np.isinf(high) else (low + high) / 2 if low > 0 else high / 16
    return low
