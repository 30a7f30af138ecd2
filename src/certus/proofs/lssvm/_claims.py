r"""What a least-squares support vector machine says besides (β, b), from the rows.

    A = [[0, rᵀ], [r, RKR + I/C]],  r = √ω        rows and columns of A are b and the rows of X
    f⁻ⁱ(x_i) = y_i − a_i/(r_i (A⁻¹)_ii),  a = β/r                 the fit without row i, ω held
    Σ_i ∂f(x_i)/∂y_i = n₊ − Σ_{ω_i > 0} (A⁻¹)_ii/C                the effective number of parameters

A row of weight 0 has no part in the fit: f⁻ⁱ = f.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.lssvm.kernels import Kernel, gamma_of

SAME_CLAIM = 1e-8  # relative, of what is recomputed
LEFT_OUT_ROWS = 1000  # up to which fits without a row are recomputed, O(n³)
LOST_BY_SOLVING = 1e-12  # times the condition: what two ways of solving A may differ by
NOT_TOLD = 1e-3  # where they may differ by more, fits without a row are not recomputed


def left_out(
    K: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    C: np.ndarray,
    f: np.ndarray,
    fit_intercept: bool = True,
) -> tuple[np.ndarray, np.ndarray, float]:
    """f⁻ⁱ(x_i) (n, q), the effective number of parameters of each column, and ‖A‖₁‖A⁻¹‖₁.

    By A⁻¹ as it stands above. ``f``: what the fit says of all rows.
    """
    used = np.flatnonzero(omega > 0)
    r, said, effective, condition = np.sqrt(omega[used]), np.array(f, dtype=float), [], 1.0
    inner = r[:, None] * K[np.ix_(used, used)] * r
    first = int(fit_intercept)
    for t, c in enumerate(np.broadcast_to(np.asarray(C, dtype=float), y.shape[1:])):
        if t == 0 or c != C[t - 1]:
            A = np.zeros((len(used) + first, len(used) + first))
            A[first:, first:] = inner + np.eye(len(used)) / c
            if fit_intercept:
                A[0, 1:] = A[1:, 0] = r
            inverse = np.linalg.inv(A)
            norms = (float(np.abs(M).sum(axis=0).max()) for M in (A, inverse))
            condition = max(condition, float(np.prod(list(norms))))
        g = np.diag(inverse)[first:]
        a = inverse[first:, first:] @ (r * y[used, t])
        with np.errstate(divide="ignore", invalid="ignore"):  # without any other row
            said[used, t] = y[used, t] - a / (r * g)
        effective.append(len(used) - float(g.sum()) / c)
    return said, np.array(effective), condition


def accuracy(scores: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> float:
    """Of ±1 columns: the share of rows, by weight, on whose side they are."""
    if y.shape[1] == 1:
        hits = (scores[:, 0] > 0) == (y[:, 0] > 0)
    else:
        hits = scores.argmax(axis=1) == y.argmax(axis=1)
    return float(np.average(hits, weights=s))


def r_squared(scores: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> float:
    """Mean over the columns of 1 − Σs(y − f)²/Σs(y − ȳ)²; of a constant y 0, or 1 if met."""
    s = np.ones(len(y)) if s is None else s
    error, mean = s @ (y - scores) ** 2, s @ y / s.sum()
    spread = s @ (y - mean) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(spread > 0, 1 - error / spread, np.where(error == 0, 1.0, 0.0))
    return float(each.mean())


MEASURES = (("loo_accuracy", accuracy, "accuracy"), ("loo_r2", r_squared, "R²"))


class LeftOut(NamedTuple):
    """What was recomputed of rows that are left out, and what is wrong."""

    effective: float | None = None
    score: float | None = None
    kind: str = ""  # "accuracy", "R²"
    wrong: tuple[str, ...] = ()


def left_out_claims(
    claims: dict[str, Any],
    K: Kernel,
    y: np.ndarray,
    s: np.ndarray | None,
    omega: np.ndarray,
    C: np.ndarray,
    fit_intercept: bool,
    f: np.ndarray,
) -> LeftOut:
    if claims.get("loo_scores") is None or len(y) > LEFT_OUT_ROWS:
        return LeftOut()
    try:
        scores, each, condition = left_out(K.whole(), y, omega, C, f, fit_intercept)
    except np.linalg.LinAlgError:  # A is singular, up to rounding
        return LeftOut()
    slack, effective = SAME_CLAIM + LOST_BY_SOLVING * condition, float(each.mean())
    if not slack <= NOT_TOLD:
        return LeftOut()
    wrong, stated = [], claims.get("effective")
    if stated is not None and not abs(stated - effective) <= slack * len(y):
        wrong.append(f"effective_parameters_ is {stated:.9g}, the rows say {effective:.9g}")
    stated = np.reshape(claims["loo_scores"], (len(y), -1))
    wrong += _other_scores(stated, scores, slack)
    for name, measure, kind in MEASURES:
        said = claims.get(name)
        if said is None or stated.shape != scores.shape:
            continue
        true = measure(stated, y, s)
        if not abs(said - true) <= SAME_CLAIM * max(1.0, abs(true)):
            wrong.append(f"{name}_ is {said:.9g}, loo_scores_ say {true:.9g}")
        return LeftOut(effective, true, kind, tuple(wrong))
    return LeftOut(effective, wrong=tuple(wrong))


def _other_scores(stated: np.ndarray, true: np.ndarray, slack: float) -> list[str]:
    if stated.shape != true.shape:
        return [f"loo_scores_ has {stated.shape[1]:,} columns, not {true.shape[1]:,}"]
    both = np.isnan(stated) & np.isnan(true)  # no other row was there
    off = np.where(both, 0.0, np.abs(stated - true))
    if (off <= slack * max(1.0, float(np.nanmax(np.abs(true), initial=0.0)))).all():
        return []
    i, t = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
    return [f"loo_scores_ of row {i} is {stated[i, t]:.9g}, a fit without it says {true[i, t]:.9g}"]


def claims_of_rows(
    claims: dict[str, Any],
    X: np.ndarray,
    s: np.ndarray | None,
    d: np.ndarray | None,
    gamma: float,
    P: float,
    error: float,
) -> list[str]:
    """γ, the density weights, the rows kept for new ones, and P."""
    said = []
    asked = claims.get("gamma")
    if asked is not None:
        true = gamma_of(X, s, asked)
        if not abs(gamma - true) <= SAME_CLAIM * abs(true):
            said.append(f"gamma_ is {gamma:.9g}, gamma={asked!r} of these rows is {true:.9g}")
    stated = claims.get("density_weights")
    if stated is not None:
        assert d is not None
        off = np.flatnonzero(~(np.abs(np.asarray(stated) - d) <= SAME_CLAIM))
        if np.shape(stated) != np.shape(d) or len(off):
            i = off[0] if len(off) else 0
            said.append(f"density_weights_ of row {i} is {stated[i]:.9g}, the rows say {d[i]:.9g}")
    stated = claims.get("objective")
    if stated is not None and not abs(stated - P) <= SAME_CLAIM * abs(P) + error:
        said.append(f"objective_ is {stated:.9g}, the rows say {P:.9g}")
    kept = claims.get("kept")
    if kept is not None:
        if kept.shape != X.shape:
            said.append(f"X_fit_ has shape {kept.shape}, the rows have {X.shape}")
        elif not np.array_equal(kept, X):
            row = int(np.argmax((kept != X).any(axis=1)))
            said.append(f"row {row} of X_fit_ is another")
    return said
