r"""Ridge regression with α chosen by leave-one-out: is α the best of ``alphas``?

    error(α) = (1/n) Σ_i s_i e_i(α)²        e_i(α) = y_i − (prediction of a fit without row i)

*All errors from one factorisation.* The fit of all rows is linear in y; with t = √s∘y its residuals
are (I − H)t. A fit without row i is that of all rows with y_i replaced by its own prediction, so

    √s_i e_i = ((I − H)t)_i / (I − H)_ii.

Let Z = √s∘X, and let B have orthonormal columns that are orthogonal to u = √(s/Σs), the direction
of the intercept (without one: B = I). With the singular values BᵀZ = UΣVᵀ and W = BU,

    I − H = B(I − UUᵀ)Bᵀ + W diag(α/(σ_k² + α)) Wᵀ.

B has the other columns of a reflection that maps u to the first axis. The first term is 0 if U is
square, and is then omitted: nothing cancels, however small α is.

Errors are means over all targets, unless each has its own α. The miss is the larger of two relative
differences: of the error of α to the smallest one, and of the stated score to −error. It is
infinite if α is not one of ``alphas``. n includes rows of weight 0.

Memory: four arrays as large as X.
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, alpha, alphas, score=None, per_target=False, fit_intercept=True, tol=1e-6):
    """Check α (one, or one for each target) and its score on X (n, p), y (n, k), weights s (n,)."""
    n, alphas = len(y), np.asarray(alphas, dtype=float)
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    errors = left_out_errors(X, y, s, alphas, fit_intercept) / n  # (alphas, targets)
    if not per_target:
        errors = errors.mean(axis=1, keepdims=True)
    chosen = np.abs(np.subtract.outer(alphas, np.atleast_1d(alpha))).argmin(axis=0)
    error = errors[chosen, np.arange(len(chosen))]
    # a smaller error is rounding of the largest one, and of y
    unit = error + 1e-7 * errors.max() + 1e-18 * (y**2).max() + 1e-300
    miss = ((error - errors.min(axis=0)) / unit).max()
    if score is not None:
        miss = max(miss, (np.abs(np.atleast_1d(score) + error) / unit).max())
    if not np.allclose(alphas[chosen], alpha, rtol=1e-12, atol=0.0):
        miss = inf
    return Claim("exact", float(error.mean()), float(miss), 1.0, tol)


def left_out_errors(X, y, s, alphas, fit_intercept):
    """Σ s e² of each α and target."""
    root = np.sqrt(s)[:, None]
    u = root / np.linalg.norm(root) * fit_intercept
    Z, t = root * X, root * y
    Z, t = Z - u * (u.T @ Z), t - u * (u.T @ t)  # centred at the weighted means
    if fit_intercept:
        h = u.copy()
        h[0] += 1.0
        U, sigma, _ = np.linalg.svd(reflected(Z, h)[1:], full_matrices=False)
        W = reflected(np.vstack([np.zeros(len(sigma)), U]), h)
    else:
        W, sigma, _ = np.linalg.svd(Z, full_matrices=False)
    errors = []
    for alpha in alphas:
        left = alpha / (sigma**2 + alpha)
        residuals, diagonal = W @ (left[:, None] * (W.T @ t)), W**2 @ left
        if len(s) - fit_intercept > len(sigma):
            residuals += t - W @ (W.T @ t)
            diagonal += 1 - u[:, 0] ** 2 - (W**2).sum(axis=1)
        errors.append(((residuals / diagonal[:, None]) ** 2).sum(axis=0))
    return np.array(errors)


def reflected(M, h):
    """(I − 2hhᵀ/hᵀh)M; with h = u + (1, 0, …, 0) it maps u to −(1, 0, …, 0)."""
    return M - h * (2 / (h.T @ h) * (h.T @ M))
