"""Validation of rows, distances and targets. Errors name what is wrong and a remedy."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.csr import CSR
from ..data.finite import require_finite
from ..data.labels import encode, looks_continuous, read_outputs
from ..data.lazy import LazyRows
from ..data.validation import as_numbers, data_for_search, warn_of_a_column
from ..runtime.user_frame import warn_user
from ..text.format import count

FLOAT32_DTYPES = ("b1", "i1", "u1", "i2", "u2")  # whole numbers that float32 holds exactly
GRAPH_FORMATS = ("csr", "csc", "coo", "lil")  # SciPy's other formats drop stored zeros


def read_rows(model: object, X: object, *, reset: bool, missing: bool) -> Any:
    """Return X as an array or CSR of float32 or float64. ``missing``: NaN is allowed."""
    X = data_for_search(model, X, reset=reset)
    X = X if isinstance(X, CSR) else np.ascontiguousarray(X)
    names = vars(model).get("feature_names_in_")
    if missing and not isinstance(X, CSR):
        require_finite(np.where(np.isnan(X), 0, X) if X.dtype.kind == "f" else X, names)
    else:
        try:
            require_finite(X, names)
        except ValueError as error:
            message = str(error)
            if "NaN" in message and not isinstance(X, CSR):
                message += ", or use metric='nan_euclidean' or 'gower', which skip missing values"
            raise ValueError(message) from None
    return X if isinstance(X, CSR) else _floats(X)


def read_mixed_for_fit(model: Any, X: object, distance: Any) -> tuple[Any, Any]:
    """Encode rows of numbers and categories as numbers; return them and the prepared distance.

    (None, distance) where all columns are numeric.
    """
    if not _may_be_mixed(X):
        return None, distance
    try:
        distance = distance.prepare(X)
    except TypeError as error:
        raise TypeError(
            f"X contains a value that is neither a number nor text ({error}): each argument must "
            "be a string or a number"
        ) from error
    if not vars(distance)["_categorical"].any():
        return None, distance
    validate_data(model, X, reset=True, skip_check_array=True)  # counts and names columns
    return distance.read(X), distance


def read_mixed_queries(model: Any, X: object, distance: Any) -> np.ndarray:
    """Encode the queries of a model whose rows mix numbers and categories."""
    check_is_fitted(model)
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(X.shape)}D array instead. Reshape your data: one row is "
            "[[…]]"
        )
    validate_data(model, X, reset=False, skip_check_array=True)
    rows: np.ndarray = distance.read(X)
    return rows


def _may_be_mixed(X: object) -> bool:
    if issparse(X) or isinstance(X, LazyRows):
        return False
    if isinstance(X, np.ndarray) or not hasattr(X, "shape"):
        table = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        return table.ndim == 2 and table.size > 0 and table.dtype.kind in "OUT"
    return len(X.shape) == 2 and min(X.shape) > 0  # a frame


def _floats(X: np.ndarray) -> np.ndarray:
    if X.dtype in (np.float32, np.float64):
        return X
    return X.astype(np.float32 if X.dtype.str[1:] in FLOAT32_DTYPES else np.float64)


def read_distances(model: object, X: Any, *, reset: bool) -> Any:
    """Return a matrix of distances to the rows of the fit, or a CSR graph of them."""
    if not reset:
        check_is_fitted(model)
        if hasattr(X, "columns"):  # a frame of other columns may be empty where it was reindexed
            validate_data(model, X, reset=False, skip_check_array=True)
    if issparse(X) and X.format not in GRAPH_FORMATS:
        raise TypeError(
            f"Sparse matrix in {X.format!r} format is not supported due to its handling of "
            "explicit zeros: give one in csr format"
        )
    options = {"dtype": np.float64, "ensure_all_finite": False, "input_name": "X"}
    D = check_array(X, accept_sparse="csr", estimator=model, **options)
    values = D.data if issparse(D) else D
    bad = ~(values >= 0) | np.isinf(values)
    if bad.any():
        _refuse_distance(D, bad)
    if reset and D.shape[0] != D.shape[1]:
        raise ValueError(
            f"Precomputed matrix must be square. Input is a {D.shape[0]}x{D.shape[1]} matrix: in "
            "fit, give the distances between all its rows"
        )
    validate_data(model, X, reset=reset, skip_check_array=True)  # counts and names columns
    return D


def _refuse_distance(D: Any, bad: np.ndarray) -> None:
    if issparse(D):
        t = int(np.flatnonzero(bad)[0])
        i, j, value = int(np.searchsorted(D.indptr, t, "right")) - 1, int(D.indices[t]), D.data[t]
    else:
        i, j = (int(a[0]) for a in np.nonzero(bad))
        value = D[i, j]
    text = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:g}"
    raise ValueError(
        f"Negative values in data passed to X, or not finite (Input X contains {text}): the "
        f"distance of row {i} to row {j} is {text}. A distance is a finite number of at least 0"
    )


# --- targets --------------------------------------------------------------------------------------


def read_classes(model: object, y: object, n: int) -> tuple[np.ndarray, list[np.ndarray], bool]:
    """Return class indices (n, outputs), the classes of each output, and if there are several."""
    _require_target(model, y)
    columns, ndim = read_outputs(y, n)
    several = len(columns) > 1
    if ndim == 2 and not several:
        warn_of_a_column()
    classes, k = zip(*(encode(column) for column in columns), strict=True)
    for c in classes:
        doubt = looks_continuous(c, n)
        if doubt is not None:
            warn_user(doubt, UserWarning)
    return np.stack(k, axis=1), list(classes), several


def read_values(model: object, y: Any, n: int) -> tuple[np.ndarray, bool]:
    """Return y as (n, targets) in float64, finite, and whether it was 1d."""
    _require_target(model, y)
    y = as_numbers(y.toarray() if issparse(y) else y, "y")
    if y.ndim not in (1, 2):
        raise ValueError(
            f"y should be a 1d array or (rows, targets), got an array of shape {y.shape}"
        )
    if y.size == 0:
        raise ValueError(f"y is empty, its shape is {y.shape}: give a target for each row")
    if len(y) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has "
            f"{count(n, 'row')}, y has {len(y):,}"
        )
    require_finite(y.reshape(n, -1), None, "y")
    return y.reshape(n, -1), y.ndim == 1


def _require_target(model: object, y: object) -> None:
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is "
            "None"
        )
