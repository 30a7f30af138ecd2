"""DIANA: split the widest cluster until every row is alone (Kaufman and Rousseeuw 1990).

    next: the cluster with the largest diameter max d(i, j); of equals, that of the smallest row
    its split: the row with the largest mean distance to the others starts a splinter S; then the
    row with the largest  mean d(i, rest) − mean d(i, S)  follows, as long as that is above 0

Sums of distances to the rest and to S change by one row of D for each row that moves, so a move is
O(|C|). Sums of a part are obtained by subtraction; they are recomputed when a part has half the
rows, or a thousandth of the sums, of the last computation, so that rounding does not accumulate.
The farthest row of each row is stored, and searched again only if it is now in the other part.
"""

import heapq
from typing import NamedTuple

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore

GAIN_ROUNDING = 16 * np.finfo(float).eps  # share of the mean distance that counts as no gain

MIN_SUMS_SHARE = 2.0**-10  # below this share, subtraction has lost three of sixteen digits


class _Part(NamedTuple):
    """A cluster with the sums and maxima of its distances."""

    rows: np.ndarray  # ascending
    sums: np.ndarray  # Σ_j d(i, j) over the part
    farthest_distance: np.ndarray  # max_j d(i, j)
    farthest: np.ndarray  # the row j of that maximum
    measured_at: tuple[int, float]  # number of rows and largest sum when sums were last computed


def divide(D: np.ndarray, on_step: OnStep = ignore) -> np.ndarray:
    """Return the splits as merges (n − 1, 4) in SciPy's layout, from the last to the first.

    D (n, n) is symmetric with zeros on its diagonal. O(n²) time for each level of the tree, O(n³)
    if it is a chain; O(n) memory beside D.
    """
    n = len(D)
    splits: list[tuple[float, np.ndarray, np.ndarray]] = []
    queue: list[tuple[float, int, _Part]] = []  # −diameter, first row
    _push(queue, _measured(D, np.arange(n)))
    while queue:
        height, _, part = heapq.heappop(queue)
        sides = _split(D, part)
        splits.append((-height, sides[0].rows, sides[1].rows))
        for side in sides:
            _push(queue, side)
        if len(splits) % max(1, n // 100) == 0:
            on_step(Step(len(splits), -height, None, constant_parameters(len(splits))))
    return _as_merges(n, splits)


def _push(queue: list[tuple[float, int, _Part]], part: _Part) -> None:
    if len(part.rows) > 1:
        heapq.heappush(queue, (-float(part.farthest_distance.max()), int(part.rows[0]), part))


def _measured(D: np.ndarray, rows: np.ndarray) -> _Part:
    m = len(rows)
    sums, farthest_distance, farthest = np.empty(m), np.empty(m), np.empty(m, dtype=np.intp)
    for k, i in enumerate(rows):
        d = D[i, rows].astype(np.float64)
        sums[k], farthest[k] = d.sum(), rows[d.argmax()]
        farthest_distance[k] = d.max()
    return _Part(rows, sums, farthest_distance, farthest, (m, float(sums.max())))


def _split(D: np.ndarray, part: _Part) -> tuple[_Part, _Part]:
    """Split a cluster into (rest, splinter)."""
    rows, m = part.rows, len(part.rows)
    least = GAIN_ROUNDING * float(part.sums.max()) / max(1, m - 1)
    stays = np.ones(m, dtype=bool)
    to_rest, to_splinter = part.sums.copy(), np.zeros(m)
    k = int(part.sums.argmax())
    for moved in range(1, m):
        stays[k] = False
        d = D[rows[k], rows]
        to_splinter += d
        to_rest -= d
        left = m - moved
        if left == 1:
            break
        gain = np.where(stays, to_rest / (left - 1) - to_splinter / moved, -np.inf)
        k = int(gain.argmax())
        if not gain[k] > least:
            break
    return _part_of(D, part, stays, to_rest), _part_of(D, part, ~stays, to_splinter)


def _part_of(D: np.ndarray, part: _Part, inside: np.ndarray, sums: np.ndarray) -> _Part:
    rows, left = part.rows[inside], sums[inside]
    measured_rows, measured_sum = part.measured_at
    if 2 * len(rows) <= measured_rows or float(left.max()) < MIN_SUMS_SHARE * measured_sum:
        return _measured(D, rows)
    farthest_distance, farthest = part.farthest_distance[inside], part.farthest[inside]
    inside_part = np.zeros(part.rows[-1] + 1, dtype=bool)
    inside_part[rows] = True
    for k in np.flatnonzero(~inside_part[farthest]):
        d = D[rows[k], rows]
        j = int(d.argmax())
        farthest_distance[k], farthest[k] = d[j], rows[j]
    return _Part(rows, left, farthest_distance, farthest, part.measured_at)


def _as_merges(n: int, splits: list[tuple[float, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the splits as merges, last first; heights ascend, as no part is wider than a whole."""
    merges = np.empty((len(splits), 4))
    name = np.arange(n)  # number of the cluster that begins with each row
    for t, (height, a, b) in enumerate(reversed(splits)):
        first, second = sorted((name[a[0]], name[b[0]]))
        merges[t] = first, second, height, len(a) + len(b)
        name[min(a[0], b[0])] = n + t
    return merges
