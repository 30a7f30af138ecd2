"""Streamed tables as the rows of a fit, of ``verify`` and of ``predict``.

The first pass over a source has found every value of X and of the weights finite, so what is left
to check is what belongs to a model: its columns, its classes, the size of its targets.
"""

from typing import Any, NoReturn

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..exceptions import CannotVerifyError
from ..text.format import count, listed
from .frames import other_columns
from .labels import places_among, require_two_classes
from .rows import Rows
from .streamed import StreamedTable, StreamedX

STREAMING = (
    "LinearRegression, Ridge, RidgeCV, Lasso, ElasticNet, LassoCV, ElasticNetCV, "
    "LogisticRegression, OrdinalRegression, PoissonRegressor, GammaRegressor, LinearSVC, "
    "NCFSClassifier, NCFSRegressor, KMeans, MiniBatchKMeans, all mixtures, and "
    "CalibratedClassifier and PriorCorrectedClassifier around a fitted model"
)

# models of scikit-learn that ``verify`` reads together with a table
VERIFIED_OF_SKLEARN = (
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV",
    "PoissonRegressor", "GammaRegressor", "LogisticRegression", "LogisticRegressionCV", "LinearSVC",
    "SGDClassifier", "KMeans", "MiniBatchKMeans", "GaussianMixture",
)  # fmt: skip


def columns_of_table(model: Any, table: StreamedTable, reset: bool) -> StreamedX:
    """Return X of a table; its columns are noted in the model, or compared with those noted."""
    if not (getattr(model, "_reads_rows", False) or _of_sklearn(model)):
        refuse_table(model)
    if table.missing and not get_tags(model).input_tags.allow_nan:
        raise ValueError(
            f"{table.description} was opened with missing=True, and {type(model).__name__} needs "
            "every value: open it without, and a missing value is named by row and column"
        )
    if not reset:
        return columns_of_queries(model, table)
    model.n_features_in_ = table.shape[1]
    vars(model).pop("feature_names_in_", None)
    if table.names is not None:
        model.feature_names_in_ = np.array(table.names, dtype=object)
    return table.X


def refuse_table(model: object, method: str = "fit") -> NoReturn:
    """Raise for a fit, or an inference, that needs all rows in memory, with what works instead."""
    closest = getattr(model, "_closest_on_tables", "")
    closest = f". Closest to it on tables: {closest}" if closest else ""
    if method == "inference":
        raise TypeError(
            f"{type(model).__name__} needs all rows in memory, for inference as for the fit, and "
            "open_rows reads them block by block: give inference(X, y, sample_weight) the arrays "
            f"of the fit{closest}"
        )
    answers = [name for name in ("predict", "transform", "kneighbors") if hasattr(model, name)]
    then = f", and {answers[0]} takes tables of any size afterwards" if answers else ""
    raise TypeError(
        f"{type(model).__name__} needs all rows in memory, and open_rows reads them block by "
        f"block: give an array, of a sample for example (table.gather(numbers of rows).X){then}. "
        f"What is fitted to tables: {STREAMING}{closest}"
    )


def columns_of_queries(model: Any, table: StreamedTable) -> StreamedX:
    """Return X of a table for a fitted model; its columns are compared with those of the fit."""
    check_is_fitted(model)
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is not None and table.names is not None:
        difference = other_columns(fitted, table.names)
        if difference is not None:
            raise ValueError(difference)
    if table.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {table.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
    return table.X


def _of_sklearn(model: object) -> bool:
    """Whether a model is one of scikit-learn's whose claim can be verified on a table."""
    kind = type(model)
    return kind.__module__.split(".")[0] == "sklearn" and kind.__name__ in VERIFIED_OF_SKLEARN


def require_no_arrays_beside(y: object, sample_weight: object) -> None:
    """Refuse targets and weights as arrays beside a table, which has them among its columns."""
    for name, value, option in (("y", y, "target"), ("sample_weight", sample_weight, "weights")):
        if value is not None:
            raise ValueError(
                f"{name} was given beside streamed rows: name its column instead, "
                f"open_rows(…, {option}='…')"
            )


def rows_of_targets(model: object, X: StreamedX, threads: int | None = None) -> Rows:
    """Rows of a regression: y (n, k) as the table has it."""
    table = X.table
    _require_target(model, table)
    if table.classes is not None:
        shown = listed([repr(c) for c in table.classes[:5].tolist()], 5)
        raise ValueError(
            f"the target of {table.description} holds labels ({shown}), and "
            f"{type(model).__name__} predicts numbers: use a classifier, or another target"
        )
    return Rows(X, table.y, table.s, threads=threads)


def rows_of_classes(
    model: object, X: StreamedX, threads: int | None = None
) -> tuple[Rows, np.ndarray]:
    """Rows of a classification, y (n, 1) the index of each row's class; and the classes."""
    rows, classes = rows_of_labels(model, X, threads)
    require_two_classes(classes, rows.shape[0])
    return rows, classes


def rows_of_labels(
    model: object, X: StreamedX, threads: int | None = None
) -> tuple[Rows, np.ndarray]:
    """Return rows with class indices, and the classes; there may be one alone.

    Few different whole numbers are classes for a classifier.
    """
    table = X.table
    _require_target(model, table)
    if table.n_targets != 1:
        raise ValueError(f"y should have one column, the table has {table.n_targets} targets")
    rows = Rows(X, table.y, table.s, threads=threads)
    if table.classes is not None:
        return rows, table.classes
    if table.distinct_targets is None:
        raise ValueError(
            f"the target of {table.description} holds numbers, with fractions or very many "
            f"different ones, and {type(model).__name__} predicts classes: use a regressor, or "
            "open_rows(…, classes=True) if they are labels"
        )
    numbers = table.distinct_targets.astype(float)
    return rows.recoded(_numbered, numbers), table.distinct_targets


def rows_of_known_classes(model: Any, X: StreamedX) -> Rows:
    """Rows with the index of each row's class among those of a fitted model."""
    rows, classes = rows_of_classes(model, X)
    known = np.asarray(model.classes_)
    place = np.array([_index_in(known, label) for label in classes.tolist()])
    if (place < 0).any():
        unknown = [repr(c) for c in classes[place < 0][:3].tolist()]
        fitted = listed([repr(c) for c in known.tolist()], 5)
        raise ValueError(
            f"y has {count(int((place < 0).sum()), 'label')} that the model does not know "
            f"({listed(unknown, 3)}): it was fitted to {fitted}"
        )
    return rows if np.array_equal(place, np.arange(len(known))) else rows.recoded(_placed, place)


def _index_in(known: np.ndarray, label: object) -> int:
    at = np.flatnonzero(known == label)
    return int(at[0]) if len(at) else -1


def _numbered(y: np.ndarray, s: Any, numbers: np.ndarray) -> tuple[np.ndarray, Any]:
    return places_among(numbers, y), s


def _placed(y: np.ndarray, s: Any, place: np.ndarray) -> tuple[np.ndarray, Any]:
    return place[y.astype(np.intp)].astype(float), s


def _require_target(model: object, table: StreamedTable) -> None:
    if table.n_targets == 0:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but "
            f"{table.description} has no target: open_rows(…, target='…') names its column"
        )


def rows_of_table(
    model: Any, table: StreamedTable, y: object, sample_weight: object, predicts: bool
) -> Rows:
    """Rows of a streamed table for a fitted model."""
    try:
        require_no_arrays_beside(y, sample_weight)
        X = columns_of_table(model, table, reset=False)
        if not predicts:
            return Rows(X, None, table.s)
        if is_classifier(model):
            return rows_of_known_classes(model, X)
        rows = rows_of_targets(model, X)
        require_targets(model, rows)
        return rows
    except (TypeError, ValueError) as error:
        raise CannotVerifyError(str(error)) from error


def require_targets(model: object, rows: Rows) -> None:
    """Refuse rows whose number of targets is not the model's."""
    k = _targets(model)
    if getattr(model, "has_offset_", False) and rows.y.shape[1] == 2:
        return  # the offset is one of them
    if rows.y.shape[1] != k:
        raise ValueError(
            f"the model has {count(k, 'target')}, y has {rows.y.shape[1]}: give the y of the fit"
        )


def _targets(model: Any) -> int:
    fitted = vars(model)
    kept = fitted.get("_y", fitted.get("_fit_y"))
    if kept is not None:  # in the shape given: (n,) or (n, targets)
        return 1 if np.ndim(kept) == 1 else int(np.shape(kept)[1])
    if "dual_coef_" in fitted:  # (targets, n); of KernelRidge (n,) or (n, targets), without b
        beta, b = fitted["dual_coef_"], fitted.get("intercept_")
        return len(b) if b is not None else 1 if np.ndim(beta) == 1 else int(np.shape(beta)[1])
    return len(np.atleast_2d(model.coef_))
