"""Columns that nearly repeat others, seen from where they are plain to tell apart.

    z = x̂ᵀη + β,   x̂ = Tᵀ(x − c),   w = Tη,   b = β − cᵀw

T makes the columns of (X − c)T about orthonormal, so that Newton's matrix is well conditioned in η
although that of w is singular to rounding: A = √s∘(X − c)T = QR, R = UΣVᵀ, T ← TVΣ⁻¹, until Σ is
about 1. What is left of columns that all but cancel is computed in the widest floats there are.
Directions t of which no more is seen than one rounding of the columns could have made,

    ‖(X − c)t‖ ≤ 4·eps·‖|X − c||t|‖,

are left out: coefficients along them would be the last digits of the columns, 10¹⁶ times enlarged.
Several are judged after elimination, each with a column of its own that is its largest: rotated, a
direction that the rows do hold can hide behind a large column.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.coordinates import Coordinates

ROUNDINGS = 4.0  # of the columns that a direction must exceed to be used
ROUNDS = 5
WELL_CONDITIONED = 30.0
NOTHING = 2.0**-60  # of the largest singular value
DIGITS_LOST = 1e-9  # of an ordinary product, from which wide floats are taken
SLICE = 1 << 16  # entries in wide floats at a time


@dataclass(frozen=True)
class OrthogonalColumns:
    """Stands for ``Coordinates`` where columns nearly repeat others."""

    c: np.ndarray  # (p,)
    T: np.ndarray  # (p, r)
    wide: np.ndarray  # (r,) of bool: columns of the products that cancel
    whole: bool  # r = p: no direction is left out

    correction: None = None  # blocks are centred one by one
    scale: float = 1.0

    def block(self, X: np.ndarray) -> np.ndarray:
        """(X − c)T."""
        Z: np.ndarray = np.dot(np.subtract(X, self.c, dtype=float), self.T)
        if not self.wide.any():
            return Z
        T, c = self.T[:, self.wide].astype(np.longdouble), self.c.astype(np.longdouble)
        step = max(1, SLICE // X.shape[1])
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
        """(w, b) of (η, β); b of the w that float64 can hold."""
        w = np.dot(self.T.astype(np.longdouble), eta).astype(float)
        b = beta - self.c.astype(np.longdouble) @ w
        return w, b.astype(float)


ColumnCoordinates = Coordinates | OrthogonalColumns  # either is what Newton's steps work in


def orthogonal_columns(rows: Rows, at: Coordinates) -> OrthogonalColumns | None:
    """From all rows, O(n·p²) a round; None where nothing but rounding is left of them."""
    p = rows.shape[1]
    eps = float(np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps)
    T = np.diag(np.broadcast_to(at.scale, (p,)).astype(float))
    found, of_columns = OrthogonalColumns(at.c, T, np.zeros(p, dtype=bool), True), None
    for _ in range(ROUNDS):
        R, norm, size = rows.reduce(_factor, found, combine=_stack, square=True)
        used = norm > ROUNDINGS * eps * size
        if not (np.isfinite(R).all() and used.any()):
            return None
        if of_columns is not None and not used.all():
            hidden = _used_after_all(rows, found, found.T[:, ~used], of_columns, eps)
            if hidden.shape[1]:
                T = np.hstack([found.T[:, used], hidden])
                found = replace(found, T=T, wide=np.ones(T.shape[1], dtype=bool))
                continue
        R, T = R[:, used], found.T[:, used]
        length = np.linalg.norm(R, axis=0)
        if not length.all():
            return None
        if of_columns is None:
            of_columns = np.zeros(p)
            of_columns[used] = length / np.diagonal(found.T)[used]
        _, sigma, Vt = np.linalg.svd(R / length)
        sigma = np.append(sigma, np.zeros(len(Vt) - len(sigma)))
        T = T / length
        if sigma[0] <= WELL_CONDITIONED * sigma[-1]:
            return replace(found, T=T, wide=found.wide[used], whole=T.shape[1] == p)
        T = T @ Vt.T / np.maximum(sigma, NOTHING * sigma[0])
        # what ordinary products lose, beside columns of norm 1
        lost = np.finfo(float).eps * p * (of_columns @ np.abs(T))
        found = replace(found, T=T, wide=lost > DIGITS_LOST)
    return None


def _used_after_all(
    rows: Rows, at: OrthogonalColumns, D: np.ndarray, of_columns: np.ndarray, eps: float
) -> np.ndarray:
    """Return the directions in the span of D (p, k) that the rows hold, after elimination."""
    size = np.where(of_columns > 0, of_columns, 1.0)[:, None]
    E = D * size
    E = E / np.abs(E).max(axis=0)
    taken: list[int] = []
    for t in range(E.shape[1]):
        open_ = np.abs(E[:, t:])
        open_[taken] = 0.0
        j, k = np.unravel_index(int(open_.argmax()), open_.shape)
        if not open_[j, k] > 0:
            return E[:, :0]
        E[:, [t, t + int(k)]] = E[:, [t + int(k), t]]
        E[:, t] /= E[j, t]
        for other in range(E.shape[1]):
            if other != t:
                E[:, other] -= E[j, other] * E[:, t]
        taken.append(int(j))
    E = E / size
    alone = replace(at, T=E, wide=np.ones(E.shape[1], dtype=bool))
    _, norm, reach = rows.reduce(_factor, alone, combine=_stack, square=True)
    return E[:, norm > ROUNDINGS * eps * reach]


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
