"""Rows, and the same rows as Dask collections whose chunks are cut anywhere."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

N, P = 40_000, 6
NAMES = list("abcdef")
# what Dask says of arrays in a graph, and what its servers leave behind when they are closed
MARKS = [
    pytest.mark.filterwarnings("default::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Sending large graph:UserWarning"),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
WORKERS = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P)) * [1, 2, 3, 4, 5, 6] + 10
    return X, X @ np.arange(P) + rng.normal(size=N), rng.uniform(0.5, 2, size=N)


def collections(X, y, s, chunks=7_001):
    """X, y and weights in chunks of their own."""
    return (
        da.from_array(X, chunks=(chunks, -1)),
        da.from_array(y, chunks=9_999),
        da.from_array(s, chunks=N),
    )


def many_parts(patch):
    """Let tables of tests have several parts, as large ones do."""
    patch.setattr("certus.sources.dask.collection.MIN_PART_BYTES", 1 << 17)
    patch.setattr("certus.sources.dask.collection.PARTS_PER_THREAD", 8)
