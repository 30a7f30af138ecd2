r"""From distances of rows to all others to the pull of each pair, in place.

    e_ij = exp(−(D_ij − min_k D_ik)/σ), j ≠ i        q_i = Σ_j e_ij G_ij / Σ_j e_ij
    C_ij = a_i e_ij (q_i − G_ij) / (σ Σ_j e_ij)

A line of D is read and written three times, in cache. If all others are infinitely far, none is
nearer: e = 1.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below


@kernel
def _exponentials(line, i, rate):
    """e in place of D, and its sum; rate = 1/σ."""
    line[i] = np.inf
    a = b = c = d = np.inf
    for j in range(0, len(line) - 3, 4):
        a, b = min(a, line[j]), min(b, line[j + 1])
        c, d = min(c, line[j + 2]), min(d, line[j + 3])
    for j in range(len(line) // 4 * 4, len(line)):
        a = min(a, line[j])
    least, total = min(min(a, b), min(c, d)), 0.0
    if least == np.inf:
        line[:] = 1.0
        least = 1.0
    for j in range(len(line)):
        e = exp_below((least - line[j]) * rate)
        line[j] = e
        total += e
    total -= line[i]
    line[i] = 0.0
    return total


@kernel
def _of_classes(D, rows, a, rate, codes, gains, pulls, q, size):
    for r in range(len(rows)):
        line, of = D[r], gains[codes[rows[r]]]
        total, mean, sum_of_pulls = _exponentials(line, rows[r], rate), 0.0, 0.0
        for j in range(len(line)):
            mean += line[j] * of[codes[j]]
        mean /= total
        q[r] = mean
        if pulls:
            factor = a[r] * rate / total
            for j in range(len(line)):
                c = line[j] * ((mean - of[codes[j]]) * factor)
                line[j] = c
                sum_of_pulls += abs(c)
        size[r] = sum_of_pulls


@kernel
def _of_values(D, rows, a, rate, G, pulls, q, size):
    for r in range(len(rows)):
        line, of = D[r], G[r]
        total, mean, sum_of_pulls = _exponentials(line, rows[r], rate), 0.0, 0.0
        for j in range(len(line)):
            mean += line[j] * of[j]
        mean /= total
        q[r] = mean
        if pulls:
            factor = a[r] * rate / total
            for j in range(len(line)):
                c = line[j] * ((mean - of[j]) * factor)
                line[j] = c
                sum_of_pulls += abs(c)
        size[r] = sum_of_pulls


@cache
def _compiled(name):
    real, whole, flag = types.float64, types.intp, types.boolean
    table, G = real[:, ::1], types.Array(real, 2, "C", readonly=True)
    numbers, rows = (types.Array(kind, 1, "C", readonly=True) for kind in (real, whole))
    out = real[::1]
    if name == "classes":
        signature = (table, rows, numbers, real, rows, G, flag, out, out)
        return _of_classes.compile(signature)
    return _of_values.compile((table, rows, numbers, real, G, flag, out, out))


def of_classes(D, rows, a, sigma, codes, gains, pulls, q, size) -> None:
    """D (m, n) of ``rows`` becomes C if ``pulls``, else e; q (m,); size (m,) = Σ_j |C_ij|.

    G_ij = gains[codes_i, codes_j].
    """
    _require(D, rows, a, q, size)
    if len(codes) != D.shape[1] or (
        len(codes) and not 0 <= codes.min() <= codes.max() < min(gains.shape)
    ):
        raise ValueError(f"codes {codes.shape} and gains {gains.shape} do not match D {D.shape}")
    _compiled("classes")(D, rows, a, 1.0 / sigma, codes, gains, pulls, q, size)


def of_values(D, rows, a, sigma, G, pulls, q, size) -> None:
    """The same with G (m, n)."""
    _require(D, rows, a, q, size)
    if G.shape != D.shape:
        raise ValueError(f"G {G.shape} does not match D {D.shape}")
    _compiled("values")(D, rows, a, 1.0 / sigma, G, pulls, q, size)


def _require(D, rows, a, q, size) -> None:
    m, n = D.shape
    if not m == len(rows) == len(a) == len(q) == len(size):
        raise ValueError(f"D {D.shape}, rows {rows.shape}, a {a.shape}, q {q.shape} do not match")
    if m and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError("rows that D does not have")


def warm() -> None:
    """Compile both, or load them from disk."""
    for name in ("classes", "values"):
        _compiled(name)
