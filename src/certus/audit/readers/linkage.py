"""Trees of clusters: merges, their method and metric, and the labels of a cut.

A ``Tree`` of certus holds the merges of certus's models and of SciPy's ``linkage``. scikit-learn's
models have children but no sizes, and heights only if fitted with compute_distances=True.
"""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..types import FittedModel
from .neighbor_metrics import METRICS, PARAMETERS, metric_text, of_distance

if TYPE_CHECKING:
    from ...data.rows import Rows


METRICS_WITH_ESTIMATED_V = ("seuclidean", "mahalanobis")  # whose V SciPy takes from the rows
AGGLOMERATIVE_METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")


def read_tree(tree: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read a ``Tree``."""
    return _reading(tree, rows, np.asarray(tree.merges, dtype=float), {})


def read_ours(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read AgglomerativeClustering and DivisiveClustering of certus."""
    tree, fitted = model.tree_, vars(model)
    merges = np.array(tree.merges, dtype=float)
    wrong: list[str] = []
    for name, part in (("children_", merges[:, :2]), ("distances_", merges[:, 2])):
        if name in fitted and not np.array_equal(fitted[name], part):
            wrong.append(f"{name} differs from tree_")
    # the distance prepared on the rows holds what it estimated from them
    reading = _reading(tree, rows, merges, _cut(model), fitted.get("_distance"))
    reading["contradictions"] = (*wrong, *_counts(model))
    return reading


def read_variables(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read VariableClustering: columns at distance 1 − c or 1 − |c|, c a cosine or correlation."""
    tree = model.tree_
    reading = _reading(tree, rows, np.asarray(tree.merges, dtype=float), _cut(model), model.metric)
    absolute = bool(model.absolute)
    reading["parameters"] |= {
        "columns": True, "absolute": absolute,
        "representatives": np.asarray(model.representatives_),
    }  # fmt: skip
    reading["formula"] = _formula(tree.method, model.metric, {}, None, True, absolute)
    reading["contradictions"] = _counts(model)
    return reading


def read_sklearn(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read AgglomerativeClustering of scikit-learn."""
    if model.connectivity is not None:
        raise ValueError(
            "with connectivity only clusters that touch are joined: such a tree has no definition "
            "here. Leave connectivity out, or give the distances that you mean as "
            "metric='precomputed'"
        )
    children, heights = np.asarray(model.children_), vars(model).get("distances_")
    parts = [children] if heights is None else [children, np.asarray(heights)[:, None]]
    metric, params = metric_of_rows(model.metric, {}, rows)
    return {
        "definition": "linkage",
        "formula": _formula(model.linkage, metric, params, None),
        "parameters": {
            "merges": np.column_stack(parts).astype(float), "method": model.linkage,
            "metric": metric, "metric_params": params, **_cut(model),
        },
        "notes": () if heights is not None else (MISSING_HEIGHTS_NOTE,),
        "contradictions": _counts(model),
    }  # fmt: skip


MISSING_HEIGHTS_NOTE = (
    "heights are not claimed: fit with compute_distances=True to have them checked"
)


def read_features(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read FeatureAgglomeration: the tree of the columns."""
    reading = read_sklearn(model, rows)
    parameters = reading["parameters"]
    parameters["columns"] = True
    named = parameters["metric"], parameters["metric_params"]
    reading["formula"] = _formula(model.linkage, *named, None, True)
    return reading


def _reading(
    tree: FittedModel, rows: "Rows", merges: np.ndarray, cut: dict[str, Any], metric: Any = None
) -> dict[str, Any]:
    if rows.s is not None:
        raise ValueError("a tree takes no sample_weight: leave it out")
    method = tree.method
    if method not in (*AGGLOMERATIVE_METHODS, "diana"):
        reasons = {
            None: "say which linkage it is: Tree(merges, method='average')",
            "bisecting": "its splits are those of k-means: verify the BisectingKMeans",
        }
        known = ", ".join(AGGLOMERATIVE_METHODS)
        raise ValueError(reasons.get(method, f"method={method!r} is none of {known} and diana"))
    scale = None if tree.scale is None else np.asarray(tree.scale, dtype=float)
    metric = tree.metric if metric is None else metric
    metric, params = metric_of_rows(metric, tree.metric_params, rows, scale)
    if metric == "precomputed":
        _require_distances(rows.shape, len(merges) + 1)
    parameters = {
        "merges": merges, "metric": metric, "metric_params": params, "scale": scale,
        "ours": True, **cut,
    }  # fmt: skip
    if method != "diana":
        parameters["method"] = method
        parameters["precision"] = _precision(tree)
    return {
        "definition": "diana" if method == "diana" else "linkage",
        "formula": _formula(method, metric, params, scale),
        "parameters": parameters,
    }


# --- matrices of merges ---------------------------------------------------------------------------


class LinkageMatrix:
    """A matrix of merges as the tree of one method, with distances as SciPy's ``linkage`` has them.

    Its distances are Euclidean, or X itself if X looks like n(n − 1)/2 or n × n distances.
    """

    scale = None
    metric_params = None

    def __init__(self, Z: np.ndarray, X: Any):
        if Z.ndim != 2 or Z.shape[1] != 4 or not len(Z) or Z.dtype.kind not in "iuf":
            raise ValueError(
                f"an array ({Z.dtype}, of shape {Z.shape}) is no fitted model. A linkage matrix "
                "has 4 columns (two clusters, their distance, rows in both; clusters count from "
                "0); scipy.cluster.hierarchy.from_mlab_linkage converts one that counts from 1"
            )
        self.merges, self.method = Z.astype(float), AGGLOMERATIVE_METHODS[0]
        n = len(Z) + 1
        shape = tuple(X.shape if hasattr(X, "shape") else np.shape(X))
        condensed = shape in ((n * (n - 1) // 2,), (n * (n - 1) // 2, 1)) and shape[0] != n
        square = shape == (n, n) and looks_like_distances(X)
        self.metric = "precomputed" if condensed or square else "euclidean"
        if not condensed and (len(shape) != 2 or shape[0] != n):
            raise ValueError(
                f"these {n - 1:,} merges are those of {n:,} rows, and X has shape {shape}: give "
                "the rows, or the distances between them"
            )


def looks_like_distances(X: Any) -> bool:
    """Whether X is symmetric with zeros on its diagonal, and not negative."""
    D = np.asarray(X)
    if D.dtype.kind not in "iuf" or D.ndim != 2 or len(D) < 3:  # a sparse matrix has ndim 0 here
        return False
    return bool(np.all(np.diag(D) == 0) and np.all(D >= 0) and np.allclose(D, D.T, 1e-6, 0.0))


def read_matrix(matrix: LinkageMatrix, method: str, rows: "Rows") -> dict[str, Any]:
    """Read a matrix of merges as the tree of this method."""
    matrix.method, tree = method, cast(FittedModel, matrix)
    return _reading(tree, rows, matrix.merges, {})


def _require_distances(shape: tuple[int, int], n: int) -> None:
    if shape not in ((n, n), (n * (n - 1) // 2, 1)):
        raise ValueError(
            f"metric='precomputed', and X has shape {shape}: give the {n:,} × {n:,} distances"
        )


def _precision(tree: object) -> float:
    """Return ε of the floats in which distances were stored."""
    dtype = vars(tree).get("dtype")
    return float(np.finfo(np.float64 if dtype is None else dtype).eps)


def _cut(model: FittedModel) -> dict[str, Any]:
    """Return the cut of the tree that ``labels_`` are claimed to be."""
    threshold = vars(model).get("distance_threshold")
    labels = np.asarray(model.labels_)
    if threshold is not None:
        return {"labels": labels, "threshold": float(threshold)}
    return {"labels": labels, "n_clusters": int(model.n_clusters_)}


def _counts(model: FittedModel) -> tuple[str, ...]:
    n_labels = len(np.unique(model.labels_))
    stated = vars(model).get("n_clusters_")
    if stated is None or stated == n_labels:
        return ()
    return (f"n_clusters_ is {stated}, and there are {n_labels} labels",)


def metric_of_rows(
    metric: object, params: dict[str, Any] | None, rows: "Rows", scale: np.ndarray | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return the name and parameters of a metric; the name is None for a user's function."""
    if hasattr(metric, "parameters") and hasattr(metric, "pairwise"):
        metric, params = of_distance(metric)
    if callable(metric):
        return None, {}
    given = {name: value for name, value in (params or {}).items() if value is not None}
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"metric={metric!r} has no definition here; these have: {METRICS}")
    others = [name for name in given if name not in (*PARAMETERS, "ranges", "categorical")]
    if others:
        raise ValueError(f"metric_params {others} have no definition here")
    if metric in METRICS_WITH_ESTIMATED_V and not {"V", "VI"} & set(given):
        X = rows.block(0, rows.shape[0])[0]
        X = np.asarray(X.toarray() if rows.sparse else X, dtype=float)
        X = (X - X.mean(axis=0)) / (1.0 if scale is None else scale)
        given["V"] = X.var(axis=0, ddof=1) if metric == "seuclidean" else np.cov(X.T)
    if metric == "gower" and "ranges" not in given:
        raise ValueError("the ranges of gower are not kept in the tree: give a prepared Distance")
    return metric, given


def _formula(
    method: str,
    metric: object,
    params: dict[str, Any],
    scale: np.ndarray | None,
    columns: bool = False,
    absolute: bool = False,
) -> str:
    of = " of columns" if columns else ""
    kind = f"DIANA's splits{of}" if method == "diana" else f"{method} linkage{of}"
    by = metric_text(_user if metric is None else metric, params)
    by = f"1 − |1 − {by}|" if absolute else by
    return f"{kind} by {by}{'' if scale is None else ', columns divided by their scale'}"


def _user() -> None:
    """Stand in for a distance of the user's in texts; it is never called."""
