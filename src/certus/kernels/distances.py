"""Distances of all pairs of rows by their differences, added feature by feature.

    D_ij = Σ_l w_l |a_il − b_jl|,   Σ_l (a_il − b_jl)²,   max_l w_l |a_il − b_jl|,   …

The rows of B are in lanes: a panel holds LANES rows of B, transposed, so that the inner loop is
elementwise over pairs and vectorises, even for the maximum. The terms of a pair are added in the
same order wherever it occurs: equal pairs have equal bits, D_ij = D_ji, and ties remain ties. The
sums are of differences, not ‖a‖² + ‖b‖² − 2aᵀb, so that rows 0.5 apart are 0.5 apart at 1e8 too.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

LANES = 64  # rows of B in a panel: 32 and 128 were slower
FEATURES = 32  # 32 × 64 numbers of a panel stay in the L1 cache

ABSOLUTE, SQUARED, WEIGHTED_SQUARED, MAXIMUM, POWER, MISMATCH, CANBERRA, PRODUCT = range(8)


@kernel
def _absolute(a, w, panel, first, last, sums):
    l = first
    while l + 4 <= last:
        a0, a1, a2, a3 = a[l], a[l + 1], a[l + 2], a[l + 3]
        w0, w1, w2, w3 = w[l], w[l + 1], w[l + 2], w[l + 3]
        b0, b1, b2, b3 = panel[l], panel[l + 1], panel[l + 2], panel[l + 3]
        for t in range(LANES):
            near = abs(a0 - b0[t]) * w0 + abs(a1 - b1[t]) * w1
            sums[t] += near + (abs(a2 - b2[t]) * w2 + abs(a3 - b3[t]) * w3)
        l += 4
    while l < last:
        a0, w0, b0 = a[l], w[l], panel[l]
        for t in range(LANES):
            sums[t] += abs(a0 - b0[t]) * w0
        l += 1


@kernel
def _squared(a, panel, first, last, sums):
    l = first
    while l + 4 <= last:
        a0, a1, a2, a3 = a[l], a[l + 1], a[l + 2], a[l + 3]
        b0, b1, b2, b3 = panel[l], panel[l + 1], panel[l + 2], panel[l + 3]
        for t in range(LANES):
            d0, d1, d2, d3 = a0 - b0[t], a1 - b1[t], a2 - b2[t], a3 - b3[t]
            sums[t] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        l += 4
    while l < last:
        a0, b0 = a[l], panel[l]
        for t in range(LANES):
            d0 = a0 - b0[t]
            sums[t] += d0 * d0
        l += 1


@kernel
def _weighted_squared(a, w, panel, first, last, sums):
    l = first
    while l + 4 <= last:
        a0, a1, a2, a3 = a[l], a[l + 1], a[l + 2], a[l + 3]
        w0, w1, w2, w3 = w[l], w[l + 1], w[l + 2], w[l + 3]
        b0, b1, b2, b3 = panel[l], panel[l + 1], panel[l + 2], panel[l + 3]
        for t in range(LANES):
            d0, d1, d2, d3 = a0 - b0[t], a1 - b1[t], a2 - b2[t], a3 - b3[t]
            sums[t] += (w0 * d0 * d0 + w1 * d1 * d1) + (w2 * d2 * d2 + w3 * d3 * d3)
        l += 4
    while l < last:
        a0, w0, b0 = a[l], w[l], panel[l]
        for t in range(LANES):
            d0 = a0 - b0[t]
            sums[t] += w0 * d0 * d0
        l += 1


@kernel
def _maximum(a, w, panel, first, last, sums):
    for l in range(first, last):
        a0, w0, b0 = a[l], w[l], panel[l]
        for t in range(LANES):
            d0 = abs(a0 - b0[t]) * w0
            sums[t] = d0 if d0 > sums[t] else sums[t]


@kernel
def _power(a, w, p, panel, first, last, sums):
    whole = int(p)
    if p == whole and p <= 32:
        for l in range(first, last):
            a0, w0, b0 = a[l], w[l], panel[l]
            if whole == 3:
                for t in range(LANES):
                    d0 = abs(a0 - b0[t])
                    sums[t] += w0 * (d0 * d0 * d0)
            elif whole == 4:
                for t in range(LANES):
                    d0 = a0 - b0[t]
                    sums[t] += w0 * ((d0 * d0) * (d0 * d0))
            else:
                for t in range(LANES):
                    sums[t] += w0 * abs(a0 - b0[t]) ** whole
    else:
        for l in range(first, last):
            a0, w0, b0 = a[l], w[l], panel[l]
            for t in range(LANES):
                sums[t] += w0 * abs(a0 - b0[t]) ** p


@kernel
def _mismatch(a, w, panel, first, last, sums):
    for l in range(first, last):
        a0, w0, b0 = a[l], w[l], panel[l]
        for t in range(LANES):
            sums[t] += w0 if a0 != b0[t] else 0.0


@kernel
def _canberra(a, w, panel, first, last, sums):
    for l in range(first, last):
        a0, w0, b0 = a[l], w[l], panel[l]
        size0 = abs(a0)
        for t in range(LANES):
            size = size0 + abs(b0[t])
            share = abs(a0 - b0[t]) / (size if size > 0.0 else 1.0)  # 0/0 = 0
            sums[t] += w0 * share


@kernel
def _product(a, panel, first, last, sums):
    for l in range(first, last):
        a0, b0 = a[l], panel[l]
        for t in range(LANES):
            sums[t] += a0 * b0[t]


def _make_all_pairs(kind):
    """Make the kernel of one kind, a constant: the loops of the others are not compiled with it."""

    @kernel
    def _all_pairs(A, panels, w, p, sums, D):
        """Fill D[i, j] for the rows of A and the panels of B; `sums` (rows, LANES) is scratch."""
        n, features = A.shape
        m = D.shape[1]
        for block in range(panels.shape[0]):
            panel = panels[block]
            sums[:] = 0.0
            for first in range(0, features, FEATURES):
                last = min(first + FEATURES, features)
                for i in range(n):
                    if kind == ABSOLUTE:
                        _absolute(A[i], w, panel, first, last, sums[i])
                    elif kind == SQUARED:
                        _squared(A[i], panel, first, last, sums[i])
                    elif kind == WEIGHTED_SQUARED:
                        _weighted_squared(A[i], w, panel, first, last, sums[i])
                    elif kind == MAXIMUM:
                        _maximum(A[i], w, panel, first, last, sums[i])
                    elif kind == POWER:
                        _power(A[i], w, p, panel, first, last, sums[i])
                    elif kind == MISMATCH:
                        _mismatch(A[i], w, panel, first, last, sums[i])
                    elif kind == CANBERRA:
                        _canberra(A[i], w, panel, first, last, sums[i])
                    else:
                        _product(A[i], panel, first, last, sums[i])
            start = block * LANES
            stop = min(start + LANES, m)
            for i in range(n):
                for t in range(stop - start):
                    D[i, start + t] = sums[i, t]

    return _all_pairs


_PAIRS = [_make_all_pairs(kind) for kind in range(8)]


@kernel
def _shared(A, panels, w, scale, categorical, sums, seen, D, S):
    """Fill D = Σ w·difference and S = Σ w over the features that both rows have (not NaN).

    The difference is (Δ/scale)² for squares (categorical 2), |Δ|/scale for numbers (0) and
    1[a ≠ b] for categories (1).
    """
    n, features = A.shape
    m = D.shape[1]
    for block in range(panels.shape[0]):
        panel = panels[block]
        start = block * LANES
        stop = min(start + LANES, m)
        for i in range(n):
            for t in range(LANES):
                sums[t] = 0.0
                seen[t] = 0.0
            for l in range(features):
                a0, w0, s0, b0 = A[i, l], w[l], scale[l], panel[l]
                if a0 != a0:
                    continue
                if categorical[l] == 1:
                    for t in range(LANES):
                        sums[t] += w0 if (a0 != b0[t]) and (b0[t] == b0[t]) else 0.0
                        seen[t] += w0 if b0[t] == b0[t] else 0.0
                elif categorical[l] == 2:
                    for t in range(LANES):
                        d0 = (a0 - b0[t]) * s0
                        sums[t] += w0 * d0 * d0 if d0 == d0 else 0.0
                        seen[t] += w0 if d0 == d0 else 0.0
                else:
                    for t in range(LANES):
                        d0 = abs(a0 - b0[t]) * s0
                        sums[t] += w0 * d0 if d0 == d0 else 0.0
                        seen[t] += w0 if d0 == d0 else 0.0
            for t in range(stop - start):
                D[i, start + t] = sums[t]
                S[i, start + t] = seen[t]


@kernel
def _absolute_vjp(A, panels, C, g):
    """Add Σ_ij C_ij |a_il − b_jl| to g_l, for the rows of A and the panels of B."""
    n, features = A.shape
    for block in range(panels.shape[0]):
        start = block * LANES
        for i in range(n):
            c = C[i, start : start + LANES]
            for l in range(features):
                a0, b0, total = A[i, l], panels[block, l], 0.0
                for t in range(LANES):
                    total += c[t] * abs(a0 - b0[t])
                g[l] += total


def panels_of(B: np.ndarray) -> np.ndarray:
    """Return B in panels (panels, features, LANES), the last one padded with the last row."""
    m, features = B.shape
    count = -(-m // LANES)
    panels = np.empty((count, features, LANES))
    whole = m // LANES
    panels[:whole] = B[: whole * LANES].reshape(whole, LANES, features).transpose(0, 2, 1)
    if whole < count:
        rest = B[whole * LANES :]
        panels[whole, :, : len(rest)] = rest.T
        panels[whole, :, len(rest) :] = rest[-1][:, None]
    return panels


def all_pairs(A, panels, w, kind: int, p: float, D) -> None:
    """Write the sums of kind `kind` of the rows of A against `panels` to D (n, m).

    A, w : float64, C order, may be read-only. D : float64, rows contiguous. Safe on threads.
    """
    n, features = A.shape
    _match(A, panels, D)
    if w.shape != (features,):
        raise ValueError(f"{len(w)} weights, {features} features")
    _compiled_pairs(kind)(A, panels, w, float(p), np.empty((n, LANES)), D)


def shared_features(A, panels, w, scale, categorical, D, S) -> None:
    """Fill D = Σ w·difference and S = Σ w over the features that both rows have; see `_shared`."""
    _match(A, panels, D)
    _match(A, panels, S)
    features = A.shape[1]
    if not (len(w) == len(scale) == len(categorical) == features):
        raise ValueError(f"{len(w)}, {len(scale)}, {len(categorical)} numbers, {features} features")
    categorical = np.ascontiguousarray(categorical, dtype=np.intp)
    sums, seen = np.empty(LANES), np.empty(LANES)
    _compiled_shared()(A, panels, w, scale, categorical, sums, seen, D, S)


def absolute_vjp(A, panels, C) -> np.ndarray:
    """Return Σ_ij C_ij |a_il − b_jl| for each l; C (n, panels·LANES) is 0 beyond the rows of B."""
    if C.shape != (len(A), len(panels) * LANES) or A.shape[1] != panels.shape[1]:
        raise ValueError(f"A {A.shape}, panels {panels.shape}, C {C.shape} do not match")
    g = np.zeros(A.shape[1])
    _compiled_pull()(A, panels, np.ascontiguousarray(C, dtype=np.float64), g)
    return g


def _match(A, panels, D) -> None:
    n, features = A.shape
    count, p, _ = panels.shape
    good = D.shape[0] == n and p == features and count == -(-D.shape[1] // LANES)
    typed = A.dtype == D.dtype == panels.dtype == np.float64
    ordered = A.flags.c_contiguous and panels.flags.c_contiguous and D.strides[1] == 8
    if not (good and typed and ordered):
        raise ValueError(f"A {A.shape}, panels {panels.shape}, D {D.shape} do not match")


def _types():
    inputs = [types.Array(types.float64, d, "C", readonly=True) for d in (1, 2, 3)]
    return inputs, types.Array(types.float64, 2, "A")


@cache
def _compiled_pairs(kind):
    (vector, matrix, panels), D = _types()
    scratch = types.float64[:, ::1]
    return _PAIRS[kind].compile(types.void(matrix, panels, vector, types.float64, scratch, D))


@cache
def _compiled_shared():
    (vector, matrix, panels), D = _types()
    codes = types.Array(types.intp, 1, "C", readonly=True)
    scratch = types.float64[::1]
    return _shared.compile(
        types.void(matrix, panels, vector, vector, codes, scratch, scratch, D, D)
    )


@cache
def _compiled_pull():
    (_, matrix, panels), _ = _types()
    return _absolute_vjp.compile(types.void(matrix, panels, matrix, types.float64[::1]))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for kind in range(len(_PAIRS)):
        _compiled_pairs(kind)
    _compiled_shared()
    _compiled_pull()
