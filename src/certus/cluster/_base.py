"""What every estimator with centres shares: its rows, the nearest centre, distances, a certificate.

    label of x = argmin_k Σ_j (x_j − μ_kj)²,  the smallest such k

in float64 by differences, in ``fit`` and ``predict`` alike, so that they agree at any distance from
the origin.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import estimator_html_repr

from .._explain import not_certified
from .._finite import require_finite
from .._validation import data_for_search, weights
from .._watching import CALLER, Watching
from .._words import count
from ..certificate import Certificate, certify
from ..distances import Euclidean
from ..exceptions import DegenerateWarning, NotCertifiedWarning
from ..lazy import LazyRows
from ..rows import Rows
from ..solvers.kmeans import nearest_centers
from ..solvers.kmeans.squares import squares_are_held
from ._telling import degenerate, empty_clusters

TOO_FAR = "X and the centres are so far apart that squares of their differences overflow"


class _CenterBased(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Fitted centres. ``fit`` is @watched."""

    n_clusters: Any
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    inertia_: float
    n_clusters_effective_: int
    certificate_: Certificate
    _watching: Watching  # during fit

    # --- fit ---

    def _rows_to_fit(self, X: Any, sample_weight: Any) -> Rows:
        """Rows of a fit: finite, and at least n_clusters of them."""
        X = data_for_search(self, X, reset=True)
        s = weights(sample_weight, X.shape[0])
        counted = X.shape[0] if s is None else int(np.count_nonzero(s))
        if counted < self.n_clusters:
            of = "" if s is None else " with a weight above 0"
            raise ValueError(
                f"n_samples={counted}{of} should be >= n_clusters={self.n_clusters}: ask for at "
                f"most {count(counted, 'cluster')}"
            )
        rows = Rows(X, None, s)
        finite = isinstance(X, LazyRows)  # by their contract; they are costly to make
        if not (finite or squares_are_held(rows)):
            self._name_what_is_not_finite(rows)
        return rows

    def _certify_clusters(self, rows: Rows) -> Certificate:
        """The certificate of the fitted attributes, from the data."""
        return certify(self, rows)

    def _conclude(self, rows: Rows, max_iter: int | None = None) -> None:
        """Set certificate_, and warn where it does not hold; ``max_iter``: what ended the fit.

        ``fit`` calls it, and no helper between them: warnings count their way up.
        """
        self.certificate_ = self._watching.label(self._certify_clusters(rows))
        if not self.certificate_.certified:
            said = not_certified(self.certificate_, max_iter)
            warnings.warn(said, NotCertifiedWarning, stacklevel=CALLER)

    def _warn_of_fewer(self, rows: Rows) -> None:
        """Fewer clusters than were asked for; called by ``fit`` itself, after the certificate."""
        counted = rows.shape[0] if rows.s is None else int(np.count_nonzero(rows.s))
        k, formed = len(self.cluster_centers_), self.n_clusters_effective_
        points = self.certificate_.found.get("degenerate")
        said = empty_clusters(k, formed) if points is None else degenerate(counted, k, points)
        warnings.warn(said, DegenerateWarning, stacklevel=CALLER)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give ``labels_``.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        labels: np.ndarray = self.fit(X, sample_weight=sample_weight).labels_
        return labels

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the distances to the centres.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        distances: np.ndarray = self.fit(X, sample_weight=sample_weight).transform(X)
        return distances

    # --- new rows ---

    def predict(self, X: Any) -> np.ndarray:
        """The nearest centre of each row; of equally near ones the first.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            The rows of the fit get ``labels_`` again.

        Returns
        -------
        ndarray of shape (n_samples,), int32
        """
        return self._nearest(Rows(data_for_search(self, X, reset=False)))[0]

    def transform(self, X: Any) -> np.ndarray:
        """Euclidean distances from each row to each centre, by differences.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            In float32 where X and the centres are.
        """
        rows = Rows(data_for_search(self, X, reset=False))
        centers, distance = self._centers, Euclidean()
        narrow = rows.X.dtype == self.cluster_centers_.dtype == np.float32
        D = np.empty((rows.shape[0], len(centers)), dtype=np.float32 if narrow else np.float64)

        def of_block(X: Any, _y: Any, _s: Any) -> np.ndarray:
            X = X.toarray() if rows.sparse else X
            return distance.compare(np.ascontiguousarray(X, dtype=np.float64), centers, threads=1)

        with np.errstate(invalid="ignore"):
            rows.map(of_block, D)
        if not np.isfinite(D[:, 0]).all():
            self._name_what_is_not_finite(rows)
        return D

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """−Σ sᵢ minₖ ‖xᵢ − μₖ‖²: minus the objective on these rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : float or array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        X = data_for_search(self, X, reset=False)
        s = weights(sample_weight, X.shape[0])
        _, d2 = self._nearest(Rows(X))
        return -float(d2.sum() if s is None else (s * d2).sum())

    def _nearest(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """(labels, squared distances) to the nearest centres."""
        with np.errstate(all="ignore"):
            labels, d2 = nearest_centers(rows, self._centers)
        if not np.isfinite(d2).all():
            self._name_what_is_not_finite(rows)
        return labels, d2

    @property
    def _centers(self) -> np.ndarray:
        return np.ascontiguousarray(self.cluster_centers_, dtype=np.float64)

    def _name_what_is_not_finite(self, rows: Rows) -> None:
        """Raise with the rows and columns of NaN and infinity."""
        require_finite(rows.X, vars(self).get("feature_names_in_"))
        raise ValueError(f"{TOO_FAR}: divide X by a power of 10")

    # --- for scikit-learn ---

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _html_repr(self) -> str:
        shown: str = estimator_html_repr(self)
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()
