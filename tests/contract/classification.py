"""Classification problems with their optima to 50 digits.

    F(θ) = Σ_i ω_i ℓ(y_i, x_iᵀw + b) + l1‖w‖₁ + l2/2 ‖w‖²

A float solver finds which coefficients are 0 and the others' signs; Newton's method in mpmath does
the rest on those that are not, and the conditions at the zeros are looked at.
"""

from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy.optimize import minimize

from certus.certificate.data import Data as _Data
from certus.data.rows import Rows


def rows(X: Any, y: Any, s: Any = None, threads: int = 1) -> _Data:
    """What a definition is given; y holds the classes' numbers."""
    y = np.asarray(y, dtype=float).reshape(-1, 1)
    return _Data(Rows(X, y, None if s is None else np.asarray(s, dtype=float), threads=threads))


def classes(seed: int, n: int, p: int, K: int, noise: float = 2.0) -> tuple[Any, Any]:
    """Rows of K classes that overlap, each class with rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    scores = X @ rng.normal(size=(p, K)) + noise * rng.gumbel(size=(n, K))
    y = scores.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


class Case(NamedTuple):
    X: Any
    y: Any  # numbers of classes
    omega: Any  # C s c
    K: int  # 1: logistic, else softmax
    l1: float
    l2: float
    intercept: str  # "free", "none", or "penalised"
    scaling: float = 1.0

    @property
    def design(self) -> Any:
        """[X 1] or [X c] or X."""
        n = len(self.X)
        if self.intercept == "none":
            return self.X
        return np.column_stack(
            [self.X, np.full(n, 1.0 if self.intercept == "free" else self.scaling)]
        )

    @property
    def penalized(self) -> Any:
        """Which rows of θ the penalty sees."""
        at = np.ones(self.design.shape[1], dtype=bool)
        if self.intercept == "free":
            at[-1] = False
        return at

    def split(self, theta: Any) -> tuple[Any, Any]:
        """w (p, K), b (K,) from θ (P, K)."""
        p = self.X.shape[1]
        if self.intercept == "none":
            return theta, np.zeros(self.K)
        return theta[:p], theta[p] * (1.0 if self.intercept == "free" else self.scaling)


def _probabilities(z: list[Any], K: int) -> tuple[Any, list[Any]]:
    """log Σ exp(z) (with a class of score 0 first where K = 1), and each class's share of it."""
    z = [mp.mpf(0), *z] if K == 1 else z
    top = max(z)
    e = [mp.exp(v - top) for v in z]
    total = mp.fsum(e)
    return top + mp.log(total), [v / total for v in e]


def exact_objective(case: Case, w: Any, b: Any) -> Any:
    """F to 50 digits, at w (p, K) and b (K,) as they are."""
    with mp.workdps(50):
        total = mp.mpf(0)
        for x, y, omega in zip(case.X, case.y, case.omega, strict=True):
            z = [
                mp.fsum(mp.mpf(float(a)) * mp.mpf(u) for a, u in zip(x, w[:, k], strict=True))
                + mp.mpf(b[k])
                for k in range(case.K)
            ]
            log_sum, _ = _probabilities(z, case.K)
            own = (z[0] if y == 1 else 0) if case.K == 1 else z[int(y)]
            total += mp.mpf(float(omega)) * (log_sum - own)
        parts = [mp.mpf(v) for v in np.asarray(w).ravel()]
        if case.intercept == "penalised":
            parts += [mp.mpf(v) / mp.mpf(case.scaling) for v in b]
        l1, l2 = mp.mpf(case.l1), mp.mpf(case.l2)
        return total + l1 * mp.fsum(map(abs, parts)) + l2 / 2 * mp.fsum(v * v for v in parts)


def float_solution(case: Case) -> Any:
    """θ (P, K) by L-BFGS-B on θ = θ₊ − θ₋."""
    A, (n, P), K = case.design, case.design.shape, case.K
    at = case.penalized[:, None] * np.ones((P, K))

    def f(parts: Any) -> tuple[float, Any]:
        up, down = parts.reshape(2, P, K)
        theta = up - down
        z = A @ theta
        z = np.column_stack([np.zeros(n), z]) if K == 1 else z
        top = z.max(axis=1, keepdims=True)
        e = np.exp(z - top)
        own = np.arange(n), case.y.astype(int)
        value = case.omega @ (np.log(e.sum(axis=1)) + top[:, 0] - z[own])
        Q = e / e.sum(axis=1, keepdims=True)
        Q[own] -= 1
        g = A.T @ (case.omega[:, None] * Q)
        g = (g[:, 1:] if K == 1 else g) + case.l2 * at * theta
        value += case.l2 / 2 * np.sum(at * theta**2) + case.l1 * np.sum(at * (up + down))
        return value, np.concatenate([(g + case.l1 * at).ravel(), (-g + case.l1 * at).ravel()])

    options = {"maxiter": 20000, "maxfun": 10**6, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 30}
    start = np.zeros(2 * P * K)
    bounds = [(0, None)] * len(start)
    found = minimize(f, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    up, down = found.x.reshape(2, P, K)
    return up - down


def optimum(case: Case) -> tuple[Any, Any, Any]:
    """(F*, w*, b*), F* to 50 digits and w*, b* as float arrays."""
    A, P, K = case.design, case.design.shape[1], case.K
    start = float_solution(case)
    active = np.ones((P, K), dtype=bool)
    if case.l1 > 0:
        active &= (np.abs(start) > 1e-5) | ~case.penalized[:, None]
    if K > 1 and case.l1 == 0 and case.l2 == 0:
        start = start - start[:, [-1]]
        active[:, -1] = False
    elif K > 1 and case.intercept == "free":
        start[-1] -= start[-1, -1]
        active[-1, -1] = False
    free = [(j, k) for k in range(K) for j in range(P) if active[j, k]]
    with mp.workdps(60):
        rows = [[mp.mpf(float(v)) for v in x] for x in A]
        omega = [mp.mpf(float(v)) for v in case.omega]
        l1, l2 = mp.mpf(case.l1), mp.mpf(case.l2)
        theta = {(j, k): mp.mpf(float(start[j, k])) for j, k in free}
        for _ in range(60):
            G = {(j, k): mp.mpf(0) for j in range(P) for k in range(K)}
            H = mp.matrix(len(free), len(free))
            for x, y, o in zip(rows, case.y, omega, strict=True):
                z = [
                    mp.fsum(x[j] * theta[j, k] for j in range(P) if active[j, k]) for k in range(K)
                ]
                _, Q = _probabilities(z, K)
                Q, own = (Q[1:], 0 if y == 1 else -1) if K == 1 else (Q, int(y))
                for j in range(P):
                    for k in range(K):
                        G[j, k] += o * x[j] * (Q[k] - (k == own))
                h = [[o * Q[k] * ((k == l) - Q[l]) for l in range(K)] for k in range(K)]
                for r, (j, k) in enumerate(free):
                    for c, (i, l) in enumerate(free[: r + 1]):
                        H[r, c] += h[k][l] * x[j] * x[i]
            g = mp.matrix(len(free), 1)
            for r, (j, k) in enumerate(free):
                at = mp.mpf(int(case.penalized[j]))
                g[r] = G[j, k] + at * (l2 * theta[j, k] + l1 * mp.sign(theta[j, k]))
                H[r, r] += at * l2
                for c in range(r):
                    H[c, r] = H[r, c]
            step = mp.lu_solve(H, -g)
            decrement = -mp.fsum(g[r] * step[r] for r in range(len(free)))
            damp = 1 / (1 + mp.sqrt(max(decrement, 0))) if decrement > mp.mpf("1e-4") else 1
            for r, at in enumerate(free):
                theta[at] += damp * step[r]
            if decrement < mp.mpf("1e-80"):
                break
        assert decrement < mp.mpf("1e-80"), "Newton's method did not converge"
        for j in range(P):
            for k in range(K):
                if case.l1 > 0 and not active[j, k] and case.penalized[j]:
                    assert abs(G[j, k]) <= l1, "a coefficient is wrongly 0"
        full = np.array([[theta.get((j, k), mp.mpf(0)) for k in range(K)] for j in range(P)])
        w, b = case.split(full)
        best = exact_objective(case, w, b)
    return best, np.asarray(w, dtype=float), np.asarray(b, dtype=float)
