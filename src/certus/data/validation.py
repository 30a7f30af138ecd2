"""Validation of data and parameters; all input passes through here.

A bad value is named by row and column, with a remedy, before work is lost. Large tall data are not
read once more for this: NaN and infinity show in the sums of the fit, and are then looked for.
"""

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..exceptions import CannotVerifyError
from ..runtime.user_frame import warn_user
from ..text.format import count
from ..text.suggestions import did_you_mean
from .csr import CSR
from .finite import require_finite
from .frames import from_frame, from_series, holds_text, other_columns
from .labels import (
    encode,
    encode_as,
    looks_continuous,
    read_labels,
    require_two_classes,
    require_weight,
)
from .lazy import LazyRows
from .rows import Rows, Source
from .streamed import StreamedTable, StreamedX
from .streamed_input import (
    columns_of_table,
    require_no_arrays_beside,
    require_targets,
    rows_of_classes,
    rows_of_table,
    rows_of_targets,
)
from .target_squares import require_squares, require_squares_of_table

MIN_WEIGHT = 1e-300  # the largest weight: rounding errors of smaller sums underflow too
METRICS_WITH_MISSING = ("nan_euclidean", "gower")  # they leave missing values out
Table = np.ndarray | CSR | LazyRows | StreamedX  # X once it is checked
MAX_PRECHECKED_ELEMENTS = 1 << 20  # elements up to which X is searched for NaN before the fit


def data_for_fit(
    model: object, X: object, y: object, sample_weight: object = None, threads: int | None = None
) -> tuple[Rows, bool]:
    """Rows of a regression: X as it is, y (n, k) and weights in float64; and whether y is 1d."""
    if isinstance(X, StreamedTable):
        require_no_arrays_beside(y, sample_weight)
        rows = rows_of_targets(model, columns_of_table(model, X, reset=True), threads)
        require_squares_of_table(rows)
        return rows, rows.y.shape[1] == 1
    require_target(model, y)
    X = _validated(model, X)
    y = np.asarray(from_series(y, "y"))
    rows = _rows(model, X, y, sample_weight, threads)
    n, p = rows.shape
    if n * p <= MAX_PRECHECKED_ELEMENTS:
        require_finite(X, _names(model))
    return rows, y.ndim == 1


def require_target(model: object, y: object) -> None:
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is "
            "None"
        )


def data_for_classification(
    model: object,
    X: object,
    y: object,
    sample_weight: object = None,
    threads: int | None = None,
    *,
    weightless: bool = False,
) -> tuple[Rows, np.ndarray]:
    """Rows of a classification, y (n, 1) the index of each row's class; and the classes.

    ``weightless``: may a class have no row of a weight above 0?
    """
    if isinstance(X, StreamedTable):
        require_no_arrays_beside(y, sample_weight)
        return rows_of_classes(model, columns_of_table(model, X, reset=True), threads)
    require_target(model, y)
    X = _validated(model, X)
    n, p = X.shape
    labels, column = read_labels(y, n)
    if column:
        warn_of_a_column()
    classes, k = encode(labels)
    require_two_classes(classes, n)
    doubt = looks_continuous(classes, n)
    if doubt is not None:
        warn_user(doubt, UserWarning)
    s = weights(sample_weight, n)
    if s is not None and not weightless:
        require_weight(classes, k, s)
    if n * p <= MAX_PRECHECKED_ELEMENTS:
        require_finite(X, _names(model))
    return Rows(X, k.astype(float)[:, None], s, threads=threads), classes


def warn_of_a_column() -> None:
    warn_user(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )


def data_for_verify(model: Any, X: Any, y: object, sample_weight: object) -> Rows:
    """Rows for a fitted model, checked against its columns and classes."""
    estimator = hasattr(model, "__sklearn_tags__")  # a Tree is none
    predicts = estimator and (is_classifier(model) or is_regressor(model))
    if isinstance(X, StreamedTable):
        rows = rows_of_table(model, X, y, sample_weight, predicts)
        return _with_squares(rows) if predicts and is_regressor(model) else rows
    if y is None and predicts:
        raise CannotVerifyError(f"{type(model).__name__} predicts a target: give y as well")
    try:
        if _is_condensed(model, X):
            X = as_numbers(X, "X").reshape(-1, 1)
        elif vars(model).get("_mixed"):  # the model encodes categories as numbers
            X = model._read(X, reset=False)
        else:
            X = _validated(model if estimator else BaseEstimator(), X, reset=not estimator)
        if predicts and is_classifier(model):
            rows = _rows_of_classes(model, X, y, sample_weight)
        elif predicts:
            rows = _rows_of_targets(model, X, y, sample_weight)
        else:
            rows = Rows(X, None, weights(sample_weight, X.shape[0]))
    except (TypeError, ValueError) as error:
        raise CannotVerifyError(str(error)) from error
    names = _names(model)
    metric = vars(model).get("effective_metric_", vars(model).get("metric"))
    if getattr(metric, "name", metric) not in METRICS_WITH_MISSING:
        missing = estimator and isinstance(X, np.ndarray) and get_tags(model).input_tags.allow_nan
        try:
            require_finite(np.nan_to_num(X, posinf=np.inf, neginf=-np.inf) if missing else X, names)
        except ValueError as error:
            raise CannotVerifyError(str(error)) from error
    return rows


def _with_squares(rows: Rows) -> Rows:
    """Return streamed rows of a regression whose targets' squares are in range."""
    try:
        require_squares_of_table(rows)
    except ValueError as error:
        raise CannotVerifyError(str(error)) from error
    return rows


def _is_condensed(model: object, X: ArrayLike) -> bool:
    """Whether these are condensed distances, as of SciPy's ``pdist``."""
    return vars(model).get("metric") == "precomputed" and np.ndim(X) == 1


def _rows_of_classes(model: Any, X: Source, y: object, sample_weight: object) -> Rows:
    if isinstance(model.classes_, list):
        return _rows_of_several_classes(model, X, y, sample_weight)
    classes = np.asarray(model.classes_)
    if classes.ndim != 1:
        raise ValueError(f"classes_ has shape {classes.shape}, and a list is right: fit again")
    k = encode_as(read_labels(y, X.shape[0])[0], classes)
    s = weights(sample_weight, X.shape[0])
    if "_fit_X" not in vars(model):  # a neighbours model may lack a class
        require_weight(classes, k, s if getattr(model, "_every_class_has_weight", False) else None)
    return Rows(X, k.astype(float)[:, None], s)


def _rows_of_several_classes(model: Any, X: Source, y: object, sample_weight: object) -> Rows:
    """Rows with labels (n, outputs), each output with its own classes."""
    n, y = X.shape[0], np.asarray(from_series(y, "y"))
    outputs = len(model.classes_)
    if y.shape != (n, outputs):
        raise ValueError(f"y has shape {y.shape}, the model predicts {(n, outputs)}: give its y")
    k = [
        encode_as(read_labels(y[:, output], n)[0], np.asarray(classes))
        for output, classes in enumerate(model.classes_)
    ]
    return Rows(X, np.column_stack(k).astype(float), weights(sample_weight, n))


def _rows_of_targets(model: object, X: Source, y: object, sample_weight: object) -> Rows:
    rows = _rows(model, X, y, sample_weight, None)
    require_targets(model, rows)
    return rows


def data_for_predict(model: object, X: object) -> Any:
    check_is_fitted(model)
    return _validated(model, X, reset=False)


def data_for_search(model: object, X: object, *, reset: bool) -> Any:
    """Return X of a search: an array, sparse or lazy rows; its values are not checked."""
    if not reset:
        check_is_fitted(model)
    return _validated(model, X, reset=reset)


def data_for_transform(model: object, X: object, *, reset: bool) -> np.ndarray:
    """X of a transformer: a dense array, every value finite."""
    if not reset:
        check_is_fitted(model)
    X = _validated(model, X, reset=reset)
    if isinstance(X, CSR):
        raise TypeError(
            f"Sparse data was passed, but {type(model).__name__} needs a dense array, for its "
            "functions of 0 are not 0: use X.toarray()"
        )
    X = np.asarray(X)
    require_finite(X, _names(model))
    return X


def _validated(model: object, X: object, reset: bool = True) -> Table:
    """X as a numeric 2d array, sparse or lazy rows, its columns counted and named in the model."""
    if isinstance(X, StreamedTable):
        return columns_of_table(model, X, reset)
    if isinstance(X, LazyRows):
        return validate_data(model, X, reset=reset, skip_check_array=True)
    frame = from_frame(X)
    how = {"dtype": "numeric", "ensure_all_finite": False}
    if frame is not None:
        fitted = None if reset else _names(model)
        difference = None if fitted is None else other_columns(fitted, frame.names)
        if difference is not None:
            raise ValueError(difference)
        _note_columns(model, X, frame.names, reset)
        if frame.X.size:
            return frame.X  # there is nothing left to check
        return check_array(frame.X, estimator=model, input_name="X", **how)
    try:
        checked = validate_data(model, X, reset=reset, accept_sparse=("csr", "csc"), **how)
    except ValueError as error:
        if "could not convert" in str(error):
            _name_text(X, error)
        raise
    return checked if isinstance(checked, np.ndarray) else CSR(checked)


def _note_columns(model: Any, X: object, names: list[str], reset: bool) -> None:
    """Set the count and the names of the columns, or compare them with those of the fit.

    As ``validate_data`` does, which takes long to find the names of a wide frame.
    """
    if reset:
        model.feature_names_in_ = np.array(names, dtype=object)
        model.n_features_in_ = len(names)
    elif _names(model) is None:  # fitted without names: a warning
        validate_data(model, X, reset=False, skip_check_array=True)


def _name_text(X: object, error: ValueError) -> None:
    """Raise with the first column that holds text, if one can be found."""
    table = np.asarray(X, dtype=object)
    for j in range(table.shape[1] if table.ndim == 2 else 0):
        first = next((v for v in table[:, j] if isinstance(v, str) and _no_number(v)), None)
        if first is not None:
            raise ValueError(holds_text(f"column {j} of X", first, j)) from error


def _names(model: object) -> Sequence[str] | None:
    names: Sequence[str] | None = vars(model).get("feature_names_in_")
    return names


def _rows(model: object, X: Source, y: object, sample_weight: object, threads: int | None) -> Rows:
    y = target(y, X.shape[0])
    s = weights(sample_weight, X.shape[0])
    if s is not None:
        require_squares(y, s)
    return Rows(X, y, s, threads=threads)


def target(y: object, n: int) -> np.ndarray:
    """(n, k) float64, finite."""
    values = as_numbers(y, "y")
    if values.ndim not in (1, 2):
        raise ValueError(
            f"y should be a 1d array or (rows, targets), got an array of shape {values.shape}"
        )
    if len(values) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {count(n, 'row')}, "
            f"y has {len(values):,}"
        )
    values = np.ascontiguousarray(values.reshape(n, -1))
    require_squares(values)
    return values


def as_numbers(values: object, what: str) -> np.ndarray:
    values = np.asarray(from_series(values, what))
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} must be real")
    try:
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        first = next((v for v in np.ravel(values) if _no_number(v)), None)
        raise ValueError(f"{what} holds something that is no number (first: {first!r})") from error


def _no_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return True
    return False


def weights(sample_weight: object, n: int) -> np.ndarray | None:
    """(n,) float64, not negative, not all zero; None for none."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n, sample_weight)
    s = np.ascontiguousarray(as_numbers(sample_weight, "sample_weight"))
    if s.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {s.ndim}D of shape {s.shape}"
        )
    if len(s) != n:
        raise ValueError(
            f"sample_weight.shape == {s.shape}, expected {(n,)}: X has {count(n, 'row')}, "
            f"sample_weight has {len(s):,}"
        )
    if not np.isfinite(s).all():
        require_finite(s[:, None], None, "sample_weight")
    negative = np.flatnonzero(s < 0)
    if len(negative):
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: {count(len(negative), 'weight')} "
            f"below 0 (first: row {negative[0]}, {s[negative[0]]:g}). A weight says how often a "
            "row counts; use 0 to leave it out"
        )
    if not s.any():
        raise ValueError("Sample weights must contain at least one non-zero number: all are 0")
    if s.max() < MIN_WEIGHT:
        raise ValueError(
            f"sample_weight reaches only {s.max():.3g}, and sums of such weights underflow: "
            "multiply it by a power of 10"
        )
    return s


# --- parameters -----------------------------------------------------------------------------------


def boolean(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r}: give True or False")
    return bool(value)


def one_of(name: str, value: object, options: Iterable[Any]) -> Any:
    options = list(options)
    if not any(value is option or value == option for option in options):
        close = did_you_mean(value, options)
        hint = f". Did you mean {close!r}?" if close else ""
        raise ValueError(f"{name}={value!r}: give one of {', '.join(map(repr, options))}{hint}")
    return value


def positive_whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name}={value!r}: give a whole number above 0")
    return int(value)


def not_negative_whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise ValueError(f"{name}={value!r}: give a whole number, 0 or above")
    return int(value)


def not_negative(name: str, value: object) -> np.ndarray:
    """A number, or an array of them, none below 0."""
    try:
        values = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}: give a number, or one for each target") from None
    if isinstance(value, bool) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name}={value!r}: give a finite number that is not negative")
    return values
