r"""One step of k-means++ for a block of rows: distances to a few candidates in one pass.

    D_t = Σ_j (x_j − y_tj)²,      pot_t = Σ_i s_i min(d_i, D_it)

d_i is the squared distance to the nearest centre so far, a_i that centre. y_0 is the centre that
was chosen last: d and a are updated with it here, so that each step reads the rows once. Where
‖y_t − μ_a‖² ≥ 4d_i for every t, no candidate is nearer and the row is not read.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

PART_ROWS = 1024  # rows whose potentials are summed; drawing searches one such part
LANES = 64  # rows of a tile


@kernel
def _four(X, rows, m, scale, Y, t, D):
    """Compute squared distances of m rows to y_t … y_{t+3}, loading each row once for all four."""
    y0, y1, y2, y3 = Y[t], Y[t + 1], Y[t + 2], Y[t + 3]
    for r in range(m):
        i = rows[r]
        d0, d1, d2, d3 = 0.0, 0.0, 0.0, 0.0
        for j in range(X.shape[1]):
            x = X[i, j] * scale
            z0, z1, z2, z3 = x - y0[j], x - y1[j], x - y2[j], x - y3[j]
            d0 += z0 * z0
            d1 += z1 * z1
            d2 += z2 * z2
            d3 += z3 * z3
        D[t, r], D[t + 1, r], D[t + 2, r], D[t + 3, r] = d0, d1, d2, d3


@kernel
def _candidate_potentials(X, weights, scale, Y, reach, last, d, a, pots, rows, tile, lanes):
    trials = pots.shape[1]
    for part in range(len(pots)):
        first, count, unread = part * PART_ROWS, 0, 0.0
        for i in range(first, min(first + PART_ROWS, len(X))):
            rows[count] = i
            read = 4.0 * d[i] > reach[np.uint64(a[i])]
            count += read
            unread += 0.0 if read else d[i] * (weights[i] if len(weights) else 1.0)
        for t in range(trials):
            pots[part, t] = unread
        for start in range(0, count, LANES):
            m = min(LANES, count - start)
            tile_rows = rows[start : start + m]
            for t in range(0, trials + 1, 4):
                _four(X, tile_rows, m, scale, Y, t, tile)
            for r in range(LANES):
                lanes[0, r], lanes[1, r] = 0.0, 0.0
            for r in range(m):
                i = tile_rows[r]
                nearer = tile[0, r] < d[i]
                a[i] = last if nearer else a[i]
                d[i] = tile[0, r] if nearer else d[i]
                lanes[0, r] = d[i]
                lanes[1, r] = weights[i] if len(weights) else 1.0
            for t in range(trials):
                total, line = 0.0, tile[t + 1]
                for q in range(LANES):
                    total += lanes[1, q] * min(lanes[0, q], line[q])
                pots[part, t] += total


@cache
def _compiled(number):
    real, single = types.float64, types.float32
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    state = single[::1], types.int32[::1], real[:, ::1]
    tile = types.intp[::1], real[:, ::1], real[:, ::1]
    return _candidate_potentials.compile(
        types.void(X, line, real, table, line, types.int32, *state, *tile)
    )


def candidate_potentials(X, weights, scale, Y, reach, last, d, a, pots) -> None:
    """Update d (n,) and a (n,) with Y[0], which is centre ``last``, and fill pots (parts, trials)
    with Σ s min(d, D) of the candidates Y[1:], for each part of PART_ROWS rows.

    reach: lower bound of min_t ‖y_t − μ_a‖² for each centre, times scale². weights: (n,), or empty
    for ones. d is in float32, times scale².
    """
    n, p = X.shape
    if (
        Y.shape[1] != p
        or not len(d) == len(a) == n
        or pots.shape != (-(-n // PART_ROWS), len(Y) - 1)
    ):
        raise ValueError(f"X {X.shape}, candidates {Y.shape}, pots {pots.shape} do not match")
    if len(weights) not in (0, n) or not 0 <= last < max(1, len(reach)) + 1:
        raise ValueError(f"X {X.shape}, weights {weights.shape}, centre {last} do not match")
    fours = -(-len(Y) // 4) * 4
    scaled = np.zeros((fours, p))
    scaled[: len(Y)] = Y * scale
    rows, tile, lanes = (
        np.empty(PART_ROWS, dtype=np.intp),
        np.zeros((fours, LANES)),
        np.empty((2, LANES)),
    )
    _compiled(X.dtype)(X, weights, scale, scaled, reach, last, d, a, pots, rows, tile, lanes)


def warm() -> None:
    """Compile the kernel for each dtype, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
