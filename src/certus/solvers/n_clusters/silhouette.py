"""Silhouettes of several clusterings by one look at all distances, in tiles.

    sil_i = (b_i − a_i) / max(a_i, b_i)        a_i, b_i: mean distances to the own cluster, the next

Sums of distances from a row to clusters are the product of a tile of distances with the clusters'
indicators, of all clusterings at once. Never n × n numbers.

A mean silhouette has an error not only by the rows that are averaged: each row is also one of those
that the others are compared with. What row j does to the others by its weight,

    pull_j = Σ_i s_i ∂sil_i/∂s_j        ∂a_i/∂s_j = (d_ij − a_i)/N_a for j in the own cluster of i,
                                        ∂b_i/∂s_j = (d_ij − b_i)/N_b for j in the next one,

is the product of the same tile, transposed. (As if rows were independent, 95 % intervals held the
mean of 77 % of 300 samples.)
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...distances import Euclidean
from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, give_up_if_stopped, run_on_threads

DISTANCES = 1 << 20  # that a thread holds: 8 MB
FEW, MANY = 16, 256  # rows whose distances they are
TILE = 4096  # rows that they are compared with, at a time


def silhouettes(
    X: np.ndarray,
    labels: np.ndarray,
    s: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """(m, clusterings) of the m ``rows`` (None: all) among all rows of X.

    ``labels`` (n, clusterings): 0 … k − 1, each with its own k. O(m·n·(p + Σk)) operations.
    """
    return _Looking(X, labels, s, rows).run(threads, lambda *_: None)


def mean_silhouettes(
    X: np.ndarray,
    labels: np.ndarray,
    s: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """The mean of each clustering, over the ``rows``."""
    look = _Looking(X, labels, s, rows)
    weight = look.weight[look.rows]
    means: np.ndarray = np.dot(weight, look.run(threads, lambda *_: None)) / weight.sum()
    return means


def means_and_errors(
    X: np.ndarray,
    labels: np.ndarray,
    s: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(means, standard errors) of each clustering, over the ``rows``.

    se² = n/(n − 1) Σ_j (s_j ∂mean/∂s_j)², the clusters held fixed.
    """
    look = _Looking(X, labels, s, rows)
    parts: dict[int, np.ndarray] = {}
    sil = look.run(threads, lambda t, D, near: parts.update({t: look.pull(D, near)}))
    weight = look.weight[look.rows]
    S, n = weight.sum(), len(look.X)
    mean = np.dot(weight, sil) / S
    influence = look.weight[:, None] * sum(parts[t] for t in range(len(parts)))
    influence[look.rows] += weight[:, None] * (sil - mean)
    return mean, np.sqrt(n / max(1, n - 1) * (influence**2).sum(axis=0)) / S


class _Near(NamedTuple):
    """Of some rows: who they are, and for each clustering what their silhouettes are made of."""

    rows: np.ndarray  # (q,)
    own: np.ndarray  # (q, clusterings): columns of the indicators
    next: np.ndarray
    known: np.ndarray  # not alone, one of several clusters, and not all of them one point
    a: np.ndarray  # 0 where not known
    b: np.ndarray
    N_a: np.ndarray  # the weight that a is a mean over; 1 where not known


class _Looking:
    def __init__(
        self, X: np.ndarray, labels: np.ndarray, s: np.ndarray | None, rows: np.ndarray | None
    ):
        n, self.clusterings = labels.shape
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.weight = np.ones(n) if s is None else s
        self.rows = np.arange(n) if rows is None else rows
        self.sizes = labels.max(axis=0) + 1
        self.first = np.cumsum(self.sizes) - self.sizes
        self.column = labels + self.first  # of the indicators
        each = np.repeat(self.weight, self.clusterings)
        self.N = np.bincount(self.column.ravel(), each, int(self.sizes.sum()))

    def run(
        self, threads: int | None, also: Callable[[int, np.ndarray, "_Near"], None]
    ) -> np.ndarray:
        """Silhouettes; ``also(t, D, near)`` sees the distances of the t-th block of rows."""
        n = len(self.X)
        size = max(FEW, min(MANY, DISTANCES // n))
        sil = np.empty((len(self.rows), self.clusterings))
        distance = Euclidean()

        def task(t: int) -> None:
            part = slice(t * size, (t + 1) * size)
            asked = self.rows[part]
            D, sums = np.empty((len(asked), n)), np.zeros((len(asked), len(self.N)))
            for tile in self._tiles():
                give_up_if_stopped()
                D[:, tile] = distance.compare(self.X[asked], self.X[tile], 1)
                member = np.zeros((tile.stop - tile.start, len(self.N)))
                np.put_along_axis(member, self.column[tile], self.weight[tile, None], axis=1)
                sums += np.dot(D[:, tile], member)
            near = self._near(asked, sums)
            sil[part] = _silhouettes(near)
            also(t, D, near)

        with blas_limiter:  # the bits of a product depend on how many threads share it
            run_on_threads(task, -(-len(self.rows) // size), effective_threads(threads))
        return sil

    def _tiles(self) -> list[slice]:
        n = len(self.X)
        return [slice(a, min(n, a + TILE)) for a in range(0, n, TILE)]

    def _near(self, asked: np.ndarray, sums: np.ndarray) -> _Near:
        """``sums`` (q, columns): of distances to the rows of each cluster."""
        own, following = self.column[asked], np.empty((len(asked), self.clusterings), dtype=np.intp)
        # a row is not compared with itself
        N_a = self.N[own] - np.minimum(1.0, self.weight[asked])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.take_along_axis(sums, own, axis=1) / N_a
            mean = np.where(self.N > 0, sums / self.N, np.inf)
        np.put_along_axis(mean, own, np.inf, axis=1)
        for c, (start, k) in enumerate(zip(self.first, self.sizes, strict=True)):
            following[:, c] = start + mean[:, start : start + k].argmin(axis=1)
        b = np.take_along_axis(mean, following, axis=1)
        known = (N_a > 0) & np.isfinite(b)
        known &= np.maximum(a, b, out=np.zeros_like(a), where=known) > 0
        a, b, N_a = (
            np.where(known, values, default) for values, default in ((a, 0.0), (b, 0.0), (N_a, 1.0))
        )
        return _Near(asked, own, following, known, a, b, N_a)

    def pull(self, D: np.ndarray, near: _Near) -> np.ndarray:
        """(n, clusterings): Σ_i s_i ∂sil_i/∂s_j over some rows i."""
        s = self.weight[near.rows, None]
        by_a, by_b = _slopes(near)
        on_a, on_b = s * by_a / near.N_a, s * by_b / self.N[near.next]
        G = np.zeros((len(D), len(self.N)))  # what a distance to a row of each cluster does
        np.put_along_axis(G, near.own, on_a, axis=1)
        np.put_along_axis(G, near.next, on_b, axis=1)
        level = np.zeros(len(self.N))  # Σ_i of the means that distances are measured from
        np.add.at(level, near.own, on_a * near.a)
        np.add.at(level, near.next, on_b * near.b)
        pull = np.empty((len(self.X), self.clusterings))
        for tile in self._tiles():
            every = np.dot(D[:, tile].T, G)
            pull[tile] = np.take_along_axis(every, self.column[tile], axis=1)
        return pull - level[self.column]


def _silhouettes(near: _Near) -> np.ndarray:
    most = np.maximum(near.a, near.b)
    return np.divide(near.b - near.a, most, out=np.zeros_like(most), where=near.known)


def _slopes(near: _Near) -> tuple[np.ndarray, np.ndarray]:
    """∂sil/∂a, ∂sil/∂b of sil = 1 − a/b where a < b, b/a − 1 elsewhere; 0 where not known."""
    a, b = near.a, near.b
    with np.errstate(divide="ignore", invalid="ignore"):
        by_a, by_b = np.where(a < b, -1 / b, -b / a**2), np.where(a < b, a / b**2, 1 / a)
    return np.where(near.known, by_a, 0.0), np.where(near.known, by_b, 0.0)
