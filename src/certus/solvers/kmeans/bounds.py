"""Labels of all rows, kept up to date while centres move (``kernels/kmeans/assignment.py``)."""

import threading
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import blas_limiter
from .fit import AssignmentChange, OwnDistances, center_dtype, own_distances
from .groups import groups_of, half_distance_to_nearest
from .walking import walk_block, walk_of

# How a kernel forms the products of rows and centres; as in kernels/kmeans/assignment.py.
LOOP, BLAS, BY_ROWS = range(3)
FLOAT32_UNIT = 2.0**-24  # unit roundoff of float32
SAMPLE_ROWS = 1024  # rows from which origin and scale are estimated
BLOCK_ROWS, BLOCK_BYTES = 8192, 1 << 23  # size of a block, about: it should stay in cache
# With few columns and many centres it suffices to compare a row with the neighbours of its centre.
MAX_WALK_COLUMNS, MIN_WALK_CENTERS = 3, 16
PARTIAL_SCAN_DIVISOR = 8  # if at most t/8 groups may hold a nearer centre, only these are compared
# If more than this share of the rows that the bounds left open must be compared with all centres
# anyway, measuring the distance to their own centre first is skipped for a few steps.
MAX_TIGHTENED_SHARE, TIGHTENING_PAUSE = 0.8, 4
WALK_ROWS_PER_CENTER = 64  # rows of a block for each centre, since rows of one label walk together
# Each block has its own (k, p) sums: there are at most so many blocks, up to a size of each.
MAX_BLOCKS, MAX_BLOCK_BYTES = 32, 1 << 25
MAX_LOOP_COLUMNS = 16  # up to here loops are faster than BLAS; kernels/kmeans/assignment.py
MAX_BY_ROWS_CENTERS = 24  # up to here reading each row once is faster than BLAS


class _CenterArrays(NamedTuple):
    """The centres, and m = (μ − c)·scale as the kernels take them, padded and sorted by group."""

    c: np.ndarray
    scale: float
    C: np.ndarray
    edges: np.ndarray  # group g is lines edges[g] to edges[g + 1]
    place: np.ndarray  # the line of each centre
    F: np.ndarray  # −2m in float32
    square: np.ndarray  # ‖m‖² in float32, infinite for padding
    group: np.ndarray
    order: np.ndarray  # the centre in each line
    e1: float  # float32 products are off by at most e₁‖z‖ + e₂
    e2: float


class Bounds:
    """Assigner of dense rows with exact bounds: O(n·k·p) at first, then only rows left unproven.

    Memory for n·(t + 2) numbers of four bytes, t ≤ max(1, p/8) groups of centres.
    """

    tracks_sums = True

    def __init__(self, rows: Rows, k: int, t: int | None = None):
        (n, p), self.rows, self.k = rows.shape, rows, k
        self.c, self.scale = origin_and_scale(rows)
        self.walks = p <= MAX_WALK_COLUMNS and k >= MIN_WALK_CENTERS and t is None
        self.t = t or (1 if self.walks else number_of_groups(k, p))
        self.labels = rows.allocate(dtype=np.int32)
        self.u = rows.allocate(dtype=np.float32)
        self.L = rows.allocate((self.t,), dtype=np.float32)
        short_rows = p <= MAX_LOOP_COLUMNS and self.t == 1
        self.product_method = LOOP if short_rows else BY_ROWS if k <= MAX_BY_ROWS_CENTERS else BLAS
        self.C: np.ndarray | None = None
        read_once = self.product_method == BY_ROWS
        self.block = block_rows(n, k, 1 if read_once else p, p)
        if self.walks:  # rows of one label walk together
            self.block = max(self.block, min(WALK_ROWS_PER_CENTER * k, -(-n // 4)))
        self.tighten, self.pause = False, 0  # measure u before comparing?; steps until it may

    def move_to(self, C: np.ndarray) -> AssignmentChange:
        """Assign every row to the nearest of the centres C (k, p)."""
        first, before = self.C is None, self.C
        self.C = np.array(C, dtype=float, order="C")
        if self.walks:
            return self._walk(None if before is None else self._drift(before))
        if first:
            largest = max(b - a for a, b in self.rows.edges(self.block))
            self.scratch = ThreadScratch(largest, self.t, self.product_method)
            self.group = groups_of(C, self.t)
            self.order = np.argsort(self.group, kind="stable")
            self.edges = np.searchsorted(self.group[self.order], np.arange(self.t + 1))
            self.place = np.argsort(self.order)
            moves: Any = ()
        else:
            moves = self._moves(self._drift(before))
        centers = self._center_arrays()
        with blas_limiter if self.product_method == BLAS else nullcontext():
            change: AssignmentChange = self.rows.reduce(
                _assign_block, centers, first, moves, self.scratch,
                beside=(self.labels, self.u, self.L), block_rows=self.block, times=self.k,
            )  # fmt: skip
        # where nearly all open rows are compared with all centres anyway, tightening does not pay
        if self.tighten and change.evaluated > MAX_TIGHTENED_SHARE * change.unproven:
            self.pause = TIGHTENING_PAUSE
        self.pause -= 1
        # with few centres, reading a long row costs more than comparing it with all of them
        self.tighten = self.pause < 0 and self.product_method != BY_ROWS
        return change._replace(total=change.total / self.scale**2)

    def _drift(self, before: Any) -> np.ndarray:
        """Upper bound of how far each centre moved, in float32 and scaled units."""
        return rounded_up(np.sqrt((((self.C - before) * self.scale) ** 2).sum(axis=1)))

    def _moves(self, drift: np.ndarray) -> tuple[Any, ...]:
        """Return the kernel's arguments about movement: drift of each centre and of each group,
        half the distance to the nearest other centre, whether to tighten, and up to how many
        groups a partial scan is tried."""
        drifts = np.zeros(self.t, dtype=np.float32)
        np.maximum.at(drifts, self.group, drift)
        half = np.zeros(self.k, dtype=np.float32)
        if self.k**2 <= len(self.u):
            half = half_distance_to_nearest((self.C - self.c) * self.scale)
        return (
            drift,
            drifts,
            half,
            self.tighten,
            self.t // PARTIAL_SCAN_DIVISOR if self.product_method == BLAS else 0,
        )

    def _walk(self, drift: np.ndarray | None) -> AssignmentChange:
        """Assign rows of few columns by walking along the neighbours of their previous centre."""
        assert self.C is not None
        step = walk_of(self.C, self.c, self.scale, drift, self.rows.threads)
        change: AssignmentChange = self.rows.reduce(
            walk_block, step, beside=(self.labels, self.u, self.L), block_rows=self.block, times=8
        )
        return change._replace(total=change.total / self.scale**2)

    def _center_arrays(self) -> "_CenterArrays":
        """Return the centres in the layout of the kernels."""
        assert self.C is not None
        k, p = self.C.shape
        m = (self.C[self.order] - self.c) * self.scale
        # kernels read four lines at a time (five in BY_ROWS); with BLAS from any line on
        together = 5 if self.product_method == BY_ROWS else 4
        lines = -(-(k + 3 if self.product_method == BLAS else k) // together) * together
        F = np.zeros((lines, -(-p // 8) * 8), dtype=np.float32)
        with np.errstate(over="ignore"):
            F[:k, :p] = -2 * m
            square = np.full(len(F), np.inf, dtype=np.float32)
            length = np.einsum("ij,ij->i", m, m)
            square[:k] = length
        group, order = np.full(len(F), self.t - 1), np.zeros(len(F), dtype=np.intp)
        group[:k], order[:k] = self.group[self.order], self.order
        far = float(np.sqrt(length.max()))
        e1, e2 = (
            1.02 * FLOAT32_UNIT * (2 * p + 8) * far,
            1.02 * FLOAT32_UNIT * (p + 4) * far**2 + 1e-37 * p,
        )
        return _CenterArrays(
            self.c, self.scale, self.C, self.edges, self.place, F, square, group, order, e1, e2
        )

    def distances_to_own_center(self, keep: bool = True) -> OwnDistances:
        """Measure every row against the centre of its label."""
        return own_distances(self.rows, self.labels, self.C, self.scale, self.block, keep)

    def invalidate(self, i: int) -> None:
        """Discard the bounds of row i, whose label was changed from outside."""
        for a, b in self.rows.edges(self.block):
            if a <= i < b:
                L = np.array(self.L[a:b]) if self.rows.streamed else self.L[a:b]  # or a view
                L.reshape(self.t, b - a)[:, i - a] = 0.0
                if self.rows.streamed:
                    self.L[a:b] = L
        self.u[i : i + 1] = np.inf


def _assign_block(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    labels: np.ndarray,
    u: np.ndarray,
    L: np.ndarray,
    centers: "_CenterArrays",
    first: bool,
    moves: tuple[Any, ...],
    scratch: "ThreadScratch",
) -> AssignmentChange:
    """Update labels and bounds of one block."""
    from ...kernels.kmeans.assignment import assign
    from ...kernels.kmeans.bounds import prove

    n, (c, scale, C, edges, place, F, square, group, order, e1, e2) = len(u), centers
    work = scratch.arrays(F.shape)
    X, s = np.ascontiguousarray(X), np.empty(0) if s is None else s
    sums, mass = np.zeros(C.shape), np.zeros(len(C))
    state = u, L.reshape(scratch.groups, n), labels  # within a block, bounds are stored by group
    moved, left, unproven = 0, n, n
    if first:
        work.rows[:n] = np.arange(n)
    else:
        center_args = c, scale, C, F, square, group, order, edges, place, e1, e2
        moved, left, unproven = prove(X, s, center_args, moves, state, work, sums, mass)
    settings = c, scale, C, scratch.method, F, square, group, order, e1, e2
    more, total = assign(X, s, settings, first, state, work.rows, left, work, sums, mass)
    return AssignmentChange(sums, mass, moved + more, left, unproven, total)


class ThreadScratch:
    """Work arrays of each thread, made when it first needs them; pickled without them."""

    def __init__(self, rows: int, groups: int, method: int):
        self.rows, self.groups, self.method = rows, groups, method
        self._local = threading.local()

    def arrays(self, shape: tuple[int, ...]) -> Any:
        """Return the arrays of this thread for centres of a shape; it is the same in all calls."""
        from ...kernels.kmeans._scratch import Scratch

        lines, columns = shape
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch(self.rows, lines, columns, self.groups, self.method)
        return self._local.scratch

    def __reduce__(self) -> tuple[Any, ...]:
        return ThreadScratch, (self.rows, self.groups, self.method)


def number_of_groups(k: int, p: int) -> int:
    """Choose the number of groups of centres.

    Bounds take 4 bytes for each group and row, X 8 bytes for each column and row. With few columns
    all centres are compared by a loop, and a single group is cheapest.
    """
    return 1 if p <= MAX_LOOP_COLUMNS else min(k, p // 8, max(8, k // 32))


def origin_and_scale(rows: Rows) -> tuple[np.ndarray, float]:
    """Return (c, scale) such that (x − c)·scale is of size about 1 for most rows.

    c is a value of the dtype of X, scale a power of two.
    """
    X = np.asarray(rows.sample_block(SAMPLE_ROWS)[0], dtype=float)
    c = X.mean(axis=0).astype(center_dtype(rows)).astype(float)
    size, most = (
        float(np.abs(X - c).max(initial=0.0)),
        120 if center_dtype(rows) == np.float32 else 500,
    )
    return c, 2.0 ** -float(np.clip(np.floor(np.log2(size)), -most, most)) if size > 0 else 1.0


def block_rows(n: int, k: int, p: int, columns: int) -> int:
    """Return the number of rows of a block; ``p``: columns that are read twice.

    Each block has its own sums of k clusters, so it holds several times k rows; but what is read
    twice should still be in cache, and no block may be larger than MAX_BLOCK_BYTES on that account.
    """
    fits = max(1024, min(BLOCK_ROWS, BLOCK_BYTES // (8 * p)))
    few = min(-(-n // MAX_BLOCKS), MAX_BLOCK_BYTES // (8 * columns))
    return max(fits if n > 2 * fits else 1024, 4 * k, few)


def rounded_up(x: np.ndarray) -> np.ndarray:
    """Round to float32, never below x."""
    return np.nextafter((x * (1 + 1e-6)).astype(np.float32), np.float32(np.inf))
