"""Precomputed matrices of distances, checked: D_ij = D_ji ≥ 0, D_ii = 0, all finite."""

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

SYMMETRY_TOLERANCE = 1e-8  # of the largest distance: D_ij and D_ji may differ by this much


def read_square_distances(model: object, X: object) -> np.ndarray:
    """Return the square matrix of distances between the rows of a fit, as float64."""
    D = _read_nonnegative(model, X)
    n, m = D.shape
    if n != m:
        raise ValueError(
            f"Precomputed matrix must be square. Input is a {n}x{m} matrix: in fit, give the "
            "distances between all its rows"
        )
    most = float(D.max(initial=0.0))
    nonzero_diagonal = np.flatnonzero(np.diag(D) > SYMMETRY_TOLERANCE * most)
    if len(nonzero_diagonal):
        i = int(nonzero_diagonal[0])
        largest = D[i, i] >= (1 - SYMMETRY_TOLERANCE) * most
        hint = " If these are similarities s, give 1 − s" if largest else ""
        raise ValueError(f"the distance of row {i} to itself is {D[i, i]:g}, not 0.{hint}")
    i, j = _first_asymmetric_pair(D, most)
    if i >= 0:
        raise ValueError(
            f"the distance of row {i} to row {j} is {D[i, j]:g}, that of row {j} to row {i} "
            f"{D[j, i]:g}: they must be the same. Give e.g. (D + D.T) / 2"
        )
    validate_data(model, X, reset=True, skip_check_array=True)  # counts and names columns
    return D


def read_distances_to_fit(model: object, X: object, n: int) -> np.ndarray:
    """Return the distances of new rows to the n rows of the fit."""
    check_is_fitted(model)
    D = _read_nonnegative(model, X)
    if D.shape[1] != n:
        raise ValueError(
            f"X has {D.shape[1]} features, but {type(model).__name__} is expecting {n} features as "
            "input: give the distances of each new row to all rows of the fit"
        )
    return D


def _read_nonnegative(model: object, X: object) -> np.ndarray:
    D = check_array(X, dtype=np.float64, ensure_all_finite=False, estimator=model, input_name="X")
    bad = ~(D >= 0) | np.isinf(D)
    if bad.any():
        i, j = (int(a[0]) for a in np.nonzero(bad))
        what = "NaN" if np.isnan(D[i, j]) else "infinity" if np.isinf(D[i, j]) else f"{D[i, j]:g}"
        raise ValueError(
            f"Negative values in data passed to X, or not finite (Input X contains {what}): the "
            f"distance of row {i} to row {j} is {what}. A distance is a finite number of at least 0"
        )
    return np.ascontiguousarray(D)


def _first_asymmetric_pair(D: np.ndarray, most: float) -> tuple[int, int]:
    """Return the first pair with D_ij ≠ D_ji, or (−1, −1), comparing blocks of rows."""
    for a in range(0, len(D), 512):
        wrong = np.abs(D[a : a + 512] - D[:, a : a + 512].T) > SYMMETRY_TOLERANCE * most
        if wrong.any():
            i, j = (int(k[0]) for k in np.nonzero(wrong))
            return a + i, j
    return -1, -1


def looks_like_distances(X: np.ndarray) -> bool:
    """Whether X is square, symmetric, 0 on the diagonal, nonnegative, and has three rows or more.

    A matrix of two values does not count: it may as well be the adjacency matrix of a graph.
    """
    n, p = X.shape
    if n != p or n < 3 or np.isnan(X).any() or not (X >= 0).all():
        return False
    most = float(X.max())
    if (
        most == 0
        or (np.diag(X) > SYMMETRY_TOLERANCE * most).any()
        or _first_asymmetric_pair(X, most)[0] >= 0
    ):
        return False
    off = X[~np.eye(n, dtype=bool)]
    return bool(((off > 0) & (off < most)).any())
