"""LS-SVM: one symmetric system for all targets.

    min over w, b   ½‖w‖² + C/2 Σ ω_i (y_i − wᵀφ(x_i) − b)²,     w = Σ β_i φ(x_i)

    [[0, rᵀ], [r, H]] [b; a] = [0; r∘y],   r = √ω,  H = RKR + I/C,  β = r∘a
    η = H⁻¹r,  ν = H⁻¹(r∘y),  b = rᵀν/rᵀη,  a = ν − ηb       (no intercept: b = 0, a = ν)

Rows of weight 0 have β = 0 and drop out. Exact leave-one-out, ω held fixed, and the trace of S in
f = Sy need only the diagonal g of H⁻¹ − ηηᵀ/rᵀη (no intercept: of H⁻¹):

    f⁻ⁱ(x_i) = y_i − a_i/(r_i g_i)          tr S = n₊ − Σ g_i/C,  n₊ rows of ω > 0
"""

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..linalg.cholesky import cholesky, cholesky_solve
from .fit import Fit
from .indefinite import Indefinite, one_norm
from .inverse import inverse_diagonal
from .kernel import Kernel
from .tiles import predict, weighted_gram


def solve(
    K_or_X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    C: float,
    kernel: Kernel,
    fit_intercept: bool = True,
    left_out: bool = False,
    threads: int | None = None,
) -> Fit:
    """The fit of y (n, q) with weights ω ≥ 0, by Cholesky; by LDLᵀ where H is indefinite.

    n³/3 operations, twice as many with ``left_out``. Memory: one n × n matrix, besides a given
    (precomputed) one. The same bits on any number of threads.
    """
    y, kept = np.asarray(y, dtype=np.float64), omega > 0
    if not kept.any():
        raise ValueError("all rows have weight 0: give at least one row a positive weight")
    given, Y, r = rows_kept(K_or_X, kernel, kept), y[kept], np.sqrt(omega[kept])
    X, origin = without_origin(given, kernel, fit_intercept)
    H = Factor(X, r, C, kernel, threads)
    solved = H.solve(np.column_stack([r[:, None] * Y, r]))
    eta = solved[:, -1]
    a, b = split(solved[:, :-1], eta, r, fit_intercept)
    beta = np.zeros_like(y)
    beta[kept] = r[:, None] * a
    b = moved_back(b, origin, beta[kept], X)
    if kernel.semidefinite:  # no eigenvalue of RKR exceeds its trace
        condition = 1 + C * float(kernel.diagonal(given) @ r**2)
    else:
        condition = H.condition()
    P = 0.5 * float(np.einsum("nq,nq->", beta, y))  # ½βᵀKβ + ½Σβe, and Kβ + b + e = y, Σβ = 0
    fit = Fit(beta, b, P, condition, H.indefinite)
    if not left_out:
        return fit
    g = leverage(H.inverse_diagonal(), eta, r, fit_intercept)
    found = np.empty_like(y)
    found[kept] = without_its_row(Y, a, r, g)
    if not kept.all():
        found[~kept] = predict(K_or_X[~kept], K_or_X, beta, b, kernel, threads)
    of_all = np.full(len(y), C, dtype=np.float64)  # 1 − g/C is what a row adds to the trace
    of_all[kept] = g
    return fit._replace(left_out=found, leverage=of_all, effective=float(np.sum(1 - g / C)))


def rows_kept(K_or_X: np.ndarray, kernel: Kernel, kept: np.ndarray) -> np.ndarray:
    if kept.all():
        return K_or_X
    return K_or_X[np.ix_(kept, kept)] if kernel.name == "precomputed" else K_or_X[kept]


def without_origin(X: np.ndarray, kernel: Kernel, fit_intercept: bool) -> tuple[np.ndarray, Any]:
    """As Σβ = 0, moving the rows of a linear kernel moves b alone, and far rows lose no digits."""
    if not (fit_intercept and kernel.name == "linear"):
        return X, None
    origin = X.mean(axis=0, dtype=np.float64)
    return X - origin, origin


def moved_back(
    b: np.ndarray, origin: np.ndarray | None, beta: np.ndarray, X: np.ndarray
) -> np.ndarray:
    """b of the rows as they were, X + origin."""
    if origin is None:
        return b
    total = np.array([math.fsum(column) for column in beta.T])  # 0 but for rounding
    return b - origin @ (X.T @ beta) - (origin @ origin) * total


def split(
    nu: np.ndarray, eta: np.ndarray, r: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """a and b."""
    a, b = nu, np.zeros(nu.shape[1])
    if fit_intercept:
        for _ in range(2):  # the second time for what rounding left of rᵀa = 0
            step = r @ a / (r @ eta)
            a, b = a - eta[:, None] * step, b + step
    return a, b


def leverage(
    inverse_diagonal: np.ndarray, eta: np.ndarray, r: np.ndarray, fit_intercept: bool
) -> np.ndarray:
    """g."""
    if not fit_intercept:
        return inverse_diagonal
    if len(r) == 1:
        return np.zeros(1)  # the intercept alone fits a single row
    return inverse_diagonal - eta**2 / (r @ eta)


def without_its_row(y: np.ndarray, a: np.ndarray, r: np.ndarray, g: np.ndarray) -> np.ndarray:
    """f⁻ⁱ(x_i); NaN where no other row is left."""
    rg = np.where(g == 0, np.nan, r * g)
    return y - a / rg[:, None]


class Factor:
    """Of H = RKR + I/C, by Cholesky if it is positive definite."""

    def __init__(self, X: np.ndarray, r: np.ndarray, C: float, kernel: Kernel, threads: int | None):
        self.threads, self.indefinite = threads, 0
        diagonal, pairs = kernel.diagonal(X), kernel.between(X, X)
        self.R = weighted_gram(pairs, diagonal, r, 1 / C, threads)
        self.size = 0.0 if kernel.semidefinite else one_norm(self.R)
        self.negative: Indefinite | None = None
        if cholesky(self.R, threads=threads) != 0:
            self.negative = Indefinite(weighted_gram(pairs, diagonal, r, 1 / C, threads, self.R))
        # of a kernel that cannot be indefinite, rounding took the signs of eigenvalues
        if self.negative is not None and not kernel.semidefinite:
            self.indefinite = self.negative.eigenvalues

    def solve(self, B: np.ndarray) -> np.ndarray:
        if self.negative is not None:
            return self.negative.solve(B)
        return cholesky_solve(self.R, B, threads=self.threads)

    def inverse_diagonal(self) -> np.ndarray:
        if self.negative is not None:
            return self.negative.inverse_diagonal()
        return inverse_diagonal(self.R, self.threads)

    def condition(self) -> float:
        """‖H‖₁ ‖H⁻¹‖₁, the second as LAPACK estimates it; before the factor is lost."""
        if self.negative is not None:
            return self.negative.condition(self.size)
        inverse = lapack.dpocon(self.R, self.size)[0]
        return float(1 / inverse) if inverse > 0 else np.inf
