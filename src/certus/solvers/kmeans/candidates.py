"""The state of k-means++: the distance of each row to the nearest centre chosen so far."""

import numpy as np

from ...data.rows import Rows
from .bounds import block_rows, origin_and_scale

PART_ROWS = 1024  # as in kernels/kmeans/start.py
MAX_BLOCKS = 32  # each block costs a call in every step


class Candidates:
    """Squared distances d (n,) to the nearest centre, and the potential of each part of the rows.

    d does not yet include the centre that was chosen last: it is updated in the next pass, so that
    each step reads the rows once. All squared distances are multiplied by scale².
    """

    def __init__(self, rows: Rows, k: int):
        n, p = rows.shape
        self.rows = rows.dense()
        self.scale = origin_and_scale(self.rows)[1]
        self.centers = np.empty((k, p))
        self.d = np.full(n, np.inf, dtype=np.float32)
        self.a = np.zeros(n, dtype=np.int32)
        # every part of PART_ROWS rows lies within one block
        self.block = max(block_rows(n, 1, 1, p), -(-n // MAX_BLOCKS))
        self.edges = list(self.rows.edges(self.block))
        self.parts = [
            (i, min(i + PART_ROWS, b)) for a, b in self.edges for i in range(a, b, PART_ROWS)
        ]  # their rows
        self.sums = np.empty(len(self.parts))
        self.number = 0

    def take_first(self, y: np.ndarray) -> None:
        """Make y the first centre."""
        self.centers[0] = y
        self.sums = self._candidate_potentials(y)[:, 0]
        self.number = 1

    def take_best(self, number: int, Y: np.ndarray) -> int:
        """Make the candidate that leaves the smallest potential a centre; return its index."""
        pots = self._candidate_potentials(Y)
        taken = int(pots.sum(axis=0).argmin())
        self.centers[number], self.sums = Y[taken], pots[:, taken]
        self.number = number + 1
        return taken

    def _candidate_potentials(self, Y: np.ndarray) -> np.ndarray:
        """Return the potentials (parts, trials) that each candidate would leave."""
        last = max(0, self.number - 1)
        Y = np.vstack([self.centers[last], Y])
        chosen = self.centers[: max(1, last)]
        D = ((chosen[:, None] - Y[None]) * self.scale) ** 2
        reach = D.sum(axis=2).min(axis=1) * (1 - 1e-6)
        (pots,) = self.rows.reduce(
            _potentials_of_block, Y, self.scale, reach, last, combine=_stacked,
            beside=(self.d, self.a), block_rows=self.block, times=len(Y),
        )  # fmt: skip
        return np.asarray(pots)

    def draw(self, uniform: np.ndarray) -> np.ndarray:
        """Draw rows with probability s·d/Σ s·d, one for each uniform number of [0, 1)."""
        edges = np.cumsum(self.sums)
        at = uniform * edges[-1]
        rows_drawn = np.empty(len(at), dtype=np.intp)
        for t, value in enumerate(at):
            b = min(int(np.searchsorted(edges, value, side="right")), len(edges) - 1)
            d = np.cumsum(self._row_potentials(*self.parts[b]))
            inside = int(np.searchsorted(d, value - (edges[b] - self.sums[b]), side="left"))
            rows_drawn[t] = self.parts[b][0] + min(inside, len(d) - 1)
        return rows_drawn

    def _row_potentials(self, start: int, stop: int) -> np.ndarray:
        """Return s·d of rows start … stop, including the centre that was chosen last."""
        X, _, s = self.rows.block(start, stop)
        Z = (X - self.centers[self.number - 1]) * self.scale
        d = np.minimum(self.d[start:stop], np.einsum("ij,ij->i", Z, Z))
        return d if s is None else d * s


def _potentials_of_block(
    X: np.ndarray,
    _y: object,
    s: np.ndarray | None,
    d: np.ndarray,
    a: np.ndarray,
    Y: np.ndarray,
    scale: float,
    reach: np.ndarray,
    last: int,
) -> tuple[np.ndarray]:
    """Return the potentials of the parts of a block."""
    from ...kernels.kmeans.start import candidate_potentials

    pots, s = np.empty((-(-len(X) // PART_ROWS), len(Y) - 1)), np.empty(0) if s is None else s
    candidate_potentials(np.ascontiguousarray(X), s, scale, Y, reach, last, d, a, pots)
    return (pots,)


def _stacked(above: tuple[np.ndarray], below: tuple[np.ndarray]) -> tuple[np.ndarray]:
    return (np.concatenate([above[0], below[0]]),)
