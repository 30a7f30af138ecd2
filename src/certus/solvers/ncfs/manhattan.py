r"""Weighted L1 distance, D = Σ_l W_l|x_il − x_jl|, with slope Σ_ij C_ij|x_il − x_jl|.

All pairs are computed by compiled loops: inner loops run over columns if these are many
(``kernels/ncfs/pairs.py``), over pairs if they are few (``kernels/ncfs/few_columns.py``). Columns
without weight are left out of D. Tasks depend on sizes only, so that any number of threads gives
the same bits.
"""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import run_on_threads

# columns up to which inner loops run over pairs: float64 took 5.6 ns a pair instead of 6.4 for D of
# 32 columns and 9.0 instead of 13 for slopes of 64, but 12 instead of 10 for D of 64
MAX_PAIRWISE_COLUMNS, MAX_PAIRWISE_SLOPE_COLUMNS = 32, 64
# up to so many columns, each pair is computed twice if D does not stay in cache
MAX_REPEATED_COLUMNS, MAX_CACHED_PAIRS = 16, 2**20
# tasks of 128 columns took twice as long as those of 1,024, which still stay in cache
TASK_COLUMNS, TASK_ROW_PARTS = 1024, 8
MAX_COPIED_SHARE = 0.75  # of columns with weight, up to which D is computed from a copy of these
NEGLIGIBLE_WEIGHT_RATIO = 1e-13  # of Σ|C|, divided among all pairs: smaller |C_ij| are skipped


class Manhattan:
    """Weighted L1 distances of the rows X, at some W."""

    needs_D, min_slice_rows = False, 32  # 4 rows were slower by a quarter

    def __init__(self, X: np.ndarray):
        self.X = X
        self.transposed = (
            np.ascontiguousarray(X.T) if X.shape[1] <= MAX_PAIRWISE_SLOPE_COLUMNS else None
        )

    @property
    def by_columns(self) -> bool:
        """Whether slopes are computed from whole panels with columns as tasks, else from slices."""
        return self.transposed is None

    @property
    def pairs_once(self) -> bool:
        n, p = self.X.shape
        return p > MAX_REPEATED_COLUMNS or n * n <= MAX_CACHED_PAIRS

    @staticmethod
    def slope_bound(R: float, p: int) -> float:
        """Upper bound on ∂D/∂W for p columns of range R."""
        return R

    def at(self, W: np.ndarray) -> "Manhattan":
        new, used = object.__new__(Manhattan), np.flatnonzero(W)
        if len(used) > MAX_COPIED_SHARE * len(W):
            used = np.arange(len(W))
        new.X, new.transposed, new.used = self.X, self.transposed, used
        w = W[used].astype(self.X.dtype)
        if len(used) <= MAX_PAIRWISE_COLUMNS:
            new.loops = _PairLoops(np.ascontiguousarray(self.X[:, used].T), w)
        else:
            is_full = len(used) == len(W)
            new.loops = _ColumnLoops(
                self.X if is_full else np.ascontiguousarray(self.X[:, used]), w
            )
        return new

    used: np.ndarray  # the columns that enter D
    loops: "_ColumnLoops | _PairLoops"  # these columns with their weights

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self.loops.fill(rows, D)

    def fill_once(self, start: int, stop: int, D: np.ndarray) -> None:
        """Fill both triangles of D for the pairs of rows start … stop with later rows."""
        self.loops.fill_once(start, stop, D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        self.loops.between(new[:, self.used], D)

    def weight_vjp(self, rows: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Compute Σ_ij C_ij|x_i − x_j| of a slice."""
        from ...kernels.ncfs.few_columns import slope

        g = np.zeros(self.X.shape[1])
        slope(self.transposed, rows, C, False, g)
        return g

    def weight_vjp_over_tasks(
        self, rows: np.ndarray, C: np.ndarray, total: float, above: bool, threads: int
    ) -> np.ndarray:
        """Compute Σ_ij C_ij|x_i − x_j|, with ``above`` over pairs j > i; ``total`` = Σ|C|."""
        from ...kernels.ncfs import few_columns, pairs

        p, X, transposed = self.X.shape[1], self.X, self.transposed
        min_weight = NEGLIGIBLE_WEIGHT_RATIO * total / C.size
        length = -(-len(rows) // (4 * TASK_ROW_PARTS)) * 4  # kernels take four rows at a time
        parts = [slice(a, a + length) for a in range(0, len(rows), length)]
        g = np.zeros((len(parts), p))
        tasks = [(i, first) for i in range(len(parts)) for first in range(0, p, TASK_COLUMNS)]

        def task(t: int) -> None:
            i, first = tasks[t]
            part, last = parts[i], min(first + TASK_COLUMNS, p)
            if transposed is None:
                pairs.slope(X, rows[part], C[part], min_weight, first, last, above, g[i])
            else:
                few_columns.slope(transposed, rows[part], C[part], above, g[i])

        run_on_threads(task, len(tasks), threads)
        return np.asarray(g.sum(axis=0))


class _ColumnLoops(NamedTuple):
    """Columns with weight, for kernels whose inner loops run over columns."""

    Z: np.ndarray  # (n, k)
    W: np.ndarray

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self.between(self.Z[rows], D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        from ...kernels.ncfs.pairs import distances

        distances(np.ascontiguousarray(new), self.Z, self.W, D)

    def fill_once(self, start: int, stop: int, D: np.ndarray) -> None:
        from ...kernels.ncfs.pairs import distances_once

        distances_once(self.Z, self.W, start, stop, D)


class _PairLoops(NamedTuple):
    """Transposed columns with weight, for kernels whose inner loops run over pairs."""

    T: np.ndarray  # (k, n)
    W: np.ndarray

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self.between(self.T.T[rows], D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        from ...kernels.ncfs.few_columns import distances

        distances(np.ascontiguousarray(new.T), self.T, self.W, D)

    def fill_once(self, start: int, stop: int, D: np.ndarray) -> None:
        from ...kernels.ncfs.few_columns import distances_once

        distances_once(self.T, self.W, start, stop, D)
