r"""Conversion of distances of rows to all others into pair weights C, in place.

    e_ij = exp(−(D_ij − min_k D_ik)/σ), j ≠ i        q_i = Σ_j e_ij G_ij / Σ_j e_ij
    C_ij = a_i e_ij (q_i − G_ij) / (σ Σ_j e_ij)

A row of D is read a few times from cache. If all others are infinitely far, all are equally near:
e = 1.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below


@kernel
def _minimum(line, i):
    """Set D_ii = ∞, and return the smallest D_ij; if that is ∞, set all others to 0."""
    line[i] = np.inf
    a = b = c = d = np.inf
    for j in range(0, len(line) - 3, 4):
        a, b = min(a, line[j]), min(b, line[j + 1])
        c, d = min(c, line[j + 2]), min(d, line[j + 3])
    for j in range(len(line) // 4 * 4, len(line)):
        a = min(a, line[j])
    minimum = min(min(a, b), min(c, d))
    if minimum == np.inf:
        line[:] = 0.0
        line[i] = np.inf
        minimum = 0.0
    return minimum


@kernel
def _exponentials(line, i, rate):
    """Replace D by e and return the sum of e; rate = 1/σ."""
    minimum, total = _minimum(line, i), 0.0
    for j in range(len(line)):
        e = exp_below((minimum - line[j]) * rate)
        line[j] = e
        total += e
    total -= line[i]
    line[i] = 0.0
    return total


@kernel
def _two_gains(D, rows, a, rate, codes, own, other, with_weights, q, size):
    """Compute expected gains where G_ij is own[c_i] in the class of i, and other[c_i] elsewhere."""
    for r in range(len(rows)):
        line, c = D[r], codes[rows[r]]
        minimum, total, own_total = _minimum(line, rows[r]), 0.0, 0.0
        for j in range(len(line)):
            e = exp_below((minimum - line[j]) * rate)
            line[j] = e
            total += e
            own_total += e if codes[j] == c else 0.0
        total -= line[rows[r]]
        own_total -= line[rows[r]]
        line[rows[r]] = 0.0
        own_share, g, total_weight = own_total / total, own[c] - other[c], 0.0
        q[r] = other[c] + own_share * g
        if with_weights:
            factor = a[r] * rate / total * g
            if_own, if_other = (own_share - 1.0) * factor, own_share * factor
            for j in range(len(line)):
                weight = line[j] * (if_own if codes[j] == c else if_other)
                line[j] = weight
                total_weight += abs(weight)
        size[r] = total_weight


@kernel
def _class_gains(D, rows, a, rate, codes, gains, with_weights, q, size):
    """Compute expected gains for G_ij = gains[codes_i, codes_j]."""
    for r in range(len(rows)):
        line, row_gains = D[r], gains[codes[rows[r]]]
        total, mean, total_weight = _exponentials(line, rows[r], rate), 0.0, 0.0
        for j in range(len(line)):
            mean += line[j] * row_gains[codes[j]]
        mean /= total
        q[r] = mean
        if with_weights:
            factor = a[r] * rate / total
            for j in range(len(line)):
                weight = line[j] * ((mean - row_gains[codes[j]]) * factor)
                line[j] = weight
                total_weight += abs(weight)
        size[r] = total_weight


@kernel
def _value_gains(D, rows, a, rate, G, with_weights, q, size):
    """Compute expected gains for G (rows, n)."""
    for r in range(len(rows)):
        line, row_gains = D[r], G[r]
        total, mean, total_weight = _exponentials(line, rows[r], rate), 0.0, 0.0
        for j in range(len(line)):
            mean += line[j] * row_gains[j]
        mean /= total
        q[r] = mean
        if with_weights:
            factor = a[r] * rate / total
            for j in range(len(line)):
                weight = line[j] * ((mean - row_gains[j]) * factor)
                line[j] = weight
                total_weight += abs(weight)
        size[r] = total_weight


@cache
def _compiled(name):
    real, whole, flag = types.float64, types.intp, types.boolean
    table, G = real[:, ::1], types.Array(real, 2, "C", readonly=True)
    numbers, rows = (types.Array(kind, 1, "C", readonly=True) for kind in (real, whole))
    first, last = (table, rows, numbers, real), (flag, real[::1], real[::1])
    kernels = {
        "two": (_two_gains, (rows, numbers, numbers)),
        "classes": (_class_gains, (rows, G)),
        "values": (_value_gains, (G,)),
    }
    function, signature = kernels[name]
    return function.compile((*first, *signature, *last))


def class_gains(D, rows, a, sigma, codes, gains, with_weights, q, size) -> None:
    """Compute q (m,) and size (m,) = Σ_j |C_ij| from D (m, n) of ``rows``, for class gains.

    D is overwritten by C if ``with_weights``, else by e. G_ij = gains[codes_i, codes_j].
    """
    _require(D, rows, a, q, size)
    if len(codes) != D.shape[1] or (
        len(codes) and not 0 <= codes.min() <= codes.max() < min(gains.shape)
    ):
        raise ValueError(f"codes {codes.shape} and gains {gains.shape} do not match D {D.shape}")
    rate, own, other = 1.0 / sigma, np.diag(gains).copy(), np.roll(gains, -1, axis=1).diagonal()
    if np.all((gains == other[:, None]) | np.eye(len(gains), dtype=bool)):
        return _compiled("two")(D, rows, a, rate, codes, own, other.copy(), with_weights, q, size)
    return _compiled("classes")(D, rows, a, rate, codes, gains, with_weights, q, size)


def value_gains(D, rows, a, sigma, G, with_weights, q, size) -> None:
    """Compute q and size as ``class_gains`` does, for gains G (m, n)."""
    _require(D, rows, a, q, size)
    if G.shape != D.shape:
        raise ValueError(f"G {G.shape} does not match D {D.shape}")
    _compiled("values")(D, rows, a, 1.0 / sigma, G, with_weights, q, size)


def _require(D, rows, a, q, size) -> None:
    m, n = D.shape
    if not m == len(rows) == len(a) == len(q) == len(size):
        raise ValueError(f"D {D.shape}, rows {rows.shape}, a {a.shape}, q {q.shape} do not match")
    if m and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows are outside 0 to {n - 1}")


def warm() -> None:
    """Compile all variants, or load them from disk."""
    for name in ("two", "classes", "values"):
        _compiled(name)
