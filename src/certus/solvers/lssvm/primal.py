"""IDLSSVM-CIL as published: it penalises the coefficients of the kernel functions and the bias.

    min over v   δ/2 ‖v‖² + ½ Σ ω_i (y_i − (Gv)_i)²,    G = [K 1],  δ = 1/C + ε
    (δI + GᵀΩG) v = GᵀΩy,    f(x) = Σ v_j K(x_j, x) + v_{n+1}

A row of weight 0 remains as a function K(x_j, ·). Leave-one-out removes a row from the sum but not
from G:

    f⁻ⁱ(x_i) = y_i − e_i/(1 − h_i),    h_i = ω_i g_iᵀ(δI + GᵀΩG)⁻¹g_i,    tr S = Σ h_i
"""

import numpy as np

from ..linalg.cholesky import cholesky, cholesky_solve
from .fit import LSSVMFit
from .inverse import squared_lengths
from .kernel import Kernel, over_tiles
from .tiles import normal_matrix


def solve_primal(
    X: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    C: float,
    epsilon: float,
    kernel: Kernel,
    left_out: bool = False,
    threads: int | None = None,
) -> LSSVMFit:
    """Fit y (n, q), by 4n³/3 operations, n³ more with ``left_out``, and two n × n matrices.

    ``LSSVMFit.leverage`` is h here.
    """
    y, n = np.asarray(y, dtype=np.float64), len(y)
    G, delta = np.ones((n, n + 1)), 1 / C + epsilon

    def fill(rows: slice, columns: slice, tile: np.ndarray) -> None:
        G[rows, columns] = tile

    over_tiles(kernel.between(X, X), fill, threads)
    R = normal_matrix(G, omega, delta, threads)
    size = float(np.trace(R))
    if cholesky(R, threads=threads) != 0:
        raise ValueError(
            f"1/C + epsilon = {delta:.3g} is lost in rounding beside GᵀΩG (trace {size:.3g}): "
            "use a smaller C or a larger epsilon"
        )
    v, e = np.zeros((n + 1, y.shape[1])), y
    for _ in range(2):  # the second pass refines: forming GᵀΩG squares the condition
        slope = G.T @ (omega[:, None] * e) - delta * v
        v += cholesky_solve(R, slope, threads=threads)
        e = y - G @ v
    P = 0.5 * float(np.einsum("n,nq,nq->", omega, y, e))  # as δ‖v‖² = Σ ω(Gv)e at the optimum
    fit = LSSVMFit(v[:-1], v[-1], P, size / delta, 0)
    if not left_out:
        return fit
    h = omega * squared_lengths(R, G, threads)
    return fit._replace(left_out=y - e / (1 - h)[:, None], leverage=h, effective=float(h.sum()))
