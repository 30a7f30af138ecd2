r"""Density weights of rows: how near the k-th other row is.

    d_i = 1 − r_i / max_j r_j        r_i = the distance of row i to its k-th nearest other row

0 ≤ d ≤ 1, and the row that lies most alone has d = 0. Where all r are equal, d = 1. With classes,
other rows are those of the row's own class, and so is the maximum.
"""

import numpy as np

AT_ONCE_PAIRS = 2**21
EQUAL = 1e-12  # relative, of distances


def density_of(X: np.ndarray, k: int, codes: np.ndarray | None = None) -> np.ndarray:
    """d (n,); ``codes``: the number of each row's class, where classes are looked at apart."""
    X = np.asarray(X, dtype=float)
    d = np.empty(len(X))
    codes = np.zeros(len(X), dtype=int) if codes is None else np.asarray(codes)
    for c in np.unique(codes):
        own = np.flatnonzero(codes == c)
        r = _reach(X[own], min(k, len(own) - 1))
        farthest = r.max()
        d[own] = 1.0 if r.min() >= (1 - EQUAL) * farthest else 1 - r / farthest
    return d


def _reach(X: np.ndarray, k: int) -> np.ndarray:
    """√ of the k-th smallest ‖x_i − x_j‖², j ≠ i.

    Products find about which rows are the nearest, differences their distances.
    """
    n, p = X.shape
    r = np.zeros(n)
    if k < 1:
        return r
    Z = X - X.mean(axis=0)
    z2 = np.einsum("ij,ij->i", Z, Z)
    step = max(1, AT_ONCE_PAIRS // n)
    for start in range(0, n, step):
        i = np.arange(start, min(start + step, n))
        D = z2[i, None] + z2 - 2 * np.dot(Z[i], Z.T)
        D[np.arange(len(i)), i] = np.inf  # a row is not its own neighbour
        lost = 8 * (p + 6) * 2.0**-53 * (z2[i] + z2.max())
        near = np.partition(D, k - 1, axis=1)[:, k - 1] + lost
        for row, (distances, limit) in enumerate(zip(D, near, strict=True)):
            some = np.flatnonzero(distances <= limit + lost[row])
            difference = X[some] - X[i[row]]
            exact = np.einsum("ij,ij->i", difference, difference)
            r[i[row]] = np.sqrt(np.partition(exact, k - 1)[k - 1])
    return r
