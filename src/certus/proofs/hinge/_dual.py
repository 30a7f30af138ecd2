r"""A dual point for a hinge loss whose model has none: proximal steps in a, each by Newton in w.

With x̂ = (x, c), c the constant column of the intercept, θ its coefficients and e the slopes of
l1‖θ‖₁, a step from (a, e) minimises over θ

    φ(θ) = l2/2 ‖θ‖² + Σ_i ω_i h(a_i + σ(1 − m_i))/σ + Σ_j k(e_j + τθ_j)/τ,      m = y x̂ᵀθ

    h' = clip(·, 0, 1),   k' = clip(·, −l1, l1)

which is smooth, and moves a to h', e to k'. The steps raise D for any σ, τ > 0, faster for larger
ones. φ is piecewise quadratic: H = l2 I + σ Σ ω x̂x̂ᵀ over rows with 0 < h' < 1, and τ where
|k'| < l1.

The point need not be trusted: the caller computes the bound that it proves.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import Matrix, RowData

MAX_FACTORED_COLUMNS = 1000  # up to which H is factored; beyond, conjugate gradients
MAX_PASSES = 400  # over the rows
INNER_TOL = 0.02  # ½‖∇φ‖² relative to the gap, below which the next proximal step is due
EXCESS_SHARE = 0.01  # of the model's own excess: the bound need not be closer to the optimum
SIGMA_GROWTH = 5.0  # of σ and τ from step to step
MAX_SIGMA = 1e9  # beyond it rounding dominates
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
    """The problem of one column, and the number of passes made."""

    def __init__(
        self,
        data: RowData,
        y: np.ndarray,
        omega: np.ndarray,
        l1: float,
        l2: float,
        c: float,
        penalized: bool,
    ):
        self.data, self.y, self.omega, self.c, p = data, y, omega, c, data.shape[1]
        self.l1, self.l2 = np.full(p + 1, float(l1)), np.full(p + 1, float(l2))
        if not penalized:
            self.l1[-1] = self.l2[-1] = 0.0
        self.passes = 0

    def scores(self, u: np.ndarray) -> Any:
        out = np.empty(len(self.y))
        self.data.reduce(scores, u, self.c, beside=(out,))
        self.passes += 1
        return out

    def slopes(self, G: np.ndarray) -> Any:
        self.passes += 1
        return self.data.reduce(slopes, self.c, beside=(G,))[0]

    def primal(self, theta: np.ndarray, m: np.ndarray) -> float:
        loss = self.omega @ np.maximum(1 - m, 0.0)
        return float(loss + self.l1 @ np.abs(theta) + self.l2 @ theta**2 / 2)

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

    def solve(self, h: np.ndarray, ridge: np.ndarray, g: np.ndarray) -> Any:
        """Return (Σ h x̂x̂ᵀ + diag ridge)⁻¹ g, approximately."""
        if len(g) <= MAX_FACTORED_COLUMNS + 1:
            H = self.data.reduce(squares, self.c, beside=(h,), square=True)[0]
            self.passes += 1
            H.flat[:: len(g) + 1] += ridge
            size = np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
            H /= size
            H /= size[:, None]
            H.flat[:: len(g) + 1] += 1e-13
            return np.linalg.solve(H, g / size) / size
        d = self.data.reduce(diagonal, self.c, beside=(h,))[0] + ridge
        d[d == 0] = 1.0
        x, r = np.zeros_like(g), g.copy()
        z = r / d
        p, rz = z.copy(), r @ z
        first = rz
        while rz > 1e-4 * first and self.passes < MAX_PASSES:
            Hp = self.slopes((h * self.scores(p))[:, None])[:, 0] + ridge * p
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
    c = (1.0 if scaling is None else float(scaling)) if fit_intercept else 0.0
    theta = np.append(w, b / c if c else 0.0)
    free = fit_intercept and scaling is None
    search = DualSearch(data, y, omega, l1, l2, c, penalized=not free)
    m = y * search.scores(theta)
    best = np.where(m < 1, 1.0, 0.0)
    if not (np.isfinite(theta).all() and np.isfinite(m).all()):
        return best
    model_objective = search.primal(theta, m)
    plus, minus = omega[y > 0].sum(), omega[y < 0].sum()
    f0 = 2 * min(plus, minus) if c else plus + minus
    try:
        return _ascend(search, theta, m, best, model_objective, max(tol * f0 / 4, 0.0))
    except np.linalg.LinAlgError:
        return best


def _ascend(
    search: DualSearch,
    theta: np.ndarray,
    m: np.ndarray,
    best: np.ndarray,
    model_objective: float,
    goal: float,
) -> Any:
    y, omega, l1, l2 = search.y, search.omega, search.l1, search.l2
    sigma, highest = 4.0, -np.inf
    a = np.clip(0.5 + sigma * (1 - m), 0.0, 1.0)
    e, size = np.clip(l1 * np.sign(theta), -l1, l1), np.abs(theta).max(initial=0.0)
    tau = l1.max() / (size or 1.0)
    while search.passes < MAX_PASSES:
        h, k = np.clip(a + sigma * (1 - m), 0.0, 1.0), np.clip(e + tau * theta, -l1, l1)
        V = search.slopes(np.column_stack([omega * h * (y > 0), omega * h * (y < 0)]))
        g = l2 * theta + k - V[:, 0] + V[:, 1]
        P = search.primal(theta, m)
        D, feasibility_cost = search.dual(
            float(omega @ (h * (y > 0))), float(omega @ (h * (y < 0))), V
        )
        if highest < D:
            best, highest = h, D
        excess = model_objective - highest
        if excess <= goal or min(P, model_objective) - highest <= EXCESS_SHARE * excess:
            break
        weight = l2 + (np.abs(k) < l1) * tau
        gradient_gain = np.sum(np.divide(g**2, 2 * weight, out=np.zeros_like(g), where=weight > 0))
        t = 0.0
        on_kink = (h > 0) & (h < 1)
        if gradient_gain + feasibility_cost > INNER_TOL * (P - D):
            # a small ridge keeps the step finite where neither rows nor penalties curve φ
            ridge = np.maximum(weight, 1e-4 * weight.max())
            d = -search.solve(sigma * omega * on_kink, ridge, g)
            md = y * search.scores(d)
            t = _line_search(a, e, m, md, theta, d, omega, l1, l2, sigma, tau)
        if t > 0:
            theta, m = theta + t * d, m + t * md
        elif sigma >= MAX_SIGMA:
            break
        else:
            a, e = h, k
            sigma, tau = SIGMA_GROWTH * sigma, SIGMA_GROWTH * tau
    return best


def _line_search(
    a: np.ndarray,
    e: np.ndarray,
    m: np.ndarray,
    md: np.ndarray,
    theta: np.ndarray,
    d: np.ndarray,
    omega: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    sigma: float,
    tau: float,
) -> float:
    """Return t > 0 where the slope of φ(θ + td), which rises with t, is nearly 0."""

    def slope(t: float) -> float:
        x = theta + t * d
        penalty_slope = l2 * x + np.clip(e + tau * x, -l1, l1)
        return float(
            d @ penalty_slope - omega @ (md * np.clip(a + sigma * (1 - m - t * md), 0.0, 1.0))
        )

    first, low, high, t = slope(0.0), 0.0, np.inf, 1.0
    if not first < 0:
        return 0.0
    for _ in range(MAX_BISECTIONS):
        slope_t = slope(t)
        if abs(slope_t) <= 0.1 * abs(first):
            return t
        low, high = (t, high) if slope_t < 0 else (low, t)
        t = 2 * t if np.isinf(high) else (low + high) / 2 if low > 0 else high / 16
    return low
