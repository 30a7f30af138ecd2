r"""Rows as constraints on a direction that separates their classes.

    a_ikᵀθ = m_ik = (u_{y_i} − u_k)ᵀx_i + c_{y_i} − c_k,   k ≠ y_i,   of columns scaled to [−1, 1]

The linear programs of ``direction`` take a few rows and add those of the smallest margins m_ik.
Rows in memory are chosen by their numbers; of rows that are read block by block, each pass keeps a
few, which are chosen by their values.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from ...data.csr import Block
from ...data.rows import Rows, as_floats, spread
from .single_column import class_ranges, dense_block

MAX_LOADED_ELEMENTS = 1 << 20  # of X, up to which rows that are read block by block are loaded
SAMPLE_ROWS = 1 << 13  # of which the first constraints of other rows are some


class Margins(NamedTuple):
    """Margins of all rows of positive weight."""

    least: float  # min_ik m_ik
    largest: float  # max_ik m_ik
    worst: np.ndarray  # the rows of the smallest margins below a limit, as constraints are chosen


def scaled_rows(rows: Rows, n_classes: int, fit_intercept: bool) -> "ConstraintRows":
    """Return the rows in scaled columns, loaded if they are few."""
    n, p = rows.shape
    if rows.streamed and n * p <= MAX_LOADED_ELEMENTS:
        rows = rows.take(np.arange(n))
    low, high = class_ranges(rows, n_classes)
    low, high = low.min(axis=0), high.max(axis=0)
    center = np.zeros(len(low))
    if fit_intercept and not rows.sparse:
        center = low / 2 + high / 2
    scale = np.maximum(high - center, center - low)
    scale = np.where(scale > 0, scale, 1.0)
    kind = StreamedConstraintRows if rows.streamed else StoredConstraintRows
    return kind(rows, n_classes, fit_intercept, center, scale)


class ConstraintRows(ABC):
    """Columns (x − centre)/scale in [−1, 1], and a 1 for the intercept; θ is stacked by class.

    Class 0 has θ_0 = 0. Columns are not centred if X is sparse or there is no intercept.
    """

    n_present: int  # rows of positive weight

    def __init__(
        self, rows: Rows, n_classes: int, fit_intercept: bool, center: np.ndarray, scale: np.ndarray
    ):
        self.rows, self.n_classes, self.fit_intercept = rows, n_classes, fit_intercept
        self.center, self.scale = center, scale
        self.width = len(center) + fit_intercept
        self.unknowns = self.width * (n_classes - 1)
        self.n_initial = max(64, 2 * self.unknowns)
        self.n_added = max(64, self.unknowns)  # at most, after each program

    @abstractmethod
    def initial_rows(self) -> np.ndarray:
        """Return a few rows of every class, evenly spread."""

    @abstractmethod
    def margins(self, u: np.ndarray, c: np.ndarray, center: Any, below: float) -> Margins:
        """Return the margins of (u, c) for x − center; the worst are below the limit."""

    @abstractmethod
    def rows_of(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return scaled rows and their classes."""

    @abstractmethod
    def union(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the rows of either."""

    @abstractmethod
    def not_among(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the rows of ``others`` that are not chosen yet."""

    def margins_of(self, theta: np.ndarray, below: float) -> Margins:
        return self.margins(*self.about_center(theta), self.center, below)

    def entries(self, rows: int) -> int:
        """Return the number of matrix entries of the constraints of that many rows."""
        return rows * self.unknowns * (1 if self.n_classes == 2 else 2)

    def scaled(self, X: np.ndarray) -> np.ndarray:
        Z = (X - self.center) / self.scale
        return np.column_stack([Z, np.ones(len(Z))]) if self.fit_intercept else Z

    def constraints(self, chosen: np.ndarray) -> Any:
        """Return a_ik of these rows, k ≠ y_i: z_i in block y_i, −z_i in block k; no block 0."""
        Z, y = self.rows_of(chosen)
        row, k = np.nonzero(y[:, None] != np.arange(self.n_classes))
        entries, at, where = [], [], []
        for block, sign in ((y[row], 1.0), (k, -1.0)):
            nonzero = np.flatnonzero(block)
            entries.append(sign * Z[row[nonzero]])
            at.append(np.broadcast_to(nonzero[:, None], entries[-1].shape))
            where.append((block[nonzero] - 1)[:, None] * self.width + np.arange(self.width))
        flat = [np.concatenate([part.ravel() for part in parts]) for parts in (entries, at, where)]
        return coo_array((flat[0], (flat[1], flat[2])), shape=(len(row), self.unknowns)).tocsr()

    def sum_of_all(self) -> np.ndarray:
        """Return g = Σ_ik a_ik: block k is Σ_i (K·[y_i = k] − 1) z_i."""
        sums, counts = self.rows.reduce(_class_sums, self.center, self.n_classes)
        z = sums / self.scale
        if self.fit_intercept:
            z = np.column_stack([z, counts])
        g: np.ndarray = (self.n_classes * z - z.sum(axis=0))[1:].ravel()
        return g

    def about_center(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (u, c) for x − centre, in the user's units."""
        blocks = theta.reshape(self.n_classes - 1, self.width)
        u = (blocks[:, : len(self.center)] / self.scale).T
        c = blocks[:, -1] if self.fit_intercept else np.zeros(u.shape[1])
        if self.n_classes > 2:
            u, c = np.column_stack([np.zeros(len(u)), u]), np.concatenate([[0.0], c])
        return u, c


class StoredConstraintRows(ConstraintRows):
    """Rows in memory, chosen by their numbers."""

    def __init__(self, rows: Rows, *args: Any):
        super().__init__(rows, *args)
        assert rows.y is not None
        self.y = rows.y[:, 0].astype(np.intp)
        self.counted = np.ones(len(self.y), dtype=bool) if rows.s is None else rows.s > 0
        self.present = np.flatnonzero(self.counted)
        self.n_present = len(self.present)

    def initial_rows(self) -> np.ndarray:
        share = -(-self.n_initial // self.n_classes)
        chosen = []
        for k in range(self.n_classes):
            in_class = np.flatnonzero((self.y == k) & self.counted)
            chosen.append(
                in_class if len(in_class) <= share else in_class[spread(len(in_class), share)]
            )
        return np.sort(np.concatenate(chosen))

    def margins(self, u: np.ndarray, c: np.ndarray, center: Any, below: float) -> Margins:
        m = self.rows.map(block_margins, np.empty((len(self.y), 2)), u, c, center)
        least, largest = m[self.present].T
        at = np.flatnonzero(least < below)
        if len(at) > self.n_added:
            at = at[np.argpartition(least[at], self.n_added)[: self.n_added]]
        return Margins(least.min(), largest.max(), self.present[at])

    def rows_of(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        X = dense_block(as_floats(self.rows.X[chosen]))
        return self.scaled(X), self.y[chosen]

    def union(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.union1d(chosen, others)

    def not_among(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.setdiff1d(others, chosen)


class StreamedConstraintRows(ConstraintRows):
    """Rows that are read block by block; those that are chosen are held, as (y, x)."""

    def __init__(self, rows: Rows, *args: Any):
        super().__init__(rows, *args)
        self.n_present = rows.shape[0]
        if rows.s is not None:
            self.n_present = int(rows.reduce_targets(_count_present)[0])

    def initial_rows(self) -> np.ndarray:
        n = self.rows.shape[0]
        sample = self.rows.take(np.arange(n) if n <= SAMPLE_ROWS else spread(n, SAMPLE_ROWS))
        stored = StoredConstraintRows(
            sample, self.n_classes, self.fit_intercept, self.center, self.scale
        )
        chosen = stored.initial_rows()
        return np.column_stack([stored.y[chosen], sample.X[chosen].astype(float)])

    def margins(self, u: np.ndarray, c: np.ndarray, center: Any, below: float) -> Margins:
        least, largest, _, worst = self.rows.reduce(
            _worst_rows, u, c, center, below, self.n_added, combine=partial(_worst_of, self.n_added)
        )
        return Margins(float(least), float(largest), worst)

    def rows_of(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.scaled(chosen[:, 1:]), chosen[:, 0].astype(np.intp)

    def union(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        return np.unique(np.vstack([chosen, others]), axis=0)

    def not_among(self, chosen: np.ndarray, others: np.ndarray) -> np.ndarray:
        known = {row.tobytes() for row in chosen + 0.0}  # −0.0 is 0.0
        return others[[row.tobytes() not in known for row in others + 0.0]]


# --- passes ---------------------------------------------------------------------------------------


def block_margins(
    X: Block,
    y: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray,
    center: np.ndarray | float,
) -> Any:
    """Return min_k and max_k of m_ik, (n, 2)."""
    if np.any(center):
        X = np.subtract(np.asarray(X), center, dtype=float)
    z = X @ u + c
    if u.shape[1] == 1:
        m = np.where(y == 1, z, -z)
        return np.hstack([m, m])
    k = y[:, :1].astype(np.intp)
    m = np.take_along_axis(z, k, axis=1) - z
    largest = m.max(axis=1)
    np.put_along_axis(m, k, np.inf, axis=1)
    return np.column_stack([m.min(axis=1), largest])


def _worst_rows(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray,
    center: np.ndarray,
    below: float,
    most: int,
) -> tuple[Any, Any, Any, Any]:
    """Return the least and the largest margin, and the smallest ones below a limit with (y, x)."""
    least, largest = block_margins(X, y, s, u, c, center).T
    present = np.ones(len(y), dtype=bool) if s is None else s > 0
    at = np.flatnonzero(present & (least < below))
    at = at[np.argsort(least[at], kind="stable")[:most]]
    return (
        least[present].min(initial=np.inf),
        largest[present].max(initial=-np.inf),
        least[at],
        np.column_stack([y[at, 0], X[at].astype(float)]),
    )


def _worst_of(most: int, left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    """Combine the margins of two parts, of which at most so many rows are kept."""
    m = np.concatenate([left[2], right[2]])
    at = np.argsort(m, kind="stable")[:most]
    rows = np.vstack([left[3], right[3]])[at]
    return min(left[0], right[0]), max(left[1], right[1]), m[at], rows


def _count_present(_y: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s > 0)),)


def _class_sums(
    X: Block, y: np.ndarray, s: np.ndarray | None, center: np.ndarray | float, n_classes: int
) -> tuple[Any, Any]:
    in_class = (y == np.arange(n_classes)).astype(float)
    if s is not None:
        in_class *= (s > 0)[:, None]
    if np.any(center):
        X = np.subtract(np.asarray(X), center, dtype=float)
    return (X.T @ in_class).T, in_class.sum(axis=0)
