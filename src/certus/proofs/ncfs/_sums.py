r"""Each row asks all others: p, q and what they say; then the slope of F, from U_ij = C_ij + C_ji.

Distances are computed for a few rows at a time, and again for the slope; those of L1 in many
columns are kept, if there are few rows. Columns without weight need only be shown to have no slope
above 0. Of L1 and many columns, sums in float32 over the pairs that matter settle most of them:

    ∂F/∂W_l + (132·2⁻²⁴ Σ|U| + Σ_{left out} |U| + rounding)·max|Δ_l| ≤ 0

and the few others are summed in float64 over all pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import gamma
from certus.proofs.ncfs._claims import Scaled
from certus.proofs.ncfs._pairs import METRICS, PANEL, TERMS, Pairs
from certus.proofs.types import FunctionTo, PairFunction, Result, RowData

LEFT = 1e-3  # of λ, shared by all pairs: what rough sums may leave out
FEW_COLUMNS = 64  # without weight: fewer are summed in float64 at once
LEAST_LINES, LINES, PAIRS = 128, 256, 2**18  # rows at a time, and pairs
SHARED = 2**22  # numbers compared, from which threads share the rows
TABLE, CHEAP = 2**21, 32  # distances that are kept at most, if of more columns than this
SINGLE = 2.0**-24  # relative error of one float32 operation


class OfClasses(NamedTuple):
    """G_ij = gains[y_i, y_j]."""

    codes: np.ndarray  # (n,): y
    gains: np.ndarray  # (K, K)

    def of(self, pairs: Pairs) -> np.ndarray:
        at = len(self.gains) * pairs.own(self.codes) + pairs.other(self.codes)
        return np.take(self.gains.ravel(), at)

    def back(self, pairs: Pairs) -> np.ndarray:
        """G_ji."""
        return OfClasses(self.codes, self.gains.T).of(pairs)

    @property
    def answers(self) -> np.ndarray:
        """(n, K): what a row says."""
        return np.eye(len(self.gains))[self.codes]

    def mean_cost(self, _total: float) -> float:
        """Of a wrong class."""
        wrong = self.gains[~np.eye(len(self.gains), dtype=bool)]
        return float(np.abs(wrong).mean()) or 1.0


class OfValues(NamedTuple):
    """G_ij = −loss(y_i, y_j)."""

    y: np.ndarray
    loss: str | PairFunction | None
    epsilon: Any

    def of(self, pairs: Pairs) -> np.ndarray:
        return -self._loss(pairs.own(self.y), pairs.other(self.y))

    def back(self, pairs: Pairs) -> np.ndarray:
        return -self._loss(pairs.other(self.y), pairs.own(self.y))

    def _loss(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        if callable(self.loss):
            return np.asarray(self.loss(u, v), dtype=float)
        d = np.abs(u - v)
        if self.loss == "squared":
            return np.asarray(d * d)
        return np.asarray(d if self.loss == "absolute" else np.maximum(d - self.epsilon, 0.0))

    @property
    def answers(self) -> np.ndarray:
        return np.asarray((self.y - self.y.mean())[:, None])

    def mean_cost(self, total: float) -> float:
        """Of two rows, from Σ_{i≠j} G_ij."""
        n = len(self.y)
        return -total / (n * (n - 1)) or 1.0


class OfGains(NamedTuple):
    span: float  # Σ_i a_i (max_j G_ij − min_j G_ij)
    size: float  # Σ_i a_i max_j |G_ij|
    total: float  # Σ_{i≠j} G_ij


class Asked:
    """Each row asks all others; what they say is kept, a number or a few for each."""

    def __init__(
        self,
        view: Scaled,
        W: np.ndarray,
        a: np.ndarray,
        G: OfClasses | OfValues,
        sigma: float,
        metric: str,
    ):
        self.view, self.W, self.a, self.G, self.sigma = view, W, a, G, sigma
        self.metric, self.table = metric, np.zeros((0, 0))
        used, n = np.flatnonzero(W), len(a)
        self.means = view.means(W) if metric == "phi_s" else None
        self.distance = METRICS[metric](self.columns(used), W[used])
        self.nearest, self.total, self.q = np.zeros((3, n))  # min_j D_ij, Σ_j exp(−(D_ij − min)/σ)
        self.said = np.zeros((n, G.answers.shape[1]))

    def columns(self, which: np.ndarray, dtype: type | np.dtype = float) -> np.ndarray:
        """z of ``_pairs.py``."""
        return np.asarray(self.view.about(which, self.means, dtype))

    def reduce(
        self, data: RowData, statistic: FunctionTo[Result], columns: int, *beside: np.ndarray
    ) -> Result:
        """Over blocks of rows, known by their numbers; ``columns``: of each pair."""
        n = len(self.a)
        lines = max(LEAST_LINES, min(LINES, PAIRS // n))
        if n * n * columns >= SHARED:
            lines = min(lines, max(LEAST_LINES // 8, -(-n // 4)))
        beside = (np.arange(n), *beside)
        return data.reduce(
            statistic, self, lines, beside=beside, times=n, most=lines, combine=_added
        )

    def neighbours(self, data: RowData) -> OfGains:
        n, used = len(self.a), int(np.count_nonzero(self.W))
        if self.metric == "manhattan" and n * (n // 2) <= TABLE and used > CHEAP:
            table = np.zeros((n, n // 2))
            self.reduce(data, _distances, used, table)
            self.table = np.ascontiguousarray(table.T)
        beside = (self.nearest, self.total, self.q, self.said)
        return self.reduce(data, _neighbours, 8 + used, *beside)

    def distances(self, pairs: Pairs) -> np.ndarray:
        """A table of pairs. Of those that are kept, (i, i + k) is (j, j + n − k) with j = i + k."""
        if not self.table.size:
            return np.asarray(self.distance.distances(pairs))
        (half, n), b = self.table.shape, pairs.b
        D = np.empty((pairs.steps, b))
        D[:half] = self.table[: pairs.steps, pairs.J[:b]]
        for step in range(half + 1, pairs.steps + 1):
            D[step - 1] = self.table[n - step - 1, pairs.J[step : step + b]]
        return D

    def pulls(self, pairs: Pairs, D: np.ndarray) -> np.ndarray:
        """U_ij = C_ij + C_ji."""
        weight = self.a / self.total / self.sigma
        U = np.exp((pairs.own(self.nearest) - D) / self.sigma)
        U *= pairs.own(weight)
        U *= pairs.own(self.q) - self.G.of(pairs)
        V = np.exp((pairs.other(self.nearest) - D) / self.sigma)
        V *= pairs.other(weight)
        V *= pairs.other(self.q) - self.G.back(pairs)
        return np.asarray(np.add(U, V, out=U))


def _blocks(rows: np.ndarray, lines: int) -> list[tuple[slice, int, int]]:
    """Of consecutive rows: which of them, and their numbers from … to."""
    parts = [slice(i, min(i + lines, len(rows))) for i in range(0, len(rows), lines)]
    return [(some, int(rows[some][0]), int(rows[some][-1]) + 1) for some in parts]


def _distances(
    _X: np.ndarray,
    _y: np.ndarray,
    _s: np.ndarray,
    rows: np.ndarray,
    table: np.ndarray,
    asked: Asked,
    lines: int,
) -> Any:
    """Fill (i, k): the distance of i and i + k + 1."""
    n = len(asked.a)
    for some, start, stop in _blocks(rows, lines):
        table[some] = asked.distance.distances(Pairs.of(start, stop, n // 2, n)).T
    return (0,)


def _neighbours(
    _X: np.ndarray, _y: np.ndarray, _s: np.ndarray | None, rows: np.ndarray, nearest: np.ndarray,
    total: np.ndarray, q: np.ndarray, said: np.ndarray, asked: Asked, lines: int,
) -> OfGains:  # fmt: skip
    """Fill nearest, total, q and said of some rows."""
    n, V, found = len(asked.a), asked.G.answers, OfGains(0.0, 0.0, 0.0)
    for some, start, stop in _blocks(rows, lines):
        pairs = Pairs.of(start, stop, n - 1, n)
        D = asked.distances(pairs)
        least = D.min(axis=0)
        alone = np.isinf(least)  # all others are infinitely far, and equally near
        least[alone] = 0.0
        D[:, alone] = 0.0
        E = np.exp((least - D) / asked.sigma)
        G, of_row, a = asked.G.of(pairs), E.sum(axis=0), asked.a[start:stop]
        nearest[some], total[some] = least, of_row
        q[some] = np.einsum("ij,ij->j", E, G) / of_row
        said[some] = np.dot(pairs.spread(E), V[pairs.J]) / of_row[:, None]
        high, low = G.max(axis=0), G.min(axis=0)
        span, size = high - low, np.maximum(np.abs(high), np.abs(low))
        part = OfGains(float(np.dot(a, span)), float(np.dot(a, size)), float(G.sum()))
        found = _added(found, part)
    return found


# --- slopes ---------------------------------------------------------------------------------------


def slopes(
    data: RowData, asked: Asked, lam: float, of_gains: OfGains, unit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂F/∂W, the violation, and is that one of pairs at distance 0? Columns that never change are
    not asked for."""
    W, n, sigma = asked.W, len(asked.a), asked.sigma
    value, violated, kink = np.full(len(W), -lam), np.zeros(len(W)), np.zeros(len(W), dtype=bool)
    exact = np.flatnonzero(asked.view.varies)
    rough = exact[W[exact] == 0]
    if asked.metric == "manhattan" and len(rough) > FEW_COLUMNS:
        exact = exact[W[exact] > 0]
    else:
        rough = rough[:0]
    while len(exact) or len(rough):
        asked.distance.asked_for(
            asked.columns(exact), asked.columns(rough, np.float32), LEFT * unit / n**2
        )
        found = asked.reduce(data, _passed, len(exact) + len(rough))
        # what rounding does: to all sums; by way of D to p and q; to q − G
        lost = gamma(PANEL + 2 * n) * found.size + 8 * found.wear / sigma
        lost += gamma(n + 16) * of_gains.size / sigma * found.size / (found.pull or 1.0)
        error, (of_exact, of_rough) = lost * asked.distance.tops(), asked.distance.sums(found)
        value[exact], value[rough] = of_exact - lam, of_rough - lam
        violated[exact] = np.where(
            W[exact] > 0, np.abs(value[exact]) + error, np.maximum(value[exact] + error, 0.0)
        )
        steep = (W[exact] == 0) & (found.kinks > violated[exact])
        kink[exact[steep]], violated[exact[steep]] = True, found.kinks[steep]
        loose = (TERMS + 4) * SINGLE * found.pull + found.left + 2 * lost
        in_doubt = value[rough] + loose * asked.view.reach[rough] > 0
        exact, rough = rough[in_doubt], rough[:0]
    return value, violated, kink


def _passed(
    _X: np.ndarray,
    _y: np.ndarray,
    _s: np.ndarray | None,
    rows: np.ndarray,
    asked: Asked,
    lines: int,
) -> Any:
    """Sums over the pairs of these rows with half of the others."""
    n, total = len(asked.a), None
    for _, start, stop in _blocks(rows, lines):
        pairs = Pairs.of(start, stop, n // 2, n)
        D = asked.distances(pairs)
        U = asked.pulls(pairs, D)
        if n % 2 == 0:  # rows that stand opposite each other meet twice
            U[-1, 2 * np.arange(start, stop) >= n] = 0.0
        found = asked.distance.passed(U, D, pairs)
        total = found if total is None else _added(total, found)
    return total


def _added(one: Any, other: Any) -> Any:
    fields = [a + b for a, b in zip(one, other, strict=True)]
    return tuple(fields) if type(one) is tuple else type(one)(*fields)
