"""Conversion of CSR to CSC, on threads.

Entries are first counted for each column and block of rows, which gives every block its positions
in the result; then each block writes its entries. The result does not depend on the threads.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from ...data.rows import Rows
from ...runtime.pool import run_on_threads

N_BLOCKS = 4  # each needs p counts
MIN_SHARED_ENTRIES = 1 << 20  # from which threads pay


def by_columns(rows: Rows) -> Any:
    """Convert X to CSC in float64."""
    X = rows.X
    if X.columns is not None or X.entries < MIN_SHARED_ENTRIES or X.dtype.kind != "f":
        return X.to_columns().astype(float, copy=False)
    from ...kernels.glm.csr import count_columns, sort_by_columns

    n, p = X.shape
    edges = np.searchsorted(X.indptr, np.linspace(0, X.entries, N_BLOCKS + 1).astype(np.int64))
    edges[0], edges[-1] = 0, n
    blocks = [X[a:b] for a, b in pairwise(edges)]
    counts = np.zeros((N_BLOCKS, p), dtype=np.int64)
    run_on_threads(lambda i: count_columns(blocks[i], counts[i]), N_BLOCKS, rows.threads)
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    place = indptr[:-1] + np.cumsum(counts, axis=0) - counts
    values, row = np.empty(X.entries, X.dtype), np.empty(X.entries, X.indices.dtype)

    def fill(i: int) -> None:
        sort_by_columns(blocks[i], int(edges[i]), place[i], values, row)

    run_on_threads(fill, N_BLOCKS, rows.threads)
    by_column = csc_array((values, row, indptr.astype(X.indices.dtype)), shape=(n, p))
    return by_column.astype(float, copy=False)
