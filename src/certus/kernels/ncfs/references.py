r"""From distances of rows to all others to the pull of each pair, in place.

    e_ij = exp(−(D_ij − min_k D_ik)/σ), j ≠ i        q_i = Σ_j e_ij G_ij / Σ_j e_ij
    C_ij = a_i e_ij (q_i − G_ij) / (σ Σ_j e_ij)

A line of D is read a few times, in cache. If all others are infinitely far, none is nearer: e = 1.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below


@kernel
def _least(line, i):
    """The least of D beside D_ii, which becomes ∞. Where there is none, D = 0."""
    line[i] = np.inf
    a = b = c = d = np.inf
    for j in range(0, len(line) - 3, 4):
        a, b = min(a, line[j]), min(b, line[j + 1])
        c, d = min(c, line[j + 2]), min(d, line[j + 3])
    for j in range(len(line) // 4 * 4, len(line)):
        a = min(a, line[j])
    least = min(min(a, b), min(c, d))
    if least == np.inf:
        line[:] = 0.0
        line[i] = np.inf
        least = 0.0
    return least


@kernel
def _exponentials(line, i, rate):
    """e in place of D, and its sum; rate = 1/σ."""
    least, total = _least(line, i), 0.0
    for j in range(len(line)):
        e = exp_below((least - line[j]) * rate)
        line[j] = e
        total += e
    total -= line[i]
    line[i] = 0.0
    return total


@kernel
def _of_two(D, rows, a, rate, codes, own, other, pulls, q, size):
    """G_ij = own of the class of i, or other of it."""
    for r in range(len(rows)):
        line, c = D[r], codes[rows[r]]
        least, total, hits = _least(line, rows[r]), 0.0, 0.0
        for j in range(len(line)):
            e = exp_below((least - line[j]) * rate)
            line[j] = e
            total += e
            hits += e if codes[j] == c else 0.0
        total -= line[rows[r]]
        hits -= line[rows[r]]
        line[rows[r]] = 0.0
        hit, g, sum_of_pulls = hits / total, own[c] - other[c], 0.0
        q[r] = other[c] + hit * g
        if pulls:
            factor = a[r] * rate / total * g
            if_own, if_other = (hit - 1.0) * factor, hit * factor
            for j in range(len(line)):
                pull = line[j] * (if_own if codes[j] == c else if_other)
                line[j] = pull
                sum_of_pulls += abs(pull)
        size[r] = sum_of_pulls


@kernel
def _of_classes(D, rows, a, rate, codes, gains, pulls, q, size):
    """G_ij = gains[codes_i, codes_j]."""
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
                pull = line[j] * ((mean - of[codes[j]]) * factor)
                line[j] = pull
                sum_of_pulls += abs(pull)
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
                pull = line[j] * ((mean - of[j]) * factor)
                line[j] = pull
                sum_of_pulls += abs(pull)
        size[r] = sum_of_pulls


@cache
def _compiled(name):
    real, whole, flag = types.float64, types.intp, types.boolean
    table, G = real[:, ::1], types.Array(real, 2, "C", readonly=True)
    numbers, rows = (types.Array(kind, 1, "C", readonly=True) for kind in (real, whole))
    first, last = (table, rows, numbers, real), (flag, real[::1], real[::1])
    kernels = {
        "two": (_of_two, (rows, numbers, numbers)),
        "classes": (_of_classes, (rows, G)),
        "values": (_of_values, (G,)),
    }
    function, signature = kernels[name]
    return function.compile((*first, *signature, *last))


def of_classes(D, rows, a, sigma, codes, gains, pulls, q, size) -> None:
    """D (m, n) of ``rows`` becomes C if ``pulls``, else e; q (m,); size (m,) = Σ_j |C_ij|.

    G_ij = gains[codes_i, codes_j].
    """
    _require(D, rows, a, q, size)
    if len(codes) != D.shape[1] or (
        len(codes) and not 0 <= codes.min() <= codes.max() < min(gains.shape)
    ):
        raise ValueError(f"codes {codes.shape} and gains {gains.shape} do not match D {D.shape}")
    rate, own, other = 1.0 / sigma, np.diag(gains).copy(), np.roll(gains, -1, axis=1).diagonal()
    if np.all((gains == other[:, None]) | np.eye(len(gains), dtype=bool)):
        return _compiled("two")(D, rows, a, rate, codes, own, other.copy(), pulls, q, size)
    return _compiled("classes")(D, rows, a, rate, codes, gains, pulls, q, size)


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
    """Compile all, or load them from disk."""
    for name in ("two", "classes", "values"):
        _compiled(name)
