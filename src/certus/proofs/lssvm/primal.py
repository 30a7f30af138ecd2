r"""The primal least-squares machine with a penalised intercept: distance of v from the optimum.

    F(v) = λ/2 ‖v‖² + ½ Σ_i ω_i (y_i − (Gv)_i)²        G = [K 1],  λ = 1/C + ε,  v = (β, b)

ω_i = s_i c_i d_i² as in ``lssvm.py``. F is strongly convex for every K, definite or not:

    ∇F = λv − Gᵀ(ω∘e),   F(v) − F* ≤ ‖∇F‖²/(2λ),   ‖v − v*‖ ≤ ‖∇F‖/λ

The published normal equations (I/C + εI + GᵀΩG)v = GᵀΩy are ∇F = 0.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.lssvm._claims import claims_of_rows
from certus.proofs.lssvm.kernels import KernelMatrix, KernelName, gamma_of, rounded
from certus.proofs.lssvm.lssvm import weights_of
from certus.proofs.types import TargetedRows


@np.errstate(over="ignore", invalid="ignore")  # an overflow fails the check
def check(
    data: TargetedRows,
    *,
    beta: np.ndarray,
    b: np.ndarray,
    C: float,
    epsilon: float = 0.0,
    kernel: KernelName = "rbf",
    gamma: str | float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
    class_weight: object = None,
    density: tuple[int, bool] | None = None,
    claims: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of β (n, q), b (q,).

    Two products with K, O(n²(p + q)) operations; a block of rows at a time.
    """
    X, y = data.all_rows(), data.y
    beta, b = np.asarray(beta, dtype=float), np.asarray(b, dtype=float)
    n, lam = len(beta), 1 / float(C) + float(epsilon)
    gamma = gamma_of(X, None, gamma)
    omega, d = weights_of(data, X, class_weight, density)
    K, w = KernelMatrix.of(X, kernel, gamma, degree, coef0), omega[:, None]
    wrong, pair = [], K.asymmetry()
    if pair is not None:
        wrong.append(f"the kernel is not symmetric: rows {pair[0]} and {pair[1]}")
    Kb = K.times(data, beta)
    e = y - (Kb + b)
    e_error = K.products_error(beta) + 4 * UNIT * (np.abs(y) + np.abs(Kb) + np.abs(b))
    weighted_e = w * e
    slope = lam * beta - K.times(data, weighted_e)
    slope_b = lam * b - weighted_e.sum(axis=0)
    slope_error = K.products_error(weighted_e) + np.outer(K.h, K.h @ (w * e_error))
    slope_error += 4 * UNIT * (np.abs(slope) + lam * np.abs(beta))
    slope_b_error = (w * e_error + rounded(n + 4) * np.abs(weighted_e)).sum(
        axis=0
    ) + 4 * UNIT * lam * np.abs(b)
    length = np.sqrt((slope**2).sum(axis=0) + slope_b**2)
    length = (length + np.sqrt((slope_error**2).sum(axis=0) + slope_b_error**2)) * (
        1 + rounded(n + 8)
    )
    excess = length**2 / (2 * lam)
    loss, size = (w * e**2).sum(axis=0) / 2, lam / 2 * ((beta**2).sum(axis=0) + b**2)
    error = (w * e_error * (np.abs(e) + e_error)).sum(axis=0) + rounded(n + 8) * (loss + size)
    best = (w * y).sum(axis=0) / (lam + omega.sum())  # the best constant
    null = lam / 2 * best**2 + (w * (y - best) ** 2).sum(axis=0) / 2
    infeasible = not (np.isfinite(beta).all() and np.isfinite(b).all())
    with np.errstate(divide="ignore"):
        residual = np.where(excess > 0, excess / null, 0.0)
    F, gap = float((loss + size).sum()), float((excess + error).sum())
    wrong += claims_of_rows(claims or {}, X, data.s, d, K.gamma, F, float(error.sum()))
    return {
        "objective": F,
        "bound": max(F - gap, 0.0),
        "gap": gap,
        "residual": float(residual.max()) if np.isfinite(excess).all() else float("inf"),
        "null_objective": float(null.sum()),
        "proof": "the gradient and the penalty",
        "kind": "global",
        "convex": True,
        "coef_error": float((length / lam).max()),
        "infeasible": "a coefficient is not a finite number" if infeasible else None,
        "separated": None,
        "left_out_rows": int(np.count_nonzero(omega == 0)),
        "wrong": wrong,
    }
