"""What the estimators of neighbours share: parameters, rows, an index of them, a certificate."""

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
from ..solvers.neighbors.precomputed import Precomputed
from ..solvers.neighbors.present import Present
from ..solvers.neighbors.sparse import SparseIndex
from ._input import distances_given, mixed_for_fit, mixed_for_query, rows_given
from ._metric import OfReadRows, distance_of, effective_metric

ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")
SMALL = 1 << 24  # elements of sparse rows that may be held with their zeros
WITH_MISSING = ("nan_euclidean", "gower")  # metrics that say what a missing value means


class NeighborsModel(MultiOutputMixin, CertifiedEstimator):
    """Rows that are searched."""

    n_neighbors: int
    radius: float
    algorithm: str
    leaf_size: int
    p: float
    metric: Metric
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    _index: Index
    _distance: Any  # that of a fit, which has seen its rows; None for given distances
    _mixed = False  # are the rows kept as numbers that stand for categories?
    _present: np.ndarray | None = None  # rows of a weight above 0; None: all
    _asks_itself = False  # for its certificate: rows as they are kept, and no complaints

    # --- fit ---

    def _take(self, X: object) -> Any:
        """Check the parameters, and read the rows."""
        self._check_parameters()
        metric, params = effective_metric(self.metric, self.p, self.metric_params)
        self.effective_metric_, self.effective_metric_params_ = metric, params
        self._distance = None if self._precomputed else distance_of(metric, params)
        rows = self._read(X, reset=True)
        if self._mixed:
            self._warn_of_flags(X)
        return rows

    def _keep(self, X: Any, s: np.ndarray | None = None) -> None:
        """Make the rows ready to be searched; one of weight 0 is absent."""
        self._monitor.begin()
        self._fit_X, self.n_samples_fit_ = X, X.shape[0]
        self._present = None if s is None or (s > 0).all() else np.flatnonzero(s > 0)
        if not (self._precomputed or self._mixed):
            there = _plain(X) if self._present is None else X[self._present]
            self._distance = self._distance.prepare(there)
            self._warn_of_flags(_plain(X))
        self._index = self._make_index(X)

    def _make_index(self, X: Any) -> Index:
        if self._present is None:
            return self._index_of(X)
        absent = np.delete(np.arange(X.shape[0]), self._present)
        there, others = (_some(X, rows) for rows in (self._present, absent))
        if self._precomputed:
            there = there[:, self._present]
        return Present(self._index_of(there), self._present, self._as_indexed(others))

    def _index_of(self, X: Any) -> Index:
        distance, threads = self._distance, effective_threads(self.n_jobs)
        if distance is None:
            return Precomputed(X)
        if isinstance(X, CSR):
            return SparseIndex(X, distance, threads)
        if distance.embedded_metric is None:
            X, distance = self._as_indexed(X), OfReadRows(distance)
        algorithm = "kd_tree" if self.algorithm == "ball_tree" else self.algorithm
        return DenseIndex(X, distance, algorithm=algorithm, threads=threads)

    def _as_indexed(self, Q: Any) -> Any:
        """Queries as the index holds its rows."""
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
        """Rows for which the metric is a convention: of zeros for cosine, and the like."""
        if issparse(X) and X.shape[0] * X.shape[1] > SMALL:
            return  # to look at rows, a distance fills in their zeros
        told = [text for _, _, text in self._distance.flags(X)]
        if told:
            warn_user("; ".join(told), DegenerateWarning)

    def _certify_neighbors(self, y: np.ndarray | None = None, s: np.ndarray | None = None) -> None:
        """Set certificate_: sampled answers, recomputed from all rows."""
        rows = Rows(self._fit_X, y, s)
        self._asks_itself = True
        try:
            found = certify(self, rows)
        except ValueError as error:
            found = self._unproven(rows, str(error))
        finally:
            del self._asks_itself
        note = getattr(self._distance, "note", None)  # what it had to decide about these rows
        if note is not None:
            found = replace(found, notes=(*found.notes, note))
        self._set_certificate(found)
        self._warn_of_certificate(claimed=found.status == "contradicted")

    def _unproven(self, rows: Rows, why: str) -> Certificate:
        return unproven(self, rows, "the nearest rows", float("nan"), why, kind="exact")

    # --- queries ---

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _read(self, X: object, *, reset: bool) -> Any:
        """Rows as the metric takes them: an array or CSR of floats, or given distances."""
        if self._precomputed:
            return distances_given(self, X, reset=reset)
        if reset:
            self._mixed = False
            if self._distance.name == "gower":
                rows, self._distance = mixed_for_fit(self, X, self._distance)
                self._mixed = rows is not None
                if self._mixed:
                    return rows
        elif self._mixed and not self._asks_itself:
            return mixed_for_query(self, X, self._distance)
        return rows_given(self, X, reset=reset, missing=self._distance.missing)

    def _queries(self, X: object) -> Any:
        """Rows to search for; None: those of the fit, each without itself."""
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
        """What ran last: "kd_tree", "brute", … ("auto": nothing yet)."""
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
        tags.input_tags.pairwise = self._precomputed  # folds then cut rows and columns
        tags.input_tags.positive_only = self._precomputed
        named = isinstance(self.metric, str) and self.metric in WITH_MISSING
        tags.input_tags.allow_nan = named or bool(getattr(self.metric, "missing", False))
        return tags

    def __copy__(self) -> Any:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)  # the index too: it is not changed
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_index", None)  # as large as the rows, and soon made again
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_fit_X" in state:
            self._index = self._make_index(self._fit_X)


def _plain(X: object) -> Any:
    """What a distance looks at before the search; sparse rows as SciPy's."""
    return X[0 : X.shape[0]] if isinstance(X, CSR) else X


def _some(X: Any, rows: np.ndarray) -> Any:
    return CSR(X[rows]) if isinstance(X, CSR) else X[rows]


def check_radius(radius: float) -> float:
    real = isinstance(radius, Real) and not isinstance(radius, bool)
    if not real or not radius >= 0:
        raise ValueError(f"radius={radius!r}: give a number of at least 0")
    return float(radius)
