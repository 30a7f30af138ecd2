"""Results of one k-means run and of one assignment of all rows, and what all solvers share."""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows, RowState

# Share of J below which the gain of a step counts as none; a certificate accepts up to 1e-6.
MIN_RELATIVE_GAIN = 2.5e-7
# Share of J that moves of single rows must gain together, which a certificate accepts too; and the
# same where ``tol`` is 0, and only rounding may be left.
MIN_MOVES_GAIN, ROUNDING_GAIN = 1e-6, 1e-12


class KMeansFit(NamedTuple):
    """Centres and labels at the end of one run of Lloyd's iteration."""

    centers: np.ndarray  # (k, p) float64, with values rounded to the dtype of X
    labels: Any  # (n,) int32: the nearest centre of each row, as ``Rows.allocate`` gives it
    objective: float  # J = Σ s d²
    n_iter: int
    converged: bool
    refilled: int  # clusters that were found empty and given a row
    effective: int  # clusters with at least one row of positive weight
    rose: float  # largest increase of J in a step, as a share of Σ s‖z‖²; rounding only


def center_dtype(rows: Rows) -> Any:
    """Return the dtype in which centres are stored: float32 if X is, else float64."""
    return np.float32 if rows.X.dtype == np.float32 else np.float64


class AssignmentChange(NamedTuple):
    """How labels and the sums of clusters changed in one assignment of all rows."""

    sums: np.ndarray  # (k, p): Σ s(x − c) over the rows that joined, minus those that left
    mass: np.ndarray  # (k,): Σ s likewise
    moved: int  # rows whose label changed
    evaluated: int  # rows that were compared with all centres
    unproven: int  # rows whose label the bounds alone did not prove
    total: float  # Σ s‖z‖² in the first assignment, else 0


class OwnDistances(NamedTuple):
    """Squared distances d² of rows to the centres of their labels."""

    objective: float  # Σ s d²
    d2: RowState | None  # (n,); None if they were not to be kept
    residual_sums: np.ndarray  # (k, p): Σ s(x − μ), which is 0 at a mean


def own_distances(
    rows: Rows, labels: RowState, C: np.ndarray | None, scale: float, block: int, keep: bool
) -> OwnDistances:
    """Measure dense rows against the centres of their labels, by differences times ``scale``.

    ``keep``: keep d² for every row.
    """
    d2 = rows.allocate() if keep else None
    total, residual_sums = rows.reduce(
        _own_distances, C, scale, beside=(labels,) if d2 is None else (labels, d2), block_rows=block
    )
    return OwnDistances(float(total / scale**2), d2, residual_sums / scale)


def _own_distances(
    X: np.ndarray, _y: object, s: np.ndarray | None, labels: np.ndarray, *given: Any
) -> tuple[float, np.ndarray]:
    """Return Σ s d² and Σ s(x − μ), both scaled, of a block; fill d², if it is given, unscaled."""
    from ...kernels.kmeans import means

    *kept, C, scale = given
    d2 = kept[0] if kept else np.empty(len(labels))
    X, s = np.ascontiguousarray(X), np.empty(0) if s is None else s
    residual_sums = np.zeros(C.shape)
    total = means.own_distances(X, s, C, scale, labels, d2, residual_sums)
    if kept:
        d2 /= scale**2
    return total, residual_sums
