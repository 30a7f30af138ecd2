"""Densities and moments of normal components with diagonal covariances, by differences.

    a_kr = b_k − ½ Σ_j ((z_jr − μ_kj) u_kj)²
    A_kj = Σ_r w_kr (z_jr − μ_kj)        S_kj = Σ_r w_kr (z_jr − μ_kj)²

Loops run along rows, four columns at a time, in tiles that stay in cache.
"""

from functools import cache

import numpy as np

from certus.kernels._compile import kernel

TILE_ROWS = 512  # the rows of a group of columns stay in cache
GROUP_COLUMNS = 4  # columns handled together


@kernel
def log_densities(Z, mu, u, b, out):
    """Compute out[k, r] = a_kr for Z of shape (p, rows)."""
    p, n = Z.shape
    whole = p - p % GROUP_COLUMNS
    half = np.sqrt(0.5)
    for start in range(0, n, TILE_ROWS):
        stop = min(start + TILE_ROWS, n)
        for c in range(len(mu)):
            d = out[c, start:stop]
            d[:] = b[c]
            v = half * u[c]
            for j in range(0, whole, GROUP_COLUMNS):
                z0, z1 = Z[j, start:stop], Z[j + 1, start:stop]
                z2, z3 = Z[j + 2, start:stop], Z[j + 3, start:stop]
                _subtract_four_columns(
                    z0, z1, z2, z3, mu[c, j : j + GROUP_COLUMNS], v[j : j + GROUP_COLUMNS], d
                )
            for j in range(whole, p):
                z, m, last = Z[j, start:stop], mu[c, j], v[j]
                for r in range(len(d)):
                    y = (z[r] - m) * last
                    d[r] -= y * y


@kernel
def _subtract_four_columns(z0, z1, z2, z3, mu, u, d):
    """Subtract the terms of four columns from d."""
    m0, m1, m2, m3 = mu[0], mu[1], mu[2], mu[3]
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    for r in range(len(d)):
        y0, y1, y2, y3 = (z0[r] - m0) * u0, (z1[r] - m1) * u1, (z2[r] - m2) * u2, (z3[r] - m3) * u3
        d[r] -= (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)


@kernel
def moments(Z, w, mu, A, S):
    """Fill A and S (k, p) from Z (p, rows) and w (k, rows)."""
    p, n = Z.shape
    whole = p - p % GROUP_COLUMNS
    A[:] = 0.0
    S[:] = 0.0
    four = np.empty(2 * GROUP_COLUMNS)
    for start in range(0, n, TILE_ROWS):
        stop = min(start + TILE_ROWS, n)
        for c in range(len(mu)):
            v = w[c, start:stop]
            for j in range(0, whole, GROUP_COLUMNS):
                z0, z1 = Z[j, start:stop], Z[j + 1, start:stop]
                z2, z3 = Z[j + 2, start:stop], Z[j + 3, start:stop]
                _sum_four_columns(z0, z1, z2, z3, mu[c, j : j + GROUP_COLUMNS], v, four)
                for i in range(GROUP_COLUMNS):
                    A[c, j + i] += four[i]
                    S[c, j + i] += four[GROUP_COLUMNS + i]
            for j in range(whole, p):
                z, m = Z[j, start:stop], mu[c, j]
                a, s = 0.0, 0.0
                for r in range(len(v)):
                    y = z[r] - m
                    x = v[r] * y
                    a += x
                    s += x * y
                A[c, j] += a
                S[c, j] += s


@kernel
def _sum_four_columns(z0, z1, z2, z3, mu, v, four):
    """Write the sums A, then S, of four columns to ``four``."""
    m0, m1, m2, m3 = mu[0], mu[1], mu[2], mu[3]
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for r in range(len(v)):
        y0, y1, y2, y3 = z0[r] - m0, z1[r] - m1, z2[r] - m2, z3[r] - m3
        x0, x1, x2, x3 = v[r] * y0, v[r] * y1, v[r] * y2, v[r] * y3
        a0 += x0
        a1 += x1
        a2 += x2
        a3 += x3
        s0 += x0 * y0
        s1 += x1 * y1
        s2 += x2 * y2
        s3 += x3 * y3
    four[0], four[1], four[2], four[3] = a0, a1, a2, a3
    four[4], four[5], four[6], four[7] = s0, s1, s2, s3


@cache
def warm() -> None:
    """Compile, or load from disk."""
    Z, mu, w = np.zeros((2, 3)), np.zeros((1, 2)), np.ones((1, 3))
    log_densities(Z, mu, mu, np.zeros(1), np.empty((1, 3)))
    moments(Z, w, mu, np.empty((1, 2)), np.empty((1, 2)))
