"""Hinge losses with their optima to 50 digits.

    F(θ) = ½‖θ‖² + Σ_i u_i [1 − y_i x̂_iᵀθ]₊,      x̂ = (x, c); a free b instead of c where ``free``

Floats say which rows lie on their margin, below and above; of these sets the conditions of an
optimum are linear equations, solved in mpmath, and the inequalities are looked at.
"""

from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC

DIGITS = 50


class Optimum(NamedTuple):
    value: Any  # mpf
    w: np.ndarray
    b: float
    alpha: np.ndarray


def value(X: Any, y: Any, u: Any, w: Any, b: Any, c: float) -> Any:
    """F in mpmath; c = 0: b is not penalised (or not there)."""
    with mp.workdps(DIGITS):
        w, b = [mp.mpf(v) for v in w], mp.mpf(b)
        total = mp.fsum(v * v for v in w) / 2
        total += (b / mp.mpf(c)) ** 2 / 2 if c else 0
        for x, sign, weight in zip(X, y, u, strict=True):
            z = mp.fsum(mp.mpf(float(v)) * t for v, t in zip(x, w, strict=True)) + b
            total += mp.mpf(float(weight)) * max(1 - sign * z, mp.mpf(0))
        return total


def exact(X: Any, y: Any, u: Any, c: float = 1.0, free: bool = False) -> Optimum:
    """``free``: with an intercept that is not penalised (c = 0 then)."""
    n = len(y)
    A = y[:, None] * np.column_stack([X, np.full(n, c)])
    alpha = _by_libsvm(X, y, u) if free else _by_slsqp(A, u)
    for threshold in (1e-4, 1e-5, 1e-6, 1e-3, 1e-2, 1e-7):
        try:
            return _by_sets(X, y, u, c, free, A, alpha / np.maximum(u, 1e-300), threshold)
        except (AssertionError, ZeroDivisionError):
            continue
    raise AssertionError("floats did not tell the sets")


def _by_slsqp(A: Any, u: Any) -> Any:
    Q = A @ A.T
    return minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1), u / 2, jac=True, method="SLSQP",
        bounds=[(0.0, most) for most in u], options={"maxiter": 2000, "ftol": 1e-15},
    ).x  # fmt: skip


def _by_libsvm(X: Any, y: Any, u: Any) -> Any:
    counted = np.flatnonzero(u)
    model = SVC(kernel="linear", C=1.0, tol=1e-7, max_iter=10**6).fit(
        X[counted], y[counted], u[counted]
    )
    alpha = np.zeros(len(u))
    alpha[counted[model.support_]] = np.abs(model.dual_coef_[0])
    return alpha


def _by_sets(
    X: Any, y: Any, u: Any, c: float, free: bool, A: Any, share: Any, threshold: float
) -> Optimum:
    n = len(y)
    on = np.flatnonzero((share > threshold) & (share < 1 - threshold) & (u > 0))
    below = np.flatnonzero((share >= 1 - threshold) & (u > 0))
    with mp.workdps(DIGITS):
        M = mp.matrix(A.tolist())
        side = len(on) + free
        H, g = mp.matrix(side, side), mp.matrix(side, 1)
        for r, i in enumerate(on):
            for t, j in enumerate(on):
                H[r, t] = mp.fsum(M[int(i), k] * M[int(j), k] for k in range(A.shape[1]))
            g[r] = 1 - mp.fsum(
                mp.mpf(float(u[j]))
                * mp.fsum(M[int(i), k] * M[int(j), k] for k in range(A.shape[1]))
                for j in below
            )
            if free:
                H[r, side - 1] = H[side - 1, r] = mp.mpf(float(y[i]))
        if free:
            g[side - 1] = -mp.fsum(mp.mpf(float(u[j] * y[j])) for j in below)
        x = mp.lu_solve(H, g) if side else mp.matrix(0, 1)
        alpha = [mp.mpf(0)] * n
        for r, i in enumerate(on):
            alpha[i] = x[r]
        for j in below:
            alpha[j] = mp.mpf(float(u[j]))
        theta = [mp.fsum(alpha[i] * M[i, k] for i in range(n)) for k in range(A.shape[1])]
        b = x[side - 1] if free else mp.mpf(c) * theta[-1]
        for i in range(n):
            m = mp.fsum(M[i, k] * theta[k] for k in range(A.shape[1])) + (b * y[i] if free else 0)
            assert -(mp.mpf(10) ** -30) <= alpha[i] <= mp.mpf(float(u[i])) + mp.mpf(10) ** -30
            assert u[i] == 0 or not (i in below and m > 1)
            assert u[i] == 0 or not (i not in below and i not in on and m < 1)
        best = value(X, y, u, theta[:-1], b, 0.0 if free else c)
    return Optimum(
        best,
        np.array([float(v) for v in theta[:-1]]),
        float(b),
        np.array([float(a) for a in alpha]),
    )
