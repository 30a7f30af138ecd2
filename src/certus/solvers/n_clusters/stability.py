"""Agreement of two labellings of the same rows, from their contingency table.

    ARI = (A − E) / (½(P + Q) − E),        E = P·Q / T

With N_ab = Σ s_i and R_ab = Σ s_i² over rows with labels a and b, twice the sum of s_i s_j over the
pairs that share both labels is A = Σ_ab (N_ab² − R_ab); P, Q and T are obtained from the margins.
"""

import numpy as np


def adjusted_rand(first: np.ndarray, second: np.ndarray, s: np.ndarray | None = None) -> float:
    """Return the adjusted Rand index; labels are 0, 1, …"""
    columns = int(second.max()) + 1
    cell = first.astype(np.intp) * columns + second
    shape = int(first.max()) + 1, columns
    size = shape[0] * columns
    weight = np.ones(len(first)) if s is None else s
    N = np.bincount(cell, weight, size).reshape(shape)
    R = np.bincount(cell, weight * weight, size).reshape(shape)
    A, P, Q, T = (
        float(np.sum(np.square(count) - square))
        for count, square in (
            (N, R), (N.sum(axis=1), R.sum(axis=1)), (N.sum(axis=0), R.sum(axis=0)),
            (N.sum(), R.sum()),
        )
    )  # fmt: skip
    least = 0.5 * (P + Q) - P * Q / T if T > 0 else 0.0
    rounding = 1e-12 * T  # of N² − R if no two rows share a cluster
    return 1.0 if least <= rounding else (A - P * Q / T) / least
