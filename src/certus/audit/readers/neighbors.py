"""Neighbours models of certus and scikit-learn: a few queries, and the model's answers.

Some of the model's own rows serve as queries, so that each finds itself at distance 0, and, where
votes depend on distances, points halfway between two rows. The answers are those of a copy of the
model without column names, since the rows have no names here.
"""

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import is_classifier, is_regressor

from ..labels import Labels
from ..types import FittedModel
from .neighbor_metrics import (
    METRICS_WITH_MIDPOINTS,
    UNWEIGHTED_MINKOWSKI,
    is_ours,
    metric_of,
    metric_text,
    name_of,
)

if TYPE_CHECKING:
    from ...data.rows import Rows


MAX_QUERIES = 16
MAX_OPERATIONS = 2e7  # on elements of X, over all queries
# operations on each element of a pair of rows
PAIR_OPERATIONS = 3  # d is a sum of powers of differences
OTHER_PAIR_OPERATIONS = 24
USER_PAIR_OPERATIONS = 1000  # d is a function in Python
MAX_ANSWERS = 100_000  # neighbours that are recomputed
ELEMENTS_PER_PASS = 1 << 18  # elements compared at a time


def read_k_nearest(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read NearestNeighbors and KNeighbors*."""
    _require_a_claim(model, rows)
    k = model.n_neighbors
    if k is None:
        return read_within_radius(model, rows)
    if not isinstance(k, int | np.integer):
        raise ValueError(f"n_neighbors={k!r} is no whole number: the model cannot answer queries")
    n = int(model.n_samples_fit_ if rows.s is None else np.count_nonzero(rows.s > 0))
    if _predicts(model) and k > n:
        raise ValueError(f"n_neighbors={k}, and the model has {n} rows: it cannot answer queries")
    k = min(int(k), n)
    pairs = _query_pairs(model, rows, _count(model, rows, MAX_ANSWERS // k))
    plain_model = _plain_copy(model)
    d, i = plain_model.kneighbors(_queries(rows, pairs), k)
    answers = np.asarray(d, dtype=float).ravel(), np.asarray(i, dtype=np.intp).ravel()
    start = np.arange(len(pairs) + 1) * k
    return _reading(model, plain_model, rows, pairs, start, *answers, k=k)


def read_within_radius(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read RadiusNeighbors*."""
    _require_a_claim(model, rows)
    plain_model = _plain_copy(model)
    single_pair = _query_pairs(model, rows, 1)
    max_count = MAX_ANSWERS // max(
        1, len(plain_model.radius_neighbors(_queries(rows, single_pair))[1][0])
    )
    pairs = _query_pairs(model, rows, _count(model, rows, max_count))
    d, i = plain_model.radius_neighbors(_queries(rows, pairs))
    start = np.concatenate([[0], np.cumsum([len(part) for part in i])]).astype(np.intp)
    answers = np.concatenate([*d, []]).astype(float), np.concatenate([*i, []]).astype(np.intp)
    return _reading(model, plain_model, rows, pairs, start, *answers, radius=float(model.radius))


def _predicts(model: FittedModel) -> bool:
    return bool(is_classifier(model) or is_regressor(model))


def _require_a_claim(model: FittedModel, rows: "Rows") -> None:
    if rows.s is not None and not is_ours(model):
        raise ValueError(f"{type(model).__name__} takes no sample_weight: leave it out")
    if issparse(rows.X) or (rows.sparse and name_of(model) == "precomputed"):
        raise ValueError("distances given in a sparse matrix leave some out: give all of them")
    metric_of(model)  # raises where there is no definition
    _require_its_rows(model)


def _require_its_rows(model: FittedModel) -> None:
    """Refuse a model without its rows: a search over them may end the process."""
    kept, n = np.shape(vars(model).get("_fit_X", 0)), int(model.n_samples_fit_)
    if kept and (len(kept) != 2 or kept[0] != n or n == 0):
        raise ValueError(
            f"the model keeps rows of shape {kept}, and n_samples_fit_ is {n}: fit again"
        )


# --- queries --------------------------------------------------------------------------------------


def _count(model: FittedModel, rows: "Rows", max_count: int) -> int:
    n, p = rows.shape
    name = name_of(model)
    is_minkowski = name in UNWEIGHTED_MINKOWSKI
    each = OTHER_PAIR_OPERATIONS if name is not None else USER_PAIR_OPERATIONS
    each = PAIR_OPERATIONS if is_minkowski else each
    elements = rows.X.entries + n if rows.sparse and is_minkowski else n * p
    return int(max(1, min(MAX_QUERIES, MAX_OPERATIONS / (each * elements), max_count)))


def _query_pairs(model: FittedModel, rows: "Rows", count: int) -> np.ndarray:
    """Return (m, 2) pairs of rows; a query is the point halfway between the two."""
    n = rows.shape[0]
    # multiples of the golden ratio avoid the periods of any pattern in the rows
    a = np.unique((np.arange(count) * 0.6180339887498949 % 1.0 * n).astype(np.intp))
    b = a.copy()
    by_distance = vars(model).get("weights", "uniform") not in ("uniform", None)
    if by_distance and name_of(model) in METRICS_WITH_MIDPOINTS:
        b[1::2] = a[: len(a) // 2 * 2 : 2]
    return np.column_stack([a, b])


def _queries(rows: "Rows", pairs: np.ndarray) -> Any:
    a, b = (rows.take(side).block(0, len(side))[0] for side in pairs.T)
    if issparse(a):
        a, b = a.toarray(), b.toarray()
    Q = np.where(a == b, a, a + (b - a) / 2)
    return csr_array(Q) if rows.sparse else Q


def _plain_copy(model: FittedModel) -> FittedModel:
    plain_model = copy.copy(model)
    vars(plain_model).pop("feature_names_in_", None)
    if is_ours(model):
        vars(plain_model)["_is_certifying"] = True  # takes rows as stored, and does not warn
    return plain_model


# --- answers --------------------------------------------------------------------------------------


def _reading(
    model: FittedModel,
    plain_model: FittedModel,
    rows: "Rows",
    pairs: np.ndarray,
    start: np.ndarray,
    d: np.ndarray,
    i: np.ndarray,
    **extent: Any,
) -> dict[str, Any]:
    metric, params = metric_of(model)
    votes, labels = None, None
    if _predicts(model):
        votes = _votes(model, plain_model, rows, pairs, start, d)
    if is_classifier(model) and not isinstance(model.classes_, list):
        labels = Labels(np.asarray(model.classes_))
    within = "k" not in extent
    wanted = f"rows within {extent['radius']:g}" if within else f"{extent['k']} nearest rows"
    return {
        "definition": "neighbors",
        "formula": f"the {wanted} by {metric_text(metric, params)}",
        "parameters": {
            "query_pairs": pairs, "start": start, "distances": d, "indices": i, **extent,
            "metric": metric, "metric_params": params, "ours": is_ours(model), "votes": votes,
        },
        "labels": labels,
        "contradictions": _stored_row_differences(model, rows, params),
    }  # fmt: skip


def _votes(
    model: FittedModel,
    plain_model: FittedModel,
    rows: "Rows",
    pairs: np.ndarray,
    start: np.ndarray,
    d: np.ndarray,
) -> dict[str, Any]:
    has_neighbors = np.diff(start) > 0  # without neighbours there is no prediction
    claim: dict[str, Any] = {"weights": _weights(model, start, d), "has_prediction": has_neighbors}
    Q = _queries(rows, pairs[has_neighbors])
    predicted = _columns(plain_model.predict(Q))
    if not is_classifier(model):
        claim["predicted"] = _for_all_queries(predicted, has_neighbors)
        return claim
    several = isinstance(model.classes_, list)
    classes = [np.asarray(c) for c in (model.classes_ if several else [model.classes_])]
    P = plain_model.predict_proba(Q)
    claim["names"] = [[repr(label) for label in c.tolist()] for c in classes]
    numbers = [_class_indices(predicted[:, o], c) for o, c in enumerate(classes)]
    claim["predicted"] = _for_all_queries(np.column_stack(numbers), has_neighbors)
    P = P if several else [P]
    claim["probabilities"] = [_for_all_queries(np.asarray(p), has_neighbors) for p in P]
    return claim


def _columns(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values)
    return values[:, None] if values.ndim == 1 else values


def _class_indices(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the index of each label's class, or −1 if there is none."""
    number = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([number.get(label, -1) for label in labels.tolist()], dtype=float)


def _for_all_queries(values: np.ndarray, has_neighbors: np.ndarray) -> np.ndarray:
    out = np.zeros((len(has_neighbors), values.shape[1]))
    out[has_neighbors] = values
    return out


def _weights(model: FittedModel, start: np.ndarray, d: np.ndarray) -> Any:
    """Return "uniform", "distance", or the user's function of the distance to each neighbour."""
    weights: str | Callable[..., Any] | None = model.weights
    if weights is None or isinstance(weights, str):
        if weights not in (None, "uniform", "distance"):
            raise ValueError(f"weights={weights!r} is neither 'uniform' nor 'distance'")
        return weights or "uniform"
    with np.errstate(divide="ignore"):
        counts = np.diff(start)
        if len(set(counts)) == 1:  # k neighbours of each, in the layout of the model
            return np.asarray(weights(d.reshape(len(counts), -1).copy()), dtype=float).ravel()
        parts = [d[start[t] : start[t + 1]].copy() for t in range(len(counts))]
        return np.concatenate([np.asarray(weights(part), dtype=float) for part in parts])


def _stored_row_differences(
    model: FittedModel, rows: "Rows", metric_params: Mapping[str, Any]
) -> tuple[str, ...]:
    """Describe differences between the rows that the model stores and those that were given."""
    fitted = vars(model)
    differences = [first_other_row(fitted.get("_fit_X"), rows.X, "of the model has", "in column")]
    if fitted.get("_tree") is not None:  # scikit-learn's, with a copy of the rows
        tree = np.asarray(fitted["_tree"].data)
        differences.append(first_other_row(tree, rows.X, "of the tree has", "in column"))
    # the rows that an index of certus searches, unless weights of the columns are in them
    searched = vars(fitted["_index"]).get("Z") if fitted.get("_index") is not None else ()
    is_plain = name_of(model) in UNWEIGHTED_MINKOWSKI and metric_params.get("w") is None
    if is_plain and np.shape(searched) == rows.shape:
        differences.append(first_other_row(searched, rows.X, "of the index has", "in column"))
    if rows.y is not None:
        y = fitted.get("_y")
        differences.append(first_other_row(y, rows.y, "of the model has", "as target"))
    return tuple(text for text in differences if text is not None)


def first_other_row(kept: Any, given: Any, whose: str, what: str) -> str | None:
    """Describe the first row that differs between the model's copy and the rows given."""
    if kept is None or kept is given:
        return None
    if isinstance(kept, np.ndarray) != isinstance(given, np.ndarray):
        return None  # lazy rows, or dense rows on one side only
    if not isinstance(kept, np.ndarray):
        kept, given = (csr_array((a.data, a.indices, a.indptr), a.shape) for a in (kept, given))
        same = kept.shape == given.shape and (kept != given).nnz == 0
        return None if same else "the model keeps other rows than were given"
    kept = np.asarray(kept).reshape(len(kept), -1)
    if kept.shape != given.shape:
        return f"the model keeps {kept.shape[0]:,} rows, and {given.shape[0]:,} were given"
    step = max(1, ELEMENTS_PER_PASS // kept.shape[1])
    for first in range(0, len(kept), step):
        a, b = kept[first : first + step], given[first : first + step]
        other = a != b
        if other.any():
            other &= ~((a != a) & (b != b))  # two missing values are equal
        if other.any():
            i, j = np.argwhere(other)[0]
            value, right = a[i, j], b[i, j]
            return f"row {first + i} {whose} {value:.6g} {what} {j}, the row given {right:.6g}"
    return None
