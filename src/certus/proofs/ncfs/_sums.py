r"""Soft neighbours of each row (p, q and votes), then the slope of F, from U_ij = C_ij + C_ji.

Distances are computed for a few rows at a time, and again for the slope; L1 distances in many
columns are stored if there are few rows. For columns without weight it is enough to show that their
slope is not above 0. For L1 and many columns, sums in float32 over the pairs with the largest
weights decide most of them:

    ∂F/∂W_l + (132·2⁻²⁴ Σ|U| + Σ_{omitted} |U| + rounding)·max|Δ_l| ≤ 0

and the few others are summed in float64 over all pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.ncfs._claims import ScaledRows
from certus.proofs.ncfs._pairs import FLOAT64_PANEL, MAX_FLOAT32_TERMS, METRICS, RowPairs
from certus.proofs.types import FunctionTo, PairFunction, Result, RowData

MAX_OMITTED_RATIO = 1e-3  # of the weight omitted from approximate sums to λ, over all pairs
MIN_FLOAT32_COLUMNS = 64  # without weight; fewer are summed in float64 at once
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS, BLOCK_PAIRS = 128, 256, 2**18
MIN_THREADED_COMPARISONS = 2**22  # of numbers, from which rows are divided among threads
# distances are stored if they are this few, and of more columns than this
MAX_STORED_DISTANCES, MAX_RECOMPUTED_COLUMNS = 2**21, 32
FLOAT32_UNIT = 2.0**-24  # relative error of one float32 operation


class ClassGains(NamedTuple):
    """Gains between classes, G_ij = gains[y_i, y_j]."""

    codes: np.ndarray  # (n,): y
    gains: np.ndarray  # (K, K)

    def of(self, pairs: RowPairs) -> np.ndarray:
        at = len(self.gains) * pairs.first(self.codes) + pairs.second(self.codes)
        return np.take(self.gains.ravel(), at)

    def reverse(self, pairs: RowPairs) -> np.ndarray:
        """Gains G_ji of the pairs."""
        return ClassGains(self.codes, self.gains.T).of(pairs)

    @property
    def targets(self) -> np.ndarray:
        """Indicators of the rows' classes, (n, K)."""
        return np.eye(len(self.gains))[self.codes]

    def mean_cost(self, _total: float) -> float:
        """Mean cost of a wrong class."""
        wrong = self.gains[~np.eye(len(self.gains), dtype=bool)]
        return float(np.abs(wrong).mean()) or 1.0


class ValueGains(NamedTuple):
    """Gains between numbers, G_ij = −loss(y_i, y_j)."""

    y: np.ndarray
    loss: str | PairFunction | None
    epsilon: Any

    def of(self, pairs: RowPairs) -> np.ndarray:
        return -self._loss(pairs.first(self.y), pairs.second(self.y))

    def reverse(self, pairs: RowPairs) -> np.ndarray:
        return -self._loss(pairs.second(self.y), pairs.first(self.y))

    def _loss(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        if callable(self.loss):
            return np.asarray(self.loss(u, v), dtype=float)
        d = np.abs(u - v)
        if self.loss == "squared":
            return np.asarray(d * d)
        return np.asarray(d if self.loss == "absolute" else np.maximum(d - self.epsilon, 0.0))

    @property
    def targets(self) -> np.ndarray:
        return np.asarray((self.y - self.y.mean())[:, None])

    def mean_cost(self, total: float) -> float:
        """Mean loss of two rows, from Σ_{i≠j} G_ij."""
        n = len(self.y)
        return -total / (n * (n - 1)) or 1.0


class GainSums(NamedTuple):
    """Sums of the gains over all pairs."""

    span: float  # Σ_i a_i (max_j G_ij − min_j G_ij)
    size: float  # Σ_i a_i max_j |G_ij|
    total: float  # Σ_{i≠j} G_ij


class SoftNeighbors:
    """Soft neighbours of each row: nearest distance, normaliser, expected gain and votes."""

    def __init__(
        self,
        rows_view: ScaledRows,
        W: np.ndarray,
        a: np.ndarray,
        G: ClassGains | ValueGains,
        sigma: float,
        metric: str,
    ):
        self.rows_view, self.W, self.a, self.G, self.sigma = rows_view, W, a, G, sigma
        self.metric, self.table = metric, np.zeros((0, 0))
        used, n = np.flatnonzero(W), len(a)
        self.means = rows_view.means(W) if metric == "phi_s" else None
        self.distance = METRICS[metric](self.columns(used), W[used])
        self.nearest, self.total, self.q = np.zeros((3, n))  # min_j D_ij, Σ_j exp(−(D_ij − min)/σ)
        self.votes = np.zeros((n, G.targets.shape[1]))

    def columns(self, which: np.ndarray, dtype: type | np.dtype = float) -> np.ndarray:
        """Columns z of ``_pairs.py``."""
        return np.asarray(self.rows_view.about(which, self.means, dtype))

    def reduce(
        self, data: RowData, statistic: FunctionTo[Result], columns: int, *beside: np.ndarray
    ) -> Result:
        """Reduce a statistic over blocks of row numbers; ``columns``: compared for each pair."""
        n = len(self.a)
        block_rows = max(MIN_BLOCK_ROWS, min(MAX_BLOCK_ROWS, BLOCK_PAIRS // n))
        if n * n * columns >= MIN_THREADED_COMPARISONS:
            block_rows = min(block_rows, max(MIN_BLOCK_ROWS // 8, -(-n // 4)))
        beside = (np.arange(n), *beside)
        return data.reduce(
            statistic, self, block_rows, beside=beside, times=n, most=block_rows, combine=_add_sums
        )

    def evaluate(self, data: RowData) -> GainSums:
        """Compute the neighbours of all rows."""
        n, used = len(self.a), int(np.count_nonzero(self.W))
        stored = n * (n // 2) <= MAX_STORED_DISTANCES and used > MAX_RECOMPUTED_COLUMNS
        if self.metric == "manhattan" and stored:
            table = np.zeros((n, n // 2))
            self.reduce(data, _distances, used, table)
            self.table = np.ascontiguousarray(table.T)
        beside = (self.nearest, self.total, self.q, self.votes)
        return self.reduce(data, _neighbor_sums, 8 + used, *beside)

    def distances(self, pairs: RowPairs) -> np.ndarray:
        """Distances as a table; among those stored, (i, i + k) is (j, j + n − k) with j = i + k."""
        if not self.table.size:
            return np.asarray(self.distance.distances(pairs))
        (half, n), b = self.table.shape, pairs.b
        D = np.empty((pairs.steps, b))
        D[:half] = self.table[: pairs.steps, pairs.J[:b]]
        for step in range(half + 1, pairs.steps + 1):
            D[step - 1] = self.table[n - step - 1, pairs.J[step : step + b]]
        return D

    def pair_weights(self, pairs: RowPairs, D: np.ndarray) -> np.ndarray:
        """Pair weights U_ij = C_ij + C_ji, as a table."""
        weight = self.a / self.total / self.sigma
        U = np.exp((pairs.first(self.nearest) - D) / self.sigma)
        U *= pairs.first(weight)
        U *= pairs.first(self.q) - self.G.of(pairs)
        V = np.exp((pairs.second(self.nearest) - D) / self.sigma)
        V *= pairs.second(weight)
        V *= pairs.second(self.q) - self.G.reverse(pairs)
        return np.asarray(np.add(U, V, out=U))


def _blocks(rows: np.ndarray, block_rows: int) -> list[tuple[slice, int, int]]:
    """Blocks of consecutive rows: their slice, and their first and last number plus one."""
    parts = [slice(i, min(i + block_rows, len(rows))) for i in range(0, len(rows), block_rows)]
    return [(chunk, int(rows[chunk][0]), int(rows[chunk][-1]) + 1) for chunk in parts]


def _distances(
    _X: np.ndarray,
    _y: np.ndarray,
    _s: np.ndarray,
    rows: np.ndarray,
    table: np.ndarray,
    neighbors: SoftNeighbors,
    block_rows: int,
) -> Any:
    """Write the distance of rows i and i + k + 1 to table[i, k]."""
    n = len(neighbors.a)
    for chunk, start, stop in _blocks(rows, block_rows):
        table[chunk] = neighbors.distance.distances(RowPairs.of(start, stop, n // 2, n)).T
    return (0,)


def _neighbor_sums(
    _X: np.ndarray, _y: np.ndarray, _s: np.ndarray | None, rows: np.ndarray, nearest: np.ndarray,
    total: np.ndarray, q: np.ndarray, votes: np.ndarray, neighbors: SoftNeighbors,
    block_rows: int,
) -> GainSums:  # fmt: skip
    """Write nearest, total, q and votes of these rows, and return their gain sums."""
    n, V, sums = len(neighbors.a), neighbors.G.targets, GainSums(0.0, 0.0, 0.0)
    for chunk, start, stop in _blocks(rows, block_rows):
        pairs = RowPairs.of(start, stop, n - 1, n)
        D = neighbors.distances(pairs)
        nearest_distance = D.min(axis=0)
        isolated = np.isinf(nearest_distance)  # all others are infinitely far, so equally near
        nearest_distance[isolated] = 0.0
        D[:, isolated] = 0.0
        E = np.exp((nearest_distance - D) / neighbors.sigma)
        G, row_total, a = neighbors.G.of(pairs), E.sum(axis=0), neighbors.a[start:stop]
        nearest[chunk], total[chunk] = nearest_distance, row_total
        q[chunk] = np.einsum("ij,ij->j", E, G) / row_total
        votes[chunk] = np.dot(pairs.to_matrix(E), V[pairs.J]) / row_total[:, None]
        high, low = G.max(axis=0), G.min(axis=0)
        span, size = high - low, np.maximum(np.abs(high), np.abs(low))
        part = GainSums(float(np.dot(a, span)), float(np.dot(a, size)), float(G.sum()))
        sums = _add_sums(sums, part)
    return sums


# --- slopes ---------------------------------------------------------------------------------------


def slopes(
    data: RowData, neighbors: SoftNeighbors, lam: float, gain_sums: GainSums, unit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ∂F/∂W, the violations, and whether these come from pairs at distance 0.

    Constant columns are skipped.
    """
    W, n, sigma = neighbors.W, len(neighbors.a), neighbors.sigma
    value, violations, kink = np.full(len(W), -lam), np.zeros(len(W)), np.zeros(len(W), dtype=bool)
    exact = np.flatnonzero(neighbors.rows_view.varies)
    approximate = exact[W[exact] == 0]
    if neighbors.metric == "manhattan" and len(approximate) > MIN_FLOAT32_COLUMNS:
        exact = exact[W[exact] > 0]
    else:
        approximate = approximate[:0]
    while len(exact) or len(approximate):
        neighbors.distance.request(
            neighbors.columns(exact), neighbors.columns(approximate, np.float32),
            MAX_OMITTED_RATIO * unit / n**2,
        )  # fmt: skip
        sums = neighbors.reduce(data, _slope_sums, len(exact) + len(approximate))
        rounding = rounding_of(sums, gain_sums, n, sigma)
        error = rounding * neighbors.distance.largest_slopes()
        exact_slopes, approximate_slopes = neighbors.distance.sums(sums)
        value[exact], value[approximate] = exact_slopes - lam, approximate_slopes - lam
        violations[exact] = np.where(
            W[exact] > 0, np.abs(value[exact]) + error, np.maximum(value[exact] + error, 0.0)
        )
        steep = (W[exact] == 0) & (sums.kinks > violations[exact])
        kink[exact[steep]], violations[exact[steep]] = True, sums.kinks[steep]
        slack = (MAX_FLOAT32_TERMS + 4) * FLOAT32_UNIT * sums.total_weight
        slack = slack + sums.omitted + 2 * rounding
        in_doubt = value[approximate] + slack * neighbors.rows_view.ranges[approximate] > 0
        exact, approximate = approximate[in_doubt], approximate[:0]
    return value, violations, kink


def rounding_of(sums: Any, gain_sums: GainSums, n: int, sigma: float) -> float:
    """Bound the error of slopes over n rows, for columns with ∂D/∂W of at most 1."""
    # rounding of all sums; of p and q through D; of q − G
    rounding = gamma(FLOAT64_PANEL + 2 * n) * sums.size + 8 * sums.distance_error_sum / sigma
    share = gain_sums.size / sigma * sums.size / (sums.total_weight or 1.0)
    return float(rounding + gamma(n + 16) * share)


def exact_slopes(
    data: RowData, neighbors: SoftNeighbors, columns: np.ndarray, gain_sums: GainSums
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Σ C ∂D/∂W of some columns, bounds on their errors, and the sums at distance 0."""
    n = len(neighbors.a)
    none = np.empty((n, 0), dtype=np.float32)
    neighbors.distance.request(neighbors.columns(columns), none, 0.0)
    sums = neighbors.reduce(data, _slope_sums, len(columns))
    error = rounding_of(sums, gain_sums, n, neighbors.sigma) * neighbors.distance.largest_slopes()
    return neighbors.distance.sums(sums)[0], error, sums.kinks


def _slope_sums(
    _X: np.ndarray,
    _y: np.ndarray,
    _s: np.ndarray | None,
    rows: np.ndarray,
    neighbors: SoftNeighbors,
    block_rows: int,
) -> Any:
    """Slope sums over the pairs of these rows with half of the others."""
    n, total = len(neighbors.a), None
    for _, start, stop in _blocks(rows, block_rows):
        pairs = RowPairs.of(start, stop, n // 2, n)
        D = neighbors.distances(pairs)
        U = neighbors.pair_weights(pairs, D)
        if n % 2 == 0:  # opposite rows would be counted twice
            U[-1, 2 * np.arange(start, stop) >= n] = 0.0
        sums = neighbors.distance.slope_sums(U, D, pairs)
        total = sums if total is None else _add_sums(total, sums)
    return total


def _add_sums(one: Any, other: Any) -> Any:
    fields = [a + b for a, b in zip(one, other, strict=True)]
    return tuple(fields) if type(one) is tuple else type(one)(*fields)
