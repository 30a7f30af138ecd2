"""Distances between sparse rows, through dense blocks of both sides."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .reading import MISSING_REMEDY, as_rows, is_sparse

if TYPE_CHECKING:
    from .base import Distance

MAX_BLOCK_ELEMENTS = 1 << 22  # of a dense block: 32 MB


def sparse_pairs(
    distance: "Distance", A: np.ndarray, B: np.ndarray | None, threads: int | None
) -> np.ndarray:
    """Return d(A_i, B_j) of all pairs where A, B or both are sparse."""
    A = _by_rows(A, distance.missing, "X")
    B = A if B is None else _by_rows(B, distance.missing, "Y")
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"X has {A.shape[1]:,} columns, Y has {B.shape[1]:,}: distances are "
                         "between rows of the same columns")  # fmt: skip
    n, m, size = A.shape[0], B.shape[0], max(64, MAX_BLOCK_ELEMENTS // max(1, A.shape[1]))
    D = np.empty((n, m))
    for i in range(0, n, size):
        a = _dense(A[i : i + size])
        for j in range(0, m, size):
            b = a if A is B and i == j else _dense(B[j : j + size])
            D[i : i + size, j : j + size] = distance.compare(a, b, threads)
    return D


def _by_rows(X: object, missing: bool, what: str) -> Any:
    if not is_sparse(X):
        return as_rows(X, missing=missing, what=what)
    X = X.tocsr()
    unknown = np.isnan(X.data) & (not missing)
    bad = unknown | np.isinf(X.data)
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        row, value = int(np.searchsorted(X.indptr, k, side="right")) - 1, "infinity"
        remedy = "replace it by a finite number or drop the row"
        if unknown[k]:
            value, remedy = "NaN", MISSING_REMEDY
        raise ValueError(
            f"Input {what} contains {value}: row {row}, column {X.indices[k]} (and "
            f"{np.count_nonzero(bad) - 1:,} more values): {remedy}"
        )
    return X


def _dense(block: object) -> np.ndarray:
    return np.ascontiguousarray(
        block.toarray() if is_sparse(block) else block, dtype=np.float64
    )  # fmt: skip
