"""Name the columns along which counts are proven to have no finite optimum.

x_iᵀu + c = 0 in every row with a count above 0,   ≤ 0 in the others
"""

import numpy as np

from ...data.rows import Rows
from ..facts import Falling, SeparationProof


def what_falls(rows: Rows, proof: SeparationProof) -> Falling:
    """The columns, the threshold and side of a single one, and the rows whose count is 0."""
    u = np.asarray(proof.direction[0], dtype=float).ravel()
    c = float(np.ravel(proof.direction[1])[0])
    columns = tuple(int(j) for j in np.argsort(-np.abs(u), kind="stable") if u[j])
    if len(columns) != 1:
        return Falling(columns, proof.rows)
    (j,) = columns
    threshold, side = -c / u[j] + 0.0, "<" if u[j] > 0 else ">"
    low, high = rows.dense().reduce(_range_of_side, j, threshold, side, combine=_wider)
    level = float(low) if low == high else None
    return Falling(columns, proof.rows, threshold, side, level)


def _range_of_side(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, j: int, threshold: float, side: str
) -> tuple[float, float]:
    """Smallest and largest entry of column j beyond the threshold, over rows of weight."""
    x = X[:, j] if s is None else X[s > 0, j]
    x = x[x > threshold] if side == ">" else x[x < threshold]
    return float(x.min(initial=np.inf)), float(x.max(initial=-np.inf))


def _wider(left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float]:
    return min(left[0], right[0]), max(left[1], right[1])
