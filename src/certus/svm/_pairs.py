r"""More than two classes, a machine for each pair: coefficients, scores and votes as libsvm's.

    pairs (i, j), i < j: f_ij > 0 votes for i, else for j.      Of two classes one pair, (1, 0).

``dual_coef_`` holds for each support vector of class c one number for each other class o, in row o
without c. One score for each class: its votes, and within (−⅓, ⅓) Σ ± f of its pairs.
"""

import numpy as np


def pairs_of(K: int) -> list[tuple[int, int]]:
    return [(1, 0)] if K == 2 else [(i, j) for i in range(K) for j in range(i + 1, K)]


def _places(K: int) -> list[tuple[int, int, int]]:
    """(pair, class, row of ``dual_coef_``)."""
    return [
        (t, c, 0 if K == 2 else other - (other > c))
        for t, (i, j) in enumerate(pairs_of(K))
        for c, other in ((i, j), (j, i))
    ]


def by_pairs(dual_coef: np.ndarray, own: np.ndarray, K: int) -> np.ndarray:
    """β (support vectors, pairs); ``own``: the class of each."""
    beta = np.zeros((len(own), len(pairs_of(K))))
    for t, c, row in _places(K):
        at = own == c
        beta[at, t] = dual_coef[row, at]
    return beta


def as_dual_coef(beta: np.ndarray, own: np.ndarray, K: int) -> np.ndarray:
    """The same, as ``dual_coef_``."""
    dual_coef = np.zeros((max(1, K - 1), len(own)))
    for t, c, row in _places(K):
        at = own == c
        dual_coef[row, at] = beta[at, t]
    return dual_coef


def votes(f: np.ndarray, K: int) -> np.ndarray:
    """(m, K): how many pairs say each class."""
    counted = np.zeros((len(f), K))
    for t, (i, j) in enumerate(pairs_of(K)):
        counted[:, i] += f[:, t] > 0
        counted[:, j] += f[:, t] <= 0
    return counted


def one_for_each(f: np.ndarray, K: int) -> np.ndarray:
    """(m, K): scores whose largest is the class of most votes, equal ones told apart by Σ ± f."""
    sums = np.zeros((len(f), K))
    for t, (i, j) in enumerate(pairs_of(K)):
        sums[:, i] += f[:, t]
        sums[:, j] -= f[:, t]
    return votes(f, K) + sums / (3 * (np.abs(sums) + 1))
