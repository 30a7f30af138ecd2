"""Ridge with α chosen by leave-one-out: the errors of each α on rows left out.

    e_i(α) = r_i(α) / (1 − h_ii(α))        h_ii(α) = s_i/S + s_i x̃_iᵀ(G + αI)⁻¹x̃_i

r(α) are the residuals of the ridge fit with penalty α, h its hat matrix, G = X̃ᵀSX̃ = VΛVᵀ. The score
of α is −(1/n) Σ_i s_i e_i², averaged over targets unless each has its own α. Ties go to the first.
Without an intercept X̃ = X and the term s_i/S is absent.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import View, choose_view, is_sparse, view_sample_rows
from certus.proofs.types import Matrix, Numbers, RowData


def check(
    data: RowData,
    alphas: np.ndarray,
    alpha: Numbers,
    best_score: np.ndarray | None = None,
    mean_results: np.ndarray | None = None,
    fit_intercept: bool = True,
    per_target: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Check that ``alpha`` is the best of ``alphas``, and ``best_score`` its score.

    Without a score, only check that ``alpha`` is one of them.

    ``mean_results``: the mean squared errors (k, A) that the model states, if it stores them.

    O(n·p² + n·p·A·k) operations for A penalties and k targets.
    """
    alphas, alpha = np.asarray(alphas, dtype=float), np.atleast_1d(alpha)
    chosen = np.array([np.argmin(np.abs(alphas - a)) for a in alpha])
    wrong = []
    if not np.allclose(alphas[chosen], alpha, rtol=1e-12, atol=0):
        wrong.append(f"alpha_ = {_list(alpha)} is not one of alphas")
    if best_score is None:
        return {"wrong": wrong}
    all_scores = scores = leave_one_out_scores(data, alphas, fit_intercept)  # (A, k)
    if not per_target:
        scores = scores.mean(axis=1, keepdims=True)
    at = scores[chosen, np.arange(len(chosen))]
    # rounding of the largest error, and of y
    noise = 1e-13 * np.abs(scores).max() + 1e-24 * np.square(data.sample_block(256)[1]).max()
    if mean_results is not None and not np.allclose(
        all_scores, -np.transpose(mean_results), 1e-6, noise
    ):
        wrong.append("cv_results_ are not the errors on rows left out")
    if np.any(scores.max(axis=0) - at > tol * np.abs(at) + noise):
        best = alphas[scores.argmax(axis=0)]
        wrong.append(f"alpha_ = {_list(alpha)}, but {_list(best)} has a smaller error")
    if np.any(np.abs(np.atleast_1d(best_score) - at) > 1e-6 * np.abs(at) + noise):
        wrong.append(f"best_score_ = {_list(best_score)}, but alpha_ scores {_list(at)}")
    return {"loo_score": float(at.mean()), "wrong": wrong}


def _list(values: np.ndarray) -> str:
    return ", ".join(f"{v:.6g}" for v in np.atleast_1d(values))


def leave_one_out_scores(data: RowData, alphas: np.ndarray, fit_intercept: bool) -> Any:
    """−(1/n) Σ_i s_i e_i(α)² for each α and target."""
    n, p = data.shape
    X, y, s = data.sample_block(view_sample_rows(p))
    view = choose_view(X, y, s, center=fit_intercept)._replace(q=None)
    alphas = np.asarray(alphas, dtype=float)
    if n <= p:
        return _scores_of_few_rows(data, alphas, fit_intercept, view)
    S, Sx, Sy = data.reduce(means, view)
    mean, mean_y = (Sx / S, Sy / S) if fit_intercept else (0 * Sx, 0 * Sy)
    G, Xy = data.reduce(gram, view, mean, mean_y, square=True)
    lam, V = np.linalg.eigh(G)
    Vy = V.T @ Xy
    if square_loses_digits(lam, lam[0], alphas):
        (T,) = data.reduce(factor, view, mean, mean_y, combine=merge, square=True)
        U, sigma, Vt = np.linalg.svd(T[:p, :p])
        lam, V, Vy = sigma**2, Vt.T, sigma[:, None] * (U.T @ T[:p, p:])
    shrink = 1 / (np.maximum(lam, 0)[:, None] + alphas)  # (p, A)
    # w(α) along the eigenvectors, for all α and targets
    W = (Vy[:, :, None] * shrink[:, None, :]).reshape(p, -1)
    share = 1 / S if fit_intercept else 0.0
    (total,) = data.reduce(errors_of_block, view, mean, mean_y, V, W, shrink, share)
    return -total / n


def square_loses_digits(lam: np.ndarray, least: float, alphas: np.ndarray) -> bool:
    """Return whether ε·λ_max, the error of eigenvalues, matters relative to the smallest λ + α."""
    rounding = len(lam) * np.finfo(float).eps * lam[-1]
    return bool(rounding > 1e-9 * (max(least - rounding, 0.0) + alphas.min()))


def means(X: Matrix, y: np.ndarray, s: np.ndarray | None, view: View) -> tuple[Any, Any, Any]:
    X, y = view.of_sparse(X) if is_sparse(X) else view.of(X), y - view.c_y
    s = np.ones(len(y)) if s is None else s
    return s.sum(), X.T @ s, s @ y


def gram(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    view: View,
    mean: np.ndarray,
    mean_y: np.ndarray,
) -> tuple[Any, Any]:
    X, y = view.of(X) - mean, y - view.c_y - mean_y
    sX = X if s is None else s[:, None] * X
    return X.T @ sX, sX.T @ y


def factor(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    view: View,
    mean: np.ndarray,
    mean_y: np.ndarray,
) -> tuple[Any]:
    """T of √s∘[X̃, ỹ] = QT: the triangle of X̃, and Qᵀỹ."""
    A = np.hstack([view.of(X) - mean, y - view.c_y - mean_y])
    return (np.linalg.qr(A if s is None else np.sqrt(s)[:, None] * A, mode="r"),)


def merge(remaining: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([remaining[0], right[0]]), mode="r"),)


def errors_of_block(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    view: View,
    mean: np.ndarray,
    mean_y: np.ndarray,
    V: np.ndarray,
    W: np.ndarray,
    shrink: np.ndarray,
    share: float,
) -> tuple[Any]:
    """Σ s e² of one block, (A, k)."""
    Z = view.of_sparse(X) @ V - mean @ V if is_sparse(X) else (view.of(X) - mean) @ V
    y = y - view.c_y - mean_y
    s = np.ones(len(y)) if s is None else s
    r = y[:, :, None] - (Z @ W).reshape(*y.shape, -1)  # (n, k, A)
    h = s[:, None] * (share + (Z * Z) @ shrink)  # (n, A)
    e = r / (1 - h)[:, None, :]
    return (np.einsum("i,ika,ika->ak", s, e, e),)


def _scores_of_few_rows(data: RowData, alphas: np.ndarray, fit_intercept: bool, view: View) -> Any:
    """Scores for n ≤ p, from the matrix of the rows, K = √S X̃X̃ᵀ√S = UΛUᵀ.

    I − H = M − uuᵀ with M = α(K + αI)⁻¹ and u = √(s/S), the intercept's direction; Mu = u, so
    I − H is M on the complement of u.
    """
    X, y, s = data.sample_block(data.shape[0])  # dense: the estimator limits n·p
    n = len(y)
    X, y, s = view.of(X), y - view.c_y, np.ones(n) if s is None else s
    u = np.sqrt(s / s.sum())
    if fit_intercept:
        X, y = X - (u * u) @ X, y - (u * u) @ y
    Z, B = np.sqrt(s)[:, None] * X, np.eye(n)
    if fit_intercept:  # columns of B: orthonormal, and orthogonal to u
        B = np.linalg.svd(u[None])[2][1:].T
    A = B.T @ Z
    lam, U = np.linalg.eigh(A @ A.T)
    if len(lam) and square_loses_digits(lam, lam[0], alphas):
        U, sigma, _ = np.linalg.svd(A, full_matrices=False)
        lam = sigma**2
    U = B @ U
    remaining = alphas / (np.maximum(lam, 0)[:, None] + alphas)
    d = (U * U) @ remaining  # diagonal of I − H, (n, A)
    Uy = U.T @ (np.sqrt(s)[:, None] * y)
    total = [
        np.sum((U @ (remaining[:, [a]] * Uy) / d[:, [a]]) ** 2, axis=0) for a in range(len(alphas))
    ]
    return -np.array(total) / n
