r"""Brant's test of proportional odds: is this its statistic?

For each of the K − 1 thresholds k a logistic model of "y > k" is fitted alone, with β̂_k of
Φ = [1 X] and π_k = P(y > k). Jointly

    cov(β̂_k, β̂_l) = I_k⁻¹ (Σ_i s_i π_l(1 − π_k) φ_iφ_iᵀ) I_l⁻¹  for k ≤ l
    I_k = Σ_i s_i π_k(1 − π_k) φ_iφ_iᵀ

since for k ≤ l the events "y > k" and "y > l" have the covariance π_l − π_kπ_l. Let V be the part
of the slopes of the given columns. Under proportional odds the differences of slopes
Dβ = (β_1 − β_2, …, β_1 − β_{K−1}) are 0, and

    X² = (Dβ̂)ᵀ (DVDᵀ)⁻¹ Dβ̂

is a chi² of K − 2 degrees of freedom for each column. Weights s are counts (Brant 1990).

Each fit is made here, by Newton's method with step halving on centred and scaled columns, which
leaves X² unchanged. The miss is |X² − statistic|, relative to 1 + X². It is infinite if a fit has
no finite maximum, which includes information that is singular to ten digits.

Memory: three arrays as large as X, and (K − 1)² matrices of p + 1 rows and columns.
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, statistic, columns, n_classes, tol=1e-6):
    """Check X² of some columns (indices); y: class indices in order."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    A = X - np.average(X, axis=0, weights=s)
    Phi = np.column_stack([np.ones(len(X)), A / np.maximum(np.sqrt(s @ A**2 / s.sum()), 1e-300)])
    fits = [maximum(Phi, y > k, s) for k in range(n_classes - 1)]
    if not all(fits):
        return Claim("exact", inf, inf, 1.0, tol)
    slopes = np.append([], [beta[1:][columns] for beta, _, _ in fits])
    rows = 1 + np.asarray(columns)
    V = np.block([[part(Phi, s, fits[k], fits[l], k <= l)[np.ix_(rows, rows)]
                   for l in range(n_classes - 1)] for k in range(n_classes - 1)])  # fmt: skip
    differences = np.column_stack([np.ones(n_classes - 2), -np.eye(n_classes - 2)])
    D = np.kron(differences, np.eye(len(rows)))
    expected = D @ slopes @ np.linalg.solve(D @ V @ D.T, D @ slopes)
    miss = abs(statistic - expected)
    return Claim("exact", float(expected), float(miss), 1 + float(expected), tol)


def part(Phi, s, first, second, in_order):  # cov(β̂_k, β̂_l)
    low, high = (first, second) if in_order else (second, first)
    W = s * high[1] * (1 - low[1])
    return first[2] @ (Phi.T @ (W[:, None] * Phi)) @ second[2]


def maximum(Phi, above, s):
    """β̂, π and the inverse of the information of a logistic model; None without a maximum."""
    sign, beta = np.where(above, 1.0, -1.0), np.zeros(Phi.shape[1])

    def loss(beta):
        return s @ np.logaddexp(0.0, -sign * (Phi @ beta))

    for _ in range(100):
        p = np.exp(-np.logaddexp(0.0, -Phi @ beta))
        information = Phi.T @ ((s * p * (1 - p))[:, None] * Phi)
        if not np.linalg.cond(information) < 1e10 or loss(beta) < 1e-6:
            return None
        gradient = Phi.T @ (s * (above - p))
        step = np.linalg.solve(information, gradient)
        if gradient @ step < 1e-18 * s.sum():
            return beta, p, np.linalg.inv(information)
        length = 1.0
        while loss(beta + length * step) > loss(beta) * (1 + 1e-15) and length > 1e-9:
            length /= 2
        beta = beta + length * step
    return None
