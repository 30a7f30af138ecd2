r"""Distances of NCFS, and what they pass back to the weights, over all pairs of rows.

    D_ij = D_W(x_i, x_j)                        Σ_{i<j} U_ij ∂D_ij/∂W_l,    U_ij = C_ij + C_ji

Each pair is looked at once: row i with the n/2 rows after it, the first following the last. So all
rows have as many partners, and no n×n table exists. With z the columns about their middles,

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

from certus.definitions.linear_sums import gamma

PANEL = 2**14  # pairs at a time, whose distances stay near the core
TERMS, COLUMNS = 128, 480  # at a time. Rows of 512 numbers would collide in the cache
TILE = 2**20  # numbers of z at a time, for products
FEW_PAIRS = 0.5  # of all: up to which they are picked out one by one
NEAR = 1e-6  # D² as a share of ‖y_i‖² + ‖y_j‖², up to which differences decide
LOST = 1e-14  # of s_ii + s_jj: what rounding leaves of nothing


class Passed(NamedTuple):
    """Of some pairs, to be added to those of others."""

    exact: Any  # (m,): the sum of each column
    rough: Any  # (k,): in float32, of columns that need only be shown to be below 0
    kinks: Any  # (m,): Σ U|z_i − z_j| of pairs at distance 0, where D is a root
    pull: float  # Σ |U|
    size: float  # Σ |β|
    wear: float  # Σ |β| blur
    left: float  # Σ |U| of the pairs that the rough sums leave out


def partners(n: int) -> int:
    """How many rows after it a row is compared with."""
    return n // 2


def after(start: int, stop: int, n: int) -> np.ndarray:
    """Rows start … stop, and those that they are compared with."""
    return np.arange(start, stop + partners(n)) % n


def once(start: int, stop: int, n: int) -> np.ndarray:
    """(stop − start, … + n/2): which of these pairs are looked at here."""
    h, rows = partners(n), np.arange(start, stop)
    further = np.arange(len(rows) + h) - np.arange(len(rows))[:, None]
    # rows that stand opposite each other would meet twice
    mine = np.where((n % 2 == 0) & (2 * rows >= n), h - 1, h)
    return np.asarray((further > 0) & (further <= mine[:, None]))


def slices(count: int, width: int, size: int = PANEL) -> list[slice]:
    """Of 0 … count, so that each times ``width`` is about ``size``."""
    step = max(1, size // max(1, width))
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


class Manhattan:
    """``Z`` (n, m): the columns with weight, about their middles."""

    def __init__(self, Z: np.ndarray, W: np.ndarray):
        self.y = np.ascontiguousarray((2 * W * Z).T)
        self.own = self.y.sum(axis=0) / 2
        self.error = 4 * gamma(len(W) + 4) * float((W * np.ptp(Z, axis=0)).sum())

    def asked_for(self, exact: np.ndarray, rough: np.ndarray, least: float) -> "Manhattan":
        """Sums of ``exact`` (n, m) and ``rough`` (n, k, float32), all about their middles; in the
        rough ones pairs with |U| ≤ ``least`` are left out."""
        self.exact, self.rough, self.least = exact, rough, least
        return self

    def tops(self) -> np.ndarray:
        """The largest ∂D/∂W of the columns that are asked for exactly."""
        return np.asarray(np.ptp(self.exact, axis=0))

    def distances(self, I: Any, J: Any) -> np.ndarray:
        D = -(self.own[I][:, None] + self.own[J])
        room = np.empty_like(D)
        for y in self.y:
            np.maximum(y[I][:, None], y[J], out=room)
            D += room
        return np.maximum(D, 0.0, out=D)

    def passed(self, U: np.ndarray, D: np.ndarray, J: np.ndarray) -> Passed:
        """U (b, w) of rows J[:b] with J; their D is not asked for here."""
        pull, left = float(np.abs(U).sum()), 0.0
        exact, rough = _absolute(self.exact, U, J), np.zeros(0)
        if self.rough.shape[1]:
            U = np.where(np.abs(U) > self.least, U, 0.0)
            left = pull - float(np.abs(U).sum())
            rough = _absolute(self.rough, U, J)
        return Passed(exact, rough, np.zeros(len(exact)), pull, pull, self.error * pull, left)


def _absolute(Z: np.ndarray, U: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Σ U|z_i − z_j| of each column."""
    total, ends = 2 * _maxima(Z, U, J), _ends(U)
    for some in slices(len(total), len(J), TILE):
        total[some] -= np.dot(ends, Z[J, some].astype(float, copy=False))
    return np.asarray(total)


def _ends(U: np.ndarray) -> np.ndarray:
    """(w,): Σ U of each row's pairs, as the one and as the other."""
    total = U.sum(axis=0)
    total[: len(U)] += U.sum(axis=1)
    return np.asarray(total)


def _maxima(Z: np.ndarray, U: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Σ U max(z_i, z_j) of each column, pairs of rows that are k apart together. In the precision
    of Z for ``TERMS`` terms at most, beyond these in float64."""
    (b, w), k = U.shape, Z.shape[1]
    h, out, i, j = w - b, np.zeros(k), *np.nonzero(U)
    few, lines = len(i) < FEW_PAIRS * b * h, np.zeros(b * (w + 1))
    lines[: b * w] = U.ravel()
    apart = np.ascontiguousarray(lines.reshape(b, w + 1)[:, 1 : 1 + h].T, dtype=Z.dtype)  # (h, b)
    m = TERMS if Z.dtype == np.float32 else max(TERMS, PANEL // max(1, k))
    room, more = np.empty((2, m, min(k, COLUMNS)), dtype=Z.dtype)
    for first in range(0, k, COLUMNS):
        T = np.ascontiguousarray(Z[J, first : first + COLUMNS])
        of_tile, A, B = out[first : first + COLUMNS], room[:, : T.shape[1]], more[:, : T.shape[1]]
        if few:
            for t in range(0, len(i), m):
                a, c = i[t : t + m], j[t : t + m]
                np.take(T, a, axis=0, out=A[: len(a)], mode="clip")
                np.take(T, c, axis=0, out=B[: len(a)], mode="clip")
                np.maximum(A[: len(a)], B[: len(a)], out=A[: len(a)])
                of_tile += np.dot(U[a, c].astype(Z.dtype), A[: len(a)])
            continue
        for t in range(0, b, m):
            some = slice(t, min(t + m, b))
            mine, A = T[some], room[: some.stop - t, : T.shape[1]]
            for k_apart, u in enumerate(apart[:, some], 1):
                np.maximum(mine, T[t + k_apart : some.stop + k_apart], out=A)
                of_tile += np.dot(u, A)
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

    def _both(self, I: Any, J: Any) -> np.ndarray:
        return np.asarray(self.own[I][:, None] + self.own[J])

    def distances(self, I: Any, J: Any) -> np.ndarray:
        D = np.dot(self.y[I], self.y[J].T)
        D *= -2
        D += self._both(I, J)
        return np.maximum(D, 0.0, out=D)

    def passed(self, U: np.ndarray, D: np.ndarray, J: np.ndarray) -> Passed:
        I, pull = J[: len(U)], float(np.abs(U).sum())
        exact, kinks = np.zeros((2, self.z.shape[1]))
        alpha, beta = self.coefficients(U, D, I, J, exact, kinks)
        ends = _ends(alpha)
        for some in slices(len(exact), len(J), TILE):
            T = self.z[J, some]
            exact[some] += np.dot(ends, T * T)
            exact[some] -= 2 * np.einsum("ij,ij->j", T[: len(I)], np.dot(beta, T))
        size = np.abs(beta, out=beta)
        wear = float((size * self.blur(D, I, J)).sum())
        return Passed(exact, np.zeros(0), kinks, pull, float(size.sum()), wear, 0.0)

    def blur(self, D: Any, I: Any, J: Any) -> Any:
        return self.unit * self._both(I, J)

    def coefficients(self, U: Any, D: Any, I: Any, J: Any, exact: Any, kinks: Any) -> Any:
        """α, β."""
        return U, U.copy()


class Euclidean(SquaredEuclidean):
    """Pairs so near that products say little of them are looked at one by one."""

    def distances(self, I: Any, J: Any) -> np.ndarray:
        D = super().distances(I, J)
        i, j = np.nonzero(NEAR * self._both(I, J) >= D)
        for some in slices(len(i), self.y.shape[1]):
            R = self.y[I[i[some]]] - self.y[J[j[some]]]
            D[i[some], j[some]] = np.einsum("ij,ij->i", R, R)
        return np.sqrt(D, out=D)

    def blur(self, D: Any, I: Any, J: Any) -> Any:
        return np.divide(self.unit * self._both(I, J), D, out=np.zeros_like(D), where=D > 0)

    def coefficients(self, U: Any, D: Any, I: Any, J: Any, exact: Any, kinks: Any) -> Any:
        near = 1.1 * NEAR * self._both(I, J) >= D * D
        A = np.divide(U, 2 * D, out=np.zeros_like(U), where=D > 0)
        for mine, u, power, out in (
            (near & (D > 0), A, 2, exact),
            (near & (D == 0), U, 1, kinks),
        ):
            i, j = np.nonzero(mine & (U != 0))
            for some in slices(len(i), self.z.shape[1]):
                R = np.abs(self.z[I[i[some]]] - self.z[J[j[some]]])
                out += np.dot(u[i[some], j[some]], R**power)
        A[near] = 0.0
        return A, A.copy()


class PhiS(SquaredEuclidean):
    """``Z``: rows less their means weighted by W."""

    def distances(self, I: Any, J: Any) -> np.ndarray:
        s, both = np.dot(self.y[I], self.y[J].T), self._both(I, J)
        above, below = both - 2 * s, both + 2 * s
        above[above <= LOST * both], below[below <= LOST * both] = 0.0, 0.0
        D = np.where(above > 0, np.inf, 0.0)
        return np.divide(above, below, out=D, where=below > 0)

    def blur(self, D: Any, I: Any, J: Any) -> Any:
        return self.unit * (1 + np.where(np.isfinite(D), D, 0.0)) ** 2

    def coefficients(self, U: Any, D: Any, I: Any, J: Any, exact: Any, kinks: Any) -> Any:
        D, U = np.where(np.isfinite(D), D, 0.0), np.where(np.isfinite(D), U, 0.0)
        twice = 2 * self._both(I, J)
        A = np.divide(U * (1 + D), twice, out=np.zeros_like(U), where=twice > 0)
        return A * (1 - D), A * (1 + D)


METRICS: dict[str, Any] = {
    "manhattan": Manhattan, "sqeuclidean": SquaredEuclidean, "euclidean": Euclidean, "phi_s": PhiS,
}  # fmt: skip
