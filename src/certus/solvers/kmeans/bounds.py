"""Labels of all rows, kept up to date while centres move (``kernels/kmeans/assignment.py``)."""

import threading
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import blas_limiter, run_on_threads
from ..neighbors.lists import even_slices
from .fit import stored
from .groups import cells_of, groups_of, half_way

LOOP, BLAS, BY_ROWS = range(3)  # kernels/kmeans/assignment.py
UNIT = 2.0**-24
SAMPLE = 1024  # rows that say where the data lie
BLOCK, BLOCK_BYTES = 8192, 1 << 23  # rows of a task, about
WALK_COLUMNS, WALK_CENTRES = 3, 16  # few of the former, many of the latter: neighbours suffice
NEIGHBOURS, PART = 12, 32  # of a centre, kept, times columns; centres of a task
SOME = 8  # a part of the groups, one in so many: their centres are compared without the others
TIGHTEN, REST = 0.8, 4  # of the rows: if more are compared in the end, they are at once for a while
TOGETHER = 64  # rows of a block and centre, where they walk
MANY_BLOCKS = 32  # at most: each has sums of its own
FEW_COLUMNS, FEW_CENTRES = (
    16,
    24,
)  # up to which loops are faster than BLAS; kernels/kmeans/assignment.py


class Change(NamedTuple):
    """What one look at the rows found: Σ s(x − c) and Σ s of those that came, less those that went,
    a centre each; how many moved, were compared with all centres, were not proven by bounds
    alone; at first Σ s‖z‖²."""

    sums: np.ndarray
    mass: np.ndarray
    moved: int
    evaluated: int
    unproven: int
    total: float


class Own(NamedTuple):
    """Of rows and the centres they are nearest to."""

    objective: float  # Σ s d²
    d2: np.ndarray  # (n,)
    rest: np.ndarray  # (k, p): Σ s(x − μ), which is 0 at a mean


class _Centres(NamedTuple):
    F: np.ndarray
    square: np.ndarray
    group: np.ndarray
    order: np.ndarray
    e1: float
    e2: float


class Bounds:
    """Labels of dense rows by exact bounds: O(n·k·p) at first, then what the bounds do not prove.

    Memory for n·(t + 2) numbers of four bytes, t ≤ max(1, p/8) groups of centres.
    """

    keeps_sums = True

    def __init__(self, rows: Rows, k: int, t: int | None = None):
        (n, p), self.rows, self.k = rows.shape, rows, k
        self.c, self.scale = about(rows)
        self.walks = p <= WALK_COLUMNS and k >= WALK_CENTRES and t is None
        self.t = t or (1 if self.walks else number_of_groups(k, p))
        self.labels = np.zeros(n, dtype=np.int32)
        self.u = np.empty(n, dtype=np.float32)
        self.L = np.empty((n, self.t), dtype=np.float32)
        few = p <= FEW_COLUMNS and self.t == 1
        self.how = LOOP if few else BY_ROWS if k <= FEW_CENTRES else BLAS
        self.C: np.ndarray | None = None
        self.block = block_rows(n, k, 1 if self.how == BY_ROWS else p)  # each row is read once
        if self.walks:  # rows of one label walk together
            self.block = max(self.block, min(TOGETHER * k, -(-n // 4)))
        self.largest = max(b - a for a, b in rows.edges(self.block))
        self.tighten, self.rest = False, 0  # steps without it
        self._local = threading.local()

    def move_to(self, C: np.ndarray) -> Change:
        """Every row to its nearest of the centres C (k, p)."""
        first, before = self.C is None, self.C
        self.C = np.array(C, dtype=float, order="C")
        if self.walks:
            return self._walk(None if before is None else self._drift(before))
        if first:
            self.group = groups_of(C, self.t)
            self.order = np.argsort(self.group, kind="stable")
            self.edges = np.searchsorted(self.group[self.order], np.arange(self.t + 1))
            self.place = np.argsort(self.order)
            moves: Any = ()
        else:
            moves = self._moves(self._drift(before))
        centres = self._centres()
        with blas_limiter if self.how == BLAS else nullcontext():
            change: Change = self.rows.reduce(
                self._block, centres, first, moves,
                beside=(self.labels, self.u, self.L), block_rows=self.block, times=self.k,
            )  # fmt: skip
        # where nearly all rows are compared in the end, their own centre need not come first
        if self.tighten and change.evaluated > TIGHTEN * change.unproven:
            self.rest = REST
        self.rest -= 1
        # few centres: to read a long row costs more than to compare it with all of them
        self.tighten = self.rest < 0 and self.how != BY_ROWS
        return change._replace(total=change.total / self.scale**2)

    def _drift(self, before: Any) -> np.ndarray:
        return rounded_up(np.sqrt((((self.C - before) * self.scale) ** 2).sum(axis=1)))

    def _moves(self, drift: np.ndarray) -> tuple[Any, ...]:
        """How far each centre and each group went, half of the way to the next centre, and what to
        try before a row is compared with all."""
        drifts = np.zeros(self.t, dtype=np.float32)
        np.maximum.at(drifts, self.group, drift)
        half = np.zeros(self.k, dtype=np.float32)
        if self.k**2 <= len(self.u):
            half = half_way((self.C - self.c) * self.scale)
        return drift, drifts, half, self.tighten, self.t // SOME if self.how == BLAS else 0

    def _walk(self, drift: np.ndarray | None) -> Change:
        """Few columns: among the neighbours of the centre that a row was nearest to, or, at first
        (no ``drift``), of the one nearest to the middle of its cell."""
        from ...kernels.kmeans.walk import cells, neighbours, walk

        assert self.C is not None
        k, C, first = self.k, self.C, drift is None
        cuts, middle = cells_of(C) if first else (None, None)
        drift = np.zeros(k, dtype=np.float32) if drift is None else drift
        m = min(k - 1, NEIGHBOURS * len(self.c))
        near, gap = np.zeros((k, m), dtype=np.int32), np.empty((k, m))
        parts = even_slices(k, PART)
        run_on_threads(
            lambda i: neighbours(C, self.scale, parts[i].start, parts[i].stop, near, gap),
            len(parts), self.rows.threads,
        )  # fmt: skip
        drifts = drift, drift[near].max(axis=1)

        def block(
            X: np.ndarray,
            _y: np.ndarray,
            s: np.ndarray | None,
            labels: np.ndarray,
            u: np.ndarray,
            L: np.ndarray,
        ) -> Change:
            sums, mass = np.zeros((k, len(self.c))), np.zeros(k)
            X, l = np.ascontiguousarray(X), L[:, 0]
            if first:
                cells(X, cuts, middle, labels)
                u[:], l[:] = np.inf, 0
            found = walk(
                X, np.empty(0) if s is None else s, self.c, self.scale, C, near, gap, drifts, first,
                (u, l, labels), sums, mass,
            )  # fmt: skip
            return Change(sums, mass, *found)

        change: Change = self.rows.reduce(
            block, beside=(self.labels, self.u, self.L), block_rows=self.block, times=8
        )
        return change._replace(total=change.total / self.scale**2)

    def _centres(self) -> "_Centres":
        """What kernels want of them: −2m and ‖m‖² in float32, filled up, group after group."""
        assert self.C is not None
        k, p = self.C.shape
        m = (self.C[self.order] - self.c) * self.scale
        # a multiple of four, by rows of five; with BLAS four are read at a time, from anywhere
        together = 5 if self.how == BY_ROWS else 4
        lines = -(-(k + 3 if self.how == BLAS else k) // together) * together
        F = np.zeros((lines, -(-p // 8) * 8), dtype=np.float32)
        with np.errstate(over="ignore"):
            F[:k, :p] = -2 * m
            square = np.full(len(F), np.inf, dtype=np.float32)
            length = np.einsum("ij,ij->i", m, m)
            square[:k] = length
        group, order = np.full(len(F), self.t - 1), np.zeros(len(F), dtype=np.intp)
        group[:k], order[:k] = self.group[self.order], self.order
        far = float(np.sqrt(length.max()))
        e1, e2 = 1.02 * UNIT * (2 * p + 8) * far, 1.02 * UNIT * (p + 4) * far**2 + 1e-37 * p
        return _Centres(F, square, group, order, e1, e2)

    def _block(
        self,
        X: np.ndarray,
        _y: np.ndarray,
        s: np.ndarray | None,
        labels: np.ndarray,
        u: np.ndarray,
        L: np.ndarray,
        centres: "_Centres",
        first: bool,
        moves: np.ndarray,
    ) -> Change:
        from ...kernels.kmeans._scratch import Scratch
        from ...kernels.kmeans.assignment import assign
        from ...kernels.kmeans.bounds import prove

        n, (F, square, group, order, e1, e2) = len(u), centres
        if not hasattr(self._local, "scratch"):
            k, p = F.shape
            self._local.scratch = Scratch(self.largest, k, p, self.t, self.how)
        scratch = self._local.scratch
        X, s = np.ascontiguousarray(X), np.empty(0) if s is None else s
        sums, mass = np.zeros((self.k, len(self.c))), np.zeros(self.k)
        state = u, L.reshape(self.t, n), labels  # a block's bounds, group by group
        at = self.c, self.scale, self.C
        moved, left, unproven = 0, n, n
        if first:
            scratch.rows[:n] = np.arange(n)
        else:
            those = *at, F, square, group, order, self.edges, self.place, e1, e2
            moved, left, unproven = prove(X, s, those, moves, state, scratch, sums, mass)
        with_how = *at, self.how, F, square, group, order, e1, e2
        more, total = assign(X, s, with_how, first, state, scratch.rows, left, scratch, sums, mass)
        return Change(sums, mass, moved + more, left, unproven, total)

    def own(self) -> Own:
        """Distances of rows to their own centres."""
        from ...kernels.kmeans.means import own_distances

        C = self.C
        assert C is not None
        d2 = np.empty(len(self.u))

        def block(
            X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, d2: np.ndarray
        ) -> tuple[float, np.ndarray]:
            X, s, rest = np.ascontiguousarray(X), np.empty(0) if s is None else s, np.zeros(C.shape)
            return own_distances(X, s, C, self.scale, labels, d2, rest), rest

        total, rest = self.rows.reduce(block, beside=(self.labels, d2), block_rows=self.block)
        d2 /= self.scale**2
        return Own(float(total / self.scale**2), d2, rest / self.scale)

    def forget(self, i: int) -> None:
        """Row i was given another label: nothing is known of its distances."""
        for a, b in self.rows.edges(self.block):
            if a <= i < b:
                self.L[a:b].reshape(self.t, b - a)[:, i - a] = 0.0
        self.u[i] = np.inf


def number_of_groups(k: int, p: int) -> int:
    """Bounds cost 4 bytes a group and row, X 8 bytes a column and row; where loops compare, one
    for all others costs the least."""
    return 1 if p <= FEW_COLUMNS else min(k, p // 8, max(8, k // 32))


def about(rows: Rows) -> tuple[np.ndarray, float]:
    """c, as X is stored, and a power of two: (x − c)·scale of most rows is near 0, and about 1 in
    size."""
    X = np.asarray(rows.sample_block(SAMPLE)[0], dtype=float)
    c = X.mean(axis=0).astype(stored(rows)).astype(float)
    size, most = float(np.abs(X - c).max(initial=0.0)), 120 if stored(rows) == np.float32 else 500
    return c, 2.0 ** -float(np.clip(np.floor(np.log2(size)), -most, most)) if size > 0 else 1.0


def block_rows(n: int, k: int, p: int) -> int:
    """Each block has sums of its own, k of them: blocks are a few times as long. What is looked at
    twice should still be in the cache."""
    fits = max(1024, min(BLOCK, BLOCK_BYTES // (8 * p)))
    return max(fits if n > 2 * fits else 1024, 4 * k, -(-n // MANY_BLOCKS))


def rounded_up(x: np.ndarray) -> np.ndarray:
    return np.nextafter((x * (1 + 1e-6)).astype(np.float32), np.float32(np.inf))
