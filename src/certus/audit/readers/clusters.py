"""k-means of certus and scikit-learn: centres, and the model's labels and objective.

Predictions of scikit-learn's models for some of their rows are read too. They are made by a copy of
the model without column names, since the rows have no names here.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from ..answers import without_column_names
from ..types import FittedModel
from .neighbor_metrics import is_ours

if TYPE_CHECKING:
    from ...data.rows import Rows


FORMULA = "Σ sᵢ minₖ ‖xᵢ − μₖ‖²"
TREE_FORMULA = "Σ sᵢ ‖xᵢ − μ‖², μ the centre of the leaf of xᵢ"
DISTANCES = ("xᵢ − μₖ", "xᵢ − μ")  # of the formulas
# An objective in between is held, and the squares that it is a sum of, so X is in no unit.
MIN_INERTIA, MAX_INERTIA = 1e-280, 1e290
MIN_SQUARES, MAX_SQUARES = 1e-290, 1e290  # the same of p·S times the largest difference, squared
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_PREDICTED_ROWS = 2048  # rows whose predictions are compared
MINI_BATCH_AIM = "mini-batches approach an optimum, they do not reach it"
BISECTING_AIM = "each split was optimised by itself, not the clustering as a whole"


def read_kmeans(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _reading(model, rows, _labels(model, rows))


def read_mini_batch(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read centres; after partial_fit, or without compute_labels, the model claims no labels."""
    labels = vars(model).get("labels_")
    if labels is None or len(labels) != rows.shape[0] or not vars(model).get("compute_labels", 1):
        reading = _reading(model, rows, None)
        reading["extra_claims"].pop("inertia", None)
    else:
        reading = _reading(model, rows, labels)
    if not is_ours(model):  # its starts are compared on a few rows, before the fit
        reading["extra_claims"]["restarts"] = None
    reading["iteration"]["aims"] = MINI_BATCH_AIM
    return reading


def read_bisecting(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read labels of a tree of splits, which need not be those of the nearest centres."""
    reading = _reading(model, rows, _labels(model, rows), TREE_FORMULA)
    reading["extra_claims"] |= {"by_tree": True, "restarts": None}  # starts are those of a split
    reading["iteration"]["aims"] = BISECTING_AIM
    return reading


def _reading(
    model: FittedModel, rows: "Rows", labels: Any, formula: str = FORMULA
) -> dict[str, Any]:
    centers = np.asarray(model.cluster_centers_)
    if not np.isfinite(centers).all():
        k, j = np.argwhere(~np.isfinite(centers))[0]
        raise ValueError(f"cluster_centers_ holds {centers[k, j]} (centre {k}, column {j})")
    if len(centers) > model.n_clusters:
        raise ValueError(
            f"cluster_centers_ holds {len(centers):,} centres, n_clusters is {model.n_clusters:,}: "
            "fit again"
        )
    fitted = vars(model)
    inertia, ours = fitted.get("inertia_"), is_ours(model)
    unit = fitted.get("unit_", 1.0) if ours else _unit(inertia, rows)
    restarts = _restarts(model)
    if not ours and unit != 1.0:  # in units of its square, as certus states it
        inertia = None if inertia is None else float(inertia) / unit / unit
        restarts = None  # no float can tell which agree
    claims: dict[str, Any] = {
        "labels": labels,
        "inertia": None if inertia is None else float(inertia),
        "restarts": restarts,
        "rose": float(fitted.get("_rose", 0.0)),
    }
    if not ours:
        claims["predicted"] = _predicted(model, rows)
    parameters: dict[str, Any] = {"centers": centers.astype(float), "ours": ours}
    reading: dict[str, Any] = {
        "definition": "kmeans",
        "formula": formula,
        "parameters": parameters,
        "extra_claims": claims,
        "bound_on_demand": True,
        "iteration": _iteration(model),
    }
    if unit != 1.0:
        e = _exponent_of(unit)
        parameters["unit"] = unit
        reading |= {"formula": _in_unit(formula, DISTANCES, e), "notes": (_note_on_unit(e),)}
    return reading


def _unit(inertia: float | None, rows: "Rows") -> float:
    """Return the unit of the objective: 1, unless float64 cannot hold it in the units of X."""
    if inertia is not None and MIN_INERTIA < float(inertia) < MAX_INERTIA:
        return 1.0
    return _unit_of_differences(rows)


def _iteration(model: FittedModel) -> dict[str, Any]:
    """Return tol, and max_iter if it was reached."""
    fitted = vars(model)
    reached = fitted.get("n_iter_", 0) >= fitted.get("max_iter", np.inf)
    return {"tol": fitted.get("tol"), "max_iter": fitted["max_iter"] if reached else None}


def _labels(model: FittedModel, rows: "Rows") -> np.ndarray:
    labels = np.asarray(model.labels_)
    if len(labels) != rows.shape[0]:
        raise ValueError(
            f"labels_ has {len(labels):,} entries, X has {rows.shape[0]:,} rows: give the rows of "
            "the fit"
        )
    return labels


def _restarts(model: FittedModel) -> Any:
    """Return the objective of each start; scikit-learn stores only the best."""
    fitted = vars(model)
    if "restarts_" in fitted:
        return np.asarray(fitted["restarts_"], dtype=float)
    starts, init = fitted.get("n_init"), fitted.get("init")
    is_random = callable(init) or isinstance(init, str)
    if starts == "auto":
        starts = 1 if isinstance(init, str) and init == "k-means++" else 10
    has_single_start = starts == 1 or not is_random
    return [float(model.inertia_)] if has_single_start else None


def _predicted(model: FittedModel, rows: "Rows") -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, their predicted clusters) for a sample of the rows."""
    n = rows.shape[0]
    i = np.unique(
        (np.arange(min(n, MAX_PREDICTED_ROWS)) * 0.6180339887498949 % 1.0 * n).astype(np.intp)
    )
    X = rows.take(i).block(0, len(i))[0]
    if rows.sparse:
        # scikit-learn's loops take 32-bit indices only
        X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    plain_model = without_column_names(model)
    dtype = np.asarray(model.cluster_centers_).dtype
    return i, np.asarray(plain_model.predict(X.astype(dtype, copy=False)))


# --- the unit u of sums that float64 cannot hold: Σ s ‖x − μ‖² = u²·Σ s ‖(x − μ)/u‖² --------------


def _exponent_of(unit: float) -> int:
    """Return e of a unit 2^e; ``ValueError`` for another number."""
    fraction, e = np.frexp(unit)
    if fraction != 0.5:
        raise ValueError(f"unit_ is {unit!r}, which is no power of two: fit again")
    return int(e) - 1


def _unit_of_differences(rows: "Rows") -> float:
    """Return the power of two at or below the largest difference in a column.

    1 where squares are held, or where X/unit is not.
    """
    with np.errstate(over="ignore"):
        low, high = rows.reduce(_range, combine=_wider)
        half = float((high / 2 - low / 2).max(initial=0.0))  # the difference could overflow
        squares = 4 * half * half * rows.shape[1] * rows.S
        if half == 0 or MIN_SQUARES < squares < MAX_SQUARES:
            return 1.0
        unit = float(2.0 ** min(int(np.frexp(half)[1]), 1023))
        reach = np.maximum(np.abs(low), np.abs(high)).max() / unit
    return unit if np.isfinite(reach) else 1.0


def _range(X: Any, _y: object, _s: object) -> tuple[np.ndarray, np.ndarray]:
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return X.min(axis=0).astype(float), X.max(axis=0).astype(float)


def _wider(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _in_unit(formula: str, distances: tuple[str, ...], e: int) -> str:
    """Return a formula with each of its distances ‖…‖ divided by 2^e."""
    for distance in distances:
        formula = formula.replace(f"‖{distance}‖", f"‖({distance})/2{_power(e)}‖")
    return formula


def _note_on_unit(e: int) -> str:
    """Return the note of a certificate whose objective is in units of 2^2e."""
    why = "overflow" if e > 0 else "underflow"
    return (
        f"squares of the differences in X {why}, so everything is of X divided by 2{_power(e)}; "
        f"the objective is in units of 2{_power(2 * e)}"
    )


def _power(e: int) -> str:
    return str(e).translate(_SUPERSCRIPTS)
