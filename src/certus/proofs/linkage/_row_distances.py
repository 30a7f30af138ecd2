"""Distances between rows in the order of a tree's leaves, in tiles and in pairs.

    d(i, j) = √Σ_l ((x_il − x_jl)/scale_l)², another of ``proofs/distances.py``, or D_ij as given

Computed by differences, which is accurate far from the origin. Given distances are looked up.
"""

from typing import Any

import numpy as np

from certus.proofs.distances import between_units, paired, units
from certus.proofs.neighbors._row_distances import by_powers, power
from certus.proofs.types import Numbers

TILE_ELEMENTS = 2**18  # elements compared at a time, so that they stay in cache
EPSILON = 2.0**-52
MIN_MIRRORED_DISTANCE = 1.9  # 1 − cos of rows that nearly mirror each other
SAFE_LENGTHS = (1e-120, 1e120)  # lengths whose squares neither overflow nor underflow


class RowVectors:
    """Distances between the rows of X.

    ``scale`` divides the columns, for differences after the subtraction. ``absolute``: distances
    are 1 − |1 − d|, so that columns that mirror each other are near.
    """

    def __init__(
        self,
        X: np.ndarray,
        order: np.ndarray,
        metric: str,
        params: dict[str, Any],
        scale: np.ndarray | None,
        absolute: bool,
    ):
        self.metric, self.params, self.absolute = metric, params, absolute
        self.p, self.n = X.shape[1], len(order)
        self.power = power(metric, params)
        mixed = X.dtype.kind == "O"
        self.X = X[order] if mixed else X[order].astype(float, copy=False)
        self.divisor = None if scale is None else np.asarray(scale, dtype=float)
        if self.power is None and self.divisor is not None:
            self.X, self.divisor = self.X / self.divisor, None
        self.exact = self.power is not None
        self.units = None if mixed else units(self.X, metric, **params)

    def block(self, first: int, last: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return d of rows first:last to rows start:stop, (last − first) × (stop − start)."""
        rows = self.X if self.units is None else self.units
        A, B = rows[first:last], rows[start:stop]
        if self.power is None:
            step = max(1, TILE_ELEMENTS // max(1, len(B) * self.p))
            parts = [self._paired(A[i : i + step, None], B[None]) for i in range(0, len(A), step)]
            return self._finite(np.concatenate([*parts, np.empty((0, len(B)))]))
        return self._finite(self._by_columns(A, B))

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return d of rows i to rows j, pair by pair."""
        rows = self.X if self.units is None else self.units
        A, B = rows[i], rows[j]
        if self.power is None:
            return self._finite(self._paired(A, B))
        A -= B
        if self.divisor is not None:
            A /= self.divisor
        if self.power == 2:
            with np.errstate(over="ignore", under="ignore"):
                d = np.sqrt(np.einsum("ij,ij->i", A, A))
            odd = np.flatnonzero(~((d > SAFE_LENGTHS[0]) & (d < SAFE_LENGTHS[1])))
            if len(odd):
                d[odd] = by_powers(A[odd], np.zeros((1, self.p)), 2.0)
            return self._finite(d)
        return self._finite(by_powers(A, np.zeros((1, self.p)), self.power))

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return d of rows, or of their directions for metrics that depend on these only."""
        if self.units is None:
            return paired(A, B, self.metric, **self.params)
        d = between_units(A, B)
        if not self.absolute:
            return d
        mirrored = d > MIN_MIRRORED_DISTANCE  # 2 − d would lose digits
        d = np.where(d > 1, 2 - d, d)
        if mirrored.any():
            A, B = (np.broadcast_to(R, (*mirrored.shape, self.p))[mirrored] for R in (A, B))
            d[mirrored] = between_units(A, -B)
        return d

    def rounding(self, d: Numbers) -> Any:
        """Return a bound of the rounding error of d.

        For directions, each off by η = (p + 16)·2⁻⁵², d = ½‖u − v‖² is off by 2η√(2d) + 2η²; twice
        that is returned. For other metrics that are not sums of powers, (p + 64)·2⁻⁵².
        """
        if self.exact:
            return 0.0 * d
        if self.units is None:
            return (self.p + 64) * EPSILON + 0.0 * d
        eta = (self.p + 16) * EPSILON
        return 4 * eta * np.sqrt(2 * d) + 4 * eta**2

    def _finite(self, d: np.ndarray) -> np.ndarray:
        d = 1 - np.abs(1 - d) if self.absolute and self.units is None else d
        return np.where(np.isnan(d), np.inf, d)

    def _by_columns(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return (Σ_l |a_l − b_l|^p)^(1/p) of all pairs, column by column."""
        p = self.power
        assert p is not None
        S, term = np.zeros((2, len(A), len(B)))
        with np.errstate(over="ignore", under="ignore"):
            for l in range(self.p):
                np.subtract(A[:, l, None], B[:, l], out=term)
                if self.divisor is not None:
                    term /= self.divisor[l]
                np.abs(term, out=term)
                if p == np.inf:
                    np.maximum(S, term, out=S)
                else:
                    S += (
                        term if p == 1 else np.multiply(term, term, out=term) if p == 2 else term**p
                    )
            S = S if p in (1, np.inf) else np.sqrt(S) if p == 2 else S ** (1 / p)
        low, high = SAFE_LENGTHS
        if p not in (1, np.inf) and not ((low < S) & (high > S)).all():  # equal rows, or huge ones
            i, j = np.nonzero(~((low < S) & (high > S)))
            D = A[i] - B[j] if self.divisor is None else (A[i] - B[j]) / self.divisor
            S[i, j] = by_powers(D, np.zeros((1, self.p)), p)
        return S


class GivenDistances:
    """Given distances: a square matrix, or the n(n − 1)/2 numbers above its diagonal.

    ``unit``: a power of two that they are divided by whenever they are read.
    """

    exact, power, p, divisor = True, None, 1, None

    def __init__(self, D: np.ndarray, order: np.ndarray, unit: float = 1.0):
        self.D, self.order, self.n, self.unit = D, order, len(order), unit
        self.square = D.shape == (self.n, self.n)
        self.condensed = D.reshape(-1)

    def block(self, first: int, last: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        i, j = np.arange(first, last), np.arange(self.n)[start:stop]
        return self.pairs(i[:, None], j[None, :])

    def rounding(self, d: Numbers) -> Any:
        return 0.0 * d

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        i, j = self.order[i], self.order[j]
        if self.square:
            return np.asarray(self.D[i, j], dtype=float) / self.unit
        a, b, n = np.minimum(i, j), np.maximum(i, j), self.n
        at = a * (2 * n - a - 1) // 2 + b - a - 1
        d = self.condensed[np.where(a == b, 0, at)]
        return np.where(a == b, 0.0, np.asarray(d, dtype=float) / self.unit)


LeafRows = RowVectors | GivenDistances


def asymmetry_errors(D: np.ndarray, n: int, tol: float) -> list[str]:
    """Report the first pair of a square matrix whose two distances differ."""
    step = max(1, TILE_ELEMENTS // n)
    for first in range(0, n if D.shape == (n, n) else 0, step):
        part, back = D[first : first + step], D[:, first : first + step].T
        bad = np.argwhere(np.abs(part - back) > tol * (np.abs(part) + np.abs(back)))
        if len(bad):
            i, j = bad[0]
            d, b = part[i, j], back[i, j]
            return [f"the distance given from row {first + i} to row {j} is {d:.6g}, back {b:.6g}"]
    return []
