"""IDLSSVM-CIL as published: the weights of kernel functions, penalised as they are, bias included.

    min over v   δ/2 ‖v‖² + ½ Σ ω_i (y_i − (Gv)_i)²,    G = [K 1],  δ = 1/C + ε
    (δI + GᵀΩG) v = GᵀΩy,    f(x) = Σ v_j K(x_j, x) + v_{n+1}

Rows of weight 0 remain as functions K(x_j, ·). A row is left out of the sum, not of G:

    f⁻ⁱ(x_i) = y_i − e_i/(1 − h_i),    h_i = ω_i g_iᵀ(δI + GᵀΩG)⁻¹g_i,    Σh the effective number
"""

import numpy as np

from ..._pool import blas_limiter
from ..cholesky import cholesky, cholesky_solve, solve_upper
from .fit import Fit
from .kernel import Kernel


def solve_primal(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    C: float,
    epsilon: float,
    kernel: Kernel,
    left_out: bool = False,
    threads: int | None = None,
) -> Fit:
    """The fit of y (n, q). 4n³/3 operations, n³ more with ``left_out``; two n × n matrices."""
    y = np.asarray(y, dtype=np.float64)
    G = np.column_stack([kernel.gram(X, X, threads), np.ones(len(y))])
    r, delta = np.sqrt(omega), 1 / C + epsilon
    RG = r[:, None] * G
    with blas_limiter:
        A = RG.T @ RG
        rhs = RG.T @ (r[:, None] * y)
    A[np.diag_indices(len(A))] += delta
    size = float(np.trace(A))
    R = A.T
    if cholesky(R, threads=threads) != 0:
        raise ValueError(
            f"1/C + epsilon = {delta:.3g} is lost in rounding beside GᵀΩG (trace {size:.3g}): "
            "take a smaller C or a larger epsilon"
        )
    v = cholesky_solve(R, rhs, threads=threads)
    with blas_limiter:
        rest = RG.T @ (r[:, None] * (y - G @ v)) - delta * v  # GᵀΩG squares what is lost of K
        v += cholesky_solve(R, rest, threads=threads)
        fitted = G @ v
    fit = Fit(v[:-1], v[-1], size / delta, 0)
    if not left_out:
        return fit
    Z = solve_upper(R, RG.T, transposed=True, threads=threads)
    h = np.einsum("ij,ij->j", Z, Z)
    return fit._replace(
        left_out=y - (y - fitted) / (1 - h)[:, None], leverage=h, effective=float(h.sum())
    )
