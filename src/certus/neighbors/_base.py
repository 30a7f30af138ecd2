"""Base of the neighbour estimators: parameters, the rows with their index, the certificate."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from ..base.certified import CertifiedEstimator
from ..certificate import Certificate, certify, unproven
from ..data.csr import CSR
from ..data.rows import Rows
from ..data.types import Metric
from ..data.validation import one_of, positive_whole
from ..exceptions import DegenerateWarning
from ..runtime.config import effective_threads
from ..runtime.user_frame import warn_user
from ..solvers.neighbors.index import DenseIndex
from ..solvers.neighbors.lists import Index
from ..solvers.neighbors.precomputed import PrecomputedIndex
from ..solvers.neighbors.present import PresentRows
from ..solvers.neighbors.sparse import SparseIndex
from ._input import read_distances, read_mixed_for_fit, read_mixed_queries, read_rows
from ._metric import ReadDistance, distance_of, effective_metric

ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
MAX_DENSE_ELEMENTS = 1 << 24  # 128 MB: sparse rows up to this size may be made dense
METRICS_WITH_MISSING = ("nan_euclidean", "gower")  # defined for missing values


class NeighborsModel(MultiOutputMixin, CertifiedEstimator):
    """Base class of estimators that search the rows of their fit."""

    n_neighbors: int
    radius: float
    algorithm: str
    leaf_size: int
    p: float
    metric: Metric
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    _index: Index
    _distance: Any  # prepared with the rows of the fit; None for precomputed distances
    _mixed = False  # whether the stored rows encode categories as numbers
    _present: np.ndarray | None = None  # rows of positive weight; None: all
    _is_certifying = False  # while the certificate is made: takes rows as stored, does not warn

    # --- fit ---

    def _read_for_fit(self, X: object) -> Any:
        """Check the parameters and read the rows of a fit."""
        self._check_parameters()
        metric, params = effective_metric(self.metric, self.p, self.metric_params)
        self.effective_metric_, self.effective_metric_params_ = metric, params
        self._distance = None if self._precomputed else distance_of(metric, params)
        rows = self._read(X, reset=True)
        if self._mixed:
            self._warn_of_flags(X)
        return rows

    def _store_rows(self, X: Any, s: np.ndarray | None = None) -> None:
        """Store the rows and index those of positive weight."""
        self._monitor.begin()
        self._fit_X, self.n_samples_fit_ = X, X.shape[0]
        self._present = None if s is None or (s > 0).all() else np.flatnonzero(s > 0)
        if not (self._precomputed or self._mixed):
            present_rows = _as_scipy(X) if self._present is None else X[self._present]
            self._distance = self._distance.prepare(present_rows)
            self._warn_of_flags(_as_scipy(X))
        self._index = self._make_index(X)

    def _make_index(self, X: Any) -> Index:
        if self._present is None:
            return self._index_of(X)
        absent = np.delete(np.arange(X.shape[0]), self._present)
        present_rows, others = (_subset(X, rows) for rows in (self._present, absent))
        if self._precomputed:
            present_rows = present_rows[:, self._present]
        return PresentRows(self._index_of(present_rows), self._present, self._as_indexed(others))

    def _index_of(self, X: Any) -> Index:
        distance, threads = self._distance, effective_threads(self.n_jobs)
        if distance is None:
            return PrecomputedIndex(X)
        if isinstance(X, CSR):
            return SparseIndex(X, distance, threads)
        if distance.embedded_metric is None:
            X, distance = self._as_indexed(X), ReadDistance(distance)
        algorithm = "kd_tree" if self.algorithm == "ball_tree" else self.algorithm
        return DenseIndex(X, distance, algorithm=algorithm, threads=threads)

    def _as_indexed(self, Q: Any) -> Any:
        """Return queries in the form in which the index holds its rows."""
        if Q is not None and self._precomputed and self._present is not None:
            return Q[:, self._present]
        if Q is None or self._distance is None or isinstance(self._fit_X, CSR):
            return Q
        if self._mixed or self._distance.embedded_metric is not None:
            return Q
        return self._distance.read(Q)

    def _check_parameters(self) -> None:
        given = self.get_params()
        if given.get("n_neighbors") is not None:
            positive_whole("n_neighbors", self.n_neighbors)
        if given.get("radius") is not None:
            check_radius(self.radius)
        one_of("algorithm", self.algorithm, ALGORITHMS)
        positive_whole("leaf_size", self.leaf_size)
        if not (self.n_jobs is None or isinstance(self.n_jobs, Integral)):
            raise ValueError(f"n_jobs={self.n_jobs!r}: give a whole number or None")
        weights = given.get("weights")
        if not (weights is None or callable(weights)):
            one_of("weights", weights, ("uniform", "distance", None))

    def _warn_of_flags(self, X: Any) -> None:
        """Warn of rows whose distances are a convention, such as rows of zeros for cosine."""
        if issparse(X) and X.shape[0] * X.shape[1] > MAX_DENSE_ELEMENTS:
            return  # ``flags`` would make them dense
        flags = [text for _, _, text in self._distance.flags(X)]
        if flags:
            warn_user("; ".join(flags), DegenerateWarning)

    def _certify_neighbors(self, y: np.ndarray | None = None, s: np.ndarray | None = None) -> None:
        """Set certificate_: sampled answers of the model, recomputed from all rows."""
        rows = Rows(self._fit_X, y, s)
        self._is_certifying = True
        try:
            certificate = certify(self, rows)
        except ValueError as error:
            certificate = self._unproven(rows, str(error))
        finally:
            del self._is_certifying
        note = getattr(self._distance, "note", None)  # choices that the distance made for the rows
        if note is not None:
            certificate = replace(certificate, notes=(*certificate.notes, note))
        self._set_certificate(certificate)
        self._warn_of_certificate(claimed=certificate.status == "contradicted")

    def _unproven(self, rows: Rows, why: str) -> Certificate:
        return unproven(self, rows, "the nearest rows", float("nan"), why, kind="exact")

    # --- queries ---

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _read(self, X: object, *, reset: bool) -> Any:
        """Return rows as the metric takes them: an array or CSR of floats, or distances."""
        if self._precomputed:
            return read_distances(self, X, reset=reset)
        if reset:
            self._mixed = False
            if self._distance.name == "gower":
                rows, self._distance = read_mixed_for_fit(self, X, self._distance)
                self._mixed = rows is not None
                if self._mixed:
                    return rows
        elif self._mixed and not self._is_certifying:
            return read_mixed_queries(self, X, self._distance)
        return read_rows(self, X, reset=reset, missing=self._distance.missing)

    def _queries(self, X: object) -> Any:
        """Return the queries in X; None: the rows of the fit, each without itself."""
        check_is_fitted(self)
        if X is None:
            return None
        Q = self._read(X, reset=False)
        if self._precomputed or isinstance(Q, CSR) == isinstance(self._fit_X, CSR):
            return Q
        if isinstance(Q, CSR):
            return Q[0 : Q.shape[0]].toarray()  # as wide as the dense rows of the fit
        return CSR(csr_array(Q))

    @property
    def algorithm_(self) -> str:
        """The algorithm that ran last: "kd_tree", "brute", … ("auto": none yet)."""
        if "_fit_X" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'algorithm_'")
        name: str = self._index.algorithm
        return name

    @property
    def _n_present(self) -> int:
        return int(self.n_samples_fit_) if self._present is None else len(self._present)

    def _count(self, Q: np.ndarray | None) -> int:
        return int(self.n_samples_fit_ if Q is None else Q.shape[0])

    # --- for scikit-learn ---

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed  # cross-validation splits rows and columns
        tags.input_tags.positive_only = self._precomputed
        named = isinstance(self.metric, str) and self.metric in METRICS_WITH_MISSING
        tags.input_tags.allow_nan = named or bool(getattr(self.metric, "missing", False))
        return tags

    def __copy__(self) -> Any:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)  # shares the index, which is immutable
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_index", None)  # as large as the rows, and quickly rebuilt
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fit_X" in state:
            self._index = self._make_index(self._fit_X)


def _as_scipy(X: object) -> Any:
    """Return X, sparse rows as a SciPy matrix."""
    return X[0 : X.shape[0]] if isinstance(X, CSR) else X


def _subset(X: Any, rows: np.ndarray) -> Any:
    """Return some rows, CSR as CSR."""
    return CSR(X[rows]) if isinstance(X, CSR) else X[rows]


def check_radius(radius: float) -> float:
    """Return the radius as a float, or raise."""
    real = isinstance(radius, Real) and not isinstance(radius, bool)
    if not real or not radius >= 0:
        raise ValueError(f"radius={radius!r}: give a number of at least 0")
    return float(radius)
