"""Mixins that search for the nearest rows or for all rows within a radius, as arrays and graphs.

    the k nearest of q:   the first k rows j in the order of (d(q, x_j), j)
    within r of q:        all rows j with d(q, x_j) ≤ r

Where the queries are the rows of the fit (X=None), a row is not its own neighbour.
"""

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config

from ..data.validation import as_numbers, one_of
from ..text.format import count
from ._base import NeighborsModel, check_radius
from ._votes import NeighborLists

MODES = ("connectivity", "distance")


class NearestMixin(NeighborsModel):
    """Search for the k nearest rows."""

    def kneighbors(
        self, X: object = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest rows of the fit, nearest first; ties go to the first in the fit.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), default=None
            With ``metric="precomputed"`` distances of shape (n_queries, n_samples_fit). None: the
            rows of the fit, each without itself. ``certus.open_rows``: block by block, with the
            answers in memory.
        n_neighbors : int, default=None
            Number of neighbours; None: as in the constructor.
        return_distance : bool, default=True

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Only with ``return_distance``.
        neigh_ind : ndarray of int of shape (n_queries, n_neighbors)
            −1, at an infinite distance, where fewer rows are comparable (missing values).
        """
        distances, indices = self._nearest(self._queries(X), n_neighbors)
        return (distances, indices) if return_distance else indices

    def _nearest(self, Q: np.ndarray, n_neighbors: object = None) -> tuple[np.ndarray, np.ndarray]:
        k = self._checked_k(n_neighbors, Q)
        distances, rows = self._index.kneighbors(self._as_indexed(Q), k)
        return in_order(distances, rows)

    def _checked_k(self, n_neighbors: object, Q: np.ndarray | None) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if isinstance(k, bool) or not isinstance(k, Integral):
            raise TypeError(
                f"n_neighbors does not take {type(k)} value, enter integer value (n_neighbors="
                f"{k!r})"
            )
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        n, most = self._n_present, self._n_present - (Q is None)
        if int(k) > most:
            sign, which = ("<", ", and a row is not its own neighbour") if Q is None else ("<=", "")
            if n < self.n_samples_fit_:
                which = f" of positive weight{which}"
            raise ValueError(
                f"Expected n_neighbors {sign} n_samples_fit, but n_neighbors = {k}, n_samples_fit "
                f"= {n}, n_samples = {self._count(Q)}: the fit had {count(n, 'row')}{which}. Give "
                f"n_neighbors of at most {most}"
            )
        return int(k)

    def _voters(self, X: object) -> NeighborLists:
        return NeighborLists.from_arrays(*self._nearest(self._queries(X)))

    def kneighbors_graph(
        self, X: object = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the nearest rows as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in ``kneighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            The entry at (i, j), if j is among the nearest of i: 1, or the distance.

        Returns
        -------
        CSR matrix of shape (n_queries, n_samples_fit)
            Entries of each row are in the order of their distances.
        """
        return self._nearest_graph(self._queries(X), n_neighbors, mode)

    def _nearest_graph(self, Q: np.ndarray, n_neighbors: object, mode: str) -> Any:
        one_of("mode", mode, MODES)
        distances, indices = self._nearest(Q, n_neighbors)
        valid = indices >= 0
        data = np.ones(np.count_nonzero(valid)) if mode == "connectivity" else distances[valid]
        start = np.concatenate([[0], np.cumsum(np.count_nonzero(valid, axis=1))])
        return as_graph(data, indices[valid], start, (len(indices), self.n_samples_fit_))


class WithinRadiusMixin(NeighborsModel):
    """Search for all rows within a radius."""

    def radius_neighbors(
        self,
        X: object = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Return all rows of the fit at a distance of at most ``radius``.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or open_rows, (n_queries, n_features), default=None
            With ``metric="precomputed"`` distances of shape (n_queries, n_samples_fit). None: the
            rows of the fit, each without itself. ``certus.open_rows``: block by block, with the
            answers in memory.
        radius : float or array-like of shape (n_queries,), default=None
            One for all queries, or one for each; None: as in the constructor.
        return_distance : bool, default=True
        sort_results : bool, default=False
            True: nearest first. False: in the order of the fit.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries,) of arrays
            Only with ``return_distance``.
        neigh_ind : ndarray of shape (n_queries,) of arrays of int
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        distances, indices = self._within(self._queries(X), radius, sort_results).lists()
        arrays = as_objects(indices)
        return (as_objects(distances), arrays) if return_distance else arrays

    def _within(self, Q: np.ndarray, radius: Any, sort: bool) -> NeighborLists:
        r = self.radius if radius is None else radius
        each = _radius_of_each(r, self._count(Q)) if np.ndim(r) else None
        most = check_radius(r) if each is None else float(each.max(initial=0.0))
        distances, rows, edges = self._index.radius(self._as_indexed(Q), most)
        neighbors = NeighborLists(distances, rows, edges, None)
        if each is not None:
            neighbors = neighbors.within(each)
        return neighbors.by_distance() if sort else neighbors

    def _voters(self, X: object) -> NeighborLists:
        return self._within(self._queries(X), None, True)

    def radius_neighbors_graph(
        self,
        X: object = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Return all rows within the radius as a sparse matrix.

        Parameters
        ----------
        X, radius, sort_results
            As in ``radius_neighbors``.
        mode : {"connectivity", "distance"}, default="connectivity"
            The entry at (i, j), if j is within the radius of i: 1, or the distance.

        Returns
        -------
        CSR matrix of shape (n_queries, n_samples_fit)
        """
        return self._within_graph(self._queries(X), radius, mode, sort_results)

    def _within_graph(self, Q: np.ndarray, radius: object, mode: str, sort: bool = False) -> Any:
        one_of("mode", mode, MODES)
        neighbors = self._within(Q, radius, sort)
        data = np.ones(len(neighbors.rows)) if mode == "connectivity" else neighbors.distance
        return as_graph(data, neighbors.rows, neighbors.start, (neighbors.m, self.n_samples_fit_))


def _radius_of_each(radius: object, m: int) -> np.ndarray:
    """Return a radius for each of m queries, or raise."""
    r = as_numbers(radius, "radius")
    if r.shape != (m,) or not (r >= 0).all():
        raise ValueError(
            f"radius={radius!r}: give a number of at least 0, or {m:,} of them, one for each query"
        )
    return r


def in_order(distances: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort lists by (distance, row) that are sorted by (sum of powers, row).

    The order can differ, since roots of unequal sums may round to the same distance.
    """
    reversed_ties = (distances[:, 1:] == distances[:, :-1]) & (rows[:, 1:] < rows[:, :-1])
    for i in np.flatnonzero((reversed_ties & (rows[:, 1:] >= 0)).any(axis=1)):
        order = np.lexsort((rows[i], distances[i]))
        order = order[np.argsort(rows[i][order] < 0, kind="stable")]  # −1, no neighbour, is last
        distances[i], rows[i] = distances[i][order], rows[i][order]
    return distances, rows


def as_objects(arrays: list[np.ndarray]) -> np.ndarray:
    """Return an object array of arrays, also where they are of equal length."""
    out = np.empty(len(arrays), dtype=object)
    out[:] = arrays
    return out


def as_graph(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: object) -> Any:
    """Return a CSR array or matrix, as scikit-learn is configured to return."""
    kind = csr_matrix if get_config().get("sparse_interface") == "spmatrix" else csr_array
    return kind((data, indices, indptr), shape=shape)
