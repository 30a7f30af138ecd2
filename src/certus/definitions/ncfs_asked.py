r"""Each row asks all others: p, q and what they say; then the slope of F, from U_ij = C_ij + C_ji.

Distances are computed panel by panel of rows, and again for the slope; those of L1 in many columns
are kept, if there are few rows. Columns without weight need only be shown to have no slope above 0.
Of L1 and many columns, sums in float32 over the pairs that matter settle most of them:

    ∂F/∂W_l + (132·2⁻²⁴ Σ|U| + Σ_{left out} |U| + rounding)·max|Δ_l| ≤ 0

and the few others are summed in float64 over all pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.linear_sums import gamma
from certus.definitions.ncfs_pairs import METRICS, PANEL, TERMS, after, once, partners, slices

LEFT = 1e-3  # of λ, shared by all pairs: what rough sums may leave out
FEW_COLUMNS = 64  # without weight: fewer are summed in float64 at once
BLOCK, PAIRS = 256, 2**19  # rows at most that share their partners, and pairs
TABLE, CHEAP = 2**22, 32  # distances that are kept at most, if of more columns than this
SINGLE = 2.0**-24  # relative error of one float32 operation


class OfClasses(NamedTuple):
    """G_ij = gains[y_i, y_j]."""

    codes: Any  # (n,): y
    gains: Any  # (K, K)

    def of(self, I: Any, J: Any) -> np.ndarray:
        return np.take(self.gains[self.codes[I]], self.codes[J], axis=1)

    def back(self, I: Any, J: Any) -> np.ndarray:
        """G_ji."""
        return np.take(self.gains.T[self.codes[I]], self.codes[J], axis=1)

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

    y: Any
    loss: Any
    epsilon: Any

    def of(self, I: Any, J: Any) -> np.ndarray:
        return -self._loss(self.y[I][:, None], self.y[J][None, :])

    def back(self, I: Any, J: Any) -> np.ndarray:
        return -self._loss(self.y[J][None, :], self.y[I][:, None])

    def _loss(self, u: Any, v: Any) -> np.ndarray:
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

    def __init__(self, view: Any, W: Any, a: Any, G: Any, sigma: float, metric: str):
        self.view, self.W, self.a, self.G, self.sigma = view, W, a, G, sigma
        self.metric = metric
        self.table: Any = None
        used, n = np.flatnonzero(W), len(a)
        self.means = view.means(W) if metric == "phi_s" else None
        self.distance = METRICS[metric](self.columns(used), W[used])
        self.nearest, self.total, self.q = np.zeros((3, n))  # min_j D_ij, Σ_j exp(−(D_ij − min)/σ)
        self.said = np.zeros((n, G.answers.shape[1]))

    def columns(self, which: np.ndarray, dtype: Any = float) -> np.ndarray:
        """z of ``ncfs_pairs.py``."""
        return np.asarray(self.view.about(which, self.means, dtype))

    def distances(self, I: np.ndarray, J: np.ndarray) -> np.ndarray:
        if self.table is None:
            return np.asarray(self.distance.distances(I, J))
        return np.asarray(self.table[I[:, None], J])

    def neighbours(self, data: Any) -> OfGains:
        n = len(self.a)
        if self.metric == "manhattan" and n * n <= TABLE and np.count_nonzero(self.W) > CHEAP:
            table = np.zeros((n, n))
            data.reduce(_table, self, table, beside=(np.arange(n),), times=n, most=BLOCK)
            self.table = table
        beside = (np.arange(len(self.a)), self.nearest, self.total, self.q, self.said)
        times = 1 + np.count_nonzero(self.W)
        found: OfGains = data.reduce(_neighbours, self, beside=beside, times=times, most=BLOCK)
        return found

    def pulls(self, I: np.ndarray, J: np.ndarray, D: np.ndarray) -> np.ndarray:
        """U_ij = C_ij + C_ji."""
        U = np.exp((self.nearest[I][:, None] - D) / self.sigma)
        U *= (self.a / self.total / self.sigma)[I][:, None]
        U *= self.q[I][:, None] - self.G.of(I, J)
        V = np.exp((self.nearest[J] - D) / self.sigma)
        V *= (self.a / self.total / self.sigma)[J]
        V *= self.q[J] - self.G.back(I, J)
        return np.asarray(np.add(U, V, out=U))


def _table(_X: Any, _y: Any, _s: Any, rows: Any, asked: Asked, table: Any) -> tuple[int]:
    """Fill D of these rows and those after them."""
    n = len(table)
    for some in slices(len(rows), partners(n)):
        J = after(int(rows[some][0]), int(rows[some][-1]) + 1, n)
        I = J[: some.stop - some.start]
        D = asked.distance.distances(I, J)
        table[I[:, None], J] = D
        table[J[:, None], I] = D.T
    return (0,)


def _neighbours(
    _X: Any, _y: Any, _s: Any, rows: Any, nearest: Any, total: Any, q: Any, said: Any, asked: Asked
) -> OfGains:
    """Fill nearest, total, q and said of some rows."""
    n, V = len(asked.a), asked.G.answers
    every, found = np.arange(n), OfGains(0.0, 0.0, 0.0)
    for some in slices(len(rows), n):
        I = rows[some]
        own = np.arange(len(I)), I
        D = asked.distances(I, every)
        D[own] = np.inf
        least = D.min(axis=1)
        alone = np.isinf(least)  # all others are infinitely far, and equally near
        least[alone] = 0.0
        D[alone] = 0.0
        E = np.exp((least[:, None] - D) / asked.sigma)
        E[own] = 0.0
        G = asked.G.of(I, every)
        of_row = E.sum(axis=1)
        nearest[some], total[some] = least, of_row
        q[some] = np.einsum("ij,ij->i", E, G) / of_row
        said[some] = np.dot(E, V) / of_row[:, None]
        G[own] = G[own[0], (I + 1) % n]
        high, low, a = G.max(axis=1), G.min(axis=1), asked.a[I]
        G[own] = 0.0
        found = OfGains(
            found.span + float(np.dot(a, high - low)),
            found.size + float(np.dot(a, np.maximum(np.abs(high), np.abs(low)))),
            found.total + float(G.sum()),
        )
    return found


# --- slopes ---------------------------------------------------------------------------------------


def slopes(
    data: Any, asked: Asked, lam: float, of_gains: OfGains, unit: float
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
        lines = max(16, min(BLOCK, PAIRS // n))
        found = data.reduce(
            _passed, asked, lines, beside=(np.arange(n),), times=n, most=lines, combine=_added
        )
        # what rounding does: to all sums; by way of D to p and q; to q − G
        lost = gamma(PANEL + 2 * n) * found.size + 8 * found.wear / sigma
        lost += gamma(n + 16) * of_gains.size / sigma * found.size / (found.pull or 1.0)
        value[exact], error = found.exact - lam, lost * asked.distance.tops()
        violated[exact] = np.where(
            W[exact] > 0, np.abs(value[exact]) + error, np.maximum(value[exact] + error, 0.0)
        )
        steep = (W[exact] == 0) & (found.kinks > violated[exact])
        kink[exact[steep]], violated[exact[steep]] = True, found.kinks[steep]
        value[rough] = found.rough - lam
        loose = (TERMS + 4) * SINGLE * found.pull + found.left + 2 * lost
        in_doubt = value[rough] + loose * asked.view.reach[rough] > 0
        exact, rough = rough[in_doubt], rough[:0]
    return value, violated, kink


def _passed(_X: Any, _y: Any, _s: Any, rows: Any, asked: Asked, lines: int) -> Any:
    """Sums over the pairs of these rows with those after them."""
    n, total = len(asked.a), None
    h = partners(n)
    for start in range(int(rows[0]), int(rows[-1]) + 1, lines):
        stop = min(start + lines, int(rows[-1]) + 1)
        J = after(start, stop, n)
        U, D = np.zeros((stop - start, len(J))), np.full((stop - start, len(J)), np.inf)
        for some in slices(stop - start, h + 1):
            I, others = J[some], slice(some.start, some.stop + h)
            d = asked.distances(I, J[others])
            d[~once(start + some.start, start + some.stop, n)] = np.inf
            U[some, others], D[some, others] = asked.pulls(I, J[others], d), d
        found = asked.distance.passed(U, D, J)
        total = found if total is None else _added(total, found)
    return total


def _added(one: Any, other: Any) -> Any:
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))
