r"""Matrix products with several times the digits of a float, from ordinary products.

Entries are split into slices of b bits, a = Σ_i a_i with a_i a multiple of 2^−bi: sums of k
products of two slices are integers (in some unit) below 2⁵³ for 2b + log₂ k ≤ 53, and so exact in
float64 in any order of summation. These few exact products are added from the largest down, with
compensation for the rounding error of each addition.

Ozaki, K., Ogita, T., Oishi, S., Rump, S. M. (2012). Error-free transformations of matrix
multiplication. Numerical Algorithms 59, 95–118.
"""

import numpy as np

PRODUCT_BITS = 90  # bits of either factor, below its largest entry, that are used


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """AB for A (n, k) with |a| ≤ 1, rounded once, up to an error of 2⁻⁸⁰ Σ|b| of a column."""
    k = A.shape[1]
    bits = (53 - max(1, int(np.ceil(np.log2(max(k, 2)))))) // 2
    count = -(-PRODUCT_BITS // bits)
    exponent = np.frexp(np.abs(B).max(axis=0, initial=0.0))[1]
    left, right = _slices(A, bits, count), _slices(np.ldexp(B, -exponent), bits, count)
    high = np.zeros((len(A), B.shape[1]))
    low = np.zeros_like(high)
    for level in range(count):
        for i in range(level + 1):
            part = np.dot(left[i], right[level - i])
            total = high + part
            rounded = total - high
            low += (high - (total - rounded)) + (part - rounded)
            high = total
    out: np.ndarray = np.ldexp(high + low, exponent)
    return out


def _slices(A: np.ndarray, bits: int, count: int) -> list[np.ndarray]:
    """Split A into multiples of 2^−bits, 2^−2bits, …"""
    slices = []
    for i in range(1, count + 1):
        unit = 2.0 ** (-bits * i)
        part = np.rint(A / unit) * unit
        slices.append(part)
        A = A - part
    return slices
