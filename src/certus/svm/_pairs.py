r"""One machine for each pair of classes: coefficients, scores and votes in libsvm's layout.

    pairs (i, j), i < j: f_ij > 0 votes for i, else for j.      Two classes: one pair, (1, 0).

``dual_coef_`` contains for each support vector of class c one coefficient for each other class o,
in row o, counted without c. The score of a class is its number of votes plus, within (−⅓, ⅓), a
function of Σ ± f over its pairs.
"""

import numpy as np


def pairs_of(K: int) -> list[tuple[int, int]]:
    """Return the pairs of K classes."""
    return [(1, 0)] if K == 2 else [(i, j) for i in range(K) for j in range(i + 1, K)]


def _dual_coef_rows(K: int) -> list[tuple[int, int, int]]:
    """Return (pair, class, row of ``dual_coef_``) for both classes of each pair."""
    return [
        (t, c, 0 if K == 2 else other - (other > c))
        for t, (i, j) in enumerate(pairs_of(K))
        for c, other in ((i, j), (j, i))
    ]


def pairwise_beta(dual_coef: np.ndarray, class_of: np.ndarray, K: int) -> np.ndarray:
    """Return β (support vectors, pairs) from ``dual_coef_``; ``class_of`` each vector."""
    beta = np.zeros((len(class_of), len(pairs_of(K))))
    for t, c, row in _dual_coef_rows(K):
        members = class_of == c
        beta[members, t] = dual_coef[row, members]
    return beta


def as_dual_coef(beta: np.ndarray, class_of: np.ndarray, K: int) -> np.ndarray:
    """Return ``dual_coef_`` from β (support vectors, pairs)."""
    dual_coef = np.zeros((max(1, K - 1), len(class_of)))
    for t, c, row in _dual_coef_rows(K):
        members = class_of == c
        dual_coef[row, members] = beta[members, t]
    return dual_coef


def votes(f: np.ndarray, K: int) -> np.ndarray:
    """Return the number of votes for each class, (m, K)."""
    counts = np.zeros((len(f), K))
    for t, (i, j) in enumerate(pairs_of(K)):
        counts[:, i] += f[:, t] > 0
        counts[:, j] += f[:, t] <= 0
    return counts


def ovr_scores(f: np.ndarray, K: int) -> np.ndarray:
    """Return a score for each class, (m, K): its votes, with ties broken by Σ ± f."""
    sums = np.zeros((len(f), K))
    for t, (i, j) in enumerate(pairs_of(K)):
        sums[:, i] += f[:, t]
        sums[:, j] -= f[:, t]
    return votes(f, K) + sums / (3 * (np.abs(sums) + 1))
