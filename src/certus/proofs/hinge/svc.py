r"""Support vector machines (C-SVC): how far given (α, b) are from the optimum.

    P(w, b) = ½‖w‖² + Σ_i C_i [1 − m_i]₊        m_i = y_i (wᵀφ(x_i) + b),   y = ±1
    D(α)    = Σα − ½βᵀKβ                        β = α∘y,  0 ≤ α_i ≤ C_i,  Σβ = 0,  w = Σ β_j φ(x_j)

C_i = C s_i c_i d_i: weights of the row, of its class, and of the density around it. For allowed α'
and δ = β − β', no matter where α' comes from,

    P(w, b) − D(α') = Σ_i {(C_i − α'_i)(1 − m_i) if m_i ≤ 1, else α'_i(m_i − 1)} + ½ δᵀKδ

a sum of terms that are not negative. α' is α cut to 0 ≤ α ≤ C_i and made smaller in the heavier
class until Σβ' = 0. The intercept is the model's own.

More than two classes: such a problem for each pair of them, on the rows of these two. The objective
is the sum over the pairs, and each has its own gap.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.lssvm._claims import claims_of_rows
from certus.proofs.lssvm.density import density_of
from certus.proofs.lssvm.kernels import Kernel, KernelName, gamma_of, rounded
from certus.proofs.types import TargetedRows


def signs(codes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """y (n, pairs): 1 for the rows of a pair's first class, −1 of its second, 0 for others."""
    codes = np.asarray(codes)[:, None]
    first, second = np.asarray(pairs).T
    return (codes == first).astype(float) - (codes == second)


def allowed_alpha(alpha: np.ndarray, y: np.ndarray, most: np.ndarray) -> np.ndarray:
    """α': 0 ≤ α' ≤ C_i, Σ α'y = 0 of each column but for rounding."""
    inside = np.where(y != 0, np.clip(alpha, 0.0, most), 0.0)
    plus, minus = (np.where(side, inside, 0.0).sum(axis=0) for side in (y > 0, y < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_plus = np.where(plus > minus, minus / plus, 1.0)
        of_minus = np.where(minus > plus, plus / minus, 1.0)
    return np.asarray(inside * np.where(y > 0, of_plus, of_minus))


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
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

    data.y are numbers of classes. A pair (k, l) has y = 1 for k and −1 for l. ``gamma``: a number,
    or "scale" or "auto". ``class_weight``: c for each class. ``density``: (k, apart).

    O(n²(p + t)) operations; a block of rows at a time.
    """
    X, codes = data.all_rows(), data.y[:, 0].astype(int)
    beta, b = np.asarray(beta, dtype=float), np.asarray(b, dtype=float)
    n, d = len(beta), None
    most = float(C) * (np.ones(n) if data.s is None else np.asarray(data.s, dtype=float))
    if class_weight is not None:
        most = most * np.asarray(class_weight, dtype=float)[codes]
    if density is not None:
        d = density_of(X, int(density[0]), codes if density[1] else None)
        most = most * d
    gamma = gamma_of(X, None, gamma)
    K = Kernel.of(X, kernel, gamma, degree, coef0)
    least, convex = K.least_eigenvalue()
    shift = -least if convex else 0.0
    wrong, pair = [], K.asymmetry()
    if pair is not None:
        wrong.append(f"the kernel is not symmetric: rows {pair[0]} and {pair[1]}")

    y = signs(codes, pairs)
    C_i = np.where(y != 0, most[:, None], 0.0)
    inside = allowed_alpha(beta * y, y, C_i)
    delta = beta - inside * y
    Kb, Kd = np.split(K.times(data, np.hstack([beta, delta])), 2, axis=1)
    blur = K.products_error(beta) + shift * np.abs(beta)
    m = y * (Kb + b)
    m_error = blur + 4 * UNIT * (1 + np.abs(Kb) + np.abs(b))
    terms = np.where(m <= 1, (C_i - inside) * (1 - m), inside * (m - 1))
    of_delta = np.abs(delta) * (np.abs(Kd) + K.products_error(delta) + shift * np.abs(delta))
    # Σβ' is 0 but for rounding; with this share of one class's α' less, it is
    share = 4 * rounded(n + 8)
    far = np.sqrt(of_delta.sum(axis=0)) + share * (K.h @ inside)
    terms += C_i * m_error + share * inside * np.abs(1 - m)
    excess = terms.sum(axis=0) * (1 + rounded(n + 8)) + far**2 / 2
    loss = (C_i * np.maximum(1 - m, 0.0)).sum(axis=0)
    bKb = (beta * Kb).sum(axis=0)
    P = (np.maximum(bKb, 0.0) if convex else bKb) / 2 + loss
    error = (np.abs(beta) * (blur + rounded(n + 4) * np.abs(Kb))).sum(axis=0) / 2
    error += (C_i * m_error).sum(axis=0) + rounded(n + 8) * loss
    null = 2 * np.minimum((C_i * (y > 0)).sum(axis=0), (C_i * (y < 0)).sum(axis=0))
    null = np.maximum(null, np.finfo(float).tiny)
    infeasible = ""
    if not (np.isfinite(beta).all() and np.isfinite(b).all()):
        infeasible = "a coefficient is not a finite number"
    residual = float((excess / null).max()) if np.isfinite(excess).all() else float("inf")
    F, gap = float(P.sum()), float((excess + error).sum())
    wrong += claims_of_rows(claims or {}, X, data.s, d, K.gamma, F, float(error.sum()))
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
        "left_out_rows": int(np.count_nonzero(most == 0)),
        "wrong": wrong,
    }
