"""Hartigan's test: would J fall if one row moved, and the means of both clusters with it?

    J before − J after = s n_b/(n_b + s)·F,        F > 0: it would  (``_assignment.py``)

The test is made at the centres μ. At the means, at most δ away, each distance differs by at most δ:
a move that gains nothing at μ gains at most σ·2δ(2d + 2δ) there. A row that holds nearly all weight
of its cluster is not tested: the weight of the others is below rounding.
"""

from typing import Any

import numpy as np

from certus.proofs.kmeans._assignment import ProvenAssignment, leaving
from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.types import RowData, RowValues

SPARSE_ROUNDING_FACTOR = 1e3  # rounding of sums over entries, relative to that of differences


def single_moves(
    data: RowData, labels: RowValues, proven: ProvenAssignment, gain: float, J: float, tol: float
) -> dict[str, Any]:
    """Return the most that any move of one row can gain, and the best move.

    It is named if it gains more than tol·J, more than a Lloyd step and more than rounding.
    """
    sums, weight, _ = proven
    shift_to_mean = sums.shift / np.where(weight > 0, weight, 1.0)[:, None]
    longest = float(np.sqrt((shift_to_mean * shift_to_mean).sum(axis=1).max()))
    most, ratio, counts, left_out = data.reduce_beside(
        _leaving_weights, labels, data.s, weight, combine=_larger_and_sums
    )
    off = 48 * (data.shape[1] + 8) * UNIT * (SPARSE_ROUNDING_FACTOR if data.sparse else 1)
    off += 0.0 if data.s is None else data.depth * UNIT * ratio
    limit = 4 * longest * (float(np.sqrt(most * sums.split_off.gain)) + most * longest)
    limit += off * sums.split_off.gain
    untested = int(left_out[counts > 1].sum())
    result: dict[str, Any] = {"moves_at_most": (sums.max_gain + limit) / J, "untested": untested}
    if sums.best.gain > max(gain, limit, tol * J):
        row, to = sums.best.row, sums.best.to
        own = int(labels[np.array([row])][0])
        result["move"] = {"gain": sums.best.gain, "row": row, "from": own, "to": to}
    return result


def _leaving_weights(
    labels: np.ndarray, s: np.ndarray | None, weight: np.ndarray
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Return the largest σ and σ/s of a block; and of each cluster, how many rows have weight, and
    how many of these have nearly all of it (σ = 0)."""
    s = np.ones(len(labels)) if s is None else s
    sigma = leaving(s, weight[labels])
    tested, k = sigma > 0, len(weight)
    most, ratio = (float(x.max(initial=0.0)) for x in (sigma, sigma[tested] / s[tested]))
    counts = np.bincount(labels[s > 0], minlength=k)
    return most, ratio, counts, np.bincount(labels[(s > 0) & ~tested], minlength=k)


def _larger_and_sums(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    most, ratio = max(left[0], right[0]), max(left[1], right[1])
    return most, ratio, left[2] + right[2], left[3] + right[3]
