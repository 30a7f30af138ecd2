r"""Distances of NCFS and sums for their slopes, over all pairs of rows.

    D_ij = D_W(x_i, x_j)                        Σ_{i<j} U_ij ∂D_ij/∂W_l,    U_ij = C_ij + C_ji

A table holds the pairs (i, i+1), (i, i+2), … of a few rows i, with one line for each step, and
wraps around after the last row. Half the steps visit each pair once, so that no n×n table is
needed. With z the columns minus the middles of their ranges,

    L1      |z_i − z_j| = 2 max(z_i, z_j) − z_i − z_j
    L2²     U(z_i − z_j)² = α(z_i² + z_j²) − 2β z_i z_j,     α = β = U
    L2      the same,                                        α = β = U/2D
    Φ_s     the same,                                        α = A(1 − D), β = A(1 + D), A = U/S_u

where in Φ_s z is a row minus its W-weighted mean. With s_ij = Σ W z_i z_j then S_δ = s_ii + s_jj
− 2s_ij and S_u = s_ii + s_jj + 2s_ij, so that S_u = 2(s_ii + s_jj)/(1 + D).

``distance_error`` bounds the rounding error of a distance.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma

FLOAT64_PANEL = 2**14  # float64 numbers that stay in the first-level cache
FLOAT32_PANEL = 2**17  # float32 numbers handled at a time
MAX_FLOAT32_TERMS = 128  # of a sum in float32
MAX_COLUMNWISE_ELEMENTS = 2**12  # numbers of a block of rows, up to which loops run over columns
PRODUCT_ELEMENTS = 2**20  # numbers of z in one product
MAX_GATHERED_SHARE = 0.5  # of pairs with weight, up to which they are gathered
# of D² to ‖y_i‖² + ‖y_j‖²: below it products have cancelled, and differences are used
MIN_SQUARE_RATIO = 1e-6
ROUNDING_RATIO = 1e-14  # of a sum of squares to s_ii + s_jj, below which it is rounding


class SlopeSums(NamedTuple):
    """Sums over some pairs; those of all pairs are added."""

    exact: np.ndarray  # (m,): the sum of each column; for L1, of maxima
    approximate: np.ndarray  # (k,): in float32, for columns whose slope is only shown to be < 0
    row_sums: np.ndarray  # (2, n), for L1: Σ U over each row's pairs, for the two above
    kinks: np.ndarray  # (m,): Σ U|z_i − z_j| over pairs at distance 0, if D is a root
    total_weight: float  # Σ |U|
    size: float  # Σ |β|
    distance_error_sum: float  # Σ |β| distance_error
    omitted: float  # Σ |U| over the pairs that the approximate sums omit


class RowPairs(NamedTuple):
    """Rows ``J[:b]``, each paired with the rows that follow it; tables have a line per step."""

    J: np.ndarray  # (b + steps,): numbers of rows
    b: int

    @classmethod
    def of(cls, start: int, stop: int, steps: int, n: int) -> "RowPairs":
        return cls(np.arange(start, stop + steps) % n, stop - start)

    @property
    def steps(self) -> int:
        return len(self.J) - self.b

    def first(self, v: np.ndarray) -> Any:
        """Entries of v for the first row of each pair."""
        return v[self.J[: self.b]]

    def second(self, v: np.ndarray) -> Any:
        """Entries of v for the second row of each pair, as a table."""
        return windows(v[self.J], self.b)

    def to_matrix(self, T: np.ndarray) -> np.ndarray:
        """Convert a table to a matrix (b, len(J)) with zeros elsewhere."""
        w = len(self.J)
        flat = np.zeros(self.b * (w + 1))
        flat.reshape(self.b, w + 1)[:, 1 : 1 + self.steps] = T.T
        return flat[: self.b * w].reshape(self.b, w)

    def to_table(self, M: np.ndarray) -> np.ndarray:
        """Convert a matrix (b, len(J)) to a table; the inverse of ``to_matrix``."""
        flat = np.empty(self.b * (len(self.J) + 1))
        flat[: M.size] = M.ravel()
        return np.ascontiguousarray(flat.reshape(self.b, -1)[:, 1 : 1 + self.steps].T)


def windows(v: np.ndarray, b: int) -> np.ndarray:
    """View of v[step + i] for step = 1, 2, … and i < b, with overlapping lines."""
    return np.ndarray((len(v) - b, b), v.dtype, v, v.itemsize, (v.itemsize, v.itemsize))


def chunks(count: int, width: int, size: int = FLOAT64_PANEL) -> list[slice]:
    """Split 0 … count into slices of about size/width each."""
    step = max(1, size // max(1, width))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


class Manhattan:
    """Weighted L1 distances; ``Z`` (n, m) are the columns with weight, about their middles."""

    def __init__(self, Z: np.ndarray, W: np.ndarray):
        self.y = 2 * W * Z
        self.half_sums = self.y.sum(axis=1) / 2
        self.error = 4 * gamma(len(W) + 4) * float((W * np.ptp(Z, axis=0)).sum())

    def request(self, exact: np.ndarray, approximate: np.ndarray, min_weight: float) -> "Manhattan":
        """Request sums of ``exact`` (n, m) and ``approximate`` (n, k, float32) columns.

        Both are about their middles. The approximate sums omit pairs with |U| ≤ ``min_weight``.
        """
        self.exact, self.approximate, self.min_weight = exact, approximate, min_weight
        return self

    def largest_slopes(self) -> np.ndarray:
        """Largest ∂D/∂W of each column requested exactly."""
        return np.asarray(np.ptp(self.exact, axis=0))

    def distances(self, pairs: RowPairs) -> np.ndarray:
        """Distances of the pairs, as a table."""
        T, b = self.y[pairs.J], pairs.b
        D = -(pairs.first(self.half_sums) + pairs.second(self.half_sums))
        if T.shape[1] * b < MAX_COLUMNWISE_ELEMENTS:
            columns = [(y[:b], windows(y, b)) for y in np.ascontiguousarray(T.T)]
            for chunk in chunks(pairs.steps, b):
                buffer = np.empty((chunk.stop - chunk.start, b))
                for first, second in columns:
                    np.maximum(first, second[chunk], out=buffer)
                    D[chunk] += buffer
            return np.maximum(D, 0.0, out=D)
        one, total = np.ones(T.shape[1]), np.empty(b)
        for chunk in chunks(b, T.shape[1]):
            block, partial_sums = T[chunk], total[chunk]
            buffer = np.empty_like(block)
            for step, line in enumerate(D, 1):
                np.maximum(block, T[chunk.start + step : chunk.stop + step], out=buffer)
                line[chunk] += np.dot(buffer, one, out=partial_sums)
        return np.maximum(D, 0.0, out=D)

    def slope_sums(self, U: np.ndarray, D: np.ndarray, pairs: RowPairs) -> SlopeSums:
        """Sums for a table U; D is not needed."""
        total_weight, omitted, n = float(np.abs(U).sum()), 0.0, len(self.y)
        exact, approximate, row_sums = _maxima(self.exact, U, pairs), np.zeros(0), np.zeros((2, n))
        np.add.at(row_sums[0], pairs.J, _row_sums(pairs.to_matrix(U)))
        if self.approximate.shape[1]:
            U = np.where(np.abs(U) > self.min_weight, U, 0.0)
            omitted = total_weight - float(np.abs(U).sum())
            approximate = _maxima(self.approximate, U, pairs)
            np.add.at(row_sums[1], pairs.J, _row_sums(pairs.to_matrix(U)))
        kinks = np.zeros(len(exact))
        return SlopeSums(
            exact, approximate, row_sums, kinks, total_weight, total_weight,
            self.error * total_weight, omitted,
        )  # fmt: skip

    def sums(self, sums: SlopeSums) -> tuple[np.ndarray, np.ndarray]:
        """Compute Σ U|z_i − z_j| of the exact and the approximate columns."""
        exact, approximate = 2 * sums.exact, 2 * sums.approximate
        for total, row_sums, Z in zip(
            (exact, approximate), sums.row_sums, (self.exact, self.approximate), strict=True
        ):
            for chunk in chunks(len(total), len(Z), PRODUCT_ELEMENTS):
                total[chunk] -= np.dot(row_sums, Z[:, chunk].astype(float, copy=False))
        return exact, approximate


def _row_sums(M: np.ndarray) -> np.ndarray:
    """Sums over each row's pairs, as first and as second row; M is a matrix."""
    total = M.sum(axis=0)
    total[: len(M)] += M.sum(axis=1)
    return np.asarray(total)


def _maxima(Z: np.ndarray, U: np.ndarray, pairs: RowPairs) -> np.ndarray:
    """Compute Σ U max(z_i, z_j) of each column.

    Sums have at most ``MAX_FLOAT32_TERMS`` terms in float32, if Z is, and are added in float64.
    """
    k, b, is_float32 = Z.shape[1], pairs.b, Z.dtype == np.float32
    out, u = np.zeros(k), U.astype(Z.dtype, copy=False)
    step, i = np.nonzero(U)
    gather = len(i) < MAX_GATHERED_SHARE * U.size
    size = FLOAT32_PANEL if is_float32 else FLOAT64_PANEL
    m = MAX_FLOAT32_TERMS if gather or is_float32 else max(MAX_FLOAT32_TERMS, size // max(1, k))
    for tile in chunks(k, min(m, b), size):
        T, of_tile = np.ascontiguousarray(Z[pairs.J, tile]), out[tile]
        one, two = np.empty((2, m, T.shape[1]), dtype=Z.dtype)
        if gather:
            for chunk in chunks(len(i), 1, m):
                A, B = one[: chunk.stop - chunk.start], two[: chunk.stop - chunk.start]
                np.take(T, i[chunk], axis=0, out=A, mode="clip")
                np.take(T, i[chunk] + step[chunk] + 1, axis=0, out=B, mode="clip")
                of_tile += np.dot(u[step[chunk], i[chunk]], np.maximum(A, B, out=A))
            continue
        for chunk in chunks(b, 1, m):
            block, A = T[chunk], one[: chunk.stop - chunk.start]
            for after, line in enumerate(u[:, chunk], 1):
                np.maximum(block, T[chunk.start + after : chunk.stop + after], out=A)
                of_tile += np.dot(line, A)
    return out


class SquaredEuclidean:
    """Weighted squared L2 distances; ``Z`` as in ``Manhattan``."""

    def __init__(self, Z: np.ndarray, W: np.ndarray):
        self.y = np.sqrt(W) * Z
        self.squared_norms = np.einsum("ij,ij->i", self.y, self.y)
        self.unit = 4 * gamma(len(W) + 4)

    def request(self, exact: np.ndarray, approximate: np.ndarray, min_weight: float) -> Any:
        """Request sums of ``exact`` (n, m), about their middles."""
        self.z = exact
        return self

    def largest_slopes(self) -> np.ndarray:
        return np.asarray((2 * np.abs(self.z).max(axis=0)) ** 2)

    def _norm_sums(self, pairs: RowPairs) -> np.ndarray:
        return np.asarray(pairs.first(self.squared_norms) + pairs.second(self.squared_norms))

    def _products(self, pairs: RowPairs) -> np.ndarray:
        y = self.y[pairs.J]
        return pairs.to_table(np.dot(y[: pairs.b], y.T))

    def distances(self, pairs: RowPairs) -> np.ndarray:
        D = self._products(pairs)
        D *= -2
        D += self._norm_sums(pairs)
        return np.maximum(D, 0.0, out=D)

    def slope_sums(self, U: np.ndarray, D: np.ndarray, pairs: RowPairs) -> SlopeSums:
        total_weight, (exact, kinks) = float(np.abs(U).sum()), np.zeros((2, self.z.shape[1]))
        alpha, beta = self.coefficients(U, D, pairs, exact, kinks)
        distance_error_sum = float((np.abs(beta) * self.distance_error(D, pairs)).sum())
        size, beta = float(np.abs(beta).sum()), pairs.to_matrix(beta)
        row_sums = _row_sums(pairs.to_matrix(alpha))
        for chunk in chunks(len(exact), len(row_sums), PRODUCT_ELEMENTS):
            T = self.z[pairs.J, chunk]
            exact[chunk] += np.dot(row_sums, T * T)
            exact[chunk] -= 2 * np.einsum("ij,ij->j", T[: pairs.b], np.dot(beta, T))
        return SlopeSums(
            exact, np.zeros(0), np.zeros(0), kinks, total_weight, size, distance_error_sum, 0.0
        )

    def sums(self, sums: SlopeSums) -> tuple[np.ndarray, np.ndarray]:
        return sums.exact, sums.approximate

    def distance_error(self, D: np.ndarray, pairs: RowPairs) -> Any:
        return self.unit * self._norm_sums(pairs)

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: RowPairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        """Return α and β of the module's docstring, as tables."""
        return U, U


class Euclidean(SquaredEuclidean):
    """Weighted L2 distances; close pairs, for which products cancel, are computed one by one."""

    def distances(self, pairs: RowPairs) -> np.ndarray:
        D = super().distances(pairs)
        step, i = np.nonzero(MIN_SQUARE_RATIO * self._norm_sums(pairs) >= D)
        for chunk in chunks(len(i), self.y.shape[1]):
            R = self.y[pairs.J[i[chunk]]] - self.y[pairs.J[i[chunk] + step[chunk] + 1]]
            D[step[chunk], i[chunk]] = np.einsum("ij,ij->i", R, R)
        return np.sqrt(D, out=D)

    def distance_error(self, D: np.ndarray, pairs: RowPairs) -> Any:
        return np.divide(self.unit * self._norm_sums(pairs), D, out=np.zeros_like(D), where=D > 0)

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: RowPairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        is_near = 1.1 * MIN_SQUARE_RATIO * self._norm_sums(pairs) >= D * D
        A = np.divide(U, 2 * D, out=np.zeros_like(U), where=D > 0)
        for block, u, power, out in (
            (is_near & (D > 0), A, 2, exact),
            (is_near & (D == 0), U, 1, kinks),
        ):
            step, i = np.nonzero(block & (U != 0))
            for chunk in chunks(len(i), self.z.shape[1]):
                R = self.z[pairs.J[i[chunk]]] - self.z[pairs.J[i[chunk] + step[chunk] + 1]]
                out += np.dot(u[step[chunk], i[chunk]], np.abs(R) ** power)
        A[is_near] = 0.0
        return A, A


class PhiS(SquaredEuclidean):
    """Weighted Φ_s; ``Z`` are rows minus their W-weighted means."""

    def distances(self, pairs: RowPairs) -> np.ndarray:
        s, both = self._products(pairs), self._norm_sums(pairs)
        above, below = both - 2 * s, both + 2 * s
        above[above <= ROUNDING_RATIO * both], below[below <= ROUNDING_RATIO * both] = 0.0, 0.0
        D = np.where(above > 0, np.inf, 0.0)
        return np.divide(above, below, out=D, where=below > 0)

    def distance_error(self, D: np.ndarray, pairs: RowPairs) -> Any:
        return self.unit * (1 + np.where(np.isfinite(D), D, 0.0)) ** 2

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: RowPairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        D, U = np.where(np.isfinite(D), D, 0.0), np.where(np.isfinite(D), U, 0.0)
        twice = 2 * self._norm_sums(pairs)
        A = np.divide(U * (1 + D), twice, out=np.zeros_like(U), where=twice > 0)
        return A * (1 - D), A * (1 + D)


METRICS: dict[str, Any] = {
    "manhattan": Manhattan, "sqeuclidean": SquaredEuclidean, "euclidean": Euclidean, "phi_s": PhiS,
}  # fmt: skip
