"""The input of a tree, read and checked: rows and their distance, or a matrix of distances.

    X ── divide by scale ──► rows ──► d(·,·) ──► merges          D ──► merges

Where a distance is Euclidean between transformed rows (Mahalanobis, weights), linkages that need no
matrix of distances work on these. Single linkage uses only the order of distances, so squared ones
serve as well.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils.validation import validate_data

from ..data.csr import CSR
from ..data.finite import require_finite
from ..data.lazy import LazyRows
from ..data.types import Metric
from ..data.validation import data_for_search
from ..distances import Distance, get_distance
from ..exceptions import DegenerateWarning, NotEuclideanWarning
from ..solvers.linkage import CENTER_METHODS
from ..text.format import count, listed
from ._given_distances import looks_like_distances, read_square_distances
from ._units import WITH_UNITS, PendingWarning, scale_of, unit_warnings

MISSING_VALUES_REMEDY = ", or use metric='nan_euclidean' or 'gower', which compare known values"


class HasMetric(Protocol):
    """An estimator, or a stand-in, with a metric."""

    metric: Metric
    metric_params: dict[str, Any] | None


class LinkageProblem(NamedTuple):
    """Rows and their distance, or given distances, with the warnings to emit after the fit."""

    X: Any  # as given, for new rows and the certificate; an array unless there are categories
    scale: np.ndarray | None
    distance: Distance | None  # prepared with the rows; None: distances are given
    metric: Metric  # as given, or the prepared distance if it depends on the rows
    mixed: bool  # whether columns hold categories
    pending_warnings: list[PendingWarning]

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def rows(self) -> np.ndarray:
        """The rows as the proof takes them: numbers, not divided by scale."""
        if not self.mixed:
            return np.asarray(self.X)
        assert self.distance is not None
        return self.distance.read(self.X)


def read_problem(model: HasMetric, X: object, method: str, scale: object) -> LinkageProblem:
    """Read and check X of a fit; ``model`` gets its number and names of columns."""
    params = params_of(model.metric_params)
    if isinstance(model.metric, str) and model.metric == "precomputed":
        if not (scale is None or scale is False):
            raise ValueError("scale is for columns of rows: given distances have none")
        given = read_square_distances(model, X)
        return LinkageProblem(
            given, None, None, "precomputed", False, _given_center_warnings(method)
        )
    distance = get_distance(model.metric, **params)
    if distance.name == "gower" and _may_hold_categories(X):
        ready = distance.prepare(X)
        if vars(ready)["_categorical"].any():
            if not (scale is None or scale is False):
                raise ValueError("metric='gower' divides by ranges itself: leave scale out")
            validate_data(model, X, reset=True, skip_check_array=True)
            return LinkageProblem(X, None, ready, ready, True, _center_warnings(method, ready))
    rows = rows_of(model, X, reset=True, missing=distance.missing)
    unknown = np.flatnonzero(np.isnan(rows).all(axis=1)) if distance.missing else np.empty(0)
    if len(unknown):
        which = listed([str(i) for i in unknown])
        raise ValueError(
            f"{count(len(unknown), 'row')} without a known value (row {which}): drop what cannot "
            "be compared"
        )
    if isinstance(model.metric, str) and looks_like_distances(rows):
        raise ValueError(
            f"X is square ({len(rows)} × {len(rows)}), symmetric and 0 on its diagonal: it looks "
            "like distances. Say metric='precomputed' if it is; if these are rows, give the "
            "distance as an object, e.g. metric=certus.distances.Euclidean()"
        )
    s = scale_of(scale, rows)
    pending: list[PendingWarning] = []
    if scale is None and distance.name in WITH_UNITS and params.get("w") is None:
        pending += unit_warnings(rows, vars(model).get("feature_names_in_"))
    scaled = divided(rows, s)
    ready = distance.prepare(scaled)
    metric = model.metric if ready is distance else ready
    distance = ready
    pending += _center_warnings(method, distance)
    flags = [text for _, _, text in distance.flags(scaled)]
    if flags:
        pending.append(("; ".join(flags), DegenerateWarning))
    return LinkageProblem(rows, s, distance, metric, False, pending)


def params_of(metric_params: object) -> dict[str, Any]:
    if not (metric_params is None or isinstance(metric_params, dict)):
        raise ValueError(f"metric_params={metric_params!r}: give a dict, or None")
    return dict(metric_params or {})


def divided(X: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    return X if scale is None else X / scale


def rows_of(model: object, X: object, *, reset: bool, missing: bool) -> np.ndarray:
    """Return X as float64 in C order; it must be finite, except for NaN if ``missing``."""
    X = data_for_search(model, X, reset=reset)
    if isinstance(X, CSR):
        raise TypeError(
            f"Sparse data was passed, but {type(model).__name__} compares all columns of all rows: "
            "use X.toarray()"
        )
    X = X[0 : X.shape[0]] if isinstance(X, LazyRows) else X
    rows = np.ascontiguousarray(X, dtype=np.float64)
    names = vars(model).get("feature_names_in_")
    try:
        require_finite(np.where(np.isnan(rows), 0.0, rows) if missing else rows, names)
    except ValueError as error:
        raise ValueError(
            str(error) + (MISSING_VALUES_REMEDY if "NaN" in str(error) else "")
        ) from None
    return rows


def _may_hold_categories(X: object) -> bool:
    if isinstance(X, np.ndarray) or not hasattr(X, "shape"):
        table = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        return table.ndim == 2 and table.size > 0 and table.dtype.kind in "OUT"
    return not hasattr(X, "nnz") and len(X.shape) == 2 and min(X.shape) > 0


def _given_center_warnings(method: str) -> list[PendingWarning]:
    if method not in CENTER_METHODS:
        return []
    return [(
        f"linkage='{method}' compares centres, and given distances have none: the tree means "
        "something only if they are Euclidean. Give the rows, or use 'average'",
        NotEuclideanWarning,
    )]  # fmt: skip


def _center_warnings(method: str, distance: Distance) -> list[PendingWarning]:
    if method not in CENTER_METHODS or distance.embedded_metric == "euclidean":
        return []
    return [(
        f"linkage='{method}' compares centres, and metric '{distance.name}' has none: the tree "
        "means something only for Euclidean distances. Use 'average', or a Euclidean metric",
        NotEuclideanWarning,
    )]  # fmt: skip
