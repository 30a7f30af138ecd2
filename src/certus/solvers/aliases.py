"""Which columns repeat others, and how.

From left to right a column is kept if something is left of it after projection on those kept
before; each other one is written in the kept ones, x̃_j = Σ c_i x̃_i, so that a person can see what
to drop.
"""

import numpy as np

from .linear_problem import Aliases, Scaled

NOTHING_LEFT = 1e-7  # of a scaled column: far above rounding, far below what anybody measures
NAMED = 5  # repeated columns that a person is told about
NEGLIGIBLE = 1e-9  # of the largest coefficient: not worth naming


def find_aliases(A: np.ndarray, problem: Scaled, rank: int) -> Aliases:
    """Of the columns of A (scaled, of the given rank). O(rank·rows·p)."""
    p = A.shape[1]
    basis = np.empty((len(A), rank), order="F")
    kept: list[int] = []
    for j in range(p):
        if len(kept) == rank:
            break
        Q, u = basis[:, : len(kept)], A[:, j]
        for _ in range(2):  # twice is enough
            u = u - Q @ (Q.T @ u)
        left, still_to_find = np.linalg.norm(u), rank - len(kept)
        if left <= NOTHING_LEFT and p - j > still_to_find:
            continue
        basis[:, len(kept)] = u / (left or 1.0)
        kept.append(j)
    keep = np.array(kept, dtype=np.intp)
    columns = np.setdiff1d(np.arange(p), keep)
    named = columns[:NAMED]
    coef = np.zeros((len(keep), len(named)))
    if len(keep) and len(named):
        coef = np.linalg.lstsq(A[:, keep], A[:, named], rcond=None)[0]
        coef[np.abs(coef) < NEGLIGIBLE * np.abs(coef).max(axis=0)] = 0.0
        coef[:, problem.norm[named] == 0] = 0.0
    unscale = problem.unscale
    return Aliases(columns, keep, coef * unscale[keep][:, None] / unscale[named])
