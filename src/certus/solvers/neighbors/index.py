"""A stand-in until the search engine is here: all distances, block by block."""

from typing import Any

import numpy as np

from .smallest import smallest, with_itself, within, without_itself

BLOCK = 1 << 20  # distances at a time


class Index:
    """All rows of a fit, to be searched."""

    def __init__(
        self,
        X: Any,
        distance: Any,
        *,
        algorithm: str = "auto",
        leaf_size: int = 30,
        threads: int | None = None,
    ):
        self.X, self.distance, self.algorithm = X, distance, "direct"

    def kneighbors(
        self, Q: Any, k: int, *, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        parts = []
        for first, D in self._blocks(Q, threads):
            d, i = smallest(D if Q is not None else without_itself(D, first), k)
            if Q is None:
                i = with_itself(i, first + np.arange(len(D))[:, None])
            parts.append((d, i))
        return np.concatenate([d for d, _ in parts]), np.concatenate([i for _, i in parts])

    def radius(
        self, Q: Any, r: float, *, sort: bool = False, threads: int | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        distances: list[np.ndarray] = []
        indices: list[np.ndarray] = []
        for first, D in self._blocks(Q, threads):
            d, i = within(D if Q is not None else without_itself(D, first), r, sort=sort)
            if Q is None:
                i = [with_itself(j, first + row) for row, j in enumerate(i)]
            distances += d
            indices += i
        return distances, indices

    def _blocks(self, Q: Any, threads: int | None) -> Any:
        Q = self.X if Q is None else Q
        step = max(1, BLOCK // len(self.X))
        for first in range(0, len(Q), step):
            yield first, self.distance.pairwise(Q[first : first + step], self.X, threads=threads)
