"""HDBSCAN of scikit-learn and of the library hdbscan: merges, labels and probabilities.

The two count differently: c_i is the distance to the nearest ``min_samples`` rows, among which
scikit-learn counts row i itself and hdbscan does not. Where scikit-learn computes all distances
first, ``alpha`` divides these before the c_i are taken from them; elsewhere it divides d_ij alone.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import FittedModel
from .linkage import metric_of_rows
from .neighbor_metrics import metric_text

if TYPE_CHECKING:
    from ...data.rows import Rows

# those for which scikit-learn builds a k-d tree or a ball tree
TREE_METRICS = {
    "euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity",
    "seuclidean", "mahalanobis", "hamming", "canberra", "braycurtis", "jaccard", "dice",
    "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "haversine",
}  # fmt: skip
ANGLES = {"cosine", "correlation"}
EPSILON = 2.0**-52


def read_sklearn(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read HDBSCAN of scikit-learn, which keeps its merges in a private attribute."""
    records = np.asarray(model._single_linkage_tree_)
    names = ("left_node", "right_node", "value", "cluster_size")
    if records.dtype.names is None or not set(names) <= set(records.dtype.names):
        raise ValueError("_single_linkage_tree_ has another layout than is known: nothing to check")
    merges = np.column_stack([records[name].astype(float) for name in names])
    by_tree = not rows.sparse and model.metric in TREE_METRICS and model.algorithm != "brute"
    special = model.cluster_selection_epsilon != 0 or model.allow_single_cluster
    reading = _reading(model, rows, merges, dict(model.metric_params or {}), by_tree, special)
    k = model.min_cluster_size if model.min_samples is None else model.min_samples
    reading["parameters"] |= {
        "k": _within(k, len(merges) + 1), "core_alpha": 1.0 if by_tree else float(model.alpha),
    }  # fmt: skip
    if model.max_cluster_size is not None:
        reading["parameters"]["most_size"] = int(model.max_cluster_size)
    if model.store_centers is not None:
        reading["notes"] = (*reading["notes"], "centroids_ and medoids_ are not checked")
    return reading


def read_hdbscan(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read HDBSCAN of the library hdbscan, with its spanning tree if it was kept."""
    fitted, params = vars(model), dict(vars(model).get("_metric_kwargs") or {})
    merges = np.asarray(fitted["_single_linkage_tree"], dtype=float)
    if merges.ndim != 2 or merges.shape[1] != 4:
        raise ValueError(f"single_linkage_tree_ has shape {merges.shape}, and needs 4 columns")
    if model.p is not None and model.metric == "minkowski":
        params["p"] = model.p
    by_tree = not rows.sparse and model.metric in TREE_METRICS and model.algorithm != "generic"
    special = (
        model.cluster_selection_epsilon != 0
        or model.allow_single_cluster
        or fitted.get("cluster_selection_persistence", 0) != 0
        or fitted.get("cluster_selection_epsilon_max", np.inf) != np.inf
        or model.match_reference_implementation
    )
    reading = _reading(model, rows, merges, params, by_tree, special)
    k = model.min_cluster_size if model.min_samples is None else model.min_samples
    reading["parameters"]["k"] = min(max(int(k), 1) + 1, len(merges) + 1)
    if fitted.get("max_cluster_size"):
        reading["parameters"]["most_size"] = int(model.max_cluster_size)
    edges = fitted.get("_min_spanning_tree")
    if edges is not None:
        reading["parameters"]["edges"] = np.asarray(edges, dtype=float)
    return reading


UNCHECKED_LABELS_NOTE = (
    "labels_ and probabilities_ are not checked: cluster_selection_epsilon, allow_single_cluster "
    "and the like choose clusters by other rules"
)


def _reading(
    model: FittedModel, rows: "Rows", merges: np.ndarray, params: dict[str, Any], by_tree: bool,
    special: bool,
) -> dict[str, Any]:  # fmt: skip
    if rows.s is not None:
        raise ValueError("HDBSCAN takes no sample_weight: leave it out")
    n = len(merges) + 1
    if n < 2 or not np.isfinite(merges[:, 2]).all():
        raise ValueError(
            "rows with missing or infinite values were left out of the tree: fit the model without "
            "them to have it checked"
        )
    metric, params = metric_of_rows(model.metric, params, rows)
    if metric == "precomputed" and (rows.sparse or rows.shape != (n, n)):
        raise ValueError(f"metric='precomputed', and X is not the {n:,} × {n:,} distances, dense")
    method = model.cluster_selection_method
    if method not in ("eom", "leaf"):
        raise ValueError(f"cluster_selection_method={method!r} is neither 'eom' nor 'leaf'")
    parameters: dict[str, Any] = {
        "merges": merges, "metric": metric, "metric_params": params, "alpha": float(model.alpha),
        "rounding": 0.0 if by_tree else _rounding(metric, rows),
    }  # fmt: skip
    if not special:
        parameters |= {
            "labels": np.asarray(model.labels_), "leaves": method == "leaf",
            "probabilities": np.asarray(model.probabilities_, dtype=float),
            "least_size": int(model.min_cluster_size),
        }  # fmt: skip
    by = "a distance of the user's" if metric is None else metric_text(metric, params)
    notes = [UNCHECKED_LABELS_NOTE] if special else []
    if metric == "precomputed" and vars(model).get("copy", True) is not True:
        notes.append("with copy=False a fit writes into its distances: give X as it was before")
    return {
        "definition": "spanning_tree",
        "formula": f"minimum spanning tree of mutual reachability by {by}",
        "parameters": parameters, "notes": tuple(notes),
    }  # fmt: skip


def _within(k: Any, n: int) -> int:
    if not 1 <= k <= n:
        raise ValueError(f"min_samples is {k}, and the tree has {n:,} rows: fit again")
    return int(k)


def _rounding(metric: object, rows: "Rows") -> float:
    """Return the error of distances that are computed as √(‖x‖² + ‖z‖² − 2xᵀz), or 1 − uᵀv."""
    p = rows.shape[1]
    if metric in ANGLES:
        return (p + 64) * EPSILON
    if metric not in ("euclidean", "l2", "sqeuclidean"):
        return 0.0
    X = rows.block(0, rows.shape[0])[0]
    X = np.asarray(X.toarray() if rows.sparse else X, dtype=float)
    with np.errstate(over="ignore"):
        squares = 8 * (p + 8) * EPSILON * float(np.max((X * X).sum(axis=1), initial=0.0))
    return squares if metric == "sqeuclidean" else float(np.sqrt(squares))
