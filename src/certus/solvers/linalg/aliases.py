"""Which columns repeat others, and how.

From left to right a column is kept if something is left of it after projection on those kept
before; each other one is written in the kept ones, x̃_j = Σ c_i x̃_i, so that a person can see what
to drop.
"""

import numpy as np

from ..glm.linear_problem import Aliases

NOTHING_LEFT = 1e-7  # of a scaled column: far above rounding, far below what anybody measures
NAMED = 5  # repeated columns that a person is told about
NEGLIGIBLE = 1e-9  # of the largest coefficient: not worth naming


def find_aliases(A: np.ndarray, norm: np.ndarray, unscale: np.ndarray, rank: int) -> Aliases:
    """Of the columns of A (scaled, of the given rank). O(rank·rows·p).

    ``norm`` (p,): 0 for a constant column. ``unscale`` (p,): w = unscale ∘ v of the scaled columns.
    """
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
        coef[:, norm[named] == 0] = 0.0
    return Aliases(columns, keep, coef * unscale[keep][:, None] / unscale[named])


def aliases_of_directions(L: np.ndarray, norm: np.ndarray) -> Aliases | None:
    """Of directions L (p, l) along which no score changes, in the user's units: one column of each,
    as far to the right as can be, written in columns that none of them takes. ``norm``: of the
    centred columns, 0 for a constant one, which repeats the intercept."""
    W, constant = L * norm[:, None], np.flatnonzero(norm == 0)
    taken: list[int] = []
    for j in reversed(range(len(W))):
        if len(taken) == W.shape[1]:
            break
        size = np.abs(W[j, len(taken) :])
        k = len(taken) + int(size.argmax())
        if size.max() <= NOTHING_LEFT * np.abs(W[:, k]).max():
            continue
        W[:, [len(taken), k]] = W[:, [k, len(taken)]]
        k = len(taken)
        others = np.arange(W.shape[1]) != k
        W[:, k] /= W[j, k]
        W[:, others] -= np.multiply.outer(W[:, k], W[j, others])
        taken.append(j)
    columns = np.sort(np.concatenate([np.array(taken, dtype=np.intp), constant]))
    if not len(columns):
        return None
    keep = np.setdiff1d(np.arange(len(W)), columns)
    coef = np.zeros((len(keep), min(NAMED, len(columns))))
    for t, j in enumerate(columns[:NAMED]):
        if norm[j] > 0:
            coef[:, t] = -W[keep, taken.index(int(j))] * norm[j] / norm[keep]
    size = np.abs(coef) * norm[keep][:, None]
    coef[size < NEGLIGIBLE * size.max(axis=0, initial=0.0)] = 0.0
    return Aliases(columns, keep, coef)
