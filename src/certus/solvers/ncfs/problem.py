r"""The objective of NCFS and its slope in W = w² ≥ 0, panel by panel of rows.

    p_ij = exp(−D_ij/σ)/Σ_{k≠i} exp(−D_ik/σ),  p_ii = 0          q_i = Σ_j p_ij G_ij
    F(W) = Σ_i a_i q_i − λ Σ_l W_l
    ∂F/∂W_l = Σ_{i≠j} C_ij ∂D_ij/∂W_l − λ,                       C_ij = a_i p_ij (q_i − G_ij)/σ

A panel is some rows beside all others, at most ``TILE`` pairs; where one panel holds all rows, each
pair can be looked at once. Exponentials are those of D less its least value in the row.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .gains import OfClasses, OfValues
from .manhattan import Manhattan
from .metrics import METRICS, Distance, Euclidean

TILE = 2**22  # numbers of a panel,
SLICE = 2**15  # and of what a thread takes of it, about
LEAST_LINES, LINES = 18, 72  # rows of a slice of pairs once; a panel has a multiple of these
EXPONENTIAL = 16  # columns that take as long as the exponential of a pair
FEW = 2**22  # pairs × columns that one thread has done before others wake


class Value(NamedTuple):
    F: float
    slope: np.ndarray  # (P,): ∂F/∂W
    q: np.ndarray  # (n,)


class Problem:
    """Rows X (n, P), gains G, weights a of the rows, σ, λ (``alpha``) and a metric.

    ``value_and_slope`` takes O(n²·P) operations and O(n·P + tile) memory.
    """

    def __init__(
        self,
        X: np.ndarray,
        G: OfClasses | OfValues,
        a: np.ndarray,
        sigma: float,
        alpha: float,
        metric: str = "manhattan",
        threads: int | None = None,
    ):
        self.X, self.G, self.a, self.sigma, self.metric = (
            np.ascontiguousarray(X),
            G,
            a,
            sigma,
            metric,
        )
        self.scale_free = metric == "phi_s"  # W is identified up to a factor
        self.alpha = 0.0 if self.scale_free else alpha
        self.threads = effective_threads() if threads is None else threads
        self.distance: Distance = METRICS[metric](self.X)
        self.shape = X.shape

    def restricted(self, columns: np.ndarray) -> "Problem":
        """The same with some of the columns, others at W = 0."""
        X = np.ascontiguousarray(self.X[:, columns])
        return Problem(X, self.G, self.a, self.sigma, self.alpha, self.metric, self.threads)

    def size_of_slopes(self) -> float:
        """What ∂F/∂W is measured by: λ; where there is none, Σ|C| times ∂D/∂W at most, about."""
        if self.alpha > 0:
            return self.alpha
        n, p = self.shape
        span = 0.0
        for rows in _slices(n, max(1, SLICE // n)):
            G = self.G.of(np.arange(n)[rows])
            span += float(np.dot(self.a[rows], np.ptp(G, axis=1)))
        size = METRICS[self.metric].size(float(np.ptp(self.X, axis=0).max()), p)
        return span / (2 * self.sigma) * size or 1.0

    def value(self, W: np.ndarray) -> float:
        """F alone."""
        return self._evaluate(W, False).F

    def value_and_slope(self, W: np.ndarray) -> Value:
        """F, ∂F/∂W and q."""
        return self._evaluate(W, True)

    def kinks(self, W: np.ndarray) -> np.ndarray | None:
        """(P,): F grows by so much times √W_l from W_l = 0; None where F is smooth."""
        if not isinstance(self.distance, Euclidean):
            return None
        return self._evaluate(W, True, self.distance.kinks(W)).slope + self.alpha

    def _evaluate(self, W: np.ndarray, slope: bool, distance: Distance | None = None) -> Value:
        n, p = self.shape
        distance = self.distance.at(np.asarray(W, dtype=float)) if distance is None else distance
        q, g = np.empty(n), np.zeros(p)
        step = min(n, max(LINES, TILE // n // LINES * LINES))
        once = step == n and distance.pairs_once
        D = np.empty((step, n)) if once or distance.by_columns else None
        with blas_limiter:
            for start in range(0, n, step):
                some = slice(start, min(start + step, n))
                panel = _Panel(self, distance, np.arange(n)[some], D, once, slope)
                q[some] = panel.probabilities()
                if slope:
                    g += panel.passed()
        F = float(np.dot(self.a, q)) - self.alpha * float(np.sum(W))
        return Value(F, g - self.alpha, q)


class _Panel:
    """D of some rows, then e, then C, in one place: in D, of which slopes are taken once it is full
    (of pairs looked at once, or column by column), or in slices that stay in cache."""

    def __init__(
        self, problem: Problem, distance: Distance, rows: np.ndarray, D: np.ndarray | None,
        once: bool, slope: bool,
    ):  # fmt: skip
        self.problem, self.distance, self.rows, self.once = problem, distance, rows, once
        self.a = problem.a[rows]
        m, n = len(rows), problem.shape[0]
        self.D, self.wanted = None if D is None else D[:m], slope
        self.q, self.size = np.empty((2, m))  # size: Σ_j |C_ij|
        few = m * n * (problem.shape[1] + EXPONENTIAL) < FEW
        self.threads = 1 if few else problem.threads
        self.slices = _slices(m, min(max(distance.least_lines, SLICE // n), -(-m // 2)))
        self.short = _slices(m, LEAST_LINES)
        self.parts = np.zeros((len(self.slices), problem.shape[1])) if slope and D is None else None

    def _each(self, task: Callable[[int, slice], None], slices: list[slice]) -> None:
        run_on_threads(lambda i: task(i, slices[i]), len(slices), self.threads)

    def probabilities(self) -> np.ndarray:
        """q; D becomes C, unless the metric wants D for the slope."""
        D, distance = self.D, self.distance
        if self.once and D is not None and isinstance(distance, Manhattan):
            self._each(lambda _, s: distance.fill_once(s.start, s.stop, D), self.short)
        self._each(self._of_slice, self.slices)
        return self.q

    def _of_slice(self, number: int, s: slice) -> None:
        rows, problem = self.rows[s], self.problem
        D = np.empty((len(rows), problem.shape[0])) if self.D is None else self.D[s]
        if not self.once:
            self.distance.fill(rows, D)
        C = D.copy() if self.distance.keeps_D else D
        answer = problem.G.ask(C, rows, self.a[s], problem.sigma, self.wanted)
        self.q[s], self.size[s] = answer
        if self.parts is not None:
            self.parts[number] = self.distance.passed(rows, C, D)

    def passed(self) -> np.ndarray:
        """Σ C ∂D/∂W, in an order that threads do not change."""
        D, distance = self.D, self.distance
        if self.parts is not None:
            return np.asarray(self.parts.sum(axis=0))
        assert D is not None
        assert isinstance(distance, Manhattan)
        if self.once:
            from ...kernels.ncfs.pairs import fold

            self._each(lambda _, s: fold(D, s.start, s.stop), self.short)
        total = float(self.size.sum())
        return distance.passed_all(self.rows, D, total, self.once, self.threads)


def _slices(m: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, m)) for i in range(0, m, size)]
