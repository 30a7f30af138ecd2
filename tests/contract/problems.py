"""Random problems, and their answers by arithmetic that shares nothing with the library.

    min_w,b Σ s_i (y_i − x_iᵀw − b)² + Σ_j α w_j²          one target at a time

``exact`` solves the normal equations in 80-digit floats (over active sets where w ≥ 0), ``plain``
by NumPy's least squares on stacked rows. Both are slow and short on purpose.
"""

from itertools import combinations
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pandas as pd

DIGITS = 80


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    s: np.ndarray | None = None


def regression(
    seed: int,
    n: int = 60,
    p: int = 4,
    k: int | None = None,
    *,
    noise: float = 0.5,
    signs: bool = True,
) -> Problem:
    """y = Xw + b + noise, on a grid of 1/64 so that shifts and powers of two are exact.

    Coefficients lie between 1 and 3: none is near 0. ``signs=False``: all are positive.
    """
    rng = np.random.default_rng(seed)
    X = np.round(64 * rng.normal(size=(n, p))) / 64
    w = rng.uniform(1, 3, size=(p, k or 1))
    if signs:
        w *= rng.choice([-1.0, 1.0], size=w.shape)
    y = X @ w + 2 + noise * rng.normal(size=(n, k or 1))
    y = np.round(64 * y) / 64
    return Problem(X, y[:, 0] if k is None else y)


def counts(seed: int, n: int = 60, p: int = 4, k: int | None = None) -> Problem:
    """Poisson counts of mean exp(xᵀw + 1), X on a grid of 1/64; some are 0."""
    X, z = _log_means(seed, n, p)
    return Problem(X, np.random.default_rng(seed + 1).poisson(np.exp(z)).astype(float))


def amounts(seed: int, n: int = 60, p: int = 4, k: int | None = None) -> Problem:
    """Gamma amounts of mean exp(xᵀw + 1) and shape 2, on a grid of 1/64, as X is; none is 0."""
    X, z = _log_means(seed, n, p)
    y = np.exp(z) * np.random.default_rng(seed + 1).gamma(2.0, 0.5, size=n)
    return Problem(X, (np.floor(64 * y) + 1) / 64)


def _log_means(seed: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """X and xᵀw + 1; coefficients lie between ¼ and ½ (divided by √p/2 where columns are many)."""
    rng = np.random.default_rng(seed)
    X = np.round(64 * rng.normal(size=(n, p))) / 64
    w = rng.uniform(0.25, 0.5, size=p) * rng.choice([-1.0, 1.0], size=p)
    return X, X @ w / max(1.0, np.sqrt(p) / 2) + 1


def classification(seed: int, n: int = 90, p: int = 4, classes: int = 2) -> Problem:
    """Labels 0, 1, … drawn from P(k | x) ∝ exp(xᵀw_k + b_k), X on a grid of 1/64.

    Coefficients lie between ½ and 1 (divided by √p/2 where columns are many), so that classes
    overlap; every class has a sixth of its fair share of rows at least.
    """
    rng = np.random.default_rng(seed)
    X = np.round(64 * rng.normal(size=(n, p))) / 64
    w = rng.uniform(0.5, 1, size=(p, classes)) * rng.choice([-1.0, 1.0], size=(p, classes))
    w[:, 0] = 0.0
    z = X @ w / max(1.0, np.sqrt(p) / 2) + np.linspace(0.5, 0.0, classes)
    while True:
        y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
        if np.bincount(y, minlength=classes).min() >= max(3, n / (6 * classes)):
            return Problem(X, y)


def ordered(seed: int, n: int = 90, p: int = 4, classes: int = 3) -> Problem:
    """Labels 0, 1, … by where xᵀw + logistic noise lies among thresholds, X on a grid of 1/64.

    Coefficients lie between ½ and 1; every class has a third of its fair share of rows at least.
    """
    rng = np.random.default_rng(seed)
    X = np.round(64 * rng.normal(size=(n, p))) / 64
    w = rng.uniform(0.5, 1, size=p) * rng.choice([-1.0, 1.0], size=p)
    while True:
        t = X @ w + rng.logistic(size=n)
        y = np.digitize(t, np.quantile(t, np.linspace(0, 1, classes + 1)[1:-1] ** 1.3))
        if np.bincount(y, minlength=classes).min() >= n / (3 * classes):
            return Problem(X, y)


def unequal_scales(n: int = 1000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """'dose' matters, 'count' is two million times larger: scikit-learn drops 'dose'."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"count": 2e6 * rng.normal(size=n), "dose": rng.normal(size=n)})
    y = 3.0 * frame["dose"] + 0.147 * rng.normal(size=n)
    return frame, y


def weights(seed: int, n: int, largest: int = 4) -> np.ndarray:
    """Whole numbers from 1 to ``largest``."""
    return np.random.default_rng(seed).integers(1, largest + 1, size=n).astype(float)


def collinear(seed: int, n: int, p: int, condition: float) -> np.ndarray:
    """Columns of norm about 1 whose matrix has the given condition number."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, p)))[0]
    V = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return (Q * np.geomspace(1, 1 / condition, p)) @ V.T


# --- answers in 80 digits -------------------------------------------------------------------------


class Exact(NamedTuple):
    w: list[Any]
    b: Any
    objective: Any


def objective(X: Any, y: Any, s: Any, w: Any, b: Any, alpha: Any = 0) -> Any:
    """f(w, b), exactly as written, in 80-digit floats."""
    with mp.workdps(DIGITS):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        s = np.ones(len(y)) if s is None else s
        total = mp.mpf(0)
        for i in range(len(y)):
            r = mp.mpf(float(y[i])) - _exact(b)
            for j in range(X.shape[1]):
                r -= mp.mpf(float(X[i, j])) * _exact(w[j])
            total += mp.mpf(float(s[i])) * r * r
        return total + _exact(alpha) * mp.fsum(_exact(v) ** 2 for v in w)


def _exact(value: Any) -> Any:
    return value if isinstance(value, mp.mpf) else mp.mpf(float(value))


def exact(
    X: Any, y: Any, s: Any = None, alpha: float = 0.0, *, intercept: bool = True,
    positive: bool = False,
) -> Exact:  # fmt: skip
    """The minimiser (columns independent, or α > 0). w ≥ 0: the best of all sets of columns."""
    p = np.shape(X)[1]
    sets = [range(p)]
    if positive:
        sets = [c for size in range(p + 1) for c in combinations(range(p), size)]
    best = None
    for columns in sets:
        w, b = _normal_equations(X, y, s, alpha, intercept, list(columns))
        if positive and any(v < 0 for v in w):
            continue
        f = objective(X, y, s, w, b, alpha)
        if best is None or f < best.objective:
            best = Exact(w, b, f)
    assert best is not None
    return best


def _normal_equations(
    X: Any, y: Any, s: Any, alpha: float, intercept: bool, columns: list[int]
) -> tuple[list[Any], Any]:
    with mp.workdps(DIGITS):
        n, p = np.shape(X)
        s = np.ones(n) if s is None else s
        # columns in units of their largest entry, so that no pivot looks like 0
        unit = [max(abs(mp.mpf(float(X[i][j]))) for i in range(n)) or mp.mpf(1) for j in columns]
        rows = [
            [mp.mpf(float(X[i][j])) / u for j, u in zip(columns, unit, strict=True)]
            + [mp.mpf(1)] * intercept
            for i in range(n)
        ]
        size = len(columns) + intercept
        w = [mp.mpf(0)] * p
        if size == 0:
            return w, mp.mpf(0)
        A, c = mp.zeros(size, size), mp.zeros(size, 1)
        for row, y_i, s_i in zip(rows, y, s, strict=True):
            for a in range(size):
                c[a] += mp.mpf(float(s_i)) * row[a] * mp.mpf(float(y_i))
                for d in range(size):
                    A[a, d] += mp.mpf(float(s_i)) * row[a] * row[d]
        for a, u in enumerate(unit):
            A[a, a] += mp.mpf(float(alpha)) / u**2
        solution = mp.lu_solve(A, c)
        for a, j in enumerate(columns):
            w[j] = solution[a] / unit[a]
        return w, solution[size - 1] if intercept else mp.mpf(0)


# --- answers by NumPy -----------------------------------------------------------------------------


def plain(
    X: Any, y: Any, s: Any = None, alpha: Any = 0.0, *, intercept: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(w (p, k), b (k,)) by lstsq on √s∘X̃ stacked on √α I: of several, the least norm."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float).reshape(len(X), -1)
    (n, p), k = X.shape, y.shape[1]
    s = np.ones(n) if s is None else np.asarray(s, dtype=float)
    mean = s @ X / s.sum() if intercept else np.zeros(p)
    mean_y = s @ y / s.sum() if intercept else np.zeros(k)
    root = np.sqrt(s)[:, None]
    w = np.empty((p, k))
    for t, a in enumerate(np.broadcast_to(np.ravel(alpha), (k,))):
        A = np.vstack([root * (X - mean), np.sqrt(a) * np.eye(p)])
        z = np.concatenate([root[:, 0] * (y[:, t] - mean_y[t]), np.zeros(p)])
        w[:, t] = np.linalg.lstsq(A, z, rcond=None)[0]
    return w, mean_y - mean @ w


def by_normal_equations(
    X: Any, y: Any, s: Any = None, alpha: Any = 0.0, *, intercept: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Solution of the normal equations in extended precision, by Gaussian elimination."""
    wide = np.longdouble
    X, y = np.asarray(X, dtype=wide), np.asarray(y, dtype=wide).reshape(len(X), -1)
    (n, p), k = X.shape, y.shape[1]
    s = np.ones(n, dtype=wide) if s is None else np.asarray(s, dtype=wide)
    mean = s @ X / s.sum() if intercept else np.zeros(p, dtype=wide)
    mean_y = s @ y / s.sum() if intercept else np.zeros(k, dtype=wide)
    X, z = X - mean, y - mean_y
    w = np.empty((p, k), dtype=wide)
    for t, a in enumerate(np.broadcast_to(np.ravel(alpha), (k,))):
        A = X.T @ (s[:, None] * X) + a * np.eye(p, dtype=wide)
        w[:, t] = _eliminate(A, X.T @ (s * z[:, t]))
    return w.astype(float), (mean_y - mean @ w).astype(float)


def _eliminate(A: np.ndarray, c: np.ndarray) -> np.ndarray:
    A, c = A.copy(), c.copy()
    for j in range(len(c)):  # A is positive definite: no pivoting
        for i in range(j + 1, len(c)):
            factor = A[i, j] / A[j, j]
            A[i] -= factor * A[j]
            c[i] -= factor * c[j]
    for j in range(len(c) - 1, -1, -1):
        c[j] = (c[j] - A[j, j + 1 :] @ c[j + 1 :]) / A[j, j]
    return c


def left_out_squares(X: Any, y: Any, s: Any, alpha: float, *, intercept: bool = True) -> np.ndarray:
    """s_i (y_i − ŷ_i)² with ŷ_i from a fit without row i, (n, k): n fits."""
    y = np.asarray(y, dtype=float).reshape(len(X), -1)
    s = np.ones(len(X)) if s is None else s
    out = np.empty(y.shape)
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        w, b = plain(X[rest], y[rest], s[rest], alpha, intercept=intercept)
        out[i] = s[i] * (y[i] - X[i] @ w - b) ** 2
    return out
