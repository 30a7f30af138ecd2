r"""The L1 distance, D = Σ_l W_l|x_il − x_jl|, whose slope is Σ_ij C_ij|x_il − x_jl|.

Each number of X is compared with each, by compiled loops: over columns where these are many
(``kernels/ncfs/pairs.py``), over pairs where they are few (``kernels/ncfs/few_columns.py``).
Columns without weight are left out of D. Tasks depend on the sizes alone, so that any number of
threads gives the same bits.
"""

from typing import NamedTuple

import numpy as np

from ...runtime.pool import run_on_threads

# columns, up to which pairs are looped over: float64 took 5.6 ns a pair instead of 6.4 for D of 32
# columns and 9.0 instead of 13 for slopes of 64, but 12 instead of 10 for D of 64
FEW, FEW_OF_SLOPE = 32, 64
FEWEST, IN_CACHE = (
    16,
    2**20,
)  # columns, up to which pairs are looked at twice if not all of D is near
# columns and rows of a task: 128 columns took twice as long as 1,024, which still stay in cache
MOST_COLUMNS, PARTS = 1024, 8
WORTH_A_COPY = 0.75  # share of columns with weight, up to which D is of a copy of these
SKIPPED = 1e-13  # of Σ|C|, shared by all pairs: less is passed over


class Manhattan:
    keeps_D, least_lines = False, 32  # 4 were slower by a quarter

    def __init__(self, X: np.ndarray):
        self.X = X
        self.lines = np.ascontiguousarray(X.T) if X.shape[1] <= FEW_OF_SLOPE else None

    @property
    def by_columns(self) -> bool:
        """Slopes are taken of panels, whose tasks are columns; else of slices."""
        return self.lines is None

    @property
    def pairs_once(self) -> bool:
        n, p = self.X.shape
        return p > FEWEST or n * n <= IN_CACHE

    @staticmethod
    def size(R: float, p: int) -> float:
        """Of ∂D/∂W, where columns are R wide."""
        return R

    def at(self, W: np.ndarray) -> "Manhattan":
        new, used = object.__new__(Manhattan), np.flatnonzero(W)
        if len(used) > WORTH_A_COPY * len(W):
            used = np.arange(len(W))
        new.X, new.lines, new.used = self.X, self.lines, used
        w = W[used].astype(self.X.dtype)
        if len(used) <= FEW:
            new.side = _Lines(np.ascontiguousarray(self.X[:, used].T), w)
        else:
            whole = len(used) == len(W)
            new.side = _Rows(self.X if whole else np.ascontiguousarray(self.X[:, used]), w)
        return new

    used: np.ndarray  # the columns that D is of
    side: "_Rows | _Lines"  # and these, with their weights

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self.side.fill(rows, D)

    def fill_once(self, start: int, stop: int, D: np.ndarray) -> None:
        """Of rows start … stop and later ones, both ways."""
        self.side.fill_once(start, stop, D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        self.side.between(new[:, self.used], D)

    def passed(self, rows: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Σ_ij C_ij|x_i − x_j| of a slice."""
        from ...kernels.ncfs.few_columns import slope

        g = np.zeros(self.X.shape[1])
        slope(self.lines, rows, C, False, g)
        return g

    def passed_all(
        self, rows: np.ndarray, C: np.ndarray, total: float, above: bool, threads: int
    ) -> np.ndarray:
        """Σ_ij C_ij|x_i − x_j|; above: of the pairs j > i. ``total``: Σ|C|."""
        from ...kernels.ncfs import few_columns, pairs

        p, X, lines = self.X.shape[1], self.X, self.lines
        least = SKIPPED * total / C.size
        length = -(-len(rows) // (4 * PARTS)) * 4  # rows are taken four at a time
        parts = [slice(a, a + length) for a in range(0, len(rows), length)]
        g = np.zeros((len(parts), p))
        tasks = [(i, first) for i in range(len(parts)) for first in range(0, p, MOST_COLUMNS)]

        def task(t: int) -> None:
            i, first = tasks[t]
            some, last = parts[i], min(first + MOST_COLUMNS, p)
            if lines is None:
                pairs.slope(X, rows[some], C[some], least, first, last, above, g[i])
            else:
                few_columns.slope(lines, rows[some], C[some], above, g[i])

        run_on_threads(task, len(tasks), threads)
        return np.asarray(g.sum(axis=0))


class _Rows(NamedTuple):
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


class _Lines(NamedTuple):
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
