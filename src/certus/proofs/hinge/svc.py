r"""Support vector machines (C-SVC): bound of the excess of given (α, b).

    P(w, b) = ½‖w‖² + Σ_i C_i [1 − m_i]₊        m_i = y_i (wᵀφ(x_i) + b),   y = ±1
    D(α)    = Σα − ½βᵀKβ                        β = α∘y,  0 ≤ α_i ≤ C_i,  Σβ = 0,  w = Σ β_j φ(x_j)

C_i = C s_i c_i d_i: weights of the row, of its class, and of the density around it. For any
feasible α' and δ = β − β',

    P(w, b) − D(α') = Σ_i {(C_i − α'_i)(1 − m_i) if m_i ≤ 1, else α'_i(m_i − 1)} + ½ δᵀKδ

a sum of nonnegative terms. α' is α clipped to 0 ≤ α ≤ C_i and scaled down in the heavier class
until Σβ' = 0. The intercept is the model's own.

More than two classes: one such problem for each pair, on the rows of these two classes. The
objective is the sum over the pairs, and each has its own gap.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.lssvm._claims import claims_of_rows
from certus.proofs.lssvm.density import density_of
from certus.proofs.lssvm.kernels import KernelMatrix, KernelName, gamma_of, rounded
from certus.proofs.types import TargetedRows


def signs(codes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return y (n, pairs): 1 for rows of a pair's first class, −1 for its second, 0 for others."""
    codes = np.asarray(codes)[:, None]
    first, second = np.asarray(pairs).T
    return (codes == first).astype(float) - (codes == second)


def allowed_alpha(alpha: np.ndarray, y: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return α' with 0 ≤ α' ≤ C_i and, up to rounding, Σ α'y = 0 in each column."""
    allowed = np.where(y != 0, np.clip(alpha, 0.0, upper), 0.0)
    plus, minus = (np.where(side, allowed, 0.0).sum(axis=0) for side in (y > 0, y < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_plus = np.where(plus > minus, minus / plus, 1.0)
        of_minus = np.where(minus > plus, plus / minus, 1.0)
    return np.asarray(allowed * np.where(y > 0, of_plus, of_minus))


@np.errstate(over="ignore", invalid="ignore")  # an overflow gives no bound, and no certificate
def check(
    data: TargetedRows,
    *,
    beta: np.ndarray,
    b: np.ndarray,
    pairs: np.ndarray,
    C: float,
    kernel: KernelName = "rbf",
    gamma: str | float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
    class_weight: object = None,
    density: tuple[int, bool] | None = None,
    claims: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of β (n, t), b (t,), a column for each of ``pairs``.

    data.y holds class indices. A pair (k, l) has y = 1 for k and −1 for l. ``gamma``: a number,
    "scale" or "auto". ``class_weight``: c for each class. ``density``: (k, by class or not).

    O(n²(p + t)) operations; a block of rows at a time.
    """
    X, codes = data.all_rows(), data.y[:, 0].astype(int)
    beta, b = np.asarray(beta, dtype=float), np.asarray(b, dtype=float)
    n, d = len(beta), None
    upper = float(C) * (np.ones(n) if data.s is None else np.asarray(data.s, dtype=float))
    if class_weight is not None:
        upper = upper * np.asarray(class_weight, dtype=float)[codes]
    if density is not None:
        d = density_of(X, int(density[0]), codes if density[1] else None)
        upper = upper * d
    gamma = gamma_of(X, None, gamma)
    K = KernelMatrix.of(X, kernel, gamma, degree, coef0)
    least, convex = K.least_eigenvalue()
    shift = -least if convex else 0.0
    contradictions, pair = [], K.asymmetry()
    if pair is not None:
        contradictions.append(f"the kernel is not symmetric: rows {pair[0]} and {pair[1]}")

    y = signs(codes, pairs)
    C_i = np.where(y != 0, upper[:, None], 0.0)
    allowed = allowed_alpha(beta * y, y, C_i)
    delta = beta - allowed * y
    Kb, Kd = np.split(K.times(data, np.hstack([beta, delta])), 2, axis=1)
    product_error = K.products_error(beta) + shift * np.abs(beta)
    m = y * (Kb + b)
    m_error = product_error + 4 * UNIT * (1 + np.abs(Kb) + np.abs(b))
    terms = np.where(m <= 1, (C_i - allowed) * (1 - m), allowed * (m - 1))
    of_delta = np.abs(delta) * (np.abs(Kd) + K.products_error(delta) + shift * np.abs(delta))
    # Σβ' is 0 up to rounding; reducing one class's α' by this share makes it exactly 0
    share = 4 * rounded(n + 8)
    delta_norm = np.sqrt(of_delta.sum(axis=0)) + share * (K.h @ allowed)
    terms += C_i * m_error + share * allowed * np.abs(1 - m)
    excess = terms.sum(axis=0) * (1 + rounded(n + 8)) + delta_norm**2 / 2
    loss = (C_i * np.maximum(1 - m, 0.0)).sum(axis=0)
    bKb = (beta * Kb).sum(axis=0)
    P = (np.maximum(bKb, 0.0) if convex else bKb) / 2 + loss
    error = (np.abs(beta) * (product_error + rounded(n + 4) * np.abs(Kb))).sum(axis=0) / 2
    error += (C_i * m_error).sum(axis=0) + rounded(n + 8) * loss
    null = 2 * np.minimum((C_i * (y > 0)).sum(axis=0), (C_i * (y < 0)).sum(axis=0))
    null = np.maximum(null, np.finfo(float).tiny)
    infeasible = ""
    if not (np.isfinite(beta).all() and np.isfinite(b).all()):
        infeasible = "a coefficient is not a finite number"
    residual = float((excess / null).max()) if np.isfinite(excess).all() else float("inf")
    F, gap = float(P.sum()), float((excess + error).sum())
    contradictions += claims_of_rows(claims or {}, X, data.s, d, K.gamma, F, float(error.sum()))
    worst = int(np.argmax(excess / null))
    return {
        "objective": F,
        "bound": max(F - gap, 0.0) if convex else None,
        "gap": gap if convex else float("inf"),
        "residual": float("inf") if infeasible else residual,
        "null_objective": float(null.sum()),
        "proof": "a dual point",
        "kind": "global" if convex else "stationary",
        "convex": convex,
        "least_eigenvalue": least,
        "coef_error": None,
        "infeasible": infeasible or None,
        "separated": None,
        "pair": tuple(int(k) for k in np.asarray(pairs)[worst]) if len(b) > 1 else None,
        "support": int(np.count_nonzero(beta.any(axis=1))),
        "left_out_rows": int(np.count_nonzero(upper == 0)),
        "wrong": contradictions,
    }
