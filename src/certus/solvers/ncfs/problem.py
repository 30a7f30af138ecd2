r"""Objective of NCFS and its slope in W = w² ≥ 0, computed in panels of rows.

    p_ij = exp(−D_ij/σ)/Σ_{k≠i} exp(−D_ik/σ),  p_ii = 0          q_i = Σ_j p_ij G_ij
    F(W) = Σ_i a_i q_i − λ Σ_l W_l
    ∂F/∂W_l = Σ_{i≠j} C_ij ∂D_ij/∂W_l − λ,                       C_ij = a_i p_ij (q_i − G_ij)/σ

A panel holds the pairs of some rows with all rows, at most ``PANEL_ELEMENTS``; if one panel holds
all rows, each pair can be computed once. Before exponentials are taken, the smallest D of a row is
subtracted.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .gains import ClassGains, ValueGains
from .manhattan import Manhattan
from .metrics import METRICS, Distance, Euclidean

PANEL_ELEMENTS = 2**22  # pairs in a panel, at most
SLICE_ELEMENTS = 2**15  # pairs in one thread's slice of a panel, about
PAIR_SLICE_ROWS = 18  # rows of a slice if each pair is computed once
PANEL_ROW_MULTIPLE = 72  # a panel has a multiple of so many rows
COLUMNS_PER_EXPONENTIAL = 16  # columns of a distance that take as long as one exponential
MIN_THREADED_WORK = 2**22  # pairs × columns; less is done before other threads wake


class NCFSEvaluation(NamedTuple):
    """F and its slope at some W."""

    F: float
    slope: np.ndarray  # (P,): ∂F/∂W
    q: np.ndarray  # (n,)


class NCFSProblem:
    """Problem of NCFS: rows X (n, P), gains G, row weights a, σ, λ (``alpha``) and a metric.

    ``value_and_slope`` takes O(n²·P) operations and memory for O(n·P) numbers and a panel.
    """

    def __init__(
        self,
        X: np.ndarray,
        G: ClassGains | ValueGains,
        a: np.ndarray,
        sigma: float,
        alpha: float,
        metric: str = "manhattan",
        threads: int | None = None,
    ):
        self.X, self.G, self.a = np.ascontiguousarray(X), G, a
        self.sigma, self.metric = sigma, metric
        self.scale_free = metric == "phi_s"  # W is identified up to a factor
        self.alpha = 0.0 if self.scale_free else alpha
        self.threads = effective_threads() if threads is None else threads
        self.distance: Distance = METRICS[metric](self.X)

    @property
    def shape(self) -> tuple[int, int]:
        n, p = self.X.shape
        return n, p

    @property
    def a_total(self) -> float:
        """Σ a."""
        return float(self.a.sum())

    def restricted(self, columns: np.ndarray) -> "NCFSProblem":
        """Return the same problem in some columns, with the others at W = 0."""
        X = np.ascontiguousarray(self.X[:, columns])
        return NCFSProblem(X, self.G, self.a, self.sigma, self.alpha, self.metric, self.threads)

    def slope_scale(self) -> float:
        """Scale of ∂F/∂W: λ, or without λ about the largest possible Σ|C| times ∂D/∂W."""
        if self.alpha > 0:
            return self.alpha
        n, p = self.shape
        span = 0.0
        for rows in _slices(n, max(1, SLICE_ELEMENTS // n)):
            G = self.G.of(np.arange(n)[rows])
            span += float(np.dot(self.a[rows], np.ptp(G, axis=1)))
        slope_bound = METRICS[self.metric].slope_bound(float(np.ptp(self.X, axis=0).max()), p)
        return span / (2 * self.sigma) * slope_bound or 1.0

    def value(self, W: np.ndarray) -> float:
        """Compute F without its slope."""
        return self._evaluate(W, False).F

    def value_and_slope(self, W: np.ndarray) -> NCFSEvaluation:
        """Compute F, ∂F/∂W and q."""
        return self._evaluate(W, True)

    def kinks(self, W: np.ndarray) -> np.ndarray | None:
        """Slopes of F in √W_l at W_l = 0, (P,); None where F is smooth."""
        if not isinstance(self.distance, Euclidean):
            return None
        return self._evaluate(W, True, self.distance.kinks(W)).slope + self.alpha

    def _evaluate(
        self, W: np.ndarray, slope: bool, distance: Distance | None = None
    ) -> NCFSEvaluation:
        n, p = self.shape
        distance = self.distance.at(np.asarray(W, dtype=float)) if distance is None else distance
        q, g = np.empty(n), np.zeros(p)
        multiples = max(1, PANEL_ELEMENTS // n // PANEL_ROW_MULTIPLE)
        step = min(n, multiples * PANEL_ROW_MULTIPLE)
        each_pair_once = step == n and distance.pairs_once
        D = np.empty((step, n)) if each_pair_once or distance.by_columns else None
        with blas_limiter:
            for start in range(0, n, step):
                block = slice(start, min(start + step, n))
                panel = _Panel(self, distance, np.arange(n)[block], D, each_pair_once, slope)
                q[block] = panel.probabilities()
                if slope:
                    g += panel.weight_vjp()
        F = float(np.dot(self.a, q)) - self.alpha * float(np.sum(W))
        return NCFSEvaluation(F, g - self.alpha, q)


class _Panel:
    """Distances of some rows to all, which are overwritten by exponentials and then by C.

    They are held in D if slopes need the whole panel (each pair is computed once, or tasks are
    columns), else in slices that stay in cache.
    """

    def __init__(
        self, problem: NCFSProblem, distance: Distance, rows: np.ndarray, D: np.ndarray | None,
        each_pair_once: bool, slope: bool,
    ):  # fmt: skip
        self.problem, self.distance, self.rows = problem, distance, rows
        self.each_pair_once = each_pair_once
        self.a = problem.a[rows]
        m, n = len(rows), problem.shape[0]
        self.D, self.with_slope = None if D is None else D[:m], slope
        self.q, self.total_weights = np.empty((2, m))  # the second: Σ_j |C_ij|
        is_small = m * n * (problem.shape[1] + COLUMNS_PER_EXPONENTIAL) < MIN_THREADED_WORK
        self.threads = 1 if is_small else problem.threads
        self.slices = _slices(m, min(max(distance.min_slice_rows, SLICE_ELEMENTS // n), -(-m // 2)))
        self.pair_slices = _slices(m, PAIR_SLICE_ROWS)
        self.partial_slopes = None
        if slope and D is None:
            self.partial_slopes = np.zeros((len(self.slices), problem.shape[1]))

    def _run(self, task: Callable[[int, slice], None], slices: list[slice]) -> None:
        run_on_threads(lambda i: task(i, slices[i]), len(slices), self.threads)

    def probabilities(self) -> np.ndarray:
        """Return q; D becomes C, unless the metric needs D for the slope."""
        D, distance = self.D, self.distance
        if self.each_pair_once and D is not None and isinstance(distance, Manhattan):
            self._run(lambda _, s: distance.fill_once(s.start, s.stop, D), self.pair_slices)
        self._run(self._evaluate_slice, self.slices)
        return self.q

    def _evaluate_slice(self, number: int, s: slice) -> None:
        rows, problem = self.rows[s], self.problem
        D = np.empty((len(rows), problem.shape[0])) if self.D is None else self.D[s]
        if not self.each_pair_once:
            self.distance.fill(rows, D)
        C = D.copy() if self.distance.needs_D else D
        gains = problem.G.evaluate(C, rows, self.a[s], problem.sigma, self.with_slope)
        self.q[s], self.total_weights[s] = gains
        if self.partial_slopes is not None:
            self.partial_slopes[number] = self.distance.weight_vjp(rows, C, D)

    def weight_vjp(self) -> np.ndarray:
        """Compute Σ C ∂D/∂W, in an order that does not depend on threads."""
        D, distance = self.D, self.distance
        if self.partial_slopes is not None:
            return np.asarray(self.partial_slopes.sum(axis=0))
        assert D is not None
        assert isinstance(distance, Manhattan)
        if self.each_pair_once:
            from ...kernels.ncfs.pairs import fold

            self._run(lambda _, s: fold(D, s.start, s.stop), self.pair_slices)
        total = float(self.total_weights.sum())
        return distance.weight_vjp_over_tasks(
            self.rows, D, total, self.each_pair_once, self.threads
        )


def _slices(m: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, m)) for i in range(0, m, size)]
