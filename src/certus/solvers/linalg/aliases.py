"""Repeated columns, written as combinations of the others.

From left to right a column is kept if it is not in the span of the columns kept before; each other
column is expressed in the kept ones, x̃_j = Σ c_i x̃_i, so that people can see what to drop.
"""

import numpy as np

from ..glm.linear_problem import Aliases

MAX_DEPENDENT_NORM = (
    1e-7  # residual of a column of norm 1: far above rounding, far below measured effects
)
MAX_NAMED_COLUMNS = 5  # repeated columns that a warning spells out
NEGLIGIBLE_COEF_SHARE = 1e-9  # relative to the largest coefficient: not shown


def find_aliases(A: np.ndarray, norm: np.ndarray, unscale: np.ndarray, rank: int) -> Aliases:
    """Find the repeated columns of A (scaled columns, of the given rank). O(rank·rows·p).

    ``norm`` (p,): 0 for a constant column. ``unscale`` (p,): w = unscale ∘ v of the scaled columns.
    """
    p = A.shape[1]
    basis = np.empty((len(A), rank), order="F")
    kept: list[int] = []
    for j in range(p):
        if len(kept) == rank:
            break
        Q, u = basis[:, : len(kept)], A[:, j]
        for _ in range(2):  # reorthogonalising once is enough
            u = u - Q @ (Q.T @ u)
        remaining, missing = np.linalg.norm(u), rank - len(kept)
        if remaining <= MAX_DEPENDENT_NORM and p - j > missing:
            continue
        basis[:, len(kept)] = u / (remaining or 1.0)
        kept.append(j)
    keep = np.array(kept, dtype=np.intp)
    columns = np.setdiff1d(np.arange(p), keep)
    named = columns[:MAX_NAMED_COLUMNS]
    coef = np.zeros((len(keep), len(named)))
    if len(keep) and len(named):
        coef = np.linalg.lstsq(A[:, keep], A[:, named], rcond=None)[0]
        coef[np.abs(coef) < NEGLIGIBLE_COEF_SHARE * np.abs(coef).max(axis=0)] = 0.0
        coef[:, norm[named] == 0] = 0.0
    return Aliases(columns, keep, coef * unscale[keep][:, None] / unscale[named])


def aliases_of_directions(L: np.ndarray, norm: np.ndarray) -> Aliases | None:
    """Find repeated columns from directions L (p, l), in the user's units, that change no score.

    One column is named for each direction, as far to the right as possible, and expressed in
    columns that are not named. ``norm``: of the centred columns, 0 for a constant column, which
    repeats the intercept.
    """
    W, constant = L * norm[:, None], np.flatnonzero(norm == 0)
    pivots: list[int] = []
    for j in reversed(range(len(W))):
        if len(pivots) == W.shape[1]:
            break
        size = np.abs(W[j, len(pivots) :])
        k = len(pivots) + int(size.argmax())
        if size.max() <= MAX_DEPENDENT_NORM * np.abs(W[:, k]).max():
            continue
        W[:, [len(pivots), k]] = W[:, [k, len(pivots)]]
        k = len(pivots)
        others = np.arange(W.shape[1]) != k
        W[:, k] /= W[j, k]
        W[:, others] -= np.multiply.outer(W[:, k], W[j, others])
        pivots.append(j)
    columns = np.sort(np.concatenate([np.array(pivots, dtype=np.intp), constant]))
    if not len(columns):
        return None
    keep = np.setdiff1d(np.arange(len(W)), columns)
    coef = np.zeros((len(keep), min(MAX_NAMED_COLUMNS, len(columns))))
    for t, j in enumerate(columns[:MAX_NAMED_COLUMNS]):
        if norm[j] > 0:
            coef[:, t] = -W[keep, pivots.index(int(j))] * norm[j] / norm[keep]
    size = np.abs(coef) * norm[keep][:, None]
    coef[size < NEGLIGIBLE_COEF_SHARE * size.max(axis=0, initial=0.0)] = 0.0
    return Aliases(columns, keep, coef)
