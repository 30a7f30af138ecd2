"""Mini-batches: every centre is the running mean of the rows assigned to it so far.

    c_i = argmin_k ‖x_i − μ_k‖²                          for the rows i of a batch
    n_k ← n_k + Σ_{c_i = k} s_i
    μ_k ← μ_k + (1/n_k) Σ_{c_i = k} s_i (x_i − μ_k)

(Sculley, Web-scale k-means clustering, 2010: a step of 1/n_k for every row.) The mean is written as
a shift, which is accurate far from the origin. Steps shrink as n_k grows, so a fixed point is
approached but not reached.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ...data.csr import SparseMatrix
from ...data.rows import Rows, RowState
from ..progress import OnStep, Step, ignore
from . import nearest_centers
from .draws import Cumulative, PooledBatches, itself, weighted_rows
from .label_sums import count_weighted, masses, weighted_sum
from .refill import farthest_rows

REASSIGNMENT_ROWS_PER_CENTER = 10  # rows, times k, between two searches for centres to reassign

DrawStart = Callable[[Rows, Any], np.ndarray]  # rows, random state → start (k, p)


@dataclass
class MiniBatchState:
    """The centres, and the weight of the rows each is the mean of; ``step`` updates it in place."""

    centers: np.ndarray  # (k, p) float64
    counts: np.ndarray  # (k,) float64
    steps: int = 0
    rows_since_reassignment: int = 0

    def copy(self) -> "MiniBatchState":
        return replace(self, centers=self.centers.copy(), counts=self.counts.copy())


class FinalAssignment(NamedTuple):
    """Centres as they are stored, and the assignment of all rows to them."""

    centers: np.ndarray  # (k, p) float64, with values rounded to the stored dtype
    labels: RowState  # (n,) int32
    objective: float
    effective: int  # clusters with at least one row of positive weight


def minibatch(
    rows: Rows,
    start: np.ndarray,
    random_state: np.random.RandomState,
    *,
    batch_size: int,
    max_steps: int,
    tol: float = 0.0,
    max_no_improvement: int | None = 10,
    reassignment_ratio: float = 0.01,
    on_step: OnStep = ignore,
) -> MiniBatchState:
    """Run steps on batches drawn with replacement, rows in proportion to their weights.

    Stops when the smoothed objective has not fallen for ``max_no_improvement`` batches, when the
    squared movement of the centres is at most ``tol`` times the mean variance of the columns, or
    after ``max_steps``.
    """
    state = begin(start)
    min_shift = tol * _mean_column_variance(rows) if tol > 0 else 0.0
    smoothed, draw = _Smoothed(batch_size, rows.shape[0], max_no_improvement), _sampler(rows)
    for t in range(1, max_steps + 1):
        before = state.centers.copy() if min_shift > 0 else None
        batch = draw(random_state, batch_size)
        J = step(batch, state, random_state, reassignment_ratio)
        if t == 1:  # this J is that of the start
            continue
        stalled = smoothed.update(J / batch_size)
        if on_step(Step(t, smoothed.mean * rows.S, None, state.copy)):
            break
        if before is not None and np.sum((state.centers - before) ** 2) <= min_shift:
            break
        if stalled:
            break
    return state


def _mean_column_variance(rows: Rows) -> float:
    """Return (1/p) Σ_j (1/S) Σ_i s_i (x_ij − x̄_j)², computed about the first row."""
    x, _, _ = rows.dense().block(0, 1)
    z2, z = rows.reduce(_sparse_squares if rows.sparse else _squares, x[0].astype(float))
    return max(0.0, float(np.mean(z2 / rows.S - (z / rows.S) ** 2)))


def _squares(X: np.ndarray, _: object, s: np.ndarray | None, x: np.ndarray) -> Any:
    Z = X - x
    s = np.ones(len(Z)) if s is None else s
    return np.dot(s, Z * Z), np.dot(s, Z)


def _sparse_squares(X: SparseMatrix, _: object, s: np.ndarray | None, __: np.ndarray) -> Any:
    s = np.ones(X.shape[0]) if s is None else s
    return X.multiply(X).T @ s, X.T @ s


def begin(start: np.ndarray) -> MiniBatchState:
    """Return the state before the first batch: with counts of 0, its rows replace the start."""
    return MiniBatchState(np.array(start, dtype=float), np.zeros(len(start)))


def step(
    batch: Rows,
    state: MiniBatchState,
    random_state: np.random.RandomState,
    reassignment_ratio: float,
) -> float:
    """Move the centres by one batch, and return its Σ s d² before the move."""
    labels, d2 = nearest_centers(batch, state.centers)
    shifts = _sparse_shifts if batch.sparse else _shifts
    moved, weight = batch.reduce(shifts, state.centers, beside=(labels,))
    state.counts += weight
    has_rows = weight > 0
    state.centers[has_rows] += moved[has_rows] / state.counts[has_rows, None]
    state.steps += 1
    state.rows_since_reassignment += batch.shape[0]
    J, k = weighted_sum(batch, d2), len(state.counts)
    due = (
        state.counts == 0
    ).any() or state.rows_since_reassignment >= REASSIGNMENT_ROWS_PER_CENTER * k
    if due and J > 0:  # if every row lies on its centre, no other place is better
        state.rows_since_reassignment = 0
        _reassign(batch, state, random_state, reassignment_ratio)
    return J


def _shifts(
    X: np.ndarray, _: object, s: np.ndarray | None, labels: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ s(x − μ) and Σ s of every cluster."""
    moved = np.zeros(centers.shape)
    order = np.argsort(labels, kind="stable")
    sorted_labels = labels[order]
    first = np.flatnonzero(np.diff(sorted_labels, prepend=-1))
    differences = X[order] - centers[sorted_labels]
    if s is not None:
        differences *= s[order, None]
    moved[sorted_labels[first]] = np.add.reduceat(differences, first, axis=0)
    return moved, np.bincount(labels, weights=s, minlength=len(centers)).astype(float)


def _sparse_shifts(
    X: np.ndarray, _: object, s: np.ndarray | None, labels: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    m, k = len(labels), len(centers)
    belongs = csr_array((np.ones(m) if s is None else s, labels, np.arange(m + 1)), shape=(m, k))
    weight = np.bincount(labels, weights=s, minlength=k).astype(float)
    return (belongs.T @ X).toarray() - weight[:, None] * centers, weight


def _reassign(
    batch: Rows, state: MiniBatchState, random_state: np.random.RandomState, ratio: float
) -> None:
    """Move centres with less than ``ratio`` of the largest weight to random rows of the batch."""
    n_k = state.counts
    is_light = n_k < ratio * n_k.max()
    is_light[n_k.argmax()] = False  # one stays, whatever the ratio
    rows = np.arange(batch.shape[0]) if batch.s is None else np.flatnonzero(batch.s)
    is_light[np.argsort(n_k, kind="stable")[len(rows) // 2 :]] = False
    if is_light.any():
        chosen = rows[random_state.choice(len(rows), size=int(is_light.sum()), replace=False)]
        X, _, _ = batch.take(chosen).block(0, len(chosen))
        state.centers[is_light] = X.toarray() if batch.sparse else X
        n_k[is_light] = n_k[~is_light].min()  # not 0: they would be reassigned again at once


class _Smoothed:
    """Exponentially weighted mean of the batches' objective, and for how long it has not fallen."""

    def __init__(self, batch_size: int, n: int, patience: int | None):
        self.share = min(1.0, 2.0 * batch_size / (n + 1))
        self.patience = patience
        self.mean = self.least = np.inf
        self.stalled = 0

    def update(self, J: float) -> bool:
        """Add one batch, and return whether to stop."""
        first = self.mean == np.inf
        self.mean = J if first else (1 - self.share) * self.mean + self.share * J
        self.stalled = 0 if self.mean < self.least else self.stalled + 1
        self.least = min(self.least, self.mean)
        return self.patience is not None and self.stalled >= self.patience


def _sampler(rows: Rows) -> Callable[[Any, int], Rows]:
    """Return ``draw(random_state, count)``: rows with replacement, in proportion to weight."""
    n = rows.shape[0]
    cumulative = None if rows.s is None else Cumulative(rows, itself, shares=True)
    unweighted = rows.with_targets(None)  # the weight of a row is how often it is drawn

    def numbers_of(u: np.ndarray) -> np.ndarray:
        return (u * n).astype(np.intp) if cumulative is None else cumulative.search(u)

    if rows.streamed:
        return PooledBatches(unweighted, numbers_of).draw
    return lambda random_state, count: take(
        unweighted, numbers_of(random_state.random_sample(count))
    )


def take(rows: Rows, i: np.ndarray) -> Rows:
    """Return rows by their numbers, which may repeat."""
    if rows.sparse:
        rows.X.indptr  # noqa: B018  converts columns to rows: columns cannot repeat a row
    return rows.take(i)


def best_start(
    rows: Rows, draw: DrawStart, tries: int, size: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return the best of ``tries`` starts, each drawn from ``size`` rows and judged on others."""
    n, counted, row_of = rows.shape[0], count_weighted(rows), weighted_rows(rows)

    def random_subset() -> Rows:
        return take(rows, row_of(random_state.randint(0, counted, size)))

    validation_rows = random_subset()
    starts = [draw(rows if size >= n else random_subset(), random_state) for _ in range(tries)]
    if tries == 1:
        return starts[0]
    objectives = [
        weighted_sum(validation_rows, nearest_centers(validation_rows, start)[1])
        for start in starts
    ]
    return starts[int(np.argmin(objectives))]


def assign(
    rows: Rows, state: MiniBatchState, dtype: DTypeLike, refill: bool = False
) -> FinalAssignment:
    """Assign every row to its nearest centre, after rounding the centres to the stored dtype.

    ``refill``: as long as some row does not lie on its centre, an empty cluster takes the row
    farthest from its centre; this changes ``state``.
    """
    while True:
        centers = state.centers.astype(dtype).astype(float)
        labels, d2 = nearest_centers(rows, centers)
        empty = masses(rows, labels, len(centers)) == 0
        far = farthest_rows(rows, labels, d2, 1) if refill and empty.any() else None
        if far is None or not len(far.rows):
            return FinalAssignment(centers, labels, weighted_sum(rows, d2), int(np.sum(~empty)))
        x, _, s = rows.take(far.rows).block(0, 1)
        k = int(empty.argmax())
        state.centers[k] = x.toarray()[0] if rows.sparse else x[0]
        state.counts[k] = 1.0 if s is None else s[0]
