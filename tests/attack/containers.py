"""Equal numbers in other containers: dtype, byte order, strides, sparse formats."""

from typing import Any

import numpy as np
from scipy import sparse

Generator = np.random.Generator


def dense_values(X: Any) -> np.ndarray:
    """The stored numbers as float64, exactly."""
    return np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def contained(rng: Generator, X: np.ndarray, sparse_too: bool) -> tuple[str, Any]:
    """A container's name, and X in it."""
    names = ["float64"] * 6 + ["float32", "big-endian", "strided", "fortran", "reversed"]
    if not np.mod(X, 1.0).any() and np.abs(X).max(initial=0) < 100:
        names += ["int64", "int8", "bool"] if set(np.unique(X)) <= {0.0, 1.0} else ["int64", "int8"]
    if sparse_too:
        names += ["csr", "csc", "coo", "explicit zeros", "unsorted"]
    name = names[rng.integers(len(names))]
    if name == "float32" and not _fits_float32(X):
        name = "float64"
    return name, _in(name, X, rng)


def _fits_float32(X: np.ndarray) -> bool:
    size = np.abs(X[X != 0])
    return bool(size.size == 0 or (size.max() < 1e37 and size.min() > 1e-36))


def _in(name: str, X: np.ndarray, rng: Generator) -> Any:
    if name == "big-endian":
        return X.astype(">f8")
    if name == "strided":
        wide = np.zeros((2 * len(X), 3 * X.shape[1]))
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if name == "fortran":
        return np.asfortranarray(X)
    if name == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if name in ("csr", "csc", "coo"):
        return sparse.csr_array(X).asformat(name)
    if name == "explicit zeros":
        whole = sparse.csr_array(np.ones_like(X))
        whole.data = X.ravel().copy()
        return whole
    if name == "unsorted":
        return _unsorted(sparse.csr_array(X))
    return X.astype(name)


def _unsorted(S: Any) -> Any:
    """Each row's entries in falling order of columns."""
    indices, data = S.indices.copy(), S.data.copy()
    for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        indices[a:b], data[a:b] = indices[a:b][::-1].copy(), data[a:b][::-1].copy()
    return sparse.csr_array((data, indices, S.indptr.copy()), shape=S.shape)
