r"""Products of rows with coefficients that cancel, as accurate as in twice the working precision.

    x·t = p + e exactly,  p = fl(x·t)        (Dekker: x and t split into halves of 26 bits)
    a + b = s + e exactly,  s = fl(a + b)    (Knuth)

With s the sum of all p and c the sum of all e,

    |s + c − Σ_j x_j t_j| ≤ γ_{2p}² Σ_j |x_j||t_j|        (Ogita, Rump and Oishi 2005, "Dot2")

so a sum of terms of size 10¹² that cancel to 1 is still accurate to sixteen digits.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense, gamma

SPLITTER = 2.0**27 + 1.0
PRODUCT_ENTRIES = 2**14  # of the result at a time, so that its arrays stay in cache


def accurate_product(X: np.ndarray, T: np.ndarray) -> tuple[Any, Any]:
    """XT of a block's rows (n, p) and T (p, k) as an unevaluated sum of two arrays (n, k)."""
    X, T = dense(X), np.asarray(T, dtype=float)
    high, low = np.zeros((2, len(X), T.shape[1]))
    halves = halves_of(T)
    step = max(1, PRODUCT_ENTRIES // max(1, T.shape[1]))
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        columns = np.ascontiguousarray(X[part].T, dtype=float)
        s, c = np.zeros((2, T.shape[1], columns.shape[1]))
        for j in np.flatnonzero(T.any(axis=1)):
            p, e = product_and_error(columns[j], T[j][:, None], [h[j][:, None] for h in halves])
            c += e
            total = s + p
            rounded = total - s
            c += (s - (total - rounded)) + (p - rounded)
            s = total
        high[part], low[part] = s.T, c.T
    return high, low


def product_and_error(
    x: np.ndarray, t: np.ndarray, t_halves: tuple[Any, Any] | list[Any]
) -> tuple[Any, Any]:
    """p = fl(x·t) and e with x·t = p + e."""
    (x_high, x_low), (t_high, t_low) = halves_of(x), t_halves
    p = x * t
    return p, x_low * t_low - (((p - x_high * t_high) - x_low * t_high) - x_high * t_low)


def halves_of(x: np.ndarray) -> tuple[Any, Any]:
    """Split x into a sum of two numbers of 26 bits each."""
    moved = SPLITTER * x
    high = moved - (moved - x)
    return high, x - high


def product_error(p: int) -> float:
    """Error of ``high + low`` relative to |X||T|, in addition to one rounding of the result."""
    return gamma(2 * p + 4) ** 2
