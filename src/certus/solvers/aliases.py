"""Which columns repeat others, and how.

From left to right a column is kept if something is left of it after projection on those kept
before; each other one is written in the kept ones, x̃_j = Σ c_i x̃_i, so that a person can see what
to drop.
"""

import numpy as np

from .linear_problem import Aliases, Scaled

NOTHING_LEFT = 1e-7  # of a scaled column: far above rounding, far below what anybody measures
NEGLIGIBLE = 1e-9  # of the largest coefficient: not worth naming


def find_aliases(A: np.ndarray, problem: Scaled, rank: int) -> Aliases:
    """Of the columns of A (scaled, of the given rank). O(rank·rows·p)."""
    p = A.shape[1]
    rest = A.copy()
    basis = np.empty((len(A), rank))
    kept: list[int] = []
    for j in range(p):
        if len(kept) == rank:
            break
        still_to_find = rank - len(kept)
        left = np.linalg.norm(rest[:, j])
        if left <= NOTHING_LEFT and p - j > still_to_find:
            continue
        u = rest[:, j] / (left or 1.0)
        u -= basis[:, : len(kept)] @ (basis[:, : len(kept)].T @ u)  # twice is enough
        u /= np.linalg.norm(u) or 1.0
        basis[:, len(kept)] = u
        kept.append(j)
        rest[:, j + 1 :] -= np.multiply.outer(u, u @ rest[:, j + 1 :])
    keep = np.array(kept, dtype=np.intp)
    columns = np.setdiff1d(np.arange(p), keep)
    coef = np.zeros((len(keep), len(columns)))
    if len(keep):
        coef = np.linalg.lstsq(A[:, keep], A[:, columns], rcond=None)[0]
        coef[np.abs(coef) < NEGLIGIBLE * np.abs(coef).max(axis=0)] = 0.0
        coef[:, problem.norm[columns] == 0] = 0.0
    unscale = problem.unscale
    return Aliases(columns, keep, coef * unscale[keep][:, None] / unscale[columns])
