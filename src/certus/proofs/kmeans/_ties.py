r"""Decide exactly which of two centres is nearer to a row, where rounding leaves it open.

    q = ‖x − μ_a‖² − ‖x − μ_b‖²        > 0: b is nearer

x − μ_a and x − μ_b are exact sums of two floats each (Knuth), and so are products (Dekker): q is a
sum of floats. If the rounding of that sum leaves its sign open, too, rational arithmetic decides:

    q = Σ_j μ_aj² − μ_bj² − 2x_j μ_aj + 2x_j μ_bj
"""

from typing import Any

import numpy as np

from certus.proofs.glm.separation import exact_sign
from certus.proofs.linalg.accurate_products import halves_of, product_and_error
from certus.proofs.linalg.linear_sums import dense, gamma
from certus.proofs.types import RowData, RowValues

ENTRIES_AT_A_TIME = 2**16  # entries of rows processed at a time


def labels_of_nearest(
    data: RowData, mu: np.ndarray, labels: RowValues, ties: np.ndarray, first: bool
) -> RowValues | None:
    """Return labels with each row of ``ties`` (rows, other centres) at its exactly nearest centre,
    or None if nothing changes. Equally near centres keep the label, or take the ``first``."""
    if not ties.shape[1]:
        return None
    counted = np.ones(ties.shape[1], bool) if data.s is None else data.s[ties[0]] > 0
    rows, others = ties[:, counted]
    owns, step = labels[rows], max(1, ENTRIES_AT_A_TIME // mu.shape[1])
    changed: dict[int, int] = {}  # the nearest centre so far of rows that have changed theirs
    for start in range(0, len(rows), step):
        i, b, a = (x[start : start + step] for x in (rows, others, owns))
        X = np.asarray(dense(data.take(i)[0]), dtype=float)
        q = nearer(X, mu[a], mu[b])
        for t in np.flatnonzero((q > 0) | (first & (q == 0))):
            own, other, row = changed.get(int(i[t]), a[t]), b[t], slice(t, t + 1)
            # an earlier tie may already have moved the row
            by = q[t] if own == a[t] else nearer(X[row], mu[own][None], mu[other][None])[0]
            if by > 0 or (first and by == 0 and other < own):
                changed[int(i[t])] = int(other)
    owned = dict(zip(rows.tolist(), owns.tolist(), strict=True))
    changed = {row: label for row, label in changed.items() if label != owned[row]}
    if not changed:
        return None
    result = labels.copy()
    result[np.array(list(changed), dtype=np.intp)] = np.array(list(changed.values()), dtype=np.intp)
    return result


def nearer(X: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the sign of ‖x − a‖² − ‖x − b‖² of each row."""
    largest = np.maximum(np.abs(X), np.maximum(np.abs(A), np.abs(B))).max(axis=1, initial=0.0)
    exponent = -np.frexp(largest)[1][:, None]
    x, a, b = (np.ldexp(part, exponent) for part in (X, A, B))
    terms = np.hstack([*_square(x, a), *(-term for term in _square(x, b))])
    q = terms.sum(axis=1)
    sign = np.sign(q)
    sign[(A == B).all(axis=1)] = 0.0
    size = np.abs(terms).sum(axis=1)
    undecided = np.flatnonzero(
        (np.abs(q) <= gamma(terms.shape[1] + 2) * size) & (A != B).any(axis=1)
    )
    distinct, group = np.unique(np.hstack([X, A, B])[undecided], axis=0, return_inverse=True)
    result = [_sign(*row) for row in distinct.reshape(len(distinct), 3, X.shape[1])]
    sign[undecided] = np.array(result, dtype=float)[group.ravel()]
    return np.asarray(sign)


def _sign(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> int:
    """Return the sign of q in rational arithmetic."""
    left = np.concatenate([a, -b, -2 * x, 2 * x])
    return exact_sign(np.column_stack([left, np.concatenate([a, b, a, b])]))


def _square(X: np.ndarray, M: np.ndarray) -> tuple[Any, ...]:
    """Return terms whose exact sum is ‖x − m‖² of each row."""
    high = X - M
    back = high - X
    low = (X - (high - back)) - (M + back)
    square, of_square = product_and_error(high, high, halves_of(high))
    both, of_both = product_and_error(2 * high, low, halves_of(low))
    return square, of_square, both, of_both, low * low
