"""Mini-batches: every centre is the running mean of the rows that came to it.

    c_i = argmin_k ‖x_i − μ_k‖²                          of the rows i of a batch
    n_k ← n_k + Σ_{c_i = k} s_i
    μ_k ← μ_k + (1/n_k) Σ_{c_i = k} s_i (x_i − μ_k)

(Sculley, Web-scale k-means clustering, 2010: a step of 1/n_k for every row.) The mean is written as
a shift, which loses nothing far from the origin. The steps shrink as n_k grows, so J is approached
and no fixed point reached.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ...data.csr import SparseMatrix
from ...data.rows import Rows
from ..progress import OnStep, Step, ignore
from . import nearest_centers

LOOK_AFTER = 10  # rows a centre, on average, between two looks for centres to draw anew

Draw = Callable[[Rows, Any], np.ndarray]  # rows, random state → start (k, p)


@dataclass
class Running:
    """Centres, and the weight of the rows that each is the mean of. ``step`` changes both."""

    centers: np.ndarray  # (k, p) float64
    counts: np.ndarray  # (k,) float64
    steps: int = 0
    unlooked: int = 0  # rows since centres with few rows were last looked for

    def copy(self) -> "Running":
        return replace(self, centers=self.centers.copy(), counts=self.counts.copy())


class Assigned(NamedTuple):
    """Centres as they are kept, and what all rows make of them."""

    centers: np.ndarray  # (k, p) float64, values rounded to the dtype that keeps them
    labels: np.ndarray  # (n,) int32
    objective: float
    effective: int  # clusters that own rows


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
) -> Running:
    """Steps on batches that are drawn with replacement, each row as often as its weight says.

    Stops where the smoothed objective has not fallen for ``max_no_improvement`` batches, where the
    centres moved by at most ``tol`` times the mean variance of the columns (a sum of squares), or
    after ``max_steps``.
    """
    running = begin(start)
    least_move = tol * _mean_variance(rows) if tol > 0 else 0.0
    smoothed, draw = _Smoothed(batch_size, rows.shape[0], max_no_improvement), _drawing(rows)
    for t in range(1, max_steps + 1):
        before = running.centers.copy() if least_move > 0 else None
        batch = draw(random_state, batch_size)
        J = step(batch, running, random_state, reassignment_ratio)
        if t == 1:  # that of the start
            continue
        waited = smoothed.hear(J / batch_size)
        if on_step(Step(t, smoothed.mean * rows.S, None, running.copy)):
            break
        if before is not None and np.sum((running.centers - before) ** 2) <= least_move:
            break
        if waited:
            break
    return running


def _mean_variance(rows: Rows) -> float:
    """(1/p) Σ_j (1/S) Σ_i s_i (x_ij − x̄_j)², by differences to a row."""
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


def begin(start: np.ndarray) -> Running:
    """No row has come yet: the first that do replace the start."""
    return Running(np.array(start, dtype=float), np.zeros(len(start)))


def step(
    batch: Rows, running: Running, random_state: np.random.RandomState, reassignment_ratio: float
) -> float:
    """Move the centres by one batch. Returns Σ s d² of the batch before they moved."""
    labels, d2 = nearest_centers(batch, running.centers)
    shifts = _sparse_shifts if batch.sparse else _shifts
    moved, weight = batch.reduce(shifts, running.centers, beside=(labels,))
    running.counts += weight
    came = weight > 0
    running.centers[came] += moved[came] / running.counts[came, None]
    running.steps += 1
    running.unlooked += batch.shape[0]
    J, k = _weighted(batch, d2), len(running.counts)
    due = (running.counts == 0).any() or running.unlooked >= LOOK_AFTER * k
    if due and J > 0:  # where every row lies on its centre, no other place is better
        running.unlooked = 0
        _draw_anew(batch, running, random_state, reassignment_ratio)
    return J


def _weighted(rows: Rows, d2: np.ndarray) -> float:
    return float(d2.sum() if rows.s is None else np.dot(rows.s, d2))


def _shifts(
    X: np.ndarray, _: object, s: np.ndarray | None, labels: np.ndarray, centers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Σ s(x − μ) and Σ s of every cluster."""
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


def _draw_anew(
    batch: Rows, running: Running, random_state: np.random.RandomState, ratio: float
) -> None:
    """Centres with less than ``ratio`` of the largest weight become rows of the batch."""
    n_k = running.counts
    few = n_k < ratio * n_k.max()
    few[n_k.argmax()] = False  # one stays, whatever the ratio
    rows = np.arange(batch.shape[0]) if batch.s is None else np.flatnonzero(batch.s)
    few[np.argsort(n_k, kind="stable")[len(rows) // 2 :]] = False
    if few.any():
        chosen = rows[random_state.choice(len(rows), size=int(few.sum()), replace=False)]
        X, _, _ = batch.take(chosen).block(0, len(chosen))
        running.centers[few] = X.toarray() if batch.sparse else X
        n_k[few] = n_k[~few].min()  # not 0: they would be drawn anew at once


class _Smoothed:
    """An exponentially weighted mean of the batches' objective, and how long it has not fallen."""

    def __init__(self, batch_size: int, n: int, patience: int | None):
        self.share = min(1.0, 2.0 * batch_size / (n + 1))
        self.patience = patience
        self.mean = self.least = np.inf
        self.waited = 0

    def hear(self, J: float) -> bool:
        """One more batch; True: it is time to stop."""
        first = self.mean == np.inf
        self.mean = J if first else (1 - self.share) * self.mean + self.share * J
        self.waited = 0 if self.mean < self.least else self.waited + 1
        self.least = min(self.least, self.mean)
        return self.patience is not None and self.waited >= self.patience


def _drawing(rows: Rows) -> Callable[[Any, int], Rows]:
    """draw(random_state, count): rows with replacement, in proportion to their weights."""
    n = rows.shape[0]
    if rows.s is None:
        return lambda random_state, count: take(
            rows, (random_state.random_sample(count) * n).astype(np.intp)
        )
    up_to = np.cumsum(rows.s)
    up_to /= up_to[-1]
    alone = rows.with_targets(None)  # a row's weight is in how often it is drawn

    def draw(random_state: np.random.RandomState, count: int) -> Rows:
        return take(alone, up_to.searchsorted(random_state.random_sample(count), side="right"))

    return draw


def take(rows: Rows, i: np.ndarray) -> Rows:
    """Rows by their numbers, which may repeat."""
    if rows.sparse:
        rows.X.indptr  # noqa: B018  of columns, rows are made now: those know no repetition
    return rows.take(i)


def best_start(
    rows: Rows, draw: Draw, tries: int, size: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Of ``tries`` starts, each drawn from ``size`` random rows, the best on ``size`` others."""
    n = rows.shape[0]
    counted = np.arange(n) if rows.s is None else np.flatnonzero(rows.s)

    def some() -> Rows:
        return take(rows, counted[random_state.randint(0, len(counted), size)])

    judges = some()
    found = [draw(rows if size >= n else some(), random_state) for _ in range(tries)]
    if tries == 1:
        return found[0]
    objectives = [_weighted(judges, nearest_centers(judges, start)[1]) for start in found]
    return found[int(np.argmin(objectives))]


def assign(rows: Rows, running: Running, dtype: DTypeLike, refill: bool = False) -> Assigned:
    """Every row to its nearest centre, these rounded to the dtype that keeps them.

    ``refill``: a cluster without rows takes the row farthest from its centre, while one lies on no
    centre; this changes ``running``.
    """
    while True:
        centers = running.centers.astype(dtype).astype(float)
        labels, d2 = nearest_centers(rows, centers)
        empty = np.bincount(labels, rows.s, minlength=len(centers)) == 0
        counted = d2 if rows.s is None else d2 * (rows.s > 0)
        far = int(counted.argmax())
        if not (refill and empty.any() and counted[far] > 0):
            return Assigned(centers, labels, _weighted(rows, d2), int(np.sum(~empty)))
        x, _, s = rows.take(np.array([far])).block(0, 1)
        k = int(empty.argmax())
        running.centers[k] = x.toarray()[0] if rows.sparse else x[0]
        running.counts[k] = 1.0 if s is None else s[0]
