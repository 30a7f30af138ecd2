r"""Least-squares support vector machines: the distance of a given (β, b) from the optimum.

    P(w, b) = ½‖w‖² + C/2 Σ_i ω_i e_i²        e_i = y_i − wᵀφ(x_i) − b,   w = Σ_j β_j φ(x_j)
    D(β)    = βᵀy − ½βᵀKβ − Σ_i β_i²/(2Cω_i)  Σβ = 0 (with an intercept), β_i = 0 where ω_i = 0

ω_i = s_i c_i d_i²: weights of the row, of its class, and of the density around it. y is any number,
or ±1 for classes, a column for each. For K without negative eigenvalues D(β') ≤ P(w, b) for every
feasible β' and every w, b, and completing squares gives, with δ = β − β',

    P(w, b) − D(β') = Σ_i Cω_i/2 (e_i − β'_i/(Cω_i))² + ½ δᵀKδ

β' is β set to 0 where ω_i = 0, minus ω Σβ/Σω: equal to β up to rounding, if the fit is right. D is
strongly concave, which bounds the coefficients: Σ (β'_i − β*_i)²/(2Cω_i) ≤ gap.

Kernel ridge is the same without an intercept, C = 1/α. If K has negative eigenvalues, P has no
minimum; (β, b) can still solve the equations e_i = β_i/(Cω_i), Σβ = 0, and is then stationary.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.lssvm._choice import choice_claims
from certus.proofs.lssvm._claims import claims_of_rows, left_out_claims
from certus.proofs.lssvm.density import density_of
from certus.proofs.lssvm.kernels import KernelMatrix, KernelName, gamma_of, rounded
from certus.proofs.types import RowData, TargetedRows

LAST_DIGITS = 2.0**14 * UNIT  # a smaller relative spread of y counts as this, so that f₀ > 0


def weights_of(
    data: TargetedRows,
    X: np.ndarray,
    class_weight: object = None,
    density: tuple[int, bool] | None = None,
    power: int = 2,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return ω = s·c·d^power, and d. ``density``: (k, whether within each class)."""
    n, y = data.shape[0], data.y
    codes = (y[:, 0] > 0 if y.shape[1] == 1 else y.argmax(axis=1)).astype(int)
    omega = np.ones(n) if data.s is None else np.array(data.s, dtype=float)
    if class_weight is not None:
        omega *= np.asarray(class_weight, dtype=float)[codes]
    if density is None:
        return omega, None
    k, by_class = density
    d = density_of(X, int(k), codes if by_class else None)
    return omega * d**power, d


class LSSVMValues(NamedTuple):
    """Objective and gap of (β, b), with bounds on their rounding errors."""

    P: np.ndarray  # of each column
    gap: np.ndarray
    error: np.ndarray  # of P
    f: np.ndarray
    null: np.ndarray
    beta_error: np.ndarray


def feasible(beta: np.ndarray, omega: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """Return β': 0 where ω is 0, and with an intercept Σβ' = 0."""
    feasible_beta = np.where(omega[:, None] > 0, beta, 0.0)
    if not fit_intercept or not omega.any():
        return feasible_beta
    return np.asarray(feasible_beta - np.outer(omega / omega.sum(), feasible_beta.sum(axis=0)))


def values(
    data: RowData,
    kernel: KernelMatrix,
    y: np.ndarray,
    omega: np.ndarray,
    beta: np.ndarray,
    b: np.ndarray,
    C: np.ndarray,
    fit_intercept: bool,
    tau: float | None,
) -> LSSVMValues:
    """Return objective and gap of each column.

    ``tau``: K + τI has no negative eigenvalues, with τ as small as rounding. None: K has some.
    """
    n, shift = len(beta), tau or 0.0
    feasible_beta = feasible(beta, omega, fit_intercept)
    delta, w, S = (
        beta - feasible_beta,
        omega[:, None],
        max(float(omega.sum()), np.finfo(float).tiny),
    )
    Kb, Kd = np.split(kernel.times(data, np.hstack([beta, delta])), 2, axis=1)
    product_error = kernel.products_error(beta) + shift * np.abs(beta)
    f = Kb + b
    e = y - f
    e_error = product_error + 4 * UNIT * (np.abs(y) + np.abs(Kb) + np.abs(b))
    with np.errstate(divide="ignore", invalid="ignore"):
        target = np.where(w > 0, feasible_beta / (C * w), 0.0)
    difference = e - target
    difference_error = e_error + 4 * UNIT * np.abs(target)
    rounding_factor = 1 + rounded(n + 8)
    # Σβ' is 0 up to ``sum_error``; subtracting that multiple of ω makes it exact
    sum_error = rounded(n + 4) * np.abs(beta).sum(axis=0) * fit_intercept
    root = np.sqrt(C / 2 * (w * difference**2).sum(axis=0)) + sum_error / np.sqrt(2 * C * S)
    root += np.sqrt(C / 2 * (w * difference_error**2).sum(axis=0))
    delta_terms = np.abs(delta) * (
        np.abs(Kd) + kernel.products_error(delta) + shift * np.abs(delta)
    )
    delta_norm = np.sqrt(delta_terms.sum(axis=0)) + sum_error * float(kernel.h @ omega) / S
    gap = (root**2 + delta_norm**2 / 2) * rounding_factor
    bKb = (beta * Kb).sum(axis=0)
    loss = C / 2 * (w * e**2).sum(axis=0)
    P = (bKb if tau is None else np.maximum(bKb, 0.0)) / 2 + loss
    error = (np.abs(beta) * (product_error + rounded(n + 4) * np.abs(Kb))).sum(axis=0) / 2
    error += C * (w * e_error * (np.abs(e) + e_error)).sum(axis=0) + rounded(n + 8) * loss
    center = (w * y).sum(axis=0) / S if fit_intercept else 0.0
    digits = LAST_DIGITS * np.abs(y).max(axis=0, initial=0.0)
    null = C / 2 * np.maximum((w * (y - center) ** 2).sum(axis=0), omega.sum() * digits**2)
    beta_error = np.sqrt(2 * C * gap * omega.max(initial=0.0)) + np.abs(delta).max(axis=0)
    return LSSVMValues(P, gap, error, f, null, beta_error)


@np.errstate(over="ignore", invalid="ignore")  # an overflow fails the check
def check(
    data: TargetedRows,
    *,
    beta: np.ndarray,
    b: np.ndarray,
    C: np.ndarray,
    kernel: KernelName = "rbf",
    gamma: str | float = 1.0,
    degree: float = 3,
    coef0: float = 0.0,
    fit_intercept: bool = True,
    class_weight: object = None,
    density: tuple[int, bool] | None = None,
    claims: dict[str, Any] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of β (n, q), b (q,).

    ``C``: a number, or one for each column. ``gamma``: a number, or "scale" or "auto".
    ``class_weight``: c for each class; data.y is then ±1. ``density``: (k, by_class), see
    ``weights_of``. ``claims``: other attributes of the model, by name (``_claims.py``).

    O(n²(p + q)) operations; a block of rows at a time.
    """
    X, y = data.all_rows(), data.y
    beta, b = np.asarray(beta, dtype=float), np.asarray(b, dtype=float)
    C = np.broadcast_to(np.asarray(C, dtype=float), b.shape)
    gamma = gamma_of(X, None, gamma)
    omega, d = weights_of(data, X, class_weight, density)
    K = KernelMatrix.of(X, kernel, gamma, degree, coef0)
    least, convex = K.least_eigenvalue()
    wrong, pair = [], K.asymmetry()
    if pair is not None:
        wrong.append(f"the kernel is not symmetric: rows {pair[0]} and {pair[1]}")
    at = values(data, K, y, omega, beta, b, C, fit_intercept, -least if convex else None)
    infeasible = ""
    if not (np.isfinite(beta).all() and np.isfinite(b).all()):
        infeasible = "a coefficient is not a finite number"
    elif not fit_intercept and b.any():
        infeasible = "there is an intercept, which fit_intercept=False excludes"
    P, gap = float(at.P.sum()), float((at.gap + at.error).sum())
    with np.errstate(divide="ignore"):  # the rounding error of P itself is no fault of the fit
        residual = np.where(at.gap > 0, at.gap / at.null, 0.0)
    residual = np.where(np.isfinite(at.gap), residual, np.inf)
    claims, error = claims or {}, float(at.error.sum())
    wrong += claims_of_rows(claims, X, data.s, d, K.gamma, P, error)
    left_out = left_out_claims(claims, K, y, data.s, omega, C, fit_intercept, at.f)
    if "choice" in claims:
        kernel_params = {"kernel": kernel, "degree": degree, "coef0": coef0}
        at_grid = gamma, float(C[0])
        wrong += choice_claims(
            claims["choice"], X, y, data.s, omega, kernel_params, fit_intercept, at_grid
        )
    return {
        "objective": P,
        "bound": max(P - gap, 0.0) if convex else None,
        "gap": gap if convex else float("inf"),
        "residual": float("inf") if infeasible else float(residual.max()),
        "null_objective": float(at.null.sum()),
        "proof": "a dual point",
        "kind": "global" if convex else "stationary",
        "convex": convex,
        "least_eigenvalue": least,
        "coef_error": float(at.beta_error.max()) if convex else None,
        "infeasible": infeasible or None,
        "separated": None,
        "left_out_rows": int(np.count_nonzero(omega == 0)),
        "effective": left_out.effective,
        "loo": left_out.score,
        "loo_kind": left_out.kind,
        "wrong": [*wrong, *left_out.wrong],
    }
