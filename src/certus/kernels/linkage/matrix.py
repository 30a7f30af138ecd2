"""Single, centroid and median linkage on a matrix of distances.

prim       the row nearest to the tree joins it; one row of distances is read at a time
generic    the pair of least squared distance merges (Müllner's generic algorithm):
               centroid  (|A|d_A + |B|d_B)/(|A| + |B|) − |A||B|h/(|A| + |B|)²
               median    (d_A + d_B)/2 − h/4
           nn[x] is the nearest of slot x, at least[x]. Once nn[x] is dead or has moved away,
           least[x] is a lower bound of the distances that remain. Such a slot searches again
           when its bound is the least of all.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

CENTROID, MEDIAN = range(2)
WIDTH = np.uint64(128)


@kernel
def _nearest(row, m):
    """Return the minimum of row[:m] and its first place.

    Counting how many of a block are below the minimum so far vectorises; a running minimum does
    not.
    """
    least, place, number = row.dtype.type(np.inf), 0, np.uint64(m)
    for k in range(number // WIDTH):
        at, below = k * WIDTH, 0
        for q in range(WIDTH):
            below += row[at + q] < least
        if below > 0:
            for q in range(WIDTH):
                if row[at + q] < least:
                    least, place = row[at + q], np.intp(at + q)
    for t in range(number - number % WIDTH, number):
        if row[t] < least:
            least, place = row[t], np.intp(t)
    return np.float64(least), place


@kernel
def _unfold(D, n, i, row):
    """Copy row i of a condensed matrix; d(i, j) is contiguous for j > i only."""
    at = i - 1
    for j in range(i):
        row[j] = D[at]
        at += n - j - 2
    first = i * n - i * (i + 1) // 2 - i - 1
    for j in range(i + 1, n):
        row[j] = D[first + j]


@kernel
def _join(row, last, best, link, mask):
    """Update rows that are nearer to ``last`` than to the tree; mask is infinite inside it."""
    for t in range(len(best)):
        v = np.float64(row[t]) + mask[t]
        nearer = v < best[t]
        best[t] = v if nearer else best[t]
        link[t] = last if nearer else link[t]


@kernel
def _prim_square(D, last, steps, best, link, mask, edges, heights):
    for step in range(steps):
        _join(D[last], last, best, link, mask)
        least, t = _nearest(best, len(best))
        edges[step, 0], edges[step, 1], heights[step] = link[t], t, least
        best[t], mask[t], last = np.inf, np.inf, t
    return last


@kernel
def _prim_condensed(D, last, steps, best, link, mask, edges, heights, row):
    for step in range(steps):
        _unfold(D, len(best), last, row)
        _join(row, last, best, link, mask)
        least, t = _nearest(best, len(best))
        edges[step, 0], edges[step, 1], heights[step] = link[t], t, least
        best[t], mask[t], last = np.inf, np.inf, t
    return last


@kernel
def _search(D, start, stop, least, nn):
    for s in range(start, stop):
        D[s, s] = np.inf
        least[s], nn[s] = _nearest(D[s], len(D))


@kernel
def _generic(D, code, size, number, outdated, least, nn, steps, first, pairs, heights):
    m = len(D)
    for step in range(steps):
        h, s = _nearest(least, m)
        while outdated[s]:
            least[s], nn[s] = _nearest(D[s], m)
            outdated[s] = False
            h, s = _nearest(least, m)
        t = nn[s]
        pairs[step, 0], pairs[step, 1] = min(number[s], number[t]), max(number[s], number[t])
        heights[step] = h
        ns, nt = size[s], size[t]
        share, loss = ns / (ns + nt), ns * nt / (ns + nt) / (ns + nt) * h
        if code == MEDIAN:
            share, loss = 0.5, 0.25 * h
        S, T = D[s], D[t]
        lowest, nearest = np.inf, -1
        for x in range(m):
            if size[x] == 0.0 or x in (s, t):
                continue
            a, b = np.float64(S[x]), np.float64(T[x])
            d = max(b + share * (a - b) - loss, 0.0)
            S[x] = D[x, s] = d
            D[x, t] = np.inf
            d = np.float64(S[x])  # as it is stored
            if d < lowest:
                lowest, nearest = d, x
            if d < least[x] or (d == least[x] and outdated[x]):
                least[x], nn[x], outdated[x] = d, s, False
            elif nn[x] == s or nn[x] == t:
                outdated[x] = True
        least[s], nn[s], outdated[s] = lowest, nearest, False
        S[t], least[t], size[t] = np.inf, np.inf, 0.0
        size[s] = ns + nt
        number[s] = first + step


def prim(D, last, steps, best, link, mask, edges, heights) -> int:
    """Let ``steps`` rows join the tree, and return the last of them. D: square, or condensed."""
    given = (D, last, steps, best, link, mask, edges, heights)
    if D.ndim == 1:
        row = np.full(len(best), np.inf, dtype=D.dtype)
        return _compiled("condensed", D.dtype)(*given, row)
    return _compiled("square", D.dtype)(*given)


def search(D, start, stop, least, nn) -> None:
    """Find the nearest of rows start … stop − 1; the diagonal becomes infinite."""
    _compiled("search", D.dtype)(D, start, stop, least, nn)


def generic(D, code, size, number, outdated, least, nn, steps, first, pairs, heights) -> None:
    """Make ``steps`` merges (cluster numbers, squared heights), numbered from ``first`` on."""
    _compiled("generic", D.dtype)(
        D, code, size, number, outdated, least, nn, steps, first, pairs, heights
    )


_KERNELS = {
    "square": _prim_square,
    "condensed": _prim_condensed,
    "search": _search,
    "generic": _generic,
}


@cache
def _compiled(name, number):
    real, whole = types.float64, types.intp
    of = types.float32 if number == np.float32 else real
    square, line = (types.Array(of, k, "C", readonly=True) for k in (2, 1))
    D, l, r, i, b = of[:, ::1], of[::1], real[::1], whole[::1], types.boolean[::1]
    tree = (whole, whole, r, i, r, whole[:, ::1], r)
    result, signature = {
        "square": (whole, (square, *tree)),
        "condensed": (whole, (line, *tree, l)),
        "search": (types.void, (D, whole, whole, r, i)),
        "generic": (types.void, (D, whole, r, i, b, r, i, whole, whole, whole[:, ::1], r)),
    }[name]  # fmt: skip
    return _KERNELS[name].compile(result(*signature))


def warm() -> None:
    """Compile all kernels for each dtype, or load them from disk."""
    for name in _KERNELS:
        for number in (np.float32, np.float64):
            _compiled(name, np.dtype(number))
