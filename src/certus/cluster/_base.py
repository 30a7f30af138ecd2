"""Base classes of estimators with centres: reading rows, the nearest centre, distances.

    label of x = argmin_k Σ_j (x_j − μ_kj)²,  the smallest such k

by differences in float64, in ``fit`` and ``predict`` alike, so that they agree at any distance from
the origin.
"""

from typing import Any, NoReturn

import numpy as np
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)

from ..base.certified import CertifiedEstimator
from ..certificate.findings import ClusterFinding, finding_of
from ..data.changed_rows import divided
from ..data.finite import require_finite
from ..data.lazy import LazyRows
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.streamed_input import require_no_arrays_beside
from ..data.validation import data_for_search, weights
from ..distances import Euclidean
from ..exceptions import DegenerateWarning, RangeWarning
from ..runtime.user_frame import warn_user
from ..solvers.kmeans import nearest_centers
from ..solvers.kmeans.bounds import block_rows
from ..solvers.kmeans.fit import center_dtype
from ..solvers.kmeans.label_sums import count_weighted
from ..solvers.kmeans.squares import unit_of_squares
from ..text.format import count
from ._init import SQUARES_OVERFLOW
from ._messages import degenerate, empty_clusters, in_units


class CenterBased(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, CertifiedEstimator
):
    """Base of estimators with centres; a subclass defines ``predict``."""

    n_clusters: int
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    inertia_: float
    unit_: float
    n_clusters_effective_: int

    # --- fit ---

    def _rows_to_fit(self, X: object, sample_weight: object) -> tuple[Rows, float]:
        """Read the rows of a fit, finite and at least n_clusters, and choose their unit."""
        rows = self._rows(X, sample_weight, reset=True)
        data, s, counted = rows.X, rows.s, count_weighted(rows)
        if counted < self.n_clusters:
            of = "" if s is None else " with a weight above 0"
            raise ValueError(
                f"n_samples={counted}{of} should be >= n_clusters={self.n_clusters}: ask for at "
                f"most {count(counted, 'cluster')}"
            )
        if isinstance(data, LazyRows):  # finite by contract, and costly to produce
            return rows, 1.0
        unit = unit_of_squares(rows, vars(self).get("feature_names_in_"))
        if unit is None:
            self._raise_not_finite(rows)
        if unit != 1.0:
            warn_user(in_units(type(self).__name__, unit), RangeWarning)
        return rows, unit

    def _rows(self, X: object, sample_weight: object, reset: bool) -> Rows:
        """Return rows with their weights; a table has them among its columns."""
        if isinstance(X, StreamedTable):
            require_no_arrays_beside(None, sample_weight)
            data = data_for_search(self, X, reset=reset)
            return Rows(data, None, X.s)
        data = data_for_search(self, X, reset=reset)
        return Rows(data, None, weights(sample_weight, data.shape[0]))

    def _warn_of_empty_clusters(self, rows: Rows) -> None:
        """Warn of fewer clusters than requested; needs ``certificate_``."""
        counted = count_weighted(rows)
        k, formed = len(self.cluster_centers_), self.n_clusters_effective_
        points = finding_of(self.certificate_, ClusterFinding).degenerate
        message = empty_clusters(k, formed) if points is None else degenerate(counted, k, points)
        warn_user(message, DegenerateWarning)

    def fit_predict(self, X: object, y: object = None, sample_weight: object = None) -> np.ndarray:
        """Fit, and return ``labels_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            None for ``certus.open_rows``, which brings the weights.

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        labels: np.ndarray = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(
        self, X: object, y: object = None, sample_weight: object = None
    ) -> np.ndarray:
        """Fit, and return the distances to the centres.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            None for ``certus.open_rows``, which brings the weights.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        distances: np.ndarray = self.fit(X, sample_weight=sample_weight).transform(X)
        return distances

    # --- new rows ---

    def transform(self, X: object) -> np.ndarray:
        """Return the Euclidean distances from each row to each centre, by differences.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            float32 if X and the centres are.
        """
        rows = self._in_unit(Rows(data_for_search(self, X, reset=False)))
        narrow = rows.X.dtype == self.cluster_centers_.dtype == np.float32
        shape = rows.shape[0], len(self.cluster_centers_)
        D = np.empty(shape, dtype=np.float32 if narrow else np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            rows.map(_distances_of_block, D, self._centers)
            D *= self._unit
        if not np.isfinite(D[:, 0]).all():
            self._raise_not_finite(rows)
        return D

    def score(self, X: object, y: object = None, sample_weight: object = None) -> float:
        """Return −Σ sᵢ minₖ ‖xᵢ − μₖ‖², the negative objective on these rows.

        In units of ``unit_``², as ``inertia_`` is.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None
            None for ``certus.open_rows``, which brings the weights.

        Returns
        -------
        float
        """
        rows = self._in_unit(self._rows(X, sample_weight, reset=False))
        if rows.streamed:
            with np.errstate(all="ignore"):
                (J,) = rows.reduce(
                    _objective_of_block, self._centers, block_rows=self._block_rows(rows)
                )
            if not np.isfinite(J):
                self._raise_not_finite(rows)
            return -float(J)
        s, (_, d2) = rows.s, self._nearest(rows)
        return -float(d2.sum() if s is None else (s * d2).sum())

    def _nearest(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return (labels, squared distances) of the nearest centres, of rows in memory."""
        with np.errstate(all="ignore"):
            labels, d2 = nearest_centers(rows, self._centers)
        if not np.isfinite(d2).all():
            self._raise_not_finite(rows)
        return labels, d2

    def _block_rows(self, rows: Rows) -> int:
        return block_rows(rows.shape[0], len(self.cluster_centers_), rows.shape[1], rows.shape[1])

    @property
    def _centers(self) -> np.ndarray:
        """The centres, in units of ``unit_``."""
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64) / self._unit

    @property
    def _unit(self) -> float:
        return float(vars(self).get("unit_", 1.0))

    def _in_unit(self, rows: Rows) -> Rows:
        return divided(rows, self._unit)

    def _raise_not_finite(self, rows: Rows) -> NoReturn:
        """Raise an error that names the rows and columns of NaN and infinity."""
        if not rows.streamed:  # a table was found finite when it was opened
            require_finite(rows.X, vars(self).get("feature_names_in_"))
        raise ValueError(f"{SQUARES_OVERFLOW}: divide X by a power of 10")

    # --- for scikit-learn ---

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class NearestCenter(CenterBased):
    """Base of estimators that assign each row to the nearest of their centres."""

    def predict(self, X: object) -> np.ndarray:
        """Return the nearest centre of each row; of equally near ones the first.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or open_rows
            For the rows of the fit the result is ``labels_``.

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        rows = self._in_unit(Rows(data_for_search(self, X, reset=False)))
        if not rows.streamed:
            return self._nearest(rows)[0]
        labels = np.empty(rows.shape[0], dtype=np.int32)
        with np.errstate(all="ignore"):
            rows.map(_labels_of_block, labels, self._centers, block_rows=self._block_rows(rows))
        if labels.min() < 0:
            self._raise_not_finite(rows)
        return labels


def stored(centers: np.ndarray, rows: Rows, unit: float) -> np.ndarray:
    """Return centres in units of ``unit`` in those of X, in the dtype that models store."""
    in_dtype: np.ndarray = centers.astype(center_dtype(rows))
    return in_dtype if unit == 1.0 else in_dtype * unit


# --- functions of blocks --------------------------------------------------------------------------


def _distances_of_block(X: Any, _y: object, _s: object, centers: np.ndarray) -> np.ndarray:
    dense = np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=float)
    return Euclidean().compare(dense, centers, threads=1)


def _labels_of_block(X: np.ndarray, _y: object, _s: object, centers: np.ndarray) -> np.ndarray:
    """Return the labels of a block, −1 for rows whose distances overflow."""
    labels, d2 = nearest_centers(Rows(X, threads=1), centers)
    return np.where(np.isfinite(d2), labels, np.int32(-1))


def _objective_of_block(
    X: np.ndarray, _y: object, s: np.ndarray | None, centers: np.ndarray
) -> tuple[float]:
    d2 = nearest_centers(Rows(X, threads=1), centers)[1]
    return (float(d2.sum() if s is None else s @ d2),)
