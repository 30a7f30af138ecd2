"""The distance of a neighbours model, as its definition names it.

It is a name with parameters or, without a name, a function of two blocks of rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..types import FittedModel

UNWEIGHTED_MINKOWSKI = {"euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "infinity"}
MINKOWSKI = UNWEIGHTED_MINKOWSKI | {"minkowski", "p", "sqeuclidean", "seuclidean"}
OTHER_METRICS = {
    "mahalanobis",
    "cosine",
    "correlation",
    "spearman",
    "phi_s",
    "canberra",
    "braycurtis",
}
# metrics for which the point halfway between two rows may not be a valid row
METRICS_WITHOUT_MIDPOINTS = {
    "precomputed", "hamming", "matching", "gower", "nan_euclidean", "haversine", "dice", "jaccard",
    "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule",
}  # fmt: skip
METRICS_WITH_MIDPOINTS = MINKOWSKI | OTHER_METRICS
METRICS = sorted(MINKOWSKI | OTHER_METRICS | METRICS_WITHOUT_MIDPOINTS)
PARAMETERS = ("p", "w", "V", "VI", "min_overlap")


class PairwiseFunction:
    """Applies a function of two rows to all pairs of rows of two blocks."""

    def __init__(self, function: Callable[..., Any], params: dict[str, Any]):
        self.function, self.params = function, params

    def __call__(self, A: np.ndarray, B: Any) -> np.ndarray:
        return np.array([[self.function(a, b, **self.params) for b in B] for a in A], dtype=float)


def is_ours(model: FittedModel) -> bool:
    return any(cls.__module__.startswith("certus.") for cls in type(model).__mro__)


def name_of(model: FittedModel) -> Any:
    name = model.effective_metric_
    return name if isinstance(name, str) else None


def metric_of(model: FittedModel) -> tuple[Any, dict[str, Any]]:
    """Return the distance by name, with its parameters, or as a function of two blocks of rows."""
    distance = vars(model).get("_distance")
    if distance is not None:
        return of_distance(distance)
    metric, params = model.effective_metric_, dict(model.effective_metric_params_ or {})
    params = {name: value for name, value in params.items() if value is not None}
    if callable(metric):
        return PairwiseFunction(metric, params), {}
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"metric={metric!r} has no definition here; these have: {METRICS}")
    others = [name for name in params if name not in PARAMETERS]
    if others:
        raise ValueError(f"metric_params {others} have no definition here")
    if metric in ("mahalanobis", "seuclidean") and not {"V", "VI"} & set(params):
        raise ValueError(f"the V of {metric} is not kept in the model: give it in metric_params")
    return metric, params


def of_distance(distance: Any) -> tuple[Any, dict[str, Any]]:
    """Return name and parameters of a ``certus.distances.Distance`` prepared on the rows."""
    if distance.name not in METRICS or "function" in vars(distance):
        return distance.pairwise, {}
    params = distance.parameters()
    return distance.name, {name: value for name, value in params.items() if value is not None}


def metric_text(metric: Any, params: dict[str, Any]) -> str:
    if callable(metric):
        return "a distance of the user's"
    if metric == "precomputed":
        return "the distances given"
    if metric == "minkowski":
        return f"Minkowski distance, p = {params.get('p', 2):g}"
    return f"{metric.replace('_', ' ').capitalize()} distance"
