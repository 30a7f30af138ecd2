r"""NCFS on fixed batches of rows, in which each row has its neighbours.

    F(W) = Σ_b Σ_{i in b} a_i q_i − λ Σ_l W_l,          q_i = Σ_{j in b, j ≠ i} p_ij G_ij

Batches are blocks of consecutive rows, so that F and its slope are sums over blocks: one pass over
rows of any source, on threads or where the parts of a table are. A pass takes O(n·m·P) operations
for batches of m rows, and memory for a few m × m arrays a thread, whatever n.
"""

from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from .gains import ClassGains, PairLoss, ValueGains
from .metrics import METRICS, Euclidean
from .problem import NCFSEvaluation, NCFSProblem
from .references import reference_sums

GAIN_ROWS = 64  # of which gains are computed at once, with all of a batch
NO_ROWS = np.empty(0)  # q of every row would grow with n


class ClassTargets(NamedTuple):
    """Targets that are class indices: gains between classes, and the a of a row of weight 1."""

    gains: np.ndarray  # (K, K)
    factors: np.ndarray  # (K,): a_i = factors[y_i]·s_i

    def of(self, y: np.ndarray, s: np.ndarray | None) -> tuple[ClassGains, np.ndarray]:
        codes = y[:, 0].astype(np.intp)
        a = self.factors[codes]
        return ClassGains(codes, self.gains), a if s is None else a * s


class ValueTargets(NamedTuple):
    """Targets that are numbers: their loss, and the a of a row of weight 1."""

    loss: PairLoss
    factor: float  # a_i = factor·s_i

    def of(self, y: np.ndarray, s: np.ndarray | None) -> tuple[ValueGains, np.ndarray]:
        a = np.full(len(y), self.factor)
        return ValueGains(np.ascontiguousarray(y[:, 0]), self.loss), a if s is None else a * s


class BatchTerms(NamedTuple):
    """What a batch is evaluated with: columns x ← (x − shift)/scale, targets, σ and the metric."""

    columns: np.ndarray  # numbers of P columns of X
    shift: np.ndarray  # (P,)
    scale: np.ndarray
    targets: ClassTargets | ValueTargets
    sigma: float
    metric: str

    def problem(self, X: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> NCFSProblem:
        """Problem of the rows of one batch, without penalty."""
        G, a = self.targets.of(y, s)
        return NCFSProblem(self.scaled(X), G, a, self.sigma, 0.0, self.metric, threads=1)

    def scaled(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((X[:, self.columns].astype(float) - self.shift) / self.scale)

    def restricted(self, columns: np.ndarray) -> "BatchTerms":
        return self._replace(
            columns=self.columns[columns], shift=self.shift[columns], scale=self.scale[columns]
        )


class BatchSums(NamedTuple):
    """Sums over batches."""

    gain: float  # Σ a_i q_i
    slope: np.ndarray  # (P,): its derivatives


class BatchedProblem:
    """Problem of NCFS on batches of at most ``batch_size`` rows; solvers use it as NCFSProblem.

    ``a_total``: Σ a_i; ``widest``: the largest range of a scaled column.
    """

    def __init__(
        self, rows: Rows, batch_size: int, terms: BatchTerms, alpha: float, a_total: float,
        widest: float,
    ):  # fmt: skip
        self.rows, self.batch_size, self.terms = rows, batch_size, terms
        self.metric, self.sigma = terms.metric, terms.sigma
        self.scale_free = terms.metric == "phi_s"
        self.alpha = 0.0 if self.scale_free else alpha
        self.a_total, self.widest = a_total, widest

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], len(self.terms.columns)

    def restricted(self, columns: np.ndarray) -> "BatchedProblem":
        """Return the same problem in some columns, with the others at W = 0."""
        part = copy(self)
        part.terms = self.terms.restricted(columns)
        return part

    def slope_scale(self) -> float:
        """Scale of ∂F/∂W: λ, or without λ about the largest possible Σ|C| times ∂D/∂W."""
        if self.alpha > 0:
            return self.alpha
        (span,) = self.rows.reduce(
            _span, self.terms.targets, block_rows=self.batch_size, times=self.batch_size,
            result_bytes=8,
        )  # fmt: skip
        slope_bound = METRICS[self.metric].slope_bound(self.widest, self.shape[1])
        return float(span) / (2 * self.sigma) * slope_bound or 1.0

    def value(self, W: np.ndarray) -> float:
        """Compute F without its slope."""
        return float(self._reduce(_value, W).gain) - self.alpha * float(np.sum(W))

    def value_and_slope(self, W: np.ndarray) -> NCFSEvaluation:
        """Compute F and ∂F/∂W in one pass."""
        sums = self._reduce(_value_and_slope, W)
        F = float(sums.gain) - self.alpha * float(np.sum(W))
        return NCFSEvaluation(F, sums.slope - self.alpha, NO_ROWS)

    def kinks(self, W: np.ndarray) -> np.ndarray | None:
        """Slopes of F in √W_l at W_l = 0, (P,); None where F is smooth."""
        if METRICS[self.metric] is not Euclidean:
            return None
        return np.asarray(self._reduce(_kinks, W).slope)

    def _reduce(self, statistic: Callable[..., BatchSums], W: np.ndarray) -> BatchSums:
        sums: BatchSums = self.rows.reduce(
            statistic, self.terms, np.asarray(W, dtype=float), block_rows=self.batch_size,
            times=self.batch_size, result_bytes=8 * (len(W) + 1),
        )  # fmt: skip
        return sums


def _span(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, targets: ClassTargets | ValueTargets
) -> tuple[float]:
    G, a = targets.of(y, s)
    parts = (np.arange(len(a))[i : i + GAIN_ROWS] for i in range(0, len(a), GAIN_ROWS))
    return (sum(float(np.dot(a[rows], np.ptp(G.of(rows), axis=1))) for rows in parts),)


def _value(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, terms: BatchTerms, W: np.ndarray
) -> BatchSums:
    return BatchSums(terms.problem(X, y, s).value(W), np.zeros(0))


def _value_and_slope(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, terms: BatchTerms, W: np.ndarray
) -> BatchSums:
    value = terms.problem(X, y, s).value_and_slope(W)
    return BatchSums(value.F, value.slope)


def _kinks(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, terms: BatchTerms, W: np.ndarray
) -> BatchSums:
    kinks = terms.problem(X, y, s).kinks(W)
    assert kinks is not None
    return BatchSums(0.0, kinks)


def left_out_votes(X: np.ndarray, terms: BatchTerms, W: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Weighted means (m, k) of V (m, k) over the other rows of one batch, for each of its rows."""
    return reference_sums(terms.scaled(X), W, terms.sigma, terms.metric, None, V, threads=1)
