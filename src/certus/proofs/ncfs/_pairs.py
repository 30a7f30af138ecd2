r"""Distances of NCFS, and what they pass back to the weights, over all pairs of rows.

    D_ij = D_W(x_i, x_j)                        Σ_{i<j} U_ij ∂D_ij/∂W_l,    U_ij = C_ij + C_ji

A table holds pairs (i, i+1), (i, i+2), … of a few rows i: one line for each step, the first rows
following the last. Half the steps meet each pair once, so no n×n table exists. With z the columns
about their middles,

    L1      |z_i − z_j| = 2 max(z_i, z_j) − z_i − z_j
    L2²     U(z_i − z_j)² = α(z_i² + z_j²) − 2β z_i z_j,     α = β = U
    L2      the same,                                        α = β = U/2D
    Φ_s     the same,                                        α = A(1 − D), β = A(1 + D), A = U/S_u

where in Φ_s z is a row less its mean weighted by W. With s_ij = Σ W z_i z_j then S_δ = s_ii + s_jj
− 2s_ij and S_u = s_ii + s_jj + 2s_ij, so that S_u = 2(s_ii + s_jj)/(1 + D).

``blur`` is by how much rounding can have moved a distance.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma

PANEL = 2**14  # numbers at a time that stay near the core, in float64,
WIDE = 2**17  # and in float32
TERMS = 128  # added up in float32 at most
LONG = 2**12  # numbers of some rows, up to which they are taken column by column
TILE = 2**20  # numbers of z at a time, for products
FEW_PAIRS = 0.5  # of all: up to which they are picked out one by one
NEAR = 1e-6  # D² as a share of ‖y_i‖² + ‖y_j‖², up to which differences decide
LOST = 1e-14  # of s_ii + s_jj: what rounding leaves of nothing


class Passed(NamedTuple):
    """Of some pairs, to be added to those of others."""

    exact: np.ndarray  # (m,): the sum of each column; of L1, of maxima
    rough: np.ndarray  # (k,): in float32, of columns that need only be shown to be below 0
    ends: np.ndarray  # (2, n), of L1: Σ U of each row's pairs, for these two
    kinks: np.ndarray  # (m,): Σ U|z_i − z_j| of pairs at distance 0, where D is a root
    pull: float  # Σ |U|
    size: float  # Σ |β|
    wear: float  # Σ |β| blur
    left: float  # Σ |U| of the pairs that the rough sums leave out


class Pairs(NamedTuple):
    """Rows ``J[:b]``, each with the rows that follow it: a table has a line for each step."""

    J: np.ndarray  # (b + steps,): numbers of rows
    b: int

    @classmethod
    def of(cls, start: int, stop: int, steps: int, n: int) -> "Pairs":
        return cls(np.arange(start, stop + steps) % n, stop - start)

    @property
    def steps(self) -> int:
        return len(self.J) - self.b

    def own(self, v: np.ndarray) -> Any:
        """Of each pair, what v has for the row."""
        return v[self.J[: self.b]]

    def other(self, v: np.ndarray) -> Any:
        """What it has for the one that follows."""
        return windows(v[self.J], self.b)

    def spread(self, T: np.ndarray) -> np.ndarray:
        """A table as a matrix (b, len(J)) with zeros elsewhere."""
        w = len(self.J)
        flat = np.zeros(self.b * (w + 1))
        flat.reshape(self.b, w + 1)[:, 1 : 1 + self.steps] = T.T
        return flat[: self.b * w].reshape(self.b, w)

    def gathered(self, M: np.ndarray) -> np.ndarray:
        """The table that ``spread`` makes such a matrix of."""
        flat = np.empty(self.b * (len(self.J) + 1))
        flat[: M.size] = M.ravel()
        return np.ascontiguousarray(flat.reshape(self.b, -1)[:, 1 : 1 + self.steps].T)


def windows(v: np.ndarray, b: int) -> np.ndarray:
    """v[step + i] for step = 1, 2, … and i < b: a view, lines overlap."""
    return np.ndarray((len(v) - b, b), v.dtype, v, v.itemsize, (v.itemsize, v.itemsize))


def cut(count: int, width: int, size: int = PANEL) -> list[slice]:
    """0 … count in parts, each times ``width`` about ``size``."""
    step = max(1, size // max(1, width))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


class Manhattan:
    """``Z`` (n, m): the columns with weight, about their middles."""

    def __init__(self, Z: np.ndarray, W: np.ndarray):
        self.y = 2 * W * Z
        self.own = self.y.sum(axis=1) / 2
        self.error = 4 * gamma(len(W) + 4) * float((W * np.ptp(Z, axis=0)).sum())

    def asked_for(self, exact: np.ndarray, rough: np.ndarray, least: float) -> "Manhattan":
        """Sums of ``exact`` (n, m) and ``rough`` (n, k, float32), all about their middles; in the
        rough ones pairs with |U| ≤ ``least`` are left out."""
        self.exact, self.rough, self.least = exact, rough, least
        return self

    def tops(self) -> np.ndarray:
        """The largest ∂D/∂W of the columns that are asked for exactly."""
        return np.asarray(np.ptp(self.exact, axis=0))

    def distances(self, pairs: Pairs) -> np.ndarray:
        """A table."""
        T, b = self.y[pairs.J], pairs.b
        D = -(pairs.own(self.own) + pairs.other(self.own))
        if T.shape[1] * b < LONG:
            columns = [(y[:b], windows(y, b)) for y in np.ascontiguousarray(T.T)]
            for some in cut(pairs.steps, b):
                room = np.empty((some.stop - some.start, b))
                for own, other in columns:
                    np.maximum(own, other[some], out=room)
                    D[some] += room
            return np.maximum(D, 0.0, out=D)
        one, total = np.ones(T.shape[1]), np.empty(b)
        for some in cut(b, T.shape[1]):
            mine, subsample = T[some], total[some]
            room = np.empty_like(mine)
            for step, line in enumerate(D, 1):
                np.maximum(mine, T[some.start + step : some.stop + step], out=room)
                line[some] += np.dot(room, one, out=subsample)
        return np.maximum(D, 0.0, out=D)

    def passed(self, U: np.ndarray, D: np.ndarray, pairs: Pairs) -> Passed:
        """U a table; D is not asked for here."""
        pull, left, n = float(np.abs(U).sum()), 0.0, len(self.y)
        exact, rough, ends = _maxima(self.exact, U, pairs), np.zeros(0), np.zeros((2, n))
        np.add.at(ends[0], pairs.J, _ends(pairs.spread(U)))
        if self.rough.shape[1]:
            U = np.where(np.abs(U) > self.least, U, 0.0)
            left = pull - float(np.abs(U).sum())
            rough = _maxima(self.rough, U, pairs)
            np.add.at(ends[1], pairs.J, _ends(pairs.spread(U)))
        kinks = np.zeros(len(exact))
        return Passed(exact, rough, ends, kinks, pull, pull, self.error * pull, left)

    def sums(self, found: Passed) -> tuple[np.ndarray, np.ndarray]:
        """Σ U|z_i − z_j| of the exact and the rough columns."""
        exact, rough = 2 * found.exact, 2 * found.rough
        for total, ends, Z in zip(
            (exact, rough), found.ends, (self.exact, self.rough), strict=True
        ):
            for some in cut(len(total), len(Z), TILE):
                total[some] -= np.dot(ends, Z[:, some].astype(float, copy=False))
        return exact, rough


def _ends(M: np.ndarray) -> np.ndarray:
    """Sums of each row's pairs, as the one and as the other; M a matrix."""
    total = M.sum(axis=0)
    total[: len(M)] += M.sum(axis=1)
    return np.asarray(total)


def _maxima(Z: np.ndarray, U: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Σ U max(z_i, z_j) of each column: in the precision of Z for ``TERMS`` terms at most if that
    is float32, beyond these in float64."""
    k, b, single = Z.shape[1], pairs.b, Z.dtype == np.float32
    out, u = np.zeros(k), U.astype(Z.dtype, copy=False)
    step, i = np.nonzero(U)
    few, size = len(i) < FEW_PAIRS * U.size, WIDE if single else PANEL
    m = TERMS if few or single else max(TERMS, size // max(1, k))
    for tile in cut(k, min(m, b), size):
        T, of_tile = np.ascontiguousarray(Z[pairs.J, tile]), out[tile]
        one, two = np.empty((2, m, T.shape[1]), dtype=Z.dtype)
        if few:
            for some in cut(len(i), 1, m):
                A, B = one[: some.stop - some.start], two[: some.stop - some.start]
                np.take(T, i[some], axis=0, out=A, mode="clip")
                np.take(T, i[some] + step[some] + 1, axis=0, out=B, mode="clip")
                of_tile += np.dot(u[step[some], i[some]], np.maximum(A, B, out=A))
            continue
        for some in cut(b, 1, m):
            mine, A = T[some], one[: some.stop - some.start]
            for after, line in enumerate(u[:, some], 1):
                np.maximum(mine, T[some.start + after : some.stop + after], out=A)
                of_tile += np.dot(line, A)
    return out


class SquaredEuclidean:
    """``Z`` (n, m): the columns with weight, about their middles."""

    def __init__(self, Z: np.ndarray, W: np.ndarray):
        self.y = np.sqrt(W) * Z
        self.own = np.einsum("ij,ij->i", self.y, self.y)
        self.unit = 4 * gamma(len(W) + 4)

    def asked_for(self, exact: np.ndarray, rough: np.ndarray, least: float) -> Any:
        """Sums of ``exact`` (n, m), about their middles."""
        self.z = exact
        return self

    def tops(self) -> np.ndarray:
        return np.asarray((2 * np.abs(self.z).max(axis=0)) ** 2)

    def _both(self, pairs: Pairs) -> np.ndarray:
        return np.asarray(pairs.own(self.own) + pairs.other(self.own))

    def _products(self, pairs: Pairs) -> np.ndarray:
        y = self.y[pairs.J]
        return pairs.gathered(np.dot(y[: pairs.b], y.T))

    def distances(self, pairs: Pairs) -> np.ndarray:
        D = self._products(pairs)
        D *= -2
        D += self._both(pairs)
        return np.maximum(D, 0.0, out=D)

    def passed(self, U: np.ndarray, D: np.ndarray, pairs: Pairs) -> Passed:
        pull, (exact, kinks) = float(np.abs(U).sum()), np.zeros((2, self.z.shape[1]))
        alpha, beta = self.coefficients(U, D, pairs, exact, kinks)
        wear = float((np.abs(beta) * self.blur(D, pairs)).sum())
        size, beta = float(np.abs(beta).sum()), pairs.spread(beta)
        ends = _ends(pairs.spread(alpha))
        for some in cut(len(exact), len(ends), TILE):
            T = self.z[pairs.J, some]
            exact[some] += np.dot(ends, T * T)
            exact[some] -= 2 * np.einsum("ij,ij->j", T[: pairs.b], np.dot(beta, T))
        return Passed(exact, np.zeros(0), np.zeros(0), kinks, pull, size, wear, 0.0)

    def sums(self, found: Passed) -> tuple[np.ndarray, np.ndarray]:
        return found.exact, found.rough

    def blur(self, D: np.ndarray, pairs: Pairs) -> Any:
        return self.unit * self._both(pairs)

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: Pairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        """α, β, as tables."""
        return U, U


class Euclidean(SquaredEuclidean):
    """Pairs so near that products say little of them are looked at one by one."""

    def distances(self, pairs: Pairs) -> np.ndarray:
        D = super().distances(pairs)
        step, i = np.nonzero(NEAR * self._both(pairs) >= D)
        for some in cut(len(i), self.y.shape[1]):
            R = self.y[pairs.J[i[some]]] - self.y[pairs.J[i[some] + step[some] + 1]]
            D[step[some], i[some]] = np.einsum("ij,ij->i", R, R)
        return np.sqrt(D, out=D)

    def blur(self, D: np.ndarray, pairs: Pairs) -> Any:
        return np.divide(self.unit * self._both(pairs), D, out=np.zeros_like(D), where=D > 0)

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: Pairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        near = 1.1 * NEAR * self._both(pairs) >= D * D
        A = np.divide(U, 2 * D, out=np.zeros_like(U), where=D > 0)
        for mine, u, power, out in (
            (near & (D > 0), A, 2, exact),
            (near & (D == 0), U, 1, kinks),
        ):
            step, i = np.nonzero(mine & (U != 0))
            for some in cut(len(i), self.z.shape[1]):
                R = self.z[pairs.J[i[some]]] - self.z[pairs.J[i[some] + step[some] + 1]]
                out += np.dot(u[step[some], i[some]], np.abs(R) ** power)
        A[near] = 0.0
        return A, A


class PhiS(SquaredEuclidean):
    """``Z``: rows less their means weighted by W."""

    def distances(self, pairs: Pairs) -> np.ndarray:
        s, both = self._products(pairs), self._both(pairs)
        above, below = both - 2 * s, both + 2 * s
        above[above <= LOST * both], below[below <= LOST * both] = 0.0, 0.0
        D = np.where(above > 0, np.inf, 0.0)
        return np.divide(above, below, out=D, where=below > 0)

    def blur(self, D: np.ndarray, pairs: Pairs) -> Any:
        return self.unit * (1 + np.where(np.isfinite(D), D, 0.0)) ** 2

    def coefficients(
        self, U: np.ndarray, D: np.ndarray, pairs: Pairs, exact: np.ndarray, kinks: np.ndarray
    ) -> Any:
        D, U = np.where(np.isfinite(D), D, 0.0), np.where(np.isfinite(D), U, 0.0)
        twice = 2 * self._both(pairs)
        A = np.divide(U * (1 + D), twice, out=np.zeros_like(U), where=twice > 0)
        return A * (1 - D), A * (1 + D)


METRICS: dict[str, Any] = {
    "manhattan": Manhattan, "sqeuclidean": SquaredEuclidean, "euclidean": Euclidean, "phi_s": PhiS,
}  # fmt: skip
