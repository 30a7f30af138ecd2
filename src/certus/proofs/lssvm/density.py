r"""Density weights of rows, from the distance to the k-th nearest other row.

    d_i = 1 − r_i / max_j r_j        r_i = the distance of row i to its k-th nearest other row

0 ≤ d ≤ 1, and the row with the largest r has d = 0. Where all r are equal, d = 1. By class, other
rows and the maximum are those of the row's class.
"""

import numpy as np

BLOCK_PAIRS = 2**21  # squared distances held at a time: 16 MB
EQUALITY_TOLERANCE = 1e-12  # relative: distances that differ by rounding only


def density_of(X: np.ndarray, k: int, codes: np.ndarray | None = None) -> np.ndarray:
    """Return d (n,); with ``codes``, the class index of each row, within each class."""
    X = np.asarray(X, dtype=float)
    d = np.empty(len(X))
    codes = np.zeros(len(X), dtype=int) if codes is None else np.asarray(codes)
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        r = _kth_distances(X[members], min(k, len(members) - 1))
        largest = r.max()
        d[members] = 1.0 if r.min() >= (1 - EQUALITY_TOLERANCE) * largest else 1 - r / largest
    return d


def _kth_distances(X: np.ndarray, k: int) -> np.ndarray:
    """Return the k-th smallest ‖x_i − x_j‖, j ≠ i.

    Products select the candidates, differences give their distances.
    """
    n, p = X.shape
    r = np.zeros(n)
    if k < 1:
        return r
    Z = X - X.mean(axis=0)
    z2 = np.einsum("ij,ij->i", Z, Z)
    step = max(1, BLOCK_PAIRS // n)
    for start in range(0, n, step):
        i = np.arange(start, min(start + step, n))
        D = z2[i, None] + z2 - 2 * np.dot(Z[i], Z.T)
        D[np.arange(len(i)), i] = np.inf  # a row is not its own neighbour
        rounding = 8 * (p + 6) * 2.0**-53 * (z2[i] + z2.max())
        kth = np.partition(D, k - 1, axis=1)[:, k - 1] + rounding
        for row, (distances, limit) in enumerate(zip(D, kth, strict=True)):
            candidates = np.flatnonzero(distances <= limit + rounding[row])
            difference = X[candidates] - X[i[row]]
            exact = np.einsum("ij,ij->i", difference, difference)
            r[i[row]] = np.sqrt(np.partition(exact, k - 1)[k - 1])
    return r
