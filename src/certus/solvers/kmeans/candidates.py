"""The state of k-means++: least distances so far, and those to the candidates of one step."""

import numpy as np

from ...data.rows import Rows
from .bounds import about, block_rows

PART = 1024  # kernels/kmeans/start.py
BLOCKS = 32  # at most: each costs a call a step


class Candidates:
    """d (n,): the least squared distance to a centre, without the one that was chosen last: rows
    learn of it when they are read the next time. All distances are times scale²."""

    def __init__(self, rows: Rows, k: int):
        n, p = rows.shape
        self.rows = rows.dense()
        self.scale = about(self.rows)[1]
        self.centers = np.empty((k, p))
        self.d = np.full(n, np.inf, dtype=np.float32)
        self.a = np.zeros(n, dtype=np.int32)
        # parts of a thousand rows, which no block cuts
        self.block = max(block_rows(n, 1, 1), -(-n // BLOCKS))
        self.edges = list(self.rows.edges(self.block))
        self.at = np.repeat(
            np.arange(len(self.edges), dtype=np.int32), [b - a for a, b in self.edges]
        )  # the block of each row
        self.parts = [
            (i, min(i + PART, b)) for a, b in self.edges for i in range(a, b, PART)
        ]  # their rows
        self.first = np.cumsum([0] + [-(-(b - a) // PART) for a, b in self.edges])
        self.sums = np.empty(len(self.parts))
        self.number = 0

    def take_first(self, y: np.ndarray) -> None:
        self.centers[0] = y
        self.sums = self._look(y)[:, 0]
        self.number = 1

    def take_best(self, number: int, Y: np.ndarray) -> int:
        """The candidate that leaves the least potential becomes a centre; which it is."""
        pots = self._look(Y)
        taken = int(pots.sum(axis=0).argmin())
        self.centers[number], self.sums = Y[taken], pots[:, taken]
        self.number = number + 1
        return taken

    def _look(self, Y: np.ndarray) -> np.ndarray:
        """Potentials (parts, trials)."""
        from ...kernels.kmeans.start import look

        last = max(0, self.number - 1)
        Y = np.vstack([self.centers[last], Y])
        known = self.centers[: max(1, last)]
        D = ((known[:, None] - Y[None]) * self.scale) ** 2
        reach = D.sum(axis=2).min(axis=1) * (1 - 1e-6)
        pots = np.empty((len(self.parts), len(Y) - 1))

        def block(
            X: np.ndarray,
            _y: np.ndarray,
            s: np.ndarray | None,
            at: np.ndarray,
            d: np.ndarray,
            a: np.ndarray,
        ) -> tuple[int]:
            part = slice(self.first[at[0]], self.first[at[0] + 1])
            s = np.empty(0) if s is None else s
            look(np.ascontiguousarray(X), s, self.scale, Y, reach, last, d, a, pots[part])
            return (0,)

        self.rows.reduce(
            block, beside=(self.at, self.d, self.a), block_rows=self.block, times=len(Y)
        )
        return pots

    def draw(self, uniform: np.ndarray) -> np.ndarray:
        """Rows with probability s·d/Σ s·d, one for each number of [0, 1)."""
        edges = np.cumsum(self.sums)
        at = uniform * edges[-1]
        found = np.empty(len(at), dtype=np.intp)
        for t, value in enumerate(at):
            b = min(int(np.searchsorted(edges, value, side="right")), len(edges) - 1)
            d = np.cumsum(self._potentials(*self.parts[b]))
            inside = int(np.searchsorted(d, value - (edges[b] - self.sums[b]), side="left"))
            found[t] = self.parts[b][0] + min(inside, len(d) - 1)
        return found

    def _potentials(self, start: int, stop: int) -> np.ndarray:
        """s·d of some rows, with what they have not learned yet."""
        X, _, s = self.rows.block(start, stop)
        Z = (X - self.centers[self.number - 1]) * self.scale
        d = np.minimum(self.d[start:stop], np.einsum("ij,ij->i", Z, Z))
        return d if s is None else d * s
