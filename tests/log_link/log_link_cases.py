"""Poisson and Gamma problems, and their optima to 50 digits by mpmath alone.

    F(w, b) = 1/S Σ s (μ − y log μ + y log y − y) + penalty        Poisson, μ = exp(o + xᵀw + b)
    F(w, b) = 1/S Σ s (y/μ + log μ − log y − 1) + penalty          Gamma

Newton's method with exact derivatives on the numbers as they are stored; an L1 part is solved on
the coefficients that are not 0, whose signs are given, and the others' slopes are checked.
"""

from typing import Any, NamedTuple

import mpmath as mp
import numpy as np

from certus.certificate.data import Data
from certus.data.csr import CSR
from certus.data.rows import Rows

DIGITS = 50
FAMILIES = ("poisson", "gamma")
PENALTIES = {"l2": (0.0, 0.3), "l1": (0.08, 0.0), "elastic net": (0.05, 0.05), "none": (0.0, 0.0)}


class Case(NamedTuple):
    family: str
    X: np.ndarray
    y: np.ndarray
    s: np.ndarray | None = None
    o: np.ndarray | None = None
    l1: float = 0.0
    l2: float = 0.0
    fit_intercept: bool = True

    def data(self, sparse: bool = False, threads: int = 1) -> Data:
        y = self.y[:, None] if self.o is None else np.column_stack([self.y, self.o])
        X: Any = self.X
        if sparse:
            from scipy.sparse import csr_array

            X = CSR(csr_array(self.X))
        return Data(Rows(X, y, self.s, threads=threads))

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "family": self.family, "l1": self.l1, "l2": self.l2,
            "fit_intercept": self.fit_intercept, "offset": self.o is not None,
        }  # fmt: skip


def case(
    family: str = "poisson", penalty: str = "l2", seed: int = 0, n: int = 40, p: int = 3,
    weighted: bool = False, offset: bool = False, fit_intercept: bool = True,
) -> Case:  # fmt: skip
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.logspace(-0.5, 0.5, p) + [0.0, 2.0, 0.0][:p]
    o = rng.normal(size=n) if offset else None
    z = 0.5 * X[:, 0] - 0.2 * X[:, 1] + 0.5 + (0 if o is None else o)
    y = rng.poisson(np.exp(z)).astype(float)
    if family == "gamma":
        y = np.exp(z) * rng.gamma(2.0, 0.5, size=n)
    s = rng.integers(0, 4, size=n).astype(float) if weighted else None
    l1, l2 = PENALTIES[penalty]
    return Case(family, X, y, s, o, l1, l2, fit_intercept)


def exact_objective(c: Case, w: Any, b: Any) -> Any:
    """F as written, in 50 digits."""
    with mp.workdps(DIGITS):
        w, b = _mp(w), mp.mpf(b)
        total, S = mp.mpf(0), mp.mpf(0)
        for x, y, s, o in _rows(c):
            total += s * _loss(c.family, y, o + mp.fdot(x, w) + b)
            S += s
        penalty = mp.mpf(c.l1) * mp.fsum(abs(v) for v in w)
        return total / S + penalty + mp.mpf(c.l2) / 2 * mp.fsum(v * v for v in w)


def exact_optimum(c: Case, w: Any, b: float) -> tuple[Any, list[Any], Any]:
    """(F, w, b) of the optimum, started at a fit that has its zeros and signs."""
    with mp.workdps(DIGITS):
        support = [j for j in range(c.X.shape[1]) if w[j] != 0 or c.l1 == 0]
        signs = [mp.sign(mp.mpf(float(w[j]))) for j in support]
        rows = [([x[j] for j in support] + [mp.mpf(1)] * c.fit_intercept, y, s, o)
                for x, y, s, o in _rows(c)]  # fmt: skip
        S, k = mp.fsum(row[2] for row in rows), len(support)
        theta = mp.matrix([mp.mpf(float(w[j])) for j in support] + [mp.mpf(b)] * c.fit_intercept)
        for _ in range(60):
            g, H = mp.zeros(len(theta), 1), mp.zeros(len(theta))
            for x, y, s, o in rows:
                slope, curvature = _derivatives(c.family, y, o + mp.fdot(x, list(theta)))
                for i, v in enumerate(x):
                    g[i] += s / S * slope * v
                    for j, u in enumerate(x):
                        H[i, j] += s / S * curvature * v * u
            for i in range(k):
                g[i] += mp.mpf(c.l1) * signs[i] + mp.mpf(c.l2) * theta[i]
                H[i, i] += mp.mpf(c.l2)
            step = mp.lu_solve(H, g)
            theta = theta - step
            if mp.norm(step) < mp.mpf(10) ** (-DIGITS + 10):
                break
        full = [mp.mpf(0)] * c.X.shape[1]
        for i, j in enumerate(support):
            full[j] = theta[i]
            assert c.l1 == 0 or mp.sign(theta[i]) == signs[i]
        best_b = theta[k] if c.fit_intercept else mp.mpf(0)
        for j in set(range(c.X.shape[1])) - set(support):
            slope = mp.fsum(
                s / S * _derivatives(c.family, y, o + mp.fdot(x, full) + best_b)[0] * x[j]
                for x, y, s, o in _rows(c)
            )
            assert abs(slope) <= c.l1
        return exact_objective(c, full, best_b), full, best_b


def _rows(c: Case) -> list[tuple[list[Any], Any, Any, Any]]:
    s = np.ones(len(c.y)) if c.s is None else c.s
    o = np.zeros(len(c.y)) if c.o is None else c.o
    return [
        (_mp(x), mp.mpf(float(y)), mp.mpf(float(weight)), mp.mpf(float(offset)))
        for x, y, weight, offset in zip(c.X, c.y, s, o, strict=True)
    ]


def _mp(values: Any) -> list[Any]:
    return [v if isinstance(v, mp.mpf) else mp.mpf(float(v)) for v in values]


def _loss(family: str, y: Any, z: Any) -> Any:
    if family == "gamma":
        return z - mp.log(y) + y * mp.exp(-z) - 1
    return mp.exp(z) - y * z + (y * mp.log(y) - y if y > 0 else 0)


def _derivatives(family: str, y: Any, z: Any) -> tuple[Any, Any]:
    if family == "gamma":
        ratio = y * mp.exp(-z)
        return 1 - ratio, ratio
    mean = mp.exp(z)
    return mean - y, mean
