"""Sparse rows by columns: CSR to CSC, on threads.

Blocks of rows are counted first, so that each knows where the entries of its columns belong; then
each writes its own. The result is the same on any number of threads.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from ...data.rows import Rows
from ...runtime.pool import run_on_threads

BLOCKS = 4  # counts of p columns are kept for each
WORTH_SHARING = 1 << 20  # entries


def by_columns(rows: Rows) -> Any:
    """X as CSC in float64."""
    X = rows.X
    if X.columns is not None or X.entries < WORTH_SHARING or X.dtype.kind != "f":
        return X.to_columns().astype(float, copy=False)
    from ...kernels.glm.csr import count_columns, sort_by_columns

    n, p = X.shape
    edges = np.searchsorted(X.indptr, np.linspace(0, X.entries, BLOCKS + 1).astype(np.int64))
    edges[0], edges[-1] = 0, n
    blocks = [X[a:b] for a, b in pairwise(edges)]
    counts = np.zeros((BLOCKS, p), dtype=np.int64)
    run_on_threads(lambda i: count_columns(blocks[i], counts[i]), BLOCKS, rows.threads)
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    place = indptr[:-1] + np.cumsum(counts, axis=0) - counts
    values, row = np.empty(X.entries, X.dtype), np.empty(X.entries, X.indices.dtype)

    def put(i: int) -> None:
        sort_by_columns(blocks[i], int(edges[i]), place[i], values, row)

    run_on_threads(put, BLOCKS, rows.threads)
    found = csc_array((values, row, indptr.astype(X.indices.dtype)), shape=(n, p))
    return found.astype(float, copy=False)
