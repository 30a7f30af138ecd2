"""Weighted, shifted Gram sums of a block of rows, in one pass over memory.

    G  += Σ s (x−cx)(x−cx)ᵀ     sx += Σ s (x−cx)     Xy += Σ s (x−cx)(y−cy)ᵀ
                                sy += Σ s (y−cy)     yy += Σ s (y−cy)²

Every sum is float64, in an order that depends on the shapes only: equal inputs give equal bits.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type
from certus.kernels.gram._tiles import gram


def gram_sums(X, Y, s, cx, cy, G, sx, sy, Xy, yy) -> None:
    """Add the sums of one block of rows to `G, sx, sy, Xy, yy` (float64, C order, in place).

    Parameters
    ----------
    X : (n, p) float32 or float64, any strides (C order is fastest), may be read-only.
    Y : (n, k) and cx : (p,), cy : (k,) are float64.
    s : (n,) weights ≥ 0, or an empty array: all ones.
    G : (p, p); only its upper triangle and diagonal are sums, below them is scratch: see `mirror`.

    A NaN or Inf in X, Y or s reaches the diagonal of `G` or `yy`. Safe to call from several
    threads at once, each with its own outputs.
    """
    n, p = X.shape
    k = Y.shape[1]
    if not X.flags.aligned:
        X = X.copy()
    Y, s, cx, cy = (np.ascontiguousarray(a, dtype=np.float64) for a in (Y, s, cx, cy))
    if Y.shape[0] != n or s.shape not in ((n,), (0,)) or cx.shape != (p,) or cy.shape != (k,):
        raise ValueError(
            f"X {X.shape}, Y {Y.shape}, s {s.shape}, cx {cx.shape}, cy {cy.shape} do not match"
        )
    for a, shape in ((G, (p, p)), (sx, (p,)), (sy, (k,)), (Xy, (p, k)), (yy, (k,))):
        if a.shape != shape or a.dtype != np.float64 or not a.flags.carray:
            got = f"{a.dtype} {a.shape}, strides {a.strides}, writable {a.flags.writeable}"
            raise ValueError(f"need a writable C-order float64 output of shape {shape}, not {got}")
    _compiled(X.dtype, X.flags.c_contiguous)(X, Y, s, cx, cy, G, sx, sy, Xy, yy)


def mirror(G: np.ndarray, block: int = 256) -> None:
    """Copy the upper triangle of the square matrix `G` onto the lower one."""
    for i in range(0, len(G), block):
        rows = slice(i, i + block)
        G[rows, :i] = G[:i, rows].T
        G[rows, rows] = np.triu(G[rows, rows]) + np.triu(G[rows, rows], 1).T


@cache
def _compiled(dtype: np.dtype, c_contiguous: bool):
    """Return the machine code for one of four kinds of X: {float32, float64} × {C order, strided}.

    Choosing the signature here, not by Numba's `typeof`, lets read-only data and Fortran order use
    the same code as the rest; the caller has checked what `typeof` would have.
    """
    scalar = float_type(dtype)
    x = types.Array(scalar, 2, "C" if c_contiguous else "A", readonly=True)
    vector, matrix = (types.Array(types.float64, d, "C", readonly=True) for d in (1, 2))
    v, m = types.float64[::1], types.float64[:, ::1]
    return gram.compile(types.void(x, matrix, vector, vector, vector, m, v, v, m, v))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for dtype in (np.float32, np.float64):
        for c_contiguous in (True, False):
            _compiled(np.dtype(dtype), c_contiguous)
