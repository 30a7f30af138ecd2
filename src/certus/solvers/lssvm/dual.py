"""LS-SVM: one symmetric system for all targets.

    min over w, b   ½‖w‖² + C/2 Σ ω_i (y_i − wᵀφ(x_i) − b)²,     w = Σ β_i φ(x_i)

    [[0, rᵀ], [r, H]] [b; a] = [0; r∘y],   r = √ω,  H = RKR + I/C,  β = r∘a
    η = H⁻¹r,  ν = H⁻¹(r∘y),  b = rᵀν/rᵀη,  a = ν − ηb

Rows of weight 0 have β = 0 and are left out. Exact leave-one-out, with ω held fixed, and the trace
of S in f = S y follow from the diagonal of M = H⁻¹ − ηηᵀ/rᵀη alone:

    f⁻ⁱ(x_i) = y_i − a_i/(r_i M_ii)          tr S = n₊ − Σ M_ii/C
"""

from typing import Any

import numpy as np

from ..cholesky import cholesky, cholesky_solve
from .fit import Fit
from .indefinite import Indefinite
from .kernel import Kernel
from .left_out import inverse_diagonal
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

    n³/3 operations, twice that with ``left_out``; memory for one n × n matrix (and the given one if
    precomputed).
    """
    y = np.asarray(y, dtype=np.float64)
    kept = omega > 0
    if not kept.any():
        raise ValueError("all rows have weight 0: give at least one a positive weight")
    X, Y, r = _rows(K_or_X, kernel, kept), y[kept], np.sqrt(omega[kept])
    center = fit_intercept and kernel.name == "linear"  # moves b alone, and saves digits
    origin = X.mean(axis=0, dtype=np.float64) if center else None
    factor = factored(X if origin is None else X - origin, r, C, kernel, threads)
    rhs = np.column_stack([r[:, None] * Y, r])
    nu, eta = np.split(factor.solve(rhs), [Y.shape[1]], axis=1)
    b, scale = np.zeros(Y.shape[1]), float(r @ eta[:, 0])
    a = nu
    if fit_intercept:
        for _ in range(2):  # the second time for what rounding left of rᵀa
            step = r @ a / scale
            b, a = b + step, a - eta * step
    beta = np.zeros_like(y)
    beta[kept] = r[:, None] * a
    if origin is not None:
        b = b - origin @ (X.T @ beta[kept])
    fit = Fit(beta, b, factor.condition, factor.negative)
    return (
        _left_out(fit, factor, K_or_X, y, kept, r, a, eta[:, 0], C, kernel, fit_intercept)
        if (left_out)
        else fit
    )


def _left_out(
    fit: Fit,
    factor: Any,
    K_or_X: np.ndarray,
    y: np.ndarray,
    kept: np.ndarray,
    r: np.ndarray,
    a: np.ndarray,
    eta: np.ndarray,
    C: float,
    kernel: Kernel,
    fit_intercept: bool,
) -> Fit:
    g = factor.inverse_diagonal()
    if fit_intercept:
        g = g - eta**2 / (r @ eta)
    found = np.empty_like(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        found[kept] = y[kept] - a / (r * g)[:, None]
    if fit_intercept and kept.sum() == 1:
        found[kept] = np.nan  # nothing is left to fit
    if not kept.all():
        rest = ~kept
        new = K_or_X[rest]
        found[rest] = predict(new, K_or_X, fit.beta, fit.b, kernel, factor.threads)
    leverage = np.full(len(y), C)  # a row without weight adds 0 to the trace
    leverage[kept] = g
    return fit._replace(left_out=found, leverage=leverage, effective=float(np.sum(1 - g / C)))


class Positive:
    """RᵀR = H."""

    negative = 0

    def __init__(self, R: np.ndarray, condition: float, threads: int | None):
        self.R, self.condition, self.threads = R, condition, threads

    def solve(self, B: np.ndarray) -> np.ndarray:
        return cholesky_solve(self.R, B, threads=self.threads)

    def inverse_diagonal(self) -> np.ndarray:
        return inverse_diagonal(self.R, self.threads)


def factored(
    X: np.ndarray, r: np.ndarray, C: float, kernel: Kernel, threads: int | None = None
) -> Any:
    """A factor of H = RKR + I/C."""
    diagonal = kernel.diagonal(X)
    pairs = kernel.between(X, X)
    H = weighted_gram(pairs, diagonal, r, 1 / C, threads)
    if cholesky(H, threads=threads) == 0:
        return Positive(H, 1 + C * float(diagonal @ r**2), threads)
    H = weighted_gram(pairs, diagonal, r, 1 / C, threads)
    return Indefinite(H, threads)


def _rows(K_or_X: np.ndarray, kernel: Kernel, kept: np.ndarray) -> np.ndarray:
    if kernel.name == "precomputed":
        return K_or_X if kept.all() else K_or_X[np.ix_(kept, kept)]
    return K_or_X if kept.all() else K_or_X[kept]
