"""Coordinates in which columns that nearly repeat others are orthonormal.

    z = x̂ᵀη + β,   x̂ = Tᵀ(x − c),   w = Tη,   b = β − cᵀw

The columns of (X − c)T are nearly orthonormal, so Newton's matrix is well conditioned in η although
that of w is singular to rounding: A = √s∘(X − c)T = QR, R = UΣVᵀ, T ← TVΣ⁻¹, until Σ is about 1.
Products of columns that nearly cancel are computed in long double. Directions t that rounding of
the columns could have produced,

    ‖(X − c)t‖ ≤ 4·eps·‖|X − c||t|‖,

are left out: coefficients along them would be the last digits of the columns, magnified 10¹⁶ times.
Several such directions are tested after elimination, each with a column of its own that is its
largest: otherwise a direction that the rows determine can be masked by a large column.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.coordinates import Coordinates

LEFT_OUT_ROUNDINGS = 4.0  # ‖(X − c)t‖/(eps·‖|X − c||t|‖) that a direction must exceed to be used
MAX_ROUNDS = 5
MAX_CONDITION = 30.0  # of the scaled columns, at which the iteration ends
MIN_SINGULAR_SHARE = 2.0**-60  # smaller singular values, relative to the largest, are raised to it
MAX_PRODUCT_ERROR = 1e-9  # of a float64 product, beyond which long double is used
SLICE_ENTRIES = 1 << 16  # entries of X in long double at a time


@dataclass(frozen=True)
class OrthogonalColumns:
    """Coordinates for columns that nearly repeat others; same interface as ``Coordinates``."""

    c: np.ndarray  # (p,)
    T: np.ndarray  # (p, r)
    wide: np.ndarray  # (r,) of bool: columns of (X − c)T that cancel and need long double
    whole: bool  # r = p: no direction is left out

    correction: None = None  # blocks are centred themselves
    scale: float = 1.0

    def block(self, X: np.ndarray) -> np.ndarray:
        """(X − c)T."""
        Z: np.ndarray = np.dot(np.subtract(X, self.c, dtype=float), self.T)
        if not self.wide.any():
            return Z
        T, c = self.T[:, self.wide].astype(np.longdouble), self.c.astype(np.longdouble)
        step = max(1, SLICE_ENTRIES // X.shape[1])
        for start in range(0, len(X), step):
            part = slice(start, start + step)
            Z[part, self.wide] = np.dot(X[part].astype(np.longdouble) - c, T)
        return Z

    def to_internal(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(η, β) of the (w, b) nearest to the given one."""
        length = np.linalg.norm(self.T, axis=0)
        eta = np.linalg.lstsq(self.T / length, w, rcond=None)[0]
        return (eta.T / length).T, b + self.c @ w

    def to_user(self, eta: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(w, b) of (η, β); b is computed from the rounded w."""
        w = np.dot(self.T.astype(np.longdouble), eta).astype(float)
        b = beta - self.c.astype(np.longdouble) @ w
        return w, b.astype(float)


ColumnCoordinates = Coordinates | OrthogonalColumns  # what Newton steps take


def orthogonal_columns(rows: Rows, at: Coordinates) -> OrthogonalColumns | None:
    """Compute the coordinates from all rows, O(n·p²) per round; None if only rounding is left."""
    p = rows.shape[1]
    eps = float(np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps)
    T = np.diag(np.broadcast_to(at.scale, (p,)).astype(float))
    basis, column_norms = OrthogonalColumns(at.c, T, np.zeros(p, dtype=bool), True), None
    for _ in range(MAX_ROUNDS):
        R, norm, size = rows.reduce(_factor, basis, combine=_stack, square=True)
        used = norm > LEFT_OUT_ROUNDINGS * eps * size
        if not (np.isfinite(R).all() and used.any()):
            return None
        if column_norms is not None and not used.all():
            recovered = _recovered_directions(rows, basis, basis.T[:, ~used], column_norms, eps)
            if recovered.shape[1]:
                T = np.hstack([basis.T[:, used], recovered])
                basis = replace(basis, T=T, wide=np.ones(T.shape[1], dtype=bool))
                continue
        R, T = R[:, used], basis.T[:, used]
        length = np.linalg.norm(R, axis=0)
        if not length.all():
            return None
        if column_norms is None:
            column_norms = np.zeros(p)
            column_norms[used] = length / np.diagonal(basis.T)[used]
        _, sigma, Vt = np.linalg.svd(R / length)
        sigma = np.append(sigma, np.zeros(len(Vt) - len(sigma)))
        T = T / length
        if sigma[0] <= MAX_CONDITION * sigma[-1]:
            return replace(basis, T=T, wide=basis.wide[used], whole=T.shape[1] == p)
        T = T @ Vt.T / np.maximum(sigma, MIN_SINGULAR_SHARE * sigma[0])
        # error of float64 products, relative to columns of norm 1
        error = np.finfo(float).eps * p * (column_norms @ np.abs(T))
        basis = replace(basis, T=T, wide=error > MAX_PRODUCT_ERROR)
    return None


def _recovered_directions(
    rows: Rows, at: OrthogonalColumns, D: np.ndarray, column_norms: np.ndarray, eps: float
) -> np.ndarray:
    """Return the directions in the span of D (p, k) that the rows determine, after elimination."""
    size = np.where(column_norms > 0, column_norms, 1.0)[:, None]
    E = D * size
    E = E / np.abs(E).max(axis=0)
    pivots: list[int] = []
    for t in range(E.shape[1]):
        candidates = np.abs(E[:, t:])
        candidates[pivots] = 0.0
        j, k = np.unravel_index(int(candidates.argmax()), candidates.shape)
        if not candidates[j, k] > 0:
            return E[:, :0]
        E[:, [t, t + int(k)]] = E[:, [t + int(k), t]]
        E[:, t] /= E[j, t]
        for other in range(E.shape[1]):
            if other != t:
                E[:, other] -= E[j, other] * E[:, t]
        pivots.append(int(j))
    E = E / size
    eliminated = replace(at, T=E, wide=np.ones(E.shape[1], dtype=bool))
    _, norm, reach = rows.reduce(_factor, eliminated, combine=_stack, square=True)
    return E[:, norm > LEFT_OUT_ROUNDINGS * eps * reach]


def _factor(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, at: OrthogonalColumns
) -> tuple[Any, Any, Any]:
    """R of a block's √s∘(X − c)T, and ‖(X − c)t‖ and ‖|X||t| + |cᵀt|‖ of each column t."""
    if s is not None:
        X, s = X[s > 0], s[s > 0]
    Z = at.block(X)
    size = np.dot(np.abs(X, dtype=float), np.abs(at.T)) + np.abs(at.c @ at.T)
    R = np.linalg.qr(Z if s is None else np.sqrt(s)[:, None] * Z, mode="r")
    return R, np.linalg.norm(Z, axis=0), np.linalg.norm(size, axis=0)


def _stack(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    R = np.linalg.qr(np.vstack([a[0], b[0]]), mode="r")
    return R, np.hypot(a[1], b[1]), np.hypot(a[2], b[2])
