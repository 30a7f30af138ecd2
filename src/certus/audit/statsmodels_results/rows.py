"""The rows given beside a result of statsmodels, compared with those that it recorded.

A result holds the rows of its fit (``model.exog``, ``model.endog``), its weights and offsets.
Weights and offsets that are not given are those of the model. Rows, weights or offsets that differ
from the model's are evidence of other rows if its claim does not hold on them.
"""

from typing import Any, NamedTuple

import numpy as np

from .claims import (
    GaussianFit,
    PoissonFit,
    ResultFit,
    claimed,
    column_names,
    offset_of,
)

ROUNDING = 1e-12  # relative; numbers that are nearer are the same, having passed through a file


class ResultRows(NamedTuple):
    """A result as a fitted model with the rows, weights and offsets of its claim."""

    fit: ResultFit
    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None
    offset: np.ndarray | None
    same: bool  # whether these are the recorded rows, weights and offsets
    evidence: tuple[str, ...]  # where they differ


def with_rows(
    result: Any, X: Any = None, y: Any = None, sample_weight: Any = None, offset: Any = None
) -> ResultRows:
    """Return the claim of a result about the rows given, or the recorded ones without any."""
    fit, constant = claimed(result)
    model = result.model
    notes: list[str] = []
    found: list[str] = []
    exog, endog = _recorded(model, "exog"), _recorded(model, "endog")
    if X is None and y is None:
        if exog is None or endog is None:
            raise ValueError("this result has no rows any more (remove_data): give X and y")
        X, y, given = exog, endog, False
    elif X is None or y is None:
        raise ValueError("give both X and y, or neither: without them the recorded rows are taken")
    else:
        X, y, given = _columns(X, model, len(fit.columns_), constant), _numbers(y, "y"), True
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if given:
        found += _table_differs(X, exog, column_names(model)) + _values_differ(y, endog, "y")
    weights, w = _weights(model), None if sample_weight is None else _numbers(sample_weight, "s")
    w, found = _own_or_given("sample_weight", w, weights, 1.0, len(X), notes, found)
    o = None if offset is None else _numbers(offset, "offset")
    own = np.asarray(offset_of(model), dtype=float)
    own = np.full(len(X), float(own)) if own.ndim == 0 and np.any(own) else own
    o, found = _own_or_given("offset", o, own if own.ndim else None, 0.0, len(X), notes, found)
    if constant is not None:
        X = _without_constant(fit, X, constant)
    if o is not None and isinstance(fit, GaussianFit):  # (y − o) − xᵀβ
        y, o = y - o, None
    if isinstance(fit, PoissonFit):
        fit.has_offset_ = o is not None
    same = exog is not None and endog is not None and not found
    if same:
        notes.append("the rows are those that the model recorded (model.exog and model.endog)")
    fit.notes_ = tuple(notes)
    return ResultRows(fit, X, y, w, o, same, tuple(found))


def _recorded(model: Any, name: str) -> np.ndarray | None:
    values = getattr(model, name, None)
    return None if values is None else np.asarray(values, dtype=float)


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None


def _columns(X: Any, model: Any, others: int, constant: int | None) -> np.ndarray:
    """Return X with the columns of exog; a constant one that it lacks is added."""
    names = column_names(model)
    k = others + (constant is not None)
    given = [str(name) for name in getattr(X, "columns", ())]
    values = _numbers(X, "X")
    if values.ndim != 2:
        raise ValueError(f"X has shape {values.shape}: give a table, as model.exog is one")
    if constant is not None and values.shape[1] == k - 1:
        value = np.ones(len(values))
        exog = _recorded(model, "exog")
        if exog is not None:
            value *= exog[0, constant]
        values = np.insert(values, constant, value, axis=1)
        given = [*given[:constant], names[constant], *given[constant:]] if given else given
    if values.shape[1] != k:
        raise ValueError(
            f"X has {values.shape[1]:,} columns and the result {k:,} coefficients ("
            f"{', '.join(names[:5])}{', …' if len(names) > 5 else ''}): give model.exog, or leave "
            "X and y out"
        )
    if given and _recorded_names(model) and given != names:
        j = next(j for j, pair in enumerate(zip(given, names, strict=True)) if pair[0] != pair[1])
        raise ValueError(
            f"column {j} of X is {given[j]!r}, and that of the result is {names[j]!r}: give the "
            "columns in the order of model.exog_names"
        )
    return values


def _recorded_names(model: Any) -> bool:
    """Return whether the names are those of a table, not x1, x2, … of an array."""
    return hasattr(getattr(getattr(model, "data", None), "orig_exog", None), "columns")


def _weights(model: Any) -> np.ndarray | None:
    """Return freq_weights times var_weights, or the weights of WLS; None where all are 1."""
    if type(model).__name__ == "WLS":
        found = [model.weights]
    else:
        found = [getattr(model, name, None) for name in ("freq_weights", "var_weights")]
    total: np.ndarray | None = None
    for part in found:
        if part is not None and np.size(part):
            total = np.asarray(part, float) if total is None else total * np.asarray(part, float)
    return None if total is None or np.all(total == 1) else total


def _own_or_given(
    name: str, given: np.ndarray | None, own: np.ndarray | None, none: float, n: int,
    notes: list[str], found: list[str],
) -> tuple[np.ndarray | None, list[str]]:  # fmt: skip
    """Return the values given, or the model's own; and where they differ."""
    if given is None:
        if own is None:
            return None, found
        if own.shape != (n,):
            raise ValueError(
                f"the model has {len(own):,} rows with {name}, and {n:,} rows are given: give "
                f"{name} as well"
            )
        notes.append(f"{name} is what the model recorded")
        return own, found
    return given, found + _values_differ(given, np.full(n, none) if own is None else own, name)


def _table_differs(X: np.ndarray, exog: np.ndarray | None, names: list[str]) -> list[str]:
    """Say where X is not the recorded table."""
    if exog is None:
        return []
    if X.shape != exog.shape:
        return [f"the model recorded {exog.shape[0]:,} rows, these are {X.shape[0]:,}"]
    far = _far(X, exog)
    if not far.any():
        return []
    i, j = (int(index) for index in np.argwhere(far)[0])
    column = repr(names[j]) if j < len(names) else f"{j}"
    return [
        f"{int(far.any(axis=1).sum()):,} of {len(X):,} rows of X are not those that the model "
        f"recorded: row {i} has {X[i, j]:.6g} in column {column}, not {exog[i, j]:.6g}"
    ]


def _values_differ(values: np.ndarray, own: np.ndarray | None, name: str) -> list[str]:
    """Say where targets, weights or offsets are not the recorded ones."""
    if own is None or np.shape(values) != np.shape(own):
        return []  # the numbers of rows are compared with X
    far = _far(values, own)
    if not far.any():
        return []
    i = int(np.argmax(far))
    return [
        f"{int(far.sum()):,} values of {name} are not those that the model recorded: row {i} has "
        f"{values[i]:.6g}, not {own[i]:.6g}"
    ]


def _far(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(~near & (a != b))


def _without_constant(fit: Any, X: np.ndarray, constant: int) -> np.ndarray:
    """Drop the constant column, with c β of its value c as intercept."""
    value = X[:, constant]
    if len(value) and np.all(value == value[0]) and value[0] != 0:
        fit.intercept_ *= float(value[0])
        return np.delete(X, constant, axis=1)
    # not constant on these rows: a column like the others
    fit.coef_ = np.insert(fit.coef_, constant, fit.intercept_)
    fit.columns_ = [*fit.columns_[:constant], "const", *fit.columns_[constant:]]
    fit.intercept_, fit.fit_intercept = 0.0, False
    return X
