r"""Attributes of a least-squares support vector machine besides (β, b), recomputed from the rows.

    A = [[0, rᵀ], [r, RKR + I/C]],  r = √ω        rows and columns of A are b and the rows of X
    f⁻ⁱ(x_i) = y_i − a_i/(r_i (A⁻¹)_ii),  a = β/r                 the fit without row i, ω held
    Σ_i ∂f(x_i)/∂y_i = n₊ − Σ_{ω_i > 0} (A⁻¹)_ii/C                the effective number of parameters

A row of weight 0 does not influence the fit: f⁻ⁱ = f.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.lssvm.kernels import KernelMatrix, gamma_of

CLAIM_TOLERANCE = 1e-8  # relative
MAX_LEFT_OUT_ROWS = 1000  # with more, leave-one-out is not recomputed: O(n³)
SOLVE_ERROR_PER_CONDITION = 1e-12  # times the condition: difference of two methods of solving A
MAX_LEFT_OUT_SLACK = 1e-3  # where they may differ by more, leave-one-out is not recomputed


def left_out(
    K: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    C: np.ndarray,
    f: np.ndarray,
    fit_intercept: bool = True,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return f⁻ⁱ(x_i) (n, q), the effective number of parameters of each column, and ‖A‖₁‖A⁻¹‖₁.

    Computed from A⁻¹ as defined above. ``f``: the scores of all rows by the fit.
    """
    used = np.flatnonzero(omega > 0)
    r, scores, effective, condition = np.sqrt(omega[used]), np.array(f, dtype=float), [], 1.0
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
        with np.errstate(divide="ignore", invalid="ignore"):  # if there is no other row
            scores[used, t] = y[used, t] - a / (r * g)
        effective.append(len(used) - float(g.sum()) / c)
    return scores, np.array(effective), condition


def accuracy(scores: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> float:
    """Return the weighted share of rows that scores of ±1 columns classify correctly."""
    if y.shape[1] == 1:
        is_correct = (scores[:, 0] > 0) == (y[:, 0] > 0)
    else:
        is_correct = scores.argmax(axis=1) == y.argmax(axis=1)
    return float(np.average(is_correct, weights=s))


def r_squared(scores: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> float:
    """Return the mean over columns of 1 − Σs(y − f)²/Σs(y − ȳ)²; for constant y 1 if f = y or 0."""
    s = np.ones(len(y)) if s is None else s
    error, mean = s @ (y - scores) ** 2, s @ y / s.sum()
    spread = s @ (y - mean) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(spread > 0, 1 - error / spread, np.where(error == 0, 1.0, 0.0))
    return float(each.mean())


MEASURES = (("loo_accuracy", accuracy, "accuracy"), ("loo_r2", r_squared, "R²"))


class LeftOutResult(NamedTuple):
    """Recomputed leave-one-out quantities, and what is wrong with those stated."""

    effective: float | None = None
    score: float | None = None
    kind: str = ""  # "accuracy", "R²"
    wrong: tuple[str, ...] = ()


def left_out_claims(
    claims: dict[str, Any],
    K: KernelMatrix,
    y: np.ndarray,
    s: np.ndarray | None,
    omega: np.ndarray,
    C: np.ndarray,
    fit_intercept: bool,
    f: np.ndarray,
) -> LeftOutResult:
    if claims.get("loo_scores") is None or len(y) > MAX_LEFT_OUT_ROWS:
        return LeftOutResult()
    try:
        scores, each, condition = left_out(K.whole(), y, omega, C, f, fit_intercept)
    except np.linalg.LinAlgError:  # A is singular, up to rounding
        return LeftOutResult()
    slack, effective = CLAIM_TOLERANCE + SOLVE_ERROR_PER_CONDITION * condition, float(each.mean())
    if not slack <= MAX_LEFT_OUT_SLACK:
        return LeftOutResult()
    wrong, stated = [], claims.get("effective")
    if stated is not None and not abs(stated - effective) <= slack * len(y):
        wrong.append(f"effective_parameters_ is {stated:.9g}, the rows give {effective:.9g}")
    stated = np.reshape(claims["loo_scores"], (len(y), -1))
    wrong += _other_scores(stated, scores, slack)
    for name, measure, kind in MEASURES:
        value = claims.get(name)
        if value is None or stated.shape != scores.shape:
            continue
        true = measure(stated, y, s)
        if not abs(value - true) <= CLAIM_TOLERANCE * max(1.0, abs(true)):
            wrong.append(f"{name}_ is {value:.9g}, loo_scores_ give {true:.9g}")
        return LeftOutResult(effective, true, kind, tuple(wrong))
    return LeftOutResult(effective, wrong=tuple(wrong))


def _other_scores(stated: np.ndarray, true: np.ndarray, slack: float) -> list[str]:
    if stated.shape != true.shape:
        return [f"loo_scores_ has {stated.shape[1]:,} columns, not {true.shape[1]:,}"]
    both_nan = np.isnan(stated) & np.isnan(true)  # there is no other row
    error = np.where(both_nan, 0.0, np.abs(stated - true))
    if (error <= slack * max(1.0, float(np.nanmax(np.abs(true), initial=0.0)))).all():
        return []
    i, t = np.unravel_index(int(np.argmax(np.where(np.isnan(error), np.inf, error))), error.shape)
    return [
        f"loo_scores_ of row {i} is {stated[i, t]:.9g}, a fit without it gives {true[i, t]:.9g}"
    ]


def claims_of_rows(
    claims: dict[str, Any],
    X: np.ndarray,
    s: np.ndarray | None,
    d: np.ndarray | None,
    gamma: float,
    P: float,
    error: float,
) -> list[str]:
    """Return what is wrong with γ, the density weights, the stored rows, and P."""
    messages = []
    requested = claims.get("gamma")
    if requested is not None:
        true = gamma_of(X, s, requested)
        if not abs(gamma - true) <= CLAIM_TOLERANCE * abs(true):
            messages.append(
                f"gamma_ is {gamma:.9g}, gamma={requested!r} of these rows is {true:.9g}"
            )
    stated = claims.get("density_weights")
    if stated is not None:
        assert d is not None
        differing = np.flatnonzero(~(np.abs(np.asarray(stated) - d) <= CLAIM_TOLERANCE))
        if np.shape(stated) != np.shape(d) or len(differing):
            i = differing[0] if len(differing) else 0
            messages.append(
                f"density_weights_ of row {i} is {stated[i]:.9g}, the rows give {d[i]:.9g}"
            )
    stated = claims.get("objective")
    if stated is not None and not abs(stated - P) <= CLAIM_TOLERANCE * abs(P) + error:
        messages.append(f"objective_ is {stated:.9g}, the rows give {P:.9g}")
    stored = claims.get("kept")
    if stored is not None:
        if stored.shape != X.shape:
            messages.append(f"X_fit_ has shape {stored.shape}, the rows have {X.shape}")
        elif not np.array_equal(stored, X):
            row = int(np.argmax((stored != X).any(axis=1)))
            messages.append(f"row {row} of X_fit_ is not the row given")
    return messages
