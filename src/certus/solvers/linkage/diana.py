"""DIANA: the widest cluster is split, until every row is alone (Kaufman and Rousseeuw 1990).

    next: the cluster with the largest diameter max d(i, j); of equals, that of the smallest row
    its split: the row with the largest mean distance to the others starts a splinter S; then the
    row with the largest  mean d(i, rest) − mean d(i, S)  follows, as long as that is above 0

Sums of distances to the rest and to S change by one row of D for each row that moves, so a move is
O(|C|). Sums of a part are those of the whole minus what went; they are taken anew when a part has
half the rows, or a thousandth of the sums, of where they were last taken, so that rounding of what
went does not outweigh what stayed. The farthest row of each is kept, and looked for again only
where it went to the other side.
"""

import heapq
from typing import NamedTuple

import numpy as np

from ..progress import OnStep, Step, constant_parameters, ignore

ROUNDING = 16 * np.finfo(float).eps  # of the mean distance: a gain below is none

FADED = 2.0**-10  # of the sums: three of sixteen digits are lost by then


class _Part(NamedTuple):
    rows: np.ndarray  # ascending
    sums: np.ndarray  # Σ_j d(i, j) over the part
    far: np.ndarray  # max_j d(i, j)
    at: np.ndarray  # and the row j
    taken: tuple[int, float]  # rows and largest sum when sums were last taken from distances


def divide(D: np.ndarray, on_step: OnStep = ignore) -> np.ndarray:
    """The splits as merges, from the last to the first: SciPy's layout (n − 1, 4).

    D (n, n) is symmetric with zeros on its diagonal. O(n²) numbers are looked at for each level of
    the tree, O(n³) where it is a chain; O(n) memory beside D.
    """
    n = len(D)
    splits: list[tuple[float, np.ndarray, np.ndarray]] = []
    waiting: list[tuple[float, int, _Part]] = []  # −diameter, first row
    _wait(waiting, _measured(D, np.arange(n)))
    while waiting:
        height, _, part = heapq.heappop(waiting)
        sides = _split(D, part)
        splits.append((-height, sides[0].rows, sides[1].rows))
        for side in sides:
            _wait(waiting, side)
        if len(splits) % max(1, n // 100) == 0:
            on_step(Step(len(splits), -height, None, constant_parameters(len(splits))))
    return _as_merges(n, splits)


def _wait(waiting: list[tuple[float, int, _Part]], part: _Part) -> None:
    if len(part.rows) > 1:
        heapq.heappush(waiting, (-float(part.far.max()), int(part.rows[0]), part))


def _measured(D: np.ndarray, rows: np.ndarray) -> _Part:
    m = len(rows)
    sums, far, at = np.empty(m), np.empty(m), np.empty(m, dtype=np.intp)
    for k, i in enumerate(rows):
        d = D[i, rows].astype(np.float64)
        sums[k], at[k] = d.sum(), rows[d.argmax()]
        far[k] = d.max()
    return _Part(rows, sums, far, at, (m, float(sums.max())))


def _split(D: np.ndarray, part: _Part) -> tuple[_Part, _Part]:
    """(rest, splinter)."""
    rows, m = part.rows, len(part.rows)
    least = ROUNDING * float(part.sums.max()) / max(1, m - 1)
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
    many, large = part.taken
    if 2 * len(rows) <= many or float(left.max()) < FADED * large:
        return _measured(D, rows)
    far, at = part.far[inside], part.at[inside]
    here = np.zeros(part.rows[-1] + 1, dtype=bool)
    here[rows] = True
    for k in np.flatnonzero(~here[at]):
        d = D[rows[k], rows]
        j = int(d.argmax())
        far[k], at[k] = d[j], rows[j]
    return _Part(rows, left, far, at, part.taken)


def _as_merges(n: int, splits: list[tuple[float, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Undone in turn, splits are merges: heights ascend, since no part is wider than the whole."""
    merges = np.empty((len(splits), 4))
    name = np.arange(n)  # of the cluster that each first row stands for
    for t, (height, a, b) in enumerate(reversed(splits)):
        first, second = sorted((name[a[0]], name[b[0]]))
        merges[t] = first, second, height, len(a) + len(b)
        name[min(a[0], b[0])] = n + t
    return merges
