"""What a tree is grown from: rows and their distance, or distances, read and checked.

    X ── divide by scale ──► rows ──► d(·,·) ──► merges          D ──► merges

Where a distance is Euclidean between other rows (Mahalanobis, weights), the linkages that need no
matrix need none. Single linkage keeps the order of distances alone: squares will do as well.
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
from ..solvers.linkage import OF_CENTERS
from ..text.format import count, listed
from ._given_distances import distances_of, looks_like_distances
from ._units import WITH_UNITS, Told, scale_of, units_differ

MISSING = ", or use metric='nan_euclidean' or 'gower', which compare what is there"


class HasMetric(Protocol):
    """An estimator with a metric, or what stands in its place."""

    metric: Metric
    metric_params: dict[str, Any] | None


class Problem(NamedTuple):
    """Rows or distances. ``told``: what the person should hear."""

    kept: Any  # as given, for new rows and the certificate; an array unless categories are held
    scale: np.ndarray | None
    distance: Distance | None  # that has seen the rows; None: given distances
    metric: Metric  # by name, or the distance where it learnt from the rows
    mixed: bool  # do columns hold categories?
    told: list[Told]

    @property
    def n(self) -> int:
        return int(self.kept.shape[0])

    @property
    def rows(self) -> np.ndarray:
        """As the definition takes them: numbers, not divided by scale."""
        if not self.mixed:
            return np.asarray(self.kept)
        assert self.distance is not None
        return self.distance.read(self.kept)


def read_problem(model: HasMetric, X: object, method: str, scale: object) -> Problem:
    """X of a fit. ``model`` has ``metric`` and ``metric_params``, and learns its columns."""
    params = params_of(model.metric_params)
    if isinstance(model.metric, str) and model.metric == "precomputed":
        if not (scale is None or scale is False):
            raise ValueError("scale is for columns of rows: given distances have none")
        given = distances_of(model, X)
        return Problem(given, None, None, "precomputed", False, _of_given(method))
    distance = get_distance(model.metric, **params)
    if distance.name == "gower" and _may_hold_categories(X):
        ready = distance.prepare(X)
        if vars(ready)["_categorical"].any():
            if not (scale is None or scale is False):
                raise ValueError("metric='gower' divides by ranges itself: leave scale out")
            validate_data(model, X, reset=True, skip_check_array=True)
            return Problem(X, None, ready, ready, True, _of_centers(method, ready))
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
    told: list[Told] = []
    if scale is None and distance.name in WITH_UNITS and params.get("w") is None:
        told += units_differ(rows, vars(model).get("feature_names_in_"))
    scaled = divided(rows, s)
    ready = distance.prepare(scaled)
    metric = model.metric if ready is distance else ready
    distance = ready
    told += _of_centers(method, distance)
    flags = [text for _, _, text in distance.flags(scaled)]
    if flags:
        told.append(("; ".join(flags), DegenerateWarning))
    return Problem(rows, s, distance, metric, False, told)


def params_of(metric_params: object) -> dict[str, Any]:
    if not (metric_params is None or isinstance(metric_params, dict)):
        raise ValueError(f"metric_params={metric_params!r}: give a dict, or None")
    return dict(metric_params or {})


def divided(X: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    return X if scale is None else X / scale


def rows_of(model: object, X: object, *, reset: bool, missing: bool) -> np.ndarray:
    """X as float64 in C order, finite but for NaN where ``missing`` values have a meaning."""
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
        raise ValueError(str(error) + (MISSING if "NaN" in str(error) else "")) from None
    return rows


def _may_hold_categories(X: object) -> bool:
    if isinstance(X, np.ndarray) or not hasattr(X, "shape"):
        table = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        return table.ndim == 2 and table.size > 0 and table.dtype.kind in "OUT"
    return not hasattr(X, "nnz") and len(X.shape) == 2 and min(X.shape) > 0


def _of_given(method: str) -> list[Told]:
    if method not in OF_CENTERS:
        return []
    return [(
        f"linkage='{method}' compares centres, and given distances have none: the tree means "
        "something only if they are Euclidean. Give the rows, or use 'average'",
        NotEuclideanWarning,
    )]  # fmt: skip


def _of_centers(method: str, distance: Distance) -> list[Told]:
    if method not in OF_CENTERS or distance.embedded_metric == "euclidean":
        return []
    return [(
        f"linkage='{method}' compares centres, and metric '{distance.name}' has none: the tree "
        "means something only for Euclidean distances. Use 'average', or a Euclidean metric",
        NotEuclideanWarning,
    )]  # fmt: skip
