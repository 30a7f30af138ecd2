"""Exact leave-one-out over a grid of kernels and C, without refitting.

    RKR = UΛUᵀ:   H⁻¹ = U (Λ + I/C)⁻¹ Uᵀ  for every C

so one eigendecomposition for each kernel gives η, ν and the diagonal of H⁻¹ of all C by products of
n² numbers.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..._config import effective_threads
from ..._pool import blas_limiter, run_on_threads
from .kernel import Kernel

Score = Callable[[np.ndarray], float]


def grid(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    Cs: Sequence[float],
    kernels: Sequence[Kernel],
    fit_intercept: bool = True,
    score: Score | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """(kernels, Cs, n, q): f of every row fitted without it; with ``score``, (kernels, Cs) of it."""
    y = np.asarray(y, dtype=np.float64)
    shape = (len(kernels), len(Cs))
    found = np.empty(shape if score else (*shape, *y.shape))

    def one(k: int) -> None:
        for c, left_out in enumerate(_one_kernel(X, y, omega, Cs, kernels[k], fit_intercept)):
            found[k, c] = score(left_out) if score else left_out

    with blas_limiter:
        run_on_threads(one, len(kernels), threads or effective_threads())
    return found


def _one_kernel(X, y, omega, Cs, kernel, fit_intercept):  # type: ignore
    r = np.sqrt(omega)
    K = kernel.gram(X, X, 1)
    values, U = np.linalg.eigh(K * r[:, None] * r)
    if kernel.semidefinite:
        values = np.maximum(values, 0.0)
    Ur, Uy, squares = U.T @ r, U.T @ (r[:, None] * y), U**2
    for C in Cs:
        d = 1 / (values + 1 / C)
        g = squares @ d
        eta, a = U @ (d * Ur), U @ (d[:, None] * Uy)
        b = 0.0
        if fit_intercept:
            b = r @ a / (r @ eta)
            a = a - eta[:, None] * b
            g = g - eta**2 / (r @ eta)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = y - a / (r * g)[:, None]
        if np.any(r == 0):
            left[r == 0] = K[r == 0] @ (r[:, None] * a) + b
        yield left
