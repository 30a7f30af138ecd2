"""The LS-SVM as one symmetric linear system for all targets.

    min over w, b   ½‖w‖² + C/2 Σ ω_i (y_i − wᵀφ(x_i) − b)²,     w = Σ β_i φ(x_i)

    [[0, rᵀ], [r, H]] [b; a] = [0; r∘y],   r = √ω,  H = RKR + I/C,  β = r∘a
    η = H⁻¹r,  ν = H⁻¹(r∘y),  b = rᵀν/rᵀη,  a = ν − ηb       (no intercept: b = 0, a = ν)

Rows of weight 0 have β = 0 and are left out. Exact leave-one-out, with ω held fixed, and the trace
of S in f = Sy need only the diagonal g of H⁻¹ − ηηᵀ/rᵀη (no intercept: of H⁻¹):

    f⁻ⁱ(x_i) = y_i − a_i/(r_i g_i)          tr S = n₊ − Σ g_i/C,  n₊ rows of ω > 0
"""

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..linalg.cholesky import cholesky, cholesky_solve
from .fit import LSSVMFit
from .indefinite import IndefiniteFactor, one_norm
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
) -> LSSVMFit:
    """Fit y (n, q) with weights ω ≥ 0, by Cholesky, or by LDLᵀ where H is indefinite.

    n³/3 operations, twice as many with ``left_out``. Memory: one n × n matrix, besides a
    precomputed one. The same bits on any number of threads.
    """
    y, used = np.asarray(y, dtype=np.float64), omega > 0
    if not used.any():
        raise ValueError("all rows have weight 0: give at least one row a positive weight")
    given, Y, r = used_rows(K_or_X, kernel, used), y[used], np.sqrt(omega[used])
    X, origin = centered_if_linear(given, kernel, fit_intercept)
    H = Factor(X, r, C, kernel, threads)
    solution = H.solve(np.column_stack([r[:, None] * Y, r]))
    eta = solution[:, -1]
    a, b = split_intercept(solution[:, :-1], eta, r, fit_intercept)
    beta = np.zeros_like(y)
    beta[used] = r[:, None] * a
    b = shift_intercept(b, origin, beta[used], X)
    if kernel.semidefinite:  # no eigenvalue of RKR exceeds its trace
        condition = 1 + C * float(kernel.diagonal(given) @ r**2)
    else:
        condition = H.condition()
    P = 0.5 * float(np.einsum("nq,nq->", beta, y))  # ½βᵀKβ + ½Σβe, and Kβ + b + e = y, Σβ = 0
    fit = LSSVMFit(beta, b, P, condition, H.indefinite)
    if not left_out:
        return fit
    g = leverage(H.inverse_diagonal(), eta, r, fit_intercept)
    scores = np.empty_like(y)
    scores[used] = left_out_scores(Y, a, r, g)
    if not used.all():
        scores[~used] = predict(K_or_X[~used], K_or_X, beta, b, kernel, threads)
    leverages = np.full(len(y), C, dtype=np.float64)  # a row adds 1 − g/C to the trace
    leverages[used] = g
    return fit._replace(left_out=scores, leverage=leverages, effective=float(np.sum(1 - g / C)))


def used_rows(K_or_X: np.ndarray, kernel: Kernel, used: np.ndarray) -> np.ndarray:
    """Return the rows of positive weight, or their kernel matrix."""
    if used.all():
        return K_or_X
    return K_or_X[np.ix_(used, used)] if kernel.name == "precomputed" else K_or_X[used]


def centered_if_linear(
    X: np.ndarray, kernel: Kernel, fit_intercept: bool
) -> tuple[np.ndarray, Any]:
    """Centre the rows of a linear kernel, which changes only b since Σβ = 0; return the origin.

    Rows far from 0 then lose no digits.
    """
    if not (fit_intercept and kernel.name == "linear"):
        return X, None
    origin = X.mean(axis=0, dtype=np.float64)
    return X - origin, origin


def shift_intercept(
    b: np.ndarray, origin: np.ndarray | None, beta: np.ndarray, X: np.ndarray
) -> np.ndarray:
    """Return b for the rows before centring, X + origin."""
    if origin is None:
        return b
    total = np.array([math.fsum(column) for column in beta.T])  # 0 but for rounding
    return b - origin @ (X.T @ beta) - (origin @ origin) * total


def split_intercept(
    nu: np.ndarray, eta: np.ndarray, r: np.ndarray, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return a and b from ν and η."""
    a, b = nu, np.zeros(nu.shape[1])
    if fit_intercept:
        for _ in range(2):  # the second pass removes the rounding error of rᵀa = 0
            step = r @ a / (r @ eta)
            a, b = a - eta[:, None] * step, b + step
    return a, b


def leverage(
    inverse_diagonal: np.ndarray, eta: np.ndarray, r: np.ndarray, fit_intercept: bool
) -> np.ndarray:
    """Return g from the diagonal of H⁻¹."""
    if not fit_intercept:
        return inverse_diagonal
    if len(r) == 1:
        return np.zeros(1)  # the intercept alone fits a single row
    return inverse_diagonal - eta**2 / (r @ eta)


def left_out_scores(y: np.ndarray, a: np.ndarray, r: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return f⁻ⁱ(x_i); NaN where there is no other row."""
    rg = np.where(g == 0, np.nan, r * g)
    return y - a / rg[:, None]


class Factor:
    """Factorisation of H = RKR + I/C, by Cholesky if it is positive definite."""

    def __init__(self, X: np.ndarray, r: np.ndarray, C: float, kernel: Kernel, threads: int | None):
        self.threads, self.indefinite = threads, 0
        diagonal, pairs = kernel.diagonal(X), kernel.between(X, X)
        self.R = weighted_gram(pairs, diagonal, r, 1 / C, threads)
        self.size = 0.0 if kernel.semidefinite else one_norm(self.R)
        self.indefinite_factor: IndefiniteFactor | None = None
        if cholesky(self.R, threads=threads) != 0:
            self.indefinite_factor = IndefiniteFactor(
                weighted_gram(pairs, diagonal, r, 1 / C, threads, self.R)
            )
        # in a semidefinite kernel, negative eigenvalues are rounding errors
        if self.indefinite_factor is not None and not kernel.semidefinite:
            self.indefinite = self.indefinite_factor.n_negative

    def solve(self, B: np.ndarray) -> np.ndarray:
        if self.indefinite_factor is not None:
            return self.indefinite_factor.solve(B)
        return cholesky_solve(self.R, B, threads=self.threads)

    def inverse_diagonal(self) -> np.ndarray:
        if self.indefinite_factor is not None:
            return self.indefinite_factor.inverse_diagonal()
        return inverse_diagonal(self.R, self.threads)

    def condition(self) -> float:
        """Return ‖H‖₁ ‖H⁻¹‖₁, the second estimated by LAPACK; call before ``inverse_diagonal``."""
        if self.indefinite_factor is not None:
            return self.indefinite_factor.condition(self.size)
        inverse = lapack.dpocon(self.R, self.size)[0]
        return float(1 / inverse) if inverse > 0 else np.inf
